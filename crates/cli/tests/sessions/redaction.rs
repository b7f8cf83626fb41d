//! What differs from run to run is shown as what it is: the first grant as `grt_0000000000000001`, a time as
//! `YYYY-MM-DDTHH:MM:SS.mmmZ`. Each is as long as what it stands for, so that columns stay columns.

use std::collections::BTreeMap;

use pdpp_access::Clock as _;
use pdpp_server::SystemClock;

use super::place::Place;
use super::transcript::Transcript;

/// What our ids begin with.
const KINDS: [&str; 8] = ["grt_", "tok_", "cin_", "cli_", "evt_", "sub_", "req_", "run_"];
/// What temporary files and folders begin with; six letters follow.
const TEMPORARY: [&str; 4] = ["pdpp-backup-", "pdpp-restore-", "pdpp-demo-", "tmp"];
const TIME: &str = "YYYY-MM-DDTHH:MM:SS.mmmZ";
/// Long words of these letters are cursors, secrets and challenges.
const LONG: usize = 60;

pub(super) struct Redaction {
    /// From what is real to what is shown.
    known: BTreeMap<String, String>,
    counts: BTreeMap<&'static str, usize>,
    secrets: Vec<(String, &'static str)>,
    /// What the session itself says is no secret.
    said: String,
    /// No record is so young.
    yesterday: String,
}

impl Redaction {
    pub(super) fn new(place: &Place, transcript: &Transcript) -> Self {
        let said = transcript.steps().map(|step| step.command.as_str()).collect::<Vec<_>>().join("\n");
        let yesterday = SystemClock.now().plus_seconds(-86_400).to_rfc3339();
        Self {
            known: BTreeMap::new(),
            counts: BTreeMap::new(),
            secrets: place.secrets(),
            // Help shows an invented one.
            said: format!("{said} grt_0123456789abcdef 127.0.0.1:7663 127.0.0.1:9000 127.0.0.1:9100"),
            yesterday: yesterday[..10].to_owned(),
        }
    }

    /// The line with real ids where the transcript has ours.
    pub(super) fn restored(&self, line: &str) -> String {
        self.known.iter().fold(line.to_owned(), |line, (real, shown)| line.replace(shown.as_str(), real))
    }

    pub(super) fn redacted(&mut self, text: &str) -> String {
        let text = self
            .secrets
            .iter()
            .fold(text.to_owned(), |text, (real, shown)| text.replace(real.as_str(), shown));
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let after_letter = out.chars().last().is_some_and(|c| c.is_ascii_alphanumeric());
            let length = word(rest);
            if length == 0 || after_letter {
                out.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let found = self.time(rest).or_else(|| self.port(rest)).or_else(|| cache_file(rest));
            if let Some((taken, shown)) = found.or_else(|| measured(rest)) {
                out.push_str(&shown);
                rest = &rest[taken..];
                continue;
            }
            let (found, behind) = rest.split_at(length);
            let digest = out.ends_with("sha256:") || out.ends_with("sha256_");
            out.push_str(&if digest { found.to_owned() } else { self.word(found) });
            rest = behind;
        }
        out
    }

    fn word(&mut self, word: &str) -> String {
        if self.said.contains(word) && word.len() >= 8 {
            return word.to_owned();
        }
        if let Some(shown) = self.known.get(word) {
            return shown.clone();
        }
        if let Some(named) =
            TEMPORARY.into_iter().find(|named| word.starts_with(named) && word.len() == named.len() + 6)
        {
            return format!("{named}XXXXXX");
        }
        let kind = KINDS.into_iter().find(|kind| word.starts_with(kind) && word.len() >= kind.len() + 8);
        let hex = word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit());
        let (kind, prefix, length) = match kind {
            Some(kind) => (kind, kind, word.len() - kind.len()),
            None if hex => ("token", "", word.len()),
            // As long as it likes: what is in it decides.
            None if is_dense(word) => ("cursor", "CURSOR_", 1),
            None => return word.to_owned(),
        };
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let shown = format!("{prefix}{count:0length$}");
        self.known.insert(word.to_owned(), shown.clone());
        shown
    }

    /// A time of this run at the start of the text: its length, and what is shown.
    fn time(&self, text: &str) -> Option<(usize, String)> {
        let fits = TIME.bytes().zip(text.bytes()).take_while(|(wanted, byte)| match wanted {
            b'-' | b':' | b'T' | b'.' | b'Z' => byte == wanted || (*wanted == b'T' && *byte == b' '),
            _ => byte.is_ascii_digit(),
        });
        let length = match fits.count() {
            length @ (24 | 10 | 16 | 19) => length,
            // Logs say it finer.
            23 => 23 + text[23..].bytes().take_while(u8::is_ascii_digit).count(),
            20..23 => 19,
            17 | 18 => 16,
            11..16 => 10,
            _ => return None,
        };
        let real = text.get(..length)?;
        let day = real.get(..10)?;
        if day < self.yesterday.as_str() || day > "2090" || self.said.contains(day) {
            return None;
        }
        let spaced = real.as_bytes().get(10) == Some(&b' ');
        let shown = &TIME[..if length > TIME.len() { 23 } else { length }];
        Some((length, if spaced { shown.replace('T', " ") } else { shown.to_owned() }))
    }

    /// A port that the system chose.
    fn port(&self, text: &str) -> Option<(usize, String)> {
        let host = ["127.0.0.1:", "localhost:"].into_iter().find(|host| text.starts_with(host))?;
        let digits = text[host.len()..].bytes().take_while(u8::is_ascii_digit).count();
        let length = host.len() + digits;
        let known = digits == 0 || self.said.contains(&text[..length]);
        (!known).then(|| (length, format!("{host}PORT")))
    }
}

/// The name of a credential file, which is made of the server's address.
fn cache_file(text: &str) -> Option<(usize, String)> {
    let name = text.split(".json").next().filter(|name| name.len() < 64)?;
    let (port, hash) = name.strip_prefix("127.0.0.1_")?.split_once('-')?;
    let chosen = port.len() == 5 && hash.len() == 16;
    chosen.then(|| (name.len(), "127.0.0.1_PORT-HASH".to_owned()))
}

/// How long something took, how much room there is.
fn measured(text: &str) -> Option<(usize, String)> {
    let length = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, after) = text.split_at(length);
    let is_one = number.contains('.') && [" s\n", " GiB free"].iter().any(|unit| after.starts_with(unit));
    is_one.then(|| (length, "N.N".to_owned()))
}

/// How many letters of an id stand at the start.
fn word(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count()
}

/// Long, and no language.
fn is_dense(word: &str) -> bool {
    let has = |what: fn(&char) -> bool| word.chars().any(|c| what(&c));
    word.len() >= LONG && has(char::is_ascii_digit) && has(char::is_ascii_uppercase)
}
