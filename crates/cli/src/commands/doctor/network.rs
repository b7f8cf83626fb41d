//! Whether a server runs, and whether one could.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use pdpp_server::{Alone, ConfigFile};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::Check;

/// How long an answer from this machine may take.
const PATIENCE: Duration = Duration::from_secs(2);
const USUAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7663);

pub(super) async fn look(data: &Path, settings: &ConfigFile) -> Vec<Check> {
    let address = settings.listen.unwrap_or(USUAL);
    let mut checks = vec![port(address).await];
    if data.join("store.db").exists()
        && let Ok(None) = Alone::hold(data)
    {
        checks.push(Check::well(
            "in use",
            "another process has the data open, such as a server or an assistant",
        ));
    }
    checks
}

async fn port(address: SocketAddr) -> Check {
    let Ok(Ok(stream)) = tokio::time::timeout(PATIENCE, TcpStream::connect(address)).await else {
        return Check::well("server", format!("none on {address}; `pdpp serve` starts one"));
    };
    match tokio::time::timeout(PATIENCE, is_ours(stream, address)).await {
        Ok(Ok(true)) => Check::well("server", format!("one answers on {address}")),
        _ => Check::wrong(
            "server",
            format!("{address} is taken by another program"),
            "stop that program, or serve elsewhere: pdpp serve --listen 127.0.0.1:PORT",
        ),
    }
}

/// Whether what listens there answers as our server does.
async fn is_ours(mut stream: TcpStream, address: SocketAddr) -> std::io::Result<bool> {
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(16 * 1024).read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer).to_lowercase();
    Ok(answer.starts_with("http/1.1 200") && answer.contains("request-id: req_"))
}
