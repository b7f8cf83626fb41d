//! No answer changes with the store: the same hour of mixed reads and writes, one request for every second, is put to a
//! server over a data directory and to one over a database, and every answer is compared.
//!
//! Each server makes ids, cursors and times of its own; those are compared by when they were first met.

mod hour;
mod spelled;

use pdpp_testkit::PostgresServer;
use serde_json::Value;

use crate::support::{Answer, Client, Pdpp, Server, fixture};
use hour::{Hour, Request};
use spelled::Spelled;

/// One for every second.
const REQUESTS: usize = 3_600;

/// A server, who asks it, and what it said last.
struct Side {
    server: Server,
    owner: String,
    readers: Vec<(String, String)>,
    pdpp: Pdpp,
    spelled: Spelled,
    /// The next page of the last list, and where its changes go on.
    next: Option<String>,
    since: Option<String>,
}

impl Side {
    fn open(pdpp: Pdpp) -> Self {
        pdpp.ok(&["import", "--manifest", &fixture("manifest.json"), &fixture("records.jsonl")]);
        let grants: [&[&str]; 3] = [
            &["--stream", "messages:id,text,sent_at"],
            &["--stream", "messages", "--until", "2025-12-01T00:00:00Z"],
            &["--stream", "channels", "--stream", "messages:id,author,channel_id"],
        ];
        let readers = grants.iter().map(|args| pdpp.grant(args)).collect();
        let owner = pdpp.owner_token();
        let server =
            Server::start(pdpp.command(&["serve", "--listen", "127.0.0.1:0", "--requests-per-minute", "0"]));
        Self { server, owner, readers, pdpp, spelled: Spelled::default(), next: None, since: None }
    }

    fn client(&self, who: usize) -> Client {
        let token = match who {
            0 => &self.owner,
            reader => &self.readers[reader - 1].0,
        };
        self.server.client(token)
    }

    fn answer(&mut self, request: &Request) -> (u16, Value) {
        let answer = match request {
            Request::Get(who, path) => self.client(*who).get(path),
            Request::Next(who) => match self.next.take() {
                Some(path) => self.client(*who).get(&path),
                None => return (0, Value::Null),
            },
            Request::Changes(who, stream) => {
                let since = self.since.take().unwrap_or_else(|| "beginning".to_owned());
                let path = format!("/v1/streams/{stream}/records?limit=40&changes_since={since}");
                self.client(*who).get(&path)
            }
            Request::Ingest(stream, lines) => {
                let path = format!("/v1/ingest/{stream}?connector_id=harbour-chat");
                self.client(0).post(&path, "application/x-ndjson", lines.clone())
            }
            Request::Revoke(reader) => {
                self.pdpp.ok(&["grant", "revoke", &self.readers[*reader].1]);
                return (0, Value::Null);
            }
        };
        self.remember(request, &answer);
        (answer.status, self.spelled.of(&answer.body))
    }

    /// A page goes on for whoever began it.
    fn remember(&mut self, request: &Request, answer: &Answer) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if let Request::Get(..) | Request::Next(_) = request {
            self.next = text(&answer.body["links"]["next"]);
        }
        if let Request::Changes(..) = request {
            self.since = text(&answer.body["next_changes_since"]);
        }
    }
}

#[test]
fn an_hour_of_reads_and_writes_has_the_same_answers_on_both_stores() {
    let database = PostgresServer::of_this_run().empty();
    let (mut directory, mut server) = (Side::open(Pdpp::new()), Side::open(Pdpp::over(&database)));
    let mut statuses = std::collections::BTreeMap::<u16, usize>::new();
    for (number, request) in Hour::new(11).take(REQUESTS).enumerate() {
        let (one, other) = (directory.answer(&request), server.answer(&request));
        assert_eq!(one.0, other.0, "{number}: {request:?}\n{:#}\n{:#}", one.1, other.1);
        assert!(one.1 == other.1, "{number}: {request:?}\n{:#}\n{:#}", one.1, other.1);
        *statuses.entry(one.0).or_default() += 1;
    }
    assert!(statuses[&200] > REQUESTS / 2 && statuses.len() >= 4, "the hour is mixed: {statuses:?}");
}
