//! The first run: whoever reads the terminal the server was started on becomes the owner.
//!
//! While nobody is the owner, each start makes a new link and shows it there alone; its secret is kept as a hash, works
//! once, and ends by itself. Once there is a passphrase there is no link any more.

use pdpp_access::Secret;
use pdpp_wire::{Code, SubjectId};

use super::{AuthorizationServer, OAuthFault, SignedIn, handles};

/// How long a link waits, in seconds: a day.
const LINK_SECONDS: i64 = 86_400;

impl AuthorizationServer {
    /// A new link, while there is no owner.
    pub async fn first_run_link(&self, subject_id: &SubjectId) -> Result<Option<String>, OAuthFault> {
        if self.authority.has_passphrase(subject_id).await? {
            return Ok(None);
        }
        let secret = handles::secret(self.entropy(), "");
        let ends = self.now().plus_seconds(LINK_SECONDS);
        let kept = self.store().put_first_run(subject_id, &secret.hash(), ends).await?;
        // The owner of a server that has one need not be named.
        let named = if *subject_id == self.settings.subject_id {
            String::new()
        } else {
            format!("owner={subject_id}&")
        };
        Ok(kept.then(|| format!("{}/owner/first-run?{named}secret={}", self.issuer(), secret.reveal())))
    }

    /// Whether a link's secret would make its holder the owner now.
    pub async fn is_first_run(&self, subject_id: &SubjectId, secret: &Secret) -> Result<bool, OAuthFault> {
        Ok(self.store().is_first_run(subject_id, &secret.hash(), self.now()).await?)
    }

    /// Sets the first passphrase for the holder of the link, and signs them in.
    pub async fn claim_first_run(
        &self,
        subject_id: &SubjectId,
        secret: &Secret,
        passphrase: &Secret,
    ) -> Result<SignedIn, OAuthFault> {
        let gone = || OAuthFault::denied(Code::NotFound, "The link was used before, or has ended.");
        // Hashing a passphrase is slow by design, so it is done for holders of the link alone.
        if !self.is_first_run(subject_id, secret).await? {
            return Err(gone());
        }
        let phc = self.authority.hash_passphrase(passphrase).await?;
        if !self.store().claim_first_run(subject_id, &secret.hash(), &phc, self.now()).await? {
            return Err(gone());
        }
        self.open_session(subject_id).await
    }
}
