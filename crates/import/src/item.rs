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
    /// A complaint about a line.
    pub fn at_line(line_no: u64, rejection: Rejection) -> Self {
        Self { where_: format!("line {line_no}"), code: rejection.code, message: rejection.message }
    }
}
