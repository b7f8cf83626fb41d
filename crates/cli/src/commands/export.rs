//! `pdpp export`: everything, in a folder that `pdpp import` reads back, or as tables in one `SQLite` file.

mod blobs;
mod database;
mod folder;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, ValueEnum};
use pdpp_access::{
    Authorizer, Catalogue, Connection, OwnerPrincipal, Principal, RecordsRead, RecordsRequest, Sealer,
    Source, Target, random_hex,
};
use pdpp_server::{Personal, SystemEntropy};
use pdpp_store::{Disclosure, Door, RecordRow};
use pdpp_wire::StreamName;
use serde_json::{Value, json};

use self::folder::ExportFolder;
use crate::args::DataArgs;
use crate::passphrase::PassphraseArgs;
use crate::screen::counted;
use crate::terminal;

/// Records read at once.
const PAGE: u32 = 500;

/// Write everything you keep into a folder, or into one database file
///
/// A folder has one folder per connection: the declaration, the records one JSON object per line, the attachments.
/// `pdpp import` loads it into any data directory. A `SQLite` file has one table per stream, with a column for each field,
/// for programs that read such files. Both are as private as what they hold: keep them so.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pdpp export ~/Desktop/my-data
  pdpp export --format sqlite ~/Desktop/my-data.sqlite")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The folder or file to write, which must not hold anything yet
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// How: a folder of JSON lines, or one `SQLite` file
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,
    /// Only this connection, by id or label; may repeat
    #[arg(long, value_name = "NAME")]
    connection: Vec<String>,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Jsonl,
    Sqlite,
}

/// One connection with its source.
type Chosen<'c> = (&'c Source, &'c Connection);

pub(crate) async fn run(args: ExportArgs) -> anyhow::Result<ExitCode> {
    let personal = args.data.open().await?;
    args.passphrase.require(&personal).await?;
    let catalogue = personal.store().catalogue(personal.subject()).await?;
    let wanted = args
        .connection
        .iter()
        .map(|named| super::connections::find(&catalogue, named))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let chosen: Vec<Chosen<'_>> = catalogue
        .sources
        .iter()
        .flat_map(|source| source.connections.iter().map(move |connection| (source.as_ref(), connection)))
        .filter(|(_, connection)| connection.is_readable())
        .filter(|(_, connection)| wanted.is_empty() || wanted.contains(&connection.connection_id))
        .collect();
    if chosen.is_empty() {
        bail!("there is nothing to export yet; `pdpp import` loads something");
    }
    let export = Export { personal: &personal, catalogue: &catalogue, sealer: sealer(&personal).await? };
    let counts = match args.format {
        Format::Jsonl => export.to_folder(&args.path, &chosen).await?,
        Format::Sqlite => database::write(&export, &args.path, &chosen).await?,
    };
    let mut told = Vec::new();
    for ((source, connection), counts) in chosen.into_iter().zip(counts) {
        let (key, records, blobs) = (source.key(), counts.records, counts.blobs);
        told.push(json!({"connection_id": connection.connection_id, "connector_key": key,
                         "records": records, "blobs": blobs}));
        if !args.json {
            let label = connection.display_name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
            let (records, blobs) = (counted(records, "record"), counted(blobs, "attachment"));
            terminal::line(&format!("{key}{label}: {records}, {blobs}"))?;
        }
    }
    if args.json {
        let place = if args.format == Format::Jsonl { "folder" } else { "file" };
        terminal::json(&json!({place: args.path, "connections": told}))?;
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
    async fn to_folder(&self, path: &std::path::Path, chosen: &[Chosen<'_>]) -> anyhow::Result<Vec<Counts>> {
        let mut folder = ExportFolder::create(path)?;
        let mut all = Vec::new();
        for (source, connection) in chosen {
            let mut lines = folder.connection(source, connection)?;
            let mut counts = Counts::default();
            for stream in source.manifest.streams() {
                let name = stream.name();
                counts.records += self.stream(connection, name, &mut |row| lines.write(name, row)).await?;
            }
            for blob_id in lines.blob_ids.clone() {
                let mut file = None;
                let is_written = blobs::read(self, connection, &blob_id, &mut |_, chunk| {
                    if file.is_none() {
                        file = Some(lines.blob(&blob_id)?);
                    }
                    Ok(file.as_mut().map_or(Ok(()), |file| std::io::Write::write_all(file, chunk))?)
                })
                .await?;
                counts.blobs += u64::from(is_written);
                if let Some(file) = file {
                    file.sync_all()?;
                }
            }
            lines.finish()?;
            all.push(counts);
        }
        folder.finish()?;
        Ok(all)
    }

    /// All records of one stream, oldest first, as the owner's own plan shows them.
    async fn stream(
        &self,
        connection: &Connection,
        stream: &StreamName,
        put: &mut dyn FnMut(&RecordRow) -> anyhow::Result<()>,
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
            let principal = self.owner();
            let read = Authorizer::new(&principal, self.catalogue).records(&request, &self.sealer)?;
            let RecordsRead::Page(plan) = read else { bail!("a page was asked for") };
            let page = self.personal.store().list_records(&plan).await?;
            page.rows.iter().try_for_each(&mut *put)?;
            count += page.rows.len() as u64;
            match page.next {
                Some(next) => cursor = Some(self.sealer.seal_page(&SystemEntropy, plan.binding(), &next)),
                None => break,
            }
        }
        self.enter(connection, stream, count).await?;
        Ok(count)
    }

    fn owner(&self) -> Principal {
        Principal::Owner(OwnerPrincipal { subject_id: self.personal.subject().clone(), token_id: None })
    }

    /// The ledger knows of the owner's own exports too.
    async fn enter(&self, connection: &Connection, stream: &StreamName, count: u64) -> anyhow::Result<()> {
        let entry = Disclosure {
            at: self.personal.clock().now(),
            subject_id: self.personal.subject().clone(),
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

/// The attachment a record refers to.
fn blob_id_of(text: &str) -> Option<String> {
    if !text.contains("blob_ref") {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    value.pointer("/blob_ref/blob_id").and_then(Value::as_str).map(str::to_owned)
}
