//! What is asked for, as `authorization_details` (RFC 9396). Without any, the owner chooses at the server.

use serde_json::{Value, json};

const DATA_ACCESS: &str = "https://pdpp.dev/data-access";

/// What is asked of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DetailAsk {
    /// The source's URI, or its short key.
    pub source: String,
    /// What for, as an absolute URI.
    pub purpose_code: String,
    /// What for, in words.
    pub purpose_description: Option<String>,
    /// For one token only.
    pub single_use: bool,
    /// The streams; none means all.
    pub streams: Vec<StreamAsk>,
    /// Only records from this time on.
    pub since: Option<String>,
    /// Only records before this time.
    pub until: Option<String>,
}

/// One stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamAsk {
    /// Its name.
    pub name: String,
    /// Only this connection.
    pub connection_id: Option<String>,
    /// Only these fields.
    pub fields: Vec<String>,
}

impl StreamAsk {
    /// Reads `[CONNECTION/]NAME[:FIELD,...]`.
    pub fn parse(text: &str) -> Option<Self> {
        let (place, fields) = match text.split_once(':') {
            Some((place, fields)) => {
                (place, fields.split(',').map(|field| field.trim().to_owned()).collect())
            }
            None => (text, Vec::new()),
        };
        let (connection_id, name) = match place.split_once('/') {
            Some((connection, name)) => (Some(connection.trim().to_owned()), name.trim()),
            None => (None, place.trim()),
        };
        let empty =
            name.is_empty() || connection_id.as_deref() == Some("") || fields.iter().any(String::is_empty);
        (!empty).then(|| Self { name: name.to_owned(), connection_id, fields })
    }
}

/// The parameter's value.
pub fn details(asks: &[DetailAsk]) -> Value {
    asks.iter().map(detail).collect()
}

fn detail(ask: &DetailAsk) -> Value {
    let id =
        if ask.source.contains(':') { ask.source.clone() } else { format!("urn:pdpp:source:{}", ask.source) };
    let everything = [StreamAsk { name: "*".to_owned(), ..StreamAsk::default() }];
    let streams = if ask.streams.is_empty() { &everything[..] } else { &ask.streams };
    let stream = |stream: &StreamAsk| {
        let mut value = json!({ "name": stream.name });
        if let Some(connection) = &stream.connection_id {
            value["instance_ids"] = json!([connection]);
        }
        if !stream.fields.is_empty() {
            value["fields"] = json!(stream.fields);
        }
        if ask.since.is_some() || ask.until.is_some() {
            value["time_range"] = json!({});
            for (name, bound) in [("since", &ask.since), ("until", &ask.until)] {
                if let Some(bound) = bound {
                    value["time_range"][name] = json!(bound);
                }
            }
        }
        value
    };
    let mut value = json!({
        "type": DATA_ACCESS,
        "source": { "id": id },
        "purpose_code": ask.purpose_code,
        "access_mode": if ask.single_use { "single_use" } else { "continuous" },
        "streams": streams.iter().map(stream).collect::<Vec<_>>(),
    });
    if let Some(words) = &ask.purpose_description {
        value["purpose_description"] = json!(words);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_read_as_people_write_them() {
        let parse =
            |text| StreamAsk::parse(text).map(|ask| (ask.connection_id, ask.name, ask.fields.join("+")));
        assert_eq!(parse("notes"), Some((None, "notes".to_owned(), String::new())));
        let whole = Some((Some("cin_a".to_owned()), "notes".to_owned(), "title+body".to_owned()));
        assert_eq!(parse("cin_a/notes:title, body"), whole);
        for bad in ["", ":title", "/notes", "notes:", "notes:a,,b"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_short_key_names_its_source() {
        let ask = DetailAsk {
            source: "notes".to_owned(),
            since: Some("2026-01-01T00:00:00.000Z".to_owned()),
            ..DetailAsk::default()
        };
        let value = details(&[ask]);
        assert_eq!(value[0]["source"]["id"], json!("urn:pdpp:source:notes"));
        assert_eq!(
            value[0]["streams"],
            json!([{"name": "*", "time_range": {"since": "2026-01-01T00:00:00.000Z"}}])
        );
    }
}
