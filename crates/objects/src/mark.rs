//! A mark that says whose objects lie in a place.
//!
//! A path does not say that: the same directory has another on another machine, and where nothing is mounted the right
//! path leads to the wrong disk. The mark is an object like the others and travels with a copy of them.

use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore as _, ObjectStoreExt as _};

use crate::error::Doing;
use crate::{Objects, ObjectsError};

/// Never the folder of a subject, whose names do not begin with a dot.
const MARK: &str = ".belongs-to";
/// More than a mark has.
const MOST_BYTES: u64 = 256;

impl Objects {
    /// Where this is, for people. It holds no secret.
    pub fn place(&self) -> &str {
        &self.inner.named
    }

    /// The mark of this place; `None` where nobody left one.
    pub async fn find_mark(&self) -> Result<Option<String>, ObjectsError> {
        let options = GetOptions { range: Some(GetRange::Bounded(0..MOST_BYTES)), ..GetOptions::default() };
        let read = async {
            let answer = self.inner.store.get_opts(&Path::from(MARK), options).await?;
            answer.bytes().await
        };
        match read.await.map_err(|error| Doing::Reading.failed(MARK, error)) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned())),
            Err(ObjectsError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Leaves a mark, in the place of one that is there.
    pub async fn put_mark(&self, mark: &str) -> Result<(), ObjectsError> {
        let written = self.inner.store.put(&Path::from(MARK), format!("{mark}\n").into_bytes().into()).await;
        written.map(drop).map_err(|error| Doing::Writing.failed(MARK, error))
    }
}
