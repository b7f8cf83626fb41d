//! What the owner left ticked, read as a narrowing of what was asked.
//!
//! Boxes are named by their place on the page: `0.2` is the third stream of the first source. The revision that came
//! with the form is that of the page, so the places mean what they meant when it was made.

use pdpp_auth::{Narrowing, SourceNarrowing};
use pdpp_wire::{AccessMode, Instant};

use crate::artifact::{Artifact, AskedSource, Stream};
use crate::form::Form;
use crate::{moment, purpose};

/// A narrowing, and the streams the client says it needs but does not get.
pub(super) type Read = (Narrowing, Vec<(usize, usize)>);

const DAY: i64 = 86_400;

/// Reads the form; an error is a sentence for the owner.
pub(super) fn read(form: &Form, artifact: &Artifact, now: Instant) -> Result<Read, String> {
    let mut narrowing = Narrowing { expires_at: expiry(form, now)?, ..Narrowing::default() };
    let mut missing = Vec::new();
    let mut left = Vec::new();
    for (index, source) in artifact.sources.iter().enumerate() {
        let ticked = |stream: usize| form.is_ticked("stream", &format!("{index}.{stream}"));
        let required = source.streams.iter().enumerate().filter(|(_, stream)| stream.is_required());
        missing.extend(required.filter(|(at, _)| !ticked(*at)).map(|(at, _)| (index, at)));
        let one = narrow_source(form, (index, source), &ticked)?;
        if !one.rejected {
            left.push(source);
        }
        if one != SourceNarrowing::default() {
            narrowing.sources.insert(source.index.to_string(), one);
        }
    }
    if left.is_empty() {
        return Err("Nothing is ticked. Tick what you want to allow, or deny the request.".to_owned());
    }
    if left.iter().any(|source| purpose::is_training(&source.purpose_code)) {
        if !form.is_ticked("ai_training", "yes") {
            return Err("Training AI models needs a tick of its own; nothing was allowed.".to_owned());
        }
        narrowing.ai_training_consented = true;
    }
    let lasting = left.iter().any(|source| source.access_mode == AccessMode::Continuous);
    if mode(form)? == Some(AccessMode::SingleUse) && lasting {
        narrowing.access_mode = Some(AccessMode::SingleUse);
    }
    Ok((narrowing, missing))
}

/// When it ends: as asked, or so many days from now.
pub(super) fn expiry(form: &Form, now: Instant) -> Result<Option<String>, String> {
    let given = form.one("expiry").map_err(|fault| fault.message())?;
    let days = match given {
        None | Some("asked") => return Ok(None),
        Some("7") => 7,
        Some("30") => 30,
        Some("90") => 90,
        Some(_) => return Err("Choose when it ends.".to_owned()),
    };
    Ok(Some(now.plus_seconds(days * DAY).to_rfc3339()))
}

/// Once or lasting; none leaves it as asked.
pub(super) fn mode(form: &Form) -> Result<Option<AccessMode>, String> {
    match form.one("mode").map_err(|fault| fault.message())? {
        None | Some("asked") => Ok(None),
        Some("single_use") => Ok(Some(AccessMode::SingleUse)),
        Some("continuous") => Ok(Some(AccessMode::Continuous)),
        Some(_) => Err("Choose how long it lasts.".to_owned()),
    }
}

fn narrow_source(
    form: &Form,
    (index, source): (usize, &AskedSource),
    ticked: &dyn Fn(usize) -> bool,
) -> Result<SourceNarrowing, String> {
    let kept: Vec<_> = source.streams.iter().enumerate().filter(|(at, _)| ticked(*at)).collect();
    if kept.is_empty() {
        return Ok(SourceNarrowing { rejected: true, ..SourceNarrowing::default() });
    }
    let mut narrowing = SourceNarrowing::default();
    if kept.len() < source.streams.len() {
        narrowing.streams = Some(kept.iter().map(|(_, stream)| stream.name.clone()).collect());
    }
    for (at, stream) in kept {
        let place = format!("{index}.{at}");
        narrow_fields(form, &place, stream, &mut narrowing);
        narrow_connections(form, (index, source), stream, &mut narrowing)?;
        narrow_time(form, &place, stream, &mut narrowing)?;
    }
    Ok(narrowing)
}

fn narrow_fields(form: &Form, place: &str, stream: &Stream, narrowing: &mut SourceNarrowing) {
    let kept = stream.fields.iter().enumerate().filter(|(at, field)| {
        stream.lock(field).is_some() || form.is_ticked("field", &format!("{place}.{at}"))
    });
    let kept: Vec<String> = kept.map(|(_, field)| field.clone()).collect();
    if kept.len() < stream.fields.len() {
        narrowing.fields.insert(stream.name.clone(), kept);
    }
}

fn narrow_connections(
    form: &Form,
    (index, source): (usize, &AskedSource),
    stream: &Stream,
    narrowing: &mut SourceNarrowing,
) -> Result<(), String> {
    let offered = source.connections();
    // Nothing to choose from, and so nothing on the page.
    if offered.len() < 2 {
        return Ok(());
    }
    let own = |id: &pdpp_wire::ConnectionId| stream.offered().iter().any(|one| one.connection_id == *id);
    let ticked = offered.iter().enumerate();
    let ticked = ticked.filter(|(at, _)| form.is_ticked("connection", &format!("{index}.{at}")));
    let kept: Vec<_> = ticked.map(|(_, one)| one.connection_id.clone()).filter(own).collect();
    if kept.is_empty() {
        return Err(format!("Tick at least one connection of {}.", source.label()));
    }
    if stream.choose_connection.is_some() || kept.len() < stream.offered().len() {
        narrowing.connections.insert(stream.name.clone(), kept);
    }
    Ok(())
}

fn narrow_time(
    form: &Form,
    place: &str,
    stream: &Stream,
    narrowing: &mut SourceNarrowing,
) -> Result<(), String> {
    let asked = stream.time_constraint.as_ref();
    for (name, asked, into) in [
        ("since", asked.and_then(|one| one.since.as_deref()), &mut narrowing.since),
        ("until", asked.and_then(|one| one.until.as_deref()), &mut narrowing.until),
    ] {
        let given = form.one(&format!("{name}.{place}")).map_err(|fault| fault.message())?;
        // A date that was left as it was, or emptied, leaves the bound as asked: it can only become narrower.
        let Some(date) = given.filter(|date| Some(*date) != asked.map(moment::date_input).as_deref()) else {
            continue;
        };
        if date.len() != 10 || Instant::parse(date).is_none() {
            return Err(format!("'{}' is no date; write YYYY-MM-DD.", crate::stranger::name(date)));
        }
        into.insert(stream.name.clone(), date.to_owned());
    }
    Ok(())
}
