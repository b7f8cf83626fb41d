//! The prompts and resources that the suite asks for.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, Prompt, ReadResourceResult, Resource, ResourceTemplate,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// One red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A value of the protocol from its JSON: the suite's own documents are the easiest form to compare with.
pub(crate) fn from_json<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the fixture's tables are valid")
}

pub(crate) fn prompts() -> Vec<Prompt> {
    let argument = |name: &str, about: &str| json!({"name": name, "description": about, "required": true});
    from_json(json!([
        {"name": "test_simple_prompt", "description": "A prompt without arguments."},
        {"name": "test_prompt_with_arguments", "description": "A prompt with two arguments.",
         "arguments": [argument("arg1", "First test argument"), argument("arg2", "Second test argument")]},
        {"name": "test_prompt_with_embedded_resource", "description": "A prompt that embeds a resource.",
         "arguments": [argument("resourceUri", "URI of the resource to embed")]},
        {"name": "test_prompt_with_image", "description": "A prompt with an image."},
        {"name": "test_input_required_result_prompt", "description": "A prompt that asks for its context."},
    ]))
}

pub(crate) fn prompt(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let argument = |name: &str| {
        request.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str()).unwrap_or_default()
    };
    let text = |text: String| json!({"type": "text", "text": text});
    let contents = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => vec![text(format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2")
        ))],
        "test_prompt_with_embedded_resource" => vec![
            json!({"type": "resource", "resource": {
                "uri": argument("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            }}),
            text("Please process the embedded resource above.".to_owned()),
        ],
        "test_prompt_with_image" => vec![
            json!({"type": "image", "data": PNG, "mimeType": "image/png"}),
            text("Please analyze the image above.".to_owned()),
        ],
        _ => return Err(ErrorData::invalid_params("There is no such prompt.", None)),
    };
    let messages: Vec<Value> =
        contents.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    Ok(from_json(json!({"resultType": "complete", "messages": messages})))
}

pub(crate) fn resources() -> Vec<Resource> {
    from_json(json!([
        {"uri": "test://static-text", "name": "static-text", "description": "A text.", "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "static-binary", "description": "An image.",
         "mimeType": "image/png"},
        {"uri": "test://watched-resource", "name": "watched-resource", "description": "A text to subscribe to.",
         "mimeType": "text/plain"},
    ]))
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    from_json(json!([{
        "uriTemplate": "test://template/{id}/data", "name": "template", "description": "Data by id.",
        "mimeType": "application/json",
    }]))
}

pub(crate) fn read(uri: &str) -> Option<ReadResourceResult> {
    let contents = match uri {
        "test://static-text" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        "test://watched-resource" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "Watched resource content."})
        }
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
    };
    Some(from_json(json!({"resultType": "complete", "contents": [contents]})))
}
