//! What a client says about itself (RFC 7591), read strictly where it matters and leniently elsewhere.
//!
//! Members nobody knows are kept and ignored, as the RFC asks. Everything a client says is a claim: it is shown to
//! the owner as one, and nothing is filled in from the server's own pages.

use pdpp_wire::OAuthCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::digest::digest;
use super::{OAuthFault, RedirectUri};

/// Longest name or address, in characters.
const MAX_TEXT: usize = 512;
const MAX_REDIRECTS: usize = 32;
/// Most members of the metadata, known or not.
const MAX_MEMBERS: usize = 64;

pub(crate) const CODE: &str = "authorization_code";
pub(crate) const REFRESH: &str = "refresh_token";
pub(crate) const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// What a client says about itself, checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientMetadata {
    /// The name it claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    /// Its home page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_uri: Option<String>,
    /// Its logo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo_uri: Option<String>,
    /// Its privacy policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_uri: Option<String>,
    /// Its terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tos_uri: Option<String>,
    /// Where answers may be sent.
    #[serde(default)]
    pub redirect_uris: Vec<String>,
    /// What it wants to do at the token endpoint.
    #[serde(default)]
    pub grant_types: Vec<String>,
    /// `web` or `native`.
    #[serde(default)]
    pub application_type: String,
    /// What nobody here knows, kept and ignored.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub other: Map<String, Value>,
}

impl ClientMetadata {
    /// Reads what a client registers.
    pub(crate) fn parse(members: &Map<String, Value>) -> Result<Self, OAuthFault> {
        if members.len() > MAX_MEMBERS {
            return Err(refused(format!("The metadata has more than {MAX_MEMBERS} members.")));
        }
        if members.contains_key("client_secret") {
            return Err(refused("Clients here are public; `client_secret` is not taken."));
        }
        only(members, "token_endpoint_auth_method", "none")?;
        let responses = texts(members, "response_types")?;
        if responses.iter().flatten().any(|kind| kind != "code") {
            return Err(refused("`response_types` can hold `code` only."));
        }
        let redirect_uris = texts(members, "redirect_uris")?.unwrap_or_default();
        let (web, native) = check_redirects(&redirect_uris)?;
        let grant_types = grant_types(members, &redirect_uris)?;
        let application_type = match text(members, "application_type")?.as_deref() {
            None if native && !web => "native",
            None | Some("web") if !native => "web",
            // A loopback address or an application's own scheme makes the client a native one.
            None | Some("web" | "native") => "native",
            Some(_) => return Err(refused("`application_type` is `web` or `native`.")),
        };
        let known = [
            "client_name",
            "client_uri",
            "logo_uri",
            "policy_uri",
            "tos_uri",
            "redirect_uris",
            "grant_types",
            "response_types",
            "token_endpoint_auth_method",
            "application_type",
            "issuer_subject_id",
        ];
        let other = members.iter().filter(|(name, _)| !known.contains(&name.as_str()));
        Ok(Self {
            client_name: text(members, "client_name")?,
            client_uri: address(members, "client_uri")?,
            logo_uri: address(members, "logo_uri")?,
            policy_uri: address(members, "policy_uri")?,
            tos_uri: address(members, "tos_uri")?,
            redirect_uris,
            grant_types,
            application_type: application_type.to_owned(),
            other: other.map(|(name, value)| (name.clone(), value.clone())).collect(),
        })
    }

    /// A hash of the members whose change must end the client's access.
    pub(crate) fn security_hash(&self) -> String {
        let member = |name: &str| self.other.get(name).cloned().unwrap_or(Value::Null);
        let mut redirects = self.redirect_uris.clone();
        redirects.sort();
        digest(&json!({
            "redirect_uris": redirects, "token_endpoint_auth_method": "none",
            "jwks": member("jwks"), "jwks_uri": member("jwks_uri"),
        }))
    }

    /// Whether every redirect leads to the machine the browser runs on, so that no web address stands for it.
    pub fn is_local_only(&self) -> bool {
        self.redirect_uris.iter().all(|uri| RedirectUri::parse(uri).is_ok_and(|uri| uri.is_native()))
    }
}

fn check_redirects(uris: &[String]) -> Result<(bool, bool), OAuthFault> {
    if uris.len() > MAX_REDIRECTS {
        return Err(refused(format!("There are more than {MAX_REDIRECTS} redirect URIs.")));
    }
    let (mut web, mut native) = (false, false);
    for (index, uri) in uris.iter().enumerate() {
        let parsed = RedirectUri::parse(uri).map_err(|problem| {
            OAuthFault::refused(OAuthCode::InvalidRedirectUri, format!("`redirect_uris[{index}]` {problem}."))
        })?;
        if parsed.is_native() { native = true } else { web = true }
    }
    Ok((web, native))
}

fn grant_types(members: &Map<String, Value>, redirects: &[String]) -> Result<Vec<String>, OAuthFault> {
    let types = match texts(members, "grant_types")? {
        Some(types) => types,
        None if redirects.is_empty() => vec![DEVICE.to_owned(), REFRESH.to_owned()],
        None => vec![CODE.to_owned(), REFRESH.to_owned()],
    };
    if let Some(unknown) = types.iter().find(|kind| ![CODE, REFRESH, DEVICE].contains(&kind.as_str())) {
        return Err(refused(format!(
            "The grant type '{}' is not given here.",
            super::server::shown(unknown)
        )));
    }
    let has = |kind: &str| types.iter().any(|own| own == kind);
    if has(CODE) && redirects.is_empty() {
        return Err(OAuthFault::refused(
            OAuthCode::InvalidRedirectUri,
            "`redirect_uris` must name where codes are sent.",
        ));
    }
    if has(REFRESH) && !has(CODE) && !has(DEVICE) {
        return Err(refused("`refresh_token` needs `authorization_code` or the device grant beside it."));
    }
    Ok(types)
}

fn only(members: &Map<String, Value>, name: &str, allowed: &str) -> Result<(), OAuthFault> {
    match members.get(name) {
        None => Ok(()),
        Some(Value::String(text)) if text == allowed => Ok(()),
        Some(_) => Err(refused(format!("`{name}` can be `{allowed}` only."))),
    }
}

fn text(members: &Map<String, Value>, name: &str) -> Result<Option<String>, OAuthFault> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text))
            if !text.trim().is_empty() && text.chars().count() <= MAX_TEXT && !text.contains('\0') =>
        {
            Ok(Some(text.clone()))
        }
        Some(_) => Err(refused(format!("`{name}` is not a text of 1 to {MAX_TEXT} characters."))),
    }
}

fn address(members: &Map<String, Value>, name: &str) -> Result<Option<String>, OAuthFault> {
    let found = text(members, name)?;
    let web = |uri: &String| {
        (uri.starts_with("https://") || uri.starts_with("http://"))
            && uri.bytes().all(|byte| byte.is_ascii_graphic())
    };
    match found {
        Some(uri) if !web(&uri) => Err(refused(format!("`{name}` is not a web address."))),
        found => Ok(found),
    }
}

fn texts(members: &Map<String, Value>, name: &str) -> Result<Option<Vec<String>>, OAuthFault> {
    let wrong = || refused(format!("`{name}` is not a list of different texts."));
    let Some(value) = members.get(name) else {
        return Ok(None);
    };
    let items = value.as_array().ok_or_else(wrong)?;
    let mut list: Vec<String> = Vec::with_capacity(items.len().min(MAX_MEMBERS));
    for item in items.iter().take(MAX_MEMBERS + 1) {
        let text = item.as_str().ok_or_else(wrong)?;
        if list.iter().any(|known| known == text) || list.len() == MAX_MEMBERS {
            return Err(wrong());
        }
        list.push(text.to_owned());
    }
    Ok(Some(list))
}

fn refused(message: impl Into<String>) -> OAuthFault {
    OAuthFault::refused(OAuthCode::InvalidClientMetadata, message)
}
