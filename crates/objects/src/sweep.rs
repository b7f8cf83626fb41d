//! Finding and removing what nobody wants. Why this cannot race an upload stands in the crate's header.

use std::collections::HashSet;
use std::error::Error;
use std::time::Duration;

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::ObjectMeta;
use object_store::path::Path;
use pdpp_wire::{Instant, SubjectId};

use crate::error::Doing;
use crate::objects::Place;
use crate::spool::STAGING;
use crate::{ObjectName, Objects, ObjectsError};

/// How old something is before it is swept, unless the caller knows better.
pub const GRACE: Duration = Duration::from_hours(24);

/// How many names are asked about at once.
const PAGE: usize = 500;

/// Knows which objects are wanted: the caller's database.
#[async_trait]
pub trait Unwanted: Send + Sync {
    /// Those of these names that have neither a row nor a claim, looked up in one statement. A name that is left out
    /// stays.
    async fn unwanted(&self, found: &[ObjectName]) -> Result<Vec<ObjectName>, Box<dyn Error + Send + Sync>>;
}

/// An object that was listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its name.
    pub name: ObjectName,
    /// Its size.
    pub size_bytes: u64,
    /// When it was published, by the store's clock.
    pub modified: Instant,
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many things were looked at.
    pub seen: u64,
    /// How many of them were removed.
    pub removed: u64,
    /// How many bytes these had, as far as the store says.
    pub removed_bytes: u64,
}

impl std::ops::AddAssign for Swept {
    fn add_assign(&mut self, other: Self) {
        self.seen += other.seen;
        self.removed += other.removed;
        self.removed_bytes += other.removed_bytes;
    }
}

impl Objects {
    /// The subjects anything lies there for.
    pub async fn subjects(&self) -> Result<Vec<SubjectId>, ObjectsError> {
        let listed = self.inner.store.list_with_delimiter(None).await;
        let listed = listed.map_err(|error| Doing::Reading.failed("the list of subjects", error))?;
        let names = listed.common_prefixes.iter().filter_map(|prefix| prefix.filename());
        Ok(names.filter_map(|name| SubjectId::parse(name).ok()).collect())
    }

    /// The objects of a subject, some hundred at a time, in no order. What does not have the name of an object is not
    /// ours and is left out.
    pub fn list(&self, subject: &SubjectId) -> BoxStream<'static, Result<Vec<Found>, ObjectsError>> {
        let place = subject.to_string();
        let listed = self.inner.store.list(Some(&Path::from(place.as_str())));
        let found = listed.try_filter_map(|meta| std::future::ready(Ok(found(&meta))));
        let failed = move |error| Doing::Reading.failed(format!("the list of {place}"), error);
        found.try_chunks(PAGE).map_err(move |error| failed(error.1)).boxed()
    }

    /// Removes the objects of a subject that are older than the grace period and that nobody wants.
    pub async fn sweep(
        &self,
        subject: &SubjectId,
        now: Instant,
        grace: Duration,
        judge: &dyn Unwanted,
    ) -> Result<Swept, ObjectsError> {
        let mut swept = Swept::default();
        let mut pages = self.list(subject);
        while let Some(page) = pages.try_next().await? {
            swept.seen += page.len() as u64;
            let old: Vec<_> = page.into_iter().filter(|found| is_older(found.modified, now, grace)).collect();
            if old.is_empty() {
                continue;
            }
            let names: Vec<_> = old.iter().map(|found| found.name.clone()).collect();
            let unwanted = judge.unwanted(&names).await.map_err(ObjectsError::Unjudged)?;
            let unwanted: HashSet<_> = unwanted.into_iter().collect();
            for found in old.into_iter().filter(|found| unwanted.contains(&found.name)) {
                self.delete(&found.name).await?;
                swept.removed += 1;
                swept.removed_bytes += found.size_bytes;
            }
        }
        Ok(swept)
    }

    /// Removes what uploads left behind before they had a name, if it is older than the grace period.
    pub async fn sweep_staging(&self, now: Instant, grace: Duration) -> Result<Swept, ObjectsError> {
        let mut swept = Swept::default();
        let mut listed = self.inner.store.list(Some(&Path::from(STAGING)));
        let failed = |error| Doing::Reading.failed("the list of uploads", error);
        while let Some(meta) = listed.try_next().await.map_err(failed)? {
            swept.seen += 1;
            if is_older(modified(&meta), now, grace) {
                self.remove(&meta.location).await?;
                swept.removed += 1;
                swept.removed_bytes += meta.size;
            }
        }
        if let Place::Bucket(abandoned) = &self.inner.place {
            for upload in abandoned.list().await? {
                swept.seen += 1;
                if is_older(upload.started, now, grace) {
                    abandoned.abort(&upload).await?;
                    swept.removed += 1;
                }
            }
        }
        Ok(swept)
    }
}

fn found(meta: &ObjectMeta) -> Option<Found> {
    let name = ObjectName::parse(meta.location.as_ref()).ok()?;
    Some(Found { name, size_bytes: meta.size, modified: modified(meta) })
}

fn modified(meta: &ObjectMeta) -> Instant {
    Instant::from_micros(meta.last_modified.timestamp_micros())
}

/// What claims to be from the future is as young as can be.
fn is_older(modified: Instant, now: Instant, grace: Duration) -> bool {
    let age = now.micros().saturating_sub(modified.micros());
    u128::try_from(age).is_ok_and(|age| age >= grace.as_micros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_is_counted_from_the_past_only() {
        let at = Instant::from_micros;
        let second = Duration::from_secs(1);
        assert!(is_older(at(0), at(1_000_000), second));
        assert!(!is_older(at(1), at(1_000_000), second));
        assert!(!is_older(at(9_000_000), at(1_000_000), Duration::ZERO));
        assert!(is_older(at(1_000_000), at(1_000_000), Duration::ZERO));
    }
}
