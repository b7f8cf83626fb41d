//! The page of a request that says what it wants.

use askama::Template;
use pdpp_auth::Review;
use pdpp_wire::{AccessMode, OnExpiry};

use super::ClientBlock;
use super::callbacks::CallbackBox;
use super::declared::{Declared, Words};
use super::ticks::Ticks;
use crate::artifact::{Artifact, AskedSource, Stream};
use crate::form::Form;
use crate::frame::Frame;
use crate::moment::{self, Moment};
use crate::visit::Visit;
use crate::{purpose, stranger};

#[derive(Template)]
#[template(path = "consent.html")]
pub(super) struct ConsentPage {
    frame: Frame,
    notice: Option<String>,
    approval_id: String,
    revision: String,
    decide_until: Option<Moment>,
    client: ClientBlock,
    sources: Vec<SourceBlock>,
    /// How many other sources the client does not see.
    other_sources: usize,
    /// Whether training is ticked, where that is the purpose.
    training: Option<bool>,
    lasting: bool,
    single_use: bool,
    expiries: Vec<Expiry>,
    callbacks: Vec<CallbackBox>,
}

/// One way to end.
pub(super) struct Expiry {
    pub(super) value: &'static str,
    pub(super) label: String,
    pub(super) chosen: bool,
}

impl Expiry {
    pub(super) fn all(chosen: &str, as_asked: &str) -> Vec<Self> {
        let one = |value: &'static str, label: String| Self { value, label, chosen: chosen == value };
        vec![
            one("asked", as_asked.to_owned()),
            one("7", "After 7 days".to_owned()),
            one("30", "After 30 days".to_owned()),
            one("90", "After 90 days".to_owned()),
        ]
    }
}

struct SourceBlock {
    index: usize,
    label: String,
    id: String,
    purpose: Option<&'static str>,
    purpose_code: String,
    purpose_description: Option<String>,
    retention: Option<String>,
    commitments: Vec<String>,
    mode: &'static str,
    /// To choose from; empty when there is nothing to choose.
    connections: Vec<ConnectionBox>,
    must_choose: bool,
    /// The only connection.
    connection: Option<String>,
    streams: Vec<StreamBlock>,
    withheld: Vec<String>,
}

struct ConnectionBox {
    place: String,
    id: String,
    label: String,
    ticked: bool,
}

struct StreamBlock {
    place: String,
    id: String,
    words: Words,
    required: bool,
    ticked: bool,
    fields: Vec<FieldBox>,
    shown: usize,
    declared: usize,
    withheld: Vec<String>,
    window: String,
    time_field: Option<String>,
    since: String,
    until: String,
    resources: Option<usize>,
}

struct FieldBox {
    place: String,
    id: String,
    words: Words,
    /// Why it cannot be left out.
    lock: Option<&'static str>,
    ticked: bool,
}

pub(super) fn page(
    visit: &Visit,
    (review, artifact): (&Review, &Artifact),
    declared: &Declared<'_>,
    (notice, form): (Option<String>, Option<&Form>),
) -> ConsentPage {
    let ticks = Ticks(form);
    let lasting = artifact.sources.iter().any(|source| source.access_mode == AccessMode::Continuous);
    let trains = artifact.sources.iter().any(|source| purpose::is_training(&source.purpose_code));
    let sources = artifact.sources.iter().enumerate();
    ConsentPage {
        frame: visit.frame("A request for your data"),
        notice,
        approval_id: review.approval_id.to_string(),
        revision: review.revision.clone(),
        decide_until: artifact.decide_until().map(Moment::of),
        client: ClientBlock::of(artifact),
        sources: sources.map(|(index, source)| source_block((index, source), declared, ticks)).collect(),
        other_sources: declared.others(artifact),
        training: trains.then(|| ticks.has("ai_training", "yes", false)),
        lasting,
        single_use: ticks.chosen("mode", "asked") == "single_use",
        expiries: Expiry::all(
            ticks.chosen("expiry", "asked"),
            if lasting { "As asked: until you take it back" } else { "As asked: after one day" },
        ),
        callbacks: CallbackBox::all(artifact, ticks),
    }
}

fn source_block(
    (index, source): (usize, &AskedSource),
    declared: &Declared<'_>,
    ticks: Ticks<'_>,
) -> SourceBlock {
    let all = source.connections();
    let connection = match all.as_slice() {
        [only] => Some(only.label()),
        _ => None,
    };
    let boxes = all.iter().enumerate().map(|(at, connection)| {
        let place = format!("{index}.{at}");
        ConnectionBox {
            ticked: ticks.has("connection", &place, !source.must_choose()),
            id: place.replace('.', "-"),
            place,
            label: connection.label(),
        }
    });
    let streams = source.streams.iter().enumerate();
    let claims = source.client_claims.iter().flat_map(|claims| &claims.commitments);
    SourceBlock {
        index,
        label: source.label(),
        id: stranger::words(&source.source.id),
        purpose: purpose::in_words(&source.purpose_code),
        purpose_code: stranger::words(&source.purpose_code),
        purpose_description: source.purpose_description.as_deref().map(stranger::words),
        retention: source.retention.as_ref().map(|retention| {
            let then = match retention.on_expiry {
                OnExpiry::Delete => "deletes it",
                OnExpiry::Anonymize => "removes your name from it",
            };
            format!(
                "It keeps what it read for at most {} and then {then}.",
                moment::duration(&retention.max_duration)
            )
        }),
        commitments: claims.map(|text| stranger::words(text)).collect(),
        mode: match source.access_mode {
            AccessMode::Continuous => {
                "It can read again and again, also what arrives later, until access ends."
            }
            AccessMode::SingleUse => "It gets access once and can read for one day.",
        },
        connections: if connection.is_some() { Vec::new() } else { boxes.collect() },
        must_choose: source.must_choose(),
        connection,
        streams: streams
            .map(|(at, stream)| stream_block((format!("{index}.{at}"), source), stream, declared, ticks))
            .collect(),
        withheld: source
            .withheld_streams
            .iter()
            .map(|name| declared.stream(&source.source.id, name).label)
            .collect(),
    }
}

fn stream_block(
    (place, source): (String, &AskedSource),
    stream: &Stream,
    declared: &Declared<'_>,
    ticks: Ticks<'_>,
) -> StreamBlock {
    let constraint = stream.time_constraint.as_ref();
    let bound = |bound: Option<&String>| bound.map(|text| moment::date_input(text)).unwrap_or_default();
    let field = |(at, name): (usize, &String)| {
        let place = format!("{place}.{at}");
        let lock = stream.lock(name);
        FieldBox {
            ticked: lock.is_some() || ticks.has("field", &place, true),
            id: place.replace('.', "-"),
            place,
            words: declared.field(&source.source.id, &stream.name, name),
            lock,
        }
    };
    let label = |name: &String| declared.field(&source.source.id, &stream.name, name).label;
    let time_field = constraint.map(|one| one.field.as_str()).or(stream.time_field.as_deref());
    StreamBlock {
        ticked: ticks.has("stream", &place, true),
        id: place.replace('.', "-"),
        words: declared.stream(&source.source.id, &stream.name),
        required: stream.is_required(),
        fields: stream.fields.iter().enumerate().map(field).collect(),
        shown: stream.fields.len(),
        declared: stream.fields.len() + stream.withheld_fields.len(),
        withheld: stream.withheld_fields.iter().map(label).collect(),
        window: moment::window_of(constraint),
        time_field: time_field.map(|name| declared.field(&source.source.id, &stream.name, name).label),
        since: ticks.value(&format!("since.{place}"), bound(constraint.and_then(|one| one.since.as_ref()))),
        until: ticks.value(&format!("until.{place}"), bound(constraint.and_then(|one| one.until.as_ref()))),
        resources: stream.resources.as_ref().map(Vec::len),
        place,
    }
}
