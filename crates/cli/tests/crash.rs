//! Pulls the plug: whatever was acknowledged is there, exactly once, and found; the rest can be sent again.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pdpp_testkit::PostgresServer;
use serde_json::json;

use crate::support::{Answer, Client, Pdpp, Server, fixture, text};

const ROUNDS: u64 = 50;
const WRITERS: u64 = 4;
/// How long a round waits for the answer to a read.
const ANSWERED_WITHIN: Duration = Duration::from_secs(20);

/// One batch sent under load.
struct Batch {
    body: String,
    keys: Vec<String>,
    acknowledged: bool,
}

/// A small generator: the test must not depend on another crate's idea of randomness.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

#[test]
fn acknowledged_records_and_reads_survive_fifty_kills_under_load() {
    let pdpp = Pdpp::new();
    survive_kills(&pdpp);
    let verified = pdpp.ok(&["verify"]);
    assert!(verified.contains("all is well"), "the index says what the store says: {verified}");
}

/// The same where a node dies and the database goes on.
#[test]
fn acknowledged_records_and_reads_survive_fifty_kills_of_a_node_over_a_database() {
    let database = PostgresServer::of_this_run().empty();
    survive_kills(&Pdpp::over(&database));
}

fn survive_kills(pdpp: &Pdpp) {
    let empty = pdpp.write("empty.jsonl", r#"{"stream":"channels","key":"c0","data":{"id":"c0"}}"#);
    pdpp.ok(&["import", "--manifest", &fixture("manifest.json"), &empty]);
    let token = pdpp.owner_token();
    let mut expected = 0;
    let mut reads = Vec::new();
    for round in 0..ROUNDS {
        let mut server = pdpp.serve();
        let (batches, mut seen) = one_round(&mut server, &token, round);
        reads.append(&mut seen);
        let again = pdpp.serve();
        expected += check_round(&again.client(&token), round, batches);
    }
    let server = pdpp.serve();
    let streams = server.client(&token).get("/v1/streams");
    let messages =
        streams.body["data"].as_array().unwrap().iter().find(|entry| entry["name"] == "messages").unwrap();
    assert_eq!(messages["record_count"], json!(expected), "every record exactly once");
    check_ledger(pdpp, &reads);
}

/// Loads the server from several threads and kills it at a random moment.
fn one_round(server: &mut Server, token: &str, round: u64) -> (Vec<Batch>, Vec<String>) {
    let batches = Mutex::new(Vec::new());
    let reads = Mutex::new(Vec::new());
    let sent = AtomicU64::new(0);
    let client = server.client(token);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (client, batches, sent) = (client.clone(), &batches, &sent);
            scope.spawn(move || write_until_gone(&client, round, writer, batches, sent));
        }
        scope.spawn(|| read_until_gone(&client, &reads));
        let mut dice = Dice(round + 7);
        let wait = 20 + dice.roll(150);
        while sent.load(Ordering::Relaxed) < dice.roll(4) {
            thread::sleep(Duration::from_millis(1));
        }
        // A machine with much to do may never answer a read so soon; some rounds wait for one, so that there are any.
        let started = Instant::now();
        while round.is_multiple_of(10)
            && reads.lock().unwrap().is_empty()
            && started.elapsed() < ANSWERED_WITHIN
        {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(wait));
        server.kill();
    });
    (batches.into_inner().unwrap(), reads.into_inner().unwrap())
}

fn write_until_gone(client: &Client, round: u64, writer: u64, batches: &Mutex<Vec<Batch>>, sent: &AtomicU64) {
    let mut dice = Dice(round * 100 + writer);
    for number in 0.. {
        let count = 1 + dice.roll(200);
        let keys: Vec<String> = (0..count).map(|n| format!("r{round}_{writer}_{number}_{n}")).collect();
        let lines = keys.iter().map(|key| {
            json!({"key": key, "data": {"id": key, "channel_id": format!("round-{round}"), "author": "crash",
                   "text": format!("{} {}", word(round, writer, number), "x".repeat(usize::try_from(count).unwrap())),
                   "sent_at": "2026-01-01T00:00:00Z"}})
            .to_string()
        });
        let body = lines.collect::<Vec<_>>().join("\n");
        let answer = client.try_post(INGEST, NDJSON, body.clone());
        sent.fetch_add(1, Ordering::Relaxed);
        let acknowledged = match &answer {
            Some(answer) => {
                assert_eq!(answer.status, 200, "{}", answer.body);
                assert_eq!(answer.body["records_accepted"], json!(keys.len()));
                true
            }
            None => false,
        };
        batches.lock().unwrap().push(Batch { body, keys, acknowledged });
        if !acknowledged {
            return;
        }
    }
}

fn read_until_gone(client: &Client, reads: &Mutex<Vec<String>>) {
    while let Some(answer) = client.try_get("/v1/streams/messages/records?limit=3") {
        assert_eq!(answer.status, 200, "{}", answer.body);
        reads.lock().unwrap().push(answer.request_id);
    }
}

const INGEST: &str = "/v1/ingest/messages?connector_id=harbour-chat";
const NDJSON: &str = "application/x-ndjson";

/// A word of a batch's own.
fn word(round: u64, writer: u64, number: u64) -> String {
    format!("crash{round}w{writer}n{number}")
}

/// Everything acknowledged is found by the next search.
fn check_index(client: &Client, batches: &[Batch]) {
    for batch in batches.iter().filter(|batch| batch.acknowledged) {
        let key = batch.keys[0].trim_start_matches('r');
        let mut numbers = key.split('_').map(|number| number.parse::<u64>().unwrap());
        let [round, writer, number] = std::array::from_fn(|_| numbers.next().unwrap());
        let answer = searched(client, &word(round, writer, number));
        let meta = &answer.body["meta"];
        assert_eq!(meta["index"]["state"], json!("current"), "{}", answer.body);
        let least = batch.keys.len() as u64;
        assert!(meta["count"].as_u64() >= Some(least), "{least}: {}", answer.body);
    }
}

/// A node that was just started makes an owner's index when it is first asked for it, and says that it is behind until
/// then; whoever asks again is answered whole.
fn searched(client: &Client, word: &str) -> Answer {
    let ask = || client.get(&format!("/v1/search?limit=1&q={word}"));
    let mut answer = ask();
    for _ in 0..100 {
        if answer.body["meta"]["index"]["state"] != json!("behind") {
            break;
        }
        thread::sleep(Duration::from_millis(50));
        answer = ask();
    }
    answer
}

/// Everything acknowledged is there; everything else can be sent again; nothing is there twice.
fn check_round(client: &Client, round: u64, batches: Vec<Batch>) -> usize {
    let before = stored(client, round);
    for batch in batches.iter().filter(|batch| batch.acknowledged) {
        for key in &batch.keys {
            assert_eq!(before.get(key), Some(&1), "round {round}: {key} was acknowledged");
        }
    }
    check_index(client, &batches);
    for batch in batches.iter().filter(|batch| !batch.acknowledged) {
        let answer = client.post(INGEST, NDJSON, batch.body.clone());
        assert_eq!(answer.body["records_accepted"], json!(batch.keys.len()), "{}", answer.body);
    }
    let after = stored(client, round);
    let sent: usize = batches.iter().map(|batch| batch.keys.len()).sum();
    assert_eq!(after.len(), sent, "round {round}");
    assert!(after.values().all(|count| *count == 1), "round {round}: a record is there twice");
    sent
}

/// How often each key of a round is listed.
fn stored(client: &Client, round: u64) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let mut path =
        format!("/v1/streams/messages/records?limit=100&fields=id&filter[channel_id]=round-{round}");
    loop {
        let page = client.get(&path);
        assert_eq!(page.status, 200, "{}", page.body);
        for record in page.body["data"].as_array().unwrap() {
            *found.entry(text(&record["id"])).or_insert(0) += 1;
        }
        match page.body["links"]["next"].as_str() {
            Some(next) => next.clone_into(&mut path),
            None => return found,
        }
    }
}

/// Every read whose answer arrived is in the ledger.
fn check_ledger(pdpp: &Pdpp, reads: &[String]) {
    let ledger = pdpp.ok(&["audit", "--json", "--limit", "1000000"]);
    let entered: std::collections::BTreeSet<String> = ledger
        .lines()
        .map(|line| text(&serde_json::from_str::<serde_json::Value>(line).unwrap()["request_id"]))
        .collect();
    for read in reads {
        assert!(entered.contains(read), "the read {read} was answered but is not in the ledger");
    }
    assert!(!reads.is_empty());
}
