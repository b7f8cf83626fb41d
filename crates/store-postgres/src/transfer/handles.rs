//! What copied rows need beside themselves: a place in the directory, and a note of which clients they let in.

use pdpp_access::SecretHash;
use pdpp_store::transfer::{Cell, Part, Row};
use pdpp_wire::{ClientId, FamilyId, SubjectId, SubscriptionId};

use super::give::text;
use crate::directory::Handle;
use crate::events::generation;
use crate::fault::{Fault, Outcome};
use crate::oauth::access::note_clients;
use crate::session::{Session, Whose};

pub(super) async fn enter(
    session: &Session,
    subject_id: &SubjectId,
    part: Part,
    rows: &[Row],
) -> Outcome<()> {
    for row in rows {
        if let Some(handle) = handle(part, row)? {
            handle.claim(session, subject_id).await?;
        }
    }
    let at = match part {
        Part::Tokens => 3,
        Part::Families => 1,
        Part::Grants => return note(session, subject_id, rows, client_of_grant).await,
        Part::Subscriptions => return generation::begin(session, subject_id).await,
        _ => return Ok(()),
    };
    note(session, subject_id, rows, |row| text(row, at)).await
}

fn handle(part: Part, row: &Row) -> Outcome<Option<Handle>> {
    let damaged = |_| Fault::damaged("a copied id is malformed");
    let name = || text(row, 0).map(Option::unwrap_or_default);
    Ok(Some(match part {
        Part::Tokens => Handle::of_token(&hash(row)?),
        Part::RefreshTokens => Handle::of_refresh(&hash(row)?),
        Part::Families => Handle::of_family(&FamilyId::parse(name()?).map_err(damaged)?),
        Part::Passkeys => Handle::of_passkey(&name()?),
        Part::Subscriptions => Handle::of_subscription(&SubscriptionId::parse(name()?).map_err(damaged)?),
        _ => return Ok(None),
    }))
}

fn hash(row: &Row) -> Outcome<SecretHash> {
    let Cell::Bytes { bytes } = &row[0] else { return Err(Fault::damaged("a copied hash is none")) };
    let bytes =
        bytes.as_slice().try_into().map_err(|_| Fault::damaged("a copied hash has another length"))?;
    Ok(SecretHash::from_bytes(bytes))
}

async fn note(
    session: &Session,
    subject_id: &SubjectId,
    rows: &[Row],
    client: impl Fn(&Row) -> Outcome<Option<String>>,
) -> Outcome<()> {
    let mut clients = Vec::new();
    for row in rows {
        if let Some(client) = client(row)? {
            clients.push(ClientId::parse(client).map_err(|_| Fault::damaged("a copied client's id"))?);
        }
    }
    note_clients(session, subject_id, &clients.iter().collect::<Vec<_>>()).await?;
    session.turn_to(Whose::Subject(subject_id)).await
}

/// The client a grant names.
pub(super) fn client_of_grant(row: &Row) -> Outcome<Option<String>> {
    let document: serde_json::Value = serde_json::from_str(&text(row, 1)?.unwrap_or_default())?;
    Ok(document["client"]["client_id"].as_str().map(str::to_owned))
}
