//! JSON that can be shown as it came, byte for byte.
//!
//! An answer is usually minified JSON of ordinary text. Building a tree of it, passing the tree through the boundary of
//! [`crate::shown`] and writing it again gives the same bytes, and costs more than the rest of a short call. One look
//! at each byte tells whether that is so: written as our own writer would write it, no name twice in an object, no
//! character that acts unseen, no bytes in base64, not deep. Whatever else comes is no error and nothing is guessed about
//! it: the reader gives up, and the caller builds the tree.

mod text;

use std::ops::Range;

use serde_json::Value;

/// Deeper values are left to the tree, which has its own bounds.
const MAX_DEPTH: usize = 32;
/// Objects with more members are left to the tree, because looking for a name twice takes every pair of them.
const MAX_MEMBERS: usize = 64;

/// Reads through a text of JSON. Every method gives nothing as soon as the text cannot be shown as it is.
#[derive(Debug)]
pub(crate) struct Reader<'j> {
    json: &'j str,
    at: usize,
    depth: usize,
    /// Names of the objects that are open.
    names: Vec<&'j str>,
}

/// A member of an object, as it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member<'j> {
    /// Between its quotes.
    pub(crate) name: &'j str,
    pub(crate) value: &'j str,
    /// Where it starts, after its first quote.
    pub(crate) start: usize,
    /// Where its value ends.
    pub(crate) end: usize,
}

impl<'j> Member<'j> {
    /// The text between the quotes of a value that is a text and needs no escapes.
    pub(crate) fn text(&self) -> Option<&'j str> {
        text_of(self.value)
    }
}

/// The text between the quotes, where that is what the text says.
pub(crate) fn text_of(value: &str) -> Option<&str> {
    let text = value.strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains('\\')).then_some(text)
}

/// What is done with what is found at one place.
pub(crate) trait Visit<'j> {
    /// Whether a text at this place may look like bytes.
    fn may_be_bytes(&self, _name: &str) -> bool {
        false
    }

    /// Reads the value of a member, which starts here.
    fn value(&mut self, reader: &mut Reader<'j>, _name: &'j str) -> Option<()> {
        reader.skip()
    }

    /// Takes a member that was read.
    fn member(&mut self, _member: Member<'j>) -> Option<()> {
        Some(())
    }
}

/// Looks and takes nothing.
struct Look;

impl Visit<'_> for Look {}

impl<'j> Reader<'j> {
    pub(crate) fn new(json: &'j str) -> Self {
        Self { json, at: 0, depth: 0, names: Vec::new() }
    }

    /// Whether everything was read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.json.len()
    }

    /// Where the next value starts, or the last one ended.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What comes next.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    /// Reads an object, member by member.
    pub(crate) fn object(&mut self, visit: &mut impl Visit<'j>) -> Option<()> {
        self.open(b'{')?;
        let outer = self.names.len();
        if self.take(b'}').is_none() {
            loop {
                let start = self.at + 1;
                let name = self.text()?;
                let known = &self.names[outer..];
                if known.len() == MAX_MEMBERS || known.contains(&name) {
                    return None;
                }
                self.names.push(name);
                self.take(b':')?;
                let from = self.at;
                if visit.may_be_bytes(name) && self.peek() == Some(b'"') {
                    self.text()?;
                } else {
                    visit.value(self, name)?;
                }
                visit.member(Member { name, value: &self.json[from..self.at], start, end: self.at })?;
                if self.take(b',').is_none() {
                    break;
                }
            }
            self.take(b'}')?;
        }
        self.names.truncate(outer);
        self.depth -= 1;
        Some(())
    }

    /// Reads an array, item by item; gives where it stands.
    pub(crate) fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<Range<usize>> {
        let start = self.at;
        self.open(b'[')?;
        if self.take(b']').is_none() {
            loop {
                item(self)?;
                if self.take(b',').is_none() {
                    break;
                }
            }
            self.take(b']')?;
        }
        self.depth -= 1;
        Some(start..self.at)
    }

    /// Reads any value.
    pub(crate) fn skip(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.text().filter(|text| !text::is_bytes(text)).map(|_| ()),
            b'{' => self.object(&mut Look),
            b'[' => self.array(Self::skip).map(|_| ()),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    /// Reads a text; gives what stands between its quotes.
    fn text(&mut self) -> Option<&'j str> {
        self.take(b'"')?;
        let rest = &self.json[self.at..];
        let end = text::end(rest)?;
        self.at += end + 1;
        Some(&rest[..end])
    }

    fn open(&mut self, mark: u8) -> Option<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { None } else { self.take(mark) }
    }

    fn take(&mut self, mark: u8) -> Option<()> {
        (self.peek()? == mark).then(|| self.at += 1)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.json[self.at..].starts_with(word).then(|| self.at += word.len())
    }

    /// A number as our own writer writes it. Whole numbers of few digits are; of others the writer is asked.
    fn number(&mut self) -> Option<()> {
        let rest = &self.json[self.at..];
        let of_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        let end = rest.bytes().position(|byte| !of_number(byte)).unwrap_or(rest.len());
        let number = &rest[..end];
        let digits = number.strip_prefix('-').unwrap_or(number);
        let whole =
            !digits.is_empty() && digits.len() < 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let sound = if whole {
            number == "0" || !digits.starts_with('0')
        } else {
            // Zero equals its negative, though they are written differently.
            number != "-0.0"
                && serde_json::from_str::<Value>(number)
                    .is_ok_and(|value| value.to_string().as_str() == number)
        };
        sound.then(|| self.at += end)
    }
}

/// Whether two values are the same, whatever the order of members in them.
pub(crate) fn same(one: &str, other: &str) -> bool {
    let sum = |text: &str| text.bytes().map(u64::from).sum::<u64>();
    if one == other {
        return true;
    }
    // Only the order of members can differ, and the same members are the same bytes.
    let may_be = one.len() == other.len() && one.starts_with(['{', '[']) && sum(one) == sum(other);
    may_be && serde_json::from_str::<Value>(one).ok() == serde_json::from_str::<Value>(other).ok()
}
