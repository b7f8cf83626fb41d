//! Receivers that answer at once and remember when they heard of what.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pdpp_wire::{ConnectionId, Instant};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::load::Done;

#[derive(Default)]
struct Heard {
    challenges: usize,
    events: usize,
    /// When each write to a connection began, in order.
    writes: HashMap<ConnectionId, Vec<Instant>>,
    /// Up to which time each subscription was told, and of which connection.
    told: HashMap<String, (ConnectionId, Instant)>,
    lags: Vec<Duration>,
}

pub(crate) struct Receivers {
    hosts: Vec<String>,
    heard: Arc<Mutex<Heard>>,
}

impl Receivers {
    pub(crate) async fn start(count: usize) -> Self {
        let heard = Arc::new(Mutex::new(Heard::default()));
        let mut hosts = Vec::new();
        for _ in 0..count {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            hosts.push(listener.local_addr().unwrap().to_string());
            let heard = Arc::clone(&heard);
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let heard = Arc::clone(&heard);
                    tokio::spawn(async move { take(stream, &heard).await });
                }
            });
        }
        Self { hosts, heard }
    }

    pub(crate) fn host(&self, n: usize) -> String {
        self.hosts[n % self.hosts.len()].clone()
    }

    pub(crate) fn events(&self) -> usize {
        self.heard.lock().unwrap().events
    }

    /// Remembers that a connection changes from now on.
    pub(crate) fn writing(&self, connection: &ConnectionId, at: Instant) {
        self.heard.lock().unwrap().writes.entry(connection.clone()).or_default().push(at);
    }

    pub(crate) async fn wait_for_challenges(&self, count: usize) {
        while self.heard.lock().unwrap().challenges < count {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until everything was told; gives the lags, least first.
    pub(crate) async fn settled(&self, done: &Done) -> Vec<Duration> {
        let last: HashMap<&ConnectionId, Instant> = done.last.iter().map(|(id, at)| (id, *at)).collect();
        let all = last.len() * crate::READERS;
        let told = || {
            let heard = self.heard.lock().unwrap();
            let up_to_date =
                |(id, until): &&(ConnectionId, Instant)| last.get(id).is_some_and(|at| until >= at);
            heard.told.values().filter(up_to_date).count()
        };
        for _ in 0..1_200 {
            if told() == all {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(told(), all, "somebody was never told");
        let mut lags = std::mem::take(&mut self.heard.lock().unwrap().lags);
        lags.sort_unstable();
        assert!(!lags.is_empty(), "nothing was told");
        lags
    }
}

async fn take(mut stream: TcpStream, heard: &Mutex<Heard>) -> Option<()> {
    let mut bytes = Vec::new();
    let body = loop {
        let mut chunk = [0; 4_096];
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase().lines().find_map(|line| {
                line.strip_prefix("content-length: ").and_then(|length| length.trim().parse::<usize>().ok())
            })?;
            if body.len() >= length {
                break body.to_owned();
            }
        }
    };
    let event: Value = serde_json::from_str(&body).ok()?;
    let answer = note(&event, &mut heard.lock().unwrap());
    let before = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", answer.len());
    stream.write_all((before + answer).as_bytes()).await.ok()
}

#[expect(clippy::disallowed_methods, reason = "lag is measured in real time")]
fn note(event: &Value, heard: &mut Heard) -> &'static str {
    if event["data"].get("challenge").is_some() {
        heard.challenges += 1;
        return r#"{"challenge":"echo"}"#;
    }
    let now: Instant = jiff::Timestamp::now().into();
    heard.events += 1;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let subscription = text(&event["data"]["subscription_id"]);
    let Ok(connection) = ConnectionId::parse(text(&event["data"]["connection_id"])) else { return "" };
    // The event stands for everything that was written when its words were settled.
    let until = Instant::parse(&text(&event["time"])).unwrap_or(now);
    let before = heard.told.get(&subscription).map_or(Instant::from_micros(i64::MIN), |(_, until)| *until);
    let writes = heard.writes.get(&connection).cloned().unwrap_or_default();
    for begun in writes.into_iter().filter(|at| *at > before && *at <= until) {
        heard.lags.push(Duration::from_micros(u64::try_from(now.micros() - begun.micros()).unwrap_or(0)));
    }
    heard.told.insert(subscription, (connection, until));
    ""
}
