//! `pdpp backup`: everything in one file, while a server runs.

pub(super) mod archive;
pub(super) mod parts;

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use pdpp_access::Clock as _;
use pdpp_server::{KeptBlob, Personal, SystemClock, snapshot};
use serde_json::json;

use self::archive::{Index, Packer};
use crate::args::DataArgs;
use crate::exit::Usage;
use crate::screen::{counted, size};
use crate::terminal;

/// How often everything is copied again when an attachment was removed meanwhile.
const ATTEMPTS: usize = 3;

/// Copy everything you keep into one file
///
/// Records, attachments, grants, the ledger and the settings, each as it is at one moment; a server may go on running.
/// The file is read back and checked before it gets its name, and only you may read it. It is not encrypted: keep it as
/// safe as the data itself. The search index is not in it; `pdpp restore` makes it again.
#[derive(Args, Debug)]
#[command(after_help = "Example: pdpp backup ~/Backups/pdpp-2026-01-31.tar")]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The file to write
    file: PathBuf,
    /// Put it in the place of a file that is there
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: BackupArgs) -> anyhow::Result<()> {
    let data = args.data.directory("backup")?;
    if args.file.exists() && !args.force {
        let message =
            format!("{} is there already; choose another name, or say --force", args.file.display());
        return Err(Usage(message).into());
    }
    // Brought up to date first, so that what is copied is of this version.
    drop(Personal::open_existing(&data)?);
    let file = args.file.clone();
    let index =
        tokio::task::spawn_blocking(move || write(&data, &file)).await.context("the backup stopped")??;
    let bytes: u64 = index.parts.iter().map(|part| part.size).sum();
    let blobs = index.parts.iter().filter(|part| part.path.starts_with("blobs/")).count() as u64;
    if args.json {
        return terminal::json(&json!({
            "file": args.file, "made_at": index.made_at, "parts": index.parts.len(), "blobs": blobs, "bytes": bytes,
        }));
    }
    let attachments = counted(blobs, "attachment");
    terminal::line(&format!(
        "{}: {}, {attachments}; read back and found whole",
        args.file.display(),
        size(bytes)
    ))?;
    terminal::note(
        "It holds everything and is not encrypted; keep it safe. `pdpp restore FILE` brings it back.",
    );
    Ok(())
}

/// Writes beside the file's place, reads it back, and only then gives it its name.
fn write(data: &Path, file: &Path) -> anyhow::Result<Index> {
    let whole = std::path::absolute(file)?;
    let folder = whole.parent().unwrap_or(Path::new("/"));
    let cannot = || format!("cannot write in {}; choose a place that can be written", folder.display());
    let copies = tempfile::Builder::new().prefix(".pdpp-backup-").tempdir_in(folder).with_context(cannot)?;
    for _ in 0..ATTEMPTS {
        let blobs = snapshot(data, copies.path())?;
        let written =
            tempfile::Builder::new().prefix(".pdpp-backup-").tempfile_in(folder).with_context(cannot)?;
        if !pack(data, copies.path(), &blobs, written.as_file()).with_context(cannot)? {
            for name in pdpp_server::DATABASES {
                std::fs::remove_file(copies.path().join(name))?;
            }
            continue;
        }
        written.as_file().sync_all().with_context(cannot)?;
        let index = archive::read(BufReader::new(written.reopen()?), None)
            .context("what was written cannot be read back; nothing was kept")?;
        written.persist(&whole).with_context(cannot)?;
        if let Ok(folder) = File::open(folder) {
            // The name itself survives the loss of power; where folders cannot be synced, nothing is lost.
            let _ = folder.sync_all();
        }
        return Ok(index);
    }
    bail!("attachments are being removed faster than they can be copied; try again in a moment")
}

/// False when an attachment went away meanwhile.
fn pack(data: &Path, copies: &Path, blobs: &[KeptBlob], file: &File) -> anyhow::Result<bool> {
    let mut packer = Packer::new(BufWriter::with_capacity(1 << 20, file), SystemClock.now());
    for name in pdpp_server::DATABASES {
        packer.add(name, File::open(copies.join(name))?)?;
    }
    for name in parts::beside(data) {
        packer.add(&name, File::open(data.join(&name))?)?;
    }
    for blob in blobs {
        let opened = match File::open(data.join(&blob.path)) {
            Ok(opened) => opened,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return missing(data, blob).map(|()| false);
            }
            Err(error) => return Err(error).context("an attachment cannot be read"),
        };
        let path = blob.path.to_string_lossy().replace('\\', "/");
        if packer.add(&path, opened)? != blob.sha256 {
            bail!("the bytes of {path} have changed; `pdpp verify` says more");
        }
    }
    packer.finish()?.flush()?;
    Ok(true)
}

/// Whether a missing attachment was removed rightly, so that trying again helps.
fn missing(data: &Path, blob: &KeptBlob) -> anyhow::Result<()> {
    let again = tempfile::tempdir()?;
    let still = snapshot(data, again.path())?;
    if still.contains(blob) {
        bail!("the bytes of {} are missing; `pdpp verify` says more", blob.path.display());
    }
    Ok(())
}
