//! Where a format puts what it reads.

use std::io::Read;

use serde_json::{Map, Value, json};

use crate::Complaint;

/// The other side went away or failed, and says so itself: stop reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop;

/// Takes records, attachments and complaints in the order they are found.
pub trait Sink {
    /// Takes one record of a declared stream. What the stream's schema does not admit becomes a complaint.
    fn record(&mut self, draft: Draft) -> Result<(), Stop>;

    /// Takes the bytes of an attachment before the record that refers to them. A reader that fails halfway is the
    /// caller's complaint: `Ok(None)`, and nothing is kept.
    fn attach(
        &mut self,
        attachment: &Attachment<'_>,
        bytes: &mut dyn Read,
    ) -> Result<Option<Attached>, Stop>;

    /// Takes a complaint about something that was left out.
    fn complain(&mut self, complaint: Complaint) -> Result<(), Stop>;
}

/// A record as a format reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// A stream of the format's manifest.
    pub stream: String,
    /// The value of the stream's primary key, from [`crate::mint_key`] or of its grammar.
    pub key: String,
    /// The record, its primary key included.
    pub data: Map<String, Value>,
    /// Where it stood, for a complaint: `inbox.mbox message 12`.
    pub place: String,
}

/// Bytes that a record will refer to by its `blob_ref`.
#[derive(Clone, Copy, Debug)]
pub struct Attachment<'a> {
    /// The stream of the record.
    pub stream: &'a str,
    /// The key of the record.
    pub key: &'a str,
    /// The name it came under, which helps to tell what it is.
    pub name: Option<&'a str>,
    /// Its media type.
    pub media_type: &'a str,
}

/// Bytes that were kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Attached {
    /// Names them.
    pub blob_id: String,
    /// Their hash, in hex.
    pub sha256: String,
    /// How many.
    pub size_bytes: u64,
    /// Their media type.
    pub media_type: String,
    /// The text in them, if they are a kind of document whose text can be had.
    pub text: Option<String>,
}

impl Attached {
    /// The member `blob_ref` of the record.
    pub fn blob_ref(&self) -> Value {
        json!({"blob_id": self.blob_id, "mime_type": self.media_type, "sha256": self.sha256,
               "size_bytes": self.size_bytes})
    }
}
