//! What every reader gives: a record, or a complaint about something it had to leave out.

use pdpp_store::{AdmittedRecord, Rejection};
use pdpp_wire::{Code, StreamName};

/// One finding in an export, in the export's order.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A record that its stream admits.
    Record {
        /// The stream.
        stream: StreamName,
        /// Where it stood, counted from one.
        line_no: u64,
        /// How long its text was, which is what it roughly takes to hold it.
        bytes: usize,
        /// The record.
        record: AdmittedRecord,
    },
    /// Something that was left out.
    Complaint(Complaint),
}

/// Why something was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The place in words, for example `line 12`.
    pub where_: String,
    /// The public code.
    pub code: Code,
    /// What is wrong; names members, never repeats contents.
    pub message: String,
}

impl Complaint {
    /// A complaint about a place.
    pub fn new(where_: impl Into<String>, code: Code, message: impl Into<String>) -> Self {
        Self { where_: where_.into(), code, message: message.into() }
    }

    /// A complaint about a line.
    pub fn at_line(line_no: u64, rejection: Rejection) -> Self {
        Self::new(format!("line {line_no}"), rejection.code, rejection.message)
    }

    /// A place whose bytes are not what its format promises.
    pub fn damaged(where_: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(where_, Code::ImportDamaged, message)
    }

    /// A place that cannot be read at all.
    pub fn unreadable(where_: impl Into<String>, error: &impl std::fmt::Display) -> Self {
        Self::damaged(where_, format!("Cannot be read: {error}."))
    }

    /// A path that cannot be in a tree.
    pub fn unsafe_path(where_: impl Into<String>) -> Self {
        Self::damaged(where_, "Its path leads out of the archive, or is no path; it was not opened.")
    }

    /// Something that is no file.
    pub fn link(where_: impl Into<String>) -> Self {
        Self::damaged(where_, "It is a link or a device, not a file; it was not followed.")
    }

    pub(crate) fn encrypted(where_: impl Into<String>) -> Self {
        Self::damaged(where_, "It is encrypted; unpack it with its password and import the folder.")
    }

    pub(crate) fn too_deep(where_: impl Into<String>, depth: usize) -> Self {
        Self::new(where_, Code::TooDeep, format!("More than {depth} archives lie inside each other here."))
    }

    /// The same complaint, its place below another.
    #[must_use]
    pub fn below(mut self, prefix: &str) -> Self {
        self.where_.insert_str(0, prefix);
        self
    }
}
