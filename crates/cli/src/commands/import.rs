//! `pdpp import`: load an export into the data directory.

mod batches;
mod counted;
mod destination;
mod disk_tree;
mod document_text;
mod feed;
mod found;
mod load;
mod receipt;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use pdpp_server::Personal;
use pdpp_wire::manifest::{MAX_MANIFEST_BYTES, Manifest};

use crate::args::DataArgs;
use crate::exit::Usage;
use crate::terminal;

pub(crate) use destination::Destination;
pub(crate) use feed::{Feed, Step};
pub(crate) use found::Found;
pub(crate) use load::{load, store};
pub(crate) use receipt::Receipt;

/// Load the exports your services gave you
///
/// Takes files, folders, zip and tar archives as they were delivered; what they are is told from their contents. The
/// same export again adds nothing; a newer one adds what is new and updates what changed. Something that cannot be used
/// is reported with its place, and the rest is loaded.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pdpp import ~/Downloads/takeout-20260102.zip
  pdpp import chat.zip --connection Family
  pdpp import --manifest notes.json notes.jsonl       record lines of your own, one JSON object each")]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The files, folders and archives to load
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Read as this format only [default: what the contents say]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// The manifest that declares the streams of record lines
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// The connection to load into: its id, its label, or a new label
    #[arg(long, value_name = "NAME")]
    connection: Option<String>,
    /// Let this manifest take the place of an earlier one with the same key
    #[arg(long, requires = "manifest")]
    replace: bool,
    /// Only say what was found
    #[arg(long, conflicts_with = "manifest")]
    dry_run: bool,
    /// Print the receipt as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: ImportArgs) -> anyhow::Result<ExitCode> {
    let receipts = if let Some(manifest) = &args.manifest {
        vec![load_lines(&args, manifest).await?]
    } else {
        let found = Found::look(&args.paths, args.format.as_deref())?;
        found.check()?;
        if !args.json || args.dry_run {
            found.tell();
        }
        if args.dry_run {
            return Ok(ExitCode::SUCCESS);
        }
        load_found(&args, found).await?
    };
    Receipt::print_all(&receipts, args.json)?;
    let nothing = receipts.iter().all(Receipt::is_empty);
    Ok(if nothing { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn load_found(args: &ImportArgs, found: Found) -> anyhow::Result<Vec<Receipt>> {
    let personal = args.data.open_or_make().await?;
    let bar = progress(found.bytes(), args.json);
    let receipts = found.load(&personal, args.connection.as_deref(), &bar).await?;
    bar.finish_and_clear();
    index(&personal, args.json).await;
    Ok(receipts)
}

/// Loads record lines under a manifest of the owner's own.
async fn load_lines(args: &ImportArgs, manifest: &Path) -> anyhow::Result<Receipt> {
    if args.format.as_deref().is_some_and(|format| format != "jsonl") {
        return Err(
            Usage("--manifest goes with record lines: leave --format out, or say jsonl".to_owned()).into()
        );
    }
    let manifest = Arc::new(read_manifest(manifest)?);
    // Opened before anything is stored, so that a misspelled name changes nothing.
    let files = args.paths.iter().map(|path| open(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let personal = args.data.open_or_make().await?;
    let mut destination =
        Destination::register(&personal, &manifest, args.connection.as_deref(), args.replace).await?;
    let mut receipt = Receipt::new("jsonl");
    for (path, file) in args.paths.iter().zip(files) {
        let length = file.metadata().map(|metadata| metadata.len()).unwrap_or_default();
        let bar = progress(length, args.json);
        let reader = BufReader::with_capacity(1 << 20, bar.wrap_read(file));
        let named = if args.paths.len() > 1 { Some(path.as_path()) } else { None };
        load(&personal, &mut destination, reader, named, &mut receipt, &bar).await?;
        bar.finish_and_clear();
    }
    index(&personal, args.json).await;
    Ok(receipt)
}

fn open(path: &Path) -> anyhow::Result<File> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    if file.metadata()?.is_dir() {
        return Err(Usage(format!("{} is a folder; name the files in it", path.display())).into());
    }
    Ok(file)
}

pub(crate) fn read_manifest(path: &Path) -> anyhow::Result<Manifest> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut text = String::new();
    let bound = u64::try_from(MAX_MANIFEST_BYTES)? + 1;
    file.take(bound).read_to_string(&mut text).with_context(|| format!("cannot read {}", path.display()))?;
    Manifest::parse(&text).with_context(|| format!("{} cannot be used", path.display()))
}

/// Makes what was loaded findable, and says so while it lasts.
pub(crate) async fn index(personal: &Personal, quiet: bool) {
    let bar =
        if quiet || !terminal::is_watched() { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
    bar.set_message("indexing for search");
    bar.enable_steady_tick(Duration::from_millis(120));
    personal.update_index().await;
    bar.finish_and_clear();
}

fn progress(length: u64, quiet: bool) -> ProgressBar {
    if quiet || !terminal::is_watched() {
        return ProgressBar::hidden();
    }
    let template = "{bar:30} {bytes}/{total_bytes} {msg} ({bytes_per_sec}, {eta} left)";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}
