//! `pdpp streams`: what is in the data directory, at a glance.

use clap::Args;
use pdpp_access::{Authorizer, OwnerPrincipal, Principal, StreamsRequest};
use pdpp_server::{Personal, owner_subject};

use pdpp_wire::Instant;
use serde_json::json;

use crate::args::DataArgs;
use crate::terminal;

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
    let personal = Personal::open_existing(&args.data.path()?)?;
    let store = personal.store();
    let catalogue = store.catalogue(&owner_subject()).await?;
    let owner = Principal::Owner(OwnerPrincipal { subject_id: owner_subject(), token_id: None });
    let mut rows = Vec::new();
    let mut values = Vec::new();
    for plan in Authorizer::new(&owner, &catalogue).streams(&StreamsRequest::default())? {
        for (part, summary) in plan.parts().iter().zip(store.summarize(&plan).await?) {
            let updated = summary.last_updated.map(Instant::to_rfc3339);
            values.push(json!({
                "stream": plan.stream(), "connector_key": plan.source().key(), "connection_id": part.connection_id(),
                "display_name": part.display_name(), "record_count": summary.record_count, "last_updated": updated,
            }));
            rows.push([
                plan.stream().to_string(),
                plan.source().key().to_string(),
                part.display_name().map_or_else(|| part.connection_id().to_string(), str::to_owned),
                summary.record_count.to_string(),
                updated.unwrap_or_default(),
            ]);
        }
    }
    if args.json {
        return terminal::json(&values);
    }
    terminal::table(["STREAM", "CONNECTOR", "CONNECTION", "RECORDS", "LAST UPDATED"], &rows)?;
    Ok(())
}
