//! A webhook receiver in a thread of its own, with its own idea of what a signature is.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

#[derive(Clone, Debug)]
pub(crate) struct Hook {
    pub(crate) id: String,
    timestamp: String,
    signature: String,
    raw: String,
    pub(crate) event: Value,
}

impl Hook {
    /// Whether it was signed with this secret: `v1,` and base64 of HMAC-SHA256 over id, timestamp and body.
    pub(crate) fn is_signed_with(&self, secret: &str) -> bool {
        let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let message = format!("{}.{}.{}", self.id, self.timestamp, self.raw);
        let expected = format!("v1,{}", STANDARD.encode(hmac_sha256(&key, message.as_bytes())));
        self.signature.split(' ').any(|one| one == expected)
    }

    pub(crate) fn kind(&self) -> &str {
        self.event["type"].as_str().unwrap()
    }
}

/// RFC 2104, written out, so that the signer is not checked against itself.
fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    assert!(key.len() <= 64);
    let pad =
        |byte: u8| -> Vec<u8> { (0..64).map(|place| key.get(place).copied().unwrap_or(0) ^ byte).collect() };
    let inner = Sha256::digest([pad(0x36).as_slice(), message].concat());
    Sha256::digest([pad(0x5c).as_slice(), &inner].concat()).into()
}

pub(crate) struct Receiver {
    address: String,
    hooks: Arc<Mutex<Vec<Hook>>>,
}

impl Receiver {
    /// Takes everything and echoes challenges.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let hooks = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&hooks);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || take(stream.unwrap(), &kept));
            }
        });
        Self { address, hooks }
    }

    pub(crate) fn host(&self) -> &str {
        &self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub(crate) fn hooks(&self) -> Vec<Hook> {
        self.hooks.lock().unwrap().clone()
    }

    /// Waits for the first event that this is true of.
    #[track_caller]
    pub(crate) fn wait(&self, what: impl Fn(&Hook) -> bool) -> Hook {
        for _ in 0..3_000 {
            if let Some(found) = self.hooks().into_iter().find(&what) {
                return found;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("it never came; these did: {:?}", self.hooks())
    }
}

/// `None` when the sender went away in the middle.
fn take(stream: TcpStream, hooks: &Mutex<Vec<Hook>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.to_owned())),
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let mut body = vec![0; header("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let raw = String::from_utf8(body).ok()?;
    let event: Value = serde_json::from_str(&raw).ok()?;
    let answer = match event["data"].get("challenge") {
        Some(challenge) => json!({ "challenge": challenge }).to_string(),
        None => String::new(),
    };
    hooks.lock().unwrap().push(Hook {
        id: header("webhook-id")?,
        timestamp: header("webhook-timestamp")?,
        signature: header("webhook-signature")?,
        raw,
        event,
    });
    let length = answer.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    reader.get_mut().write_all((head + &answer).as_bytes()).ok()
}
