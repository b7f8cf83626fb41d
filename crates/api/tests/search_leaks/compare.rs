//! Compares the answers of a pair, page by page, and what they show with the grant.

use serde_json::Value;

use crate::request::Request;
use crate::server::Server;
use crate::world::World;

/// Most pages followed of one search.
const MOST_PAGES: usize = 4;

/// How much was compared, so that a run that compares nothing fails.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    requests: u64,
    hits: u64,
    refused: u64,
    further_pages: u64,
    corrected: u64,
    neighbours: u64,
    excerpts: u64,
}

impl Tally {
    pub(crate) fn check(&self, requests: u64) {
        println!("{self:?}");
        assert_eq!(self.requests, requests);
        assert!(self.hits > requests, "hardly anything is found: {self:?}");
        let others = [self.further_pages, self.corrected, self.neighbours, self.refused];
        assert!(others.iter().all(|count| *count > requests / 1_000), "hardly seen: {self:?}");
        assert!(self.excerpts * 10 > self.hits * 9, "hits are hardly proven: {self:?}");
    }
}

/// Asks both for all pages.
pub(crate) fn same(world: &World, request: &Request, one: &Server, two: &Server, tally: &mut Tally) {
    tally.requests += 1;
    let mut paths = (request.path.clone(), request.path.clone());
    for page in 0..MOST_PAGES {
        let ((status, mut first), (other, mut second)) = (one.ask(&paths.0), two.ask(&paths.1));
        let next = (take_cursor(&mut first), take_cursor(&mut second));
        let shown = |body: &Value| serde_json::to_string_pretty(body).expect("JSON");
        assert_eq!(
            (status, shown(&first)),
            (other, shown(&second)),
            "page {page} of {} differs\n{:#?}",
            request.path,
            world.grant
        );
        tally.refused += u64::from(status != 200);
        if status == 200 {
            check(world, &first, tally);
        }
        let (Some(first), Some(second)) = next else { return };
        tally.further_pages += 1;
        paths = (format!("{}&cursor={first}", request.path), format!("{}&cursor={second}", request.path));
    }
}

/// Cursors are opaque; what counts is what they fetch. Ids of requests are random.
fn take_cursor(body: &mut Value) -> Option<String> {
    let cursor = body["next_cursor"].take().as_str().map(str::to_owned);
    if let Some(links) = body.get_mut("links") {
        links.take();
    }
    if let Some(error) = body.get_mut("error").and_then(Value::as_object_mut) {
        error.remove("request_id");
    }
    cursor
}

/// Everything shown is of a record inside the grant, and of a granted field.
fn check(world: &World, body: &Value, tally: &mut Tally) {
    tally.corrected += u64::from(body["meta"]["corrected"].is_array());
    assert_eq!(body["meta"]["index"]["state"], "current");
    for hit in body["data"].as_array().expect("hits") {
        tally.hits += 1;
        let (stream, key) =
            (hit["stream"].as_str().expect("a name"), hit["record_key"].as_str().expect("a key"));
        let held = world.records.iter().filter(|(place, _)| place.1 == stream && place.2 == key);
        let covering: Vec<_> =
            held.filter_map(|(place, data)| Some((world.cover(place, data)?, data))).collect();
        assert!(!covering.is_empty(), "{hit} is outside the grant");
        tally.neighbours += u64::from(hit["evidence"] == "conversation_neighbour");
        let excerpts = hit["evidence_excerpts"].as_array();
        tally.excerpts += u64::from(excerpts.is_some_and(|excerpts| !excerpts.is_empty()));
        let paths = hit["matched_fields"].as_array().expect("fields").iter().filter_map(Value::as_str);
        let shown = excerpts.into_iter().flatten().filter_map(|excerpt| excerpt["field_path"].as_str());
        for path in paths.chain(shown) {
            let top = path.split('.').next().unwrap_or(path);
            assert!(covering[0].0.fields.contains(&top), "{path} is not granted: {hit}");
        }
        if hit.get("authored_at").is_some() {
            assert!(covering[0].0.fields.contains(&"at"), "the time is not granted: {hit}");
        }
    }
}
