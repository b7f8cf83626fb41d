//! Whoever reads and writes meanwhile, and what came of each request.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Request;

use super::judge::leak;
use super::world::{Granted, World};

/// Whoever writes at the same time.
pub(super) const WRITERS: usize = 4;
/// A node that says nothing for so long has failed.
const PATIENCE: Duration = Duration::from_secs(10);
/// What every record written here says; readers of older records must never see it.
pub(super) const WORD: &str = "tempest";

/// One try at one node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub(super) at: Instant,
    pub(super) took: Duration,
    pub(super) is_answered: bool,
}

/// What everybody shares, and what came of it.
pub(super) struct Load {
    urls: Vec<String>,
    owner_token: String,
    kept: Vec<Granted>,
    revoked: Vec<Granted>,
    /// Since when nothing may be served under each of the revoked.
    pub(super) ended: Vec<Mutex<Option<Instant>>>,
    pub(super) attempts: Mutex<Vec<Attempt>>,
    /// Requests that no node answered.
    pub(super) unanswered: AtomicUsize,
    /// Why tries failed, as the node said it, and how often.
    pub(super) reasons: Mutex<BTreeMap<String, usize>>,
    pub(super) broken: Mutex<Vec<String>>,
    pub(super) acknowledged: Mutex<Vec<String>>,
    /// The reads that were answered, as the ledger calls them.
    pub(super) answered: Mutex<Vec<String>>,
}

impl Load {
    pub(super) fn new(world: &World, urls: Vec<String>) -> Self {
        Self {
            urls,
            owner_token: world.owner_token.clone(),
            kept: world.kept.clone(),
            revoked: world.revoked.clone(),
            ended: world.revoked.iter().map(|_| Mutex::default()).collect(),
            attempts: Mutex::default(),
            unanswered: AtomicUsize::new(0),
            reasons: Mutex::default(),
            broken: Mutex::default(),
            acknowledged: Mutex::default(),
            answered: Mutex::default(),
        }
    }

    pub(super) fn url(&self, node: usize) -> &str {
        &self.urls[node % self.urls.len()]
    }

    fn breaks(&self, promise: String) {
        lock(&self.broken).push(promise);
    }

    /// Asks one node, and the next when it has no answer, as whatever stands in front of nodes does.
    fn ask(&self, agent: &Agent, first: usize, request: &Asked<'_>) -> Option<Given> {
        for node in first..first + self.urls.len() {
            let at = Instant::now();
            let given = request.send(agent, self.url(node));
            let is_answered = given.as_ref().is_some_and(|given| given.status < 500);
            lock(&self.attempts).push(Attempt { at, took: at.elapsed(), is_answered });
            if is_answered {
                return given;
            }
            let reason = given.map_or("no answer".to_owned(), |given| given.reason());
            *lock(&self.reasons).entry(reason).or_default() += 1;
        }
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        None
    }
}

/// A request, wherever it goes.
struct Asked<'a> {
    path: &'a str,
    token: &'a str,
    lines: Option<&'a str>,
}

/// What came back.
pub(super) struct Given {
    pub(super) status: u16,
    pub(super) body: Value,
    request_id: String,
}

impl Given {
    fn reason(&self) -> String {
        format!("{} {}", self.status, self.body["error"]["code"].as_str().unwrap_or_default())
    }
}

impl Asked<'_> {
    fn send(&self, agent: &Agent, url: &str) -> Option<Given> {
        let request = Request::builder().uri(format!("{url}{}", self.path));
        let request = request.header("authorization", format!("Bearer {}", self.token));
        let answered = match self.lines {
            None => agent.run(request.body(()).ok()?),
            Some(lines) => {
                let request = request.method("POST").header("content-type", "application/x-ndjson");
                agent.run(request.body(lines.to_owned()).ok()?)
            }
        };
        let mut answered = answered.ok()?;
        let request_id = answered.headers().get("request-id").and_then(|id| id.to_str().ok());
        let request_id = request_id.unwrap_or_default().to_owned();
        let body = serde_json::from_str(&answered.body_mut().read_to_string().ok()?).unwrap_or_default();
        Some(Given { status: answered.status().as_u16(), body, request_id })
    }
}

fn agent() -> Agent {
    Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE)).build().into()
}

const PATHS: [&str; 4] = [
    "/v1/streams/messages/records?limit=5",
    "/v1/search?q=berth",
    "/v1/streams/channels/records?limit=3",
    "/v1/search?q=tempest",
];

/// Reads under one grant until the run ends; every fourth agent holds one that is going to be revoked.
pub(super) fn read_until(load: &Load, number: usize, ending: &AtomicBool) {
    let agent = agent();
    let doomed = (number % 4 == 3).then(|| number / 4 % load.revoked.len());
    let granted = match doomed {
        Some(index) => &load.revoked[index],
        None => &load.kept[number % load.kept.len()],
    };
    // Agents begin one after the other, and then each thinks for about a second.
    thread::sleep(Duration::from_millis(number as u64 * 7));
    for turn in number.. {
        if ending.load(Ordering::SeqCst) {
            return;
        }
        let path = PATHS[turn % PATHS.len()];
        let is_ended = doomed.is_some_and(|index| lock(&load.ended[index]).is_some());
        let given = load.ask(&agent, turn, &Asked { path, token: &granted.token, lines: None });
        if let Some(given) = given {
            if is_ended && given.status < 400 {
                load.breaks(format!("{path} was served under {}, which is revoked", granted.grant_id));
            }
            if let Some(leak) = leak(granted.shows, &given) {
                load.breaks(format!("{path} under {:?}: {leak}", granted.shows));
            }
            if given.status == 200 {
                lock(&load.answered).push(given.request_id);
            }
        }
        thread::sleep(Duration::from_millis(700 + (number as u64 * 37 + turn as u64 * 101) % 600));
    }
}

/// Writes until the run ends; only what a node acknowledged counts.
pub(super) fn write_until(load: &Load, number: usize, ending: &AtomicBool) {
    let agent = agent();
    for turn in 0_usize.. {
        if ending.load(Ordering::SeqCst) {
            return;
        }
        let keys: Vec<String> = (0..=turn % 9).map(|line| format!("w{number}_{turn}_{line}")).collect();
        let line = |key: &String| {
            json!({"key": key, "data": {"id": key, "channel_id": WORD, "author": "Nobody",
                   "text": format!("a {WORD} over the quay"), "sent_at": "2026-01-01T00:00:00Z"}})
            .to_string()
        };
        let lines = keys.iter().map(line).collect::<Vec<_>>().join("\n");
        let path = "/v1/ingest/messages?connector_id=harbour-chat";
        let asked = Asked { path, token: &load.owner_token, lines: Some(&lines) };
        match load.ask(&agent, number + turn, &asked) {
            Some(given) if given.status == 200 && given.body["records_accepted"] == json!(keys.len()) => {
                lock(&load.acknowledged).extend(keys);
            }
            Some(given) => load.breaks(format!("a write was answered {}: {}", given.status, given.body)),
            None => {}
        }
        thread::sleep(Duration::from_millis(250));
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics with it")
}
