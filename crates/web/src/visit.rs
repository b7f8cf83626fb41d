//! One request on its way through a page: who is there, and whether what was sent came from a page of ours.

use bytes::Bytes;
use http::header::{COOKIE, HeaderName, HeaderValue, ORIGIN, SET_COOKIE};
use http::{Method, Response};
use pdpp_access::{Secret, random_hex};
use pdpp_auth::{Asked, Entry, OAuthFault, SESSION_COOKIE, SignedIn};
use pdpp_store::OwnerSession;
use pdpp_wire::Code;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::cookies::{self, FORM_COOKIE};
use crate::form::Form;
use crate::frame::Frame;
use crate::pages::{MAX_FORM, Pages};
use crate::respond::redirect;
use crate::stop::Stop;
use crate::{browser, return_to};

/// How long cookies are kept, in seconds: as long as a session.
const COOKIE_SECONDS: i64 = 7 * 86_400;
const NONCE_BYTES: usize = 16;

pub(crate) struct Visit {
    pub(crate) pages: Pages,
    asked: Asked,
    /// The random half of every form's token, from the cookie or new.
    nonce: String,
    /// The session the browser brought, once it proved to be alive, or the one it gets now.
    session: Option<Secret>,
    set: Vec<String>,
    /// Who and what, as far as it is known, for the ledger.
    pub(crate) entry: Entry,
}

impl Visit {
    pub(crate) fn new(pages: Pages, asked: Asked) -> Self {
        let sane =
            |nonce: &&str| nonce.len() == 2 * NONCE_BYTES && nonce.bytes().all(|b| b.is_ascii_hexdigit());
        let kept = cookies::find(&asked.parts.headers, FORM_COOKIE).filter(sane).map(str::to_owned);
        let mut visit = Self {
            nonce: String::new(),
            pages,
            asked,
            session: None,
            set: Vec::new(),
            entry: Entry::default(),
        };
        match kept {
            Some(nonce) => visit.nonce = nonce,
            None => visit.renew_nonce(),
        }
        visit
    }

    pub(crate) fn id(&self) -> &str {
        self.asked.id.as_deref().unwrap_or("")
    }

    pub(crate) fn request_id(&self) -> &str {
        &self.asked.request_id
    }

    pub(crate) fn address(&self) -> &str {
        &self.asked.address
    }

    pub(crate) fn wants_a_page(&self) -> bool {
        browser::wants_a_page(&self.asked.parts)
    }

    pub(crate) fn is_post(&self) -> bool {
        self.asked.parts.method == Method::POST
    }

    pub(crate) fn is_json(&self) -> bool {
        browser::is_json(&self.asked.parts)
    }

    pub(crate) fn body(&self) -> Result<&[u8], OAuthFault> {
        let bound =
            || OAuthFault::denied(Code::ResourceLimit, format!("The body is larger than {MAX_FORM} bytes."));
        self.asked.body.as_deref().ok_or_else(bound)
    }

    /// What the authorization server's endpoint of the same path answers.
    pub(crate) async fn ask_the_endpoint(&self) -> Response<Bytes> {
        let Asked { path, id, parts, body, request_id, address } = &self.asked;
        let asked = Asked {
            path,
            id: id.clone(),
            parts: parts.clone(),
            body: body.clone(),
            request_id: request_id.clone(),
            address: address.clone(),
        };
        pdpp_auth::answer(&self.pages.server, asked).await
    }

    /// What surrounds the page.
    pub(crate) fn frame(&self, title: &str) -> Frame {
        Frame {
            title: title.to_owned(),
            server: crate::stranger::name(&self.pages.name),
            token: self.pages.server.form_token(&self.nonce, self.session.as_ref()).reveal().to_owned(),
            signed_in: self.session.is_some(),
            style: crate::assets::style_path(),
        }
    }

    pub(crate) fn query(&self) -> Result<Form, OAuthFault> {
        Form::parse(self.asked.parts.uri.query().unwrap_or("").as_bytes())
    }

    /// The live session this browser brought, if it did.
    pub(crate) async fn session(&mut self) -> Result<Option<OwnerSession>, OAuthFault> {
        let Some(secret) = cookies::find(&self.asked.parts.headers, SESSION_COOKIE).map(Secret::presented)
        else {
            return Ok(None);
        };
        let session = self.pages.server.session(&secret).await?;
        if let Some(session) = &session {
            self.entry.subject_id = Some(session.subject_id.clone());
            self.session = Some(secret);
        }
        Ok(session)
    }

    /// The owner's session; a browser without one is shown the way in, anyone else is refused.
    pub(crate) async fn owner(&mut self, back: &str) -> Result<OwnerSession, Stop> {
        if let Some(session) = self.session().await? {
            return Ok(session);
        }
        if !self.wants_a_page() {
            let missing = OAuthFault::denied(Code::OwnerSessionRequired, "Sign in as the owner first.");
            return Err(missing.into());
        }
        let back = utf8_percent_encode(return_to::checked(Some(back)), NON_ALPHANUMERIC).to_string();
        Err(Stop::Answer(redirect(&format!("/owner/login?return_to={back}"))))
    }

    /// The owner's session, and this page to come back to.
    pub(crate) async fn owner_of_page(&mut self) -> Result<OwnerSession, Stop> {
        let here = self.asked.parts.uri.path_and_query().map_or("/owner", |path| path.as_str()).to_owned();
        self.owner(&here).await
    }

    /// The owner's session and the form that came from a page of theirs.
    pub(crate) async fn owner_form(&mut self) -> Result<(OwnerSession, Form), Stop> {
        // Read before it is known who sent it, only to know where to come back to.
        let unchecked = self.read_form().unwrap_or_default();
        let approval = unchecked.one("approval_id").ok().flatten().unwrap_or("");
        let plain = !approval.is_empty() && approval.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let back = if plain { format!("/consent?approval_id={approval}") } else { "/owner".to_owned() };
        let session = self.owner(&back).await?;
        Ok((session, self.form()?))
    }

    /// The form, if it came from a page that was shown to this browser.
    pub(crate) fn form(&self) -> Result<Form, OAuthFault> {
        self.refuse_other_origins()?;
        let missing = || {
            let message =
                "The form does not come from a page that was shown to this browser. Open the page again.";
            OAuthFault::denied(Code::CsrfTokenInvalid, message)
        };
        let form = match self.read_form() {
            Ok(form) => form,
            Err(fault) if browser::is_form(&self.asked.parts) => return Err(fault),
            Err(_) => return Err(missing()),
        };
        let given = form.one("_csrf").ok().flatten().ok_or_else(missing)?;
        // A browser that brought no cookie was shown no page.
        let kept = cookies::find(&self.asked.parts.headers, FORM_COOKIE) == Some(self.nonce.as_str());
        if !kept || !self.pages.server.is_form_token(given, &self.nonce, self.session.as_ref()) {
            return Err(missing());
        }
        Ok(form)
    }

    fn read_form(&self) -> Result<Form, OAuthFault> {
        if !browser::is_form(&self.asked.parts) {
            let message = "Send `application/x-www-form-urlencoded`.";
            return Err(OAuthFault::denied(Code::UnsupportedMediaType, message));
        }
        Form::parse(self.body()?)
    }

    /// Browsers say where a request comes from. A page without a referrer has the origin `null`, which proves
    /// nothing either way.
    pub(crate) fn refuse_other_origins(&self) -> Result<(), OAuthFault> {
        let foreign = || OAuthFault::denied(Code::PermissionError, "The request comes from another origin.");
        let headers = &self.asked.parts.headers;
        let texts =
            |name: HeaderName| headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
        let own = |origin: &str| origin == "null" || self.is_own_origin(origin);
        if !texts(ORIGIN).all(own) {
            return Err(foreign());
        }
        let site = HeaderName::from_static("sec-fetch-site");
        if !texts(site).all(|site| matches!(site, "same-origin" | "none")) {
            return Err(foreign());
        }
        Ok(())
    }

    /// The public origin, or the very address the browser called: a server on this machine has several names.
    fn is_own_origin(&self, origin: &str) -> bool {
        let issuer = self.pages.server.issuer();
        let public = issuer.split('/').take(3).collect::<Vec<_>>().join("/");
        let called = self.asked.parts.headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
        let scheme = issuer.split(':').next().unwrap_or("http");
        origin == public || called.is_some_and(|host| origin == format!("{scheme}://{host}"))
    }

    /// Whether the browser called this very origin.
    pub(crate) fn is_at(&self, origin: &str) -> bool {
        let called = self.asked.parts.headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
        called.is_some_and(|host| origin.split("://").nth(1) == Some(host))
    }

    /// Gives the browser a session.
    pub(crate) fn sign_in(&mut self, signed_in: &SignedIn) {
        self.entry.subject_id = Some(signed_in.session.subject_id.clone());
        self.set_cookie(SESSION_COOKIE, signed_in.secret.reveal(), COOKIE_SECONDS);
        self.session = Some(signed_in.secret.clone());
        self.renew_nonce();
    }

    /// Takes the session away.
    pub(crate) fn sign_out(&mut self) {
        self.set_cookie(SESSION_COOKIE, "", 0);
        self.session = None;
        self.renew_nonce();
    }

    fn renew_nonce(&mut self) {
        self.nonce = random_hex(self.pages.server.entropy(), NONCE_BYTES);
        let nonce = self.nonce.clone();
        self.set_cookie(FORM_COOKIE, &nonce, COOKIE_SECONDS);
    }

    fn set_cookie(&mut self, name: &str, value: &str, seconds: i64) {
        let secure = self.pages.server.issuer().starts_with("https://");
        self.set.retain(|cookie| !cookie.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')));
        self.set.push(cookies::set(name, value, seconds, secure));
    }

    /// Tells the browser its cookies. Files and refusals to programs set none.
    pub(crate) fn set_cookies(&self, response: &mut Response<Bytes>) {
        let file = response.headers().contains_key(http::header::CACHE_CONTROL);
        let program = self.asked.parts.method != Method::POST && !self.wants_a_page();
        if file || program && !self.asked.parts.headers.contains_key(COOKIE) {
            return;
        }
        for cookie in &self.set {
            if let Ok(value) = HeaderValue::try_from(cookie.as_str()) {
                response.headers_mut().append(SET_COOKIE, value);
            }
        }
    }
}
