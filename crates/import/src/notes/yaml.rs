//! YAML as JSON, within bounds.
//!
//! An alias repeats what its anchor holds, and aliases of aliases make a few lines into billions of values. So every
//! repetition is paid for by its size, and a text that costs too much is refused before it is built.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use serde_json::{Map, Number, Value};

/// Most bytes of values, repetitions counted each time.
const MOST_COST: usize = 1 << 20;
/// Deepest nesting; the record around it adds little, and may have 64.
const DEEPEST: usize = 32;

/// Why a text cannot be used, and in which of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) problem: &'static str,
}

/// Reads one document.
pub(super) fn read(text: &str) -> Result<Value, Fault> {
    let mut builder = Builder::default();
    let mut parser = Parser::new_from_str(text);
    while let Some(next) = parser.next_event() {
        let (event, span): (Event<'_>, Span) = next
            .map_err(|error: ScanError| Fault { line: error.marker().line(), problem: "it is not YAML" })?;
        builder.take(event).map_err(|problem| Fault { line: span.start.line(), problem })?;
    }
    Ok(builder.root.unwrap_or(Value::Null))
}

/// A list or an object that is not complete yet.
enum Open {
    List { items: Vec<Value>, anchor: usize },
    Object { members: Map<String, Value>, name: Option<String>, anchor: usize },
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Value>,
    /// What anchors hold, with what it costs.
    anchors: HashMap<usize, (Value, usize)>,
    cost: usize,
}

type Step = Result<(), &'static str>;

impl Builder {
    fn take(&mut self, event: Event<'_>) -> Step {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.pay(text.len() + 1)?;
                let is_text = style != ScalarStyle::Plain || tag.is_some_and(|tag| is_text(&tag));
                let value = if is_text { Value::String(text.into_owned()) } else { scalar(&text) };
                self.put(value, anchor)
            }
            Event::Alias(anchor) => {
                let (value, cost) = self.anchors.get(&anchor).ok_or("an alias leads into itself")?;
                let (value, cost) = (value.clone(), *cost);
                self.pay(cost)?;
                self.put(value, 0)
            }
            Event::SequenceStart(anchor, _) => self.begin(Open::List { items: Vec::new(), anchor }),
            Event::MappingStart(anchor, _) => {
                self.begin(Open::Object { members: Map::new(), name: None, anchor })
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { items, anchor }) => self.put(Value::Array(items), anchor),
                Some(Open::Object { members, anchor, .. }) => self.put(Value::Object(members), anchor),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn pay(&mut self, cost: usize) -> Step {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > MOST_COST { Err("it unfolds to too much") } else { Ok(()) }
    }

    fn begin(&mut self, open: Open) -> Step {
        self.pay(1)?;
        if self.open.len() >= DEEPEST {
            return Err("it is nested too deep");
        }
        if let Some(Open::Object { name: None, .. }) = self.open.last() {
            return Err("a name is a list or an object");
        }
        self.open.push(open);
        Ok(())
    }

    fn put(&mut self, value: Value, anchor: usize) -> Step {
        if depth(&value) + self.open.len() > DEEPEST {
            return Err("it is nested too deep");
        }
        if anchor != 0 {
            let cost = cost(&value);
            self.pay(cost)?;
            self.anchors.insert(anchor, (value.clone(), cost));
        }
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::List { items, .. }) => items.push(value),
            Some(Open::Object { members, name, .. }) => match name.take() {
                Some(name) => {
                    members.insert(name, value);
                }
                None => *name = Some(name_of(value).ok_or("a name is a list or an object")?),
            },
        }
        Ok(())
    }
}

/// The text of a scalar that stands for a name.
fn name_of(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Null => Some("null".to_owned()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_text(tag: &Tag) -> bool {
    tag.is_yaml_core_schema() && tag.suffix == "str"
}

/// What a word without quotes stands for. Numbers that begin with a zero are names of things: post codes, telephones.
fn scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let begins_with_zero = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || ".eE+-".contains(c));
    if begins_with_zero || !is_number {
        return Value::String(text.to_owned());
    }
    let number = match text.parse::<i64>() {
        Ok(whole) => Some(Number::from(whole)),
        // A whole number that is too long would lose digits.
        Err(_) if text.contains(['.', 'e', 'E']) => text.parse().ok().and_then(Number::from_f64),
        Err(_) => None,
    };
    number.map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

/// Never deeper than what [`Builder`] lets in.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn cost(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len(),
        Value::Array(items) => 1 + items.iter().map(cost).sum::<usize>(),
        Value::Object(members) => {
            1 + members.iter().map(|(name, value)| name.len() + cost(value)).sum::<usize>()
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let told = match read(text) {
            Ok(value) => value.to_string(),
            Err(Fault { line, problem }) => format!("line {line}: {problem}"),
        };
        expected.assert_eq(&told);
    }

    #[test]
    fn words_become_what_they_stand_for() {
        check(
            "a: 1\nb: -2.50\nc: yes\nd: true\ne: ~\nf: 2026-01-02\ng: '7'\nh: 01234\ni: 99999999999999999999\nj: 12:30\nk: !!str 5\nl:",
            expect![[
                r#"{"a":1,"b":-2.5,"c":"yes","d":true,"e":null,"f":"2026-01-02","g":"7","h":"01234","i":"99999999999999999999","j":"12:30","k":"5","l":null}"#
            ]],
        );
        check(
            "tags: [a, b]\nrelated:\n  - \"[[Note]]\"\n  - [[Bare]]\n1: one\ntrue: yes\ntext: |\n  two\n  lines\n",
            expect![[
                r#"{"tags":["a","b"],"related":["[[Note]]",[["Bare"]]],"1":"one","true":"yes","text":"two\nlines\n"}"#
            ]],
        );
        check("", expect!["null"]);
        check("a: 1\na: 2", expect![[r#"{"a":2}"#]]);
        check("base: &b {x: 1}\nuse: *b", expect![[r#"{"base":{"x":1},"use":{"x":1}}"#]]);
    }

    #[test]
    fn what_is_no_yaml_or_costs_too_much_is_refused() {
        check("a: [1", expect!["line 2: it is not YAML"]);
        check("ok: 1\na: b: c", expect!["line 2: it is not YAML"]);
        check("? [a, b]\n: c", expect!["line 1: a name is a list or an object"]);
        check("a: *nowhere", expect!["line 1: it is not YAML"]);
        check("a: &x [*x]", expect!["line 1: an alias leads into itself"]);
        check(&"[".repeat(1000), expect!["line 1: it is not YAML"]);
        let mut nested = String::new();
        for depth in 0..100 {
            writeln!(nested, "{}a:", " ".repeat(depth)).unwrap();
        }
        check(&nested, expect!["line 33: it is nested too deep"]);
    }

    #[test]
    fn odd_texts_come_to_an_end() {
        for odd in [
            "[",
            "{",
            "- ",
            "? ",
            "a: ",
            "&a ",
            "*a ",
            "!a ",
            "'",
            "\"",
            "|\n ",
            "\n",
            "%",
            "a\n",
            ": ",
            "[a,",
            "{a: ",
            "#",
            "\t",
            "\u{1f41f}",
            "---\n",
        ] {
            let _ = read(&odd.repeat(20_000));
        }
        // Small changes to a text that has everything.
        let whole = "a: &x [1, 'b', \"c\"]\nd: {e: *x, f: !!str g}\nh: |\n  i\n  j\nk: >-\n  l\n? m\n: n\n- o\n%p\n# q\n";
        let alphabet: Vec<char> = whole.chars().collect();
        let mut state = 7_usize;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..20_000 {
            let mut text = alphabet.clone();
            for _ in 0..=next(6) {
                let (at, with) = (next(text.len()), alphabet[next(alphabet.len())]);
                match next(3) {
                    0 => text[at] = with,
                    1 => text.insert(at, with),
                    _ => text.truncate(at.max(1)),
                }
            }
            let _ = read(&text.into_iter().collect::<String>());
        }
    }

    #[test]
    fn a_billion_laughs_are_refused_before_they_are_built() {
        let mut text = String::from("a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n");
        for n in 1..20 {
            let alias = format!("*a{}", n - 1);
            let list = [alias.as_str(); 10].join(", ");
            writeln!(text, "a{n}: &a{n} [{list}]").unwrap();
        }
        check(&text, expect![[r"line 6: it unfolds to too much"]]);
        let long = format!("a: &a \"{}\"\nb: [{}]", "x".repeat(100_000), ["*a"; 1000].join(", "));
        check(&long, expect!["line 2: it unfolds to too much"]);
    }
}
