//! The owner's side of consent: shows what is asked, approves or denies it, as the server's page would.

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::{Request, Response};

use super::{Server, text};

pub(crate) struct OwnerDesk {
    agent: Agent,
    base: String,
    token: String,
}

impl OwnerDesk {
    pub(crate) fn new(server: &Server, owner_token: &str) -> Self {
        let agent = Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
        Self { agent, base: format!("http://{}", server.address()), token: owner_token.to_owned() }
    }

    /// Opens an address as a browser would, and gives where it leads.
    #[track_caller]
    pub(crate) fn follow(&self, address: &str) -> String {
        let answer = self.agent.run(Request::get(address).body(()).unwrap()).unwrap();
        assert_eq!(answer.status().as_u16(), 303, "{address}");
        answer.headers()["location"].to_str().unwrap().to_owned()
    }

    /// Opens an address that shows a page; gives its status and text.
    pub(crate) fn open(&self, address: &str) -> (u16, String) {
        let mut answer = self.agent.run(Request::get(address).body(()).unwrap()).unwrap();
        let page = answer.body_mut().read_to_string().unwrap();
        (answer.status().as_u16(), page)
    }

    /// What waits under a handle such as `request_uri=…` or `user_code=…`.
    #[track_caller]
    pub(crate) fn review(&self, handle: &str) -> Value {
        let request =
            Request::get(format!("{}/consent?{handle}", self.base)).header("accept", "application/json");
        let shown = body(self.agent.run(self.signed(request).body(()).unwrap()).unwrap());
        assert!(shown["approval_review_revision"].is_string(), "{shown}");
        shown
    }

    /// Approves what is shown, or less.
    #[track_caller]
    pub(crate) fn approve(&self, handle: &str, narrowing: Option<&Value>) -> Value {
        let shown = self.review(handle);
        let revision = &shown["approval_review_revision"];
        let mut decision = json!({"approval_id": shown["approval_id"], "approval_review_revision": revision});
        if let Some(narrowing) = narrowing {
            decision["narrowing"] = narrowing.clone();
        }
        let approved = self.post("approve", &decision);
        assert_eq!(approved["status"], json!("approved"), "{approved}");
        approved
    }

    #[track_caller]
    pub(crate) fn deny(&self, handle: &str) -> Value {
        let shown = self.review(handle);
        self.post("deny", &json!({"approval_id": shown["approval_id"]}))
    }

    fn post(&self, what: &str, decision: &Value) -> Value {
        let request = Request::post(format!("{}/consent/{what}", self.base))
            .header("content-type", "application/json")
            .header("accept", "application/json");
        body(self.agent.run(self.signed(request).body(decision.to_string()).unwrap()).unwrap())
    }

    fn signed(&self, request: ureq::http::request::Builder) -> ureq::http::request::Builder {
        request.header("authorization", format!("Bearer {}", self.token))
    }
}

fn body(mut answer: Response<ureq::Body>) -> Value {
    let text = answer.body_mut().read_to_string().unwrap();
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{}: {text}", answer.status()))
}

/// The query of an address.
#[track_caller]
pub(crate) fn query(address: &str) -> String {
    address.split_once('?').unwrap_or_else(|| panic!("{address} has no query")).1.to_owned()
}

/// Where the browser goes after a decision.
#[track_caller]
pub(crate) fn back(decided: &Value) -> String {
    text(&decided["redirect_to"])
}
