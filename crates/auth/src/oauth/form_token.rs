//! What a form of the owner's pages carries, so that only a page that was shown can send it.
//!
//! The token is a keyed hash over a random value in the browser's cookie and over the session: a page of another
//! origin sees neither, and whoever plants a cookie cannot make the token for it. The key is derived from the store's
//! own, never from the passphrase, so a login page gives nothing away about that.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pdpp_access::Secret;

use super::AuthorizationServer;
use super::keyed::keyed;

impl AuthorizationServer {
    /// The token of a browser's forms.
    pub fn form_token(&self, nonce: &str, session: Option<&Secret>) -> Secret {
        let session = session.map(|secret| *secret.hash().as_bytes()).unwrap_or_default();
        let hash = keyed(&self.form_key, &[nonce.as_bytes(), &session]);
        Secret::presented(URL_SAFE_NO_PAD.encode(hash))
    }

    /// Whether a form carries its token. Hashes are compared, so how long it takes tells nothing.
    pub fn is_form_token(&self, given: &str, nonce: &str, session: Option<&Secret>) -> bool {
        Secret::presented(given).hash() == self.form_token(nonce, session).hash()
    }
}
