//! Copies one store into another, and compares them.
//!
//! Each portion is taken in one step with a mark of how far the copy got, so whoever was killed goes on from there. The
//! store that is copied must rest: what is written to it meanwhile may or may not come along, and the comparison at
//! the end says so.

use pdpp_wire::{BlobId, SubjectId};

use super::{Cell, MAX_ROWS, Mark, Part, PartDigest, Place, Row};
use crate::{StoreError, Transfer};

/// What is told on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Which part is being copied or compared.
    pub part: Part,
    /// Rows so far, over all parts.
    pub rows: u64,
}

/// One part as two stores have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Which part.
    pub part: Part,
    /// Its rows and their digest in the one.
    pub from: (u64, String),
    /// And in the other.
    pub to: (u64, String),
}

impl Compared {
    /// Whether both have the same.
    pub fn is_equal(&self) -> bool {
        self.from == self.to
    }
}

/// Copies everything of a subject, or what belongs to none; goes on where an earlier try ended. `source` names the
/// store that is copied. Says how many rows there were.
pub async fn copy(
    from: &dyn Transfer,
    to: &dyn Transfer,
    whose: Option<&SubjectId>,
    source: &str,
    mut tell: impl FnMut(Progress) + Send,
) -> Result<u64, StoreError> {
    let earlier = to.find_mark(whose).await?;
    if earlier.as_ref().is_some_and(|mark| mark.source != source) {
        let said =
            "a copy of another store is under way here; finish that one first, or begin in an empty store";
        return Err(StoreError::Busy(said.into()));
    }
    let mut rows = earlier.as_ref().map_or(0, |mark| mark.rows);
    let begun = earlier.as_ref().map(|mark| mark.part);
    for &part in parts(whose).iter().filter(|part| begun.is_none_or(|begun| **part >= begun)) {
        let mut after = match &earlier {
            Some(mark) if mark.part == part && mark.after.is_none() => continue,
            Some(mark) if mark.part == part => mark.after.clone(),
            _ => None,
        };
        loop {
            tell(Progress { part, rows });
            let portion = from.read_rows(whose, part, after.as_ref(), MAX_ROWS).await?;
            if let (Part::Blobs, Some(subject_id)) = (part, whose) {
                copy_bytes(from, to, subject_id, &portion.rows).await?;
            }
            rows += portion.rows.len() as u64;
            let mark = Mark { source: source.to_owned(), part, after: portion.next.clone(), rows };
            to.take_rows(whose, part, portion.rows, &mark).await?;
            after = portion.next;
            if after.is_none() {
                break;
            }
        }
    }
    to.clear_mark(whose).await?;
    Ok(rows)
}

/// Reads both stores whole and compares them part by part.
pub async fn compare(
    from: &dyn Transfer,
    to: &dyn Transfer,
    whose: Option<&SubjectId>,
    mut tell: impl FnMut(Progress) + Send,
) -> Result<Vec<Compared>, StoreError> {
    let (mut compared, mut rows) = (Vec::new(), 0);
    for &part in parts(whose) {
        tell(Progress { part, rows });
        let sides = (digest(from, whose, part).await?, digest(to, whose, part).await?);
        rows += sides.0.0;
        compared.push(Compared { part, from: sides.0, to: sides.1 });
    }
    Ok(compared)
}

/// The parts of a subject, or those of the store as a whole.
fn parts(whose: Option<&SubjectId>) -> &'static [Part] {
    let shared = Part::ALL.iter().position(|part| part.is_shared()).unwrap_or(Part::ALL.len());
    if whose.is_some() { &Part::ALL[..shared] } else { &Part::ALL[shared..] }
}

async fn digest(
    store: &dyn Transfer,
    whose: Option<&SubjectId>,
    part: Part,
) -> Result<(u64, String), StoreError> {
    let (mut digest, mut after) = (PartDigest::default(), None::<Place>);
    loop {
        let portion = store.read_rows(whose, part, after.as_ref(), MAX_ROWS).await?;
        portion.rows.iter().for_each(|row| digest.add(row));
        after = portion.next;
        if after.is_none() {
            return Ok(digest.finish());
        }
    }
}

async fn copy_bytes(
    from: &dyn Transfer,
    to: &dyn Transfer,
    subject_id: &SubjectId,
    rows: &[Row],
) -> Result<(), StoreError> {
    for row in rows {
        let [Cell::Text(blob_id), Cell::Number(size_bytes), ..] = &row[..] else {
            return Err(StoreError::Damaged("a blob's row names no blob".into()));
        };
        let blob_id =
            BlobId::parse(blob_id.clone()).map_err(|_| StoreError::Damaged("a blob's id".into()))?;
        let size_bytes =
            u64::try_from(*size_bytes).map_err(|_| StoreError::Damaged("a blob's size".into()))?;
        let body = from.give_blob(subject_id, &blob_id, size_bytes).await?;
        to.take_blob(subject_id, &blob_id, body).await?;
    }
    Ok(())
}
