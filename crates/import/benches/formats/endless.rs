//! A mailbox that is written while it is read.

use std::io::{self, Read};

use pdpp_import::{Entry, Tree};

use crate::samples::message;

pub(crate) struct EndlessMailbox {
    entries: [Entry; 1],
}

impl EndlessMailbox {
    pub(crate) fn new(bytes: u64) -> Self {
        Self { entries: [Entry { path: "All mail.mbox".into(), bytes }] }
    }
}

impl Tree for EndlessMailbox {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn open(&mut self, _: usize) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(Writing { left: self.entries[0].bytes, number: 0, buffer: Vec::new(), at: 0 }))
    }
}

struct Writing {
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
            self.buffer = message(self.number).into_bytes();
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
