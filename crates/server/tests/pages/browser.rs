//! A browser: keeps cookies, asks for pages, fills in forms, follows nothing by itself.

use std::collections::BTreeMap;
use std::sync::Mutex;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use pdpp_access::Secret;
use pdpp_server::owner_subject;
use tower::ServiceExt as _;

use crate::desk::{Desk, encoded};
use crate::html::{tags, text};

pub(crate) const PASSPHRASE: &str = "correct horse battery";

pub(crate) struct Browser<'d> {
    pub(crate) desk: &'d Desk,
    cookies: Mutex<BTreeMap<String, String>>,
}

/// A page, or where the browser is sent.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) html: String,
}

/// A form as it would be sent.
#[derive(Clone, Debug)]
pub(crate) struct Filled {
    pub(crate) action: String,
    pub(crate) pairs: Vec<(String, String)>,
}

impl Desk {
    /// A desk whose owner has a passphrase.
    pub(crate) async fn owned() -> Self {
        let desk = Self::new().await;
        let passphrase = Secret::presented(PASSPHRASE);
        desk.personal.authority().set_passphrase(&owner_subject(), &passphrase).await.unwrap();
        desk
    }

    pub(crate) async fn grant_count(&self) -> usize {
        self.personal.store().list_grants(&owner_subject()).await.unwrap().len()
    }
}

impl<'d> Browser<'d> {
    pub(crate) fn new(desk: &'d Desk) -> Self {
        Self { desk, cookies: Mutex::default() }
    }

    /// A browser that has signed in.
    pub(crate) async fn signed_in(desk: &'d Desk) -> Self {
        let browser = Self::new(desk);
        let form = browser.get("/owner/login").await.expect(200).form("login-form");
        browser.send(&form.set("password", PASSPHRASE)).await.expect(303);
        browser
    }

    pub(crate) async fn get(&self, path: &str) -> Shown {
        self.call(self.request("GET", path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn send(&self, form: &Filled) -> Shown {
        self.send_with(form, &[]).await
    }

    pub(crate) async fn send_with(&self, form: &Filled, headers: &[(&str, &str)]) -> Shown {
        let pairs: Vec<_> = form.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut request = self.request("POST", &form.action);
        for (name, value) in
            headers.iter().chain(&[("content-type", "application/x-www-form-urlencoded"), ("origin", "null")])
        {
            if *name != "origin" || !request.headers_ref().unwrap().contains_key("origin") {
                request = request.header(*name, *value);
            }
        }
        self.call(request.body(Body::from(encoded(&pairs))).unwrap()).await
    }

    fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        let cookies = self.cookies.lock().unwrap();
        let cookies: Vec<_> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1");
        let request = request.header("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
        if cookies.is_empty() { request } else { request.header("cookie", cookies.join("; ")) }
    }

    pub(crate) async fn call(&self, request: Request<Body>) -> Shown {
        let response = self.desk.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        for set in parts.headers.get_all("set-cookie") {
            let (pair, rest) = set.to_str().unwrap().split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            let mut cookies = self.cookies.lock().unwrap();
            if rest.contains("Max-Age=0") {
                cookies.remove(name);
            } else {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let html = String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap();
        Shown { status: parts.status.as_u16(), headers: parts.headers, html }
    }

    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.lock().unwrap().get(name).cloned()
    }

    /// Opens the consent page a client's request leads to.
    pub(crate) async fn consent(&self, request_uri: &str) -> Shown {
        self.get(&format!("/consent?{}", encoded(&[("request_uri", request_uri)]))).await
    }
}

impl Shown {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.html);
        self
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The form with this id, as it stands on the page.
    #[track_caller]
    pub(crate) fn form(&self, id: &str) -> Filled {
        let all = tags(&self.html);
        let start = all.iter().position(|tag| tag.name == "form" && tag.get("id") == id);
        let start = start.unwrap_or_else(|| panic!("no form {id} in {}", self.html));
        let inside = all[start + 1..].iter().take_while(|tag| tag.name != "/form");
        let mut filled = Filled { action: all[start].get("action").to_owned(), pairs: Vec::new() };
        for tag in inside.filter(|tag| tag.name == "input" && tag.has("name") && !tag.has("disabled")) {
            let boxed = matches!(tag.get("type"), "checkbox" | "radio");
            if !boxed || tag.has("checked") {
                filled.pairs.push((tag.get("name").to_owned(), tag.get("value").to_owned()));
            }
        }
        filled
    }

    /// The form around the button with this id.
    #[track_caller]
    pub(crate) fn form_of_button(&self, id: &str) -> Filled {
        let all = tags(&self.html);
        let at = all.iter().position(|tag| tag.name == "button" && tag.get("id") == id);
        let at = at.unwrap_or_else(|| panic!("no button {id} in {}", self.html));
        let start = all[..at].iter().rposition(|tag| tag.name == "form").unwrap();
        let mut filled = Filled { action: all[start].get("action").to_owned(), pairs: Vec::new() };
        for tag in all[start..at].iter().filter(|tag| tag.name == "input") {
            filled.pairs.push((tag.get("name").to_owned(), tag.get("value").to_owned()));
        }
        filled
    }

    /// The text of the element with this id, up to its end tag.
    #[track_caller]
    pub(crate) fn text(&self, id: &str) -> String {
        let all = tags(&self.html);
        let at = all.iter().position(|tag| tag.get("id") == id);
        let at = at.unwrap_or_else(|| panic!("nothing is called {id} in {}", self.html));
        let close = format!("/{}", all[at].name);
        let mut depth = 0;
        for tag in &all[at + 1..] {
            if tag.name == all[at].name {
                depth += 1;
            } else if tag.name == close && depth == 0 {
                return text(&self.html[all[at].end..tag.end]);
            } else if tag.name == close {
                depth -= 1;
            }
        }
        panic!("{id} does not end")
    }

    /// The texts of all blocks of one authorship, with everything inside them.
    pub(crate) fn blocks(&self, authorship: &str) -> Vec<String> {
        let all = tags(&self.html);
        let mut blocks = Vec::new();
        for (at, tag) in all.iter().enumerate().filter(|(_, tag)| tag.get("data-authorship") == authorship) {
            let (close, mut depth) = (format!("/{}", tag.name), 0);
            for later in &all[at + 1..] {
                if later.name == tag.name {
                    depth += 1;
                } else if later.name == close && depth == 0 {
                    blocks.push(text(&self.html[tag.end..later.end]));
                    break;
                } else if later.name == close {
                    depth -= 1;
                }
            }
        }
        blocks
    }
}

impl Filled {
    /// With this field holding this value.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.pairs.retain(|(own, _)| own != name);
        self.pairs.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With this box ticked.
    pub(crate) fn tick(mut self, name: &str, value: &str) -> Self {
        self.pairs.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With this box not ticked, which must have been.
    #[track_caller]
    pub(crate) fn untick(mut self, name: &str, value: &str) -> Self {
        let before = self.pairs.len();
        self.pairs.retain(|(own, given)| own != name || given != value);
        assert_eq!(self.pairs.len() + 1, before, "{name}={value} was not ticked in {:?}", self.pairs);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.pairs.retain(|(own, _)| own != name);
        self
    }

    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        self.pairs.iter().any(|(own, given)| own == name && given == value)
    }
}
