//! `pdpp read blob`: stored bytes into a file. A terminal is given text only.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use indicatif::ProgressBar;
use pdpp_client::Request;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::output::{self, Format};
use super::source::{Source, SourceArgs};
use super::target::{self, wrong};
use crate::exit::{EndCode, Ended};
use crate::terminal;

/// Bytes asked for at a time.
const CHUNK: usize = 8 * 1024 * 1024;
/// A server that does not know ranges may send so much at once.
const MOST_AT_ONCE: usize = 512 * 1024 * 1024;
/// Text on a terminal ends here.
const SHOWN_BYTES: usize = 64 * 1024;

/// Read a stored blob into a file
///
/// The blob's id stands in the `blob_ref` field of its record. Without --output, the bytes go to standard output, but
/// to a terminal only when they are text.
#[derive(Args, Debug)]
#[command(
    override_usage = "pdpp read blob [OPTIONS] [URL] <BLOB>",
    after_help = "Example: pdpp read blob blob_sha256_9f86d0… --output photo.jpg"
)]
pub(super) struct BlobArgs {
    /// The blob's id; a URL may stand before it
    #[arg(value_name = "BLOB", num_args = 1..=2, required = true)]
    words: Vec<String>,
    /// Write it here; a file that exists is kept unless --force
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long, requires = "output")]
    force: bool,
    /// The connection that holds the record
    #[arg(long, value_name = "ID")]
    connection_id: Option<String>,
    #[command(flatten)]
    source: SourceArgs,
}

struct Blob {
    media_type: String,
    bytes: Vec<u8>,
}

pub(super) async fn run(args: BlobArgs) -> anyhow::Result<()> {
    let (url, word) = target::one(args.words, args.source.is_fixed())?;
    let blob_id = word.rsplit('/').next().unwrap_or_default().to_owned();
    if blob_id.is_empty() {
        return Err(wrong("name a blob: its id stands in the record's blob_ref").into());
    }
    if let Some(path) = args.output.as_deref().filter(|path| !args.force && path.exists()) {
        return Err(wrong(format!("{} exists; --force overwrites it", path.display())).into());
    }
    let source = args.source.connect(url).await?;
    let connection_id = source.named_connection(args.connection_id);
    let blob = read(&source, &blob_id, connection_id.as_deref()).await?;
    let sha256 = hex(&Sha256::digest(&blob.bytes));
    if let Some(expected) = blob_id.strip_prefix("blob_sha256_")
        && !expected.eq_ignore_ascii_case(&sha256)
    {
        let message =
            format!("the bytes are not those of {blob_id}: their SHA-256 is {sha256}; nothing was written");
        return Err(Ended::new(EndCode::Other, message).into());
    }
    let Some(path) = &args.output else { return print(&blob, &blob_id) };
    write(path, &blob.bytes, args.force)?;
    let receipt = json!({
        "object": "blob_file", "blob_id": blob_id, "mime_type": blob.media_type,
        "size_bytes": blob.bytes.len(), "sha256": sha256, "path": path,
    });
    match args.source.format() {
        Format::Table => {
            terminal::line(&format!(
                "{} bytes of {} in {}",
                blob.bytes.len(),
                blob.media_type,
                path.display()
            ))?;
        }
        format => {
            output::for_programs(format, &receipt)?;
        }
    }
    Ok(())
}

/// Reads it in pieces, so that a large one neither meets the bound of one answer nor its deadline.
async fn read(source: &Source, blob_id: &str, connection_id: Option<&str>) -> anyhow::Result<Blob> {
    let request = || {
        Request::get(["v1", "blobs", blob_id]).maybe("connection_id", connection_id).max_bytes(MOST_AT_ONCE)
    };
    let mut bytes = Vec::new();
    let progress = ProgressBar::no_length();
    loop {
        let range = format!("bytes={}-{}", bytes.len(), bytes.len() + CHUNK - 1);
        let answer = match source.send(&request().range(range)).await {
            // Nothing has no ranges.
            Err(refused) if bytes.is_empty() && refused.message.starts_with("invalid_range") => {
                source.send(&request()).await?
            }
            answer => answer?,
        };
        let total =
            answer.content_range.as_deref().and_then(|range| range.rsplit('/').next()?.parse::<usize>().ok());
        bytes.extend_from_slice(&answer.body);
        progress.set_length(u64::try_from(total.unwrap_or(bytes.len())).unwrap_or(u64::MAX));
        progress.set_position(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let whole =
            answer.status != 206 || answer.body.is_empty() || total.is_none_or(|total| bytes.len() >= total);
        if whole {
            progress.finish_and_clear();
            let media_type = answer.media_type.unwrap_or_else(|| "application/octet-stream".to_owned());
            return Ok(Blob { media_type, bytes });
        }
    }
}

fn print(blob: &Blob, blob_id: &str) -> anyhow::Result<()> {
    if !terminal::is_watched() {
        io::stdout().write_all(&blob.bytes)?;
        return Ok(());
    }
    let textual = blob.media_type.starts_with("text/") || blob.media_type.ends_with("json");
    let Some(text) = std::str::from_utf8(&blob.bytes).ok().filter(|_| textual) else {
        let message = format!(
            "{blob_id} holds {} bytes of {}, which a terminal cannot show; write them to a file with --output FILE",
            blob.bytes.len(),
            blob.media_type
        );
        return Err(wrong(message).into());
    };
    let shown: String = text.chars().take(SHOWN_BYTES).collect();
    terminal::line(&shown)?;
    if shown.len() < text.len() {
        terminal::note(&format!("cut after {SHOWN_BYTES} characters; --output FILE writes all of it"));
    }
    Ok(())
}

/// All of it or nothing: an interrupted write leaves no half file. What is personal is readable by its owner alone.
fn write(path: &Path, bytes: &[u8], force: bool) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = || format!("cannot write {}; choose a place that can be written", path.display());
    let mut fresh = tempfile::NamedTempFile::new_in(folder).with_context(cannot)?;
    fresh.write_all(bytes).with_context(cannot)?;
    fresh.as_file().sync_all().with_context(cannot)?;
    let kept = if force { fresh.persist(path) } else { fresh.persist_noclobber(path) };
    kept.map_err(|error| error.error).with_context(cannot)?;
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}
