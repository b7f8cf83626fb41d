//! The parts of event delivery: the way out, and whether somebody delivers.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdpp_access::Sealer;
use pdpp_egress::{Egress, Literals, Loopback, Settings, SystemResolver, TcpTls, UrlPolicy};
use pdpp_events::{Delivering, EventParts, RESPONSE_WINDOW};
use pdpp_store::StoreError;

use crate::Personal;

/// Held by whoever delivers.
const LOCK_FILE: &str = "serving.lock";
/// Calls to receivers at one time; more than the worker makes, because creating a subscription looks a host up.
const MAX_CALLS: usize = 48;

/// What desk and worker of a data directory are made from.
pub(crate) async fn parts(
    personal: &Personal,
    delivering: Delivering,
    loopback: Loopback,
) -> Result<EventParts, StoreError> {
    let store = personal.store();
    let policy = UrlPolicy { loopback, literals: Literals::Refused };
    let settings = Settings { policy, max_calls: MAX_CALLS, ..Settings::default() };
    let egress =
        Egress::new(settings, Arc::new(SystemResolver::default()), Arc::new(TcpTls::with_native_roots()));
    let (clock, entropy) = personal.outside();
    Ok(EventParts {
        sealer: Sealer::new(&store.sealing_key().await?),
        store,
        egress: Arc::new(egress),
        clock,
        entropy,
        secrets: personal.webhook_secrets()?,
        delivering,
        response_window: RESPONSE_WINDOW,
    })
}

/// Says to other processes that events are delivered, for as long as it lives; the system takes it back from whoever
/// dies.
#[derive(Debug)]
pub(crate) struct Serving {
    _lock: File,
}

impl Serving {
    pub(crate) fn announce(data: &Path) -> Result<Self, StoreError> {
        let lock = || -> io::Result<File> {
            let file = open_lock(&data.join(LOCK_FILE))?;
            // Several servers may deliver side by side.
            file.lock_shared()?;
            Ok(file)
        };
        lock().map(|lock| Self { _lock: lock }).map_err(|error| StoreError::Unwritable(error.into()))
    }
}

/// Events are delivered by another process, if one has announced itself in the directory. Over a database any node may,
/// and none can be seen from here: what is asked for waits in the store until one does.
pub(crate) fn elsewhere(personal: &Personal) -> Delivering {
    if personal.directory("serve").is_err() {
        return Delivering::Elsewhere(Arc::new(|| true));
    }
    let path: PathBuf = personal.data().join(LOCK_FILE);
    Delivering::Elsewhere(Arc::new(move || {
        let Ok(file) = File::open(&path) else { return false };
        matches!(file.try_lock(), Err(TryLockError::WouldBlock))
    }))
}

fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
