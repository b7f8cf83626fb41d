//! Where the rows of a JSON file are: in a list at its root, in the biggest list of its root object, or the root object
//! is the only row. Found by walking the file once, whatever its size, holding nothing but names.

use std::io::{self, BufRead};

/// Deepest nesting that is walked.
const DEEPEST: usize = 512;
/// Longest member name that is remembered.
const LONGEST_NAME: usize = 512;
/// Most lists beside the biggest that are told of.
const MOST_OTHERS: usize = 20;

/// Where the rows are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// A list of objects begins at this byte; other lists of objects stand beside it under these names.
    List { at: u64, others: Vec<String> },
    /// The object is the only row.
    Object,
    /// Neither a list nor an object, or nothing at all.
    Neither,
}

/// A list of objects that is a member of the root.
struct Listed {
    name: String,
    at: u64,
    bytes: u64,
}

/// Walks a text to its end, or to where it breaks.
pub(super) fn find(reader: &mut impl BufRead) -> io::Result<Root> {
    let mut walk = Walk::default();
    loop {
        let available = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            break;
        }
        let goes_on = available.iter().all(|byte| walk.step(*byte));
        let length = available.len();
        reader.consume(length);
        if !goes_on {
            break;
        }
    }
    Ok(walk.root())
}

/// Whether the walk is inside a quoted text.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Quoted {
    #[default]
    No,
    Yes,
    /// Behind a backslash.
    Escaped,
}

#[derive(Default)]
struct Walk {
    at: u64,
    depth: usize,
    text: Quoted,
    /// The root is an object.
    object: bool,
    /// A list at the root, told by its first byte.
    list_at: Option<u64>,
    /// The member name that is being read, or was read last.
    name: Vec<u8>,
    /// The next value belongs to the name.
    in_value: bool,
    /// The list that is a member of the root, while it is being walked.
    open: Option<u64>,
    /// Whether its first element is an object.
    first: Option<bool>,
    found: Vec<Listed>,
}

impl Walk {
    /// Takes one byte; `false` when nothing more is to be learnt.
    fn step(&mut self, byte: u8) -> bool {
        let at = self.at;
        self.at += 1;
        if self.text != Quoted::No {
            self.string(byte);
            return true;
        }
        if byte.is_ascii_whitespace() {
            return true;
        }
        if self.open.is_some() && self.depth == 2 && self.first.is_none() {
            self.first = Some(byte == b'{');
        }
        match byte {
            b'"' => {
                self.text = Quoted::Yes;
                if self.depth == 1 && !self.in_value {
                    self.name.clear();
                }
            }
            b'{' | b'[' => return self.enter(byte, at),
            b'}' | b']' => {
                let Some(depth) = self.depth.checked_sub(1) else { return false };
                self.depth = depth;
                if depth == 1 {
                    self.leave(at);
                }
                return depth > 0;
            }
            b':' if self.depth == 1 => self.in_value = true,
            b',' if self.depth == 1 => self.in_value = false,
            _ => return self.depth > 0,
        }
        true
    }

    fn string(&mut self, byte: u8) {
        self.text = match (self.text, byte) {
            (Quoted::Yes, b'\\') => Quoted::Escaped,
            (Quoted::Yes, b'"') => Quoted::No,
            _ => Quoted::Yes,
        };
        if self.text == Quoted::No {
            return;
        }
        if self.depth == 1 && !self.in_value && self.name.len() < LONGEST_NAME {
            self.name.push(byte);
        }
    }

    fn enter(&mut self, byte: u8, at: u64) -> bool {
        match self.depth {
            0 if byte == b'[' => {
                self.list_at = Some(at);
                return false;
            }
            0 => self.object = true,
            1 if byte == b'[' && self.in_value => (self.open, self.first) = (Some(at), None),
            _ => {}
        }
        self.depth += 1;
        self.depth <= DEEPEST
    }

    /// A member of the root ends.
    fn leave(&mut self, at: u64) {
        if let (Some(start), Some(true)) = (self.open.take(), self.first) {
            let name = String::from_utf8_lossy(&self.name).into_owned();
            let listed = Listed { name, at: start, bytes: at - start };
            if self.found.len() > MOST_OTHERS {
                // The smallest is forgotten, so that the biggest never is.
                self.found.sort_by_key(|listed| std::cmp::Reverse(listed.bytes));
                self.found.pop();
            }
            self.found.push(listed);
        }
        self.first = None;
    }

    fn root(mut self) -> Root {
        if let Some(at) = self.list_at {
            return Root::List { at, others: Vec::new() };
        }
        if self.open.is_some() && self.first == Some(true) {
            // The file breaks off inside a list: what is there of it counts.
            self.leave(self.at);
        }
        self.found.sort_by_key(|listed| (std::cmp::Reverse(listed.bytes), listed.at));
        let mut found = self.found.into_iter();
        match found.next() {
            Some(biggest) => Root::List { at: biggest.at, others: found.map(|listed| listed.name).collect() },
            None if self.object => Root::Object,
            None => Root::Neither,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let root = find(&mut BufReader::with_capacity(3, text.as_bytes())).unwrap();
        expected.assert_eq(&format!("{root:?}"));
    }

    #[test]
    fn rows_are_found_where_people_put_them() {
        check(" [ {\"a\":1} ]", expect!["List { at: 1, others: [] }"]);
        check(r#"{"version":1,"rows":[{"a":1}],"tags":["x"]}"#, expect!["List { at: 20, others: [] }"]);
        check(r#"{"a":[{"x":1}],"b\"":[{"x":1},{"x":2}]}"#, expect![[r#"List { at: 21, others: ["a"] }"#]]);
        check(r#"{"a":{"deep":[{"x":1}]},"b":[],"c":[1,{}]}"#, expect!["Object"]);
        check(r#"{"a":"[{\"x\":1}]"}"#, expect!["Object"]);
        check(r#"{"rows":[{"a":1},{"a""#, expect!["List { at: 8, others: [] }"]);
        check("17", expect!["Neither"]);
        check("", expect!["Neither"]);
        check("}{", expect!["Neither"]);
    }

    #[test]
    fn hostile_nesting_ends_the_walk() {
        check(&format!("{{\"a\":{}", "[".repeat(100_000)), expect!["Object"]);
    }
}
