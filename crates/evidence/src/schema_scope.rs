//! Narrows a schema document to one stream, one connection, or both.
//!
//! Scoping is a filter, not a lookup: a name that matches nothing leaves an empty document. It works on full and
//! on compact documents, where a stream without connections of its own has those of its connector.

use serde_json::Value;

use crate::compact_schema::counts;

/// Keeps only the named stream and what is readable under the named connection.
///
/// Connectors left with no stream disappear, counts follow, and lists of connections shrink to the named one.
/// Without a stream and a connection, nothing changes.
pub fn scope(schema: &mut Value, stream: Option<&str>, connection: Option<&str>) {
    if stream.is_none() && connection.is_none() {
        return;
    }
    let Value::Object(members) = schema else {
        return;
    };
    let scope = Scope { stream, connection };
    if let Some(Value::Array(streams)) = members.get_mut("streams") {
        streams.retain_mut(|stream| scope.keeps_stream(stream, None));
    }
    if let Some(Value::Array(connectors)) = members.get_mut("connectors") {
        connectors.retain_mut(|connector| scope.keeps_connector(connector));
        let counts = counts(connectors);
        members.extend(counts);
    }
}

struct Scope<'a> {
    stream: Option<&'a str>,
    connection: Option<&'a str>,
}

impl Scope<'_> {
    fn keeps_connector(&self, connector: &mut Value) -> bool {
        let Value::Object(members) = connector else {
            return false;
        };
        let mut shared = members.get("granted_connections").cloned();
        if let Some(shared) = &mut shared {
            self.shrink(shared);
        }
        let Some(Value::Array(streams)) = members.get_mut("streams") else {
            return false;
        };
        streams.retain_mut(|stream| self.keeps_stream(stream, shared.as_ref()));
        let count = streams.len();
        members.insert("stream_count".to_owned(), count.into());
        if let Some(shared) = shared {
            members.insert("granted_connections".to_owned(), shared);
        }
        count > 0
    }

    /// Whether the stream is in scope. `shared` are the connections of its connector, already shrunk.
    fn keeps_stream(&self, stream: &mut Value, shared: Option<&Value>) -> bool {
        if self.stream.is_some_and(|wanted| name_of(stream) != Some(wanted)) {
            return false;
        }
        let Some(wanted) = self.connection else {
            return true;
        };
        let is_own = ["connection_id", "connector_instance_id"]
            .iter()
            .any(|member| stream.get(member).and_then(Value::as_str) == Some(wanted));
        match stream.get_mut("granted_connections") {
            Some(own) => {
                self.shrink(own);
                is_own || !is_empty(own)
            }
            None => is_own || shared.is_some_and(|shared| !is_empty(shared)),
        }
    }

    fn shrink(&self, connections: &mut Value) {
        if let (Some(wanted), Value::Array(list)) = (self.connection, connections) {
            list.retain(|entry| entry.get("connection_id").and_then(Value::as_str) == Some(wanted));
        }
    }
}

/// A stream's name; some servers list streams by name alone.
fn name_of(stream: &Value) -> Option<&str> {
    stream.as_str().or_else(|| stream.get("name")?.as_str())
}

fn is_empty(list: &Value) -> bool {
    list.as_array().is_none_or(Vec::is_empty)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn document() -> Value {
        json!({"object": "schema", "connectors": [
            {"connector_key": "gmail", "stream_count": 2, "streams": [
                {"name": "messages", "granted_connections": [{"connection_id": "a"}, {"connection_id": "b"}]},
                {"name": "threads", "granted_connections": [{"connection_id": "a"}]},
            ]},
            {"connector_key": "chat", "stream_count": 1, "granted_connections": [{"connection_id": "c"}], "streams": [
                {"name": "messages"},
            ]},
        ]})
    }

    #[track_caller]
    fn check(stream: Option<&str>, connection: Option<&str>, expected: Expect) {
        let mut schema = document();
        scope(&mut schema, stream, connection);
        let mut lines =
            vec![format!("{} connectors, {} streams", schema["connector_count"], schema["stream_count"])];
        for connector in schema["connectors"].as_array().unwrap() {
            lines.push(format!(
                "{} {}",
                connector["connector_key"].as_str().unwrap(),
                connector["stream_count"]
            ));
            for stream in connector["streams"].as_array().unwrap() {
                let own = stream.get("granted_connections").or(connector.get("granted_connections"));
                lines.push(format!("  {} {}", stream["name"].as_str().unwrap(), own.unwrap_or(&Value::Null)));
            }
        }
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn one_stream_is_kept_in_every_connector() {
        check(
            Some("messages"),
            None,
            expect![[r#"
            2 connectors, 2 streams
            gmail 1
              messages [{"connection_id":"a"},{"connection_id":"b"}]
            chat 1
              messages [{"connection_id":"c"}]"#]],
        );
        check(
            Some("threads"),
            None,
            expect![[r#"
            1 connectors, 1 streams
            gmail 1
              threads [{"connection_id":"a"}]"#]],
        );
    }

    #[test]
    fn one_connection_shrinks_the_lists() {
        check(
            None,
            Some("a"),
            expect![[r#"
            1 connectors, 2 streams
            gmail 2
              messages [{"connection_id":"a"}]
              threads [{"connection_id":"a"}]"#]],
        );
        check(
            None,
            Some("b"),
            expect![[r#"
            1 connectors, 1 streams
            gmail 1
              messages [{"connection_id":"b"}]"#]],
        );
    }

    #[test]
    fn shared_connections_count_for_their_streams() {
        check(
            None,
            Some("c"),
            expect![[r#"
            1 connectors, 1 streams
            chat 1
              messages [{"connection_id":"c"}]"#]],
        );
        check(
            Some("messages"),
            Some("c"),
            expect![[r#"
            1 connectors, 1 streams
            chat 1
              messages [{"connection_id":"c"}]"#]],
        );
    }

    #[test]
    fn an_unknown_name_leaves_nothing() {
        check(Some("nope"), None, expect!["0 connectors, 0 streams"]);
        check(None, Some("nope"), expect!["0 connectors, 0 streams"]);
        check(Some("threads"), Some("b"), expect!["0 connectors, 0 streams"]);
    }

    #[test]
    fn no_scope_changes_nothing() {
        let mut schema = document();
        scope(&mut schema, None, None);
        assert_eq!(schema, document());
    }

    #[test]
    fn foreign_shapes_are_tolerated() {
        for (mut given, left) in [
            (json!(null), json!(null)),
            (json!({"streams": ["a", "b"]}), json!({"streams": ["a"]})),
            (json!({"streams": [{"name": "a"}, 5]}), json!({"streams": [{"name": "a"}]})),
            (
                json!({"connectors": [null, {"streams": 1}, {"streams": [{"name": "a"}]}]}),
                json!({"connectors": [{"streams": [{"name": "a"}], "stream_count": 1}], "connector_count": 1, "stream_count": 1}),
            ),
        ] {
            scope(&mut given, Some("a"), None);
            assert_eq!(given, left);
        }
        let mut own = json!({"streams": [{"name": "a", "connection_id": "x"}, {"name": "a"}]});
        scope(&mut own, None, Some("x"));
        assert_eq!(own, json!({"streams": [{"name": "a", "connection_id": "x"}]}));
    }
}
