//! `pdpp read streams`: the readable streams and their sizes.

use clap::Args;
use pdpp_client::Request;
use serde_json::{Value, json};

use super::source::SourceArgs;
use super::{command, output, target};
use crate::layout::Page;
use crate::screen::number;
use crate::terminal;

/// List the streams you can read, with their sizes
#[derive(Args, Debug)]
#[command(override_usage = "pdpp read streams [OPTIONS] [URL]", after_help = "Example: pdpp read streams")]
pub(super) struct StreamsArgs {
    /// The server
    #[arg(value_name = "URL")]
    url_word: Option<String>,
    /// Only this connection
    #[arg(long, value_name = "ID")]
    connection_id: Option<String>,
    #[command(flatten)]
    source: SourceArgs,
}

pub(super) async fn run(args: StreamsArgs) -> anyhow::Result<()> {
    let url = target::nothing(args.url_word, args.source.is_fixed())?;
    let source = args.source.connect(url).await?;
    let request = Request::get(["v1", "streams"]).maybe("connection_id", args.connection_id.as_deref());
    let mut answer = source.json(&request).await?;
    let on = |stream: &Value| {
        let text = |name: &str| stream.get(name).and_then(Value::as_str).map(str::to_owned);
        let flags = vec![("connection-id", text("connection_id"))];
        Some(command::of("query-records", &source, vec![text("name")?], flags))
    };
    for stream in answer.get_mut("data").and_then(Value::as_array_mut).into_iter().flatten() {
        if let (Some(command), Some(members)) = (on(stream), stream.as_object_mut()) {
            members.insert("command".to_owned(), json!(command));
        }
    }
    if output::for_programs(args.source.format(), &answer)? {
        return Ok(());
    }
    let streams = answer.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let rows: Vec<Vec<String>> = streams
        .iter()
        .map(|stream| {
            let text = |name: &str| stream.get(name).and_then(Value::as_str);
            let count = stream.get("record_count").and_then(Value::as_u64).map(number);
            let label = text("display_name").or_else(|| text("connection_id"));
            [
                text("name").map(str::to_owned),
                count,
                label.map(str::to_owned),
                text("last_updated").map(str::to_owned),
            ]
            .map(Option::unwrap_or_default)
            .to_vec()
        })
        .collect();
    let headings = ["STREAM", "RECORDS", "CONNECTION", "LAST UPDATED"].map(str::to_owned);
    Page::here().table(&headings, &rows)?;
    if let Some(next) = streams.first().and_then(on) {
        terminal::line("")?;
        terminal::line(&format!("records: {}", command::shell(&next)))?;
    }
    Ok(())
}
