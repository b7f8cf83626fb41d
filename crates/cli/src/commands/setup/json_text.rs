//! One entry in a JSON file that people and programs also write: everything else stays byte for byte.
//!
//! The text is scanned, not rewritten, so order, spacing, numbers and (where a program allows them) comments survive.
//! Before a changed text is handed out it is read whole and compared with the change made to the value.

use anyhow::{Context as _, bail};
use serde_json::{Map, Value};

/// Nested deeper than this, it is no configuration.
const MAX_DEPTH: usize = 128;

/// The entry `name` below `key`.
pub(super) fn read(text: &str, key: &str, name: &str) -> anyhow::Result<Option<Value>> {
    Ok(parse(text)?.get(key).and_then(|entries| entries.get(name)).cloned())
}

/// The text with the entry set, or without it.
pub(super) fn edit(text: &str, key: &str, name: &str, entry: Option<&Value>) -> anyhow::Result<String> {
    let mut wanted = parse(text)?;
    let edited = if let Some(entry) = entry {
        let entries = wanted.entry(key).or_insert_with(|| Value::Object(Map::new()));
        let entries = entries.as_object_mut().with_context(|| format!("`{key}` is not an object"))?;
        entries.insert(name.to_owned(), entry.clone());
        set(text, key, name, entry)?
    } else {
        if let Some(entries) = wanted.get_mut(key).and_then(Value::as_object_mut) {
            entries.shift_remove(name);
        }
        without(text, key, name)?
    };
    if parse(&edited)? != wanted {
        bail!("the file is written in a way that this program does not understand");
    }
    Ok(edited)
}

fn set(text: &str, key: &str, name: &str, entry: &Value) -> anyhow::Result<String> {
    let style = Style::of(text);
    if text.trim().is_empty() {
        let inner = style.member(name, entry, 2);
        let (nl, unit) = (style.newline, &style.unit);
        return Ok(format!("{{{nl}{unit}{}: {{{nl}{unit}{unit}{inner}{nl}{unit}}}{nl}}}{nl}", quoted(key)));
    }
    let root = Object::scan(text, start_of(text)?)?;
    let Some(entries) = root.member(key) else {
        let value = Value::Object(Map::from_iter([(name.to_owned(), entry.clone())]));
        return Ok(root.with(text, &style, key, &value, 1));
    };
    let entries = Object::scan(text, entries.value.start)?;
    match entries.member(name) {
        Some(member) => {
            let value = style.value(entry, 2);
            Ok(format!("{}{value}{}", &text[..member.value.start], &text[member.value.end..]))
        }
        None => Ok(entries.with(text, &style, name, entry, 2)),
    }
}

fn without(text: &str, key: &str, name: &str) -> anyhow::Result<String> {
    let root = Object::scan(text, start_of(text)?)?;
    let Some(entries) = root.member(key) else { return Ok(text.to_owned()) };
    let entries = Object::scan(text, entries.value.start)?;
    let Some(index) = entries.members.iter().position(|member| member.key == name) else {
        return Ok(text.to_owned());
    };
    let member = &entries.members[index];
    let gone = match (index.checked_sub(1), entries.members.get(index + 1)) {
        (Some(before), _) => entries.members[before].value.end..member.value.end,
        (None, Some(next)) => member.start..next.start,
        (None, None) => entries.open + 1..entries.close,
    };
    Ok(format!("{}{}", &text[..gone.start], &text[gone.end..]))
}

/// How a file is written.
struct Style {
    newline: &'static str,
    unit: String,
}

impl Style {
    fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        // The least a line is set in by; comments may stand anywhere.
        let unit = text
            .lines()
            .map(|line| (line.len() - line.trim_start().len(), line))
            .filter(|(depth, line)| *depth > 0 && line.trim_start().starts_with(['"', '{', '}', '[', ']']))
            .min_by_key(|(depth, _)| *depth)
            .map(|(depth, line)| line[..depth].to_owned());
        Self { newline, unit: unit.unwrap_or_else(|| "  ".to_owned()) }
    }

    fn member(&self, name: &str, value: &Value, depth: usize) -> String {
        format!("{}: {}", quoted(name), self.value(value, depth))
    }

    /// A value whose first line stands at this depth.
    fn value(&self, value: &Value, depth: usize) -> String {
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
        let written = serde::Serialize::serialize(value, &mut serializer).is_ok();
        let text = if written { String::from_utf8(out).unwrap_or_default() } else { value.to_string() };
        text.replace('\n', &format!("{}{}", self.newline, self.unit.repeat(depth)))
    }
}

/// An object in the text.
struct Object {
    open: usize,
    close: usize,
    members: Vec<Member>,
}

struct Member {
    key: String,
    start: usize,
    value: std::ops::Range<usize>,
}

impl Object {
    fn scan(text: &str, open: usize) -> anyhow::Result<Self> {
        let mut scan = Scan { text, at: open };
        if scan.next() != Some(b'{') {
            bail!("there is no object where one is needed");
        }
        scan.at += 1;
        let mut members = Vec::new();
        loop {
            scan.skip_space()?;
            match scan.next() {
                Some(b'}') => return Ok(Self { open, close: scan.at, members }),
                Some(b',') => scan.at += 1,
                Some(b'"') => {
                    let start = scan.at;
                    scan.skip_string()?;
                    let key: String = serde_json::from_str(&text[start..scan.at])?;
                    scan.skip_space()?;
                    if scan.next() != Some(b':') {
                        bail!("a member has no value");
                    }
                    scan.at += 1;
                    scan.skip_space()?;
                    let value = scan.at;
                    scan.skip_value(0)?;
                    members.push(Member { key, start, value: value..scan.at });
                }
                _ => bail!("an object is not written as JSON"),
            }
        }
    }

    fn member(&self, key: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.key == key)
    }

    /// The text with one more member, after the last.
    fn with(&self, text: &str, style: &Style, key: &str, value: &Value, depth: usize) -> String {
        let (nl, indent) = (style.newline, style.unit.repeat(depth));
        let member = style.member(key, value, depth);
        if let Some(last) = self.members.last() {
            let at = last.value.end;
            return format!("{},{nl}{indent}{member}{}", &text[..at], &text[at..]);
        }
        let (head, rest) = text.split_at(self.open + 1);
        let inner = rest[..self.close - self.open - 1].trim_end();
        let outer = style.unit.repeat(depth - 1);
        format!("{head}{inner}{nl}{indent}{member}{nl}{outer}{}", &text[self.close..])
    }
}

/// A place in the text.
struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl Scan<'_> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// White space, and the comments some programs allow.
    fn skip_space(&mut self) -> anyhow::Result<()> {
        loop {
            let rest = &self.text[self.at..];
            let spaces = rest.len() - rest.trim_start().len();
            self.at += spaces;
            let rest = &self.text[self.at..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").context("a comment does not end")? + 2;
            } else if spaces == 0 {
                return Ok(());
            }
        }
    }

    fn skip_string(&mut self) -> anyhow::Result<()> {
        self.at += 1;
        loop {
            match self.next().context("a text does not end")? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    fn skip_value(&mut self, depth: usize) -> anyhow::Result<()> {
        if depth > MAX_DEPTH {
            bail!("it is nested too deeply");
        }
        match self.next().context("a value is missing")? {
            b'"' => self.skip_string(),
            open @ (b'{' | b'[') => {
                let close = if open == b'{' { b'}' } else { b']' };
                self.at += 1;
                loop {
                    self.skip_space()?;
                    match self.next().context("a list or an object does not end")? {
                        byte if byte == close => {
                            self.at += 1;
                            return Ok(());
                        }
                        b',' | b':' => self.at += 1,
                        _ => self.skip_value(depth + 1)?,
                    }
                }
            }
            _ => {
                let rest = &self.text[self.at..];
                let ends = |c: char| c.is_whitespace() || ",:]}/\"{[".contains(c);
                let length = rest.find(ends).unwrap_or(rest.len());
                if length == 0 {
                    bail!("a value is missing");
                }
                self.at += length;
                Ok(())
            }
        }
    }
}

fn start_of(text: &str) -> anyhow::Result<usize> {
    let mut scan = Scan { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } };
    scan.skip_space()?;
    Ok(scan.at)
}

/// The whole document, comments and trailing commas left out; an empty one is an empty object.
fn parse(text: &str) -> anyhow::Result<Map<String, Value>> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let value: Value = serde_json::from_str(&plain(text)?).context("it is not valid JSON")?;
    match value {
        Value::Object(members) => Ok(members),
        _ => bail!("it is not a JSON object"),
    }
}

/// The text without comments and without commas that nothing follows.
fn plain(text: &str) -> anyhow::Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut scan = Scan { text, at: start_of(text)? };
    while let Some(byte) = scan.next() {
        let start = scan.at;
        match byte {
            b'"' => scan.skip_string()?,
            b',' => {
                scan.at += 1;
                scan.skip_space()?;
                if !matches!(scan.next(), Some(b'}' | b']')) {
                    out.push(',');
                }
                continue;
            }
            _ => {
                scan.skip_space()?;
                if scan.at > start {
                    out.push(' ');
                    continue;
                }
                scan.at += text[start..].chars().next().map_or(1, char::len_utf8);
            }
        }
        out.push_str(text.get(start..scan.at).context("it is not valid JSON")?);
    }
    Ok(out)
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry() -> Value {
        json!({"command": "/bin/pdpp", "args": ["mcp"]})
    }

    #[track_caller]
    fn round_trip(before: &str) -> String {
        let after = edit(before, "mcpServers", "pdpp", Some(&entry())).unwrap();
        assert_eq!(read(&after, "mcpServers", "pdpp").unwrap(), Some(entry()), "{after}");
        assert_eq!(edit(&after, "mcpServers", "pdpp", Some(&entry())).unwrap(), after, "twice is once");
        after
    }

    #[test]
    fn an_entry_joins_the_others_and_leaves_again() {
        let before = "{\n    \"big\": 12345678901234567890123,\n    \"mcpServers\": {\n        \"a\": {\"x\": 1.0}\n    },\n    \"z\": []\n}\n";
        let after = round_trip(before);
        assert!(
            after.contains("\"a\": {\"x\": 1.0},\n        \"pdpp\": {\n            \"command\""),
            "{after}"
        );
        assert_eq!(edit(&after, "mcpServers", "pdpp", None).unwrap(), before);
    }

    #[test]
    fn files_without_entries_get_them() {
        assert_eq!(round_trip(""), round_trip("  \n"));
        assert!(round_trip("{}").starts_with("{\n  \"mcpServers\": {\n    \"pdpp\": {\n"));
        let after = round_trip("{\"mcpServers\": {}}");
        assert_eq!(edit(&after, "mcpServers", "pdpp", None).unwrap(), "{\"mcpServers\": {}}");
        assert!(round_trip("{\r\n\t\"a\": 1\r\n}\r\n").contains("\r\n\t\"mcpServers\": {\r\n\t\t\"pdpp\""));
    }

    #[test]
    fn comments_stay() {
        let before =
            "// mine\n{\n  \"mcpServers\": {\n    // the first\n    \"a\": {}, /* \"b\": {} */\n  },\n}\n";
        let after = round_trip(before);
        assert!(after.contains("// mine") && after.contains("/* \"b\": {} */"), "{after}");
        assert_eq!(edit(&after, "mcpServers", "pdpp", None).unwrap(), before);
    }

    #[test]
    fn the_first_and_the_last_can_go() {
        let both = "{\"mcpServers\": {\"pdpp\": {}, \"b\": {\"url\": \"http://x//y\"}}}";
        assert_eq!(
            edit(both, "mcpServers", "pdpp", None).unwrap(),
            "{\"mcpServers\": {\"b\": {\"url\": \"http://x//y\"}}}"
        );
        assert_eq!(edit("{\"a\":1}", "mcpServers", "pdpp", None).unwrap(), "{\"a\":1}");
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for bad in [
            "[]",
            "{",
            "{\"a\" 1}",
            "null",
            "{\"mcpServers\": []}",
            "{\"a\": /* }",
            "{\"a\": \"é",
            "{,,\"a\":1 2}",
        ] {
            assert!(edit(bad, "mcpServers", "pdpp", Some(&entry())).is_err(), "{bad}");
        }
    }
}
