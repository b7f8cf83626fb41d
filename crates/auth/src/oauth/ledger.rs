//! Writes down what was asked, given, refused and ended: names and numbers, never a secret.

use pdpp_store::{Disclosure, Door};
use pdpp_wire::{ClientId, Code, GrantId, SubjectId, TokenId};

use super::{AuthorizationServer, OAuthFault};

/// Longest client id that is written down, in characters; a stranger chooses it.
const MAX_CLIENT: usize = 200;

/// What happened.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// In whose ledger; the only owner's when nobody is known, and [`NOBODY`](super::NOBODY)'s when there are several.
    pub subject_id: Option<SubjectId>,
    /// Which client.
    pub client_id: Option<ClientId>,
    /// Which grants.
    pub grant_ids: Vec<GrantId>,
    /// Which token, by its public name.
    pub token_id: Option<TokenId>,
    /// What else is known.
    pub note: Option<String>,
}

impl AuthorizationServer {
    /// Writes down that something was done.
    pub async fn note(&self, request_id: &str, action: &str, entry: Entry) -> Result<(), OAuthFault> {
        self.append(request_id, action, entry, None).await
    }

    /// Writes down that something was refused.
    pub async fn note_refusal(
        &self,
        request_id: &str,
        action: &str,
        mut entry: Entry,
        fault: &OAuthFault,
    ) -> Result<(), OAuthFault> {
        entry.note = Some(fault.oauth_code().as_str().to_owned());
        self.append(request_id, action, entry, Some(fault.code())).await
    }

    async fn append(
        &self,
        request_id: &str,
        action: &str,
        entry: Entry,
        refused: Option<Code>,
    ) -> Result<(), OAuthFault> {
        let short =
            |id: ClientId| ClientId::parse(id.as_str().chars().take(MAX_CLIENT).collect::<String>()).ok();
        let subject_id = match entry.subject_id {
            Some(known) => known,
            None => self.answerable().await?,
        };
        let disclosure = Disclosure {
            at: self.now(),
            subject_id,
            request_id: request_id.to_owned(),
            door: Door::OAuth,
            client_id: entry.client_id.and_then(short),
            grant_ids: entry.grant_ids,
            token_id: entry.token_id,
            action: action.to_owned(),
            refused,
            stream: None,
            connection_ids: Vec::new(),
            record_count: 0,
            record_keys: Vec::new(),
            fields: Vec::new(),
            char_range: None,
            query: None,
            filter_fields: Vec::new(),
            note: entry.note,
        };
        let written = self.store().append_disclosures(vec![disclosure]).await;
        written.map_err(|_| {
            OAuthFault::denied(Code::LedgerUnavailable, "The ledger cannot be written, so nothing is given.")
        })
    }
}
