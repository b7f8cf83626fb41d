//! The tools that the suite calls: one for each kind of content, and one for each thing a call can do on its way.

#![expect(deprecated, reason = "the suite still asks for log messages")]

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, LoggingLevel,
    LoggingMessageNotificationParam, ProgressNotificationParam, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::everything::{Changed, Everything, is_stateless};
use crate::library::{PNG, from_json};
use crate::schemas;

/// One silent sample.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";
const PAUSE: Duration = Duration::from_millis(50);

/// Every tool: name and description. Those that ask the client answer in `rounds`.
const TOOLS: [(&str, &str); 26] = [
    ("test_simple_text", "Returns a text."),
    ("test_image_content", "Returns an image."),
    ("test_audio_content", "Returns a sound."),
    ("test_embedded_resource", "Returns a resource."),
    ("test_multiple_content_types", "Returns a text, an image and a resource."),
    ("test_tool_with_logging", "Writes three lines to the log while it runs."),
    ("test_logging_tool", "Writes one line to the log, if the request wants to see it."),
    ("test_tool_with_progress", "Reports its progress while it runs."),
    ("test_error_handling", "Always fails."),
    ("test_missing_capability", "Needs a client that can sample."),
    ("test_streaming_elicitation", "Reports progress, then answers; never sends a request of its own."),
    ("test_trigger_tool_change", "Says that the list of tools has changed."),
    ("test_trigger_prompt_change", "Says that the list of prompts has changed."),
    ("test_sampling", "Would ask the client's model, within a session."),
    ("test_elicitation", "Would ask the client's user, within a session."),
    ("test_elicitation_sep1034_defaults", "Would offer defaults to the client's user, within a session."),
    ("test_elicitation_sep1330_enums", "Would offer choices to the client's user, within a session."),
    ("test_input_required_result_elicitation", "Asks for a name."),
    ("test_input_required_result_sampling", "Asks the client's model."),
    ("test_input_required_result_list_roots", "Asks for the client's roots."),
    ("test_input_required_result_request_state", "Asks, and remembers in its state."),
    ("test_input_required_result_multiple_inputs", "Asks three things at once."),
    ("test_input_required_result_multi_round", "Asks twice."),
    ("test_input_required_result_tampered_state", "Refuses a state that is not its own."),
    ("test_input_required_result_capabilities", "Asks only what the client can answer."),
    ("test_headers", "Takes an argument that is repeated as a header."),
];

pub(crate) fn tools() -> Vec<Tool> {
    let schema = |name: &str| match name {
        "test_headers" => schemas::with_header(),
        _ => json!({"type": "object"}),
    };
    let rich = json!({
        "name": "json_schema_2020_12_tool", "description": "Tool with JSON Schema 2020-12 features",
        "inputSchema": schemas::rich(),
    });
    TOOLS
        .iter()
        .map(|(name, about)| json!({"name": name, "description": about, "inputSchema": schema(name)}))
        .chain([rich])
        .map(from_json)
        .collect()
}

pub(crate) async fn call(
    server: &Everything,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    Ok(match request.name.as_ref() {
        "test_simple_text" => success([text("This is a simple text response for testing.")]),
        "test_image_content" => success([image()]),
        "test_audio_content" => success([json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})]),
        "test_embedded_resource" => success([json!({"type": "resource", "resource": {
            "uri": "test://embedded-resource", "mimeType": "text/plain",
            "text": "This is an embedded resource content.",
        }})]),
        "test_multiple_content_types" => success([
            text("Multiple content types test:"),
            image(),
            json!({"type": "resource", "resource": {
                "uri": "test://mixed-content-resource", "mimeType": "application/json",
                "text": json!({"test": "data", "value": 123}).to_string(),
            }}),
        ]),
        "test_tool_with_logging" => {
            for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                log(context, line).await?;
                sleep(PAUSE).await;
            }
            success([text("Three lines were logged.")])
        }
        "test_logging_tool" => {
            log(context, "This line was asked for.").await?;
            success([text("Logged what was asked for.")])
        }
        "test_tool_with_progress" | "test_streaming_elicitation" => {
            for progress in [0.0, 50.0, 100.0] {
                report(context, progress).await?;
                sleep(PAUSE).await;
            }
            success([text("Progress was reported.")])
        }
        "test_error_handling" => error("This tool intentionally returns an error for testing"),
        "test_missing_capability" => {
            if context.client_capabilities().is_none_or(|declared| declared.sampling.is_none()) {
                let needed: ClientCapabilities = from_json(json!({"sampling": {}}));
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            success([text("The client can sample.")])
        }
        // Nobody may be listening, and that is fine.
        "test_trigger_tool_change" => {
            let _ = server.changes.send(Changed::Tools);
            success([text("The list of tools has changed.")])
        }
        "test_trigger_prompt_change" => {
            let _ = server.changes.send(Changed::Prompts);
            success([text("The list of prompts has changed.")])
        }
        "test_headers" | "json_schema_2020_12_tool" => {
            success([text(&Value::from(request.arguments.unwrap_or_default()).to_string())])
        }
        name if TOOLS.iter().any(|(known, _)| *known == name) => {
            error("The server has no session, so it cannot send a request to the client.")
        }
        _ => return Err(ErrorData::invalid_params("There is no such tool.", None)),
    })
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

fn success<const N: usize>(content: [Value; N]) -> CallToolResponse {
    let content = content.to_vec();
    CallToolResponse::Complete(from_json(json!({"resultType": "complete", "content": content})))
}

fn error(message: &str) -> CallToolResponse {
    let result = json!({"resultType": "complete", "content": [text(message)], "isError": true});
    CallToolResponse::Complete(from_json(result))
}

/// Since 2026-07-28 a request says itself what it wants to see of the log.
async fn log(context: &RequestContext<RoleServer>, line: &str) -> Result<(), ErrorData> {
    if is_stateless(context) && context.meta.log_level().is_none() {
        return Ok(());
    }
    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, line.into());
    context.peer.notify_logging_message(message).await.map_err(lost)
}

async fn report(context: &RequestContext<RoleServer>, progress: f64) -> Result<(), ErrorData> {
    let Some(token) = context.meta.get_progress_token() else {
        return Ok(());
    };
    let report = ProgressNotificationParam::new(token, progress).with_total(100.0);
    context.peer.notify_progress(report).await.map_err(lost)
}

fn lost(error: impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
