//! `recall`: how often the search finds the messages that answer a question.
//!
//! A folder holds `messages.jsonl` and `questions.jsonl`. All messages go into one stream, through the
//! commands an owner would type; each question goes, as typed, to the search route of a live server under a
//! client's grant. R@k is the mean, over questions, of the share of their evidence among the first k hits.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::process;
use crate::server::{RunningServer, get_json};
use crate::workspace::Workspace;

const DEPTHS: [usize; 4] = [1, 5, 10, 25];

/// Measure how often the search finds the messages that answer a question.
///
/// DIR holds `messages.jsonl` (id, conversation, session, speaker, text, `image_caption`?, `sent_at`) and
/// `questions.jsonl` (question, evidence, kind). Prints R@1, R@5, R@10 and R@25 by kind of question.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder.
    directory: PathBuf,
    /// Also print the questions whose first hit is not evidence, with the first three hits.
    #[arg(long)]
    misses: bool,
    /// Fail unless questions of this kind all find their evidence first; repeat for several.
    #[arg(long, value_name = "KIND")]
    require_first: Vec<String>,
}

impl Options {
    /// What CI asks of our own corpus: whoever looks for a known thing finds it first.
    pub(crate) fn of_known_items(workspace: &Workspace) -> Self {
        let kinds = ["identifier", "name_month", "other_language", "phrase", "rare_word"];
        Self {
            directory: workspace.path("fixtures/corpus"),
            misses: true,
            require_first: kinds.map(str::to_owned).into(),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Question {
    #[serde(rename = "question")]
    text: String,
    evidence: Vec<String>,
    kind: String,
}

/// Sums of shares, one per depth, and how many questions there were.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    found: [f64; DEPTHS.len()],
    questions: u32,
}

pub(crate) fn recall(workspace: &Workspace, options: &Options) -> Result<()> {
    let questions: Vec<Question> = read_lines(&options.directory.join("questions.jsonl"))?;
    let messages: Vec<Value> = read_lines(&options.directory.join("messages.jsonl"))?;
    if questions.is_empty() || messages.is_empty() {
        bail!("{} holds no messages or no questions", options.directory.display());
    }
    let pdpp = workspace.build_pdpp()?;
    let scratch = tempfile::tempdir().context("no temporary directory")?;
    let data = scratch.path().join("data");
    let token = load(&pdpp, scratch.path(), &data, &messages)?;
    let server = RunningServer::start(&pdpp, &data, scratch.path())?;
    let kinds = ask(&server, &token, &questions, options.misses)?;
    server.stop()?;
    println!("{} messages, {} questions\n\n{}", messages.len(), questions.len(), table(&kinds));
    require_first(&kinds, &options.require_first)
}

fn read_lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>> {
    let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), number + 1))
    };
    lines.map(parse).collect()
}

/// Imports the messages and makes a grant for them; returns its token.
fn load(pdpp: &Path, scratch: &Path, data: &Path, messages: &[Value]) -> Result<String> {
    let (manifest, records) = (scratch.join("manifest.json"), scratch.join("records.jsonl"));
    fs::write(&manifest, dialogue_manifest().to_string())?;
    let lines = messages.iter().map(|message| {
        let line = json!({
            "stream": "messages", "key": message["id"], "data": message, "emitted_at": "2026-01-01T00:00:00Z",
        });
        format!("{line}\n")
    });
    fs::write(&records, lines.collect::<String>())?;
    let owner = |command: &mut Command| -> Result<Value> {
        let answer = process::capture(command.arg("--data").arg(data).arg("--json"))?;
        serde_json::from_str(&answer).with_context(|| format!("no JSON was printed:\n{answer}"))
    };
    let mut import = Command::new(pdpp);
    owner(import.args(["import", "--format", "jsonl", "--manifest"]).arg(&manifest).arg(&records))?;
    let mut grant = Command::new(pdpp);
    let grant = owner(grant.args(["grant", "create", "--client", "recall", "--stream", "messages"]))?;
    Ok(grant["access_token"].as_str().context("the grant came without a token")?.to_owned())
}

fn dialogue_manifest() -> Value {
    let text = || json!({"type": ["string", "null"]});
    let with = |role: &str| json!({"type": ["string", "null"], "x_pdpp_role": role});
    json!({
        "protocol_version": "0.1.0", "connector_key": "dialogue", "version": "1", "display_name": "Dialogue",
        "streams": [{
            "name": "messages", "semantics": "append_only", "primary_key": ["id"],
            "cursor_field": "sent_at", "consent_time_field": "sent_at",
            "selection": {"fields": true, "resources": true},
            "schema": {"type": "object", "required": ["id"], "properties": {
                "id": {"type": "string"},
                "conversation": with("thread"),
                "session": {"type": ["integer", "null"], "x_pdpp_role": "thread"},
                "speaker": with("actor"),
                "text": with("body"),
                "image_caption": text(),
                "sent_at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
            }},
            "query": {"search": {"lexical_fields": ["text", "image_caption", "speaker"]}},
        }],
    })
}

fn ask(
    server: &RunningServer,
    token: &str,
    questions: &[Question],
    show_misses: bool,
) -> Result<BTreeMap<String, Tally>> {
    let mut kinds: BTreeMap<String, Tally> = BTreeMap::new();
    for question in questions {
        let most = DEPTHS[DEPTHS.len() - 1];
        let path = format!("/v1/search?limit={most}&q={}", encode(&question.text));
        let answer = get_json(server.url(), &path, token)?;
        let hits: Vec<&str> = answer["data"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|hit| hit["record_key"].as_str())
            .collect();
        if show_misses && !question.evidence.iter().any(|id| hits.first().is_some_and(|hit| hit == id)) {
            let first = &hits[..hits.len().min(3)];
            println!("[{}] {} wants {:?}, finds {first:?}", question.kind, question.text, question.evidence);
        }
        for kind in [question.kind.as_str(), "all"] {
            kinds.entry(kind.to_owned()).or_default().add(&question.evidence, &hits);
        }
    }
    Ok(kinds)
}

impl Tally {
    fn add(&mut self, evidence: &[String], hits: &[&str]) {
        self.questions += 1;
        for (sum, depth) in self.found.iter_mut().zip(DEPTHS) {
            let found = evidence.iter().filter(|id| hits.iter().take(depth).any(|hit| hit == id)).count();
            *sum += share(found, evidence.len());
        }
    }

    fn recall(&self, index: usize) -> f64 {
        self.found[index] / f64::from(self.questions.max(1))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a question has a handful of evidence")]
fn share(found: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { found as f64 / all as f64 }
}

fn table(kinds: &BTreeMap<String, Tally>) -> String {
    let rows = kinds.iter().map(|(kind, tally)| {
        let shares = (0..DEPTHS.len()).map(|index| format!("{:.3}", tally.recall(index)));
        format!("| {kind} | {} | {} |", tally.questions, shares.collect::<Vec<_>>().join(" | "))
    });
    let head =
        ["| Kind | Questions | R@1 | R@5 | R@10 | R@25 |", "| --- | ---: | ---: | ---: | ---: | ---: |"];
    head.into_iter().map(str::to_owned).chain(rows).collect::<Vec<_>>().join("\n")
}

fn require_first(kinds: &BTreeMap<String, Tally>, required: &[String]) -> Result<()> {
    for kind in required {
        let tally =
            kinds.get(kind).with_context(|| format!("there are no questions of the kind `{kind}`"))?;
        if tally.recall(0) < 1.0 {
            bail!("R@1 of `{kind}` is {:.3}, and must be 1", tally.recall(0));
        }
    }
    Ok(())
}

fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_is_the_share_of_the_evidence_among_the_first_hits() {
        let mut tally = Tally::default();
        let evidence = ["a".to_owned(), "b".to_owned()];
        tally.add(&evidence, &["a", "x", "b"]);
        tally.add(&evidence, &["x"; 25]);
        let shares = [0, 1, 2, 3].map(|index| format!("{:.2}", tally.recall(index)));
        assert_eq!(shares, ["0.25", "0.50", "0.50", "0.50"]);
    }

    #[test]
    fn questions_are_sent_as_typed() {
        assert_eq!(encode("What's up, \u{e9}?"), "What%27s%20up%2C%20%C3%A9%3F");
    }
}
