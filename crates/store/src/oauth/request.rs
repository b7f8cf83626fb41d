//! Requests for consent, from the moment they are staged to the moment they are redeemed.

use pdpp_access::SecretHash;
use pdpp_wire::{ApprovalId, ClientId, Grant, GrantId, Instant, SubjectId};

use crate::{NewFamily, NewToken};

/// How the outcome reaches the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// By redirect, with a code.
    Code,
    /// The owner carries an exchange code, or the client polls as an agent.
    Exchange,
    /// The client polls with a device code for a grant.
    Device,
    /// The client polls with a device code for an owner token.
    OwnerDevice,
}

/// A request about to be kept. Its handles are unrelated to one another.
#[derive(Clone, Debug)]
pub struct NewRequest {
    /// Its public name.
    pub approval_id: ApprovalId,
    /// How the outcome reaches the client.
    pub flow: Flow,
    /// Who asks.
    pub client_id: ClientId,
    /// The handle only the requester has.
    pub pushed: Option<SecretHash>,
    /// The handle the consent page is reached by.
    pub consent: Option<SecretHash>,
    /// What the device polls with.
    pub device_code: Option<SecretHash>,
    /// What the owner types.
    pub user_code: Option<SecretHash>,
    /// What is asked, as JSON the authorization server wrote.
    pub document: String,
    /// Now.
    pub created_at: Instant,
    /// Until when the owner can decide.
    pub expires_at: Instant,
    /// Seconds between two polls.
    pub interval: u32,
}

/// What became of a request that was staged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staged {
    /// Kept.
    Kept,
    /// Too many wait already.
    TooMany,
}

/// One of the names a request is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestHandle {
    /// The public name.
    Approval(ApprovalId),
    /// The handle only the requester has.
    Pushed(SecretHash),
    /// The handle the consent page is reached by.
    Consent(SecretHash),
    /// What the device polls with.
    DeviceCode(SecretHash),
    /// What the owner types.
    UserCode(SecretHash),
    /// The authorization or exchange code given at approval.
    Code(SecretHash),
    /// What a waiting agent polls with.
    Polling(SecretHash),
}

/// A kept request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedRequest {
    /// Its public name.
    pub approval_id: ApprovalId,
    /// How the outcome reaches the client.
    pub flow: Flow,
    /// Who asks.
    pub client_id: ClientId,
    /// What is asked.
    pub document: String,
    /// When it was asked.
    pub created_at: Instant,
    /// Until when the owner can decide.
    pub expires_at: Instant,
    /// What the owner looked at last.
    pub review: Option<String>,
    /// The agent that waits for the outcome.
    pub agent_id: Option<String>,
    /// What became of it.
    pub state: RequestState,
}

/// What became of a request. One that waits past its time has expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// It waits.
    Pending,
    /// The owner said no.
    Denied,
    /// The owner said yes.
    Approved {
        /// Whose data.
        subject_id: SubjectId,
        /// To what; empty for an owner token.
        grant_ids: Vec<GrantId>,
        /// Until when the outcome can be fetched.
        redeem_until: Instant,
        /// When it was fetched.
        redeemed_at: Option<Instant>,
    },
}

/// A decision to say yes.
#[derive(Clone, Debug)]
pub struct Approval {
    /// To which request.
    pub approval_id: ApprovalId,
    /// Who says so.
    pub subject_id: SubjectId,
    /// The grants that follow from it; none for an owner token.
    pub grants: Vec<Grant>,
    /// The hosts to which the client's events may be sent from now on.
    pub callback_hosts: Vec<String>,
    /// The code that fetches the outcome, where one is handed over.
    pub code: Option<SecretHash>,
    /// Until when the outcome can be fetched.
    pub redeem_until: Instant,
    /// Now.
    pub at: Instant,
}

/// What became of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    /// It holds.
    Done,
    /// Someone decided before.
    Conflict,
    /// The request no longer waits.
    Expired,
    /// There is no such request.
    Unknown,
}

/// Whether an agent may wait for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentAttached {
    /// It may.
    Attached,
    /// Another one waits, or the request is not one to wait for.
    Refused,
}

/// A request someone polls for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polled {
    /// The request.
    pub request: StagedRequest,
    /// Whether the asker came back too soon.
    pub too_soon: bool,
    /// Seconds to wait before the next poll.
    pub interval: u32,
}

/// Tokens for an approved request.
#[derive(Clone, Debug)]
pub struct Redemption {
    /// Which request.
    pub approval_id: ApprovalId,
    /// The access token.
    pub token: NewToken,
    /// The refresh tokens beside it.
    pub family: Option<NewFamily>,
    /// Now.
    pub at: Instant,
}

/// What became of a redemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redeemed {
    /// The tokens are kept.
    Issued,
    /// The request was redeemed before.
    Already,
    /// The request was not approved, or its time is over.
    NotRedeemable,
    /// Every grant was revoked in between, or a single-use one gave its token.
    GrantEnded,
}

impl Flow {
    /// The word it is kept under.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Exchange => "exchange",
            Self::Device => "device",
            Self::OwnerDevice => "owner_device",
        }
    }

    /// From the word it is kept under.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Code, Self::Exchange, Self::Device, Self::OwnerDevice]
            .into_iter()
            .find(|flow| flow.as_str() == text)
    }
}
