//! Where objects are kept, as it is written: a directory, `file:///…`, or `s3://bucket/prefix`.

use std::path::PathBuf;

use url::{Host, Url};

use crate::ObjectsError;

/// A place that could be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    Directory(PathBuf),
    Bucket { bucket: String, prefix: String },
}

impl Location {
    pub(crate) fn parse(text: &str) -> Result<Self, ObjectsError> {
        let refuse = |sentence: String| Err(ObjectsError::Refused(sentence));
        match text.split_once("://") {
            None if text.is_empty() => refuse(format!("no place for objects was named; {HELP}")),
            None => Ok(Self::Directory(text.into())),
            Some(("s3", rest)) => parse_bucket(rest),
            Some(("file", _)) => {
                let url = Url::parse(text).ok().filter(|url| url.query().or(url.fragment()).is_none());
                match url.and_then(|url| url.to_file_path().ok()) {
                    Some(path) => Ok(Self::Directory(path)),
                    None => refuse(format!("`{text}` is no directory of this machine; {HELP}")),
                }
            }
            Some((scheme, _)) => refuse(format!("objects are not kept in `{scheme}://…`; {HELP}")),
        }
    }
}

const HELP: &str = "give a directory, file:///directory, or s3://bucket/prefix";

/// What stands in the place is not repeated in a refusal: it may hold a secret that was written to the wrong spot.
fn parse_bucket(rest: &str) -> Result<Location, ObjectsError> {
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-');
    if !(3..=63).contains(&bucket.len()) || !bucket.bytes().all(plain) || bucket.contains("..") {
        let rule =
            "a bucket has 3 to 63 lower-case letters, digits, dots and hyphens, and no keys in front of it";
        return Err(ObjectsError::Refused(format!("s3:// is followed by something else: {rule}")));
    }
    let prefix = prefix.trim_end_matches('/');
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    let segment = |segment: &str| !matches!(segment, "" | "." | "..") && segment.bytes().all(plain);
    if !prefix.is_empty() && (prefix.len() > 512 || !prefix.split('/').all(segment)) {
        let rule = "letters, digits, dots, hyphens and underscores between single slashes";
        return Err(ObjectsError::Refused(format!("the prefix after the bucket may hold {rule}")));
    }
    Ok(Location::Bucket { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
}

/// An endpoint that may be spoken to: over TLS, or on this machine.
pub(crate) fn parse_endpoint(text: &str) -> Result<Url, ObjectsError> {
    let refuse = |sentence: &str| Err(ObjectsError::Refused(sentence.to_owned()));
    let Ok(url) = Url::parse(text) else {
        return refuse("the endpoint is no URL; give one like https://s3.example.org");
    };
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("the endpoint holds keys; they belong into their own settings");
    }
    if url.query().or(url.fragment()).is_some() {
        return refuse("the endpoint holds a query; give one like https://s3.example.org");
    }
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" if url.has_host() => Ok(url),
        "http" if here => Ok(url),
        "http" => refuse("the endpoint is not encrypted: http is for this machine only, use https"),
        _ => refuse("the endpoint is neither https:// nor http:// on this machine"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused<T: std::fmt::Debug>(result: Result<T, ObjectsError>, part: &str) {
        let sentence = result.unwrap_err().to_string();
        assert!(sentence.contains(part), "{sentence}");
        assert!(!sentence.contains("hunter2"), "{sentence}");
    }

    #[test]
    fn places_are_read() {
        let bucket =
            |bucket: &str, prefix: &str| Location::Bucket { bucket: bucket.into(), prefix: prefix.into() };
        for (text, place) in [
            ("/srv/objects", Location::Directory("/srv/objects".into())),
            ("objects", Location::Directory("objects".into())),
            ("file:///srv/a%20b", Location::Directory("/srv/a b".into())),
            ("s3://archive", bucket("archive", "")),
            ("s3://archive/", bucket("archive", "")),
            ("s3://archive/pdpp/blobs/", bucket("archive", "pdpp/blobs")),
        ] {
            assert_eq!(Location::parse(text).unwrap(), place, "{text}");
        }
    }

    #[test]
    fn other_places_are_refused_with_a_sentence() {
        refused(Location::parse(""), "no place");
        refused(Location::parse("gs://bucket"), "`gs://…`; give a directory");
        refused(Location::parse("S3://bucket"), "`S3://…`");
        refused(Location::parse("file://elsewhere/srv"), "no directory of this machine");
        refused(Location::parse("s3://"), "a bucket has");
        refused(Location::parse("s3://key:hunter2@bucket/x"), "no keys in front");
        refused(Location::parse("s3://bucket/a/../b"), "the prefix");
        refused(Location::parse("s3://bucket/a//b"), "the prefix");
        refused(Location::parse("s3://bucket/a?b=c"), "the prefix");
    }

    #[test]
    fn an_endpoint_is_encrypted_or_here() {
        for good in [
            "https://s3.example.org",
            "https://10.0.0.1:9000/base",
            "http://localhost:9000",
            "http://127.0.0.1:1",
            "http://[::1]:1",
        ] {
            assert!(parse_endpoint(good).is_ok(), "{good}");
        }
        refused(parse_endpoint("http://s3.example.org"), "not encrypted");
        refused(parse_endpoint("http://10.0.0.1"), "not encrypted");
        refused(parse_endpoint("http://localhost.example.org"), "not encrypted");
        refused(parse_endpoint("https://me:hunter2@s3.example.org"), "their own settings");
        refused(parse_endpoint("https://s3.example.org?x=hunter2"), "a query");
        refused(parse_endpoint("ftp://s3.example.org"), "neither");
        refused(parse_endpoint("s3.example.org"), "no URL");
    }
}
