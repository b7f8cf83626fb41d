//! What is asked in an hour: the same each time, from a seed.

use serde_json::json;

/// One request; who asks is 0 for the owner, else a reader.
#[derive(Clone, Debug)]
pub(super) enum Request {
    Get(usize, String),
    /// The next page of the last list.
    Next(usize),
    /// What changed in a stream since this was asked last.
    Changes(usize, &'static str),
    Ingest(&'static str, String),
    Revoke(usize),
}

pub(super) struct Hour {
    dice: u64,
    written: u64,
    asked: u64,
    /// Whoever began a list goes on with it.
    asker: usize,
}

const WORDS: [&str; 12] = [
    "berth",
    "harbour",
    "tide",
    "choir",
    "tomatoes",
    "crane",
    "rehearsal",
    "lantern",
    "fee",
    "monday",
    "hose",
    "ferry",
];

impl Hour {
    pub(super) fn new(seed: u64) -> Self {
        Self { dice: seed, written: 0, asked: 0, asker: 0 }
    }

    fn roll(&mut self, below: u64) -> u64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 33) % below
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.roll(of.len() as u64)).unwrap()]
    }

    fn key(&mut self) -> String {
        match self.roll(2) {
            0 => format!("m_{:04}", 1 + self.roll(150)),
            _ => format!("new_{}", self.roll(self.written.max(1))),
        }
    }

    fn line(&mut self) -> String {
        if self.roll(5) == 0 {
            return json!({"key": self.key(), "op": "delete"}).to_string();
        }
        let key = if self.roll(4) == 0 { self.key() } else { format!("new_{}", self.written) };
        self.written += 1;
        let text: Vec<&str> = (0..=self.roll(29)).map(|_| self.pick(&WORDS)).collect();
        let day = 1 + self.roll(28);
        let mut data = json!({"id": key, "channel_id": self.pick(&["c_garden", "c_harbour", "c_choir"]),
            "author": self.pick(&["Ana", "Bruno", "Emre"]), "text": text.join(" "),
            "sent_at": format!("2025-{:02}-{day:02}T10:00:00Z", 9 + self.roll(4)), "stars": self.roll(6)});
        if self.roll(20) == 0 {
            data["sent_at"] = json!("yesterday");
        }
        json!({"key": key, "data": data, "emitted_at": "2026-01-01T00:00:00Z"}).to_string()
    }

    fn list(&mut self) -> String {
        let limit = 1 + self.roll(25);
        let more = match self.roll(6) {
            0 => "&order=asc".to_owned(),
            1 => format!("&filter[channel_id]={}", self.pick(&["c_garden", "c_choir", "none"])),
            2 => format!("&filter[stars][gte]={}", self.roll(6)),
            3 => "&filter[sent_at][lt]=2025-11-01T00:00:00Z&fields=id,text".to_owned(),
            4 => "&fields=id,author".to_owned(),
            _ => String::new(),
        };
        format!("/v1/streams/messages/records?limit={limit}{more}")
    }

    fn read(&mut self) -> String {
        match self.roll(12) {
            0..=3 => self.list(),
            4 | 5 => format!("/v1/streams/messages/records/{}", self.key()),
            6 => format!("/v1/streams/messages/records/{}/field-window?field=text&max_chars=60", self.key()),
            7 => format!(
                "/v1/streams/messages/aggregate?metric=count&group_by={}",
                self.pick(&["author", "channel_id"])
            ),
            8 => {
                self.pick(&["/v1/streams", "/v1/schema", "/v1/streams/messages", "/v1/connectors"]).to_owned()
            }
            9 => "/v1/streams/channels/records?limit=2".to_owned(),
            _ => {
                let words: Vec<&str> = (0..=self.roll(2)).map(|_| self.pick(&WORDS)).collect();
                format!("/v1/search?limit=5&q={}", words.join("%20"))
            }
        }
    }
}

impl Iterator for Hour {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.asked += 1;
        Some(match self.roll(10) {
            0..=2 => {
                let lines: Vec<String> = (0..=self.roll(3)).map(|_| self.line()).collect();
                Request::Ingest("messages", lines.join("\n"))
            }
            3 => Request::Next(self.asker),
            4 => Request::Changes(0, "messages"),
            _ if self.asked == 2_400 => Request::Revoke(2),
            _ => {
                self.asker = usize::try_from(self.roll(4)).unwrap();
                Request::Get(self.asker, self.read())
            }
        })
    }
}
