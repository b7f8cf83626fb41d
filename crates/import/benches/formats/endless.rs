//! A mailbox that is written while it is read.

use std::io::{self, Read};

use pdpp_import::{Entry, Tree};

/// The text of the message of this number.
pub(crate) type Letter = fn(usize) -> String;

pub(crate) struct EndlessMailbox {
    entries: [Entry; 1],
    letter: Letter,
}

impl EndlessMailbox {
    pub(crate) fn new(bytes: u64, letter: Letter) -> Self {
        Self { entries: [Entry { path: "All mail.mbox".into(), bytes }], letter }
    }
}

impl Tree for EndlessMailbox {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn open(&mut self, _: usize) -> io::Result<Box<dyn Read + '_>> {
        let (left, letter) = (self.entries[0].bytes, self.letter);
        Ok(Box::new(Writing { letter, left, number: 0, buffer: Vec::new(), at: 0 }))
    }
}

struct Writing {
    letter: Letter,
    left: u64,
    number: usize,
    buffer: Vec<u8>,
    at: usize,
}

impl Read for Writing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.buffer.len() {
            if self.left == 0 {
                return Ok(0);
            }
            self.buffer = (self.letter)(self.number).into_bytes();
            self.number += 1;
            self.at = 0;
            self.left = self.left.saturating_sub(self.buffer.len() as u64);
        }
        let part = &self.buffer[self.at..];
        let count = part.len().min(into.len());
        into[..count].copy_from_slice(&part[..count]);
        self.at += count;
        Ok(count)
    }
}
