//! The owner's sessions: kept on the server, so that they can be listed and ended.
//!
//! Whoever shows pages sets the cookie; what it holds is made and recognised here. Guesses at the passphrase are
//! counted in the store, per address and, for addresses of other machines, over all of them; from the machine itself
//! the owner can always try again after a minute, so that nobody can lock the owner out of it.

use pdpp_access::{OwnerPrincipal, Secret};
use pdpp_store::OwnerSession;
use pdpp_wire::{Code, SessionId, SubjectId};

use super::{AuthorizationServer, OAuthFault, handles};

/// How long a session lasts, in seconds: a week.
const SESSION_SECONDS: i64 = 7 * 86_400;
/// Guesses per address and minute.
const PER_ADDRESS: (u32, i64) = (5, 60);
/// Guesses per address of another machine and minute at all owners together, so that many owners are not many tries.
const PER_ADDRESS_IN_ALL: (u32, i64) = (30, 60);
/// Guesses at one owner from all other machines together, per quarter of an hour.
const FROM_OUTSIDE: (u32, i64) = (100, 900);

/// A browser that has just signed in.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// What the cookie holds: shown once, kept only as a hash.
    pub secret: Secret,
    /// The session.
    pub session: OwnerSession,
}

impl AuthorizationServer {
    /// Signs the owner in by passphrase. `None` means that it was wrong.
    pub async fn sign_in(
        &self,
        subject_id: &SubjectId,
        passphrase: &Secret,
        address: &str,
    ) -> Result<Option<SignedIn>, OAuthFault> {
        if !self.confirm_passphrase(subject_id, passphrase, address).await? {
            return Ok(None);
        }
        self.open_session(subject_id).await.map(Some)
    }

    /// Whether this is the passphrase; every wrong guess counts.
    pub async fn confirm_passphrase(
        &self,
        subject_id: &SubjectId,
        passphrase: &Secret,
        address: &str,
    ) -> Result<bool, OAuthFault> {
        let own = format!("login:{subject_id}:{address}");
        self.count_guess(&own, PER_ADDRESS).await?;
        if !is_this_machine(address) {
            self.count_guess(&format!("login::{address}"), PER_ADDRESS_IN_ALL).await?;
            self.count_guess(&format!("login:{subject_id}:outside"), FROM_OUTSIDE).await?;
        }
        let right = self.authority.verify_passphrase(subject_id, passphrase).await?;
        if right {
            self.store().clear_attempts(&own).await?;
        }
        Ok(right)
    }

    /// Opens a session for an owner who has proved to be one in another way.
    pub async fn open_session(&self, subject_id: &SubjectId) -> Result<SignedIn, OAuthFault> {
        let (now, secret) = (self.now(), handles::secret(self.entropy(), "ows_"));
        let session = OwnerSession {
            session_id: handles::session_id(self.entropy()),
            subject_id: subject_id.clone(),
            created_at: now,
            expires_at: now.plus_seconds(SESSION_SECONDS),
            last_used_at: now,
            revoked_at: None,
        };
        self.store().put_session(&secret.hash(), &session).await?;
        Ok(SignedIn { secret, session })
    }

    /// Whose session this is, if it is alive.
    pub async fn session(&self, secret: &Secret) -> Result<Option<OwnerSession>, OAuthFault> {
        let now = self.now();
        let found = self.store().use_session(&secret.hash(), now).await?;
        Ok(found.filter(|session| session.revoked_at.is_none() && session.expires_at > now))
    }

    /// The owner a session stands for.
    pub async fn session_owner(&self, secret: &Secret) -> Result<OwnerPrincipal, OAuthFault> {
        let session = self.session(secret).await?;
        let session = session
            .ok_or_else(|| OAuthFault::denied(Code::OwnerSessionRequired, "Sign in as the owner first."))?;
        Ok(OwnerPrincipal { subject_id: session.subject_id, token_id: None })
    }

    /// The owner's sessions, newest first.
    pub async fn sessions(&self, subject_id: &SubjectId) -> Result<Vec<OwnerSession>, OAuthFault> {
        Ok(self.store().list_sessions(subject_id).await?)
    }

    /// Ends one session, or all of them.
    pub async fn end_sessions(
        &self,
        subject_id: &SubjectId,
        session_id: Option<&SessionId>,
    ) -> Result<u64, OAuthFault> {
        Ok(self.store().revoke_sessions(subject_id, session_id, self.now()).await?)
    }

    async fn count_guess(&self, key: &str, (most, seconds): (u32, i64)) -> Result<(), OAuthFault> {
        let now = self.now();
        let tried = self.store().count_attempt(key, seconds, now).await?;
        if tried.count <= most {
            return Ok(());
        }
        Err(OAuthFault::TooOften((tried.window_ends.unix_seconds() - now.unix_seconds()).max(1)))
    }
}

fn is_this_machine(address: &str) -> bool {
    address.parse::<std::net::IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}
