//! Asks for one line on the terminal: seen or unseen while it is typed, and for as long as somebody waits for it.
//!
//! The terminal is put back as it was, also when the person gives up with Ctrl-C.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use crate::terminal;

/// Whether what is typed can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    Seen,
    Unseen,
}

/// What came back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Line(String),
    /// Ctrl-C, or the terminal is gone.
    GivenUp,
    TooLate,
}

/// When an answer is no longer waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) fn after(patience: Option<Duration>) -> Self {
        Self(patience.and_then(|patience| Instant::now().checked_add(patience)))
    }

    fn left(self) -> Option<Duration> {
        self.0.map(|end| end.saturating_duration_since(Instant::now()))
    }
}

/// Asks on the terminal that standard input is.
pub(crate) fn ask(prompt: &str, sight: Sight, deadline: Deadline) -> Answer {
    // Whoever sees the question may answer at once, so by then nothing typed may be seen or thrown away.
    let Ok(quiet) = system::Quiet::begin(sight) else { return Answer::GivenUp };
    // A terminal that cannot be written to cannot be asked either.
    let shown = write!(io::stderr(), "{}", terminal::safe(prompt)).and_then(|()| io::stderr().flush());
    if shown.is_err() {
        return Answer::GivenUp;
    }
    let answer = quiet.listen(deadline);
    if sight == Sight::Unseen || answer == Answer::TooLate {
        // The line end was not seen either.
        let _ = writeln!(io::stderr());
    }
    answer
}

#[cfg(unix)]
mod system {
    use std::io::{self, BufRead as _};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

    use super::{Answer, Deadline, Sight};

    const CTRL_C: u8 = 3;

    /// One line, or as much of it as was there when the person gave up.
    fn read() -> Answer {
        let mut line = Vec::new();
        let mut stdin = io::stdin().lock();
        loop {
            let there = match stdin.fill_buf() {
                Ok([]) | Err(_) => return Answer::GivenUp,
                Ok(there) => there,
            };
            let end = there.iter().position(|byte| matches!(*byte, b'\n' | CTRL_C));
            let how = end.map(|end| there[end]);
            line.extend_from_slice(&there[..end.unwrap_or(there.len())]);
            let used = end.map_or(there.len(), |end| end + 1);
            stdin.consume(used);
            match how {
                None => {}
                Some(CTRL_C) => return Answer::GivenUp,
                Some(_) => break,
            }
        }
        match String::from_utf8(line) {
            Ok(text) => Answer::Line(text.trim_end_matches('\r').to_owned()),
            Err(_) => Answer::GivenUp,
        }
    }

    /// Waits until a line is there; says whether one came in time.
    fn is_ready(deadline: Deadline) -> io::Result<bool> {
        loop {
            let left = deadline.left().map(|left| Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            });
            let stdin = io::stdin();
            match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], left.as_ref()) {
                Ok(ready) => return Ok(ready > 0),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// A terminal that does not show what is to stay unseen, until this is dropped. Then Ctrl-C ends the line instead of
    /// the program, which would leave the terminal as it is.
    pub(super) struct Quiet(Option<Termios>);

    impl Quiet {
        pub(super) fn begin(sight: Sight) -> rustix::io::Result<Self> {
            if sight == Sight::Seen {
                return Ok(Self(None));
            }
            let before = tcgetattr(io::stdin())?;
            let mut quiet = before.clone();
            quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
            quiet.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
            tcsetattr(io::stdin(), OptionalActions::Flush, &quiet)?;
            Ok(Self(Some(before)))
        }

        /// Waits for a line; the terminal is as it was afterwards.
        pub(super) fn listen(self, deadline: Deadline) -> Answer {
            let answer = match is_ready(deadline) {
                Ok(true) => read(),
                Ok(false) => Answer::TooLate,
                Err(_) => Answer::GivenUp,
            };
            drop(self);
            answer
        }
    }

    impl Drop for Quiet {
        fn drop(&mut self) {
            if let Some(before) = &self.0 {
                // A terminal that is gone needs nothing.
                let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
            }
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;

    use super::{Answer, Deadline, Sight};

    /// How a line is read; here the terminal is quiet only while it is.
    pub(super) struct Quiet(Sight);

    impl Quiet {
        pub(super) fn begin(sight: Sight) -> io::Result<Self> {
            Ok(Self(sight))
        }

        /// Waits for as long as it takes: there is no way to stop reading a line.
        pub(super) fn listen(self, deadline: Deadline) -> Answer {
            let line = match self.0 {
                Sight::Unseen => rpassword::read_password(),
                Sight::Seen => {
                    let mut text = String::new();
                    io::stdin().read_line(&mut text).map(|_| text)
                }
            };
            match (line, deadline.left()) {
                (_, Some(left)) if left.is_zero() => Answer::TooLate,
                (Ok(text), _) => Answer::Line(text.trim_end_matches(['\r', '\n']).to_owned()),
                (Err(_), _) => Answer::GivenUp,
            }
        }
    }
}
