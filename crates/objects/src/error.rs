//! What can go wrong, by what the caller can do about it.

use std::error::Error;
use std::io;

use object_store::client::HttpError;

use crate::transport::Answered;

type Source = Box<dyn Error + Send + Sync>;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum ObjectsError {
    /// The caller asked for something that cannot be: the sentence says what to write instead.
    #[error("{0}")]
    Refused(String),
    /// No object of this name. If the database refers to it, it is lost; asking again does not help.
    #[error("the object store holds no {name}")]
    Missing {
        /// The name.
        name: String,
    },
    /// The store does not answer, or says that it cannot right now. Asking again may help.
    #[error("the object store cannot be reached")]
    Unreachable(#[source] Source),
    /// The store does not take the bytes: it is full, read-only or refuses them. Nothing was stored.
    #[error("the object store does not take these bytes")]
    Unwritable(#[source] Source),
    /// The store refuses our credentials or rights, or has no such bucket. The operator has to act.
    #[error("the object store refuses access")]
    Denied(#[source] Source),
    /// What the store gives is not what was put into it.
    #[error("{name} is damaged: {damage}")]
    Damaged {
        /// The name.
        name: String,
        /// What is wrong with it.
        damage: Damage,
    },
    /// More bytes than an object can have.
    #[error("an object holds at most {limit} bytes")]
    TooLarge {
        /// How many it can have.
        limit: u64,
    },
    /// Whoever knows which objects are wanted could not say; nothing was deleted on their account.
    #[error("it is not known which objects are wanted")]
    Unjudged(#[source] Source),
}

/// How an object differs from what was stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// There are fewer bytes.
    #[error("{found} bytes instead of {expected}")]
    Short {
        /// How many there should be.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// There are more bytes.
    #[error("{found} bytes or more instead of {expected}")]
    Long {
        /// How many there should be.
        expected: u64,
        /// How many there are at least.
        found: u64,
    },
    /// The bytes are others.
    #[error("the bytes have another digest")]
    Content,
    /// The store answers something that is no answer.
    #[error("the answer makes no sense: {0}")]
    Nonsense(String),
}

impl Damage {
    /// The difference between two sizes, if there is one.
    pub(crate) fn of_sizes(expected: u64, found: u64) -> Option<Self> {
        match found.cmp(&expected) {
            std::cmp::Ordering::Less => Some(Self::Short { expected, found }),
            std::cmp::Ordering::Greater => Some(Self::Long { expected, found }),
            std::cmp::Ordering::Equal => None,
        }
    }

    pub(crate) fn of(self, name: impl ToString) -> ObjectsError {
        ObjectsError::Damaged { name: name.to_string(), damage: self }
    }
}

/// What was being done when the store failed: a full disk is no reason not to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Reading,
    Writing,
}

impl Doing {
    /// The error behind what `object_store` gives: its own kinds where they say enough, else what our transport or the
    /// file system said. A failure in which neither had a part is an answer that could not be read.
    pub(crate) fn failed(self, name: impl ToString, error: object_store::Error) -> ObjectsError {
        use object_store::Error as Theirs;
        match &error {
            Theirs::NotFound { .. } => return ObjectsError::Missing { name: name.to_string() },
            Theirs::PermissionDenied { .. } | Theirs::Unauthenticated { .. } => {
                return ObjectsError::Denied(Box::new(error));
            }
            _ => {}
        }
        if let Some(answered) = find::<Answered>(&error) {
            return self.answered(answered.clone(), Box::new(error));
        }
        if let Some(io) = find::<io::Error>(&error) {
            let kind = io.kind();
            if find::<HttpError>(&error).is_none() {
                return self.failed_io(name, kind, Box::new(error));
            }
        }
        if find::<HttpError>(&error).is_some() || matches!(error, Theirs::JoinError { .. }) {
            return ObjectsError::Unreachable(Box::new(error));
        }
        Damage::Nonsense(error.to_string()).of(name)
    }

    pub(crate) fn io(self, name: impl ToString, error: io::Error) -> ObjectsError {
        self.failed_io(name, error.kind(), Box::new(error))
    }

    fn failed_io(self, name: impl ToString, kind: io::ErrorKind, source: Source) -> ObjectsError {
        match (kind, self) {
            (io::ErrorKind::NotFound, _) => ObjectsError::Missing { name: name.to_string() },
            (io::ErrorKind::PermissionDenied, _) => ObjectsError::Denied(source),
            (_, Self::Writing) => ObjectsError::Unwritable(source),
            (_, Self::Reading) => ObjectsError::Unreachable(source),
        }
    }

    fn answered(self, answered: Answered, source: Source) -> ObjectsError {
        match (answered, self) {
            // Insufficient storage: asking again does not help.
            (Answered::Status(507), Self::Writing) => ObjectsError::Unwritable(source),
            (Answered::Status(status), _) if status >= 500 || status == 429 => {
                ObjectsError::Unreachable(source)
            }
            (Answered::Status(_), Self::Writing) => ObjectsError::Unwritable(source),
            (Answered::NoBucket, _) | (Answered::Status(_), Self::Reading) => ObjectsError::Denied(source),
        }
    }
}

/// The first error of this type among the reasons.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use object_store::client::HttpErrorKind;

    use super::*;

    fn generic(source: impl Error + Send + Sync + 'static) -> object_store::Error {
        object_store::Error::Generic { store: "test", source: Box::new(source) }
    }

    fn status(status: u16) -> object_store::Error {
        generic(HttpError::new(HttpErrorKind::Unknown, Answered::Status(status)))
    }

    #[test]
    fn an_error_says_what_can_be_done() {
        use ObjectsError as E;
        assert!(matches!(Doing::Writing.failed("x", status(503)), E::Unreachable(_)));
        assert!(matches!(Doing::Writing.failed("x", status(507)), E::Unwritable(_)));
        assert!(matches!(Doing::Writing.failed("x", status(400)), E::Unwritable(_)));
        assert!(matches!(Doing::Reading.failed("x", status(400)), E::Denied(_)));
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        assert!(matches!(Doing::Writing.failed("x", generic(full())), E::Unwritable(_)));
        assert!(matches!(Doing::Reading.failed("x", generic(full())), E::Unreachable(_)));
        let cut = HttpError::new(HttpErrorKind::Interrupted, io::Error::from(io::ErrorKind::ConnectionReset));
        assert!(matches!(Doing::Writing.failed("x", generic(cut)), E::Unreachable(_)));
        let odd = Doing::Reading.failed("x", generic(crate::NameFault));
        assert!(matches!(odd, E::Damaged { damage: Damage::Nonsense(_), .. }));
    }
}
