//! An S3-compatible bucket, from explicit settings only.

use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder, AwsCredential, Checksum};
use object_store::client::HttpClient;
use object_store::{BackoffConfig, RetryConfig};

use crate::location::parse_endpoint;
use crate::transport::Transport;
use crate::{ObjectsError, Settings};

/// Tries after the first, of requests that may be repeated.
const MORE_TRIES: usize = 3;
const DEFAULT_REGION: &str = "us-east-1";

/// A bucket, and what is needed to ask it what `object_store` does not ask.
#[derive(Debug)]
pub(crate) struct Bucket {
    pub(crate) s3: AmazonS3,
    pub(crate) http: HttpClient,
    pub(crate) credential: AwsCredential,
    pub(crate) region: String,
    /// The bucket's own address, without a slash at its end.
    pub(crate) url: String,
}

impl Bucket {
    pub(crate) fn open(bucket: &str, settings: &Settings) -> Result<Self, ObjectsError> {
        let Some(keys) = settings.credentials.clone() else {
            let sentence = "a bucket needs an access key and its secret, and the settings hold none";
            return Err(ObjectsError::Refused(sentence.to_owned()));
        };
        let region = settings.region.clone().unwrap_or_else(|| DEFAULT_REGION.to_owned());
        if region.is_empty() || !region.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            let sentence = "the region may hold only letters, digits and hyphens";
            return Err(ObjectsError::Refused(sentence.to_owned()));
        }
        let url = bucket_url(bucket, &region, settings)?;
        let transport = Transport::new(url.starts_with("https:"), settings.roots.clone(), settings.patience)
            .map_err(|error| ObjectsError::Refused(format!("no certificates can be trusted: {error}")))?;
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_region(&region)
            // With this the address is the bucket's own, and the bucket is not added to it.
            .with_virtual_hosted_style_request(true)
            .with_endpoint(&url)
            .with_access_key_id(&keys.access_key_id)
            .with_secret_access_key(&keys.secret_access_key)
            .with_checksum_algorithm(Checksum::SHA256)
            // Not every store knows how to delete many at once.
            .with_disable_bulk_delete(true)
            .with_retry(retries(settings.patience))
            .with_http_connector(transport.clone());
        if let Some(token) = &keys.session_token {
            builder = builder.with_token(token);
        }
        let s3 = builder.build().map_err(|error| ObjectsError::Refused(error.to_string()))?;
        let credential = AwsCredential {
            key_id: keys.access_key_id,
            secret_key: keys.secret_access_key,
            token: keys.session_token,
        };
        Ok(Self { s3, http: HttpClient::new(transport), credential, region, url })
    }
}

fn bucket_url(bucket: &str, region: &str, settings: &Settings) -> Result<String, ObjectsError> {
    let path_style = settings.path_style.unwrap_or(settings.endpoint.is_some());
    let text = settings.endpoint.clone().unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
    let mut url = parse_endpoint(&text)?;
    if !path_style {
        let host = url.domain().map(|host| format!("{bucket}.{host}"));
        if host.is_none_or(|host| url.set_host(Some(&host)).is_err()) {
            let sentence =
                "the endpoint is an address, and a bucket cannot stand in front of it: ask for path style";
            return Err(ObjectsError::Refused(sentence.to_owned()));
        }
    }
    let base = url.as_str().trim_end_matches('/');
    Ok(if path_style { format!("{base}/{bucket}") } else { base.to_owned() })
}

fn retries(patience: Duration) -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(2),
            base: 2.,
        },
        max_retries: MORE_TRIES,
        retry_timeout: patience.saturating_mul(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Credentials;

    #[track_caller]
    fn url(endpoint: Option<&str>, path_style: Option<bool>) -> String {
        let settings = Settings { endpoint: endpoint.map(str::to_owned), path_style, ..Settings::default() };
        match bucket_url("archive", "eu-west-1", &settings) {
            Ok(url) => url,
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_bucket_has_its_own_address() {
        assert_eq!(url(None, None), "https://archive.s3.eu-west-1.amazonaws.com");
        assert_eq!(url(None, Some(true)), "https://s3.eu-west-1.amazonaws.com/archive");
        assert_eq!(url(Some("https://s3.example.org/"), None), "https://s3.example.org/archive");
        assert_eq!(
            url(Some("https://s3.example.org:9/x"), Some(false)),
            "https://archive.s3.example.org:9/x"
        );
        assert!(url(Some("http://127.0.0.1:9"), Some(false)).contains("path style"));
    }

    #[test]
    fn nothing_printed_holds_a_secret() {
        let keys = Credentials {
            access_key_id: "public".to_owned(),
            secret_access_key: "hunter2".to_owned(),
            session_token: Some("hunter3".to_owned()),
        };
        let settings = Settings { credentials: Some(keys), ..Settings::default() };
        let bucket = Bucket::open("archive", &settings).unwrap();
        let printed = format!("{settings:?} {bucket:?}");
        assert!(printed.contains("public") && !printed.contains("hunter"), "{printed}");
    }

    #[test]
    fn a_bucket_without_keys_is_refused() {
        let error = Bucket::open("archive", &Settings::default()).unwrap_err();
        assert!(error.to_string().contains("an access key"), "{error}");
    }
}
