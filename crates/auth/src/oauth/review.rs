//! What the owner is asked to approve, said exactly, with a digest that binds the approval to it.
//!
//! The artifact is computed from what is stored whenever it is shown, never kept. An approval names the digest of
//! what was shown; if anything in it has changed since (the declaration, the connections, the client's name), the
//! digest is another one and nothing is granted.

use std::collections::BTreeSet;
use std::sync::Arc;

use pdpp_access::{Catalogue, GrantTerms, Secret, Source, resolve_selection};
use pdpp_store::{Flow, RequestHandle, RequestState, StagedRequest};
use pdpp_wire::manifest::{FieldDeclaration, StreamDeclaration};
use pdpp_wire::{ApprovalId, Code, ConnectionId, Grant, GrantId, GrantStream, SubjectId};
use serde_json::{Value, json};

use super::ask::Ask;
use super::callbacks::{self, AskedCallback};
use super::digest::digest;
use super::stage::{nothing_waits, whole_source};
use super::{
    AuthorizationServer, Detail, KnownClient, Narrowing, OAuthFault, PENDING, RedirectUri, handles,
    narrowing, picker,
};

/// Names the shape of the artifact.
const VERSION: &str = "pdpp.approval-review.v1";
/// Wrong user codes an owner may type in ten minutes.
const USER_CODE_TRIES: u32 = 10;

/// How a request that waits is named by whoever decides it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsentHandle {
    /// The `request_uri` of the page's address.
    RequestUri(String),
    /// The public name.
    Approval(ApprovalId),
    /// What the owner typed.
    UserCode(String),
}

/// What the owner is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// The request's public name.
    pub approval_id: ApprovalId,
    /// Everything that will hold if it is approved.
    pub artifact: Value,
    /// Binds the approval to the artifact.
    pub digest: String,
    /// Version and digest in one word.
    pub revision: String,
    /// Where the browser goes with the outcome, when it goes anywhere.
    pub redirect_uri: Option<String>,
}

/// One grant as it would be.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    /// Its place in the request.
    pub(super) index: usize,
    pub(super) detail: Detail,
    pub(super) source: Arc<Source>,
    /// The grant as resolved; it gets its id and its client when it is approved, so neither is shown before.
    pub(super) grant: Grant,
    /// The connections to choose from, when the request leaves that to the owner.
    pub(super) choose_from: Vec<ConnectionId>,
    /// The streams for which the owner has chosen.
    pub(super) chosen: BTreeSet<String>,
}

impl Proposal {
    /// Whether the connections of a stream are still to be chosen.
    pub(super) fn is_open(&self, stream: &GrantStream) -> bool {
        !self.choose_from.is_empty()
            && stream.instance_ids == self.choose_from
            && !self.chosen.contains(stream.name.as_str())
    }
}

/// A request that waits, with all that is known about it.
pub(super) struct Waiting {
    pub(super) request: StagedRequest,
    pub(super) ask: Ask,
    pub(super) client: KnownClient,
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) callbacks: Vec<AskedCallback>,
}

impl AuthorizationServer {
    /// What a request asks, as the owner would grant it with this narrowing.
    pub async fn review(
        &self,
        subject_id: &SubjectId,
        handle: &ConsentHandle,
        narrowing: Option<&Narrowing>,
    ) -> Result<Review, OAuthFault> {
        let waiting = self.waiting(subject_id, handle).await?;
        if let Some(narrowing) = narrowing {
            let text = serde_json::to_string(narrowing).expect("a narrowing is plain data");
            self.store().review_request(&waiting.request.approval_id, &text, self.now()).await?;
        }
        Ok(self.render(subject_id, &waiting, narrowing)?.0)
    }

    pub(super) async fn waiting(
        &self,
        subject_id: &SubjectId,
        handle: &ConsentHandle,
    ) -> Result<Waiting, OAuthFault> {
        let request = self.find_waiting(subject_id, handle).await?.ok_or_else(nothing_waits)?;
        // Whoever of several owners opens it first is the one it is for.
        if !self.store().address_request(&request.approval_id, subject_id).await? {
            return Err(nothing_waits());
        }
        if request.state != RequestState::Pending {
            return Err(OAuthFault::denied(Code::ApprovalConflict, "This request has been decided."));
        }
        if request.expires_at <= self.now() {
            return Err(nothing_waits());
        }
        let mut ask = Ask::read(&request)?;
        let client = self.known_client(request.client_id.as_str()).await?;
        let catalogue = self.store().catalogue(subject_id).await?;
        if let Some(connector) = ask.connector_id.take() {
            ask.details = vec![whole_source(&catalogue, &connector)?];
        }
        let callbacks = self.asked_callbacks(subject_id, &client, &ask).await?;
        Ok(Waiting { request, ask, client, catalogue, callbacks })
    }

    async fn find_waiting(
        &self,
        subject_id: &SubjectId,
        handle: &ConsentHandle,
    ) -> Result<Option<StagedRequest>, OAuthFault> {
        let find = async |handle: RequestHandle| self.store().find_request(&handle).await;
        match handle {
            ConsentHandle::Approval(id) => Ok(find(RequestHandle::Approval(id.clone())).await?),
            ConsentHandle::RequestUri(uri) => {
                let Some(handle) = uri.strip_prefix(PENDING) else {
                    return Ok(None);
                };
                let hash = Secret::presented(handle).hash();
                if let Some(found) = find(RequestHandle::Consent(hash)).await? {
                    return Ok(Some(found));
                }
                // The requester of pushed JSON may lead the owner to the page with its own handle.
                let found = find(RequestHandle::Pushed(hash)).await?;
                Ok(found.filter(|request| request.flow == Flow::Exchange))
            }
            ConsentHandle::UserCode(text) => {
                let key = format!("user_code:{subject_id}");
                if let Some(code) = handles::typed_user_code(text)
                    && let Some(found) = find(RequestHandle::UserCode(code.hash())).await?
                {
                    return Ok(Some(found));
                }
                let tried = self.store().count_attempt(&key, 600, self.now()).await?;
                if tried.count > USER_CODE_TRIES {
                    let wait = tried.window_ends.unix_seconds() - self.now().unix_seconds();
                    return Err(OAuthFault::TooOften(wait.max(1)));
                }
                Ok(None)
            }
        }
    }

    /// Resolves what is asked against what the owner has.
    pub(super) fn propose(
        &self,
        catalogue: &Catalogue,
        details: &[Detail],
    ) -> Result<Vec<Proposal>, OAuthFault> {
        let propose = |(index, detail): (usize, &Detail)| {
            let source = catalogue.find_source_by_uri(&detail.source.id).ok_or_else(|| {
                super::detail::refused(format!(
                    "The source '{}' is not declared here.",
                    super::server::shown(&detail.source.id)
                ))
            })?;
            let eligible: Vec<ConnectionId> = source
                .connections
                .iter()
                .filter(|connection| connection.is_readable())
                .map(|connection| connection.connection_id.clone())
                .collect();
            let open = eligible.len() > 1
                && detail.selection_preset.is_none()
                && detail.streams.iter().any(|stream| stream.instance_ids.is_none());
            let terms = GrantTerms {
                grant_id: GrantId::parse("grt_proposed").expect("a plain id"),
                subject_id: catalogue.subject_id.clone(),
                client_id: pdpp_wire::ClientId::parse("proposed").expect("a plain id"),
                issued_at: self.now(),
                expires_at: None,
            };
            let selection = detail.selection(source, open.then_some(&eligible[..]))?;
            let grant = resolve_selection(source, &selection, &terms)?;
            let choose_from = if open { eligible } else { Vec::new() };
            let (detail, source, chosen) = (detail.clone(), Arc::clone(source), BTreeSet::new());
            Ok(Proposal { index, detail, source, grant, choose_from, chosen })
        };
        details.iter().enumerate().map(propose).collect()
    }

    /// The artifact, and the grants it describes.
    pub(super) fn render(
        &self,
        subject_id: &SubjectId,
        waiting: &Waiting,
        narrowing: Option<&Narrowing>,
    ) -> Result<(Review, Vec<Proposal>), OAuthFault> {
        let none = Narrowing::default();
        let narrowing = narrowing.unwrap_or(&none);
        let details = match (waiting.ask.details.as_slice(), narrowing.choices.as_slice()) {
            ([], choices) => choices,
            (details, []) => details,
            (_, _) => return Err(OAuthFault::invalid("The request names what it wants; narrow it instead.")),
        };
        narrowing.check(details, self.now())?;
        callbacks::check(&waiting.callbacks, narrowing)?;
        let proposals = self.propose(&waiting.catalogue, details)?;
        let proposals = narrowing::apply(proposals, narrowing)?;
        let artifact = artifact(subject_id, waiting, (narrowing, &proposals));
        let digest = digest(&artifact);
        let review = Review {
            approval_id: waiting.request.approval_id.clone(),
            revision: format!("{VERSION}:{digest}"),
            digest,
            artifact,
            redirect_uri: waiting.ask.redirect.as_ref().map(|redirect| redirect.uri.clone()),
        };
        Ok((review, proposals))
    }
}

fn artifact(
    subject_id: &SubjectId,
    waiting: &Waiting,
    (narrowing, proposals): (&Narrowing, &[Proposal]),
) -> Value {
    let Waiting { request, ask, client, catalogue, callbacks } = waiting;
    let owner_token = request.flow == Flow::OwnerDevice;
    let picker = ask.details.is_empty() && !owner_token;
    json!({
        "version": VERSION,
        "approval_id": request.approval_id,
        "requested_at": request.created_at.to_rfc3339(),
        "decide_until": request.expires_at.to_rfc3339(),
        "subject": { "id": subject_id },
        "grants": if owner_token { "owner_token" } else { "data_access" },
        "client": client_facts(client, ask),
        "delivery": delivery(request, ask),
        "resource": ask.resource,
        "expires_at": narrowing.expires_at,
        "ai_training_consented": narrowing.ai_training_consented,
        "sources": proposals.iter().map(source_facts).collect::<Vec<_>>(),
        "picker": picker.then(|| picker::offer(catalogue)),
        "event_callbacks": callbacks::facts(callbacks, narrowing),
    })
}

fn client_facts(client: &KnownClient, ask: &Ask) -> Value {
    let metadata = &client.metadata;
    json!({
        "client_id": client.client_id,
        "claimed_name": metadata.client_name.as_ref().or(ask.claimed_name.as_ref()),
        "registration": client.source.as_str(),
        "verified_origin": client.verified_origin(),
        "first_seen": client.first_seen.map(pdpp_wire::Instant::to_rfc3339),
        "local_only": metadata.is_local_only(),
        "client_uri": metadata.client_uri,
        "logo_uri": metadata.logo_uri,
        "policy_uri": metadata.policy_uri,
        "tos_uri": metadata.tos_uri,
    })
}

fn delivery(request: &StagedRequest, ask: &Ask) -> Value {
    let redirect = ask.redirect.as_ref();
    let place = redirect.and_then(|redirect| RedirectUri::parse(&redirect.uri).ok()).map(|uri| uri.place());
    json!({ "flow": request.flow.as_str(), "redirect_host": place, "agent_waits": request.agent_id.is_some() })
}

fn source_facts(proposal: &Proposal) -> Value {
    let Proposal { index, detail, source, grant, .. } = proposal;
    let necessities = detail.necessities();
    let streams: Vec<_> = grant
        .streams
        .iter()
        .map(|stream| {
            let need = necessities.get(stream.name.as_str()).or(necessities.get("*")).copied();
            stream_facts(proposal, stream, need.unwrap_or_default() == super::Necessity::Optional)
        })
        .collect();
    json!({
        "index": index,
        "source": grant.source,
        "display_name": source.manifest.display_name(),
        "source_declaration": { "version": source.declaration_version },
        "access_mode": grant.access_mode,
        "expires_after_seconds": super::decide::single_use_seconds(grant.access_mode),
        "purpose_code": grant.purpose_code,
        "purpose_description": grant.purpose_description,
        "retention": grant.retention,
        "selection_preset": grant.selection_preset,
        "client_claims": detail.client_claims,
        "streams": streams,
        "withheld_streams": withheld_streams(source, grant),
    })
}

fn stream_facts(proposal: &Proposal, stream: &GrantStream, optional: bool) -> Value {
    let (source, choose_from) = (&proposal.source, &proposal.choose_from);
    let declaration = source.manifest.find_stream(stream.name.as_str());
    let fields = || declaration.iter().flat_map(|declaration| declaration.fields());
    let named = |id: &ConnectionId| {
        let connection = source.find_connection(id.as_str());
        json!({ "connection_id": id, "display_name": connection.and_then(|one| one.display_name.as_deref()) })
    };
    let open = proposal.is_open(stream);
    let granted: Vec<_> = if open { Vec::new() } else { stream.instance_ids.iter().map(named).collect() };
    json!({
        "name": stream.name,
        "description": declaration.and_then(|declaration| declaration.document().get("description")),
        "display": declaration.and_then(|declaration| declaration.document().get("display")),
        "necessity": if optional { "optional" } else { "required" },
        "connections": granted,
        "choose_connection": open.then(|| choose_from.iter().map(named).collect::<Vec<_>>()),
        "fields": stream.fields,
        "required_fields": fields().filter(|field| field.required()).map(FieldDeclaration::name).collect::<Vec<_>>(),
        "withheld_fields": fields()
            .map(FieldDeclaration::name)
            .filter(|name| !stream.fields.iter().any(|granted| granted == name))
            .collect::<Vec<_>>(),
        "selects_fields": declaration.is_some_and(StreamDeclaration::selects_fields),
        "time_field": declaration.and_then(|declaration| declaration.consent_time_field()),
        "time_constraint": stream.time_constraint,
        "resources": stream.resources,
    })
}

fn withheld_streams(source: &Source, grant: &Grant) -> Vec<String> {
    let granted: BTreeSet<_> = grant.streams.iter().map(|stream| stream.name.as_str()).collect();
    let declared = source.manifest.streams().iter().map(|stream| stream.name().as_str());
    declared.filter(|name| !granted.contains(name)).map(str::to_owned).collect()
}
