//! Invented exports of a size, and plain parsing of them.

use std::fmt::Write as _;
use std::io::{self, Read};

use pdpp_import::{Entry, Tree};
use serde::de::IgnoredAny;
use serde_json::json;

/// An export in memory.
pub(crate) struct Sample {
    plain: Plain,
    files: Vec<(String, Vec<u8>)>,
}

/// How the bytes are parsed when no records are made of them.
#[derive(Clone, Copy)]
enum Plain {
    Json,
    JsonLines,
    /// A script that assigns one JSON array.
    Script,
    Mail,
    Rows,
    Lines,
    Markdown,
}

impl Sample {
    /// About so many bytes of a format; `None` for formats that are read by what others are.
    pub(crate) fn of(format: &str, bytes: usize) -> Option<Self> {
        let (plain, files) = match format {
            "mail" => (Plain::Mail, vec![("all.mbox".to_owned(), repeated(bytes, "", "", "", message))]),
            "slack" => (Plain::Json, slack(bytes)),
            "whatsapp" => {
                (Plain::Lines, vec![("_chat.txt".to_owned(), repeated(bytes, "", "", "", whatsapp))])
            }
            "telegram" => {
                let (head, foot) = (r#"{"name":"Harbour","type":"private_group","id":7,"messages":["#, "]}");
                (Plain::Json, vec![("result.json".to_owned(), repeated(bytes, head, ",", foot, telegram))])
            }
            "chatgpt" => (Plain::Json, array("conversations.json", bytes, chatgpt)),
            "claude" => (Plain::Json, array("conversations.json", bytes, claude)),
            "notes" => (Plain::Markdown, notes(bytes)),
            "calendar" => {
                let (head, foot) = ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n", "END:VCALENDAR\r\n");
                (Plain::Lines, vec![("work.ics".to_owned(), repeated(bytes, head, "", foot, event))])
            }
            "contacts" => (Plain::Lines, vec![("all.vcf".to_owned(), repeated(bytes, "", "", "", contact))]),
            "google" => {
                let (head, foot) = (r#"{"locations":["#, "]}");
                let path = "Takeout/Location History/Records.json".to_owned();
                (Plain::Json, vec![(path, repeated(bytes, head, ",", foot, location))])
            }
            "mastodon" => (Plain::Json, mastodon(bytes)),
            "x" => {
                let account = r#"window.YTD.account.part0 = [{"account":{"accountId":"1","username":"ana","email":"a@b.example","createdAt":"2020-01-01T00:00:00.000Z","accountDisplayName":"Ana"}}]"#;
                let tweets = repeated(bytes, "window.YTD.tweets.part0 = [", ",", "]", tweet);
                (
                    Plain::Script,
                    vec![
                        ("data/account.js".to_owned(), account.as_bytes().to_vec()),
                        ("data/tweets.js".to_owned(), tweets),
                    ],
                )
            }
            "json" => (Plain::Json, array("orders.json", bytes, order)),
            "jsonl" => {
                (Plain::JsonLines, vec![("orders.jsonl".to_owned(), repeated(bytes, "", "\n", "\n", order))])
            }
            "csv" => {
                let head = "id,customer,total,placed_at,note\n";
                (Plain::Rows, vec![("orders.csv".to_owned(), repeated(bytes, head, "", "", row))])
            }
            _ => return None,
        };
        Some(Self { plain, files })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.files.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    pub(crate) fn tree(&self) -> InMemory<'_> {
        let entry =
            |(path, bytes): &(String, Vec<u8>)| Entry { path: path.clone(), bytes: bytes.len() as u64 };
        InMemory { entries: self.files.iter().map(entry).collect(), files: &self.files }
    }

    pub(crate) fn parse_plainly(&self) {
        for (_, bytes) in &self.files {
            match self.plain {
                Plain::Json => whole(bytes),
                Plain::Script => {
                    let start = bytes.iter().position(|byte| *byte == b'[').unwrap();
                    whole(&bytes[start..]);
                }
                Plain::JsonLines => {
                    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                        whole(line);
                    }
                }
                Plain::Mail => {
                    let text = std::str::from_utf8(bytes).unwrap();
                    let parser = mail_parser::MessageParser::default();
                    let parsed =
                        text.split("\nFrom ana@").filter(|part| parser.parse(part.as_bytes()).is_some());
                    assert!(parsed.count() > 0);
                }
                Plain::Rows => {
                    let mut reader = csv::Reader::from_reader(bytes.as_slice());
                    assert!(reader.byte_records().all(|row| row.is_ok()));
                }
                Plain::Lines => {
                    assert!(bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() > 0);
                }
                Plain::Markdown => {
                    let events = pulldown_cmark::Parser::new(std::str::from_utf8(bytes).unwrap()).count();
                    assert!(events > 0);
                }
            }
        }
    }
}

fn whole(json: &[u8]) {
    let IgnoredAny = serde_json::from_slice(json).unwrap();
}

/// A tree over the sample.
pub(crate) struct InMemory<'s> {
    entries: Vec<Entry>,
    files: &'s [(String, Vec<u8>)],
}

impl Tree for InMemory<'_> {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn open(&mut self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.files[index].1.as_slice()))
    }
}

fn repeated(bytes: usize, head: &str, between: &str, foot: &str, one: fn(usize) -> String) -> Vec<u8> {
    let mut text = String::from(head);
    let mut number = 0;
    while text.len() < bytes {
        if number > 0 {
            text.push_str(between);
        }
        text.push_str(&one(number));
        number += 1;
    }
    text.push_str(foot);
    text.into_bytes()
}

fn array(name: &str, bytes: usize, one: fn(usize) -> String) -> Vec<(String, Vec<u8>)> {
    vec![(name.to_owned(), repeated(bytes, "[", ",", "]", one))]
}

pub(crate) fn words(number: usize) -> String {
    const WORDS: [&str; 16] = [
        "harbour", "winter", "storage", "crane", "berth", "tide", "ropes", "garden", "invoice", "quay",
        "lamp", "letter", "engine", "sail", "paint", "choir",
    ];
    let mut text = String::new();
    for place in 0..18 {
        let word = WORDS[(number * 7 + place * place * 3 + place) % WORDS.len()];
        write!(text, "{word} ").unwrap();
    }
    text.pop();
    text
}

/// One message of a mailbox.
pub(crate) fn message(number: usize) -> String {
    format!(
        "From ana@harbour.example Mon Jan  5 10:00:00 2026\r\nFrom: Ana <ana@harbour.example>\r\n\
         To: Ben <ben@harbour.example>\r\nSubject: {}\r\nDate: Mon, 5 Jan 2026 10:00:00 +0000\r\n\
         Message-ID: <{number}@harbour.example>\r\nIn-Reply-To: <{}@harbour.example>\r\n\
         Content-Type: text/plain; charset=utf-8\r\n\r\n{}\r\n{}\r\n{}\r\n\r\n",
        words(number / 5),
        number / 5 * 5,
        words(number),
        words(number + 1),
        words(number + 2),
    )
}

fn slack(bytes: usize) -> Vec<(String, Vec<u8>)> {
    let users = json!([{"id": "U1", "team_id": "T1", "name": "ana", "real_name": "Ana"}]);
    let channels = json!([{"id": "C1", "name": "quay", "created": 1_700_000_000, "members": ["U1"]}]);
    let line = |number: usize| {
        let at = format!("{}.{:06}", 1_760_000_000 + number, number % 1_000_000);
        json!({"type": "message", "user": "U1", "text": words(number), "ts": at}).to_string()
    };
    let day = repeated(bytes, "[", ",", "]", line);
    vec![
        ("users.json".to_owned(), users.to_string().into_bytes()),
        ("channels.json".to_owned(), channels.to_string().into_bytes()),
        ("quay/2026-01-05.json".to_owned(), day),
    ]
}

fn whatsapp(number: usize) -> String {
    let (minute, second) = (number / 60 % 60, number % 60);
    let (day, hour) = (number / 86_400 % 28 + 1, number / 3_600 % 24);
    format!("[{day:02}.01.26, {hour:02}:{minute:02}:{second:02}] Ana: {}\n", words(number))
}

fn telegram(number: usize) -> String {
    let at = 1_760_000_000 + number;
    json!({"id": number + 1, "type": "message", "date": "2026-01-05T10:00:00", "date_unixtime": at.to_string(),
           "from": "Ana", "from_id": "user1", "text": words(number), "text_entities": []})
    .to_string()
}

fn chatgpt(number: usize) -> String {
    let node = |id: &str, parent: Option<&str>, child: Option<&str>, role: &str| {
        json!({"id": id, "parent": parent, "children": child.into_iter().collect::<Vec<_>>(),
               "message": {"id": id, "author": {"role": role}, "create_time": 1_760_000_000.5,
                           "content": {"content_type": "text", "parts": [words(number)]}, "status": "finished_successfully",
                           "metadata": {}}})
    };
    let (a, b) = (format!("a{number}"), format!("b{number}"));
    json!({"id": format!("c{number}"), "conversation_id": format!("c{number}"), "title": words(number),
           "create_time": 1_760_000_000.5, "update_time": 1_760_000_001.5, "current_node": b,
           "mapping": {a.clone(): node(&a, None, Some(&b), "user"), b.clone(): node(&b, Some(&a), None, "assistant")}})
    .to_string()
}

fn claude(number: usize) -> String {
    let at = "2026-01-05T10:00:00.000000Z";
    let line = |id: String, sender: &str| {
        json!({"uuid": id, "text": words(number), "sender": sender, "created_at": at, "updated_at": at,
               "content": [{"type": "text", "text": words(number)}], "attachments": [], "files": []})
    };
    json!({"uuid": format!("c-{number}"), "name": words(number), "created_at": at, "updated_at": at,
           "account": {"uuid": "acc-1"},
           "chat_messages": [line(format!("h-{number}"), "human"), line(format!("a-{number}"), "assistant")]})
    .to_string()
}

fn notes(bytes: usize) -> Vec<(String, Vec<u8>)> {
    let one = |number: usize| {
        let mut body = String::new();
        for line in 0..12 {
            write!(body, "{} #tag{}\n\n", words(number + line), line % 3).unwrap();
        }
        format!("---\ntags: [boat, quay]\nupdated: 2026-01-05\n---\n# {}\n\n{body}", words(number))
    };
    let mut files = Vec::new();
    let mut total = 0;
    while total < bytes {
        let text = one(files.len()).into_bytes();
        total += text.len();
        files.push((format!("vault/note {}.md", files.len()), text));
    }
    files
}

fn event(number: usize) -> String {
    let day = number % 28 + 1;
    format!(
        "BEGIN:VEVENT\r\nUID:{number}@harbour.example\r\nDTSTAMP:20260105T100000Z\r\nDTSTART:202601{day:02}T100000Z\r\n\
         DTEND:202601{day:02}T110000Z\r\nSUMMARY:{}\r\nDESCRIPTION:{}\r\nEND:VEVENT\r\n",
        words(number),
        words(number + 3),
    )
}

fn contact(number: usize) -> String {
    format!(
        "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:c{number}\r\nFN:Ana {number}\r\nN:{number};Ana;;;\r\n\
         EMAIL;TYPE=HOME:ana{number}@harbour.example\r\nTEL;TYPE=CELL:+49 30 {number}\r\nNOTE:{}\r\n\
         REV:2026-01-05T10:00:00Z\r\nEND:VCARD\r\n",
        words(number),
    )
}

fn location(number: usize) -> String {
    let at = format!(
        "2026-01-05T{:02}:{:02}:{:02}.{:03}Z",
        number / 3_600_000 % 24,
        number / 60_000 % 60,
        number / 1_000 % 60,
        number % 1_000
    );
    json!({"latitudeE7": 535_000_000 + number, "longitudeE7": 99_000_000 + number, "accuracy": 12,
           "source": "WIFI", "deviceTag": 1, "timestamp": at})
    .to_string()
}

fn mastodon(bytes: usize) -> Vec<(String, Vec<u8>)> {
    let actor = json!({"@context": "https://www.w3.org/ns/activitystreams", "type": "Person", "preferredUsername": "ana",
                       "id": "https://social.example/users/ana", "name": "Ana", "outbox": "outbox.json"});
    let one = |number: usize| {
        let id = format!("https://social.example/users/ana/statuses/{number}");
        json!({"id": format!("{id}/activity"), "type": "Create", "actor": "https://social.example/users/ana",
               "published": "2026-01-05T10:00:00Z", "to": ["https://www.w3.org/ns/activitystreams#Public"], "cc": [],
               "object": {"id": id, "type": "Note", "summary": null, "inReplyTo": null,
                          "published": "2026-01-05T10:00:00Z", "content": format!("<p>{}</p>", words(number)),
                          "to": ["https://www.w3.org/ns/activitystreams#Public"], "cc": [], "attachment": [], "tag": []}})
        .to_string()
    };
    let head = r#"{"@context":"https://www.w3.org/ns/activitystreams","id":"outbox.json","type":"OrderedCollection","orderedItems":["#;
    vec![
        ("actor.json".to_owned(), actor.to_string().into_bytes()),
        ("outbox.json".to_owned(), repeated(bytes, head, ",", "]}", one)),
    ]
}

fn tweet(number: usize) -> String {
    json!({"tweet": {"id": number.to_string(), "id_str": number.to_string(), "full_text": words(number),
                     "created_at": "Mon Jan 05 10:00:00 +0000 2026", "lang": "en", "favorite_count": "1",
                     "retweet_count": "0", "source": "<a href=\"https://x.example\">web</a>",
                     "entities": {"hashtags": [], "user_mentions": [], "urls": []}}})
    .to_string()
}

fn order(number: usize) -> String {
    json!({"id": format!("o{number}"), "customer": format!("customer {}", number % 97), "total": number % 1000,
           "placed_at": "2026-01-05T10:00:00Z", "note": words(number)})
    .to_string()
}

fn row(number: usize) -> String {
    format!("o{number},customer {},{}.5,2026-01-05T10:00:00Z,{}\n", number % 97, number % 1000, words(number))
}
