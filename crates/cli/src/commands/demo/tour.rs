//! What the demo shows: one question, its proof, the read that follows, a refusal, and the ledger.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use pdpp_auth::Issued;
use pdpp_server::{Personal, Server};
use pdpp_store::DisclosureFilter;
use serde_json::Value;
use tower::ServiceExt as _;

use super::home::Home;
use super::hosts;
use crate::commands::audit;
use crate::screen::{bold, counted, dim, number, quoted, wrapped};
use crate::terminal::{self, safe};
use crate::{holdings, screen};

const QUESTION: &str = "when do we get the deposit back";
/// How much of the letter is opened, from where its proof begins.
const WINDOW: u64 = 640;
/// Entries of the ledger that the tour made: a search is entered for each source it found something in.
const ENTRIES: u32 = 4;

/// Everything up to the ledger.
pub(super) async fn show(
    personal: &Personal,
    server: &Server,
    issued: &Issued,
    took: Duration,
) -> anyhow::Result<()> {
    show_holdings(personal, issued, took).await?;
    let reader = Reader { router: server.router(), host: server.address().to_string(), token: issued };
    heading(3, &format!("It asks: {QUESTION}?"))?;
    let hit = reader.search(server).await?;
    heading(4, "It opens the letter there, and only there")?;
    reader.window(&hit).await?;
    heading(5, "It asks for your orders, which you did not grant")?;
    let refused = reader.get("/v1/streams/orders/records?limit=5").await?;
    say(&format!("{}: {}", text(&refused, "/error/code"), text(&refused, "/error/message")))?;
    heading(6, "All of it is in your ledger")?;
    let filter = DisclosureFilter { limit: ENTRIES, ..DisclosureFilter::default() };
    let mut entries = personal.store().list_disclosures(personal.subject(), &filter).await?;
    entries.reverse();
    audit::print_table(&entries)?;
    Ok(())
}

async fn show_holdings(personal: &Personal, issued: &Issued, took: Duration) -> anyhow::Result<()> {
    let catalogue = personal.store().catalogue(personal.subject()).await?;
    let all = holdings::all(personal, &catalogue).await?;
    let total: u64 = all.iter().map(|held| held.records).sum();
    let seconds = took.as_secs_f32();
    heading(
        1,
        &format!(
            "The life of Mira Castell, who does not exist: {} in {seconds:.1} s",
            counted(total, "record")
        ),
    )?;
    let mut connections: Vec<&str> = all.iter().map(holdings::Held::label).collect();
    connections.dedup();
    for label in connections {
        let streams: Vec<String> = all
            .iter()
            .filter(|held| held.label() == label && held.records > 0)
            .map(|held| format!("{} {}", number(held.records), held.stream.as_str().replace('_', " ")))
            .collect();
        say(&format!("{label:<9} {}", streams.join(", ")))?;
    }
    heading(2, "You let an assistant read a slice of it, for one day")?;
    let opened = holdings::opened_by(&issued.grants, personal, &catalogue).await?;
    for held in &opened {
        let fields = held.fields.clone().unwrap_or_default().join(", ");
        say(&format!("{:<9} {}: {fields}; since {}", held.label(), held.stream, super::SINCE))?;
    }
    let records: u64 = opened.iter().map(|held| held.records).sum();
    say(&format!(
        "That opens {} of {}. No notes, no orders, nothing older.",
        number(records),
        counted(total, "record")
    ))
}

/// Asks as a client would, with the grant's token.
struct Reader<'t> {
    router: Router,
    host: String,
    token: &'t Issued,
}

impl Reader<'_> {
    async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let request = Request::builder()
            .uri(path)
            .header("host", &self.host)
            .header("authorization", format!("Bearer {}", self.token.access_token.reveal()))
            .body(Body::empty())?;
        let response = self.router.clone().oneshot(request).await?;
        Ok(serde_json::from_slice(&to_bytes(response.into_body(), 1 << 20).await?)?)
    }

    /// Prints the hits with their proof, and gives the first.
    async fn search(&self, server: &Server) -> anyhow::Result<Value> {
        let path = format!("/v1/search?limit=2&q={}", QUESTION.replace(' ', "+"));
        let answer = self.get(&path).await?;
        let hits = answer["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (rank, hit) in hits.iter().enumerate() {
            let when = text(hit, "/authored_at").chars().take(10).collect::<String>();
            let field = text(hit, "/evidence_excerpts/0/field_path");
            let place = format!(
                "{}. {when}  {}/{}  {}  {field}",
                rank + 1,
                text(hit, "/display_name"),
                text(hit, "/stream"),
                text(hit, "/record_key"),
            );
            say(&place)?;
            show_preview(text(hit, "/evidence_excerpts/0/preview_text"))?;
        }
        let first = hits.first().cloned().unwrap_or_default();
        let read = &first["evidence_excerpts"][0]["read"];
        let command = format!(
            "{} read field-window http://{} messages {} --field {} --offset-chars {} --limit-chars {WINDOW} --connection-id {}",
            quoted(&hosts::program_name()),
            server.address(),
            quoted(text(read, "/record_id")),
            text(read, "/field"),
            first["evidence_excerpts"][0]["start_chars"],
            text(read, "/connection_id"),
        );
        terminal::verbatim(&format!("   {}", dim(&safe(&command))))?;
        Ok(first)
    }

    async fn window(&self, hit: &Value) -> anyhow::Result<()> {
        let read = &hit["evidence_excerpts"][0]["read"];
        let path = format!(
            "{}?field={}&connection_id={}&offset_chars={}&limit_chars={WINDOW}",
            text(read, "/route"),
            text(read, "/field"),
            text(read, "/connection_id"),
            hit["evidence_excerpts"][0]["start_chars"],
        );
        let answer = self.get(&path).await?;
        let place = |name: &str| number(answer["window"][name].as_u64().unwrap_or_default());
        say(&format!("chars {}–{} of {}", place("start_chars"), place("end_chars"), place("total_chars")))?;
        let shown = safe(text(&answer, "/window/text")).into_owned();
        terminal::verbatim(&wrapped(&format!("…{shown}…"), "   │ "))?;
        Ok(())
    }
}

/// What can be done now; nothing is printed that will not be there.
pub(super) fn show_where_next(
    server: &Server,
    issued: &Issued,
    home: &Home,
    once: bool,
) -> anyhow::Result<()> {
    if once && !home.is_kept() {
        heading(7, "Nothing was kept")?;
        return say("Without --once the server stays up; --keep DIR keeps the data.");
    }
    let grants: Vec<&str> = issued.grants.iter().map(|grant| grant.grant_id.as_str()).collect();
    let data = home.path().display().to_string();
    let until = if home.is_kept() { "" } else { " (as long as this demo runs)" };
    heading(7, &format!("Give the same slice to your own assistant{until}"))?;
    hosts::print(&data, &grants)?;
    heading(8, "Or look around yourself")?;
    let (program, data) = (quoted(&hosts::program_name()), quoted(&data));
    if !once {
        let token = issued.access_token.reveal();
        say(&format!(
            "PDPP_CLIENT_TOKEN={token} {program} read search http://{} 'spare key'",
            server.address()
        ))?;
    }
    say(&format!("{program} audit --data {data}"))?;
    if let Some(grant) = grants.first() {
        say(&format!("{program} grant revoke {grant} --data {data}"))?;
    }
    if once {
        say(&format!("{program} serve --data {data}"))?;
    }
    Ok(())
}

fn heading(step: usize, words: &str) -> anyhow::Result<()> {
    let gap = if step == 1 { "" } else { "\n" };
    Ok(terminal::verbatim(&format!("{gap}{}", bold(&safe(&format!("{step}. {words}")))))?)
}

/// A line below a heading.
fn say(words: &str) -> anyhow::Result<()> {
    Ok(terminal::line(&format!("   {words}"))?)
}

/// A preview with its matches standing out.
fn show_preview(marked: &str) -> anyhow::Result<()> {
    // Record text keeps no control characters, so that two of them can stand for the marks while lines are filled.
    let line: String = safe(marked).chars().map(|c| if c == '\n' { ' ' } else { c }).collect();
    let line = line.replace("<mark>", "\u{1}").replace("</mark>", "\u{2}");
    let whole = wrapped(&format!("“{line}”"), "      ");
    let (open, close) = if screen::is_coloured() { ("\u{1b}[1;33m", "\u{1b}[0m") } else { ("[", "]") };
    Ok(terminal::verbatim(&whole.replace('\u{1}', open).replace('\u{2}', close))?)
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
