//! Mail: mailbox files, single messages, Maildirs, and what Gmail, Thunderbird and Apple Mail make of them.
//!
//! One message is one record, however many folders and files it lies in. What is sent to a person is written by
//! strangers, so everything is bounded: how long a message, how deep its parts, how many its names.

mod body;
mod claim;
mod date;
mod flags;
mod flowed;
mod folder;
mod headers;
mod identity;
mod index;
mod label_sets;
mod mbox;
mod mime;
mod record;
mod source;
mod threads;
mod transfer;
mod words;

use std::io;

use pdpp_wire::manifest::Manifest;

pub(crate) use body::text_of_message;
use flags::{Flags, labels, tidy};
use headers::Headers;
use identity::{Identity, ThreadId, parent};
use index::{Index, Known, Link};
use mime::{Mime, split_headers};
use record::{Message, Sent};
use source::{Found, Raw};
use threads::{Part, Threads};

use crate::{Claim, Complaint, Format, Look, Sink, Stop, Tree};

/// Fields of which a message has at least one.
const MARKS: [&str; 8] =
    ["from", "date", "subject", "message-id", "to", "received", "return-path", "x-gm-thrid"];

/// Reads mail.
#[derive(Debug)]
pub(crate) struct Mail;

impl Format for Mail {
    fn name(&self) -> &'static str {
        "mail"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        claim::claim(look).into_iter().collect()
    }

    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> io::Result<Manifest> {
        Manifest::parse(include_str!("../manifests/mail.json")).map_err(io::Error::other)
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut index = Index::default();
        source::each(tree, &claim.entries, &mut |found| {
            // What cannot be read is told once, in the second reading.
            if let Found::Message(raw) = found {
                note(&raw, &mut index);
            }
            Ok(())
        })?;
        let mut known = index.finish();
        let mut threads = Threads::default();
        source::each(tree, &claim.entries, &mut |found| match found {
            Found::Message(raw) => tell(&raw, &mut known, &mut threads, sink),
            Found::Trouble(complaint) => sink.complain(complaint),
        })?;
        threads.tell(sink)
    }
}

/// The first reading of a message: its headers only.
fn note(raw: &Raw<'_>, index: &mut Index) {
    let (block, body) = split_headers(raw.bytes);
    let headers = Headers::parse(&raw.bytes[..block]);
    let flags = Flags::read(&headers, raw.flags);
    if !is_mail(&headers) || flags.gone {
        return;
    }
    let identity = Identity::read(&headers, &raw.bytes[body.unwrap_or(block)..]);
    let link = match (ThreadId::given(&headers), parent(&headers)) {
        (Some(given), _) => Link::Given(given.mark()),
        (None, Some(parent)) => Link::Answers(parent),
        (None, None) => Link::Begins,
    };
    index.add(&identity, labels(&headers, raw.folder), flags, link);
}

/// The second reading: the message is told, unless a copy of it was.
fn tell(raw: &Raw<'_>, known: &mut Known, threads: &mut Threads, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mime = Mime::parse(raw.bytes);
    let headers = &mime.headers;
    if !is_mail(headers) {
        let message = "No header of a message was found here; it was left out.";
        return sink.complain(Complaint::damaged(raw.place(), message));
    }
    let flags = Flags::read(headers, raw.flags);
    if flags.gone {
        return Ok(());
    }
    complain(raw, &mime, sink)?;
    let identity = Identity::read(headers, mime.raw_body());
    let Some(fresh) = known.tell(&identity) else { return Ok(()) };
    let sent = Sent::read(headers, raw.separator);
    let thread = ThreadId::given(headers).unwrap_or(ThreadId::Root(fresh.root));
    let people = ["from", "to", "cc"].into_iter().flat_map(|field| headers.mailboxes(field));
    let subject = headers.text("subject");
    let part = Part {
        id: thread,
        is_last: fresh.is_last,
        at: sent.as_ref().map(|sent| sent.at),
        subject: subject.as_deref(),
    };
    let ended = threads.add(&part, people);
    let (more_labels, more_flags) = fresh.more.unwrap_or_default();
    let message = Message {
        key: fresh.key,
        given_id: identity.message_id,
        thread,
        labels: tidy(labels(headers, raw.folder).into_iter().chain(more_labels)),
        flags: flags.join(more_flags),
        sent,
        size: raw.bytes.len(),
        is_too_long: raw.is_too_long,
        place: raw.place(),
        mime: &mime,
    };
    message.tell(sink)?;
    ended.map_or(Ok(()), |conversation| sink.record(conversation))
}

fn is_mail(headers: &Headers) -> bool {
    MARKS.iter().any(|name| headers.raw(name).is_some())
}

/// Says what of a message could not be kept.
fn complain(raw: &Raw<'_>, mime: &Mime<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mut say = |message: &str| sink.complain(Complaint::damaged(raw.place(), message));
    if raw.is_too_long {
        say("It is longer than 64 MiB; its beginning was kept, with the attachments that end there.")?;
    } else if raw.is_last && !mime.is_complete {
        say("It stops in the middle; what is there was kept.")?;
    }
    if mime.headers.is_cut {
        say("Its headers are longer than any mail needs; they were cut.")?;
    }
    if mime.is_cut {
        say("It has more than 1000 parts; the rest was left out.")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
