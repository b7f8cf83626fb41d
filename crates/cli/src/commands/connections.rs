//! `pdpp connections`: the accounts, devices and exports the records came from.

use anyhow::bail;
use clap::{Args, Subcommand};
use pdpp_access::{Catalogue, ConnectionStatus};
use pdpp_server::Personal;
use pdpp_wire::ConnectionId;
use serde_json::json;

use crate::args::DataArgs;
use crate::exit::Usage;
use crate::terminal;

/// List, rename or remove the connections your records came through
#[derive(Args, Debug)]
pub(crate) struct ConnectionsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// List all connections
    List {
        #[command(flatten)]
        data: DataArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Give a connection a label of your own
    Rename {
        #[command(flatten)]
        data: DataArgs,
        /// The connection's id or present label
        connection: String,
        /// The new label
        name: String,
    },
    /// Remove a connection with all its records and blobs, for good
    Remove {
        #[command(flatten)]
        data: DataArgs,
        /// The connection's id or label
        connection: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

pub(crate) async fn run(args: ConnectionsArgs) -> anyhow::Result<()> {
    match args.action {
        Action::List { data, json } => list(&data.open().await?, json).await,
        Action::Rename { data, connection, name } => rename(&data.open().await?, &connection, &name).await,
        Action::Remove { data, connection, yes } => remove(&data.open().await?, &connection, yes).await,
    }
}

async fn list(personal: &Personal, as_json: bool) -> anyhow::Result<()> {
    let catalogue = personal.store().catalogue(personal.subject()).await?;
    let connections =
        catalogue.sources.iter().flat_map(|source| source.connections.iter().map(move |c| (source, c)));
    let status = |status| match status {
        ConnectionStatus::Draft => "draft",
        ConnectionStatus::Active => "active",
        ConnectionStatus::Paused => "paused",
        ConnectionStatus::Removed => "removed",
    };
    if as_json {
        let all: Vec<_> = connections
            .map(|(source, connection)| {
                json!({
                    "connection_id": connection.connection_id, "connector_key": source.key(),
                    "display_name": connection.display_name, "status": status(connection.status),
                })
            })
            .collect();
        return terminal::json(&all);
    }
    let rows: Vec<[String; 4]> = connections
        .map(|(source, connection)| {
            let label = connection.display_name.clone().unwrap_or_default();
            [
                connection.connection_id.to_string(),
                source.key().to_string(),
                label,
                status(connection.status).to_owned(),
            ]
        })
        .collect();
    terminal::table(["CONNECTION", "CONNECTOR", "LABEL", "STATUS"], &rows)?;
    Ok(())
}

async fn rename(personal: &Personal, connection: &str, name: &str) -> anyhow::Result<()> {
    if name.trim().is_empty() || name.chars().count() > 256 {
        return Err(Usage("the label needs 1 to 256 characters".to_owned()).into());
    }
    let store = personal.store();
    let id = find(&*store.catalogue(personal.subject()).await?, connection)?;
    store.rename_connection(personal.subject(), &id, Some(name.trim())).await?;
    terminal::line(&format!("{id} is now called {}", name.trim()))?;
    Ok(())
}

async fn remove(personal: &Personal, connection: &str, yes: bool) -> anyhow::Result<()> {
    let store = personal.store();
    let id = find(&*store.catalogue(personal.subject()).await?, connection)?;
    if !yes && !terminal::confirm(&format!("Remove {id} with all its records, for good?"))? {
        bail!("nothing was removed; say --yes to remove without being asked");
    }
    match store.remove_connection(personal.subject(), &id).await? {
        Some(counts) => {
            personal.update_index().await;
            terminal::line(&format!("removed {id}: {} records, {} blobs", counts.records, counts.blobs))?;
            Ok(())
        }
        None => bail!("{id} was removed meanwhile"),
    }
}

/// The connection an id or a label means.
pub(crate) fn find(catalogue: &Catalogue, named: &str) -> anyhow::Result<ConnectionId> {
    let all = || catalogue.sources.iter().flat_map(|source| &source.connections);
    if let Some(connection) = all().find(|connection| connection.connection_id.as_str() == named) {
        return Ok(connection.connection_id.clone());
    }
    let mut labelled = all().filter(|connection| connection.display_name.as_deref() == Some(named));
    match (labelled.next(), labelled.next()) {
        (Some(connection), None) => Ok(connection.connection_id.clone()),
        (Some(_), Some(_)) => {
            Err(Usage(format!("several connections are called '{named}'; use an id")).into())
        }
        (None, _) => bail!("there is no connection '{named}'; `pdpp connections list` shows all"),
    }
}
