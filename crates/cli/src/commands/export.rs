//! `pdpp export`: everything, in a folder that `pdpp import` reads back.

mod blobs;
mod folder;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use pdpp_access::{
    Authorizer, Catalogue, Connection, OwnerPrincipal, Principal, RecordsRead, RecordsRequest, Sealer,
    Source, Target, random_hex,
};
use pdpp_server::{Personal, SystemEntropy, owner_subject};
use pdpp_store::{Disclosure, Door};
use pdpp_wire::StreamName;
use serde_json::json;

use self::folder::{ExportFolder, Lines};
use crate::args::DataArgs;
use crate::passphrase::PassphraseArgs;
use crate::terminal;

/// Records read at once.
const PAGE: u32 = 500;

/// Write everything you keep into a folder
///
/// One folder per connection: the declaration, the records one JSON object per line, the attachments. `pdpp import`
/// loads such a folder into any data directory. The files are as private as what they hold: keep them so.
#[derive(Args, Debug)]
#[command(after_help = "Example: pdpp export ~/Desktop/my-data")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The folder to write, which must not hold anything yet
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Only this connection, by id or label; may repeat
    #[arg(long, value_name = "NAME")]
    connection: Vec<String>,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: ExportArgs) -> anyhow::Result<ExitCode> {
    let personal = Personal::open_existing(&args.data.path()?)?;
    args.passphrase.require(&personal).await?;
    let catalogue = personal.store().catalogue(&owner_subject()).await?;
    let wanted = args
        .connection
        .iter()
        .map(|named| super::connections::find(&catalogue, named))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let chosen: Vec<(&Source, &Connection)> = catalogue
        .sources
        .iter()
        .flat_map(|source| source.connections.iter().map(move |connection| (source.as_ref(), connection)))
        .filter(|(_, connection)| connection.is_readable())
        .filter(|(_, connection)| wanted.is_empty() || wanted.contains(&connection.connection_id))
        .collect();
    if chosen.is_empty() {
        bail!("there is nothing to export yet; `pdpp import` loads something");
    }
    let mut folder = ExportFolder::create(&args.folder)?;
    let export = Export { personal: &personal, catalogue: &catalogue, sealer: sealer(&personal).await? };
    let mut told = Vec::new();
    for (source, connection) in chosen {
        let counts = export.connection(&mut folder, source, connection).await?;
        told.push(json!({"connection_id": connection.connection_id, "connector_key": source.key(),
                         "records": counts.records, "blobs": counts.blobs}));
        if !args.json {
            let label = connection.display_name.as_deref().unwrap_or_default();
            let key = source.key();
            terminal::line(&format!(
                "{key} {label}: {} records, {} attachments",
                counts.records, counts.blobs
            ))?;
        }
    }
    folder.finish()?;
    if args.json {
        terminal::json(&json!({"folder": args.folder, "connections": told}))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn sealer(personal: &Personal) -> anyhow::Result<Sealer> {
    Ok(Sealer::new(&personal.store().sealing_key().await?))
}

struct Export<'a> {
    personal: &'a Personal,
    catalogue: &'a Catalogue,
    sealer: Sealer,
}

#[derive(Debug, Default)]
struct Counts {
    records: u64,
    blobs: u64,
}

impl Export<'_> {
    async fn connection(
        &self,
        folder: &mut ExportFolder,
        source: &Source,
        connection: &Connection,
    ) -> anyhow::Result<Counts> {
        let mut lines = folder.connection(source, connection)?;
        let mut counts = Counts::default();
        for stream in source.manifest.streams() {
            counts.records += self.stream(&mut lines, connection, stream.name()).await?;
        }
        counts.blobs = blobs::write(self, &lines, connection).await?;
        lines.finish()?;
        Ok(counts)
    }

    /// All records of one stream, oldest first, as the owner's own plan shows them.
    async fn stream(
        &self,
        lines: &mut Lines,
        connection: &Connection,
        stream: &StreamName,
    ) -> anyhow::Result<u64> {
        let mut cursor = None;
        let mut count = 0;
        loop {
            let target = Target {
                stream: stream.to_string(),
                connection_id: Some(connection.connection_id.to_string()),
                connector_id: None,
            };
            let request = RecordsRequest {
                target,
                limit: PAGE,
                cursor: cursor.take(),
                order: Some("asc".to_owned()),
                ..RecordsRequest::default()
            };
            let principal = owner();
            let read = Authorizer::new(&principal, self.catalogue).records(&request, &self.sealer)?;
            let RecordsRead::Page(plan) = read else { bail!("a page was asked for") };
            let page = self.personal.store().list_records(&plan).await?;
            for row in &page.rows {
                lines.write(stream, row)?;
            }
            count += page.rows.len() as u64;
            match page.next {
                Some(next) => cursor = Some(self.sealer.seal_page(&SystemEntropy, plan.binding(), &next)),
                None => break,
            }
        }
        self.enter(connection, stream, count).await?;
        Ok(count)
    }

    /// The ledger knows of the owner's own exports too.
    async fn enter(&self, connection: &Connection, stream: &StreamName, count: u64) -> anyhow::Result<()> {
        let entry = Disclosure {
            at: self.personal.clock().now(),
            subject_id: owner_subject(),
            request_id: format!("req_{}", random_hex(&SystemEntropy, 12)),
            door: Door::Cli,
            client_id: None,
            grant_ids: Vec::new(),
            token_id: None,
            action: "export".to_owned(),
            refused: None,
            stream: Some(stream.clone()),
            connection_ids: vec![connection.connection_id.clone()],
            record_count: count,
            record_keys: Vec::new(),
            fields: Vec::new(),
            char_range: None,
            query: None,
            filter_fields: Vec::new(),
            note: None,
        };
        self.personal.store().append_disclosures(vec![entry]).await?;
        Ok(())
    }
}

fn owner() -> Principal {
    Principal::Owner(OwnerPrincipal { subject_id: owner_subject(), token_id: None })
}
