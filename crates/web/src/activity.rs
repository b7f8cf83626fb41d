//! The ledger's latest entries, in words.

use pdpp_store::{Disclosure, Door};

use crate::moment::Moment;
use crate::stranger;

/// One thing that happened.
#[derive(Clone, Debug)]
pub(crate) struct Activity {
    pub(crate) at: Moment,
    pub(crate) who: String,
    pub(crate) what: String,
    pub(crate) refused: Option<&'static str>,
}

impl Activity {
    pub(crate) fn of(entry: &Disclosure, name: impl Fn(&str) -> String) -> Self {
        let who = entry.client_id.as_ref().map_or_else(|| "You".to_owned(), |id| name(id.as_str()));
        Self {
            at: Moment::of(entry.at),
            who,
            what: describe(entry),
            refused: entry.refused.map(pdpp_wire::Code::as_str),
        }
    }
}

/// What a client did about its subscriptions: none of it reads a record.
fn about_events(action: &str) -> Option<&'static str> {
    Some(match action {
        "create_event_subscription" => "asked to be told of changes",
        "update_event_subscription" => "changed how it is told of changes",
        "delete_event_subscription" => "asked to be told no more",
        "send_test_event" => "asked for a test message",
        "event_subscriptions" | "event_deliveries" => "looked at what it is told",
        _ => return None,
    })
}

fn describe(entry: &Disclosure) -> String {
    if entry.door == Door::OAuth {
        return match entry.action.as_str() {
            "request.authorize" | "request.push" | "request.device" => "asked for access",
            "request.returned" => "was sent back with an error",
            "consent.show" | "consent.review" => "request looked at",
            "consent.approve" => "request allowed",
            "consent.deny" => "request denied",
            "token.issue" | "token.exchange" | "agent.token" => "fetched a token",
            "token.revoke" => "gave a token back",
            "grant.revoke" => "grant ended",
            "client.register" => "registered",
            "client.delete" => "client removed",
            "client.metadata_changed" => "changed its description; its access ended",
            "owner.sign_in" => "sign-in",
            "owner.sign_out" => "sign-out",
            "owner.first_run" => "owner set up",
            "session.end" => "browser signed out",
            "subscription.disable" => "is no longer told of changes",
            "callback.forbid" => "is no longer told at that host",
            "passkey.add" => "passkey added",
            "passkey.remove" => "passkey removed",
            other => return stranger::name(other),
        }
        .to_owned();
    }
    if let Some(words) = about_events(&entry.action) {
        return words.to_owned();
    }
    let stream = entry.stream.as_ref().map(|stream| format!(" of {}", stranger::name(stream.as_str())));
    let count = match entry.record_count {
        0 => String::new(),
        1 => ", 1 record".to_owned(),
        many => format!(", {many} records"),
    };
    let query = entry
        .query
        .as_deref()
        .map(|query| format!(", searching for \u{201c}{}\u{201d}", stranger::name(query)));
    format!(
        "read {}{}{count}{}",
        stranger::name(&entry.action).replace('_', " "),
        stream.unwrap_or_default(),
        query.unwrap_or_default()
    )
}
