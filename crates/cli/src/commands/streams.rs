//! `pdpp streams`: what is in the data directory, at a glance.

use clap::Args;
use pdpp_wire::Instant;
use serde_json::{Value, json};

use crate::args::DataArgs;
use crate::{holdings, terminal};

/// List the streams you hold, with their sizes
#[derive(Args, Debug)]
pub(crate) struct StreamsArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: StreamsArgs) -> anyhow::Result<()> {
    let personal = args.data.open().await?;
    let catalogue = personal.store().catalogue(personal.subject()).await?;
    let held = holdings::all(&personal, &catalogue).await?;
    if args.json {
        let values: Vec<Value> = held
            .iter()
            .map(|held| {
                json!({
                    "stream": held.stream, "connector_key": held.connector_key, "connection_id": held.connection_id,
                    "display_name": held.display_name, "record_count": held.records,
                    "last_updated": held.last_updated.map(Instant::to_rfc3339),
                })
            })
            .collect();
        return terminal::json(&values);
    }
    let rows: Vec<[String; 5]> = held
        .iter()
        .map(|held| {
            [
                held.stream.to_string(),
                held.connector_key.to_string(),
                held.label().to_owned(),
                held.records.to_string(),
                held.last_updated.map(Instant::to_rfc3339).unwrap_or_default(),
            ]
        })
        .collect();
    terminal::table(["STREAM", "CONNECTOR", "CONNECTION", "RECORDS", "LAST UPDATED"], &rows)?;
    Ok(())
}
