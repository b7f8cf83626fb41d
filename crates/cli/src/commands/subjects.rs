//! `pdpp subjects`: the owners whose data is kept here, for whoever keeps it for them.

mod quota;

use anyhow::bail;
use clap::{Args, Subcommand};
use pdpp_auth::{GrantState, NOBODY, state_of_grant};
use pdpp_server::{ConfigFile, Personal};
use pdpp_wire::SubjectId;
use serde::Serialize;
use serde_json::json;

use crate::args::DataArgs;
use crate::exit::Usage;
use crate::screen::{counted, number};
use crate::{holdings, terminal};
use quota::{Allowance, QuotaArgs};

/// Owners asked for at a time.
const AT_ONCE: u32 = 500;

/// Make and list the owners whose data is kept here
///
/// A personal data directory has one owner, who needs none of this. Where several people's data is kept together, each
/// is made here, becomes the owner by a link that works once, and sees only their own. Local commands say whose data
/// they mean with --subject NAME.
#[derive(Args, Debug)]
pub(crate) struct SubjectsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Make an owner, and print the link by which they set their passphrase
    ///
    /// The link works once, for a day; give it to nobody else. For an owner who has not set a passphrase yet, a new
    /// link takes the place of the last.
    Create {
        #[command(flatten)]
        data: DataArgs,
        /// The owner's name: letters, digits, - and _
        name: SubjectId,
        /// The address of the server the link leads to [default: the server's own settings]
        #[arg(long, value_name = "URL", env = "PDPP_PUBLIC_URL")]
        public_url: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the owners, and how much is kept for each
    List {
        #[command(flatten)]
        data: DataArgs,
        /// Print JSON, one owner per line
        #[arg(long)]
        json: bool,
    },
    /// Show what is kept for one owner
    Show {
        #[command(flatten)]
        data: DataArgs,
        /// The owner's name
        name: SubjectId,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show or set how much an owner may keep and ask for
    ///
    /// Without a bound it shows what is set and what is used. What is kept already stays, also above a bound that is
    /// lowered; from then on nothing that makes it more is taken.
    Quota(QuotaArgs),
}

pub(crate) async fn run(args: SubjectsArgs) -> anyhow::Result<()> {
    match args.action {
        Action::Create { data, name, public_url, json } => create(&data, &name, public_url, json).await,
        Action::List { data, json } => list(&existing(&data).await?, json).await,
        Action::Show { data, name, json } => show(existing(&data).await?, name, json).await,
        Action::Quota(args) => quota::run(&existing(&args.data).await?, &args).await,
    }
}

/// What is there, for nobody in particular.
async fn existing(data: &DataArgs) -> anyhow::Result<Personal> {
    Ok(Personal::open_existing_home(&data.kept.config(&data.path()?)?).await?)
}

async fn create(
    data: &DataArgs,
    name: &SubjectId,
    public_url: Option<String>,
    as_json: bool,
) -> anyhow::Result<()> {
    if name.as_str() == NOBODY {
        return Err(Usage(format!("'{NOBODY}' is nobody's name; choose another")).into());
    }
    let path = data.path()?;
    let file = ConfigFile { public_url, ..ConfigFile::default() }.over(ConfigFile::read(&path)?);
    let config = file.resolve()?;
    let address = config.public_url.unwrap_or_else(|| format!("http://{}", config.listen));
    let personal = Personal::open_home(&data.kept.config(&path)?).await?;
    let is_new = personal.store().create_subject(name).await?;
    let Some(link) = personal.first_run_link(name, &address).await? else {
        bail!(
            "there is an owner '{name}' already, who has a passphrase; `pdpp subjects list` shows who there is"
        );
    };
    if as_json {
        return terminal::json(&json!({"subject_id": name, "created": is_new, "first_run_link": link}));
    }
    let done = if is_new { "is an owner now" } else { "was an owner already, without a passphrase" };
    terminal::line(&format!("{name} {done}; they set it here, once, within a day:"))?;
    terminal::line(&link)?;
    Ok(())
}

/// What is kept for an owner, in numbers.
#[derive(Debug, Serialize)]
struct Owned {
    subject_id: SubjectId,
    has_passphrase: bool,
    connections: u64,
    records: u64,
    active_grants: u64,
}

impl Owned {
    async fn of(personal: &Personal) -> anyhow::Result<Self> {
        let (store, owner, now) = (personal.store(), personal.subject(), personal.clock().now());
        let catalogue = store.catalogue(owner).await?;
        let held = holdings::all(personal, &catalogue).await?;
        let grants = personal.authority().list(owner).await?;
        let active = grants.iter().filter(|grant| state_of_grant(grant, now) == GrantState::Active);
        Ok(Self {
            subject_id: owner.clone(),
            has_passphrase: store.find_passphrase(owner).await?.is_some(),
            connections: catalogue.sources.iter().map(|source| source.connections.len() as u64).sum(),
            records: held.iter().map(|held| held.records).sum(),
            active_grants: active.count() as u64,
        })
    }
}

/// The same, with what an operator set.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    owned: Owned,
    #[serde(flatten)]
    allowance: Option<Allowance>,
}

async fn list(personal: &Personal, as_json: bool) -> anyhow::Result<()> {
    let mut after = None;
    let mut rows = Vec::new();
    loop {
        let owners = personal.store().list_subjects(after.as_ref(), AT_ONCE).await?;
        for owner in &owners {
            let owned = Owned::of(&personal.clone().for_subject(owner.clone())).await?;
            if as_json {
                terminal::line(&serde_json::to_string(&owned)?)?;
                continue;
            }
            rows.push([
                owned.subject_id.to_string(),
                if owned.has_passphrase { "set" } else { "not yet" }.to_owned(),
                number(owned.connections),
                number(owned.records),
                number(owned.active_grants),
            ]);
        }
        match owners.into_iter().last() {
            Some(last) => after = Some(last),
            None => break,
        }
    }
    if !as_json {
        terminal::table(["OWNER", "PASSPHRASE", "CONNECTIONS", "RECORDS", "GRANTS"], &rows)?;
    }
    Ok(())
}

async fn show(personal: Personal, name: SubjectId, as_json: bool) -> anyhow::Result<()> {
    let personal = personal.for_subject(name.clone()).for_local_command(Some(&name)).await?;
    let owned = Owned::of(&personal).await?;
    let allowance = Some(Allowance::of(&personal, &name).await?).filter(Allowance::is_set);
    if as_json {
        return terminal::json(&Shown { owned, allowance });
    }
    let passphrase = if owned.has_passphrase { "has a passphrase" } else { "has set no passphrase yet" };
    terminal::line(&format!("{name} {passphrase}"))?;
    let (connections, records) = (counted(owned.connections, "connection"), counted(owned.records, "record"));
    terminal::line(&format!("{connections}, {records}, {}", counted(owned.active_grants, "active grant")))?;
    if let Some(allowance) = allowance {
        allowance.print()?;
    }
    Ok(())
}
