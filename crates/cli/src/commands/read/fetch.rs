//! `pdpp read fetch`: one record, its long and binary fields described instead of poured out.

use clap::Args;
use pdpp_client::Request;
use pdpp_evidence::{
    Content, DEFAULT_LIMIT_CHARS, Extent, FieldTarget, FieldText, FieldWindowRead, RecordHandle, text_of,
};
use serde_json::{Map, Value};

use super::source::{Source, SourceArgs};
use super::{command, output, target};
use crate::layout::Page;
use crate::terminal;

/// How much of a field a person sees before the command that reads it all.
const SHOWN_CHARS: usize = 480;

/// Read one record
///
/// The record is named by its stream and key, or by the id a search printed. A long field is cut and followed by
/// the command that reads on; a binary one is described. JSON output has the record as the server sent it.
#[derive(Args, Debug)]
#[command(
    override_usage = "pdpp read fetch [OPTIONS] [URL] <STREAM> <RECORD>\n       pdpp read fetch [OPTIONS] [URL] <ID>",
    after_help = "Example: pdpp read fetch messages m_0132 --fields author,text"
)]
pub(super) struct FetchArgs {
    /// The stream and the record's key, or the record's id; a URL may stand before them
    #[arg(value_name = "RECORD", num_args = 1..=3, required = true)]
    words: Vec<String>,
    /// The connection that holds the record
    #[arg(long, value_name = "ID")]
    connection_id: Option<String>,
    /// Only these fields
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    fields: Vec<String>,
    /// With these related records; may be repeated
    #[arg(long, value_name = "RELATION", value_delimiter = ',')]
    expand: Vec<String>,
    #[command(flatten)]
    source: SourceArgs,
}

pub(super) async fn run(args: FetchArgs) -> anyhow::Result<()> {
    let (url, mut record) =
        target::record(args.words, args.source.is_fixed(), args.connection_id.as_deref())?;
    let source = args.source.connect(url).await?;
    record.connection_id = source.connection(&record.stream, record.connection_id)?;
    let request = Request::get(["v1", "streams", &record.stream, "records", &record.record_id])
        .maybe("connection_id", record.connection_id.as_deref())
        .each("fields", args.fields)
        .each("expand", args.expand);
    let answer = source.json(&request).await?;
    if output::for_programs(args.source.format(), &answer)? {
        return Ok(());
    }
    let connection_id = answer.get("connection_id").and_then(Value::as_str).map(str::to_owned);
    let record = RecordHandle { connection_id: connection_id.or(record.connection_id), ..record };
    let page = Page::here();
    let text = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default();
    page.heading(format!("{}  {}  {}", record.id(), text("emitted_at"), text("display_name")).trim_end())?;
    let none = Map::new();
    for (field, value) in answer.get("data").and_then(Value::as_object).unwrap_or(&none) {
        show(page, &source, &record, field, value)?;
    }
    for (relation, children) in answer.get("expanded").and_then(Value::as_object).unwrap_or(&none) {
        let count = children.get("data").and_then(Value::as_array).map_or(1, Vec::len);
        page.text("", &format!("{relation}: {count} related; --format json shows them"))?;
    }
    Ok(())
}

fn show(
    page: Page,
    source: &Source,
    record: &RecordHandle,
    field: &str,
    value: &Value,
) -> anyhow::Result<()> {
    match text_of(value) {
        FieldText::NotText { .. } => page.entry(&format!("{field}: "), &value.to_string())?,
        FieldText::Binary(content) => {
            page.text("", &format!("{field}: preview_status=binary-only {}", described(&content)))?;
            if let Content::BlobRef { blob_id, .. } = &content {
                let read = command::blob(source, blob_id, record.connection_id.as_deref());
                terminal::line(&format!("   {} --output FILE", command::shell(&read)))?;
            }
        }
        FieldText::Text { text, .. } => {
            let (shown, extent) = Extent::head(&text, SHOWN_CHARS);
            if !extent.truncated && !shown.contains('\n') {
                return Ok(page.entry(&format!("{field}: "), shown)?);
            }
            if !extent.truncated {
                page.text("", &format!("{field}:"))?;
                return Ok(page.text("│ ", shown)?);
            }
            let size = extent.total_chars.unwrap_or_default();
            page.text(
                "",
                &format!(
                    "{field}: preview_status=truncated chars=0-{} size_chars={size}",
                    extent.shown_chars
                ),
            )?;
            page.text("│ ", shown)?;
            let target = FieldTarget {
                stream: &record.stream,
                record_id: &record.record_id,
                field,
                connection_id: record.connection_id.as_deref(),
            };
            let read = FieldWindowRead::at(target, 0, DEFAULT_LIMIT_CHARS);
            terminal::line(&format!("   {}", command::shell(&command::field_window(source, &read))))?;
        }
    }
    Ok(())
}

pub(super) fn described(content: &Content) -> String {
    let known = |name: &str, value: Option<String>| value.map(|value| format!("{name}={value}"));
    let parts = match content {
        Content::Base64 { media_type, decoded_bytes } => {
            [None, known("mime_type", media_type.clone()), Some(format!("size_bytes={decoded_bytes}"))]
        }
        Content::BlobRef { blob_id, mime_type, size_bytes } => [
            Some(format!("blob_id={blob_id}")),
            known("mime_type", mime_type.clone()),
            known("size_bytes", size_bytes.map(|size| size.to_string())),
        ],
        Content::Text | Content::Json | Content::Scalar => [None, None, None],
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
