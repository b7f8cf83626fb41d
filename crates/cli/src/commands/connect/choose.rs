//! Asks for what `connect` was not told: which sources, streams and fields, of what time, for how long.
//!
//! A server says what it holds only to those its owner let in. Who was let in before chooses from a list; everybody else
//! names a source, or leaves the choice to the owner.

use std::collections::BTreeMap;

use pdpp_client::authorization::StreamAsk;
use pdpp_client::{Client, Limits, ProviderUrl, Request};
use pdpp_wire::Instant;
use serde_json::Value;

use super::Wanted;
use super::shown::granted_streams;
use crate::asking::{ask_until, places};
use crate::credential::CacheArgs;
use crate::screen::counted;
use crate::{moment, terminal};

/// One stream that may be read already.
struct Offered {
    source: String,
    stream: String,
    fields: Vec<String>,
}

/// Puts the answers where the flags would have been.
pub(super) async fn missing(
    wanted: &mut Wanted,
    cache: &CacheArgs,
    url: &ProviderUrl,
    now: Instant,
) -> anyhow::Result<()> {
    let offers = offered(cache, url).await.unwrap_or_default();
    wanted.sources = if offers.is_empty() { named()? } else { listed(&offers)? };
    if wanted.sources.is_empty() {
        terminal::note("The owner will choose on the server's page what you may read.");
    } else {
        wanted.since = ask_until("Only records since? A date, 90d, or Enter for all:", |text| {
            moment_or_none(text, |text| moment::parse_past(text, now)).map(|at| at.map(Instant::to_rfc3339))
        })?;
    }
    if wanted.ends_at.is_none() {
        let question = "When should it end? A date, 7d, or Enter to leave that to the owner:";
        wanted.ends_at = ask_until(question, |text| moment_or_none(text, |text| super::ends(text, now)))?;
    }
    Ok(())
}

fn moment_or_none(
    text: &str,
    read: impl Fn(&str) -> Result<Instant, crate::exit::Usage>,
) -> Result<Option<Instant>, String> {
    match text {
        "" => Ok(None),
        text => read(text).map(Some).map_err(|usage| usage.to_string()),
    }
}

/// What the kept credential of an earlier connection opens. None of its troubles matter here: there will be a new one.
async fn offered(cache: &CacheArgs, url: &ProviderUrl) -> Option<Vec<Offered>> {
    let client = Client::http(url, cache.find(url).ok()?.bearer, Limits::default()).ok()?;
    let answer = client.send(&Request::get(["v1", "schema"]).query("view", "compact")).await.ok()?;
    let schema: Value = serde_json::from_slice(&answer.body).ok()?;
    let mut offers = Vec::new();
    for connector in schema.get("connectors")?.as_array()? {
        let source = connector.pointer("/source/id").and_then(Value::as_str)?;
        let streams = granted_streams(connector);
        offers.extend(streams.into_iter().map(|(stream, fields)| Offered {
            source: source.to_owned(),
            stream,
            fields,
        }));
    }
    Some(offers)
}

type Sources = Vec<(String, Vec<StreamAsk>)>;

fn named() -> anyhow::Result<Sources> {
    let question = "Which source do you ask for? Its name, or Enter to leave it to the owner:";
    let source = ask_until(question, |text| match text {
        text if text.contains(char::is_whitespace) => Err("a source has no spaces in its name".to_owned()),
        text => Ok(text.to_owned()),
    })?;
    if source.is_empty() {
        return Ok(Vec::new());
    }
    let question = "Which streams? NAME or NAME:FIELD,FIELD, with spaces between, or Enter for all:";
    let streams = ask_until(question, |text| {
        let read = |word: &str| StreamAsk::parse(word).ok_or_else(|| format!("'{word}' names no stream"));
        text.split_whitespace().map(read).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(vec![(source, streams)])
}

fn listed(offers: &[Offered]) -> anyhow::Result<Sources> {
    terminal::note("You may read this there now; name another source with --source.");
    for (place, offer) in offers.iter().enumerate() {
        let of = format!("{}/{}", short(&offer.source), offer.stream);
        terminal::note(&format!("{:>4}  {of}  {}", place + 1, counted(offer.fields.len() as u64, "field")));
    }
    let question = "Which do you ask for? Numbers such as 1,3-5, all, or Enter to leave it to the owner:";
    let chosen = ask_until(question, |text| match text {
        "" => Ok(Vec::new()),
        text => places(text, offers.len()),
    })?;
    let mut sources: BTreeMap<String, Vec<StreamAsk>> = BTreeMap::new();
    for offer in chosen.into_iter().map(|place| &offers[place]) {
        let ask = StreamAsk { name: offer.stream.clone(), connection_id: None, fields: fields(offer)? };
        sources.entry(offer.source.clone()).or_default().push(ask);
    }
    Ok(sources.into_iter().collect())
}

/// The fields that are chosen; none means all.
fn fields(offer: &Offered) -> anyhow::Result<Vec<String>> {
    terminal::note(&format!("Fields of {}/{}:", short(&offer.source), offer.stream));
    for (place, field) in offer.fields.iter().enumerate() {
        terminal::note(&format!("{:>4}  {field}", place + 1));
    }
    ask_until("Which? Numbers, or Enter for all:", |text| match text {
        "" => Ok(Vec::new()),
        text => {
            let name = |place: usize| offer.fields[place].clone();
            places(text, offer.fields.len()).map(|places| places.into_iter().map(name).collect())
        }
    })
}

/// A source as people call it.
fn short(source: &str) -> &str {
    source.strip_prefix("urn:pdpp:source:").unwrap_or(source)
}
