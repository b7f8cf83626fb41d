//! Passkeys (WebAuthn): public keys that prove the owner instead of the passphrase.
//!
//! A ceremony has two halves: a challenge is made and remembered, then the authenticator's answer is checked against
//! it. The browser carries what is remembered, sealed, so that any process over the same store takes the answer; the
//! store sees to it that this happens within a few minutes and once. A passkey belongs to the name of a web origin; browsers give none to bare addresses, so a server known by its loopback address uses `localhost`.
//! Challenges come from the library's own randomness, the one place where none is passed in.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pdpp_access::{Binding, Sealer};
use pdpp_store::{StoreError, StoredPasskey};
use pdpp_wire::{Code, Instant, SubjectId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use webauthn_rs::prelude::{
    Passkey, PasskeyAuthentication, PasskeyRegistration, PublicKeyCredential, RegisterPublicKeyCredential,
    Url, Uuid, Webauthn, WebauthnBuilder,
};

use super::{AuthorizationServer, OAuthFault, SignedIn};

/// How long a challenge waits, in seconds.
const CEREMONY_SECONDS: i64 = 300;
/// Most passkeys of an owner.
const MOST_PASSKEYS: usize = 32;
/// Longest label, in characters.
const MAX_LABEL: usize = 64;

/// The ceremonies of one origin.
pub(super) struct Ceremonies {
    webauthn: Webauthn,
    origin: String,
    sealer: Sealer,
}

#[derive(Serialize, Deserialize)]
enum Ceremony {
    Add(SubjectId, PasskeyRegistration),
    SignIn(SubjectId, PasskeyAuthentication),
}

/// What the browser carries between the halves.
#[derive(Serialize, Deserialize)]
struct Carried {
    ends_at: Instant,
    ceremony: Ceremony,
}

/// The first half of a ceremony.
#[derive(Clone, Debug)]
pub struct Challenge {
    /// What the second half needs, sealed.
    pub ceremony: String,
    /// What the browser's own function takes, with bytes as base64url.
    pub options: Value,
}

impl fmt::Debug for Ceremonies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ceremonies").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl Ceremonies {
    /// The ceremonies of a public address; none when browsers would refuse them there.
    pub(super) fn of(issuer: &str, sealing_key: &[u8; 32]) -> Option<Self> {
        let (id, origin) = relying_party(issuer)?;
        let url = Url::parse(&origin).ok()?;
        let webauthn = WebauthnBuilder::new(&id, &url).ok()?.rp_name("PDPP").build().ok()?;
        Some(Self { webauthn, origin, sealer: Sealer::new(sealing_key) })
    }

    fn binding(&self) -> Binding {
        Binding::of(["passkey ceremony", &self.origin])
    }
}

/// The name passkeys belong to, and the origin their pages must have.
fn relying_party(issuer: &str) -> Option<(String, String)> {
    let url = Url::parse(issuer).ok()?;
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    match (url.scheme(), url.domain(), url.host_str()?) {
        ("https", Some(name), _) | ("http", Some(name @ "localhost"), _) => {
            Some((name.to_owned(), format!("{}://{name}{port}", url.scheme())))
        }
        ("http", None, "127.0.0.1" | "[::1]") => {
            Some(("localhost".to_owned(), format!("http://localhost{port}")))
        }
        _ => None,
    }
}

impl AuthorizationServer {
    /// The origin whose pages can use passkeys, if there is one.
    pub fn passkey_origin(&self) -> Option<&str> {
        self.ceremonies.as_ref().map(|ceremonies| ceremonies.origin.as_str())
    }

    /// The owner's passkeys, oldest first.
    pub async fn passkeys(&self, subject_id: &SubjectId) -> Result<Vec<StoredPasskey>, OAuthFault> {
        Ok(self.store().list_passkeys(subject_id).await?)
    }

    /// Forgets a passkey; says whether it was known.
    pub async fn remove_passkey(&self, subject_id: &SubjectId, passkey_id: &str) -> Result<bool, OAuthFault> {
        Ok(self.store().remove_passkeys(subject_id, Some(passkey_id)).await? > 0)
    }

    /// Begins to add a passkey for an owner who has proved to be one.
    pub async fn begin_passkey(&self, subject_id: &SubjectId) -> Result<Challenge, OAuthFault> {
        let ceremonies = self.ceremonies()?;
        let known = self.known_passkeys(subject_id).await?;
        if known.len() >= MOST_PASSKEYS {
            let message = format!("There are {MOST_PASSKEYS} passkeys already; remove one first.");
            return Err(OAuthFault::denied(Code::InvalidRequest, message));
        }
        let known = known.iter().map(|(_, passkey)| passkey.cred_id().clone()).collect();
        let (name, shown) = if *subject_id == self.settings.subject_id {
            ("owner", "Owner")
        } else {
            (subject_id.as_str(), subject_id.as_str())
        };
        let started =
            ceremonies.webauthn.start_passkey_registration(user_id(subject_id), name, shown, Some(known));
        let (options, state) = started.map_err(|error| broken(&error))?;
        Ok(self.challenge(ceremonies, &options, Ceremony::Add(subject_id.clone(), state)))
    }

    /// Keeps the passkey an authenticator has made.
    pub async fn finish_passkey(
        &self,
        subject_id: &SubjectId,
        ceremony: &str,
        label: &str,
        credential: &Value,
    ) -> Result<StoredPasskey, OAuthFault> {
        let ceremonies = self.ceremonies()?;
        let now = self.now();
        let Some(Ceremony::Add(own, state)) = self.take(ceremonies, ceremony, now).await? else {
            return Err(over());
        };
        let refused = || {
            OAuthFault::denied(Code::InvalidRequest, "The authenticator's answer does not fit the question.")
        };
        let credential: RegisterPublicKeyCredential =
            serde_json::from_value(credential.clone()).map_err(|_| refused())?;
        if own != *subject_id {
            return Err(over());
        }
        let passkey =
            ceremonies.webauthn.finish_passkey_registration(&credential, &state).map_err(|error| {
                tracing::info!(%error, "a passkey was refused");
                refused()
            })?;
        let label: String = label.chars().filter(|c| !c.is_control()).take(MAX_LABEL).collect();
        let label = if label.trim().is_empty() { "Passkey".to_owned() } else { label.trim().to_owned() };
        let kept = StoredPasskey {
            passkey_id: name_of(&passkey),
            subject_id: own,
            label,
            document: written(&passkey),
            created_at: now,
            last_used_at: None,
        };
        if self.store().put_passkey(&kept).await? { Ok(kept) } else { Err(refused()) }
    }

    /// Begins to sign in by passkey; none when the owner has no passkey here.
    pub async fn begin_passkey_sign_in(
        &self,
        subject_id: &SubjectId,
    ) -> Result<Option<Challenge>, OAuthFault> {
        let ceremonies = self.ceremonies()?;
        let known: Vec<_> =
            self.known_passkeys(subject_id).await?.into_iter().map(|(_, passkey)| passkey).collect();
        if known.is_empty() {
            return Ok(None);
        }
        let started = ceremonies.webauthn.start_passkey_authentication(&known);
        let (options, state) = started.map_err(|error| broken(&error))?;
        Ok(Some(self.challenge(ceremonies, &options, Ceremony::SignIn(subject_id.clone(), state))))
    }

    /// Signs an owner in by the answer to the question that owner was asked. `None` means that it proves nothing.
    pub async fn finish_passkey_sign_in(
        &self,
        ceremony: &str,
        credential: &Value,
    ) -> Result<Option<SignedIn>, OAuthFault> {
        let ceremonies = self.ceremonies()?;
        let now = self.now();
        let Some(Ceremony::SignIn(subject_id, state)) = self.take(ceremonies, ceremony, now).await? else {
            return Ok(None);
        };
        let Ok(credential) = serde_json::from_value::<PublicKeyCredential>(credential.clone()) else {
            return Ok(None);
        };
        let proved = match ceremonies.webauthn.finish_passkey_authentication(&credential, &state) {
            Ok(proved) if proved.user_verified() => proved,
            Ok(_) => return Ok(None),
            Err(error) => {
                tracing::info!(%error, "a passkey's answer was refused");
                return Ok(None);
            }
        };
        // Read again: it may have been removed, or used, since the challenge was made.
        let known = self.known_passkeys(&subject_id).await?;
        let found = known.into_iter().find(|(_, passkey)| passkey.cred_id() == proved.cred_id());
        let Some((stored, mut passkey)) = found else {
            return Ok(None);
        };
        passkey.update_credential(&proved);
        if !self.store().use_passkey(&stored, &written(&passkey), now).await? {
            return Ok(None);
        }
        self.open_session(&subject_id).await.map(Some)
    }

    fn ceremonies(&self) -> Result<&Ceremonies, OAuthFault> {
        let missing = "Browsers give no passkeys to this server's address; it needs a name and https.";
        self.ceremonies.as_deref().ok_or_else(|| OAuthFault::denied(Code::NotFound, missing))
    }

    fn challenge(&self, ceremonies: &Ceremonies, options: &impl Serialize, ceremony: Ceremony) -> Challenge {
        let carried = Carried { ends_at: self.now().plus_seconds(CEREMONY_SECONDS), ceremony };
        let ceremony = ceremonies.sealer.seal_carried(self.entropy(), &ceremonies.binding(), &carried);
        Challenge { ceremony, options: serde_json::to_value(options).unwrap_or_default() }
    }

    /// The ceremony that comes back, if it is in time and nobody brought it before.
    async fn take(
        &self,
        ceremonies: &Ceremonies,
        carried: &str,
        now: Instant,
    ) -> Result<Option<Ceremony>, OAuthFault> {
        let opened = ceremonies.sealer.open_carried::<Carried>(&ceremonies.binding(), carried);
        let Some(opened) = opened.filter(|opened| opened.ends_at > now) else {
            return Ok(None);
        };
        let key = format!("ceremony {}", URL_SAFE_NO_PAD.encode(Sha256::digest(carried.as_bytes())));
        let brought = self.store().count_attempt(&key, CEREMONY_SECONDS, now).await?;
        Ok((brought.count == 1).then_some(opened.ceremony))
    }

    async fn known_passkeys(
        &self,
        subject_id: &SubjectId,
    ) -> Result<Vec<(StoredPasskey, Passkey)>, OAuthFault> {
        let damaged = |_| StoreError::Damaged("a passkey cannot be read".to_owned());
        let stored = self.store().list_passkeys(subject_id).await?;
        let read = |stored: StoredPasskey| {
            let passkey = serde_json::from_str(&stored.document).map_err(damaged)?;
            Ok((stored, passkey))
        };
        stored.into_iter().map(read).collect()
    }
}

/// The same for one owner for ever, and nothing about them.
fn user_id(subject_id: &SubjectId) -> Uuid {
    let hash = Sha256::digest(format!("pdpp owner {subject_id}").as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    Uuid::from_bytes(bytes)
}

fn name_of(passkey: &Passkey) -> String {
    URL_SAFE_NO_PAD.encode(passkey.cred_id())
}

fn written(passkey: &Passkey) -> String {
    serde_json::to_string(passkey).expect("a passkey is plain data")
}

fn over() -> OAuthFault {
    OAuthFault::denied(
        Code::InvalidRequest,
        "The question was answered before, or waited too long; try again.",
    )
}

fn broken(error: &webauthn_rs::prelude::WebauthnError) -> OAuthFault {
    OAuthFault::Store(StoreError::Backend(error.to_string().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passkeys_belong_to_a_name() {
        let party = |issuer: &str| relying_party(issuer).map(|(id, origin)| format!("{id} {origin}"));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(party("https://data.example.org"), some("data.example.org https://data.example.org"));
        assert_eq!(party("https://a.test:8443/mine"), some("a.test https://a.test:8443"));
        assert_eq!(party("http://127.0.0.1:7663"), some("localhost http://localhost:7663"));
        assert_eq!(party("http://[::1]:7663"), some("localhost http://localhost:7663"));
        assert_eq!(party("http://localhost:7663"), some("localhost http://localhost:7663"));
        for bare in ["http://data.example.org", "https://192.0.2.7", "http://192.0.2.7:7663", "x"] {
            assert_eq!(party(bare), None, "{bare}");
        }
    }
}
