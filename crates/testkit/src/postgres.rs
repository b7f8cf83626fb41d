//! Databases on a real Postgres server, one for each test that asks.
//!
//! `cargo xtask test` starts the server and names it in `PDPP_TEST_POSTGRES`. A test without it fails and says how to
//! run it: a suite that is silently left out proves nothing. A schema is made once and copied for each test.

use std::fs::File;
use std::process::Command;

/// The server that tests may use.
#[derive(Clone, Debug)]
pub struct PostgresServer {
    /// Up to the last slash.
    base: String,
}

impl PostgresServer {
    /// The one this run was started beside.
    pub fn of_this_run() -> Self {
        let Ok(url) = std::env::var("PDPP_TEST_POSTGRES") else {
            panic!(
                "this test needs a Postgres server: run it with `cargo xtask postgres -- cargo nextest run …`"
            );
        };
        let (base, _) = url.rsplit_once('/').expect("the server's URL names a database");
        Self { base: base.to_owned() }
    }

    /// The URL of one of its databases.
    pub fn url(&self, database: &str) -> String {
        format!("{}/{database}", self.base)
    }

    /// An empty database.
    pub fn empty(&self) -> FreshDatabase {
        let name = fresh_name();
        self.run(&format!("CREATE DATABASE {name}"));
        FreshDatabase { server: self.clone(), name }
    }

    /// A copy of the database of this name, which is made, once, by `prepare` on an empty one.
    pub fn copy_of(&self, template: &str, prepare: impl FnOnce(&str)) -> FreshDatabase {
        // Tests are processes of their own; the first to come makes it, the others wait.
        let lock = std::env::temp_dir().join(format!("{template}-{}.lock", digits(&self.base)));
        let lock = File::create(&lock).expect("the temporary directory can be written");
        lock.lock().expect("a file can be locked");
        if self
            .ask(&format!("SELECT 1 FROM pg_database WHERE datname = '{template}' AND datistemplate"))
            .is_empty()
        {
            self.run(&format!("DROP DATABASE IF EXISTS {template} WITH (FORCE)"));
            self.run(&format!("CREATE DATABASE {template}"));
            prepare(&self.url(template));
            self.run(&format!("ALTER DATABASE {template} WITH ALLOW_CONNECTIONS false IS_TEMPLATE true"));
            let ended = format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{template}'"
            );
            self.run(&ended);
        }
        let name = fresh_name();
        self.run(&format!("CREATE DATABASE {name} TEMPLATE {template}"));
        FreshDatabase { server: self.clone(), name }
    }

    fn run(&self, sql: &str) {
        self.ask(sql);
    }

    /// What `psql` prints, without frames.
    fn ask(&self, sql: &str) -> String {
        let output = Command::new("psql")
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql])
            .arg(self.url("postgres"))
            .output()
            .expect("`psql` comes with Debian's package `postgresql`");
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("psql prints text").trim().to_owned()
    }
}

/// A database that ends with this value.
#[derive(Debug)]
pub struct FreshDatabase {
    server: PostgresServer,
    name: String,
}

impl FreshDatabase {
    /// Where it is.
    pub fn url(&self) -> String {
        self.server.url(&self.name)
    }

    /// What a statement of the test's own prints, without frames.
    pub fn ask(&self, sql: &str) -> String {
        let output = Command::new("psql")
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql])
            .arg(self.url())
            .output()
            .expect("`psql` comes with Debian's package `postgresql`");
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("psql prints text").trim().to_owned()
    }
}

impl Drop for FreshDatabase {
    fn drop(&mut self) {
        // A test that failed must not fail again here; the server ends with the run anyway.
        let sql = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let _ = Command::new("psql").args(["-X", "-q", "-c", &sql]).arg(self.server.url("postgres")).output();
    }
}

/// A name no other test of this run has.
fn fresh_name() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("t{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}
