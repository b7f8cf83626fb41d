//! One run of a connector, from `START` to its end.

use std::io::{BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

use anyhow::Context as _;
use indicatif::ProgressBar;
use pdpp_import::{Complaint, Line, Lines, MAX_LINE_BYTES, Sink as _, Stop};
use pdpp_store::RecordLine;
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{Code, Instant};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::interaction;
use super::message::{Failure, Message, Status};
use crate::commands::import::{Feed, Step};

/// The code of a run in which some streams failed and the others may be kept.
const SOME_FAILED: &str = "stream_collection_failed";

/// What is to be run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) command: Vec<String>,
    pub(super) start: Value,
    pub(super) streams: Vec<String>,
    pub(super) manifest: Arc<Manifest>,
    pub(super) now: Instant,
}

/// How it ended.
#[derive(Debug, Default)]
pub(super) struct Ending {
    done: Option<(Status, Option<Failure>)>,
    exited_well: bool,
    states: Map<String, Value>,
    skipped: Vec<String>,
    /// What the connector did against the protocol.
    fault: Option<&'static str>,
}

impl Ending {
    /// Where streams may be gone on with next time: all after a success, the unaffected ones when only some failed.
    pub(super) fn states_to_keep(&self) -> Map<String, Value> {
        let partly = matches!(&self.done, Some((Status::Failed, Some(failure))) if failure.code.as_deref() == Some(SOME_FAILED));
        if self.problem().is_some() && !partly {
            return Map::new();
        }
        let kept = self.states.iter().filter(|(stream, _)| !self.skipped.contains(stream));
        kept.map(|(stream, state)| (stream.clone(), state.clone())).collect()
    }

    /// Why the run was no success.
    pub(super) fn problem(&self) -> Option<String> {
        if let Some(fault) = self.fault {
            return Some(fault.to_owned());
        }
        match &self.done {
            None => Some("it ended without saying DONE".to_owned()),
            Some((Status::Succeeded, _)) if self.exited_well => None,
            Some((Status::Succeeded, _)) => Some("it said it had succeeded and then failed".to_owned()),
            Some((_, Some(failure))) => Some(failure.message.clone()),
            Some((Status::Cancelled, None)) => Some("it was cancelled".to_owned()),
            Some((Status::Failed, None)) => Some("it gave no reason".to_owned()),
        }
    }
}

impl Run {
    /// Runs the connector to its end; what it collects goes to the storing side.
    pub(super) fn follow(self, steps: mpsc::Sender<Step>, bar: &ProgressBar) -> anyhow::Result<Ending> {
        let mut feed = Feed::new(&self.manifest, self.now, steps)?;
        let mut child = Connector(self.spawn()?);
        let mut stdin = child.0.stdin.take().context("the connector has no standard input")?;
        let stdout = child.0.stdout.take().context("the connector has no standard output")?;
        say(&mut stdin, &self.start);
        let mut ending = Ending::default();
        let mut lines = Lines::new(BufReader::new(stdout), MAX_LINE_BYTES);
        // The connector may keep its input open until it ends; ours is closed by then.
        let mut stdin = Some(stdin);
        loop {
            let taken = match lines.next_line().context("cannot read what the connector says")? {
                None => break,
                Some(Line::TooLong) => {
                    feed.complain(Complaint::new("a line", Code::ResourceLimit, "It is too long."))
                }
                Some(Line::Whole(text)) if text.trim_ascii().is_empty() => Ok(()),
                Some(Line::Whole(text)) => self.take(text, &mut feed, &mut ending, &mut stdin, bar),
            };
            // The storing side failed and says so itself; a connector that broke the rules is not heard further.
            if taken.is_err() || ending.fault.is_some() {
                return Ok(ending);
            }
        }
        let _: Result<(), Stop> = feed.flush();
        drop(stdin);
        ending.exited_well = child.0.wait().context("cannot wait for the connector")?.success();
        Ok(ending)
    }

    /// None of our settings reach it, and its standard error is the person's to see.
    fn spawn(&self) -> anyhow::Result<Child> {
        let (program, arguments) = self.command.split_first().context("no command was given")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PDPP_") {
                command.env_remove(name);
            }
        }
        command.spawn().with_context(|| format!("cannot start {program}"))
    }

    fn take(
        &self,
        text: &[u8],
        feed: &mut Feed<'_>,
        ending: &mut Ending,
        stdin: &mut Option<ChildStdin>,
        bar: &ProgressBar,
    ) -> Result<(), Stop> {
        if ending.done.is_some() {
            ending.fault = Some("it went on after DONE");
            return Ok(());
        }
        let message: Message = match serde_json::from_slice(text) {
            Ok(message) => message,
            Err(error) => {
                let message = format!("Not a message of the protocol (column {}).", error.column());
                return feed.complain(Complaint::new("a line", Code::MalformedNdjson, message));
            }
        };
        match message {
            Message::Record { stream } => self.record(&stream, text, feed)?,
            Message::State { stream, cursor } if self.streams.contains(&stream) => {
                ending.states.insert(stream, cursor);
            }
            Message::State { .. } | Message::DetailCoverage => {}
            Message::Interaction(question) => {
                let answer = bar.suspend(|| interaction::ask(&question));
                if let Some(stdin) = stdin {
                    say(stdin, &answer);
                }
            }
            Message::SkipResult { stream, reason, message } => {
                let place = stream.clone().unwrap_or_else(|| "a result".to_owned());
                ending.skipped.extend(stream);
                let message = message.map_or(reason.clone(), |message| format!("{reason}: {message}"));
                feed.complain(Complaint::new(place, Code::ImportDamaged, message))?;
            }
            Message::DetailGap { stream, message } => {
                let place = stream.unwrap_or_else(|| "a detail".to_owned());
                let message = message.unwrap_or_else(|| "Details are missing.".to_owned());
                feed.complain(Complaint::new(place, Code::ImportDamaged, message))?;
            }
            Message::Progress { message } => bar.set_message(message.unwrap_or_default()),
            Message::Done { status, error } => ending.done = Some((status, error)),
        }
        Ok(())
    }

    fn record(&self, stream: &str, text: &[u8], feed: &mut Feed<'_>) -> Result<(), Stop> {
        if !self.streams.iter().any(|name| name == stream) {
            let message = "A record of a stream that was not asked for was dropped.";
            return feed.complain(Complaint::new(stream, Code::GrantStreamNotAllowed, message));
        }
        match RecordLine::parse(text) {
            Ok(line) => feed.line(line, stream),
            Err(refused) => feed.complain(Complaint::new(stream, refused.code, refused.message)),
        }
    }
}

/// A connector that went away shows it by what it says next.
fn say(stdin: &mut ChildStdin, message: &Value) {
    let _ = writeln!(stdin, "{message}").and_then(|()| stdin.flush());
}

/// A connector that ends with its run, whichever way that goes.
struct Connector(Child);

impl Drop for Connector {
    fn drop(&mut self) {
        // Already ended is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
