//! Declared display roles: which field of a record is its title, its author, its time.
//!
//! A stream declares the roles of its fields. Nothing is guessed from field names: a record whose stream
//! declares no title has none. Roles shape what is shown and never who may see it, so the data handed in must
//! already be narrowed to what the reader may see.

use serde_json::{Map, Value};

use crate::binary::{Content, classify};

/// What a field is for, when a record is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// The line that names the record.
    PrimaryTitle,
    /// A second line under the title.
    Secondary,
    /// When it happened.
    EventTime,
    /// Who did it.
    Actor,
    /// How much.
    Amount,
    /// A picture, sound or film.
    Media,
    /// The key of the conversation the record belongs to; several fields make a compound key.
    Thread,
    /// The text people come for.
    Body,
    /// A role this program does not know. It is kept, and shows nothing.
    Unknown(String),
}

impl Role {
    /// The role a source declaration spells this way.
    pub fn parse(text: &str) -> Self {
        match text {
            "primary-title" => Self::PrimaryTitle,
            "secondary" => Self::Secondary,
            "event-time" => Self::EventTime,
            "actor" => Self::Actor,
            "amount" => Self::Amount,
            "media" => Self::Media,
            "thread" => Self::Thread,
            "body" => Self::Body,
            other => Self::Unknown(other.to_owned()),
        }
    }

    /// The spelling of the role in a source declaration.
    pub fn as_str(&self) -> &str {
        match self {
            Self::PrimaryTitle => "primary-title",
            Self::Secondary => "secondary",
            Self::EventTime => "event-time",
            Self::Actor => "actor",
            Self::Amount => "amount",
            Self::Media => "media",
            Self::Thread => "thread",
            Self::Body => "body",
            Self::Unknown(other) => other,
        }
    }
}

/// The declared roles of a stream's fields, in declared order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles(Vec<(String, Role)>);

/// What a record shows in each role. Where two fields declare one role, the first with a value is taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Display<'v> {
    /// The text with role `primary-title`.
    pub title: Option<&'v str>,
    /// The text with role `secondary`.
    pub secondary: Option<&'v str>,
    /// The text with role `body`.
    pub body: Option<&'v str>,
    /// The text with role `actor`.
    pub actor: Option<&'v str>,
    /// The text with role `event-time`.
    pub event_time: Option<&'v str>,
    /// The value with role `amount`: a number or a text.
    pub amount: Option<&'v Value>,
    /// The value with role `media`.
    pub media: Option<&'v Value>,
    /// The values with role `thread`, in declared order; empty unless every such field has one.
    pub thread: Vec<&'v Value>,
}

impl Roles {
    /// Roles from pairs of field and role, as declared.
    pub fn new<F: Into<String>>(declared: impl IntoIterator<Item = (F, Role)>) -> Self {
        Self(declared.into_iter().map(|(field, role)| (field.into(), role)).collect())
    }

    /// Roles from a stream's `field_capabilities`, in their full form or as compact flag strings.
    pub fn from_field_capabilities(capabilities: &Map<String, Value>) -> Self {
        let roles = capabilities.iter().filter_map(|(field, capability)| {
            let role = match capability {
                Value::String(flags) => flags.split(',').find_map(|flag| flag.strip_prefix("role=")),
                _ => capability.get("role").and_then(Value::as_str),
            };
            Some((field.clone(), Role::parse(role?)))
        });
        Self(roles.collect())
    }

    /// The fields that declare `role`, in declared order.
    pub fn fields_with<'r>(&'r self, role: &'r Role) -> impl Iterator<Item = &'r str> {
        self.0.iter().filter(move |(_, declared)| declared == role).map(|(field, _)| field.as_str())
    }

    /// What `data` shows in each role.
    pub fn display<'v>(&self, data: &'v Map<String, Value>) -> Display<'v> {
        Display {
            title: self.text(&Role::PrimaryTitle, data),
            secondary: self.text(&Role::Secondary, data),
            body: self.text(&Role::Body, data),
            actor: self.text(&Role::Actor, data),
            event_time: self.event_time(data),
            amount: self.values(&Role::Amount, data).flatten().find(|value| !value.is_null()),
            media: self.values(&Role::Media, data).flatten().find(|value| !value.is_null()),
            thread: self
                .values(&Role::Thread, data)
                .map(|value| value.filter(|value| !value.is_null()))
                .collect::<Option<_>>()
                .unwrap_or_default(),
        }
    }

    /// The text that `data` shows with role `event-time`.
    pub fn event_time<'v>(&self, data: &'v Map<String, Value>) -> Option<&'v str> {
        self.text(&Role::EventTime, data)
    }

    fn text<'v>(&self, role: &Role, data: &'v Map<String, Value>) -> Option<&'v str> {
        self.values(role, data).flatten().find_map(|value| {
            let text = value.as_str().filter(|text| !text.trim().is_empty())?;
            (classify(value) == Content::Text).then_some(text)
        })
    }

    fn values<'v>(
        &self,
        role: &Role,
        data: &'v Map<String, Value>,
    ) -> impl Iterator<Item = Option<&'v Value>> {
        self.0.iter().filter(move |(_, declared)| declared == role).map(|(field, _)| data.get(field))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(members) => members,
            other => panic!("{other} is not an object"),
        }
    }

    #[track_caller]
    fn check(declared: &str, data: Value, expected: Expect) {
        let pairs = declared.split_whitespace().map(|pair| pair.split_once('=').unwrap());
        let roles = Roles::new(pairs.map(|(field, role)| (field, Role::parse(role))));
        let data = object(data);
        let shown = roles.display(&data);
        let mut parts = Vec::new();
        for (name, text) in [
            ("title", shown.title),
            ("secondary", shown.secondary),
            ("body", shown.body),
            ("actor", shown.actor),
            ("time", shown.event_time),
        ] {
            parts.extend(text.map(|text| format!("{name}={text}")));
        }
        parts.extend(shown.amount.map(|value| format!("amount={value}")));
        parts.extend(shown.media.map(|value| format!("media={value}")));
        if !shown.thread.is_empty() {
            parts.push(format!(
                "thread={:?}",
                shown.thread.iter().map(ToString::to_string).collect::<Vec<_>>()
            ));
        }
        expected.assert_eq(&parts.join(" "));
    }

    #[test]
    fn declared_fields_are_shown() {
        check(
            "subject=primary-title text=body from=actor sent=event-time price=amount to=secondary",
            json!({"subject": "Hi", "text": "Long", "from": "anna", "sent": "2026-01-01", "price": 5, "to": "bo"}),
            expect!["title=Hi secondary=bo body=Long actor=anna time=2026-01-01 amount=5"],
        );
    }

    #[test]
    fn names_are_not_guessed() {
        check("", json!({"title": "Hi", "subject": "Hi", "body": "text", "name": "x"}), expect![""]);
    }

    #[test]
    fn the_first_field_with_a_value_is_taken() {
        check("a=primary-title b=primary-title", json!({"b": "B", "a": "A"}), expect!["title=A"]);
        check("a=primary-title b=primary-title", json!({"b": "B", "a": "  "}), expect!["title=B"]);
        check("a=primary-title b=primary-title", json!({"b": "B", "a": null}), expect!["title=B"]);
        check("a=amount b=amount", json!({"a": null, "b": "5 EUR"}), expect![[r#"amount="5 EUR""#]]);
    }

    #[test]
    fn only_text_is_shown_as_text() {
        check("a=primary-title", json!({"a": 5}), expect![""]);
        check("a=body", json!({"a": "data:image/png;base64,AAAA"}), expect![""]);
        check("a=body", json!({"a": {"b": 1}}), expect![""]);
    }

    #[test]
    fn a_compound_thread_needs_all_its_parts() {
        check("a=thread b=thread", json!({"b": 2, "a": "x"}), expect![[r#"thread=["\"x\"", "2"]"#]]);
        check("a=thread b=thread", json!({"a": "x"}), expect![""]);
        check("a=thread b=thread", json!({"a": "x", "b": null}), expect![""]);
    }

    #[test]
    fn unknown_roles_are_kept_and_show_nothing() {
        check("a=sparkline", json!({"a": "x"}), expect![""]);
        assert_eq!(Role::parse("sparkline").as_str(), "sparkline");
    }

    #[test]
    fn every_role_keeps_its_spelling() {
        for text in ["primary-title", "secondary", "event-time", "actor", "amount", "media", "thread", "body"]
        {
            assert_eq!(Role::parse(text).as_str(), text);
            assert!(!matches!(Role::parse(text), Role::Unknown(_)));
        }
    }

    #[test]
    fn roles_are_read_from_full_and_compact_capabilities() {
        let capabilities = json!({
            "a": {"role": "primary-title", "granted": true},
            "b": "t=text,role=body,lex",
            "c": "t=string",
            "d": {"granted": true},
            "e": null,
        });
        let roles = Roles::from_field_capabilities(&object(capabilities));
        assert_eq!(roles, Roles::new([("a", Role::PrimaryTitle), ("b", Role::Body)]));
        assert_eq!(roles.fields_with(&Role::Body).collect::<Vec<_>>(), ["b"]);
    }
}
