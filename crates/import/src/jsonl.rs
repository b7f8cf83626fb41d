//! Record envelopes, one per line: `{"stream","key","data","emitted_at","op"?}`.
//!
//! The same lines that ingest over REST takes, read by the same code. When a manifest declares one
//! stream only, a line need not name it.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use pdpp_store::{Admission, AdmittedRecord, MAX_RECORD_BYTES, RecordLine, Rejection};
use pdpp_wire::manifest::{Manifest, StreamDeclaration};
use pdpp_wire::{Code, Instant, StreamName};

use crate::lines::{Line, Lines};
use crate::{Complaint, Item};

/// Longest line that is looked at.
pub const MAX_LINE_BYTES: usize = MAX_RECORD_BYTES;

/// Reads record lines against a manifest. Blank lines count but say nothing.
#[derive(Debug)]
pub struct Jsonl<'m, R> {
    lines: Lines<R>,
    rules: Rules<'m>,
    broken: bool,
}

#[derive(Debug)]
struct Rules<'m> {
    streams: BTreeMap<&'m str, (&'m StreamDeclaration, Admission<'m>)>,
    only: Option<&'m str>,
    now: Instant,
}

impl<'m, R: BufRead> Jsonl<'m, R> {
    /// Starts reading; `now` stands in for a missing `emitted_at`. Refused when a declared schema is
    /// no schema.
    pub fn new(reader: R, manifest: &'m Manifest, now: Instant) -> Result<Self, Rejection> {
        let rule =
            |stream: &'m StreamDeclaration| Ok((stream.name().as_str(), (stream, Admission::new(stream)?)));
        let streams = manifest.streams().iter().map(rule).collect::<Result<BTreeMap<_, _>, _>>()?;
        let only = match manifest.streams() {
            [only] => Some(only.name().as_str()),
            _ => None,
        };
        Ok(Self {
            lines: Lines::new(reader, MAX_LINE_BYTES),
            rules: Rules { streams, only, now },
            broken: false,
        })
    }
}

impl<R: BufRead> Iterator for Jsonl<'_, R> {
    /// An error is the reader's own, and the end.
    type Item = io::Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.broken {
            let outcome = match self.lines.next_line() {
                Err(error) => {
                    self.broken = true;
                    return Some(Err(error));
                }
                Ok(None) => return None,
                Ok(Some(Line::Whole(text))) if text.trim_ascii().is_empty() => continue,
                Ok(Some(Line::Whole(text))) => self.rules.read(text).map(|found| (found, text.len())),
                Ok(Some(Line::TooLong)) => Err(too_long()),
            };
            let line_no = self.lines.count();
            return Some(Ok(match outcome {
                Ok(((stream, record), bytes)) => Item::Record { stream, line_no, bytes, record },
                Err(rejection) => Item::Complaint(Complaint::at_line(line_no, rejection)),
            }));
        }
        None
    }
}

impl Rules<'_> {
    fn read(&self, text: &[u8]) -> Result<(StreamName, AdmittedRecord), Rejection> {
        let line = RecordLine::parse(text)?;
        let name = line.stream.as_deref().or(self.only);
        let name = name.ok_or_else(|| Rejection::new(Code::MalformedNdjson, "`stream` is missing."))?;
        let (declaration, admission) = self
            .streams
            .get(name)
            .ok_or_else(|| Rejection::new(Code::NotFound, "`stream` names no stream of the manifest."))?;
        Ok((declaration.name().clone(), line.admit(admission, self.now)?))
    }
}

fn too_long() -> Rejection {
    let mebibytes = MAX_LINE_BYTES / 1024 / 1024;
    Rejection::new(Code::ResourceLimit, format!("The line is longer than {mebibytes} MiB."))
}

#[cfg(test)]
mod tests;
