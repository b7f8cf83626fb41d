//! The owner's yes or no.
//!
//! A yes names the digest of what was shown. The grants and the request's new state are stored in one step; of two
//! who decide at once, the second is told that it was decided.

use pdpp_access::Secret;
use pdpp_store::{Approval, Decided, Flow, RequestState, StagedRequest};
use pdpp_wire::{AccessMode, ApprovalId, ClientId, Code, Grant, Instant, OAuthCode, SubjectId};

use super::ask::Ask;
use super::review::{Proposal, Review, Waiting};
use super::stage::{nothing_waits, with_query};
use super::{AuthorizationServer, ConsentHandle, Narrowing, OAuthFault, handles};
use crate::grants::refuse_overlaps;
use crate::ids::mint_grant_id;

/// How long an authorization code lives, in seconds.
const CODE_SECONDS: i64 = 60;
/// How long an exchange code, which a person carries, or a waiting device may take, in seconds.
const FETCH_SECONDS: i64 = 300;
/// How long a single-use grant lives, in seconds.
const SINGLE_USE_SECONDS: i64 = 24 * 60 * 60;
/// A purpose that needs its own yes.
pub const AI_TRAINING: &str = "https://pdpp.dev/purpose/ai_training";

/// What the owner's browser does next.
#[derive(Clone, Debug)]
pub enum Handover {
    /// Goes back to the client.
    Redirect(String),
    /// Shows a code for the owner to carry to the client.
    ExchangeCode(Secret),
    /// Nothing: the client polls.
    Waiting,
}

/// An approval that holds.
#[derive(Clone, Debug)]
pub struct Approved {
    /// Which request.
    pub approval_id: ApprovalId,
    /// Whose client.
    pub client_id: ClientId,
    /// What was granted; empty for an owner token.
    pub grants: Vec<Grant>,
    /// What the owner's browser does next.
    pub handover: Handover,
}

/// After how long a grant of this mode ends by itself.
pub(super) fn single_use_seconds(mode: AccessMode) -> Option<i64> {
    (mode == AccessMode::SingleUse).then_some(SINGLE_USE_SECONDS)
}

impl AuthorizationServer {
    /// Approves what was shown. With a narrowing, the digest is that of the request as it was shown, and the narrowing
    /// is what the owner changed on the page; without, the digest is that of the request or of its last review.
    pub async fn approve(
        &self,
        subject_id: &SubjectId,
        handle: &ConsentHandle,
        digest: &str,
        narrowing: Option<&Narrowing>,
    ) -> Result<Approved, OAuthFault> {
        let waiting = self.waiting(subject_id, handle).await?;
        let (narrowing, proposals) = self.shown_before(subject_id, &waiting, digest, narrowing)?;
        let grants = self.mint_grants(subject_id, &waiting, &narrowing, proposals)?;
        let (now, flow) = (self.now(), waiting.request.flow);
        let code = match flow {
            Flow::Code => Some(handles::secret(self.entropy(), "oacode_")),
            Flow::Exchange if waiting.request.agent_id.is_none() => {
                Some(handles::secret(self.entropy(), "cex_"))
            }
            _ => None,
        };
        let seconds = if flow == Flow::Code { CODE_SECONDS } else { FETCH_SECONDS };
        let approval = Approval {
            approval_id: waiting.request.approval_id.clone(),
            subject_id: subject_id.clone(),
            grants: grants.clone(),
            callback_hosts: narrowing.callback_hosts,
            code: code.as_ref().map(Secret::hash),
            redeem_until: now.plus_seconds(seconds),
            at: now,
        };
        held(self.store().approve_request(&approval).await?)?;
        let handover = match (flow, code) {
            (Flow::Code, Some(code)) => Handover::Redirect(self.code_location(&waiting.ask, &code)),
            (_, Some(code)) => Handover::ExchangeCode(code),
            (_, None) => Handover::Waiting,
        };
        let Waiting { request, .. } = waiting;
        Ok(Approved { approval_id: request.approval_id, client_id: request.client_id, grants, handover })
    }

    /// Denies a request; the client learns it by redirect or when it polls.
    pub async fn deny(
        &self,
        subject_id: &SubjectId,
        handle: &ConsentHandle,
    ) -> Result<(StagedRequest, Handover), OAuthFault> {
        let Waiting { request, ask, .. } = self.waiting(subject_id, handle).await?;
        held(self.store().deny_request(&request.approval_id, subject_id, self.now()).await?)?;
        let handover = match &ask.redirect {
            None => Handover::Waiting,
            Some(redirect) => {
                let fault = OAuthFault::refused(OAuthCode::AccessDenied, "The owner denied the request.");
                Handover::Redirect(self.error_location(&redirect.uri, redirect.state.as_deref(), &fault))
            }
        };
        Ok((request, handover))
    }

    /// What the digest was computed over, or nothing: a stale page approves nothing.
    fn shown_before(
        &self,
        subject_id: &SubjectId,
        waiting: &Waiting,
        digest: &str,
        narrowing: Option<&Narrowing>,
    ) -> Result<(Narrowing, Vec<Proposal>), OAuthFault> {
        let stale =
            || OAuthFault::invalid("What was shown is not what is asked now; look at the request again.");
        let fits = |review: &Review| review.digest == digest || review.revision == digest;
        let (base, proposals) = self.render(subject_id, waiting, None)?;
        if let Some(narrowing) = narrowing {
            if !fits(&base) {
                return Err(stale());
            }
            let (_, narrowed) = self.render(subject_id, waiting, Some(narrowing))?;
            return Ok((narrowing.clone(), narrowed));
        }
        if fits(&base) {
            return Ok((Narrowing::default(), proposals));
        }
        let reviewed = waiting.request.review.as_deref().ok_or_else(stale)?;
        let reviewed: Narrowing = serde_json::from_str(reviewed).map_err(|_| stale())?;
        let (review, narrowed) = self.render(subject_id, waiting, Some(&reviewed))?;
        if fits(&review) { Ok((reviewed, narrowed)) } else { Err(stale()) }
    }

    fn mint_grants(
        &self,
        subject_id: &SubjectId,
        waiting: &Waiting,
        narrowing: &Narrowing,
        proposals: Vec<Proposal>,
    ) -> Result<Vec<Grant>, OAuthFault> {
        if waiting.request.flow == Flow::OwnerDevice {
            return Ok(Vec::new());
        }
        let now = self.now();
        let mut grants: Vec<Grant> = Vec::with_capacity(proposals.len());
        for proposal in proposals {
            if let Some(stream) = proposal.grant.streams.iter().find(|stream| proposal.is_open(stream)) {
                let message = format!("Choose the connections of '{}'.", stream.name);
                return Err(OAuthFault::Denied(
                    pdpp_access::Denial::new(Code::InvalidRequest, message).param("connections"),
                ));
            }
            let mut grant = proposal.grant;
            if grant.purpose_code == AI_TRAINING && !narrowing.ai_training_consented {
                return Err(OAuthFault::invalid("Training needs a yes of its own: `ai_training_consented`."));
            }
            let ends = single_use_seconds(grant.access_mode).map(|seconds| now.plus_seconds(seconds));
            let ends = [ends, narrowing.expires()].into_iter().flatten().min();
            grant.grant_id = mint_grant_id(self.entropy());
            grant.subject.id = subject_id.clone();
            grant.client.client_id = waiting.request.client_id.clone();
            grant.issued_at = now.to_rfc3339();
            grant.expires_at = ends.map(Instant::to_rfc3339);
            grant.check().map_err(|fault| OAuthFault::invalid(fault.to_string()))?;
            grants.push(grant);
        }
        let Some(first) = grants.first() else {
            return Err(OAuthFault::invalid("Nothing is chosen; deny the request instead."));
        };
        if grants.iter().any(|grant| grant.access_mode != first.access_mode) {
            return Err(OAuthFault::invalid("Single-use and continuous access cannot share a token."));
        }
        refuse_overlaps(&grants, now)?;
        Ok(grants)
    }

    fn code_location(&self, ask: &Ask, code: &Secret) -> String {
        let redirect = ask.redirect.as_ref().expect("a code request has a redirect");
        let mut pairs = vec![("code", code.reveal())];
        pairs.extend(redirect.state.as_deref().map(|state| ("state", state)));
        pairs.push(("iss", self.issuer()));
        with_query(&redirect.uri, &pairs)
    }

    /// What became of a request, for a page that is opened again.
    pub async fn outcome(&self, approval_id: &ApprovalId) -> Result<Option<RequestState>, OAuthFault> {
        let handle = pdpp_store::RequestHandle::Approval(approval_id.clone());
        Ok(self.store().find_request(&handle).await?.map(|request| request.state))
    }
}

fn held(decided: Decided) -> Result<(), OAuthFault> {
    match decided {
        Decided::Done => Ok(()),
        Decided::Conflict => {
            Err(OAuthFault::denied(Code::ApprovalConflict, "This request has been decided."))
        }
        Decided::Expired | Decided::Unknown => Err(nothing_waits()),
    }
}
