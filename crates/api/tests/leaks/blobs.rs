//! A few blobs that records may refer to.

use std::fmt::Write as _;
use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};

pub(crate) const CONTENTS: [&str; 4] = ["first blob", "second, somewhat longer blob", "third", ""];

/// The ids and sizes of the contents.
pub(crate) fn all() -> [(&'static str, usize); 4] {
    static IDS: OnceLock<[String; 4]> = OnceLock::new();
    let ids = IDS.get_or_init(|| CONTENTS.map(id));
    [0, 1, 2, 3].map(|index| (ids[index].as_str(), CONTENTS[index].len()))
}

fn id(content: &str) -> String {
    let mut id = "blob_sha256_".to_owned();
    for byte in Sha256::digest(content.as_bytes()) {
        let _ = write!(id, "{byte:02x}");
    }
    id
}

/// The content with this id.
pub(crate) fn content(id: &str) -> Option<&'static str> {
    all().iter().position(|(known, _)| *known == id).map(|index| CONTENTS[index])
}

/// Whether a record's producer uploads the bytes it refers to. Some do not: then nobody may read them
/// through that record, whoever else uploaded the same.
pub(crate) fn is_uploaded(connection: usize, stream: &str, key: &str, blob_id: &str) -> bool {
    !Sha256::digest(format!("{connection} {stream} {key} {blob_id}"))[0].is_multiple_of(4)
}
