//! One request and one answer on one connection, which is closed afterwards.
//!
//! Connections are not kept: a kept one would be a way to reach an address that was checked for another call.

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body::Body as _;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;

use crate::answer::Extent;
use crate::connect::BoxStream;
use crate::limits::Deadline;
use crate::{Answer, EgressError, EgressFault, Limits, Oversize, Stage};

/// The smallest buffer hyper reads a head with.
const LEAST_HEAD_BYTES: usize = 8_192;
const MAX_HEADERS: usize = 100;

pub(crate) async fn exchange(
    stream: BoxStream,
    request: Request<Full<Bytes>>,
    limits: &Limits,
    deadline: Deadline,
) -> Result<Answer, EgressError> {
    // Dropped with this call, and with it the connection.
    let mut driver = JoinSet::new();
    let head = send(stream, request, limits, &mut driver);
    let response = deadline.stage(Stage::Head, limits.head, head).await??;
    let (head, body) = response.into_parts();
    let (body, extent) = deadline.stage(Stage::Body, limits.body, read(body, limits)).await??;
    Ok(Answer { status: head.status, headers: head.headers, body, extent })
}

async fn send(
    stream: BoxStream,
    request: Request<Full<Bytes>>,
    limits: &Limits,
    driver: &mut JoinSet<()>,
) -> Result<Response<Incoming>, EgressError> {
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(limits.max_head_bytes.max(LEAST_HEAD_BYTES))
        .max_headers(MAX_HEADERS)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    driver.spawn(async move {
        // The error reaches the request or the body as well.
        let _ = connection.await;
    });
    sender.send_request(request).await.map_err(broken)
}

async fn read(mut body: Incoming, limits: &Limits) -> Result<(Bytes, Extent), EgressError> {
    let max_bytes = limits.max_body_bytes;
    let too_large = |body: &BytesMut| match limits.oversize {
        Oversize::Cut => Ok((Bytes::copy_from_slice(&body[..max_bytes.min(body.len())]), Extent::Cut)),
        Oversize::Refused => Err(EgressFault::BodyTooLarge { max_bytes }.because("body")),
    };
    let mut taken = BytesMut::new();
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > max_bytes && limits.oversize == Oversize::Refused {
        return too_large(&taken);
    }
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        // No frame is larger than the buffer, so the excess is small.
        taken.extend_from_slice(&data);
        if taken.len() > max_bytes {
            return too_large(&taken);
        }
    }
    Ok((taken.freeze(), Extent::Whole))
}

fn broken(error: hyper::Error) -> EgressError {
    let fault = if error.is_parse_too_large() { EgressFault::HeadTooLarge } else { EgressFault::Broken };
    fault.because(error)
}
