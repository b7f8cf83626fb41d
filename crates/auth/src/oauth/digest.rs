//! A digest over JSON that does not depend on the order of members.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// `sha256:` and the digest over the key-sorted, minified text.
pub(crate) fn digest(value: &Value) -> String {
    let text = sorted(value).to_string();
    format!("sha256:{}", URL_SAFE_NO_PAD.encode(Sha256::digest(text.as_bytes())))
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut names: Vec<_> = members.keys().collect();
            names.sort();
            let members = names.into_iter().map(|name| (name.clone(), sorted(&members[name])));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_members_does_not_count_and_everything_else_does() {
        let one = digest(&json!({"a": 1, "b": {"c": [1, 2], "d": null}}));
        assert_eq!(one, digest(&json!({"b": {"d": null, "c": [1, 2]}, "a": 1})));
        assert_ne!(one, digest(&json!({"a": 1, "b": {"c": [2, 1], "d": null}})));
        assert_ne!(one, digest(&json!({"a": "1", "b": {"c": [1, 2], "d": null}})));
    }
}
