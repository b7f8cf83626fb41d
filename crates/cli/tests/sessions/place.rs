//! Where a session happens: a home, and what is in it.
//!
//! - `empty`: the sample exports lie in `chat/` and `mail/`, and nothing is loaded.
//! - `loaded`: the chat is in the data directory.
//! - `database`: the same, and an empty database is at `$DATABASE`.
//! - `subscribed`: a server also runs, and a client is sent events.
//! - `visitor`: the home of somebody else, who knows only the server, at `$URL`.
//! - `approving`, `denying`: the same, and the server's owner answers whoever asks for access.
//! - `reading`: the same, with a token in `$PDPP_CLIENT_TOKEN` for author, text and time of the messages of the server in
//!   `$PDPP_PROVIDER_URL`.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use pdpp_testkit::{FreshDatabase, PostgresServer};
use serde_json::json;

use crate::support::{OwnerDesk, Pdpp, Receiver, Server, back, copy_export, query, text};

/// What the shell is told, and what the server's owner does meanwhile.
pub(super) struct Place {
    /// The home of whoever types.
    typist: Pdpp,
    served: Option<Served>,
    database: Option<FreshDatabase>,
}

struct Served {
    server: Server,
    token: String,
    owner: String,
    answer: Answer,
    reading: bool,
    _owner_home: Option<Pdpp>,
    _receiver: Option<Receiver>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    None,
    Yes,
    No,
}

const IMPORT: [&str; 4] = ["import", "--manifest", "chat/manifest.json", "chat/records.jsonl"];

impl Place {
    pub(super) fn open(name: &str) -> Self {
        let home = Pdpp::new();
        copy_export("jsonl", &home.path("chat"));
        copy_export("mail", &home.path("mail"));
        match name {
            "empty" => Self { typist: home, served: None, database: None },
            "loaded" => {
                load(&home);
                Self { typist: home, served: None, database: None }
            }
            "database" => {
                load(&home);
                let database = Some(PostgresServer::of_this_run().empty());
                Self { typist: home, served: None, database }
            }
            "subscribed" => {
                load(&home);
                let (running, receiver) = subscribed(&home);
                let served = Served::new(&home, running, Answer::None);
                let served = Some(Served { _receiver: Some(receiver), ..served });
                Self { served, typist: home, database: None }
            }
            "visitor" | "approving" | "denying" | "reading" => {
                load(&home);
                let answer = match name {
                    "approving" => Answer::Yes,
                    "denying" => Answer::No,
                    _ => Answer::None,
                };
                let running = Server::start(typed(&home, &["serve", "--listen", "127.0.0.1:0"]));
                let served = Served { reading: name == "reading", ..Served::new(&home, running, answer) };
                let served = Some(Served { _owner_home: Some(home), ..served });
                Self { served, typist: Pdpp::new(), database: None }
            }
            other => panic!("there is no place called {other}"),
        }
    }

    /// What stands here is different each time.
    pub(super) fn secrets(&self) -> Vec<(String, &'static str)> {
        let mut known = vec![
            (self.typist.path("").display().to_string().trim_end_matches('/').to_owned(), "~"),
            (env!("CARGO_BIN_EXE_pdpp").to_owned(), "/PATH/OF/pdpp"),
        ];
        if let Some(database) = &self.database {
            known.push((database.url(), "postgres://pdpp@127.0.0.1:PORT/archive"));
        }
        if let Some(served) = &self.served {
            known.push((served.server.address().to_owned(), "127.0.0.1:PORT"));
            known.push((served.server.address().replace(':', "-"), "127.0.0.1-PORT"));
        }
        known
    }

    /// Types a line: its exit code, and everything it showed in order.
    pub(super) fn run(&self, line: &str) -> (i32, String) {
        let (reader, writer) = std::io::pipe().unwrap();
        let (line, last_words) = match line.split_once("# Ctrl-C after: ") {
            Some((line, words)) => (format!("exec {line}"), Some(words)),
            None => (line.to_owned(), None),
        };
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &line]).env_clear().current_dir(self.typist.path(""));
        command.envs(self.surroundings());
        command.stdin(Stdio::null()).stdout(writer.try_clone().unwrap()).stderr(writer);
        let mut child = command.spawn().unwrap();
        // The other ends are the child's alone, so that reading ends with it.
        drop(command);
        let mut shown = String::new();
        for line in BufReader::new(reader).lines() {
            let line = line.unwrap();
            if last_words.is_some_and(|words| line.contains(words)) {
                interrupt(&child);
            }
            self.answer(&line);
            shown.push_str(&line);
            shown.push('\n');
        }
        (child.wait().unwrap().code().unwrap_or(-1), shown)
    }

    fn surroundings(&self) -> Vec<(&'static str, String)> {
        let bin = Path::new(env!("CARGO_BIN_EXE_pdpp")).parent().unwrap();
        let home = self.typist.path("").display().to_string();
        let mut variables = vec![
            ("PATH", format!("{}:/usr/bin:/bin", bin.display())),
            ("HOME", home.trim_end_matches('/').to_owned()),
            ("LC_ALL", "C.UTF-8".to_owned()),
        ];
        variables.extend(self.database.iter().map(|database| ("DATABASE", database.url())));
        if let Some(served) = &self.served {
            let url = format!("http://{}", served.server.address());
            variables.push(("OWNER", served.owner.clone()));
            if served.reading {
                variables.push(("PDPP_CLIENT_TOKEN", served.token.clone()));
                variables.push(("PDPP_PROVIDER_URL", url.clone()));
            }
            variables.push(("URL", url));
        }
        variables
    }

    /// Does what an owner would who sees this address.
    fn answer(&self, line: &str) {
        let Some(served) = self.served.as_ref().filter(|served| served.answer != Answer::None) else {
            return;
        };
        if !line.contains("/oauth/authorize?") {
            return;
        }
        let desk = OwnerDesk::new(&served.server, &served.owner);
        let consent = query(&desk.follow(line.trim()));
        let decided = match served.answer {
            Answer::Yes => desk.approve(&consent, None),
            _ => desk.deny(&consent),
        };
        desk.open(&back(&decided));
    }
}

impl Served {
    fn new(home: &Pdpp, server: Server, answer: Answer) -> Self {
        let stream = ["--stream", "messages:author,text,sent_at"];
        let create = [&["grant", "create", "--client", "visitor", "--json"], &stream[..]].concat();
        let made = said(typed(home, &create));
        let owner = text(&said(typed(home, &["owner", "token", "--json"]))["access_token"]);
        let token = text(&made["access_token"]);
        Self { server, token, owner, answer, reading: false, _owner_home: None, _receiver: None }
    }
}

/// A client that is told of changes, as it would ask for it over HTTP.
fn subscribed(home: &Pdpp) -> (Server, Receiver) {
    let receiver = Receiver::start();
    let create = ["grant", "create", "--client", "listener", "--json", "--stream", "messages:text"];
    let made = said(typed(home, &[&create[..], &["--callback-host", receiver.host()]].concat()));
    let serve = ["serve", "--listen", "127.0.0.1:0", "--allow-loopback-callbacks"];
    let server = Server::start(typed(home, &serve));
    let client = server.client(&text(&made["access_token"]));
    let asked = json!({ "callback_url": receiver.url() }).to_string();
    let made = client.post("/v1/event-subscriptions", "application/json", asked);
    assert_eq!(made.status, 201, "{}", made.body);
    let path = format!("/v1/event-subscriptions/{}", text(&made.body["subscription_id"]));
    for _ in 0..500 {
        if client.get(&path).body["status"] == "active" {
            return (server, receiver);
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("the receiver was not verified")
}

/// The command with the data where it lies when nobody says otherwise.
fn typed(home: &Pdpp, args: &[&str]) -> Command {
    let mut command = home.command(args);
    command.env_remove("PDPP_DATA").current_dir(home.path(""));
    command
}

fn said(mut command: Command) -> serde_json::Value {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

fn load(home: &Pdpp) {
    said(typed(home, &IMPORT));
}

fn interrupt(child: &Child) {
    let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(told.success());
}
