//! Waits on this machine for the browser to come back with the answer.
//!
//! It answers one path, reads no more of a request than its first line needs, and shows a page without the code.

use pdpp_client::authorization::{CodeRequest, ConnectError, Returned, ServerMetadata};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Duration, timeout};

/// More than any answer needs.
const MAX_HEAD: usize = 16 * 1024;
/// How long one visitor may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(5);

/// A place of this machine where the browser comes back to.
pub(super) struct Callback {
    listener: TcpListener,
    pub(super) port: u16,
}

impl Callback {
    pub(super) async fn open() -> Result<Self, ConnectError> {
        let failed = |error: std::io::Error| {
            ConnectError::NotSupported(format!("cannot listen on this machine: {error}"))
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self { listener, port })
    }

    /// The code, once the browser has brought it. Visitors with anything else are turned away, and the wait goes on.
    pub(super) async fn code(
        &self,
        server: &ServerMetadata,
        request: &CodeRequest,
    ) -> Result<String, ConnectError> {
        loop {
            let Ok((mut visitor, _)) = self.listener.accept().await else { continue };
            let Ok(Some(target)) = timeout(PATIENCE, first_line(&mut visitor)).await else { continue };
            let Some(query) = target.strip_prefix("/callback?") else {
                answer(&mut visitor, "404 Not Found", "There is nothing here.").await;
                continue;
            };
            match request.returned(server, query) {
                Ok(Returned::Code(code)) => {
                    answer(
                        &mut visitor,
                        "200 OK",
                        "Approved. You can close this window and go back to the terminal.",
                    )
                    .await;
                    return Ok(code);
                }
                Ok(Returned::Foreign) => {
                    answer(
                        &mut visitor,
                        "400 Bad Request",
                        "This is no answer to the question that waits here.",
                    )
                    .await;
                }
                Err(error) => {
                    answer(&mut visitor, "200 OK", "No access was given. The terminal says why.").await;
                    return Err(error);
                }
            }
        }
    }
}

/// The address a visitor asks for.
async fn first_line(visitor: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut piece = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = visitor.read(&mut piece).await.ok()?;
        head.extend_from_slice(&piece[..count]);
        if count == 0 || head.len() > MAX_HEAD {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    (words.next() == Some("GET")).then(|| words.next().map(str::to_owned)).flatten()
}

async fn answer(visitor: &mut TcpStream, status: &str, words: &str) {
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>pdpp</title>\
         <p style=\"font:1.1rem system-ui;margin:4rem auto;max-width:32rem\">{words}</p></html>"
    );
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nx-frame-options: DENY\r\n\
         content-security-policy: default-src 'none'; style-src 'unsafe-inline'\r\nconnection: close\r\n\r\n",
        page.len()
    );
    // A browser that left early has lost a page and nothing else.
    let _ = visitor.write_all(format!("{head}{page}").as_bytes()).await;
    let _ = visitor.shutdown().await;
}
