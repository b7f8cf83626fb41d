//! The page for a client that leaves the choice to the owner: everything that holds records, with nothing ticked.

use askama::Template;
use pdpp_auth::{
    DATA_ACCESS, DEFAULT_PURPOSE, Detail, DetailSource, Narrowing, Necessity, Review, StreamAsk,
};
use pdpp_wire::{AccessMode, Instant, TimeRange};

use super::ClientBlock;
use super::callbacks::CallbackBox;
use super::choice::{expiry, mode};
use super::declared::{Declared, Words, spelled};
use super::ticks::Ticks;
use super::view::Expiry;
use crate::artifact::{Artifact, OfferedSource, Picker};
use crate::form::Form;
use crate::frame::Frame;
use crate::moment::Moment;
use crate::purpose;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "picker.html")]
pub(super) struct PickerPage {
    frame: Frame,
    notice: Option<String>,
    approval_id: String,
    revision: String,
    decide_until: Option<Moment>,
    client: ClientBlock,
    purpose: &'static str,
    sources: Vec<SourceRow>,
    since: String,
    until: String,
    single_use: bool,
    expiries: Vec<Expiry>,
    callbacks: Vec<CallbackBox>,
}

struct SourceRow {
    index: usize,
    label: String,
    connections: Vec<ConnectionRow>,
}

struct ConnectionRow {
    index: usize,
    label: String,
    streams: Vec<StreamRow>,
}

struct StreamRow {
    place: String,
    id: String,
    words: Words,
    fields: String,
    ticked: bool,
    timeless: bool,
}

pub(super) fn page(
    visit: &Visit,
    (review, artifact, picker): (&Review, &Artifact, &Picker),
    declared: &Declared<'_>,
    (notice, form): (Option<String>, Option<&Form>),
) -> PickerPage {
    let (ticks, sources) = (Ticks(form), picker.sources.iter().enumerate());
    PickerPage {
        frame: visit.frame("Choose what to share"),
        notice,
        approval_id: review.approval_id.to_string(),
        revision: review.revision.clone(),
        decide_until: artifact.decide_until().map(Moment::of),
        client: ClientBlock::of(artifact),
        purpose: purpose::in_words(DEFAULT_PURPOSE).unwrap_or(DEFAULT_PURPOSE),
        sources: sources.map(|(index, source)| row((index, source), declared, ticks)).collect(),
        since: ticks.value("since", String::new()),
        until: ticks.value("until", String::new()),
        single_use: ticks.chosen("mode", "continuous") == "single_use",
        expiries: Expiry::all(ticks.chosen("expiry", "30"), "Until you take it back"),
        callbacks: CallbackBox::all(artifact, ticks),
    }
}

fn row((index, source): (usize, &OfferedSource), declared: &Declared<'_>, ticks: Ticks<'_>) -> SourceRow {
    let field = |stream: &str, name: &String| declared.field(&source.source.id, stream, name).label;
    let connections = source.connections.iter().enumerate();
    let connections = connections.map(|(at, connection)| ConnectionRow {
        index: at,
        label: connection.label(),
        streams: source
            .streams
            .iter()
            .enumerate()
            .map(|(stream, offered)| {
                let place = format!("{index}.{at}.{stream}");
                StreamRow {
                    ticked: ticks.has("pick", &place, false),
                    id: place.replace('.', "-"),
                    place,
                    words: declared.stream(&source.source.id, &offered.name),
                    fields: offered
                        .fields
                        .iter()
                        .map(|name| field(&offered.name, name))
                        .collect::<Vec<_>>()
                        .join(", "),
                    timeless: offered.time_field.is_none(),
                }
            })
            .collect(),
    });
    SourceRow { index, label: source.label(), connections: connections.collect() }
}

/// What was ticked, as a request of the owner's own.
pub(super) fn read(form: &Form, picker: &Picker, now: Instant) -> Result<Narrowing, String> {
    let text = |name: &str| form.one(name).map_err(|fault| fault.message());
    let (since, until) = (date(text("since")?)?, date(text("until")?)?);
    let range = (since.is_some() || until.is_some()).then_some(TimeRange { since, until });
    let access_mode = mode(form)?.unwrap_or(AccessMode::Continuous);
    let mut choices = Vec::new();
    for (index, source) in picker.sources.iter().enumerate() {
        let streams = chosen_streams(form, (index, source), range.as_ref())?;
        if !streams.is_empty() {
            choices.push(Detail {
                detail_type: DATA_ACCESS.to_owned(),
                source: DetailSource { id: source.source.id.clone(), kind: None },
                purpose_code: DEFAULT_PURPOSE.to_owned(),
                purpose_description: None,
                access_mode,
                retention: None,
                streams,
                selection_preset: None,
                client_claims: None,
            });
        }
    }
    if choices.is_empty() {
        return Err("Nothing is ticked. Tick what you want to allow, or deny the request.".to_owned());
    }
    Ok(Narrowing { choices, expires_at: expiry(form, now)?, ..Narrowing::default() })
}

fn chosen_streams(
    form: &Form,
    (index, source): (usize, &OfferedSource),
    range: Option<&TimeRange>,
) -> Result<Vec<StreamAsk>, String> {
    let mut streams = Vec::new();
    for (at, stream) in source.streams.iter().enumerate() {
        let connections = source.connections.iter().enumerate();
        let ticked = connections.filter(|(one, _)| form.is_ticked("pick", &format!("{index}.{one}.{at}")));
        let ids: Vec<_> = ticked.map(|(_, connection)| connection.connection_id.clone()).collect();
        if ids.is_empty() {
            continue;
        }
        if range.is_some() && stream.time_field.is_none() {
            return Err(format!(
                "{} cannot be limited in time. Untick it, or clear the dates.",
                spelled(&stream.name)
            ));
        }
        streams.push(StreamAsk {
            name: stream.name.clone(),
            necessity: Necessity::Optional,
            instance_ids: Some(ids),
            time_range: range.cloned(),
            ..StreamAsk::default()
        });
    }
    Ok(streams)
}

fn date(given: Option<&str>) -> Result<Option<String>, String> {
    match given {
        None => Ok(None),
        Some(date) if date.len() == 10 && Instant::parse(date).is_some() => Ok(Some(date.to_owned())),
        Some(date) => Err(format!("'{}' is no date; write YYYY-MM-DD.", crate::stranger::name(date))),
    }
}
