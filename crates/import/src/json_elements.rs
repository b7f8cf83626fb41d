//! Cuts the elements of an array out of a JSON text of any length.
//!
//! Exports of chats are one JSON document of gigabytes. Only the wanted array's elements are held, one at a time and
//! each within a bound; each is then parsed on its own, so that a damaged one is one complaint and the next is read.
//! What stands beside the array in the objects on the way (a chat's name and id) is handed over too, as far as it
//! comes before the array and is short.

use std::io::{self, BufRead};

/// Longest value beside the array that is handed over.
const BESIDE: usize = 64 * 1024;

/// What was found, in the text's order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    /// An object on the way begins; `depth` counts the names and `*` of the path above it.
    Enter { depth: usize },
    /// A member of an object on the way that does not lead to the array.
    Beside { depth: usize, name: String, json: &'a [u8] },
    /// One element of the array, counted from one through the whole text.
    Element { number: u64, json: &'a [u8] },
    /// An element longer than the bound; it was skipped.
    TooLong { number: u64 },
    /// The text ends too early or is no JSON from this byte on; nothing more can be found.
    Broken { at: u64 },
}

/// Walks a JSON text to one array and gives its elements.
///
/// The path names members; `*` stands for every element of an array on the way. `&[]` is an array at the root;
/// `&["chats", "list", "*", "messages"]` the messages of every chat.
#[derive(Debug)]
pub(crate) struct Elements<R> {
    bytes: Bytes<R>,
    path: &'static [&'static str],
    longest: usize,
    /// How each container on the way is walked, outermost first.
    open: Vec<Open>,
    started: bool,
    done: bool,
    number: u64,
    buffer: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Object { first: bool },
    Array { first: bool },
}

#[derive(Debug)]
enum Fault {
    Io(io::Error),
    Broken,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

enum Captured {
    Whole,
    TooLong,
}

enum Step {
    Enter(usize),
    Beside(usize, String),
    Element,
    TooLong,
    Again,
    End,
}

impl<R: BufRead> Elements<R> {
    pub(crate) fn new(reader: R, path: &'static [&'static str], longest: usize) -> Self {
        Self {
            bytes: Bytes { reader, position: 0 },
            path,
            longest,
            open: Vec::new(),
            started: false,
            done: false,
            number: 0,
            buffer: Vec::new(),
        }
    }

    /// The next finding; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Found<'_>>> {
        while !self.done {
            match self.step() {
                Ok(Step::Again) => {}
                Ok(Step::End) => self.done = true,
                Ok(Step::Enter(depth)) => return Ok(Some(Found::Enter { depth })),
                Ok(Step::Beside(depth, name)) => {
                    return Ok(Some(Found::Beside { depth, name, json: &self.buffer }));
                }
                Ok(Step::Element) => {
                    return Ok(Some(Found::Element { number: self.number, json: &self.buffer }));
                }
                Ok(Step::TooLong) => return Ok(Some(Found::TooLong { number: self.number })),
                Err(Fault::Io(error)) => {
                    self.done = true;
                    return Err(error);
                }
                Err(Fault::Broken) => {
                    self.done = true;
                    return Ok(Some(Found::Broken { at: self.bytes.position }));
                }
            }
        }
        Ok(None)
    }

    fn step(&mut self) -> Result<Step, Fault> {
        if !self.started {
            self.started = true;
            self.bytes.skip_byte_order_mark()?;
            return self.value();
        }
        match self.open.last().copied() {
            None => Ok(Step::End),
            Some(Open::Object { first }) => self.member(first),
            Some(Open::Array { first }) => self.element(first),
        }
    }

    /// A value on the way to the array.
    fn value(&mut self) -> Result<Step, Fault> {
        let wanted = self.path.get(self.open.len());
        match (self.bytes.peek_token()?, wanted) {
            (b'{', Some(name)) if *name != "*" => {
                self.bytes.advance(1);
                self.open.push(Open::Object { first: true });
                Ok(Step::Enter(self.open.len() - 1))
            }
            (b'[', Some(&"*") | None) => {
                self.bytes.advance(1);
                self.open.push(Open::Array { first: true });
                Ok(Step::Again)
            }
            // Something else stands where the way should go on: it holds nothing that was asked for.
            _ => {
                self.skip()?;
                Ok(Step::Again)
            }
        }
    }

    fn member(&mut self, first: bool) -> Result<Step, Fault> {
        if self.ends_with(b'}', first)? {
            return Ok(Step::Again);
        }
        if let Some(Open::Object { first }) = self.open.last_mut() {
            *first = false;
        }
        if self.bytes.peek_token()? != b'"' {
            return Err(Fault::Broken);
        }
        self.capture(BESIDE)?;
        let name: String = serde_json::from_slice(&self.buffer).map_err(|_| Fault::Broken)?;
        if self.bytes.peek_token()? != b':' {
            return Err(Fault::Broken);
        }
        self.bytes.advance(1);
        self.bytes.peek_token()?;
        let depth = self.open.len() - 1;
        if self.path[depth] == name {
            return self.value();
        }
        match self.capture(BESIDE)? {
            Captured::Whole => Ok(Step::Beside(depth, name)),
            Captured::TooLong => Ok(Step::Again),
        }
    }

    fn element(&mut self, first: bool) -> Result<Step, Fault> {
        if self.ends_with(b']', first)? {
            return Ok(Step::Again);
        }
        if let Some(Open::Array { first }) = self.open.last_mut() {
            *first = false;
        }
        self.bytes.peek_token()?;
        if self.open.len() <= self.path.len() {
            return self.value();
        }
        self.number += 1;
        Ok(match self.capture(self.longest)? {
            Captured::Whole => Step::Element,
            Captured::TooLong => Step::TooLong,
        })
    }

    /// Whether the container ends here; otherwise the comma before its next member is passed.
    fn ends_with(&mut self, end: u8, first: bool) -> Result<bool, Fault> {
        let byte = self.bytes.peek_token()?;
        if byte == end {
            self.bytes.advance(1);
            self.open.pop();
            return Ok(true);
        }
        match (first, byte) {
            (true, _) => Ok(false),
            (false, b',') => {
                self.bytes.advance(1);
                Ok(false)
            }
            _ => Err(Fault::Broken),
        }
    }

    fn skip(&mut self) -> Result<(), Fault> {
        self.capture(0).map(|_| ())
    }

    /// Takes one value, keeping its text if it is no longer than `longest`.
    fn capture(&mut self, longest: usize) -> Result<Captured, Fault> {
        self.buffer.clear();
        self.buffer.shrink_to(1 << 20);
        let mut scan = Scan::default();
        let mut too_long = false;
        while !scan.complete {
            let available = self.bytes.fill()?;
            if available.is_empty() {
                // A number at the very end of a text needs nothing after it.
                if scan.inside == Inside::Scalar && self.open.is_empty() {
                    break;
                }
                return Err(Fault::Broken);
            }
            let used = scan.run(available)?;
            too_long |= self.buffer.len() + used > longest;
            if !too_long {
                self.buffer.extend_from_slice(&available[..used]);
            }
            self.bytes.advance(used);
        }
        Ok(if too_long { Captured::TooLong } else { Captured::Whole })
    }
}

/// Finds where one value ends, without judging what is in it.
#[derive(Debug, Default)]
struct Scan {
    depth: usize,
    inside: Inside,
    complete: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    /// Between tokens.
    #[default]
    Structure,
    Text,
    /// In a text, after a backslash.
    Escape,
    /// A number or a word that is the whole value.
    Scalar,
}

impl Scan {
    /// How many of these bytes belong to the value.
    fn run(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        for (index, byte) in bytes.iter().enumerate() {
            match (self.inside, byte) {
                (Inside::Text, b'\\') => self.inside = Inside::Escape,
                (Inside::Text, b'"') => {
                    self.inside = Inside::Structure;
                    self.complete = self.depth == 0;
                }
                (Inside::Scalar, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t') => {
                    self.complete = true;
                    return Ok(index);
                }
                (Inside::Structure, b'"') | (Inside::Escape, _) => self.inside = Inside::Text,
                (Inside::Structure, b'{' | b'[') => {
                    // Counted and never followed, so any depth costs nothing; who parses the value refuses it.
                    self.depth += 1;
                }
                (Inside::Structure, b'}' | b']') => {
                    self.depth = self.depth.checked_sub(1).ok_or(Fault::Broken)?;
                    self.complete = self.depth == 0;
                }
                (Inside::Structure, _) if self.depth == 0 => self.inside = Inside::Scalar,
                (Inside::Text | Inside::Scalar | Inside::Structure, _) => {}
            }
            if self.complete {
                return Ok(index + 1);
            }
        }
        Ok(bytes.len())
    }
}

#[derive(Debug)]
struct Bytes<R> {
    reader: R,
    position: u64,
}

impl<R: BufRead> Bytes<R> {
    fn fill(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The borrow of a returned slice must not outlive the retry.
                Err(error) => return Err(error),
                Ok(_) => break,
            }
        }
        self.reader.fill_buf()
    }

    fn advance(&mut self, count: usize) {
        self.position += count as u64;
        self.reader.consume(count);
    }

    /// The next byte that is no space; not consumed.
    fn peek_token(&mut self) -> Result<u8, Fault> {
        loop {
            let available = self.fill()?;
            if available.is_empty() {
                return Err(Fault::Broken);
            }
            let spaces = available.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let found = available.get(spaces).copied();
            self.advance(spaces);
            if let Some(byte) = found {
                return Ok(byte);
            }
        }
    }

    fn skip_byte_order_mark(&mut self) -> io::Result<()> {
        if self.fill()?.starts_with(b"\xef\xbb\xbf") {
            self.advance(3);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
