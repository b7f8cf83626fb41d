//! Who may read, until when, by which clock; and the credentials of other servers kept here.

use std::path::{Path, PathBuf};

use pdpp_auth::{GrantState, state_of_grant};
use pdpp_server::Personal;
use pdpp_store::DisclosureFilter;
use pdpp_wire::{Grant, Instant};
use serde_json::Value;

use super::Check;
use crate::credential::CacheArgs;
use crate::screen::{counted, quoted};

/// A grant that ends within so many seconds is told of.
const SOON: i64 = 7 * 86_400;
/// How far a clock may have gone back before it is told of.
const SLACK: i64 = 300;
/// Before this, the clock was never set: the month this program was first built.
const FIRST_BUILT: &str = "2026-01-01";

pub(super) async fn look(personal: &Personal, now: Instant) -> Vec<Check> {
    let mut checks = grants(personal, now).await;
    checks.push(clock(personal, now).await);
    checks
}

async fn grants(personal: &Personal, now: Instant) -> Vec<Check> {
    let grants = match personal.authority().list(personal.subject()).await {
        Ok(grants) => grants,
        Err(error) => return vec![Check::wrong("grants", error.to_string(), "check the store: pdpp verify")],
    };
    let mut checks = Vec::new();
    let mut active = 0;
    for stored in &grants {
        match state_of_grant(stored, now) {
            GrantState::Active => active += 1,
            GrantState::Invalid => {
                let fix = format!("revoke it and make a new one: pdpp grant revoke {}", stored.grant_id);
                checks.push(Check::wrong("grants", format!("{} is damaged", stored.grant_id), fix));
            }
            GrantState::Expired | GrantState::Revoked => {}
        }
        let ends = Grant::parse(&stored.standing.document)
            .ok()
            .filter(|_| state_of_grant(stored, now) == GrantState::Active)
            .and_then(|grant| Some((grant.client.client_id, Instant::parse(grant.expires_at.as_deref()?)?)));
        if let Some((client, at)) = ends.filter(|(_, at)| *at <= now.plus_seconds(SOON)) {
            let said = format!("{} for {client} ends {}", stored.grant_id, at.to_rfc3339());
            checks.push(Check::note(
                "grants",
                said,
                "make a new one with `pdpp grant create` if it is still needed",
            ));
        }
    }
    checks.insert(0, Check::well("grants", format!("{} active", counted(active, "grant"))));
    checks
}

/// A clock that runs behind lets grants live too long; one that was ahead left entries of the future.
async fn clock(personal: &Personal, now: Instant) -> Check {
    let fix = "set the clock; grants and tokens end by it";
    if Instant::parse(FIRST_BUILT).is_some_and(|built| now < built) {
        return Check::wrong("clock", format!("it says {}", now.to_rfc3339()), fix);
    }
    let newest = DisclosureFilter { limit: 1, ..DisclosureFilter::default() };
    match personal.store().list_disclosures(personal.subject(), &newest).await {
        Ok(entries) => match entries.first().filter(|entry| entry.at > now.plus_seconds(SLACK)) {
            Some(entry) => {
                let said = format!(
                    "it says {}, and the ledger has an entry of {}",
                    now.to_rfc3339(),
                    entry.at.to_rfc3339()
                );
                Check::wrong("clock", said, fix)
            }
            None => Check::well("clock", now.to_rfc3339()),
        },
        Err(error) => Check::wrong("ledger", error.to_string(), "check the store: pdpp verify"),
    }
}

/// The files `pdpp connect` keeps.
pub(super) fn credentials(cache: &CacheArgs, now: Instant) -> Vec<Check> {
    let own = directories::ProjectDirs::from("", "", "pdpp").map(|dirs| dirs.config_dir().to_owned());
    let roots: Vec<PathBuf> = match cache.given() {
        Some(root) => vec![root.clone()],
        None => own.into_iter().chain([PathBuf::from(".pdpp")]).collect(),
    };
    let folders = roots.iter().map(|root| root.join("clients"));
    let files = folders.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let files =
        files.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "json"));
    files.flat_map(|path| credential(&path, now)).collect()
}

fn credential(path: &Path, now: Instant) -> Vec<Check> {
    let shown = path.display().to_string();
    let mut checks = Vec::new();
    #[cfg(unix)]
    if let Ok(metadata) = std::fs::metadata(path) {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let fix = format!("chmod 600 {}", quoted(&shown));
            checks.push(Check::wrong(
                "credentials",
                format!("{shown} can be read by others ({mode:o})"),
                fix,
            ));
        }
    }
    let again = "remove it and connect again: pdpp connect URL";
    let kept = std::fs::read(path).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let Some(kept) = kept.filter(Value::is_object) else {
        checks.push(Check::wrong("credentials", format!("{shown} is damaged"), again));
        return checks;
    };
    let text = |name: &str| kept.get(name).and_then(Value::as_str);
    let url = text("provider_url").unwrap_or("an unnamed server");
    let ended = text("expires_at").and_then(Instant::parse).is_some_and(|at| at <= now);
    if ended && text("refresh_token").is_none() {
        checks.push(Check::note(
            "credentials",
            format!("the one for {url} has ended"),
            "connect again: pdpp connect URL",
        ));
    } else if checks.is_empty() {
        checks.push(Check::well("credentials", format!("one for {url}")));
    }
    checks
}
