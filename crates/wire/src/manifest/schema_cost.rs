//! Bounds what checking a record against a schema can cost.
//!
//! A small document can name itself into an enormous one: thirty definitions that each use the next
//! twice are a billion checks for one record. So a schema is walked with every reference followed, and
//! refused when that walk is long. A definition may contain itself (a thread of comments, say), which
//! costs no more than the record is deep, unless the way back leads through alternatives.

use serde_json::Value;

use super::read::{Checked, ManifestFault};

/// Most schema nodes one record may be checked against, references followed.
const MOST_NODES: usize = 20_000;
/// Members that apply several schemas to the same value.
const ALTERNATIVES: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];
/// Members that hold values or definitions, not schemas that apply here.
const ASIDE: [&str; 7] = ["$defs", "definitions", "const", "enum", "default", "examples", "description"];

/// Refuses remote references, dangling ones, and schemas that cost too much to check.
pub(super) fn check_schema(schema: &Value, path: &str) -> Checked<()> {
    let mut walk = Walk { root: schema, path, left: MOST_NODES, alternatives: 0, inside: Vec::new() };
    walk.node(schema)
}

struct Walk<'a> {
    root: &'a Value,
    path: &'a str,
    left: usize,
    /// Alternatives between the root and here.
    alternatives: usize,
    /// References being followed, with the alternatives above each.
    inside: Vec<(&'a str, usize)>,
}

impl<'a> Walk<'a> {
    fn node(&mut self, node: &'a Value) -> Checked<()> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            ManifestFault::at(self.path, format!("the schema unfolds to more than {MOST_NODES} parts"))
        })?;
        match node {
            Value::Object(members) => members.iter().try_for_each(|(name, value)| self.member(name, value)),
            Value::Array(items) => items.iter().try_for_each(|item| self.node(item)),
            _ => Ok(()),
        }
    }

    fn member(&mut self, name: &str, value: &'a Value) -> Checked<()> {
        match value {
            Value::String(target) if matches!(name, "$ref" | "$dynamicRef") => self.follow(target),
            _ if ASIDE.contains(&name) => Ok(()),
            _ if ALTERNATIVES.contains(&name) => {
                self.alternatives += 1;
                let outcome = self.node(value);
                self.alternatives -= 1;
                outcome
            }
            _ => self.node(value),
        }
    }

    fn follow(&mut self, target: &'a str) -> Checked<()> {
        let refused = |problem: &str| Err(ManifestFault::at(self.path, format!("`{target}` {problem}")));
        if let Some((_, above)) = self.inside.iter().find(|(name, _)| *name == target) {
            return match self.alternatives - above {
                0 => Ok(()),
                _ => refused("leads back to itself through alternatives"),
            };
        }
        let found = match target.strip_prefix('#') {
            None => return refused("is not a local reference"),
            Some("") => Some(self.root),
            Some(pointer) => self.root.pointer(pointer),
        };
        let Some(found) = found else { return refused("refers to nothing in this schema") };
        self.inside.push((target, self.alternatives));
        let outcome = self.node(found);
        self.inside.pop();
        outcome
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::{Map, json};

    use super::*;

    #[track_caller]
    fn check(schema: &Value, expected: Expect) {
        expected
            .assert_eq(&check_schema(schema, "s").map_or_else(|fault| fault.to_string(), |()| "fine".into()));
    }

    #[test]
    fn definitions_that_use_each_other_twice_are_refused() {
        for member in ["allOf", "properties"] {
            let twice = |n: usize| {
                let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
                if member == "allOf" {
                    json!({"allOf": [next, next]})
                } else {
                    json!({"properties": {"a": next, "b": next}})
                }
            };
            let mut definitions: Map<String, Value> = (0..34).map(|n| (format!("d{n}"), twice(n))).collect();
            definitions.insert("d34".into(), json!({"type": "string"}));
            let schema = json!({"properties": {"id": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
            check(&schema, expect!["manifest at s: the schema unfolds to more than 20000 parts"]);
        }
    }

    #[test]
    fn a_definition_may_contain_itself_but_not_through_alternatives() {
        let node =
            |inner: Value| json!({"properties": {"root": {"$ref": "#/$defs/n"}}, "$defs": {"n": inner}});
        check(
            &node(json!({"properties": {"left": {"$ref": "#/$defs/n"}, "right": {"$ref": "#/$defs/n"}}})),
            expect!["fine"],
        );
        check(
            &node(json!({"properties": {"a": {"allOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}}})),
            expect!["manifest at s: `#/$defs/n` leads back to itself through alternatives"],
        );
    }

    #[test]
    fn references_stay_inside_and_lead_somewhere() {
        check(
            &json!({"$ref": "https://example.org/x"}),
            expect!["manifest at s: `https://example.org/x` is not a local reference"],
        );
        check(
            &json!({"$ref": "#/$defs/nope"}),
            expect!["manifest at s: `#/$defs/nope` refers to nothing in this schema"],
        );
        check(&json!({"const": {"$ref": "anything"}}), expect!["fine"]);
    }
}
