//! Multipart uploads that a killed process left open. They appear in no list of objects, and `object_store` cannot ask
//! for them; a store keeps their parts until somebody does.

use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt as _;
use object_store::aws::AwsAuthorizer;
use object_store::client::{HttpRequest, HttpRequestBody};
use object_store::multipart::MultipartStore as _;
use object_store::path::Path;
use pdpp_wire::Instant;
use quick_xml::Reader;
use quick_xml::events::Event;
use url::form_urlencoded;

use crate::bucket::Bucket;
use crate::error::Doing;
use crate::spool::STAGING;
use crate::{Damage, ObjectsError, UploadId};

/// More are found by the next sweep.
const MAX_LISTED: &str = "1000";
const WHAT: &str = "the list of open uploads";

/// Asks one bucket for the open uploads under our prefix.
#[derive(Debug)]
pub(crate) struct Abandoned {
    bucket: Bucket,
    /// With a slash at its end.
    staging: String,
}

/// An upload that was not completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenUpload {
    key: String,
    upload_id: String,
    pub(crate) started: Instant,
}

impl Abandoned {
    pub(crate) fn new(bucket: Bucket, prefix: &str) -> Self {
        let staging = if prefix.is_empty() { format!("{STAGING}/") } else { format!("{prefix}/{STAGING}/") };
        Self { bucket, staging }
    }

    pub(crate) async fn list(&self) -> Result<Vec<OpenUpload>, ObjectsError> {
        let failed = |error| Doing::Reading.failed(WHAT, error);
        // The serializer cannot change threads, so it must not be alive while anything is waited for.
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("max-uploads", MAX_LISTED)
            .append_pair("prefix", &self.staging)
            .finish();
        let url = format!("{}/?{query}&uploads=", self.bucket.url);
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.method_mut() = Method::GET;
        *request.uri_mut() =
            url.parse().map_err(|_| ObjectsError::Refused("the endpoint is no address".to_owned()))?;
        AwsAuthorizer::new(&self.bucket.credential, "s3", &self.bucket.region)
            .try_authorize(&mut request, None)
            .map_err(failed)?;
        let transport = |error| failed(object_store::Error::Generic { store: "S3", source: Box::new(error) });
        let answer = self.bucket.http.execute(request).await.map_err(transport)?;
        let status = answer.status().as_u16();
        if !answer.status().is_success() {
            return Err(ObjectsError::Denied(format!("the store answered with status {status}").into()));
        }
        let body = answer.into_body().collect().await.map_err(transport)?.to_bytes();
        let uploads = read(&body).ok_or_else(|| Damage::Nonsense("no such list".to_owned()).of(WHAT))?;
        // A store that knows no prefix here must not make us end somebody else's upload.
        let ours = |upload: &OpenUpload| {
            upload.key.strip_prefix(&self.staging).is_some_and(|id| UploadId::parse(id).is_some())
        };
        Ok(uploads.into_iter().filter(ours).collect())
    }

    /// Ends it; one that was completed or ended meanwhile is none any more.
    pub(crate) async fn abort(&self, upload: &OpenUpload) -> Result<(), ObjectsError> {
        let key = Path::from(upload.key.as_str());
        let ended = self.bucket.s3.abort_multipart(&key, &upload.upload_id).await;
        match ended.map_err(|error| Doing::Writing.failed(&upload.key, error)) {
            Ok(()) | Err(ObjectsError::Missing { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The uploads in the answer, or nothing if it is no such answer. One without a time is as young as can be.
fn read(body: &Bytes) -> Option<Vec<OpenUpload>> {
    let mut reader = Reader::from_str(std::str::from_utf8(body).ok()?);
    let mut path: Vec<String> = Vec::new();
    let mut uploads = Vec::new();
    let mut known = false;
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => {
                path.push(start.local_name().as_ref().to_owned());
                known |= path == ["ListMultipartUploadsResult"];
                if path.len() == 2 && path[1] == "Upload" {
                    let started = Instant::from_micros(i64::MAX);
                    uploads.push(OpenUpload { key: String::new(), upload_id: String::new(), started });
                }
            }
            Event::End(_) => drop(path.pop()),
            Event::Text(text) if path.len() == 3 && path[1] == "Upload" => {
                let (text, upload) = (text.xml10_content(), uploads.last_mut()?);
                match path[2].as_str() {
                    "Key" => upload.key.push_str(&text),
                    "UploadId" => upload.upload_id.push_str(&text),
                    "Initiated" => upload.started = Instant::parse(text.trim()).unwrap_or(upload.started),
                    _ => {}
                }
            }
            Event::Eof => return known.then_some(uploads),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_uploads_are_read() {
        let text = r#"<?xml version="1.0"?><ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
            <Bucket>b</Bucket><IsTruncated>false</IsTruncated>
            <Upload><Key>.staging/a</Key><UploadId>u1</UploadId><Owner><ID>Key</ID></Owner>
            <Initiated>2026-01-02T03:04:05.000Z</Initiated></Upload>
            <Upload><Key>.staging/b</Key><UploadId>u2</UploadId></Upload></ListMultipartUploadsResult>"#;
        let found = read(&Bytes::from_static(text.as_bytes())).unwrap();
        let started = Instant::parse("2026-01-02T03:04:05Z").unwrap();
        let first = OpenUpload { key: ".staging/a".to_owned(), upload_id: "u1".to_owned(), started };
        assert_eq!(found[0], first);
        assert_eq!(found[1].started, Instant::from_micros(i64::MAX));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn something_else_is_no_list() {
        for text in ["", "<html></html>", "<ListBucketResult></ListBucketResult>", "<a", "{}"] {
            assert_eq!(read(&Bytes::from(text)), None, "{text}");
        }
    }
}
