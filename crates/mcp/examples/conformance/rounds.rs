//! Calls that need something from the client, in the stateless revision: the answer names the input, the client
//! calls again with it, and whatever the server must remember travels in a sealed state.

use std::hash::{BuildHasher as _, RandomState};

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, InputRequiredResult, InputResponses,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};

use crate::library::from_json;

/// What makes a state ours: a keyed hash with a key that lives as long as the process.
#[derive(Debug)]
pub(crate) struct Seal(RandomState);

impl Seal {
    pub(crate) fn new(key: RandomState) -> Self {
        Self(key)
    }

    fn close(&self, state: &str) -> String {
        format!("{state}.{:016x}", self.0.hash_one(state))
    }

    fn open<'a>(&self, sealed: &'a str) -> Option<&'a str> {
        let (state, _) = sealed.rsplit_once('.')?;
        (self.close(state) == sealed).then_some(state)
    }
}

/// One question to the client: its key and the request.
type Question = (&'static str, Value);

fn form(message: &str, field: &str, kind: &str) -> Value {
    json!({"method": "elicitation/create", "params": {
        "message": message,
        "requestedSchema": {"type": "object", "properties": {field: {"type": kind}}, "required": [field]},
    }})
}

fn sampling(prompt: &str, most: u32) -> Value {
    json!({"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}], "maxTokens": most,
    }})
}

fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}

fn ask(questions: impl IntoIterator<Item = Question>, state: Option<String>) -> InputRequiredResult {
    let requests: Map<String, Value> =
        questions.into_iter().map(|(key, request)| (key.to_owned(), request)).collect();
    let mut result = json!({"resultType": "input_required", "inputRequests": requests});
    if let Some(state) = state {
        result["requestState"] = state.into();
    }
    from_json(result)
}

fn say(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// The field of an accepted form.
fn filled<'a>(answers: Option<&'a InputResponses>, key: &str, field: &str) -> Option<&'a Value> {
    let answer = answers?.get(key)?;
    (answer.get("action")? == "accept").then(|| answer.get("content")?.get(field)).flatten()
}

/// The answer of a tool that asks the client; nothing, when the tool is another kind.
pub(crate) fn call(
    seal: &Seal,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let tool = request.name.strip_prefix("test_input_required_result_")?;
    let answers = request.input_responses.as_ref();
    let state = match request.request_state.as_deref().map(|sealed| seal.open(sealed)) {
        Some(None) => return Some(Err(ErrorData::invalid_params("requestState failed its check", None))),
        Some(state) => state,
        None => None,
    };
    let name = || ("user_name", form("What is your name?", "name", "string"));
    Some(Ok(match tool {
        "elicitation" => match filled(answers, "user_name", "name").and_then(Value::as_str) {
            Some(name) => say(format!("Hello, {name}!")),
            None => ask([name()], None).into(),
        },
        "sampling" => {
            let answer =
                answers.and_then(|answers| answers.get("capital_question")?["content"]["text"].as_str());
            match answer {
                Some(text) => say(text),
                None => {
                    ask([("capital_question", sampling("What is the capital of France?", 100))], None).into()
                }
            }
        }
        "list_roots" => match answers.and_then(|answers| answers.get("client_roots")?["roots"].as_array()) {
            Some(found) => say(format!("Roots: {}", Value::from(found.clone()))),
            None => ask([("client_roots", roots())], None).into(),
        },
        "request_state" | "tampered_state" => match (state, filled(answers, "confirm", "ok")) {
            (Some("confirm"), Some(_)) => say("state-ok"),
            _ => ask([("confirm", form("Please confirm", "ok", "boolean"))], Some(seal.close("confirm")))
                .into(),
        },
        "multiple_inputs" => {
            let questions =
                [name(), ("greeting", sampling("Generate a greeting", 50)), ("client_roots", roots())];
            let all =
                answers.is_some_and(|answers| questions.iter().all(|(key, _)| answers.contains_key(*key)));
            if all && state.is_some() {
                say("All inputs arrived.")
            } else {
                ask(questions, Some(seal.close("several"))).into()
            }
        }
        "multi_round" => rounds(seal, state, answers),
        "capabilities" => {
            let declared = context.client_capabilities().unwrap_or_default();
            let mut questions = Vec::new();
            questions.extend(declared.elicitation.is_some().then(name));
            questions.extend(
                declared.sampling.is_some().then(|| ("greeting", sampling("Generate a greeting", 50))),
            );
            questions.extend(declared.roots.is_some().then(|| ("client_roots", roots())));
            ask(questions, None).into()
        }
        _ => return None,
    }))
}

/// Two forms, one after the other; the state carries the first answer to the second round.
fn rounds(seal: &Seal, state: Option<&str>, answers: Option<&InputResponses>) -> CallToolResponse {
    let text = |key, field| filled(answers, key, field).and_then(Value::as_str);
    match state {
        Some("first") if text("step1", "name").is_some() => {
            let name = text("step1", "name").unwrap_or_default();
            let question = ("step2", form("Step 2: What is your favorite color?", "color", "string"));
            ask([question], Some(seal.close(&format!("second {name}")))).into()
        }
        Some(state) if state.starts_with("second ") && text("step2", "color").is_some() => {
            let name = state.trim_start_matches("second ");
            say(format!("{name} likes {}.", text("step2", "color").unwrap_or_default()))
        }
        _ => {
            let question = ("step1", form("Step 1: What is your name?", "name", "string"));
            ask([question], Some(seal.close("first"))).into()
        }
    }
}

/// The prompt that asks for its context; nothing for other prompts.
pub(crate) fn prompt(request: &GetPromptRequestParams) -> Option<GetPromptResponse> {
    if request.name != "test_input_required_result_prompt" {
        return None;
    }
    let context = filled(request.input_responses.as_ref(), "user_context", "context").and_then(Value::as_str);
    Some(if let Some(context) = context {
        let text = format!("Use this context: {context}");
        let message = json!({"role": "user", "content": {"type": "text", "text": text}});
        GetPromptResponse::Complete(from_json(json!({"resultType": "complete", "messages": [message]})))
    } else {
        let question = form("What context should the prompt use?", "context", "string");
        GetPromptResponse::InputRequired(ask([("user_context", question)], None))
    })
}
