//! What the server says about events, before anything is subscribed.

use pdpp_client::Request;
use serde_json::Value;

use super::render::envelope;
use crate::Adapter;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::shown::shown;
use crate::text::{put, quoted};
use crate::tokens::{self, estimate_json};

pub(super) async fn run(adapter: Adapter) -> Result<Outcome, Failure> {
    let reply = adapter.json(&Request::get([".well-known", "oauth-protected-resource"])).await?;
    let capability = reply
        .body
        .get("capabilities")
        .and_then(|capabilities| capabilities.get("client_event_subscriptions"))
        .filter(|capability| capability.is_object());
    let supported = capability.and_then(|it| it.get("supported")) == Some(&Value::Bool(true));
    // A document of unusual size gives its part about events, and no more.
    let room = (tokens::RESULT - tokens::CONTENT) / 2;
    let bounded = |value: &Value| if estimate_json(value) <= room { value.clone() } else { Value::Null };
    let mut structured = envelope(adapter.provider_url(), &reply, &bounded(&reply.body));
    structured.insert("supported".to_owned(), supported.into());
    structured
        .insert("capability".to_owned(), capability.map_or(Value::Null, |it| shown(&bounded(it)).value));
    let text = match capability {
        Some(capability) if supported => supported_text(capability),
        _ => {
            "discover_event_subscription_capabilities: supported=false. This server does not advertise event \
              subscriptions; poll with query_records and changes_since."
                .to_owned()
        }
    };
    Ok(Outcome::new(text, structured.into()))
}

fn supported_text(capability: &Value) -> String {
    let member = |name: &str| capability.get(name).and_then(Value::as_str);
    let mut text = "discover_event_subscription_capabilities: supported=true".to_owned();
    let endpoint = member("endpoint").unwrap_or("/v1/event-subscriptions");
    put(&mut text, " endpoint=", &quoted(endpoint, 200));
    if let Some(stability) = member("stability") {
        put(&mut text, " stability=", &quoted(stability, 60));
    }
    let kinds: Vec<String> = capability
        .get("event_types")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .take(12)
        .map(|kind| quoted(kind, 80))
        .collect();
    if !kinds.is_empty() {
        put(&mut text, " event_types=", &kinds.join("|"));
    }
    let rule = |name: &str| capability.get("callback_url")?.get(name)?.as_bool();
    if rule("https_required") == Some(true) {
        text.push_str(" callback=https");
        if rule("localhost_exception") == Some(true) {
            text.push_str("_or_localhost");
        }
    }
    text.push_str(
        ". Next: create_event_subscription({\"callback_url\":\"https://…\"}), only with a receiver the user named; \
         otherwise poll with query_records and changes_since.",
    );
    text
}
