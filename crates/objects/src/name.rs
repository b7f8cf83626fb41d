//! Names: whose bytes, which bytes, and which upload brought them.

use std::fmt;

use pdpp_access::{Entropy, random_hex};
use pdpp_wire::{BlobId, SubjectId};

const UPLOAD_BYTES: usize = 16;

/// Which upload: 32 hex digits that no other upload has.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UploadId(String);

impl UploadId {
    pub(crate) fn new(entropy: &dyn Entropy) -> Self {
        Self(random_hex(entropy, UPLOAD_BYTES))
    }

    /// Reads the digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == UPLOAD_BYTES * 2 && text.bytes().all(digit)).then(|| Self(text.to_owned()))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of an object: `<subject>/<first two hex digits>/<sha256>.<upload>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectName {
    subject: SubjectId,
    blob: BlobId,
    upload: UploadId,
}

/// A text that is not the name of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not `<subject>/<two hex digits>/<sha256>.<upload>`")]
pub struct NameFault;

impl ObjectName {
    /// The name of what this upload brought, from what the caller's database remembers.
    pub fn new(subject: SubjectId, blob: BlobId, upload: UploadId) -> Self {
        Self { subject, blob, upload }
    }

    /// Reads what [`Display`](fmt::Display) wrote.
    pub fn parse(text: &str) -> Result<Self, NameFault> {
        let mut parts = text.split('/');
        let (Some(subject), Some(shard), Some(file), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(NameFault);
        };
        let (digest, upload) = file.split_once('.').ok_or(NameFault)?;
        let subject = SubjectId::parse(subject).map_err(|_| NameFault)?;
        let blob = BlobId::parse(format!("blob_sha256_{digest}")).map_err(|_| NameFault)?;
        let upload = UploadId::parse(upload).ok_or(NameFault)?;
        if !digest.starts_with(shard) || shard.len() != 2 {
            return Err(NameFault);
        }
        Ok(Self { subject, blob, upload })
    }

    /// Whose.
    pub fn subject(&self) -> &SubjectId {
        &self.subject
    }

    /// Which bytes.
    pub fn blob(&self) -> &BlobId {
        &self.blob
    }

    /// Which upload.
    pub fn upload(&self) -> &UploadId {
        &self.upload
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = self.blob.sha256_hex();
        write!(f, "{}/{}/{digest}.{}", self.subject, &digest[..2], self.upload.0)
    }
}

/// An object as the caller's database remembers it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stored {
    /// Its name.
    pub name: ObjectName,
    /// Its size.
    pub size_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        let upload = UploadId::parse(&"0f".repeat(16)).unwrap();
        let subject = SubjectId::parse("ana").unwrap();
        let name = ObjectName::new(subject, BlobId::of_sha256(&[0xab; 32]), upload);
        let text = name.to_string();
        assert_eq!(text, format!("ana/ab/{}.{}", "ab".repeat(32), "0f".repeat(16)));
        assert_eq!(ObjectName::parse(&text).unwrap(), name);
    }

    #[test]
    fn what_is_not_a_name_is_refused() {
        let (digest, upload) = ("ab".repeat(32), "0f".repeat(16));
        for text in [
            String::new(),
            format!("ana/ab/{digest}"),
            format!("ana/cd/{digest}.{upload}"),
            format!("ana//{digest}.{upload}"),
            format!("ana/ab/{digest}.{upload}/more"),
            format!("../ab/{digest}.{upload}"),
            format!("ana/ab/{digest}.{}", upload.to_uppercase()),
            format!("ana/ab/{digest}.{upload}#1"),
        ] {
            assert!(ObjectName::parse(&text).is_err(), "{text}");
        }
    }
}
