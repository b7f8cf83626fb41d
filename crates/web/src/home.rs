//! `/owner`: requests that wait, clients and their grants, who is told of changes, what was read lately, signed-in
//! browsers.

use std::collections::BTreeMap;

use askama::Template;
use pdpp_access::Catalogue;
use pdpp_store::{DisclosureFilter, Flow, OwnerSession, StagedRequest, StoredGrant};
use pdpp_wire::{Grant, Instant, SubjectId};

use crate::activity::Activity;
use crate::frame::Frame;
use crate::grant_words::GrantWords;
use crate::moment::Moment;
use crate::pages::Outcome;
use crate::respond::{Allow, page};
use crate::stop::Stop;
use crate::stranger;
use crate::told::Told;
use crate::visit::Visit;

/// How many entries of the ledger are shown.
const ENTRIES: u32 = 40;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    notice: Option<&'static str>,
    waiting: Vec<WaitingRow>,
    clients: Vec<ClientRow>,
    past: Vec<ClientRow>,
    told: Told,
    activity: Vec<Activity>,
    sessions: Vec<SessionRow>,
}

struct WaitingRow {
    approval_id: String,
    name: String,
    what: &'static str,
    until: Moment,
}

struct ClientRow {
    id: String,
    client_id: String,
    name: String,
    claimed: bool,
    first_seen: Option<Moment>,
    grants: Vec<GrantWords>,
}

struct SessionRow {
    session_id: String,
    current: bool,
    since: Moment,
    last_used: Moment,
    until: Moment,
}

/// The clients this server knows: what each claims to be called, and since when it is known.
type Names = BTreeMap<String, (Option<String>, Instant)>;

pub(crate) async fn show(visit: &mut Visit) -> Outcome {
    let session = visit.owner_of_page().await?;
    let owner = session.subject_id.clone();
    let notice = match visit.query()?.one("done")? {
        Some("revoked") => Some("The grant has ended. The next request under it is refused."),
        Some("removed") => Some("The client is forgotten, and all its access to your data has ended."),
        Some("switched-off") => Some("Nothing more is sent for that subscription."),
        Some("forbidden") => Some("The host is taken back, and what was sent there is switched off."),
        Some("ended") => Some("The browser is signed out."),
        Some("passkey") => Some("The passkey is kept. You can sign in with it from now on."),
        Some("passkey-removed") => Some("The passkey no longer signs anyone in."),
        _ => None,
    };
    let (server, store) = (visit.pages.server.clone(), visit.pages.store.clone());
    let known = server.clients(&owner).await?;
    let names: Names = known
        .iter()
        .map(|(client, metadata)| {
            (client.client_id.to_string(), (metadata.client_name.clone(), client.first_seen))
        })
        .collect();
    let catalogue = store.catalogue(&owner).await?;
    let grants = server.authority().list(&owner).await?;
    let (clients, past) = client_rows(&names, &grants, &catalogue, server.now());
    let filter = DisclosureFilter { limit: ENTRIES, ..DisclosureFilter::default() };
    let entries = store.list_disclosures(&owner, &filter).await?;
    let template = HomePage {
        frame: visit.frame("Your data"),
        notice,
        waiting: waiting_rows(&names, &server.waiting_requests(&owner).await?),
        clients,
        past,
        told: Told::load(&*store, &owner, |id| name_of(&names, id)).await?,
        activity: entries.iter().map(|entry| Activity::of(entry, |id| name_of(&names, id))).collect(),
        sessions: session_rows(visit, &owner, &session).await?,
    };
    Ok(page(200, &template, &Allow::default()))
}

fn name_of(names: &Names, id: &str) -> String {
    let known = names.get(id).and_then(|(name, _)| name.as_deref());
    stranger::name(known.unwrap_or(if id == "pdpp_cli" { "PDPP command line" } else { id }))
}

fn waiting_rows(names: &Names, requests: &[StagedRequest]) -> Vec<WaitingRow> {
    let row = |request: &StagedRequest| WaitingRow {
        approval_id: request.approval_id.to_string(),
        name: name_of(names, request.client_id.as_str()),
        what: match request.flow {
            Flow::OwnerDevice => "asks for full access as you",
            _ => "asks to read some of your data",
        },
        until: Moment::of(request.expires_at),
    };
    requests.iter().map(row).collect()
}

/// Clients that can read something now, and those that cannot (any more).
fn client_rows(
    names: &Names,
    grants: &[StoredGrant],
    catalogue: &Catalogue,
    now: Instant,
) -> (Vec<ClientRow>, Vec<ClientRow>) {
    let mut rows: BTreeMap<String, Vec<GrantWords>> =
        names.keys().map(|id| (id.clone(), Vec::new())).collect();
    for stored in grants {
        if let Ok(grant) = Grant::parse(&stored.standing.document) {
            let words = GrantWords::of(stored, &grant, catalogue, now);
            rows.entry(grant.client.client_id.to_string()).or_default().push(words);
        }
    }
    let rows = rows.into_iter().enumerate().map(|(at, (client_id, grants))| ClientRow {
        id: at.to_string(),
        name: name_of(names, &client_id),
        claimed: names.get(&client_id).is_some_and(|(name, _)| name.is_some()),
        first_seen: names.get(&client_id).map(|(_, seen)| Moment::of(*seen)),
        client_id,
        grants,
    });
    rows.partition(|row| row.grants.iter().any(|grant| grant.active))
}

async fn session_rows(
    visit: &Visit,
    owner: &SubjectId,
    current: &OwnerSession,
) -> Result<Vec<SessionRow>, Stop> {
    let now = visit.pages.server.now();
    let sessions = visit.pages.server.sessions(owner).await?;
    let alive = sessions.iter().filter(|one| one.revoked_at.is_none() && one.expires_at > now);
    let row = |session: &OwnerSession| SessionRow {
        session_id: session.session_id.to_string(),
        current: session.session_id == current.session_id,
        since: Moment::of(session.created_at),
        last_used: Moment::of(session.last_used_at),
        until: Moment::of(session.expires_at),
    };
    Ok(alive.map(row).collect())
}
