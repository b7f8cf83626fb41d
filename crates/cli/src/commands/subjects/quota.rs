//! `pdpp subjects quota`: how much an owner may keep and ask for, and what they have.

use clap::Args;
use pdpp_server::{Personal, PersonalError};
use pdpp_store::{Quota, Usage};
use pdpp_wire::SubjectId;
use serde::Serialize;

use crate::args::DataArgs;
use crate::exit::Usage as Misuse;
use crate::screen::number;
use crate::terminal;

#[derive(Args, Debug)]
pub(super) struct QuotaArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// The owner's name
    name: SubjectId,
    /// Keep at most so many records
    #[arg(long, value_name = "N")]
    records: Option<u64>,
    /// Keep at most so many bytes of records and attachments
    #[arg(long, value_name = "N")]
    bytes: Option<u64>,
    /// Answer at most so many requests in a minute
    #[arg(long, value_name = "N")]
    requests_per_minute: Option<u32>,
    /// Take away every bound that is not given
    #[arg(long)]
    none: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl QuotaArgs {
    /// What is to be set in the place of a quota; nothing when it is only to be shown.
    fn change(&self, before: Quota) -> Option<Quota> {
        let base = if self.none { Quota::default() } else { before };
        let given = Quota {
            records: self.records.or(base.records),
            bytes: self.bytes.or(base.bytes),
            requests_per_minute: self.requests_per_minute.or(base.requests_per_minute),
        };
        let is_change =
            self.none || self.records.is_some() || self.bytes.is_some() || self.requests_per_minute.is_some();
        is_change.then_some(given)
    }
}

/// What an owner may have, and what they have.
#[derive(Debug, Serialize)]
pub(super) struct Allowance {
    quota: Quota,
    used: Usage,
}

impl Allowance {
    pub(super) async fn of(personal: &Personal, name: &SubjectId) -> anyhow::Result<Self> {
        let store = personal.store();
        Ok(Self { quota: store.find_quota(name).await?, used: store.find_usage(name).await? })
    }

    /// Whether something is bounded.
    pub(super) fn is_set(&self) -> bool {
        !self.quota.is_none()
    }

    /// What is used and bounded, by name.
    pub(super) fn rows(&self) -> [[String; 3]; 3] {
        let Self { quota, used } = self;
        let bound = |limit: Option<u64>| limit.map_or_else(|| "any number".to_owned(), number);
        [
            ["records".to_owned(), number(used.records), bound(quota.records)],
            ["bytes".to_owned(), number(used.bytes), bound(quota.bytes)],
            [
                "requests per minute".to_owned(),
                String::new(),
                bound(quota.requests_per_minute.map(u64::from)),
            ],
        ]
    }

    pub(super) fn print(&self) -> anyhow::Result<()> {
        Ok(terminal::table(["OF", "USED", "QUOTA"], &self.rows())?)
    }
}

#[derive(Debug, Serialize)]
struct Told<'t> {
    subject_id: &'t SubjectId,
    #[serde(flatten)]
    allowance: Allowance,
}

pub(super) async fn run(personal: &Personal, args: &QuotaArgs) -> anyhow::Result<()> {
    let (store, name) = (personal.store(), &args.name);
    if args.records.into_iter().chain(args.bytes).any(|bound| i64::try_from(bound).is_err()) {
        return Err(
            Misuse("a quota is at most 9223372036854775807; leave it out for any number".into()).into()
        );
    }
    if !store.has_subject(name).await? {
        return Err(PersonalError::UnknownSubject(name.clone()).into());
    }
    if let Some(quota) = args.change(store.find_quota(name).await?) {
        store.set_quota(name, quota).await?;
    }
    let allowance = Allowance::of(personal, name).await?;
    if args.json {
        return terminal::json(&Told { subject_id: name, allowance });
    }
    allowance.print()
}
