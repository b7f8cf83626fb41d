//! JSON that can be shown as it came, byte for byte.
//!
//! An answer is usually minified JSON of ordinary text. Building a tree of it, passing the tree through the boundary of
//! [`crate::shown`] and writing it again gives the same bytes, and costs more than the rest of a short call. One look
//! at each byte tells whether that is so: written as our own writer would write it, no name twice in an object, no
//! character that acts unseen, no bytes in base64, not deep. Whatever else comes is no error and nothing is guessed about
//! it: the reader gives up, and the caller builds the tree.

mod text;

pub(crate) use text::write as write_text;

use std::ops::Range;

use serde_json::{Map, Value};

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
    /// Whether it stands so, at the same place, in the object that [`Visit::before`] knows.
    pub(crate) repeats: bool,
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
    /// The member at this place in an object of the same text that was read like this one. Rows of a page are made alike, so
    /// that most of a row is known from the one before; such a visit must read values by looking alone.
    fn before(&self, _place: usize) -> Option<Member<'j>> {
        None
    }

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

/// How many members there is room for from the start.
const USUAL_MEMBERS: usize = 8;

/// Makes a tree.
struct Tree(Map<String, Value>);

impl<'j> Visit<'j> for Tree {
    fn value(&mut self, reader: &mut Reader<'j>, name: &'j str) -> Option<()> {
        let value = reader.tree()?;
        self.0.insert(unescaped(name)?, value);
        Some(())
    }
}

/// Keeps the members of an object.
struct Members<'j>(Vec<Member<'j>>);

impl<'j> Visit<'j> for Members<'j> {
    fn member(&mut self, member: Member<'j>) -> Option<()> {
        self.0.push(member);
        Some(())
    }
}

/// The members of an object.
pub(crate) fn members_of(object: &str) -> Option<Vec<Member<'_>>> {
    let mut members = Members(Vec::with_capacity(USUAL_MEMBERS));
    let mut reader = Reader::new(object);
    reader.object(&mut members)?;
    Some(members.0).filter(|_| reader.is_at_end())
}

/// The tree of a value that was read before.
pub(crate) fn tree_of(value: &str) -> Option<Value> {
    Reader::new(value).tree()
}

/// What stands between quotes, as the text it is.
pub(crate) fn unescaped(text: &str) -> Option<String> {
    if text.contains('\\') {
        serde_json::from_str(&format!("\"{text}\"")).ok()
    } else {
        Some(text.to_owned())
    }
}

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
            // As long as names come in the order they came in before, none of them can come twice.
            let mut alike = true;
            for place in 0.. {
                let start = self.at + 1;
                let before = if alike { visit.before(place) } else { None };
                let repeats = before.is_some_and(|before| self.repeated_member(&before));
                if let Some(before) = before.filter(|_| repeats) {
                    self.names.push(before.name);
                    visit.member(Member { start, end: self.at, repeats, ..before })?;
                } else {
                    let name = before.and_then(|before| self.repeated_name(before.name));
                    alike = name.is_some();
                    let name = if let Some(name) = name { name } else { self.new_name(outer)? };
                    self.names.push(name);
                    self.take(b':')?;
                    let from = self.at;
                    if visit.may_be_bytes(name) && self.peek() == Some(b'"') {
                        self.text()?;
                    } else {
                        visit.value(self, name)?;
                    }
                    let value = &self.json[from..self.at];
                    visit.member(Member { name, value, start, end: self.at, repeats })?;
                }
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

    /// Reads any value that was read before, as a tree.
    fn tree(&mut self) -> Option<Value> {
        let start = self.at;
        match self.peek()? {
            b'"' => self.text().and_then(unescaped).map(Value::String),
            b'{' => {
                let mut tree = Tree(Map::with_capacity(USUAL_MEMBERS));
                self.object(&mut tree)?;
                Some(Value::Object(tree.0))
            }
            b'[' => {
                let mut items = Vec::new();
                self.array(|reader| {
                    items.push(reader.tree()?);
                    Some(())
                })?;
                Some(Value::Array(items))
            }
            _ => {
                self.skip()?;
                serde_json::from_str(&self.json[start..self.at]).ok()
            }
        }
    }

    /// Reads a name that no object that is open since `outer` has.
    fn new_name(&mut self, outer: usize) -> Option<&'j str> {
        let name = self.text()?;
        let known = &self.names[outer..];
        (known.len() < MAX_MEMBERS && !known.contains(&name)).then_some(name)
    }

    /// Reads a name, if it is the other one.
    fn repeated_name(&mut self, other: &'j str) -> Option<&'j str> {
        let rest = self.json.as_bytes()[self.at..].strip_prefix(b"\"")?.strip_prefix(other.as_bytes())?;
        rest.starts_with(b"\"").then(|| {
            self.at += other.len() + 2;
            other
        })
    }

    /// Reads a member, if it is the other one of the same text.
    fn repeated_member(&mut self, other: &Member<'j>) -> bool {
        let bytes = self.json.as_bytes();
        let whole = &bytes[other.start - 1..other.end];
        // A longer number may begin with a shorter one.
        let repeats = matches!(bytes[self.at..].strip_prefix(whole), Some([b',' | b'}', ..]));
        if repeats {
            self.at += whole.len();
        }
        repeats
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
