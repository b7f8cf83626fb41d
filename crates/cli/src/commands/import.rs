//! `pdpp import`: load an export into the data directory.

mod batches;
mod destination;
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
pub(crate) use load::load;
pub(crate) use receipt::Receipt;

/// Load an export
///
/// The same export again adds nothing; a newer one adds what is new and updates what changed. A line
/// that cannot be used is reported with its number, and the rest is loaded.
#[derive(Args, Debug)]
#[command(after_help = "Example: pdpp import --manifest notes.json notes.jsonl --connection Laptop")]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The files to load
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The format: jsonl [default: by the file's name]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// The manifest that declares the streams
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// The connection to load into: its id, its label, or a new label
    #[arg(long, value_name = "NAME")]
    connection: Option<String>,
    /// Let this manifest take the place of an earlier one with the same key
    #[arg(long)]
    replace: bool,
    /// Print the receipt as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: ImportArgs) -> anyhow::Result<ExitCode> {
    check_format(&args)?;
    let Some(path) = &args.manifest else {
        let message = "jsonl needs --manifest FILE: it says which streams the records belong to";
        return Err(Usage(message.to_owned()).into());
    };
    let manifest = Arc::new(read_manifest(path)?);
    // Opened before anything is stored, so that a misspelled name changes nothing.
    let files = args.paths.iter().map(|path| open(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let personal = Personal::open(&args.data.path()?)?;
    let mut destination =
        Destination::register(&personal, &manifest, args.connection.as_deref(), args.replace).await?;
    let mut receipt = Receipt::default();
    for (path, file) in args.paths.iter().zip(files) {
        let bar = progress(&file, args.json);
        let reader = BufReader::with_capacity(1 << 20, bar.wrap_read(file));
        let named = if args.paths.len() > 1 { Some(path.as_path()) } else { None };
        load(&personal, &mut destination, reader, named, &mut receipt, &bar).await?;
        bar.finish_and_clear();
    }
    let bar = indexing(args.json);
    personal.update_index().await;
    bar.finish_and_clear();
    receipt.print(args.json)?;
    Ok(if receipt.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn check_format(args: &ImportArgs) -> Result<(), Usage> {
    let known = |path: &PathBuf| path.extension().is_some_and(|end| end == "jsonl" || end == "ndjson");
    match args.format.as_deref() {
        Some("jsonl") => Ok(()),
        Some(other) => Err(Usage(format!("'{other}' is no format; jsonl is"))),
        None if args.paths.iter().all(known) => Ok(()),
        None => Err(Usage("the format cannot be told from the name; say --format jsonl".to_owned())),
    }
}

fn open(path: &Path) -> anyhow::Result<File> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    if file.metadata()?.is_dir() {
        return Err(Usage(format!("{} is a folder; name the files in it", path.display())).into());
    }
    Ok(file)
}

fn read_manifest(path: &Path) -> anyhow::Result<Manifest> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut text = String::new();
    let bound = u64::try_from(MAX_MANIFEST_BYTES)? + 1;
    file.take(bound).read_to_string(&mut text).with_context(|| format!("cannot read {}", path.display()))?;
    Manifest::parse(&text).with_context(|| format!("{} cannot be used", path.display()))
}

/// Says that the words of what was loaded are being indexed.
fn indexing(quiet: bool) -> ProgressBar {
    if quiet || !terminal::is_watched() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_message("indexing for search");
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn progress(file: &File, quiet: bool) -> ProgressBar {
    if quiet || !terminal::is_watched() {
        return ProgressBar::hidden();
    }
    let length = file.metadata().map(|metadata| metadata.len()).unwrap_or_default();
    let template = "{bar:30} {bytes}/{total_bytes} {msg} ({bytes_per_sec}, {eta} left)";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}
