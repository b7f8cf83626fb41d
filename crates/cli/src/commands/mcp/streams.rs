//! Standard input and output as the adapter uses them.
//!
//! A host connects both by pipes or sockets, and those can be waited for like any connection. Everything else, a
//! terminal or a file, is read and written by helper threads: a handover that costs more than the rest of a short call.

use tokio::io::{AsyncRead, AsyncWrite};

pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

pub(super) fn input() -> Input {
    #[cfg(unix)]
    if let Some(input) = waitable::input() {
        return input;
    }
    Box::new(tokio::io::stdin())
}

pub(super) fn output() -> Output {
    #[cfg(unix)]
    if let Some(output) = waitable::output() {
        return output;
    }
    Box::new(tokio::io::stdout())
}

#[cfg(unix)]
mod waitable {
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::net::UnixStream as StdUnixStream;

    use rustix::fs::{FileType, Stat, fstat};
    use tokio::net::UnixStream;
    use tokio::net::unix::pipe;

    use super::{Input, Output};

    pub(super) fn input() -> Option<Input> {
        let (own, kind) = unshared(&std::io::stdin())?;
        match kind {
            FileType::Fifo => Some(Box::new(pipe::Receiver::from_owned_fd(own).ok()?)),
            FileType::Socket => Some(Box::new(socket(own)?)),
            _ => None,
        }
    }

    pub(super) fn output() -> Option<Output> {
        let (own, kind) = unshared(&std::io::stdout())?;
        match kind {
            FileType::Fifo => Some(Box::new(pipe::Sender::from_owned_fd(own).ok()?)),
            FileType::Socket => Some(Box::new(socket(own)?)),
            _ => None,
        }
    }

    fn socket(own: OwnedFd) -> Option<UnixStream> {
        let stream = StdUnixStream::from(own);
        stream.set_nonblocking(true).ok()?;
        UnixStream::from_std(stream).ok()
    }

    /// Another handle of a stream, and what it is; none when standard error is the same stream. Waiting is a property of
    /// the stream and not of the handle, so a notice written to a full one would be lost.
    fn unshared(stream: &impl AsFd) -> Option<(OwnedFd, FileType)> {
        let place = |stat: &Stat| (stat.st_dev, stat.st_ino);
        let stat = fstat(stream).ok()?;
        let errors = fstat(std::io::stderr()).ok();
        if errors.is_some_and(|errors| place(&errors) == place(&stat)) {
            return None;
        }
        Some((stream.as_fd().try_clone_to_owned().ok()?, FileType::from_raw_mode(stat.st_mode)))
    }
}
