//! A large archive copied from a data directory to Postgres and back, each way killed in the middle and run again.
//!
//! The tests do the same with few records. What only shows with many is whether a copy that was killed goes on instead
//! of beginning anew, and whether both ends are the same to the last byte.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::postgres::RunningPostgres;
use crate::process;
use crate::workspace::Workspace;

/// How often a copy under way is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// The longest half a copy may take.
const PATIENCE: Duration = Duration::from_mins(30);

/// Copy a large archive to Postgres and back, killed halfway each way, and compare both ends.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Records of the archive.
    #[arg(long, default_value_t = 1_000_000)]
    records: usize,
}

pub(crate) fn copies(workspace: &Workspace, options: &Options) -> Result<()> {
    let desk = Desk::prepare(workspace, options.records)?;
    let (here, back) = (desk.path("here"), desk.path("back"));
    desk.there(&here, options.records)?;
    desk.back(&here, &back)?;
    let compared =
        desk.finish("both directories, compared", &["--from", text(&here), "--to", text(&back)])?;
    ensure!(compared["different"] == json!([]), "what came back is not what went: {compared}");
    println!("{} rows came back as they went", compared["rows"]);
    Ok(())
}

struct Desk {
    pdpp: PathBuf,
    scratch: TempDir,
    postgres: RunningPostgres,
    database: String,
}

impl Desk {
    fn prepare(workspace: &Workspace, records: usize) -> Result<Self> {
        let pdpp = workspace.build_pdpp()?;
        let postgres = RunningPostgres::start_durable()?;
        let database = postgres.make_database("archive")?;
        let scratch = tempfile::Builder::new().prefix("pdpp-copies-").tempdir()?;
        fs::write(scratch.path().join("events.key"), [7; 32])?;
        let desk = Self { pdpp, scratch, postgres, database };
        process::capture(&mut desk.command(&["migrate"]))?;
        let lines = desk.path("records.jsonl");
        write_records(&lines, records)?;
        let manifest = workspace.root().join("fixtures/exports/jsonl/manifest.json");
        let started = Instant::now();
        let here = desk.path("here");
        let import = ["import", "--data", text(&here), "--manifest", text(&manifest), text(&lines)];
        process::capture(Command::new(&desk.pdpp).args(import))?;
        println!("{records} records imported in {} s", started.elapsed().as_secs());
        fs::remove_file(lines)?;
        Ok(desk)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.pdpp);
        command.args(args).env("PDPP_DATABASE_URL", &self.database).env("PDPP_DATA", self.path("node"));
        command.env("PDPP_SECRETS_KEY_FILE", self.path("events.key"));
        command.env("PDPP_BLOBS_URL", self.path("objects"));
        command
    }

    /// From a directory to the database, killed when half of the records are there.
    fn there(&self, here: &Path, records: usize) -> Result<()> {
        // Row-level security shows nothing to whoever does not say whose.
        let count = "SET pdpp.subject = '*'; SELECT count(*) FROM records";
        let copied = || -> Result<usize> { Ok(self.postgres.ask("archive", count)?.trim().parse()?) };
        let place = ["--from", text(here)];
        let at = self.kill_when("to Postgres", &place, || Ok(copied()? * 2 >= records))?;
        let (kept, told) = (copied()?, self.finish("to Postgres, run again", &place)?);
        ensure!(told["different"] == json!([]), "the copies differ: {told}");
        ensure!(kept < records && copied()? == records, "{kept} of {records} were there when it was killed");
        println!("killed after {} s with {kept} of {records} records there", at.as_secs());
        Ok(())
    }

    /// From the database to a directory, killed when its file is half as large as the one it came from.
    fn back(&self, here: &Path, back: &Path) -> Result<()> {
        let size = |home: &Path| fs::metadata(home.join("store.db")).map_or(0, |file| file.len());
        let place = ["--to", text(back)];
        let at = self.kill_when("to a directory", &place, || Ok(size(back) * 2 >= size(here)))?;
        println!("killed after {} s with {} of {} bytes there", at.as_secs(), size(back), size(here));
        let told = self.finish("to a directory, run again", &place)?;
        ensure!(told["different"] == json!([]), "the copies differ: {told}");
        Ok(())
    }

    /// Starts a copy and kills it once this holds; says how long that took.
    fn kill_when(&self, what: &str, place: &[&str], holds: impl Fn() -> Result<bool>) -> Result<Duration> {
        let started = Instant::now();
        let mut copying = Running(self.copying(place).stdout(Stdio::null()).spawn()?);
        while !holds()? {
            if let Some(status) = copying.0.try_wait()? {
                bail!("the copy {what} ended before it was halfway ({status})");
            }
            ensure!(started.elapsed() < PATIENCE, "the copy {what} does not get on");
            thread::sleep(LOOK);
        }
        Ok(started.elapsed())
    }

    /// Runs a copy to its end; gives what it told.
    fn finish(&self, what: &str, place: &[&str]) -> Result<Value> {
        let started = Instant::now();
        let told = process::capture(&mut self.copying(place))?;
        println!("{what}: {} s", started.elapsed().as_secs());
        serde_json::from_str(&told).with_context(|| format!("no JSON: {told}"))
    }

    fn copying(&self, place: &[&str]) -> Command {
        self.command(&[&["copy", "--json"], place].concat())
    }
}

/// A process that is killed when it is let go.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Already ended is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn write_records(path: &Path, records: usize) -> Result<()> {
    let mut file = BufWriter::new(fs::File::create(path)?);
    for number in 0..records {
        let key = format!("m{number}");
        let data = json!({"id": key, "channel_id": format!("c{}", number % 97), "author": "Ana",
            "text": format!("letter {number} about the winter storage"), "sent_at": "2026-01-01T00:00:00Z"});
        writeln!(file, "{}", json!({"stream": "messages", "key": key, "data": data}))?;
    }
    Ok(file.flush()?)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}
