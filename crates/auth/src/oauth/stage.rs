//! Takes a client's request and lets it wait for the owner: pushed in either form, or by way of the browser.
//!
//! Once the client and its redirect URI are verified, what is wrong with the rest is told to the client by redirect,
//! because it is the client that waits for an answer.

use pdpp_access::{Catalogue, Secret};
use pdpp_store::{Flow, NewRequest, RequestHandle, RequestState, Staged};
use pdpp_wire::{ApprovalId, ClientId, Code, OAuthCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::ask::{Ask, Redirect};
use super::callbacks::parse_hosts;
use super::detail::{Detail, StreamAsk, parse_details};
use super::redirect_uri::is_registered;
use super::{AuthorizationServer, DATA_ACCESS, KnownClient, OAuthFault, PENDING, PUSHED, handles, pkce};
use crate::DEFAULT_PURPOSE;

/// How long a request waits for the owner, in seconds.
pub(super) const REQUEST_SECONDS: i64 = 300;
/// Most requests that wait at the same time.
const MOST_PENDING: u32 = 1_000;
/// Longest `state`, in bytes.
const MAX_STATE: usize = 2_048;

/// What the authorization endpoint, or a pushed form, was given.
#[derive(Clone, Debug, Default)]
pub struct AuthorizeRequest {
    /// `client_id`.
    pub client_id: Option<String>,
    /// `redirect_uri`.
    pub redirect_uri: Option<String>,
    /// `response_type`.
    pub response_type: Option<String>,
    /// `code_challenge`.
    pub code_challenge: Option<String>,
    /// `code_challenge_method`.
    pub code_challenge_method: Option<String>,
    /// `state`.
    pub state: Option<String>,
    /// `resource`, each.
    pub resources: Vec<String>,
    /// `authorization_details`, parsed.
    pub authorization_details: Option<Value>,
    /// `connector_id`: every stream of that connector.
    pub connector_id: Option<String>,
    /// `request_uri`.
    pub request_uri: Option<String>,
    /// `event_callback_hosts`.
    pub event_callback_hosts: Option<String>,
}

/// A request that was pushed.
#[derive(Clone, Debug)]
pub struct Pushed {
    /// What only the requester has.
    pub request_uri: String,
    /// Where the owner's browser goes, when it does not go by way of the authorization endpoint.
    pub approval_url: Option<String>,
    /// Its public name.
    pub approval_id: ApprovalId,
    /// For how long, in seconds.
    pub expires_in: i64,
}

/// Where the authorization endpoint sends the browser.
#[derive(Debug)]
pub enum AuthorizeOutcome {
    /// To the consent page.
    Consent {
        /// The page's address.
        location: String,
        /// Who asks.
        client_id: ClientId,
    },
    /// Back to the client, with an error.
    BackToClient {
        /// The client's address, with the error.
        location: String,
        /// Who asked.
        client_id: ClientId,
        /// What was wrong.
        fault: OAuthFault,
    },
}

impl AuthorizationServer {
    /// Serves the authorization endpoint.
    pub async fn authorize(&self, request: AuthorizeRequest) -> Result<AuthorizeOutcome, OAuthFault> {
        if let Some(uri) = &request.request_uri {
            return self.open_pushed(uri, request.client_id.as_deref()).await;
        }
        let client = self.starting_client(required(request.client_id.as_deref(), "client_id")?).await?;
        let uri = redirect_of(&client, request.redirect_uri.as_deref())?;
        let (client_id, state) = (client.client_id.clone(), request.state.clone());
        match self.stage_code(client, uri.clone(), request).await {
            Ok((_, consent)) => {
                Ok(AuthorizeOutcome::Consent { location: self.consent_url(&consent), client_id })
            }
            Err(fault @ OAuthFault::Store(_)) => Err(fault),
            Err(fault) => {
                let location = self.error_location(&uri, state.as_deref(), &fault);
                Ok(AuthorizeOutcome::BackToClient { location, client_id, fault })
            }
        }
    }

    /// Takes a pushed form (RFC 9126), whose handle goes to the authorization endpoint.
    pub async fn push_form(&self, request: AuthorizeRequest) -> Result<Pushed, OAuthFault> {
        if request.request_uri.is_some() {
            return Err(OAuthFault::invalid("`request_uri` cannot be pushed."));
        }
        let client = self.starting_client(required(request.client_id.as_deref(), "client_id")?).await?;
        let uri = redirect_of(&client, request.redirect_uri.as_deref())?;
        let (approval_id, handle) = self.stage_code_under(client, uri, request, PushedForm::Yes).await?;
        let request_uri = format!("{PUSHED}{}", handle.reveal());
        Ok(Pushed { request_uri, approval_url: None, approval_id, expires_in: REQUEST_SECONDS })
    }

    /// Takes pushed JSON, which ends in an exchange code or in a waiting agent.
    pub async fn push_json(
        &self,
        client_id: &str,
        details: &Value,
        claimed_name: Option<String>,
        (resources, event_callback_hosts): (&[String], Option<&str>),
    ) -> Result<Pushed, OAuthFault> {
        let client = self.starting_client(client_id).await?;
        let details = parse_details(details)?;
        self.check_details(&details).await?;
        let resource = self.bound_resource(resources)?;
        let event_callback_hosts = parse_hosts(event_callback_hosts)?;
        let (requester, consent) = (handles::secret(self.entropy(), ""), handles::secret(self.entropy(), ""));
        let ask = Ask { details, resource, claimed_name, event_callback_hosts, ..Ask::default() };
        let mut request = self.new_request(Flow::Exchange, &client.client_id, &ask);
        request.pushed = Some(requester.hash());
        request.consent = Some(consent.hash());
        let approval_id = request.approval_id.clone();
        self.stage(request).await?;
        Ok(Pushed {
            request_uri: format!("{PENDING}{}", requester.reveal()),
            approval_url: Some(self.consent_url(&consent)),
            approval_id,
            expires_in: REQUEST_SECONDS,
        })
    }

    async fn stage_code(
        &self,
        client: KnownClient,
        uri: String,
        request: AuthorizeRequest,
    ) -> Result<(ApprovalId, Secret), OAuthFault> {
        self.stage_code_under(client, uri, request, PushedForm::No).await
    }

    async fn stage_code_under(
        &self,
        client: KnownClient,
        uri: String,
        request: AuthorizeRequest,
        pushed: PushedForm,
    ) -> Result<(ApprovalId, Secret), OAuthFault> {
        let ask = self.read_code_request(uri, request).await?;
        let handle = handles::secret(self.entropy(), "");
        let mut staged = self.new_request(Flow::Code, &client.client_id, &ask);
        match pushed {
            PushedForm::Yes => staged.pushed = Some(handle.hash()),
            PushedForm::No => staged.consent = Some(handle.hash()),
        }
        let approval_id = staged.approval_id.clone();
        self.stage(staged).await?;
        Ok((approval_id, handle))
    }

    async fn read_code_request(&self, uri: String, request: AuthorizeRequest) -> Result<Ask, OAuthFault> {
        if required(request.response_type.as_deref(), "response_type")? != "code" {
            let message = "Only `response_type=code` is given.";
            return Err(OAuthFault::refused(OAuthCode::UnsupportedResponseType, message));
        }
        let challenge = required(request.code_challenge.as_deref(), "code_challenge")?;
        if request.code_challenge_method.as_deref() != Some("S256") || !pkce::is_challenge(challenge) {
            return Err(OAuthFault::invalid("PKCE needs `code_challenge_method=S256` and its challenge."));
        }
        if request.state.as_ref().is_some_and(|state| state.len() > MAX_STATE) {
            return Err(OAuthFault::invalid(format!("`state` is longer than {MAX_STATE} bytes.")));
        }
        let resource = self.bound_resource(&request.resources)?;
        let details = match (&request.authorization_details, &request.connector_id) {
            (Some(_), Some(_)) => {
                return Err(OAuthFault::invalid("Send `authorization_details` or `connector_id`, not both."));
            }
            (Some(value), None) => parse_details(value)?,
            (None, _) => Vec::new(),
        };
        self.check_details(&details).await?;
        self.check_connector(request.connector_id.as_deref()).await?;
        let event_callback_hosts = parse_hosts(request.event_callback_hosts.as_deref())?;
        let redirect = Redirect { uri, state: request.state, challenge: challenge.to_owned() };
        let connector_id = request.connector_id;
        Ok(Ask {
            details,
            connector_id,
            resource,
            redirect: Some(redirect),
            event_callback_hosts,
            ..Ask::default()
        })
    }

    pub(super) fn new_request(&self, flow: Flow, client_id: &ClientId, ask: &Ask) -> NewRequest {
        let now = self.now();
        NewRequest {
            approval_id: handles::approval_id(self.entropy()),
            flow,
            client_id: client_id.clone(),
            pushed: None,
            consent: None,
            device_code: None,
            user_code: None,
            document: ask.write(),
            created_at: now,
            expires_at: now.plus_seconds(REQUEST_SECONDS),
            interval: 2,
        }
    }

    pub(super) async fn stage(&self, request: NewRequest) -> Result<(), OAuthFault> {
        match self.store().stage_request(&request, MOST_PENDING).await? {
            Staged::Kept => Ok(()),
            Staged::TooMany => Err(OAuthFault::refused(
                OAuthCode::TemporarilyUnavailable,
                "Too many requests wait for the owner; try again in some minutes.",
            )),
        }
    }

    /// A pushed request that the browser now brings. It gets a new handle for the page, so that the page's address
    /// says nothing about the pushed one.
    async fn open_pushed(&self, uri: &str, client_id: Option<&str>) -> Result<AuthorizeOutcome, OAuthFault> {
        let gone = || OAuthFault::invalid("The `request_uri` is unknown, used or has expired.");
        let handle = uri.strip_prefix(PUSHED).ok_or_else(gone)?;
        let found =
            self.store().find_request(&RequestHandle::Pushed(Secret::presented(handle).hash())).await?;
        let request = found.filter(|request| request.flow == Flow::Code).ok_or_else(gone)?;
        if required(client_id, "client_id")? != request.client_id.as_str()
            || request.state != RequestState::Pending
        {
            return Err(gone());
        }
        let consent = handles::secret(self.entropy(), "");
        if !self.store().open_request(&request.approval_id, &consent.hash(), self.now()).await? {
            return Err(gone());
        }
        let location = self.consent_url(&consent);
        Ok(AuthorizeOutcome::Consent { location, client_id: request.client_id })
    }

    pub(super) fn consent_url(&self, handle: &Secret) -> String {
        format!("{}/consent?request_uri={}", self.issuer(), encode(&format!("{PENDING}{}", handle.reveal())))
    }

    /// The client's address with an error (RFC 6749 with the issuer of RFC 9207).
    pub(super) fn error_location(&self, uri: &str, state: Option<&str>, fault: &OAuthFault) -> String {
        let message = fault.message();
        let mut pairs = vec![("error", fault.oauth_code().as_str()), ("error_description", message.as_str())];
        pairs.extend(state.map(|state| ("state", state)));
        pairs.push(("iss", self.issuer()));
        with_query(uri, &pairs)
    }

    /// Whether what is asked could be granted at all: by the only owner, or, while it is not known by whom, as far as
    /// it can be told from the request alone.
    pub(super) async fn check_details(&self, details: &[Detail]) -> Result<(), OAuthFault> {
        let Some(first) = details.first() else { return Ok(()) };
        if let Some(owner) = self.sole_owner().await? {
            self.propose(&*self.store().catalogue(&owner).await?, details)?;
        }
        if details.iter().any(|detail| detail.access_mode != first.access_mode) {
            return Err(super::detail::refused("Single-use and continuous access cannot share a token."));
        }
        Ok(())
    }

    async fn check_connector(&self, connector: Option<&str>) -> Result<(), OAuthFault> {
        if let Some(connector) = connector
            && let Some(owner) = self.sole_owner().await?
        {
            whole_source(&*self.store().catalogue(&owner).await?, connector)?;
        }
        Ok(())
    }
}

/// Every stream of one connector, until it ends.
pub(super) fn whole_source(catalogue: &Catalogue, connector: &str) -> Result<Detail, OAuthFault> {
    let source = catalogue.find_source(connector);
    let source = source.ok_or_else(|| super::detail::refused("There is no such connector."))?;
    Ok(Detail {
        detail_type: DATA_ACCESS.to_owned(),
        source: super::detail::DetailSource { id: source.manifest.source().id.clone(), kind: None },
        purpose_code: DEFAULT_PURPOSE.to_owned(),
        purpose_description: None,
        access_mode: pdpp_wire::AccessMode::Continuous,
        retention: None,
        streams: vec![StreamAsk { name: "*".to_owned(), ..StreamAsk::default() }],
        selection_preset: None,
        client_claims: None,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PushedForm {
    Yes,
    No,
}

fn redirect_of(client: &KnownClient, asked: Option<&str>) -> Result<String, OAuthFault> {
    let registered = &client.metadata.redirect_uris;
    match (asked, registered.as_slice()) {
        (None, [only]) => Ok(only.clone()),
        (Some(asked), _) if is_registered(registered, asked) => Ok(asked.to_owned()),
        _ => Err(OAuthFault::refused(
            OAuthCode::InvalidRequest,
            "The `redirect_uri` is missing or is not one the client registered.",
        )),
    }
}

pub(crate) fn required<'a>(value: Option<&'a str>, name: &str) -> Result<&'a str, OAuthFault> {
    value.filter(|text| !text.is_empty()).ok_or_else(|| OAuthFault::invalid(format!("`{name}` is missing.")))
}

const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, UNRESERVED).to_string()
}

/// An address with further query members.
pub(super) fn with_query(uri: &str, pairs: &[(&str, &str)]) -> String {
    let mut text = uri.to_owned();
    for (name, value) in pairs {
        text.push(if text.contains('?') { '&' } else { '?' });
        text.push_str(name);
        text.push('=');
        text.push_str(&encode(value));
    }
    text
}

/// Nothing waits under this handle.
pub(super) fn nothing_waits() -> OAuthFault {
    OAuthFault::denied(Code::NotFound, "No request waits under this handle; it may have expired.")
}
