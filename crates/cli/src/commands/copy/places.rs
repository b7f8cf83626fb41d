//! The two places of a copy.

use std::path::{Path, PathBuf};

use pdpp_access::Secret;
use pdpp_server::{ConfigFile, Personal, StoreConfig};

use crate::args::DataArgs;
use crate::exit::Usage;

/// Where from and where to.
pub(super) struct Places {
    pub(super) from: StoreConfig,
    pub(super) to: StoreConfig,
}

impl Places {
    pub(super) fn of(data: &DataArgs, from: Option<&str>, to: Option<&str>) -> anyhow::Result<Self> {
        let usage = |message: &str| Err(Usage(message.to_owned()).into());
        let (from, to) = (place(data, from)?, place(data, to)?);
        match (&from.database, &to.database) {
            (Some(_), Some(_)) => usage(
                "one of the two places must be a data directory; to move between databases use pg_dump, or copy to a \
                 directory first",
            ),
            (None, None) if is_same(&from.data, &to.data) => usage("both places are the same directory"),
            _ => Ok(Self { from, to }),
        }
    }
}

/// A directory, an address, or what the settings name.
fn place(data: &DataArgs, named: Option<&str>) -> anyhow::Result<StoreConfig> {
    let here = data.path()?;
    let config = match named {
        Some(url) if url.contains("://") => {
            let url = ConfigFile { database_url: Some(Secret::presented(url)), ..ConfigFile::default() };
            url.over(data.kept.settings()).over(ConfigFile::read(&here)?).store(&here)?
        }
        Some(directory) => StoreConfig::directory(Path::new(directory)),
        None => data.kept.config(&here)?,
    };
    if named.is_none() && config.database.is_none() {
        let message = "say both places, as in `pdpp copy --from DIR --to postgres://USER:PASSWORD@HOST/NAME`";
        return Err(Usage(message.to_owned()).into());
    }
    Ok(StoreConfig { subject: None, ..config })
}

fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| -> PathBuf { path.canonicalize().unwrap_or_else(|_| path.to_owned()) };
    whole(one) == whole(other)
}

pub(super) async fn open(places: &Places) -> anyhow::Result<(Personal, Personal)> {
    let from = Personal::open_existing_home(&places.from).await?;
    Ok((from, Personal::open_home(&places.to).await?))
}

/// What a copy cannot bring along.
pub(super) fn advice(places: &Places) -> Vec<String> {
    let key = |config: &StoreConfig| config.data.join("events.key");
    let mut advice = Vec::new();
    match (&places.from.database, &places.to.database) {
        (None, Some(_)) if key(&places.from).exists() => advice.push(format!(
            "Webhook secrets stay sealed under {}: give every node a copy, with --secrets-key-file FILE.",
            key(&places.from).display()
        )),
        (Some(_), None) => advice.push(format!(
            "Webhook secrets stay sealed under the nodes' key file: put a copy at {}.",
            key(&places.to).display()
        )),
        (None, None) if key(&places.from).exists() => advice.push(format!(
            "Webhook secrets stay sealed under {}: put a copy at {}.",
            key(&places.from).display(),
            key(&places.to).display()
        )),
        _ => {}
    }
    advice.push("The search index is not copied; it is made again when somebody searches.".to_owned());
    advice
}
