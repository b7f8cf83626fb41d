//! `GET /oauth/authorize` in a browser: the endpoint answers, and where it cannot redirect, its refusal is a page.

use bytes::Bytes;
use http::Response;
use pdpp_auth::OAuthFault;
use pdpp_wire::OAuthCode;
use serde_json::Value;

use crate::pages::Outcome;
use crate::respond::refusal;
use crate::visit::Visit;

pub(crate) async fn show(visit: &mut Visit) -> Outcome {
    let response = visit.ask_the_endpoint().await;
    let status = response.status();
    if status.is_redirection() && leads_away(visit, &response) {
        // Anyone may register an address. Who is led there from this one has signed in, so that nobody lends
        // its good name to a stranger's page.
        visit.owner_of_page().await?;
    }
    if !status.is_client_error() && !status.is_server_error() {
        return Ok(response);
    }
    // The endpoint has written it in the ledger; here it is only said in another shape.
    let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    let known = |code: &&OAuthCode| body["error"] == code.as_str();
    let code = OAuthCode::ALL.iter().find(known).copied().unwrap_or(OAuthCode::InvalidRequest);
    let message = body["error_description"].as_str().unwrap_or("The client's request cannot be used.");
    let mut page = refusal(visit, &OAuthFault::refused(code, message));
    *page.status_mut() = status;
    if let Some(wait) = response.headers().get(http::header::RETRY_AFTER) {
        page.headers_mut().insert(http::header::RETRY_AFTER, wait.clone());
    }
    Ok(page)
}

fn leads_away(visit: &Visit, response: &Response<Bytes>) -> bool {
    let issuer = visit.pages.server.issuer();
    let location = response.headers().get(http::header::LOCATION).and_then(|value| value.to_str().ok());
    let own = |to: &str| to.strip_prefix(issuer).is_some_and(|rest| rest.starts_with('/'));
    !location.is_some_and(own)
}
