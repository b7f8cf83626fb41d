//! What one message of a client is: a request, a notification, an answer, or something to complain of.

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ErrorData, JsonRpcMessage, RequestId,
    RequestMetaObject,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage};
use serde_json::{Value, json};

/// What is wrong with a message, and whose request it was.
pub(crate) struct Complaint {
    id: Value,
    error: ErrorData,
}

impl Complaint {
    /// Of something that shows no request it belongs to.
    pub(crate) fn of_nobody(error: ErrorData) -> Self {
        Self { id: Value::Null, error }
    }

    /// The complaint as its message.
    pub(crate) fn text(&self) -> String {
        json!({"jsonrpc": "2.0", "id": self.id, "error": self.error}).to_string()
    }
}

/// The message everybody sends, in its usual shape; whatever else comes is given back. The protocol library tries one
/// kind of message after the other, and says of each in words why it is another.
fn tool_call(mut value: Value) -> Result<RxJsonRpcMessage<RoleServer>, Value> {
    let id = match value.get("id") {
        Some(Value::Number(number)) => number.as_i64().map(RequestId::Number),
        Some(Value::String(text)) => Some(RequestId::String(text.as_str().into())),
        _ => None,
    };
    let usual = value["jsonrpc"] == "2.0"
        && value["method"] == "tools/call"
        && value.as_object().is_some_and(|message| message.len() == 4)
        && value["params"].as_object().is_some_and(|params| {
            params.iter().all(|(name, value)| match name.as_str() {
                "name" => value.is_string(),
                "arguments" | "_meta" => value.is_object(),
                _ => false,
            }) && params.contains_key("name")
        });
    let (true, Some(id)) = (usual, id) else { return Err(value) };
    let mut member = |name: &str| match value["params"].get_mut(name).map(Value::take) {
        Some(Value::Object(members)) => Some(members),
        _ => None,
    };
    let (arguments, meta) = (member("arguments"), member("_meta"));
    let name = value["params"]["name"].as_str().unwrap_or_default().to_owned();
    let mut params = CallToolRequestParams::new(name);
    params.arguments = arguments;
    let mut request = CallToolRequest::new(params);
    if let Some(meta) = meta {
        request.extensions.insert(RequestMetaObject::from(meta));
    }
    Ok(JsonRpcMessage::request(ClientRequest::CallToolRequest(request), id))
}

/// A message, nothing for a notification nobody knows, or a complaint.
pub(crate) fn message(value: Value) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Box<Complaint>> {
    let value = match tool_call(value) {
        Ok(call) => return Ok(Some(call)),
        Err(other) => other,
    };
    let id = value.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
    let is_notification = id.is_none() && value.get("method").is_some_and(Value::is_string);
    match serde_json::from_value(value) {
        Ok(message) => Ok(Some(message)),
        Err(_) if is_notification => Ok(None),
        Err(error) => {
            let complaint = ErrorData::invalid_request(format!("Invalid request: {error}"), None);
            Err(Box::new(Complaint { id: id.unwrap_or(Value::Null), error: complaint }))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_call_is_read_as_the_protocol_library_reads_it() {
        let call = |id: Value, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let usual = [
            call(json!(1), json!({"name": "search", "arguments": {"q": "winter"}})),
            call(json!("a"), json!({"arguments": {}, "name": "search"})),
            call(json!(-3), json!({"name": "nothing"})),
            call(json!(1), json!({"name": "search", "arguments": {}, "_meta": {}})),
            call(
                json!(1),
                json!({"name": "fetch", "_meta": {"progressToken": 7, "x": [1]}, "arguments": {"id": "a:b"}}),
            ),
            json!({"method": "tools/call", "params": {"name": "x"}, "id": 4, "jsonrpc": "2.0"}),
        ];
        for value in usual {
            let theirs: RxJsonRpcMessage<RoleServer> = serde_json::from_value(value.clone()).unwrap();
            let Ok(ours) = tool_call(value.clone()) else { panic!("{value} is usual") };
            // What is written again holds the metadata too, which stands beside the parameters.
            assert_eq!(serde_json::to_value(&ours).unwrap(), serde_json::to_value(&theirs).unwrap());
            assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        }
        for value in [
            call(json!(1.5), json!({"name": "x"})),
            call(json!(null), json!({"name": "x"})),
            call(json!(1), json!({"name": "x", "arguments": null})),
            call(json!(1), json!({"name": "x", "arguments": []})),
            call(json!(1), json!({"name": 1})),
            call(json!(1), json!({"arguments": {}})),
            call(json!(1), json!({"name": "x", "requestState": "s"})),
            call(json!(1), json!([])),
            json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "x"}}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}, "result": 1}),
            json!({"jsonrpc": "1.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            json!([]),
        ] {
            assert_eq!(tool_call(value.clone()).err(), Some(value));
        }
    }
}
