//! The YAML between two lines of dashes at the very beginning of a note.

use serde_json::{Map, Value};

use super::yaml::{self, Fault};

/// Most bytes of front matter that are looked at.
const LONGEST: usize = 256 * 1024;
/// Most tags or aliases kept of one note.
const MOST_WORDS: usize = 1000;

/// A note's front matter and what follows it.
#[derive(Debug)]
pub(super) struct Split<'a> {
    pub(super) front_matter: Option<Map<String, Value>>,
    /// The text as the record has it.
    pub(super) body: &'a str,
    /// What is Markdown in it: the body without front matter that could not be read.
    pub(super) markdown: &'a str,
    /// Why the front matter could not be read; the body is then the whole text.
    pub(super) fault: Option<Fault>,
}

/// Takes the front matter off. Two dashed lines around something that is no set of names are part of the text.
pub(super) fn split(text: &str) -> Split<'_> {
    let whole = Split { front_matter: None, body: text, markdown: text, fault: None };
    let Some((yaml, body)) = cut(text) else { return whole };
    let faulty = |fault| Split { front_matter: None, body: text, markdown: body, fault: Some(fault) };
    if yaml.len() > LONGEST {
        return faulty(Fault { line: 1, problem: "it is longer than 256 KiB" });
    }
    match yaml::read(yaml) {
        Ok(Value::Object(members)) => {
            Split { front_matter: Some(members), body, markdown: body, fault: None }
        }
        Ok(Value::Null) => Split { front_matter: None, body, markdown: body, fault: None },
        Ok(_) => whole,
        // The line of the dashes comes before the first line of the YAML.
        Err(fault) => faulty(Fault { line: fault.line + 1, ..fault }),
    }
}

fn cut(text: &str) -> Option<(&str, &str)> {
    let after = text.strip_prefix("---")?;
    let after = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n'))?;
    let mut at = 0;
    for line in after.split_inclusive('\n') {
        let end = at + line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&after[..at], &after[end..]));
        }
        at = end;
    }
    None
}

/// A member as text.
pub(super) fn text(front_matter: &Map<String, Value>, name: &str) -> Option<String> {
    match front_matter.get(name)? {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A member that is a list of words, or some words in one text.
pub(super) fn words(front_matter: &Map<String, Value>, names: &[&str], between: &[char]) -> Vec<String> {
    let mut words = Vec::new();
    for value in names.iter().filter_map(|name| front_matter.get(*name)) {
        match value {
            Value::String(text) => words.extend(text.split(between).map(str::to_owned)),
            Value::Array(items) => words.extend(items.iter().filter_map(word)),
            other => words.extend(word(other)),
        }
    }
    words.truncate(MOST_WORDS);
    words.into_iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_closed_set_of_names_is_front_matter() {
        for (text, has, body) in [
            ("---\na: 1\n---\nbody", true, "body"),
            ("---\r\na: 1\r\n---\r\nbody\r\n", true, "body\r\n"),
            ("---\na: 1\n...\nbody", true, "body"),
            ("---\na: 1\n---", true, ""),
            ("---\n---\nbody", false, "body"),
            ("---\nnot closed", false, "---\nnot closed"),
            ("---\nJust a sentence\n---\nbody", false, "---\nJust a sentence\n---\nbody"),
            ("----\na: 1\n---\n", false, "----\na: 1\n---\n"),
            (" ---\na: 1\n---\n", false, " ---\na: 1\n---\n"),
            ("", false, ""),
        ] {
            let split = split(text);
            assert_eq!(
                (split.front_matter.is_some(), split.body, split.fault),
                (has, body, None),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_fault_leaves_the_text_whole_and_names_its_line() {
        let text = "---\na: 1\nb: [\n---\nbody";
        let split = split(text);
        assert_eq!((split.body, split.markdown), (text, "body"));
        assert_eq!(split.fault.map(|fault| fault.problem), Some("it is not YAML"));
        let long = format!("---\na: {}\n---\nbody", "x".repeat(LONGEST));
        assert!(super::split(&long).fault.is_some());
    }
}
