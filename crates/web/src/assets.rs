//! The style sheet and the one script, under names that change with their content.

use std::sync::LazyLock;

use bytes::Bytes;
use http::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use pdpp_auth::OAuthFault;
use pdpp_wire::Code;
use sha2::{Digest as _, Sha256};

use crate::pages::Outcome;
use crate::visit::Visit;

const STYLE: &str = include_str!("../assets/style.css");
const PASSKEY: &str = include_str!("../assets/passkey.js");
/// A name that holds a hash is never another file.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

static STYLE_PATH: LazyLock<String> = LazyLock::new(|| path_of("style", "css", STYLE));

static PASSKEY_PATH: LazyLock<String> = LazyLock::new(|| path_of("passkey", "js", PASSKEY));

pub(crate) fn passkey_path() -> &'static str {
    &PASSKEY_PATH
}

pub(crate) fn style_path() -> &'static str {
    &STYLE_PATH
}

fn path_of(name: &str, kind: &str, content: &str) -> String {
    let hash = Sha256::digest(content.as_bytes());
    let hash = hash.iter().take(8).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    format!("/owner/assets/{name}-{hash}.{kind}")
}

pub(crate) async fn serve(visit: &mut Visit) -> Outcome {
    let asked = format!("/owner/assets/{}", visit.id());
    if asked == style_path() {
        return Ok(file("text/css; charset=utf-8", STYLE));
    }
    if asked == passkey_path() {
        return Ok(file("text/javascript; charset=utf-8", PASSKEY));
    }
    Err(OAuthFault::denied(Code::NotFound, "There is no such file.").into())
}

fn file(kind: &'static str, content: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(content.as_bytes()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, FOR_EVER);
    response
}
