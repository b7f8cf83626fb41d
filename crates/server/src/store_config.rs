//! Where the data is kept, every choice made: in the data directory, or in a database with its attachments.

use std::path::{Path, PathBuf};

use pdpp_store_postgres::DatabaseUrl;
use pdpp_wire::SubjectId;

use crate::{ConfigError, ConfigFile};

/// The folder of the data directory that holds a database's attachments where nothing is said. Not the one an embedded
/// store has in the same directory, whose files have other names.
const BLOBS: &str = "objects";
/// How much of the disk search indexes may take where nothing is said: 10 GiB.
const SEARCH_CACHE_BYTES: u64 = 10 << 30;
/// Less than this is one small index at a time.
const LEAST_SEARCH_CACHE: u64 = 16 << 20;

/// Where the data is kept, and for whom it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreConfig {
    /// The directory of this machine.
    pub data: PathBuf,
    /// Whose data local commands work on, when that was said.
    pub subject: Option<SubjectId>,
    /// The key that webhook secrets are sealed under, when it is not the data directory's own.
    pub secrets_key_file: Option<PathBuf>,
    /// The database, where the data is not in the directory.
    pub database: Option<DatabaseConfig>,
}

/// A database, and what every node over it must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseConfig {
    /// Its address.
    pub url: DatabaseUrl,
    /// Where its attachments are.
    pub blobs: BlobsConfig,
    /// How much of this machine's disk search indexes may take.
    pub search_cache_bytes: u64,
}

/// Where a database's attachments are kept: in a directory every node reaches, or in an S3-compatible store, whose keys
/// come from the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobsConfig {
    /// A directory, or `s3://BUCKET/PREFIX`.
    pub place: String,
    /// The object store's address, when it is not Amazon's.
    pub endpoint: Option<String>,
    /// Its region.
    pub region: Option<String>,
}

impl StoreConfig {
    /// A data directory, and the owner it has where nobody is named.
    pub fn directory(data: &Path) -> Self {
        Self { data: data.to_owned(), subject: None, secrets_key_file: None, database: None }
    }
}

impl ConfigFile {
    /// What is said about where the data is kept; paths are as whoever runs the program sees them.
    pub fn store(&self, data: &Path) -> Result<StoreConfig, ConfigError> {
        let database = match self.database()? {
            Some(url) => Some(DatabaseConfig {
                url,
                blobs: self.blobs(data)?,
                search_cache_bytes: self
                    .search_cache_bytes
                    .map_or(SEARCH_CACHE_BYTES, |bytes| bytes.max(LEAST_SEARCH_CACHE)),
            }),
            None if self.blobs_url.is_some() || self.names_bucket() => {
                return Err(ConfigError::BlobsWithoutDatabase);
            }
            None => None,
        };
        let (subject, secrets_key_file) = (self.subject.clone(), self.secrets_key_file.clone());
        Ok(StoreConfig { data: data.to_owned(), subject, secrets_key_file, database })
    }

    /// Whether something is said that only a bucket has.
    fn names_bucket(&self) -> bool {
        self.blobs_endpoint.is_some() || self.blobs_region.is_some()
    }

    fn blobs(&self, data: &Path) -> Result<BlobsConfig, ConfigError> {
        let place = match &self.blobs_url {
            Some(place) => place.clone(),
            None => data.join(BLOBS).display().to_string(),
        };
        if self.names_bucket() && !place.starts_with("s3://") {
            return Err(ConfigError::EndpointWithoutBucket);
        }
        Ok(BlobsConfig { place, endpoint: self.blobs_endpoint.clone(), region: self.blobs_region.clone() })
    }

    fn database(&self) -> Result<Option<DatabaseUrl>, ConfigError> {
        match (&self.database_url, &self.database_url_file) {
            (Some(_), Some(_)) => Err(ConfigError::TwoDatabases),
            (Some(url), None) => Ok(Some(DatabaseUrl::parse(url.reveal())?)),
            (None, Some(path)) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|source| ConfigError::Unreadable { path: path.display().to_string(), source })?;
                Ok(Some(DatabaseUrl::parse(&text)?))
            }
            (None, None) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use pdpp_access::Secret;

    use super::*;

    const URL: &str = "postgres://ana:hunter2@db.test/pdpp";

    fn named(url: &str) -> ConfigFile {
        ConfigFile { database_url: Some(Secret::presented(url)), ..ConfigFile::default() }
    }

    #[test]
    fn without_a_database_the_data_is_in_the_directory() {
        let config = ConfigFile::default().store(Path::new("/data")).unwrap();
        assert_eq!(config, StoreConfig::directory(Path::new("/data")));
        for file in [
            ConfigFile { blobs_url: Some("s3://archive".to_owned()), ..ConfigFile::default() },
            ConfigFile { blobs_region: Some("eu-north-1".to_owned()), ..ConfigFile::default() },
        ] {
            let said = file.store(Path::new("/data")).unwrap_err().to_string();
            assert!(said.contains("--database-url"), "{said}");
        }
    }

    #[test]
    fn a_database_is_named_by_its_address_or_by_a_file_that_holds_it() {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("url");
        std::fs::write(&file, format!("{URL}\n")).unwrap();
        let held = ConfigFile { database_url_file: Some(file.clone()), ..ConfigFile::default() };
        for settings in [named(URL), held.clone()] {
            let database = settings.store(data.path()).unwrap().database.unwrap();
            assert_eq!(database.url, DatabaseUrl::parse(URL).unwrap());
            assert_eq!(database.blobs.place, data.path().join("objects").display().to_string());
            assert!(!format!("{database:?}").contains("hunter2"));
        }
        let both = ConfigFile { database_url_file: Some(file), ..named(URL) };
        assert!(matches!(both.store(data.path()), Err(ConfigError::TwoDatabases)));
        // A flag that names one takes the place of a file that names the other.
        assert!(named(URL).over(held.clone()).store(data.path()).is_ok());
        assert!(held.over(named(URL)).store(data.path()).is_ok());
        let missing =
            ConfigFile { database_url_file: Some(data.path().join("none")), ..ConfigFile::default() };
        assert!(matches!(missing.store(data.path()), Err(ConfigError::Unreadable { .. })));
    }

    #[test]
    fn another_kind_of_database_is_refused_without_its_password() {
        let said =
            named("mysql://ana:hunter2@db.test/pdpp").store(Path::new("/data")).unwrap_err().to_string();
        assert!(said.contains("postgres://USER:PASSWORD@HOST") && !said.contains("hunter2"), "{said}");
    }

    #[test]
    fn what_is_said_of_a_bucket_needs_one() {
        let of = |blobs_url: Option<&str>| {
            let blobs_url = blobs_url.map(str::to_owned);
            let blobs_endpoint = Some("https://objects.test".to_owned());
            ConfigFile { blobs_url, blobs_endpoint, ..named(URL) }.store(Path::new("/data"))
        };
        assert!(matches!(of(None), Err(ConfigError::EndpointWithoutBucket)));
        assert!(matches!(of(Some("/srv/blobs")), Err(ConfigError::EndpointWithoutBucket)));
        assert_eq!(of(Some("s3://archive/pdpp")).unwrap().database.unwrap().blobs.place, "s3://archive/pdpp");
    }
}
