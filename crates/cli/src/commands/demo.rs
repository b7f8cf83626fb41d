//! `pdpp demo`: the whole story on invented data, in one command.

use std::io::Cursor;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use clap::Args;
use indicatif::ProgressBar;
use pdpp_auth::{DEFAULT_PURPOSE, GrantOrder, Issued, SelectionArgs, local_client_id, parse_selections};
use pdpp_server::{ConfigFile, LogFormat, Personal, Server, owner_subject, start_logging};
use pdpp_wire::AccessMode;
use pdpp_wire::manifest::Manifest;
use serde_json::Value;
use tower::ServiceExt as _;

use super::import::{Destination, Receipt, load};
use super::serve::stop_signal;
use crate::terminal;

const MANIFEST: &str = include_str!("../../../../fixtures/exports/jsonl/manifest.json");
const RECORDS: &str = include_str!("../../../../fixtures/exports/jsonl/records.jsonl");

/// See it work on invented data
///
/// Loads a small archive, hands out a narrow grant, reads through it and shows a refusal. The server
/// then stays up so that you can try the printed commands; Ctrl-C ends it and leaves nothing behind.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Keep the data in this directory instead of a temporary one
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Where to listen; a free port if 7663 is taken
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7663")]
    listen: SocketAddr,
    /// End after the tour instead of serving
    #[arg(long)]
    once: bool,
}

pub(crate) async fn run(args: DemoArgs) -> anyhow::Result<()> {
    start_logging(LogFormat::Text, "warn");
    let temporary = tempfile::tempdir().context("cannot make a temporary directory")?;
    let data = args.keep.as_deref().unwrap_or_else(|| temporary.path());
    let personal = Personal::open(data)?;
    load_sample(&personal).await?;
    let issued = grant(&personal).await?;
    let server = bind(personal, args.listen).await?;
    tour(&server, issued.access_token.reveal(), data).await?;
    if args.once {
        return Ok(());
    }
    terminal::line("\nThe server stays up; Ctrl-C ends it.")?;
    server.run(stop_signal()).await;
    Ok(())
}

async fn load_sample(personal: &Personal) -> anyhow::Result<()> {
    let manifest = Arc::new(Manifest::parse(MANIFEST)?);
    let mut destination = Destination::register(personal, &manifest, Some("Sample"), true).await?;
    let mut receipt = Receipt::default();
    load(personal, &mut destination, Cursor::new(RECORDS), None, &mut receipt, &ProgressBar::hidden())
        .await?;
    terminal::line("1. Loaded an invented archive:\n")?;
    receipt.print(false)
}

async fn grant(personal: &Personal) -> anyhow::Result<Issued> {
    let streams = ["messages:author,text,sent_at".to_owned()];
    let selection = SelectionArgs {
        streams: &streams,
        connection: None,
        since: Some("2025-10-01"),
        until: None,
        purpose_code: DEFAULT_PURPOSE,
        purpose_description: None,
        access_mode: AccessMode::Continuous,
    };
    let catalogue = personal.store().catalogue(&owner_subject()).await?;
    let order = GrantOrder {
        client_id: local_client_id("demo assistant"),
        selections: parse_selections(&catalogue, &selection)?,
        expires_at: Some(personal.clock().now().plus_seconds(24 * 3600)),
    };
    let issued = personal.authority().create_grants(&owner_subject(), order).await?;
    terminal::line("\n2. Granted a slice: author, text and time of messages since October, for one day.")?;
    Ok(issued)
}

/// Binds where asked, or on any free port of the same address.
async fn bind(personal: Personal, listen: SocketAddr) -> anyhow::Result<Server> {
    let at = |listen| ConfigFile { listen: Some(listen), ..ConfigFile::default() }.resolve();
    match Server::bind(personal.clone(), at(listen)?).await {
        Ok(server) => Ok(server),
        Err(_) => Ok(Server::bind(personal, at(SocketAddr::new(listen.ip(), 0))?).await?),
    }
}

async fn tour(server: &Server, token: &str, data: &Path) -> anyhow::Result<()> {
    let (base, router) = (format!("http://{}", server.address()), server.router());
    let question = "/v1/search?q=what+about+the+winter+storage&limit=2";
    terminal::line("\n3. The assistant asks a question, and gets the words that answer it:\n")?;
    show(&router, server, token, &base, question).await?;
    let window = "/v1/streams/messages/records/m_0132/field-window?field=text&q=winter+storage&before_chars=60&after_chars=90";
    terminal::line("\n4. It opens a long message at the words it needs:\n")?;
    show(&router, server, token, &base, window).await?;
    let refused = "/v1/streams/messages/records?filter[private_note]=tax";
    terminal::line("\n5. It asks about a field it was not granted, and is refused:\n")?;
    show(&router, server, token, &base, refused).await?;
    terminal::line("\n6. What it read is in the ledger; the grant can be taken back at any moment:\n")?;
    terminal::line(&format!("   pdpp audit --data {}", data.display()))?;
    terminal::line(&format!("   pdpp grant list --data {}", data.display()))?;
    Ok(())
}

/// Asks the router as a client would, shows what came back, and how to repeat it.
async fn show(router: &Router, server: &Server, token: &str, base: &str, path: &str) -> anyhow::Result<()> {
    let request = Request::builder()
        .uri(path.replace('[', "%5B").replace(']', "%5D"))
        .header("host", server.address().to_string())
        .header("authorization", format!("Bearer {token}"))
        .body(Body::empty())?;
    let response = router.clone().oneshot(request).await?;
    let body = to_bytes(response.into_body(), 1 << 20).await?;
    let answer: Value = serde_json::from_slice(&body)?;
    for line in summary(&answer) {
        terminal::line(&format!("   {line}"))?;
    }
    terminal::line(&format!("   curl -gH 'Authorization: Bearer {token}' '{base}{path}'"))?;
    Ok(())
}

fn summary(answer: &Value) -> Vec<String> {
    let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    if answer.get("error").is_some() {
        return vec![format!("{}: {}", text("/error/code"), text("/error/message"))];
    }
    if answer.get("window").is_some() {
        let number = |pointer: &str| answer.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
        let (start, end) = (number("/window/start_chars"), number("/window/end_chars"));
        let place = format!("characters {start} to {end} of {}", number("/window/total_chars"));
        return vec![place, format!("“…{}…”", text("/window/text"))];
    }
    let hits = answer.get("data").and_then(Value::as_array).into_iter().flatten();
    let excerpts: Vec<_> = hits
        .filter_map(|hit| {
            let preview = hit.pointer("/evidence_excerpts/0/preview_text")?.as_str()?;
            Some(format!("{}  “{preview}”", hit["result_id"].as_str()?))
        })
        .collect();
    if !excerpts.is_empty() {
        return excerpts;
    }
    let records = answer.get("data").and_then(Value::as_array).cloned().unwrap_or_default();
    records
        .iter()
        .map(|record| record.get("data").unwrap_or(record).to_string())
        .map(|line| shortened(&line))
        .collect()
}

fn shortened(line: &str) -> String {
    let mut short: String = line.chars().take(150).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
