//! Under which grant the adapter reads: one that is there, one made now, or a server's.

use anyhow::Context as _;
use pdpp_auth::{GrantOrder, GrantState, SelectionArgs, local_client_id, parse_selections, state_of_grant};
use pdpp_server::{CONFIG_FILE, ConfigFile, LocalGrants, Personal, owner_subject};
use pdpp_wire::{AccessMode, Grant, GrantId, Instant};

use super::{HostName, SetupArgs, provider};
use crate::commands::grant::choose::{self, Said};
use crate::commands::grant::create::{ends, opens};
use crate::exit::Usage;
use crate::{asking, holdings, moment, terminal};

/// What to do when nobody can be asked.
const NOTHING_TO_READ: &str = "say what the assistant may read: --stream NAME[:FIELD,...] makes a grant, --grant ID takes one of \
                               `pdpp grant list`, --provider-url URL reads from a server";

/// The adapter's arguments, and what was made for them.
pub(super) struct Source {
    pub(super) arguments: Vec<String>,
    /// What the owner is told about it.
    pub(super) said: Option<String>,
    made: Vec<GrantId>,
    personal: Option<Personal>,
}

impl Source {
    /// Ends what was made, because nothing will use it.
    pub(super) async fn take_back(&self) -> anyhow::Result<()> {
        let Some(personal) = &self.personal else { return Ok(()) };
        for id in &self.made {
            personal.authority().revoke(personal.subject(), id).await?;
        }
        Ok(())
    }
}

pub(super) async fn choose(args: &SetupArgs) -> anyhow::Result<Source> {
    if let Some(url) = &args.provider_url {
        let url = provider(url)?;
        let arguments = ["mcp", "--provider-url", url.as_str()].map(str::to_owned).to_vec();
        return Ok(Source { arguments, said: None, made: Vec::new(), personal: None });
    }
    let data = args.data.path()?;
    let personal = args.data.open().await?;
    known_to_others(args, &personal)?;
    let (ids, made) = if args.grant.is_empty() {
        let own = if args.stream.is_empty() { only_grant(&personal, args).await? } else { None };
        match own {
            Some(id) => (vec![id], false),
            None => (make(args, &personal).await?, true),
        }
    } else {
        let parse = |text: &String| GrantId::parse(text.as_str()).map_err(|fault| Usage(fault.to_string()));
        (args.grant.iter().map(parse).collect::<Result<Vec<_>, _>>()?, false)
    };
    // Says what is wrong with a grant before anything is written.
    LocalGrants::open(&personal, ids.clone()).await?;
    let data = std::path::absolute(&data).unwrap_or(data);
    let data = data
        .into_os_string()
        .into_string()
        .ok()
        .context("the data directory's name cannot be written as text")?;
    let mut arguments = ["mcp", "--data", data.as_str()].map(str::to_owned).to_vec();
    if *personal.subject() != owner_subject() {
        arguments.extend(["--subject".to_owned(), personal.subject().to_string()]);
    }
    for id in &ids {
        arguments.extend(["--grant".to_owned(), id.to_string()]);
    }
    let names: Vec<&str> = ids.iter().map(GrantId::as_str).collect();
    let said = format!(
        "It reads under {}; `pdpp grant show` says what that is, `pdpp audit` what was read.",
        names.join(", ")
    );
    let made = if made { ids } else { Vec::new() };
    Ok(Source { arguments, said: Some(said), made, personal: Some(personal) })
}

/// The assistant's process gets neither this one's flags nor its variables, and a password belongs in no entry.
fn known_to_others(args: &SetupArgs, personal: &Personal) -> anyhow::Result<()> {
    let file = ConfigFile::read(personal.data())?.store(personal.data())?;
    if args.data.kept.config(personal.data())?.database == file.database {
        return Ok(());
    }
    let place = personal.data().join(CONFIG_FILE);
    let message = format!(
        "the assistant would not find the database: write database_url or database_url_file into {} first",
        place.display()
    );
    Err(Usage(message).into())
}

/// Makes a grant for what was said, or is said now on a terminal.
async fn make(args: &SetupArgs, personal: &Personal) -> anyhow::Result<Vec<GrantId>> {
    let mut said = Said {
        client: Some(client_name(args.host).to_owned()),
        stream: args.stream.clone(),
        since: args.since.clone(),
        expires: args.expires.clone(),
    };
    let is_asked = said.stream.is_empty();
    if is_asked && (args.yes || !asking::is_answered()) {
        return Err(Usage(NOTHING_TO_READ.to_owned()).into());
    }
    args.passphrase.require(personal).await?;
    let catalogue = personal.store().catalogue(personal.subject()).await?;
    if is_asked {
        choose::missing(&mut said, personal, &catalogue).await?;
    }
    let now = personal.clock().now();
    let past = |text: &Option<String>| text.as_deref().map(|text| moment::parse_past(text, now)).transpose();
    let (since, until) =
        (past(&said.since)?.map(Instant::to_rfc3339), past(&args.until)?.map(Instant::to_rfc3339));
    let selection = SelectionArgs {
        streams: &said.stream,
        connection: args.connection.as_deref(),
        since: since.as_deref(),
        until: until.as_deref(),
        purpose_code: &args.purpose,
        purpose_description: None,
        access_mode: AccessMode::Continuous,
    };
    let selections = parse_selections(&catalogue, &selection)?;
    let expires_at = ends(said.expires.as_deref(), now)?;
    let order = GrantOrder { client_id: local_client_id(client_name(args.host)), selections, expires_at };
    let issued = personal.authority().create_grants(personal.subject(), order).await?;
    terminal::note(&opens(&holdings::opened_by(&issued.grants, personal, &catalogue).await?));
    Ok(issued.grants.into_iter().map(|grant| grant.grant_id).collect())
}

/// The one active grant this program already has.
async fn only_grant(personal: &Personal, args: &SetupArgs) -> anyhow::Result<Option<GrantId>> {
    let client = local_client_id(client_name(args.host));
    let now = personal.clock().now();
    let mut found = Vec::new();
    for stored in personal.authority().list(personal.subject()).await? {
        let own = Grant::parse(&stored.standing.document).is_ok_and(|grant| {
            grant.client.client_id == client && grant.access_mode == AccessMode::Continuous
        });
        if own && state_of_grant(&stored, now) == GrantState::Active {
            found.push(stored.grant_id);
        }
    }
    Ok(if let [id] = found.as_slice() { Some(id.clone()) } else { None })
}

fn client_name(host: HostName) -> &'static str {
    match host {
        HostName::ClaudeCode => "claude code",
        HostName::ClaudeDesktop => "claude desktop",
        HostName::Codex => "codex",
        HostName::Cursor => "cursor",
        HostName::Vscode => "vscode",
    }
}
