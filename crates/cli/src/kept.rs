//! Where the data is kept and whose it is: flags, variables and the settings of the data directory, read together.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use clap::Args;
use pdpp_access::Secret;
use pdpp_server::{ConfigFile, Personal, StoreConfig};
use pdpp_wire::SubjectId;

use crate::screen::quoted;

/// Whose data, and where it is if not in the data directory.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct KeptArgs {
    /// Whose data, where there are several owners [default: `owner_local`, else the only one]
    #[arg(long, value_name = "NAME", env = "PDPP_SUBJECT", hide_short_help = true)]
    subject: Option<SubjectId>,

    /// The database the data is in, if not the data directory: `postgres://USER:PASSWORD@HOST/NAME`
    #[arg(long, value_name = "URL", env = "PDPP_DATABASE_URL", hide_env_values = true, hide_short_help = true,
          value_parser = secret)]
    database_url: Option<Secret>,

    /// A file that holds the database's address instead
    #[arg(long, value_name = "FILE", env = "PDPP_DATABASE_URL_FILE", hide = true)]
    database_url_file: Option<PathBuf>,

    /// Where a database's attachments are: a directory or `s3://BUCKET/PREFIX` [default: objects in the data directory]
    #[arg(long, value_name = "URL", env = "PDPP_BLOBS_URL", hide = true)]
    blobs_url: Option<String>,

    /// The address of the object store, when it is not Amazon's
    #[arg(long, value_name = "URL", env = "PDPP_BLOBS_ENDPOINT", hide = true)]
    blobs_endpoint: Option<String>,

    /// The region of the object store
    #[arg(long, value_name = "REGION", env = "PDPP_BLOBS_REGION", hide = true)]
    blobs_region: Option<String>,

    /// The key webhook secrets are sealed under, the same on every node [default: events.key in the data directory]
    #[arg(long, value_name = "FILE", env = "PDPP_SECRETS_KEY_FILE", hide = true)]
    secrets_key_file: Option<PathBuf>,

    /// How much of this machine's disk search indexes may take with a database, in bytes [default: 10737418240]
    #[arg(long, value_name = "BYTES", env = "PDPP_SEARCH_CACHE_BYTES", hide = true)]
    search_cache_bytes: Option<u64>,
}

/// What must never be printed, not even in a complaint about it.
#[expect(clippy::unnecessary_wraps, reason = "the shape clap asks for")]
fn secret(text: &str) -> Result<Secret, Infallible> {
    Ok(Secret::presented(text))
}

impl KeptArgs {
    /// What the flags and variables say.
    pub(crate) fn settings(&self) -> ConfigFile {
        ConfigFile {
            subject: self.subject.clone(),
            database_url: self.database_url.clone(),
            database_url_file: self.database_url_file.clone(),
            blobs_url: self.blobs_url.clone(),
            blobs_endpoint: self.blobs_endpoint.clone(),
            blobs_region: self.blobs_region.clone(),
            secrets_key_file: self.secrets_key_file.clone(),
            search_cache_bytes: self.search_cache_bytes,
            ..ConfigFile::default()
        }
    }

    /// The same over what the data directory says.
    pub(crate) fn config(&self, data: &Path) -> anyhow::Result<StoreConfig> {
        Ok(self.settings().over(ConfigFile::read(data)?).store(data)?)
    }

    /// Whose data was named here.
    pub(crate) fn subject(&self) -> Option<&SubjectId> {
        self.subject.as_ref()
    }

    /// What names the same database to somebody else's command, if one was named here. An address may hold a password and
    /// is not repeated.
    pub(crate) fn database_flag(&self) -> String {
        match (&self.database_url, &self.database_url_file) {
            (Some(_), _) => " --database-url \"$PDPP_DATABASE_URL\"".to_owned(),
            (None, Some(file)) => {
                let whole = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                format!(" --database-url-file {}", quoted(&whole.display().to_string()))
            }
            (None, None) => String::new(),
        }
    }

    /// Opens what is there, for the owner who is meant.
    pub(crate) async fn open(&self, data: &Path) -> anyhow::Result<Personal> {
        let config = self.config(data)?;
        let opened = Personal::open_existing_home(&config).await?;
        Ok(opened.for_local_command(config.subject.as_ref()).await?)
    }

    /// The same, making a data directory that is not there.
    pub(crate) async fn open_or_make(&self, data: &Path) -> anyhow::Result<Personal> {
        let config = self.config(data)?;
        let opened = Personal::open_home(&config).await?;
        Ok(opened.for_local_command(config.subject.as_ref()).await?)
    }
}
