//! `pdpp read schema`: what the credential opens, field by field.

use clap::{Args, ValueEnum};
use pdpp_client::Request;
use serde_json::Value;

use super::output::{self, Format};
use super::source::SourceArgs;
use super::{command, target};
use crate::layout::Page;

/// See which streams and fields you can read, and what each field can do
///
/// Beside each field stand its type and its abilities: eq (an exact filter works), r= (ranges), lex (searched), a=
/// (aggregates), g=false (it exists, and is not granted).
#[derive(Args, Debug)]
#[command(
    override_usage = "pdpp read schema [OPTIONS] [URL]",
    after_help = "Example: pdpp read schema --stream messages"
)]
pub(super) struct SchemaArgs {
    /// The server
    #[arg(value_name = "URL")]
    url_word: Option<String>,
    /// Only this stream
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,
    /// Only this connection
    #[arg(long, value_name = "ID")]
    connection_id: Option<String>,
    /// How much of it [default: compact on a terminal, full as JSON]
    #[arg(long, value_enum)]
    view: Option<View>,
    #[command(flatten)]
    source: SourceArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum View {
    Compact,
    Full,
}

pub(super) async fn run(args: SchemaArgs) -> anyhow::Result<()> {
    let format = args.source.format();
    let url = target::nothing(args.url_word, args.source.is_fixed())?;
    let source = args.source.connect(url).await?;
    let compact = format == Format::Table || args.view == Some(View::Compact);
    let request = Request::get(["v1", "schema"])
        .maybe("view", compact.then_some("compact"))
        .maybe("stream", args.stream.as_deref())
        .maybe("connection_id", args.connection_id.as_deref());
    let answer = source.json(&request).await?;
    if output::for_programs(format, &answer)? {
        return Ok(());
    }
    let page = Page::here();
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    if let Some(bearer) = answer.get("bearer") {
        let what = match text(bearer, "token_kind").as_deref() {
            Some("owner") => "everything, as the owner".to_owned(),
            _ => {
                format!("grant {}", text(bearer, "grant_id").unwrap_or_else(|| "of several parts".to_owned()))
            }
        };
        let until = text(bearer, "expires_at").map(|at| format!(", until {at}")).unwrap_or_default();
        page.text("", &format!("{}: {what}{until}", source.name()))?;
    }
    let mut first = None;
    for connector in list(&answer, "connectors") {
        let name = text(connector, "display_name").or_else(|| text(connector, "connector_key"));
        let labels: Vec<String> = list(connector, "granted_connections")
            .filter_map(|one| text(one, "display_name").or_else(|| text(one, "connection_id")))
            .collect();
        page.text("", "")?;
        page.heading(&format!("{} ({})", name.unwrap_or_default(), labels.join(", ")))?;
        for stream in list(connector, "streams") {
            let name = text(stream, "name").unwrap_or_default();
            let order =
                text(stream, "cursor_field").map(|field| format!(", ordered by {field}")).unwrap_or_default();
            page.text("", &format!("{name}{order}"))?;
            fields(&page, stream)?;
            first.get_or_insert(name);
        }
    }
    match first {
        Some(stream) => {
            page.text("", "")?;
            let next = command::of("query-records", &source, vec![stream], Vec::new());
            crate::terminal::line(&format!("records: {}", command::shell(&next)))?;
        }
        None => page.text("", "(nothing is readable with this credential)")?,
    }
    Ok(())
}

fn fields(page: &Page, stream: &Value) -> anyhow::Result<()> {
    let Some(fields) = stream.get("field_capabilities").and_then(Value::as_object) else { return Ok(()) };
    let longest = fields.keys().map(|name| name.chars().count()).max().unwrap_or(0).min(24);
    for (name, flags) in fields {
        let flags = flags.as_str().map_or_else(|| flags.to_string(), str::to_owned);
        page.text("  ", &format!("{name:<longest$}  {}", flags.replace(',', " ")))?;
    }
    Ok(())
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}
