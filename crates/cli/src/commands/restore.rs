//! `pdpp restore`: a backup becomes a data directory, whole or not at all.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use pdpp_access::random_hex;
use pdpp_server::{Alone, Personal, SystemEntropy};
use pdpp_store::{Disclosure, Door, Renewed};
use pdpp_wire::{Instant, SubjectId};
use serde_json::json;
use tempfile::TempDir;

use super::backup::archive::{self, Index};
use crate::args::DataArgs;
use crate::exit::Usage;
use crate::passphrase::PassphraseArgs;
use crate::screen::counted;
use crate::terminal;

/// Bring a backup back
///
/// Everything is unpacked and checked beside the data directory and put in its place at the end, so that a restore that
/// fails changes nothing. Every grant and token ends, because the backup does not know what you revoked since; clients
/// that follow changes begin anew.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pdpp restore ~/Backups/pdpp-2026-01-31.tar
  pdpp restore backup.tar --data ./elsewhere --keep-grants")]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The backup
    file: PathBuf,
    /// Put it in the place of data that is there, which is set aside
    #[arg(long)]
    force: bool,
    /// Let grants and tokens of the backup work again
    #[arg(long)]
    keep_grants: bool,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: RestoreArgs) -> anyhow::Result<()> {
    let data = std::path::absolute(args.data.directory("restore")?)?;
    let file = File::open(&args.file).with_context(|| format!("cannot open {}", args.file.display()))?;
    let taken = data.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if taken && !args.force {
        let message = format!("{} is not empty; say --force to set it aside, or --data DIR", data.display());
        return Err(Usage(message).into());
    }
    let asked = ask_for_what_is_there(&args, &data).await?;
    let parent = data.parent().unwrap_or(Path::new("/")).to_owned();
    fs::create_dir_all(&parent)
        .with_context(|| format!("cannot make {}; choose a place that can be written", parent.display()))?;
    let staged = tempfile::Builder::new().prefix(".pdpp-restore-").tempdir_in(&parent);
    let staged = staged.with_context(|| {
        format!("cannot write in {}; choose a place that can be written", parent.display())
    })?;
    let folder = staged.path().to_owned();
    let index = tokio::task::spawn_blocking(move || {
        archive::read(BufReader::with_capacity(1 << 20, file), Some(&folder))
    })
    .await
    .context("the restore stopped")??;
    let renewed = renew(&args, staged.path(), asked.as_deref()).await?;
    let aside = put_in_place(staged, &data)?;
    tell(&args, &data, &index, renewed, aside.as_deref())
}

/// Asks for the passphrase of the data that is there, and gives its hash.
async fn ask_for_what_is_there(args: &RestoreArgs, data: &Path) -> anyhow::Result<Option<String>> {
    if !data.join("store.db").exists() {
        return Ok(None);
    }
    // Data that cannot be opened is a reason to restore, not against it.
    let Ok(personal) = Personal::open_existing(data) else { return Ok(None) };
    let personal = args.data.meant(personal).await?;
    args.passphrase.require(&personal).await?;
    Ok(personal.store().find_passphrase(personal.subject()).await?)
}

/// Opens what was unpacked, asks for its passphrase unless it was just given, and ends what must end.
async fn renew(args: &RestoreArgs, staged: &Path, asked: Option<&str>) -> anyhow::Result<Renewed> {
    let personal = Personal::open_existing(staged).context("the backup cannot be used")?;
    let personal = args.data.meant(personal).await?;
    if personal.store().find_passphrase(personal.subject()).await?.as_deref() != asked {
        args.passphrase.require(&personal).await?;
    }
    let findings = personal.directory("restore")?.verify().await?;
    if let Some(finding) = findings.first() {
        bail!("the backup is damaged: {finding}");
    }
    let renewed = personal.directory("restore")?.renew(args.keep_grants).await?;
    personal
        .store()
        .append_disclosures(vec![entry(personal.subject(), renewed, personal.clock().now())])
        .await?;
    personal.update_index().await;
    Ok(renewed)
}

/// What an owner reads about it in their ledger.
pub(super) fn entry(subject_id: &SubjectId, renewed: Renewed, at: Instant) -> Disclosure {
    Disclosure {
        at,
        subject_id: subject_id.clone(),
        request_id: format!("req_{}", random_hex(&SystemEntropy, 12)),
        door: Door::Cli,
        client_id: None,
        grant_ids: Vec::new(),
        token_id: None,
        action: "restore".to_owned(),
        refused: None,
        stream: None,
        connection_ids: Vec::new(),
        record_count: 0,
        record_keys: Vec::new(),
        fields: Vec::new(),
        char_range: None,
        query: None,
        filter_fields: Vec::new(),
        note: Some(format!("{} grants ended", renewed.grants)),
    }
}

/// One rename puts it in place. What was there is set aside first, and comes back if that fails.
fn put_in_place(staged: TempDir, data: &Path) -> anyhow::Result<Option<PathBuf>> {
    let cannot = || format!("cannot put the data in its place, {}", data.display());
    let held = if data.join("store.db").exists() { hold(data)? } else { None };
    let aside = match fs::remove_dir(data) {
        Ok(()) => None,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(_) => {
            let aside = free_name(data);
            fs::rename(data, &aside).with_context(cannot)?;
            Some(aside)
        }
    };
    if let Err(error) = fs::rename(staged.path(), data) {
        if let Some(aside) = &aside {
            fs::rename(aside, data)
                .with_context(|| format!("what was there is now in {}", aside.display()))?;
        }
        return Err(error).with_context(cannot);
    }
    // Its name is gone, and with it what would have been removed.
    let _ = staged.keep();
    drop(held);
    if let Some(parent) = data.parent().and_then(|parent| File::open(parent).ok()) {
        let _ = parent.sync_all();
    }
    Ok(aside)
}

/// Nobody else may be at work where a directory is replaced.
fn hold(data: &Path) -> anyhow::Result<Option<Alone>> {
    match Alone::hold(data) {
        Ok(Some(held)) => Ok(Some(held)),
        Ok(None) => {
            bail!("{} is in use; stop the server and what else reads it, then try again", data.display())
        }
        // A database that cannot even be locked is in nobody's use.
        Err(_) => Ok(None),
    }
}

fn free_name(data: &Path) -> PathBuf {
    let name = |number: usize| {
        let mut name = data.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".before-restore-{number}"));
        data.with_file_name(name)
    };
    (1..10_000).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0))
}

fn tell(
    args: &RestoreArgs,
    data: &Path,
    index: &Index,
    renewed: Renewed,
    aside: Option<&Path>,
) -> anyhow::Result<()> {
    if args.json {
        return terminal::json(&json!({
            "data": data, "made_at": index.made_at, "parts": index.parts.len(), "set_aside": aside,
            "revoked_grants": renewed.grants, "revoked_tokens": renewed.tokens, "kept_grants": args.keep_grants,
        }));
    }
    terminal::line(&format!("{} is as it was at {}", data.display(), index.made_at))?;
    tell_access(args.keep_grants, renewed)?;
    if let Some(aside) = aside {
        terminal::line(&format!(
            "what was there is now in {}; remove it when you are sure",
            aside.display()
        ))?;
    }
    Ok(())
}

/// What became of the access the backup knows.
pub(super) fn tell_access(kept: bool, renewed: Renewed) -> anyhow::Result<()> {
    if kept {
        terminal::note(
            "Its grants and tokens work again, also those you revoked after it was made: `pdpp grant list`.",
        );
        return Ok(());
    }
    let (grants, tokens) = (counted(renewed.grants, "grant"), counted(renewed.tokens, "token"));
    terminal::line(&format!("{grants} and {tokens} ended; make new ones with `pdpp grant create`"))?;
    Ok(())
}
