//! One request on its way through an endpoint.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderName, ORIGIN};
use http::request::Parts;
use pdpp_access::{AuthError, OwnerPrincipal, Principal, Secret, TokenAuthority as _};
use pdpp_wire::{ClientId, Code};

use super::body::{Params, parse_form, parse_json};
use super::respond::Envelope;
use crate::{AuthorizationServer, Entry, Limit, OAuthFault};

/// The cookie that holds an owner's session.
pub const SESSION_COOKIE: &str = "pdpp_owner_session";
/// Longest token that is looked at, in bytes.
const MAX_TOKEN: usize = 4_096;

/// A request as the server hands it over.
#[derive(Debug)]
pub struct Asked {
    /// The path of the endpoint, as the table spells it.
    pub path: &'static str,
    /// The path's one parameter.
    pub id: Option<String>,
    /// Method, target and headers.
    pub parts: Parts,
    /// The body; none when it was larger than is taken.
    pub body: Option<Bytes>,
    /// Names the request in answers, log and ledger.
    pub request_id: String,
    /// Where it comes from.
    pub address: String,
}

pub(super) struct Call {
    pub(super) server: AuthorizationServer,
    asked: Asked,
    /// Who and what, as far as it is known, for the ledger.
    pub(super) entry: Entry,
    /// What it turned out to be, when the endpoint does several things.
    pub(super) action: Option<&'static str>,
    /// How a refusal is said, when the endpoint speaks to two kinds of clients.
    pub(super) envelope: Option<Envelope>,
}

impl Call {
    pub(super) fn new(server: AuthorizationServer, asked: Asked) -> Self {
        Self { server, asked, entry: Entry::default(), action: None, envelope: None }
    }

    pub(super) fn id(&self) -> &str {
        self.asked.id.as_deref().unwrap_or("")
    }

    pub(super) fn request_id(&self) -> &str {
        &self.asked.request_id
    }

    pub(super) fn limit(&self, limit: Limit) -> Result<(), OAuthFault> {
        self.server.limit(limit, &self.asked.address)
    }

    pub(super) fn query(&self) -> Result<Params, OAuthFault> {
        parse_form(self.asked.parts.uri.query().unwrap_or("").as_bytes())
    }

    /// The body as parameters, in the form or JSON it says it has.
    pub(super) fn params(&self) -> Result<Params, OAuthFault> {
        let media = self.media_type()?;
        match media.as_str() {
            "application/x-www-form-urlencoded" => parse_form(self.body()?),
            "application/json" => parse_json(self.body()?),
            _ => Err(OAuthFault::denied(
                Code::UnsupportedMediaType,
                "Send `application/x-www-form-urlencoded` or `application/json`.",
            )),
        }
    }

    /// The body as JSON.
    pub(super) fn json(&self) -> Result<Params, OAuthFault> {
        if self.is_json()? {
            return parse_json(self.body()?);
        }
        Err(OAuthFault::denied(Code::UnsupportedMediaType, "Send `application/json`."))
    }

    pub(super) fn is_json(&self) -> Result<bool, OAuthFault> {
        Ok(self.media_type()? == "application/json")
    }

    fn media_type(&self) -> Result<String, OAuthFault> {
        let given = self.one_header(&CONTENT_TYPE)?.unwrap_or("");
        Ok(given.split(';').next().unwrap_or("").trim().to_ascii_lowercase())
    }

    fn body(&self) -> Result<&[u8], OAuthFault> {
        let bound = || {
            let message = format!("The body is larger than {} bytes.", super::MAX_BODY);
            OAuthFault::denied(Code::ResourceLimit, message)
        };
        self.asked.body.as_deref().ok_or_else(bound)
    }

    /// A header that stands at most once.
    pub(super) fn one_header(&self, name: &HeaderName) -> Result<Option<&str>, OAuthFault> {
        let mut given = self.asked.parts.headers.get_all(name).iter();
        match (given.next(), given.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => match value.to_str() {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(OAuthFault::invalid(format!("The header `{name}` cannot be read."))),
            },
            _ => Err(OAuthFault::invalid(format!("The header `{name}` stands twice."))),
        }
    }

    pub(super) fn bearer(&self) -> Result<Option<Secret>, OAuthFault> {
        let Some(header) = self.one_header(&AUTHORIZATION)? else {
            return Ok(None);
        };
        let sane = |token: &&str| {
            !token.is_empty() && token.len() <= MAX_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let token = header.strip_prefix("Bearer ").filter(sane);
        token.map(|token| Some(Secret::presented(token))).ok_or_else(|| {
            OAuthFault::denied(Code::AuthenticationError, "Send `Authorization: Bearer <token>`.")
        })
    }

    /// The owner, by an owner token or by a session cookie of our own pages.
    pub(super) async fn owner(&mut self) -> Result<OwnerPrincipal, OAuthFault> {
        self.limit(Limit::TOKEN)?;
        let owner = match self.bearer()? {
            Some(token) => match self.server.authority().introspect(&token).await {
                Ok(Principal::Owner(owner)) => owner,
                Ok(Principal::Client(_)) => {
                    let message = "Only the owner may decide this; this is a client token.";
                    return Err(OAuthFault::denied(Code::PermissionError, message));
                }
                Err(AuthError::Denied(denial) | AuthError::TurnedAway(_, denial)) => {
                    return Err(OAuthFault::Denied(denial));
                }
                Err(AuthError::Unavailable(cause)) => return Err(OAuthFault::unavailable(cause)),
            },
            None => self.session_owner().await?,
        };
        self.entry.subject_id = Some(owner.subject_id.clone());
        self.entry.token_id.clone_from(&owner.token_id);
        Ok(owner)
    }

    async fn session_owner(&self) -> Result<OwnerPrincipal, OAuthFault> {
        let missing = || OAuthFault::denied(Code::OwnerSessionRequired, "Sign in as the owner first.");
        let cookies = self.one_header(&COOKIE)?.ok_or_else(missing)?;
        let pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        let mut sessions = pairs.filter(|(name, _)| *name == SESSION_COOKIE);
        let (Some((_, secret)), None) = (sessions.next(), sessions.next()) else {
            return Err(missing());
        };
        // A cookie comes along wherever a page of another origin sends a browser; a decision must come from our own.
        if let Some(origin) = self.one_header(&ORIGIN)?
            && !is_own(self.server.issuer(), origin)
        {
            return Err(OAuthFault::denied(Code::PermissionError, "The request comes from another origin."));
        }
        self.server.session_owner(&Secret::presented(secret)).await
    }

    pub(super) fn by_client(&mut self, client_id: &str) {
        self.entry.client_id = ClientId::parse(client_id).ok();
    }
}

fn is_own(issuer: &str, origin: &str) -> bool {
    issuer.split('/').take(3).eq(origin.split('/').take(3)) && origin.split('/').count() == 3
}
