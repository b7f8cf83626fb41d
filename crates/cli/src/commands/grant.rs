//! `pdpp grant`: hand out a narrow slice, look at it, take it back.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use pdpp_auth::{
    DEFAULT_GRANT_SECONDS, DEFAULT_PURPOSE, GrantOrder, GrantState, Issued, Revocation, SelectionArgs,
    TokenOrder, local_client_id, parse_selections, state_of_grant,
};
use pdpp_server::{Personal, owner_subject};
use pdpp_store::StoredGrant;
use pdpp_wire::{AccessMode, Grant, GrantId, GrantStream, Instant};
use serde_json::{Value, json};

use crate::args::DataArgs;
use crate::commands::events::{Host, allow_hosts};
use crate::exit::Usage;
use crate::passphrase::PassphraseArgs;
use crate::{moment, terminal};

/// Create, list, show and revoke grants
#[derive(Args, Debug)]
pub(crate) struct GrantArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    Create(CreateArgs),
    /// List all grants, newest first
    List {
        #[command(flatten)]
        data: DataArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one grant whole
    Show {
        #[command(flatten)]
        data: DataArgs,
        /// The grant's id
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make another token for a grant
    Token {
        #[command(flatten)]
        data: DataArgs,
        /// The grant's id
        id: String,
        /// How long the token lives; never longer than its grant
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        passphrase: PassphraseArgs,
    },
    /// Take a grant back; it bites on the next request
    Revoke {
        #[command(flatten)]
        data: DataArgs,
        /// The grant's id
        id: String,
    },
}

/// Hand out a slice of your data, and get the token for it
///
/// A stream is named as NAME, NAME:FIELD,FIELD or CONNECTION/NAME. Fields the stream requires are
/// always included. The token is shown once.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: pdpp grant create --client notes-assistant --stream messages:text,sent_at --since 90d"
)]
struct CreateArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Who gets it, in your words
    #[arg(long, value_name = "NAME")]
    client: String,
    /// What it may read: [CONNECTION/]NAME[:FIELD,...]; may be repeated; `*` means every stream
    #[arg(long, value_name = "STREAM", required = true)]
    stream: Vec<String>,
    /// The connection, when a source has several: its id or label
    #[arg(long, value_name = "CONNECTION")]
    connection: Option<String>,
    /// Only records from this time on: a date, or how long ago (90d)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only records before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// When the grant ends: 30d, 12h, a date, or `never` [default: 30d]
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// The grant gives one token, once
    #[arg(long)]
    single_use: bool,
    /// Let the client's events be sent to this host; may be repeated
    #[arg(long, value_name = "HOST[:PORT]")]
    callback_host: Vec<Host>,
    /// What for, as an absolute URI
    #[arg(long, value_name = "URI", default_value = DEFAULT_PURPOSE)]
    purpose: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

pub(crate) async fn run(args: GrantArgs) -> anyhow::Result<()> {
    match args.action {
        Action::Create(args) => create(args).await,
        Action::List { data, json } => list(&Personal::open_existing(&data.path()?)?, json).await,
        Action::Show { data, id, json } => show(&Personal::open_existing(&data.path()?)?, &id, json).await,
        Action::Token { data, id, expires, json, passphrase } => {
            let personal = Personal::open_existing(&data.path()?)?;
            passphrase.require(&personal).await?;
            token(&personal, &id, expires.as_deref(), json).await
        }
        Action::Revoke { data, id } => revoke(&Personal::open_existing(&data.path()?)?, &id).await,
    }
}

async fn create(args: CreateArgs) -> anyhow::Result<()> {
    let personal = Personal::open_existing(&args.data.path()?)?;
    args.passphrase.require(&personal).await?;
    let now = personal.clock().now();
    let past = |text: &Option<String>| text.as_deref().map(|text| moment::parse_past(text, now)).transpose();
    let (since, until) =
        (past(&args.since)?.map(Instant::to_rfc3339), past(&args.until)?.map(Instant::to_rfc3339));
    let expires_at = match args.expires.as_deref() {
        None => Some(now.plus_seconds(DEFAULT_GRANT_SECONDS)),
        Some("never") => None,
        Some(text) => Some(moment::parse_future(text, now)?),
    };
    let selection = SelectionArgs {
        streams: &args.stream,
        connection: args.connection.as_deref(),
        since: since.as_deref(),
        until: until.as_deref(),
        purpose_code: &args.purpose,
        purpose_description: None,
        access_mode: if args.single_use { AccessMode::SingleUse } else { AccessMode::Continuous },
    };
    let catalogue = personal.store().catalogue(&owner_subject()).await?;
    let selections = parse_selections(&catalogue, &selection)?;
    let client_id = local_client_id(&args.client);
    let order = GrantOrder { client_id: client_id.clone(), selections, expires_at };
    let issued = personal.authority().create_grants(&owner_subject(), order).await?;
    allow_hosts(&personal, &client_id, &args.callback_host).await?;
    print_issued(&issued, args.json)
}

async fn token(personal: &Personal, id: &str, expires: Option<&str>, as_json: bool) -> anyhow::Result<()> {
    let now = personal.clock().now();
    let expires_at = expires.map(|text| moment::parse_future(text, now)).transpose()?;
    let order = TokenOrder { grant_ids: vec![grant_id(id)?], expires_at };
    let issued = personal.authority().reissue_token(&owner_subject(), order).await?;
    print_issued(&issued, as_json)
}

fn print_issued(issued: &Issued, as_json: bool) -> anyhow::Result<()> {
    let expires_at = issued.expires_at.map(Instant::to_rfc3339);
    if as_json {
        let mut value = json!({
            "grants": issued.grants, "access_token": issued.access_token.reveal(), "token_id": issued.token_id,
            "client_id": issued.grants.first().map(|grant| &grant.client.client_id), "expires_at": expires_at,
        });
        if let [grant] = issued.grants.as_slice() {
            value["grant_id"] = json!(grant.grant_id);
        }
        return terminal::json(&value);
    }
    for grant in &issued.grants {
        terminal::line(&format!("grant {} for {}", grant.grant_id, grant.client.client_id))?;
        for stream in &grant.streams {
            terminal::line(&format!("  {}", describe(stream)))?;
        }
    }
    terminal::line(&format!("token {}", issued.access_token.reveal()))?;
    let until = expires_at.unwrap_or_else(|| "you revoke it".to_owned());
    terminal::note(&format!("The token is shown only this once. It works until {until}."));
    terminal::note("Next: `pdpp serve`, then give the client the token and http://127.0.0.1:7663");
    Ok(())
}

async fn list(personal: &Personal, as_json: bool) -> anyhow::Result<()> {
    let grants = personal.authority().list(&owner_subject()).await?;
    if as_json {
        let values: Vec<Value> = grants.iter().map(|grant| shown(personal, grant)).collect();
        return terminal::json(&values);
    }
    let rows: Vec<[String; 6]> = grants.iter().map(|stored| row(personal, stored)).collect();
    terminal::table(["GRANT", "CLIENT", "STATE", "STREAMS", "EXPIRES", "LAST USED"], &rows)?;
    Ok(())
}

fn row(personal: &Personal, stored: &StoredGrant) -> [String; 6] {
    let state = state_name(state_of_grant(stored, personal.clock().now())).to_owned();
    let used = stored.last_used_at.map(Instant::to_rfc3339).unwrap_or_default();
    match Grant::parse(&stored.standing.document) {
        Ok(grant) => {
            let streams: Vec<&str> = grant.streams.iter().map(|stream| stream.name.as_str()).collect();
            let expires = grant.expires_at.unwrap_or_else(|| "never".to_owned());
            let client = grant.client.client_id.to_string();
            [stored.grant_id.to_string(), client, state, streams.join(","), expires, used]
        }
        Err(_) => [stored.grant_id.to_string(), String::new(), state, String::new(), String::new(), used],
    }
}

async fn show(personal: &Personal, id: &str, as_json: bool) -> anyhow::Result<()> {
    let stored = personal.authority().find(&owner_subject(), &grant_id(id)?).await?;
    let stored = stored.with_context(|| format!("there is no grant '{id}'; `pdpp grant list` shows all"))?;
    if as_json {
        return terminal::json(&shown(personal, &stored));
    }
    let grant = Grant::parse(&stored.standing.document)?;
    terminal::line(&format!("grant    {}", grant.grant_id))?;
    terminal::line(&format!("client   {}", grant.client.client_id))?;
    terminal::line(&format!("source   {}", grant.source.id))?;
    terminal::line(&format!("purpose  {}", grant.purpose_code))?;
    terminal::line(&format!("state    {}", state_name(state_of_grant(&stored, personal.clock().now()))))?;
    terminal::line(&format!("expires  {}", grant.expires_at.as_deref().unwrap_or("never")))?;
    for stream in &grant.streams {
        terminal::line(&format!("reads    {}", describe(stream)))?;
    }
    Ok(())
}

async fn revoke(personal: &Personal, id: &str) -> anyhow::Result<()> {
    match personal.authority().revoke(&owner_subject(), &grant_id(id)?).await? {
        Revocation::Now => terminal::line(&format!("{id} is revoked; its next request is refused"))?,
        Revocation::Before(at) => bail!("{id} was already revoked on {}", at.to_rfc3339()),
    }
    Ok(())
}

fn describe(stream: &GrantStream) -> String {
    let mut text = format!("{}: {}", stream.name, stream.fields.join(", "));
    if let Some(time) = &stream.time_constraint {
        let bound = |name: &str, at: &Option<String>| {
            at.as_ref().map(|at| format!(" {name} {at}")).unwrap_or_default()
        };
        text.push_str(&bound("since", &time.since));
        text.push_str(&bound("until", &time.until));
    }
    if let Some(keys) = &stream.resources {
        // Writing to a string does not fail.
        let _ = write!(text, ", {} records only", keys.len());
    }
    text
}

fn shown(personal: &Personal, stored: &StoredGrant) -> Value {
    let document: Value = serde_json::from_str(&stored.standing.document).unwrap_or(Value::Null);
    json!({
        "grant_id": stored.grant_id, "state": state_name(state_of_grant(stored, personal.clock().now())),
        "revoked_at": stored.standing.revoked_at.map(Instant::to_rfc3339), "consumed": stored.consumed,
        "last_used_at": stored.last_used_at.map(Instant::to_rfc3339), "grant": document,
    })
}

fn state_name(state: GrantState) -> &'static str {
    match state {
        GrantState::Active => "active",
        GrantState::Expired => "expired",
        GrantState::Revoked => "revoked",
        GrantState::Invalid => "invalid",
    }
}

fn grant_id(text: &str) -> Result<GrantId, Usage> {
    GrantId::parse(text).map_err(|fault| Usage(fault.to_string()))
}
