//! The consent API: what a request asks, and the owner's decision, as JSON. A page is a view of it.

use bytes::Bytes;
use http::Response;
use pdpp_access::OwnerPrincipal;
use pdpp_wire::{ApprovalId, Code};
use serde_json::{Map, Value, json};

use super::body::Params;
use super::call::Call;
use super::respond::ok;
use crate::grants::id_of;
use crate::{ConsentHandle, Handover, Narrowing, OAuthFault, Review};

pub(super) async fn show(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    let owner = call.owner().await?;
    let handle = handle(&call.query()?)?;
    let review = call.server.review(&owner.subject_id, &handle, None).await?;
    call.entry.note = Some(review.approval_id.to_string());
    Ok(ok(&described(review)))
}

pub(super) async fn review(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    let owner = call.owner().await?;
    let params = call.json()?;
    params.allow_only(&["request_uri", "approval_id", "user_code", "narrowing", "ai_training_consented"])?;
    let handle = handle(&params)?;
    let mut narrowing = narrowing(&params)?.unwrap_or_default();
    if let Some(consented) = params.value("ai_training_consented")? {
        narrowing.ai_training_consented = consented == Value::Bool(true);
    }
    let review = call.server.review(&owner.subject_id, &handle, Some(&narrowing)).await?;
    call.entry.note = Some(review.approval_id.to_string());
    Ok(ok(&described(review)))
}

pub(super) async fn approve(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    let owner = call.owner().await?;
    let params = call.json()?;
    params.allow_only(&[
        "request_uri",
        "approval_id",
        "user_code",
        "approval_review_revision",
        "narrowing",
    ])?;
    let handle = handle(&params)?;
    let revision = params.required("approval_review_revision")?;
    let narrowing = narrowing(&params)?;
    if owner.token_id.is_none() {
        refuse_owner_token(call, &owner, &handle).await?;
    }
    let approved = call.server.approve(&owner.subject_id, &handle, revision, narrowing.as_ref()).await?;
    call.entry.client_id = Some(approved.client_id.clone());
    call.entry.grant_ids = approved.grants.iter().map(id_of).collect();
    call.entry.note = Some(approved.approval_id.to_string());
    let mut body = Map::new();
    body.insert("approval_id".to_owned(), json!(approved.approval_id));
    body.insert("status".to_owned(), "approved".into());
    body.insert("grants".to_owned(), json!(approved.grants));
    if let [grant] = approved.grants.as_slice() {
        body.insert("grant_id".to_owned(), json!(grant.grant_id));
    }
    hand_over(&mut body, &approved.handover);
    Ok(ok(&body))
}

pub(super) async fn deny(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    let owner = call.owner().await?;
    let params = call.json()?;
    params.allow_only(&["request_uri", "approval_id", "user_code"])?;
    let (request, handover) = call.server.deny(&owner.subject_id, &handle(&params)?).await?;
    call.entry.client_id = Some(request.client_id);
    call.entry.note = Some(request.approval_id.to_string());
    let mut body = Map::new();
    body.insert("approval_id".to_owned(), json!(request.approval_id));
    body.insert("status".to_owned(), "denied".into());
    hand_over(&mut body, &handover);
    Ok(ok(&body))
}

/// A session alone gives nobody an owner's credential: the page that does asks for the passphrase again.
async fn refuse_owner_token(
    call: &Call,
    owner: &OwnerPrincipal,
    handle: &ConsentHandle,
) -> Result<(), OAuthFault> {
    let review = call.server.review(&owner.subject_id, handle, None).await?;
    if review.artifact["grants"] != "owner_token" {
        return Ok(());
    }
    Err(OAuthFault::denied(Code::PermissionError, "An owner's credential is approved on the page `/device`."))
}

fn handle(params: &Params) -> Result<ConsentHandle, OAuthFault> {
    let one = (params.text("request_uri")?, params.text("approval_id")?, params.text("user_code")?);
    match one {
        (Some(uri), None, None) => Ok(ConsentHandle::RequestUri(uri.to_owned())),
        (None, Some(id), None) => match ApprovalId::parse(id) {
            Ok(id) => Ok(ConsentHandle::Approval(id)),
            Err(_) => Err(OAuthFault::invalid("`approval_id` cannot be one.")),
        },
        (None, None, Some(code)) => Ok(ConsentHandle::UserCode(code.to_owned())),
        _ => Err(OAuthFault::invalid("Name the request by `request_uri`, `approval_id` or `user_code`.")),
    }
}

fn narrowing(params: &Params) -> Result<Option<Narrowing>, OAuthFault> {
    let Some(value) = params.value("narrowing")? else {
        return Ok(None);
    };
    let narrowing = serde_json::from_value(value);
    narrowing.map(Some).map_err(|error| OAuthFault::invalid(format!("`narrowing`: {error}.")))
}

fn described(review: Review) -> Value {
    json!({
        "approval_id": review.approval_id,
        "approval_review": review.artifact,
        "approval_review_digest": review.digest,
        "approval_review_revision": review.revision,
    })
}

fn hand_over(body: &mut Map<String, Value>, handover: &Handover) {
    let (how, what) = match handover {
        Handover::Redirect(location) => ("redirect", Some(("redirect_to", location.as_str()))),
        Handover::ExchangeCode(code) => ("exchange_code", Some(("exchange_code", code.reveal()))),
        Handover::Waiting => ("client_polls", None),
    };
    body.insert("handover".to_owned(), how.into());
    if let Some((name, text)) = what {
        body.insert(name.to_owned(), text.into());
    }
}
