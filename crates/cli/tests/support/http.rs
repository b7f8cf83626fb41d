//! A small HTTP client over a real socket.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::{Request, Response};

#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
    base: String,
    token: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) request_id: String,
    pub(crate) body: Value,
}

impl Client {
    pub(crate) fn new(address: &str, token: Option<&str>) -> Self {
        let config =
            Agent::config_builder().http_status_as_error(false).timeout_global(Some(Duration::from_mins(1)));
        Self {
            agent: config.build().into(),
            base: format!("http://{address}"),
            token: token.map(str::to_owned),
        }
    }

    /// A read; panics when the server is gone.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.try_get(path).unwrap()
    }

    pub(crate) fn try_get(&self, path: &str) -> Option<Answer> {
        self.send(self.request("GET", path).body(Vec::new()).unwrap())
    }

    /// A write; `None` when no answer came back.
    pub(crate) fn try_post(
        &self,
        path: &str,
        content_type: &str,
        body: impl Into<Vec<u8>>,
    ) -> Option<Answer> {
        let request = self.request("POST", path).header("content-type", content_type);
        self.send(request.body(body.into()).unwrap())
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
        self.try_post(path, content_type, body).unwrap()
    }

    /// A deletion.
    #[track_caller]
    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send(self.request("DELETE", path).body(Vec::new()).unwrap()).unwrap()
    }

    /// A write whose answer may come in one of several forms.
    #[track_caller]
    pub(crate) fn post_accepting(&self, path: &str, accept: &str, body: impl Into<Vec<u8>>) -> Answer {
        let request =
            self.request("POST", path).header("content-type", "application/json").header("accept", accept);
        self.send(request.body(body.into()).unwrap()).unwrap()
    }

    fn request(&self, method: &str, path: &str) -> ureq::http::request::Builder {
        let path = path.replace('[', "%5B").replace(']', "%5D");
        let request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    fn send(&self, request: Request<Vec<u8>>) -> Option<Answer> {
        let response = match request.method().as_str() {
            "GET" | "DELETE" => self.agent.run(request.map(|_| ())).ok()?,
            _ => self.agent.run(request).ok()?,
        };
        read(response)
    }
}

fn read(response: Response<ureq::Body>) -> Option<Answer> {
    let status = response.status().as_u16();
    let request_id = response.headers().get("request-id").map(|id| id.to_str().unwrap().to_owned());
    let text = response.into_body().into_with_config().limit(1 << 30).read_to_vec().ok()?;
    let body = serde_json::from_slice(&text).unwrap_or(Value::Null);
    Some(Answer { status, request_id: request_id.unwrap_or_default(), body })
}

/// Sends raw bytes and gives the status line.
pub(crate) fn raw(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}
