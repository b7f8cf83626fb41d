//! The text of a message: one string, or pieces with a kind each.

use serde_json::{Map, Value};

use crate::chat::{shallow, text};

/// The words of a text in either shape.
pub(super) fn plain(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(words)) => words.clone(),
        Some(Value::Array(pieces)) => pieces.iter().filter_map(piece).collect(),
        // A piece on its own, as polls of newer versions write it.
        Some(one @ Value::Object(_)) => match one.get("text") {
            Some(inner @ Value::Array(_)) => {
                inner.as_array().into_iter().flatten().filter_map(piece).collect()
            }
            _ => piece(one).unwrap_or_default().to_owned(),
        },
        _ => String::new(),
    }
}

fn piece(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| text(value, "text"))
}

/// The pieces that are more than words: links, mentions, hashtags, code.
pub(super) fn entities(value: &Value) -> Vec<Value> {
    let pieces =
        ["text_entities", "text"].iter().find_map(|member| value.get(*member).and_then(Value::as_array));
    let tells = |piece: &&Value| text(piece, "type").is_some_and(|kind| kind != "plain");
    let keep = |piece: &Value| match shallow(piece, 4) {
        Value::Object(members) => Value::Object(members),
        _ => Value::Object(Map::new()),
    };
    pieces.into_iter().flatten().filter(tells).map(keep).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_shape_gives_its_words() {
        let told = |value: Value| plain(Some(&value));
        assert_eq!(told(json!("plain")), "plain");
        assert_eq!(
            told(json!(["see ", {"type": "link", "text": "a.example"}, " ", 7, {"type": "bold"}])),
            "see a.example "
        );
        assert_eq!(told(json!({"type": "plain", "text": "one"})), "one");
        assert_eq!(told(json!({"text": ["a", {"type": "bold", "text": "b"}]})), "ab");
        assert_eq!((told(json!(7)), plain(None)), (String::new(), String::new()));
    }

    #[test]
    fn only_pieces_that_are_more_than_words_are_kept() {
        let message = json!({"text": "x", "text_entities": [{"type": "plain", "text": "a"}, {"type": "link", "text": "b"}]});
        assert_eq!(entities(&message), [json!({"type": "link", "text": "b"})]);
        assert_eq!(entities(&json!({"text": ["a", {"type": "bold", "text": "b"}]})).len(), 1);
    }
}
