//! Whether a field can be read as text, and what that text is.

use std::borrow::Cow;

use serde_json::Value;

use crate::binary::{Content, classify};

/// What a reader of one field gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldText<'v> {
    /// Text that windows and previews can be cut from.
    Text {
        /// The text.
        text: Cow<'v, str>,
        /// What it was made from.
        kind: TextKind,
    },
    /// A number, a boolean or null.
    NotText {
        /// The JSON type.
        json_type: &'static str,
    },
    /// Bytes, or a reference to them: never [`Content::Text`], [`Content::Json`] or [`Content::Scalar`].
    Binary(Content),
}

/// Where a field's text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// The field is a string.
    String,
    /// The field is an object or array, written as minified JSON.
    Json,
}

impl TextKind {
    /// The type's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Json => "json",
        }
    }
}

/// The text of a field's value. Objects and arrays are text too: their minified JSON, with members in order.
pub fn text_of(value: &Value) -> FieldText<'_> {
    match (classify(value), value) {
        (binary @ (Content::Base64 { .. } | Content::BlobRef { .. }), _) => FieldText::Binary(binary),
        (_, Value::String(text)) => FieldText::Text { text: Cow::Borrowed(text), kind: TextKind::String },
        (_, Value::Object(_) | Value::Array(_)) => {
            FieldText::Text { text: Cow::Owned(value.to_string()), kind: TextKind::Json }
        }
        (_, Value::Number(_)) => FieldText::NotText { json_type: "number" },
        (_, Value::Bool(_)) => FieldText::NotText { json_type: "boolean" },
        (_, Value::Null) => FieldText::NotText { json_type: "null" },
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: &Value, expected: Expect) {
        expected.assert_eq(&match text_of(value) {
            FieldText::Text { text, kind } => format!("{} {text}", kind.as_str()),
            other => format!("{other:?}"),
        });
    }

    #[test]
    fn strings_and_structures_are_text() {
        check(&json!("hello"), expect!["string hello"]);
        check(&json!(""), expect!["string "]);
        check(&json!({"b": [1, 2], "a": null}), expect![[r#"json {"b":[1,2],"a":null}"#]]);
        check(&json!([]), expect!["json []"]);
    }

    #[test]
    fn scalars_are_not_text() {
        check(&json!(5), expect![[r#"NotText { json_type: "number" }"#]]);
        check(&json!(false), expect![[r#"NotText { json_type: "boolean" }"#]]);
        check(&json!(null), expect![[r#"NotText { json_type: "null" }"#]]);
    }

    #[test]
    fn bytes_are_binary() {
        check(
            &json!("data:image/png;base64,AAAA"),
            expect![[r#"Binary(Base64 { media_type: Some("image/png"), decoded_bytes: 3 })"#]],
        );
        check(
            &json!({"blob_id": "b1", "size_bytes": 9}),
            expect![[r#"Binary(BlobRef { blob_id: "b1", mime_type: None, size_bytes: Some(9) })"#]],
        );
    }
}
