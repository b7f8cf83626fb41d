//! A running `pdpp serve`, ended with the test.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::Client;

pub(crate) struct Server {
    child: Child,
    address: String,
    log: Arc<Mutex<String>>,
}

impl Server {
    /// Starts it and waits until it says where it listens.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "the server stopped: {said}");
            said.push_str(&line);
            if let Some((_, address)) = line.trim().split_once(" on http://") {
                break address.to_owned();
            }
        };
        let log = Arc::new(Mutex::new(said));
        let kept = Arc::clone(&log);
        // The pipe must be drained, or a talkative server would stop.
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut buffer) {
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        });
        Self { child, address, log }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn client(&self, token: &str) -> Client {
        Client::new(&self.address, Some(token))
    }

    pub(crate) fn anonymous(&self) -> Client {
        Client::new(&self.address, None)
    }

    /// What it has logged so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// The word it says after these.
    pub(crate) fn said_after(&self, words: &str) -> String {
        for _ in 0..500 {
            let log = self.log();
            let found = log.split_once(words).and_then(|(_, rest)| rest.split_once(char::is_whitespace));
            if let Some((word, _)) = found {
                return word.to_owned();
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("nothing was said after {words}: {}", self.log())
    }

    /// Where it says its metrics are.
    pub(crate) fn metrics_address(&self) -> String {
        for _ in 0..500 {
            let log = self.log();
            if let Some((address, _)) =
                log.split_once("metrics are on http://").and_then(|(_, rest)| rest.split_once("/metrics"))
            {
                return address.to_owned();
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("it names no metrics: {}", self.log())
    }

    /// SIGKILL: no goodbye.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM: an orderly end.
    pub(crate) fn terminate(&mut self) -> ExitStatus {
        let told = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
        self.child.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already ended is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
