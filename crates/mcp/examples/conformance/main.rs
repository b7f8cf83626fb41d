//! The server that the official MCP conformance suite is run against.
//!
//! The suite asks for tools, prompts and resources of its own, which no product should carry. This program has
//! them, and serves them through the HTTP endpoint of this crate, so that what the suite judges is our transport.
//! It prints its address as its first line and runs until it is ended.

mod everything;
mod library;
mod rounds;
mod schemas;
mod tools;

use std::env;
use std::io;

use axum::body::Body;
use axum::extract::Request;
use pdpp_mcp::HttpEndpoint;
use tokio::net::TcpListener;

use crate::everything::Everything;

#[tokio::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind(listen_address()?).await?;
    let address = listener.local_addr()?;
    say(&format!("http://{address}/mcp"));

    let names = [address.to_string(), format!("localhost:{}", address.port())];
    let endpoint =
        HttpEndpoint::new(names.iter().map(|name| format!("http://{name}"))).with_hosts(names.clone());
    let handler = Everything::default();
    let service = axum::Router::new().fallback(move |request: Request| {
        let (endpoint, handler) = (endpoint.clone(), handler.clone());
        async move { endpoint.answer(handler, request).await.map(Body::new) }
    });
    axum::serve(listener, service).await
}

#[expect(clippy::print_stdout, reason = "whoever starts this reads the address from its first line")]
fn say(address: &str) {
    println!("{address}");
}

fn listen_address() -> io::Result<String> {
    let mut arguments = env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (None, ..) => Ok("127.0.0.1:0".to_owned()),
        (Some("--listen"), Some(address), None) => Ok(address),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "usage: conformance [--listen ADDRESS]")),
    }
}
