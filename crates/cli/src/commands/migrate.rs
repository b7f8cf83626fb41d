//! `pdpp migrate`: brings a database to the schema this program knows.

use clap::Args;
use pdpp_server::{DEFAULT_PARTITIONS, migrate};
use serde_json::json;

use crate::args::DataArgs;
use crate::exit::Usage;
use crate::terminal;

/// Prepare a database for this version of pdpp
///
/// Makes the tables in an empty database, and adds what a newer pdpp needs to an older one. Nodes that are running go on
/// meanwhile unless a step says that they cannot. Two of these at once wait for each other, and one that was
/// interrupted is run again. It needs the right to create tables; `pdpp serve` does not.
#[derive(Args, Debug)]
#[command(after_help = "Example: pdpp migrate --database-url postgres://pdpp:PASSWORD@db.example.org/pdpp")]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Into how many partitions each table of an empty database is divided; it cannot be changed later
    #[arg(long, value_name = "COUNT", default_value_t = DEFAULT_PARTITIONS,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    partitions: u16,
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
    let place = database.url.to_string();
    if args.json {
        return terminal::json(&json!({"database": place, "from": migrated.from, "to": migrated.to}));
    }
    terminal::line(&match migrated.from {
        from if from == migrated.to => format!("{place} is up to date (version {from})"),
        0 => format!("{place} is ready (version {})", migrated.to),
        from => format!("{place} went from version {from} to {}", migrated.to),
    })?;
    Ok(())
}
