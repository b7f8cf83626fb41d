//! The bytes of an object as they leave: exactly those asked for, or an error in place of the last of them.

use std::pin::Pin;

use bytes::Bytes;
use futures_core::Stream;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, stream};
use sha2::{Digest as _, Sha256};

use crate::{Damage, ObjectsError, Stored};

/// Bytes in pieces. Whoever received all of them without an error has what was stored: the last piece is held back
/// until the end was seen, and for a whole object until its digest was compared.
pub type ObjectBody = Pin<Box<dyn Stream<Item = Result<Bytes, ObjectsError>> + Send>>;

struct Exact {
    pieces: BoxStream<'static, Result<Bytes, ObjectsError>>,
    object: Stored,
    expected: u64,
    found: u64,
    held: Option<Bytes>,
    /// Only of a whole object.
    hash: Option<Sha256>,
}

/// So many bytes of the object; all of them if that is its size.
pub(crate) fn exactly(
    pieces: BoxStream<'static, Result<Bytes, ObjectsError>>,
    object: Stored,
    expected: u64,
) -> ObjectBody {
    let hash = (expected == object.size_bytes).then(Sha256::new);
    let state = Exact { pieces, object, expected, found: 0, held: None, hash };
    Box::pin(stream::try_unfold(state, Exact::next))
}

impl Exact {
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, ObjectsError> {
        while let Some(piece) = self.pieces.next().await {
            let piece = piece?;
            if piece.is_empty() {
                continue;
            }
            self.found += piece.len() as u64;
            if self.found > self.expected {
                return Err(self.damaged(Damage::Long { expected: self.expected, found: self.found }));
            }
            if let Some(hash) = &mut self.hash {
                hash.update(&piece);
            }
            if let Some(before) = self.held.replace(piece) {
                return Ok(Some((before, self)));
            }
        }
        if let Some(damage) = Damage::of_sizes(self.expected, self.found) {
            return Err(self.damaged(damage));
        }
        if let Some(hash) = self.hash.take() {
            let digest: [u8; 32] = hash.finalize().into();
            if pdpp_wire::BlobId::of_sha256(&digest) != *self.object.name.blob() {
                return Err(self.damaged(Damage::Content));
            }
        }
        Ok(self.held.take().map(|last| (last, self)))
    }

    fn damaged(&self, damage: Damage) -> ObjectsError {
        damage.of(&self.object.name)
    }
}

#[cfg(test)]
mod tests {
    use pdpp_wire::{BlobId, SubjectId};

    use super::*;
    use crate::{ObjectName, UploadId};

    fn stored(content: &[u8]) -> Stored {
        let digest: [u8; 32] = Sha256::digest(content).into();
        let upload = UploadId::parse(&"00".repeat(16)).unwrap();
        let name = ObjectName::new(SubjectId::parse("ana").unwrap(), BlobId::of_sha256(&digest), upload);
        Stored { name, size_bytes: content.len() as u64 }
    }

    /// What arrives of these pieces, and how it ends.
    fn arrives(pieces: &[&'static str], expected: u64) -> (String, Option<Damage>) {
        let pieces: Vec<_> = pieces.iter().map(|piece| Ok(Bytes::from_static(piece.as_bytes()))).collect();
        let mut body = exactly(stream::iter(pieces).boxed(), stored(b"abcdef"), expected);
        let mut text = String::new();
        loop {
            match futures_util::FutureExt::now_or_never(body.next()).expect("nothing waits") {
                Some(Ok(piece)) => text.push_str(std::str::from_utf8(&piece).unwrap()),
                Some(Err(ObjectsError::Damaged { damage, .. })) => return (text, Some(damage)),
                Some(Err(other)) => panic!("{other}"),
                None => return (text, None),
            }
        }
    }

    #[test]
    fn a_whole_object_ends_with_its_last_piece_only_if_it_is_what_was_stored() {
        assert_eq!(arrives(&["abc", "", "def"], 6), ("abcdef".into(), None));
        assert_eq!(arrives(&["abc", "xyz"], 6), ("abc".into(), Some(Damage::Content)));
        let short = Damage::Short { expected: 6, found: 5 };
        assert_eq!(arrives(&["abc", "de"], 6), ("abc".into(), Some(short)));
        let long = Damage::Long { expected: 6, found: 7 };
        assert_eq!(arrives(&["abc", "defg"], 6), (String::new(), Some(long)));
    }

    #[test]
    fn a_range_has_exactly_its_bytes() {
        assert_eq!(arrives(&["cd"], 2), ("cd".into(), None));
        assert_eq!(arrives(&["c"], 2), (String::new(), Some(Damage::Short { expected: 2, found: 1 })));
        assert_eq!(arrives(&["cd", "e"], 2), (String::new(), Some(Damage::Long { expected: 2, found: 3 })));
    }
}
