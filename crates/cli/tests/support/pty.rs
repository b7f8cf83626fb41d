//! The binary on a terminal: a pseudo terminal of a given width, what it shows, and what is typed.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

pub(crate) struct Terminal {
    child: Child,
    typed: File,
    shown: Arc<Mutex<String>>,
}

impl Terminal {
    /// Starts a command whose three streams are a terminal this wide.
    pub(crate) fn start(mut command: Command, columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        tcsetwinsize(&slave, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let copy = |fd: &OwnedFd| fd.try_clone().unwrap();
        let child = command
            .env("TERM", "xterm")
            .stdin(copy(&slave))
            .stdout(copy(&slave))
            .stderr(slave)
            .spawn()
            .unwrap();
        // The command holds the other end; with it closed there, reading here ends.
        drop(command);
        let shown = Arc::new(Mutex::new(String::new()));
        let (kept, mut screen) = (Arc::clone(&shown), File::from(copy(&master)));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        });
        Self { child, typed: File::from(master), shown }
    }

    /// Waits until this is shown, then types a line.
    #[track_caller]
    pub(crate) fn answer(&mut self, question: &str, line: &str) {
        self.wait_for(question);
        self.shown.lock().unwrap().clear();
        writeln!(self.typed, "{line}").unwrap();
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, wanted: &str) {
        for _ in 0..1_500 {
            if self.shown.lock().unwrap().contains(wanted) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("'{wanted}' is not shown: {}", self.shown.lock().unwrap());
    }

    /// Waits until a whole line with this in it is shown, and gives it.
    #[track_caller]
    pub(crate) fn line_with(&self, wanted: &str) -> String {
        for _ in 0..1_500 {
            let shown = self.shown.lock().unwrap();
            let whole = shown.rsplit_once('\n').map_or("", |(whole, _)| whole);
            if let Some(line) = whole.lines().find(|line| line.contains(wanted)) {
                return line.trim().to_owned();
            }
            drop(shown);
            thread::sleep(Duration::from_millis(20));
        }
        panic!("'{wanted}' is not shown: {}", self.shown.lock().unwrap());
    }

    /// Sends the key that interrupts.
    pub(crate) fn interrupt(&self) {
        let told = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
    }

    /// Waits for the end: exit code, and what was shown since the last answer.
    pub(crate) fn end(mut self) -> (i32, String) {
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        // What was written last may still be on its way through the terminal.
        thread::sleep(Duration::from_millis(100));
        (code, self.shown.lock().unwrap().replace("\r\n", "\n"))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Already ended is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
