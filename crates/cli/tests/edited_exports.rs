//! A newer export of every service: what was edited in it is updated, what is new is added, nothing else moves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::exports::{contents, exports, receipts, samples};
use crate::support::{Client, Pdpp, text};

/// What somebody did to an export before it was loaded again.
struct Edit {
    sample: &'static str,
    /// File, what stood there, what stands there now.
    changes: &'static [(&'static str, &'static str, &'static str)],
    /// Records that differ, by stream. A record that repeats or counts what was edited belongs to it.
    updated: &'static [(&'static str, usize)],
    added: &'static [(&'static str, usize)],
}

const EDITS: &[Edit] = &[
    Edit {
        sample: "calendar",
        changes: &[
            ("home.ics", "LOCATION:Rua Nova 5", "LOCATION:Rua Nova 7"),
            (
                "home.ics",
                "BEGIN:VEVENT\r\nDTSTART:20260105T183000Z",
                "BEGIN:VEVENT\r\nDTSTART:20260107T183000Z\r\nDTSTAMP:20260110T120000Z\r\nUID:new-1\r\nSUMMARY:Regatta\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nDTSTART:20260105T183000Z",
            ),
        ],
        updated: &[("event_instances", 1), ("events", 1)],
        added: &[("event_instances", 1), ("events", 1)],
    },
    Edit {
        sample: "chatgpt",
        changes: &[("conversations-000.json", "Use a small tin.", "Use a smaller tin.")],
        updated: &[("messages", 1)],
        added: &[],
    },
    Edit {
        sample: "claude",
        changes: &[
            ("conversations.json", "Which knot holds best?", "Which knot holds longest?"),
            (
                "conversations.json",
                "\"name\": \"No messages\"\n }",
                "\"name\": \"No messages\"\n },\n {\"uuid\": \"7d1e0000-0000-4000-8000-0000000000c9\", \"name\": \"New\", \"created_at\": \"2026-02-05T10:00:00Z\", \"updated_at\": \"2026-02-05T10:00:00Z\", \"chat_messages\": []}",
            ),
        ],
        updated: &[("messages", 1)],
        added: &[("conversations", 1)],
    },
    Edit {
        sample: "contacts",
        changes: &[
            ("phones/apple.vcf", "NICKNAME:Bosse,The Captain", "NICKNAME:Bosse,The Admiral"),
            (
                "phones/apple.vcf",
                "BEGIN:VCARD\nVERSION:3.0\nFN:Bo, an older copy",
                "BEGIN:VCARD\nVERSION:3.0\nFN:Nils New\nUID:new-1\nEND:VCARD\nBEGIN:VCARD\nVERSION:3.0\nFN:Bo, an older copy",
            ),
        ],
        updated: &[("contacts", 1)],
        added: &[("contacts", 1)],
    },
    Edit {
        sample: "google",
        changes: &[
            ("Takeout/Google Notizen/Groceries.json", "Olives", "Olives, green"),
            ("Takeout/Google Chat/Groups/DM abc123/messages.json", "Danke", "Danke sehr"),
        ],
        updated: &[("chat_messages", 1), ("notes", 1)],
        added: &[],
    },
    Edit {
        sample: "mail",
        changes: &[
            ("Takeout/Mail/All mail Including Spam and Trash.mbox", "We pay the usual", "We pay the known"),
            (
                "Export/Letters.mbox/mbox",
                "From ",
                "From new@boats.example Mon Jan  5 10:00:00 2026\nFrom: New <new@boats.example>\nSubject: New here\nDate: Mon, 5 Jan 2026 10:00:00 +0000\nMessage-ID: <new-1@boats.example>\n\nHello.\n\nFrom ",
            ),
        ],
        updated: &[("messages", 1)],
        added: &[("messages", 1), ("threads", 1)],
    },
    Edit {
        sample: "mastodon",
        changes: &[
            ("outbox.json", "Nur übersetzt.", "Nur einmal übersetzt."),
            (
                "outbox.json",
                "\"not an activity\"]",
                "\"not an activity\", {\"id\": \"https://reef.example/users/ana/statuses/111000099/activity\", \"type\": \"Create\", \"actor\": \"https://reef.example/users/ana\", \"published\": \"2022-11-14T07:30:00Z\", \"object\": {\"type\": \"Note\", \"id\": \"https://reef.example/users/ana/statuses/111000099\", \"published\": \"2022-11-14T07:30:00Z\", \"content\": \"<p>New</p>\"}}]",
            ),
        ],
        updated: &[("posts", 1)],
        added: &[("posts", 1)],
    },
    Edit {
        sample: "notes",
        changes: &[
            ("Crew/Mara.md", "alias: Skipper", "alias: Captain"),
            ("New.md", "", "# New\n\nA note.\n"),
        ],
        updated: &[("notes", 1)],
        added: &[("notes", 1)],
    },
    Edit {
        sample: "notion",
        changes: &[
            ("0123456789abcdef0123456789abcde4.md", "", "\nOne line more.\n"),
            ("New 0123456789abcdef0123456789abcdff.md", "", "# New\n\nA page.\n"),
        ],
        updated: &[("notes", 1)],
        added: &[("notes", 1)],
    },
    Edit {
        sample: "slack",
        changes: &[
            ("engine-room/2024-01-02.json", "Oil pressure is low", "Oil pressure is very low"),
            (
                "engine-room/2024-01-02.json",
                "\"ts\":\"1704190000.000100\"}]",
                "\"ts\":\"1704190000.000100\"},{\"type\":\"message\",\"user\":\"U0TOMAS02\",\"text\":\"It is back\",\"ts\":\"1704190900.000100\"}]",
            ),
        ],
        updated: &[("messages", 1)],
        added: &[("messages", 1)],
    },
    Edit {
        sample: "tables",
        changes: &[
            ("shop/orders.csv", "quoted, comma", "quoted, commas"),
            (
                "shop/orders.csv",
                "\n1005,",
                "\n1006,2024-03-04T09:00:00Z,Flo Gulf,50667,0221999,4.25,no,open,\n1005,",
            ),
        ],
        updated: &[("orders", 1)],
        added: &[("orders", 1)],
    },
    Edit {
        sample: "telegram",
        changes: &[
            ("result.json", "Remember the flares", "Remember the red flares"),
            (
                "result.json",
                "\"text\": \"Season opens in May\"}",
                "\"text\": \"Season opens in May\"},\n   {\"id\": 6, \"type\": \"message\", \"date\": \"2024-01-02T12:00:00\", \"date_unixtime\": \"1704193200\", \"from\": \"Sail Club\", \"from_id\": \"channel900\", \"text\": \"New\"}",
            ),
        ],
        updated: &[("chats", 1), ("messages", 1)],
        added: &[("messages", 1)],
    },
    Edit {
        sample: "telegram-chat",
        changes: &[("result.json", "Loud", "Very loud")],
        updated: &[("messages", 1)],
        added: &[],
    },
    // A chat export has no ids: a message is known by its time, author and words, so other words are another message.
    Edit {
        sample: "whatsapp",
        changes: &[
            ("WhatsApp Chat - Boat Club/_chat.txt", "I meant Monday", "I meant Tuesday"),
            (
                "android/WhatsApp Chat mit Chor.txt",
                "Wer ist da?",
                "Wer ist da?\n01/02/2024, 08:09 - Greta: Ich",
            ),
        ],
        updated: &[("chats", 1)],
        added: &[("messages", 2)],
    },
    Edit {
        sample: "x",
        changes: &[
            ("data/tweets.js", "This one https://t.co/q", "That one https://t.co/q"),
            (
                "data/like.js",
                "\"tweetId\": \"20\",",
                "\"tweetId\": \"21\", \"fullText\": \"New\", \"expandedUrl\": \"https://twitter.com/i/web/status/21\"}}, {\"like\": {\"tweetId\": \"20\",",
            ),
        ],
        updated: &[("posts", 1)],
        added: &[("likes", 1)],
    },
];

#[test]
fn every_sample_is_edited_here() {
    let edited: BTreeSet<String> = EDITS.iter().map(|edit| edit.sample.to_owned()).collect();
    assert_eq!(edited, samples().into_iter().collect());
}

#[test]
fn a_newer_export_of_every_service_changes_exactly_what_changed_in_it() {
    for edit in EDITS {
        let pdpp = Pdpp::new();
        let folder = pdpp.path(edit.sample);
        copy(&exports().join(edit.sample), &folder);
        let path = folder.display().to_string();
        let first = pdpp.json(&["import", &path, "--json"]);
        let before = contents(&pdpp, "before");
        let server = pdpp.serve();
        let owner = server.client(&pdpp.owner_token());
        let streams = streams(&pdpp, &first);
        let tokens: Vec<String> = streams.iter().map(|stream| stream.token(&owner)).collect();
        for (file, from, to) in edit.changes {
            change(&folder.join(file), from, to);
        }
        let second = pdpp.json(&["import", &path, "--json"]);
        let expected = |wanted: &[(&str, usize)]| -> BTreeMap<String, u64> {
            wanted.iter().map(|(name, count)| ((*name).to_owned(), *count as u64)).collect()
        };
        assert_eq!(counts(&second, "added"), expected(edit.added), "added to {}: {second}", edit.sample);
        assert_eq!(
            counts(&second, "updated"),
            expected(edit.updated),
            "updated in {}: {second}",
            edit.sample
        );
        assert_eq!(counts(&second, "rejected"), BTreeMap::new(), "{}: {second}", edit.sample);
        let after = contents(&pdpp, "after");
        let differs = after.iter().filter(|(name, data)| before.get(*name) != Some(data));
        let differs: BTreeSet<String> = differs.map(|(name, _)| name.clone()).collect();
        let mut changed = BTreeSet::new();
        for (stream, token) in streams.iter().zip(&tokens) {
            changed.extend(stream.changes(&owner, token));
        }
        assert_eq!(changed, differs, "changes_since after {}", edit.sample);
    }
}

/// A stream of a connection.
struct Stream {
    connector: String,
    connection_id: String,
    name: String,
}

impl Stream {
    fn read(&self, owner: &Client, since: &str) -> Value {
        let path = format!("/v1/streams/{}/records", self.name);
        let answer = owner
            .get(&format!("{path}?connection_id={}&limit=1000&changes_since={since}", self.connection_id));
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert_eq!(answer.body["has_more"], false, "{path}");
        answer.body
    }

    /// Where the stream stands now.
    fn token(&self, owner: &Client) -> String {
        text(&self.read(owner, "beginning")["next_changes_since"])
    }

    /// The records that changed since, named as [`contents`] names them.
    fn changes(&self, owner: &Client, since: &str) -> Vec<String> {
        let body = self.read(owner, since);
        let records = body["data"].as_array().unwrap().iter();
        records.map(|record| format!("{:?} {:?} {}", self.connector, self.name, record["id"])).collect()
    }
}

fn streams(pdpp: &Pdpp, receipt: &Value) -> Vec<Stream> {
    let connections = pdpp.json(&["connections", "list", "--json"]);
    let connector = |id: &Value| {
        let mut connections = connections.as_array().unwrap().iter();
        text(&connections.find(|one| one["connection_id"] == *id).unwrap()["connector_key"])
    };
    let mut all = Vec::new();
    for one in receipts(receipt) {
        for stream in one["streams"].as_array().unwrap() {
            all.push(Stream {
                connector: connector(&one["connection_id"]),
                connection_id: text(&one["connection_id"]),
                name: text(&stream["name"]),
            });
        }
    }
    all
}

/// What the receipt counts, by stream; nothing for those where it is zero.
fn counts(receipt: &Value, member: &str) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for stream in receipts(receipt).iter().flat_map(|one| one["streams"].as_array().unwrap()) {
        *all.entry(text(&stream["name"])).or_default() += stream[member].as_u64().unwrap();
    }
    all.retain(|_, count| *count > 0);
    all
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Puts something else everywhere it stands in a file; after nothing, it is added at the end.
fn change(file: &Path, from: &str, to: &str) {
    let bytes = fs::read(file).unwrap_or_default();
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut edited = Vec::new();
    let mut at = 0;
    while !from.is_empty()
        && let Some(found) = bytes[at..].windows(from.len()).position(|part| part == from)
    {
        edited.extend_from_slice(&bytes[at..at + found]);
        edited.extend_from_slice(to);
        at += found + from.len();
    }
    assert!(at > 0 || from.is_empty(), "{} holds no {:?}", file.display(), String::from_utf8_lossy(from));
    edited.extend_from_slice(&bytes[at..]);
    if from.is_empty() {
        edited.extend_from_slice(to);
    }
    fs::write(file, edited).unwrap();
}
