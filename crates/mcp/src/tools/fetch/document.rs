//! The document of a record: `{id, title, text, url, metadata}`, the same in both halves.
//!
//! Declared roles come first. The names `title`, `text` and their kin are those of the fetch contract and count
//! for a record that was asked for by its id; they prove nothing elsewhere.

use pdpp_evidence::{
    Content, Display, Extent, RecordHandle, Roles, classify, neutralise, percent_encode_segment,
};
use serde_json::{Map, Value, json};

use super::fields::Source;
use super::payload::Payload;
use super::related::Related;
use super::room::Room;
use super::{blank, metadata};
use crate::Adapter;
use crate::outcome::Outcome;
use crate::{ladder, record, tokens};

const TITLES: [&str; 4] = ["title", "name", "subject", "summary"];
const TEXTS: [&str; 4] = ["text", "content", "body", "summary"];
const URLS: [&str; 4] = ["url", "record_url", "href", "source_url"];
const TIMES: [&str; 6] =
    ["sent_at", "authored_at", "created_at", "source_created_at", "occurred_at", "updated_at"];

const TITLE_CHARS: usize = 200;
const URL_CHARS: usize = 2_000;
/// What a result may cost by our estimate; the rest is headroom for what it misses.
const BUDGET: usize = tokens::RESULT - 100;

/// A fetched record, and what is known about it.
pub(super) struct Record<'v> {
    pub(super) adapter: &'v Adapter,
    pub(super) handle: &'v RecordHandle,
    /// The id as the document shows it.
    pub(super) shown_id: String,
    /// The id that continuations use.
    pub(super) read_id: String,
    pub(super) row: &'v Map<String, Value>,
    pub(super) payload: Payload<'v>,
    pub(super) related: Related,
    /// The fields that were asked for; none when all were.
    pub(super) asked: &'v [&'v str],
    pub(super) roles: Roles,
}

/// A value of the record and the field it stands in.
#[derive(Clone, Copy)]
pub(super) struct Found<'v> {
    pub(super) field: &'v str,
    pub(super) value: &'v str,
}

/// The roles of the stream, looked up only where names leave the title or the text open and a field could fill it.
pub(super) async fn roles(adapter: &Adapter, handle: &RecordHandle, row: &Map<String, Value>) -> Roles {
    let payload = record::payload(row);
    let open = named(payload, &TITLES).is_none() || named(payload, &TEXTS).is_none();
    let candidates = ladder::content_fields(row).any(|(name, value)| {
        !blank(value) && !TITLES.contains(&name.as_str()) && !TEXTS.contains(&name.as_str())
    });
    if !(open && candidates) {
        return Roles::default();
    }
    adapter.roles.of(adapter, &handle.stream, handle.connection_id.as_deref()).await
}

impl<'v> Record<'v> {
    pub(super) fn display(&self) -> Display<'v> {
        self.roles.display(self.payload.members)
    }

    /// The result: the document as one line of JSON, and again as data beside its ladder.
    pub(super) fn outcome(&self) -> Outcome {
        let (title, text) = (self.title(), self.text());
        let rendered = [title, text].map(|found| found.map_or("", |found| found.field));
        let ladder =
            ladder::single(self.adapter, self.handle, &self.read_id, self.row, &rendered, self.asked);
        let ladder_cost = tokens::estimate_json(&ladder);
        let source = Source::of(text, &self.payload);
        let mut room = Room::of(source.most_chars());
        let (line, mut document, whole) = loop {
            let (document, whole) = self.document(title, &source, room);
            let line = Value::Object(document.clone()).to_string();
            let cost = tokens::estimate(&line) + tokens::estimate_json(&json!(line)) + ladder_cost;
            match room.smaller() {
                Some(smaller) if cost > BUDGET => room = smaller,
                _ => break (line, document, whole),
            }
        };
        // What is shown whole is not repeated, so that the ladder costs no more than was thought.
        let ladder = ladder::settled(ladder, |name| whole.contains(&name));
        document.insert("content_ladder".to_owned(), ladder);
        Outcome::new(line, document.into())
    }

    /// The document, and the fields it shows whole.
    fn document(
        &self,
        title: Option<Found<'v>>,
        source: &Source<'v>,
        room: Room,
    ) -> (Map<String, Value>, Vec<&'v str>) {
        let body = source.body(room.text);
        let shown_title = self.shown_title(title);
        let mut document = Map::new();
        document.insert("id".to_owned(), self.shown_id.clone().into());
        document.insert("title".to_owned(), neutralise(&shown_title).text.into());
        document.insert("text".to_owned(), neutralise(&body.shown).text.into());
        document.insert("url".to_owned(), neutralise(&self.url()).text.into());
        let title = title.filter(|title| fits_title(title.value));
        let (metadata, whole) = metadata::metadata(self, &document, title, &body, room);
        document.insert("metadata".to_owned(), metadata.into());
        (document, whole)
    }

    fn title(&self) -> Option<Found<'v>> {
        let declared = self.display().title.and_then(|value| self.field_of(value));
        declared.or_else(|| named(self.payload.members, &TITLES)).or_else(|| named(self.row, &TITLES))
    }

    fn text(&self) -> Option<Found<'v>> {
        let declared = self.display().body.and_then(|value| self.field_of(value));
        declared.or_else(|| named(self.payload.members, &TEXTS)).or_else(|| named(self.row, &TEXTS))
    }

    /// The field that holds exactly this text.
    fn field_of(&self, value: &'v str) -> Option<Found<'v>> {
        let same = |(_, it): &(&String, &Value)| it.as_str().is_some_and(|text| std::ptr::eq(text, value));
        self.payload.members.iter().find(same).map(|(field, _)| Found { field, value })
    }

    fn shown_title(&self, title: Option<Found<'v>>) -> String {
        if let Some(title) = title {
            let (head, extent) = Extent::head(title.value.trim(), TITLE_CHARS);
            return if extent.truncated { format!("{head}…") } else { head.to_owned() };
        }
        let label = ["display_name", "connector_key", "connection_id", "connector_instance_id"]
            .iter()
            .find_map(|name| {
                record::text(self.row, name).or_else(|| record::text(self.payload.members, name))
            })
            .map(short_name);
        let authored = TIMES.iter().find_map(|name| record::text(self.payload.members, name));
        let time = self.display().event_time.or(authored).or_else(|| record::text(self.row, "emitted_at"));
        if label.is_none() && time.is_none() {
            return self.shown_id.clone();
        }
        let parts = [label, Some(&*self.handle.stream), time];
        let parts = parts.into_iter().flatten().map(|part| Extent::head(part, 80).0);
        parts.collect::<Vec<_>>().join(" / ")
    }

    /// Where people find the record: its own address, else that of the record route.
    fn url(&self) -> String {
        let own = [self.payload.members, self.row].into_iter().find_map(|members| {
            URLS.iter().find_map(|name| record::text(members, name).filter(|url| is_address(url)))
        });
        let base = self.adapter.provider_url().trim_end_matches('/');
        match own {
            Some(path) if path.starts_with('/') => format!("{base}{path}"),
            Some(url) => url.to_owned(),
            None => {
                let path = format!(
                    "{base}/v1/streams/{}/records/{}",
                    percent_encode_segment(&self.handle.stream),
                    percent_encode_segment(&self.handle.record_id)
                );
                match &self.handle.connection_id {
                    Some(connection) => {
                        format!("{path}?connection_id={}", percent_encode_segment(connection))
                    }
                    None => path,
                }
            }
        }
    }
}

fn named<'v>(members: &'v Map<String, Value>, names: &[&'static str]) -> Option<Found<'v>> {
    names.iter().find_map(|name| {
        let (field, value) = members.get_key_value(*name)?;
        let text = value.as_str().filter(|_| !blank(value) && classify(value) == Content::Text)?;
        Some(Found { field, value: text })
    })
}

fn fits_title(text: &str) -> bool {
    !Extent::head(text.trim(), TITLE_CHARS).1.truncated
}

/// An address one may follow; a `data:` or `javascript:` URL is none, and ours are for tools.
fn is_address(url: &str) -> bool {
    let scheme = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    let path = url.starts_with('/') && !url.starts_with("//");
    (scheme || path) && url.chars().count() <= URL_CHARS && !url.contains(char::is_whitespace)
}

/// The last word of a source's id: `urn:pdpp:source:chat` and `https://registry.test/connectors/chat` are `chat`.
fn short_name(source: &str) -> &str {
    let is_id = source.starts_with("urn:") || source.contains("://");
    source.rsplit(['/', ':']).next().filter(|name| is_id && !name.is_empty()).unwrap_or(source)
}
