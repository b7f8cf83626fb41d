//! `pdpp migrate`: brings a database to the schema this program knows.

use clap::Args;
use pdpp_server::{DEFAULT_PARTITIONS, migrate, move_attachments, renew, sweep_attachments};
use serde_json::json;

use super::restore::{entry, tell_access};
use crate::args::DataArgs;
use crate::exit::Usage;
use crate::screen::{counted, size};
use crate::terminal;

/// Prepare a database for this version of pdpp
///
/// Makes the tables in an empty database, and adds what a newer pdpp needs to an older one. Nodes that are running go on
/// meanwhile unless a step says that they cannot. Two of these at once wait for each other, and one that was
/// interrupted is run again. It needs the right to create tables; `pdpp serve` does not.
///
/// A database that was brought back from a backup does not know what was revoked since. Say --restored before the first
/// node starts on it: every grant and token of every owner ends, and clients that follow changes begin anew.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pdpp migrate --database-url postgres://pdpp:PASSWORD@db.example.org/pdpp
  pdpp migrate --restored")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Into how many partitions each table of an empty database is divided; it cannot be changed later
    #[arg(long, value_name = "COUNT", default_value_t = DEFAULT_PARTITIONS,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    partitions: u16,
    /// The database comes from a backup: end every grant and token in it
    #[arg(long)]
    restored: bool,
    /// With --restored: let grants and tokens of the backup work again
    #[arg(long, requires = "restored")]
    keep_grants: bool,
    /// All attachments were copied to the place the settings name: nodes look for them there from now on
    #[arg(long)]
    attachments_moved: bool,
    /// Remove attachments older than a day that nothing in the database refers to, such as those that came after the
    /// backup; no other database may keep its own in the same place
    #[arg(long)]
    sweep_attachments: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: MigrateArgs) -> anyhow::Result<()> {
    let config = args.data.kept.config(&args.data.path()?)?;
    let Some(database) = &config.database else {
        let message = "a data directory needs no `pdpp migrate`; name a database with --database-url";
        return Err(Usage(message.to_owned()).into());
    };
    let tell = |version| {
        if !args.json {
            terminal::note(&format!("making version {version}"));
        }
    };
    let migrated = migrate(database, args.partitions, tell).await?;
    let renewed = if args.restored { Some(renew(database, args.keep_grants, entry).await?) } else { None };
    let moved = if args.attachments_moved { Some(move_attachments(database).await?) } else { None };
    let swept = if args.sweep_attachments { Some(sweep_attachments(database).await?) } else { None };
    let place = database.url.to_string();
    if args.json {
        let mut told = json!({"database": place, "from": migrated.from, "to": migrated.to});
        if let Some(renewed) = renewed {
            told["revoked_grants"] = json!(renewed.grants);
            told["revoked_tokens"] = json!(renewed.tokens);
            told["kept_grants"] = json!(args.keep_grants);
        }
        if let Some(moved) = moved {
            told["attachments"] = json!(moved);
        }
        if let Some(swept) = swept {
            told["swept_attachments"] =
                json!({"seen": swept.seen, "removed": swept.removed, "removed_bytes": swept.removed_bytes});
        }
        return terminal::json(&told);
    }
    terminal::line(&match migrated.from {
        from if from == migrated.to => format!("{place} is up to date (version {from})"),
        0 => format!("{place} is ready (version {})", migrated.to),
        from => format!("{place} went from version {from} to {}", migrated.to),
    })?;
    if let Some(moved) = moved {
        terminal::line(&format!("its attachments are in {moved}"))?;
    }
    if let Some(swept) = swept {
        let (seen, gone) = (counted(swept.seen, "attachment"), size(swept.removed_bytes));
        terminal::line(&format!("{} of {seen} ({gone}) had nobody and were removed", swept.removed))?;
    }
    renewed.map_or(Ok(()), |renewed| tell_access(args.keep_grants, renewed))
}
