//! Asks for what nobody said about a grant: who, which streams, which fields, of what time, for how long.

use std::fmt::Write as _;

use pdpp_access::Catalogue;
use pdpp_server::Personal;
use pdpp_wire::manifest::StreamDeclaration;

use super::create::ends;
use crate::asking::{ask_until, places};
use crate::holdings::{self, Held};
use crate::screen::counted;
use crate::{moment, terminal};

/// What was said about a grant, as flags have it.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) client: Option<String>,
    pub(crate) stream: Vec<String>,
    pub(crate) since: Option<String>,
    pub(crate) expires: Option<String>,
}

/// Puts the answers where the flags would have been.
pub(crate) async fn missing(
    args: &mut Said,
    personal: &Personal,
    catalogue: &Catalogue,
) -> anyhow::Result<()> {
    let now = personal.clock().now();
    if args.client.is_none() {
        args.client = Some(ask_until("Who is it for? A name of your own:", |name| match name {
            "" => Err("it needs a name, such as notes-assistant".to_owned()),
            name => Ok(name.to_owned()),
        })?);
    }
    if !args.stream.is_empty() {
        return Ok(());
    }
    let all = holdings::all(personal, catalogue).await?;
    let held: Vec<&Held> = all.iter().filter(|held| held.records > 0).collect();
    anyhow::ensure!(!held.is_empty(), "there is nothing to grant yet; `pdpp import` loads something");
    for (place, held) in held.iter().enumerate() {
        terminal::note(&stream_line(place + 1, held));
    }
    let chosen =
        ask_until("Which may it read? Numbers such as 1,3-5, or all:", |text| places(text, held.len()))?;
    for held in chosen.into_iter().map(|place| held[place]) {
        let declared = catalogue
            .find_connection(held.connection_id.as_str())
            .and_then(|(source, _)| source.manifest.find_stream(held.stream.as_str()));
        let fields = match declared {
            Some(declaration) if declaration.selects_fields() => fields(held, declaration)?,
            _ => None,
        };
        let mut typed = format!("{}/{}", held.connection_id, held.stream);
        if let Some(fields) = fields {
            // Writing to a string does not fail.
            let _ = write!(typed, ":{}", fields.join(","));
        }
        args.stream.push(typed);
    }
    let understood =
        |result: Result<_, crate::exit::Usage>| result.map(drop).map_err(|usage| usage.to_string());
    if args.since.is_none() {
        args.since = ask_until("Only records since? A date, 90d, or Enter for all:", |text| match text {
            "" => Ok(None),
            text => understood(moment::parse_past(text, now)).map(|()| Some(text.to_owned())),
        })?;
    }
    if args.expires.is_none() {
        args.expires =
            ask_until("When does it end? A date, 7d, never, or Enter for 30 days:", |text| match text {
                "" => Ok(None),
                text => {
                    ends(Some(text), now).map(|_| Some(text.to_owned())).map_err(|usage| usage.to_string())
                }
            })?;
    }
    Ok(())
}

fn stream_line(number: usize, held: &Held) -> String {
    let of = format!("{}/{}", held.label(), held.stream);
    format!("{number:>4}  {of}  {} ({})", counted(held.records, "record"), held.connector)
}

/// The fields that are chosen; `None` means all.
fn fields(held: &Held, declaration: &StreamDeclaration) -> anyhow::Result<Option<Vec<String>>> {
    terminal::note(&format!("Fields of {}/{}:", held.label(), held.stream));
    let declared = declaration.fields();
    for (place, field) in declared.iter().enumerate() {
        let said = field.schema().get("description").and_then(serde_json::Value::as_str).unwrap_or_default();
        let always = if field.required() { " (always)" } else { "" };
        terminal::note(&format!("{:>4}  {}{always}  {said}", place + 1, field.name()));
    }
    for view in declaration.views() {
        terminal::note(&format!(
            "      {}: {}",
            view.id,
            view.label.as_deref().unwrap_or(&view.fields.join(", "))
        ));
    }
    ask_until("Which? Numbers, one of the names at the end, or Enter for all:", |text| {
        if text.is_empty() {
            return Ok(None);
        }
        if let Some(view) = declaration.find_view(text) {
            return Ok(Some(view.fields.clone()));
        }
        let names = |place: usize| declared[place].name().to_owned();
        places(text, declared.len()).map(|places| Some(places.into_iter().map(names).collect()))
    })
}
