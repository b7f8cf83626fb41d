//! The parts of event delivery: the key beside the store, the way out, and whether somebody delivers.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdpp_access::{Sealer, random_hex};
use pdpp_egress::{Egress, Literals, Loopback, Settings, SystemResolver, TcpTls, UrlPolicy};
use pdpp_events::{Delivering, EventParts, RESPONSE_WINDOW, SecretBox, SecretKey};
use pdpp_store::StoreError;

use crate::Personal;

/// The key webhook secrets are sealed under: in no backup of the store alone.
const KEY_FILE: &str = "events.key";
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
        secrets: secret_box(personal)?,
        delivering,
        response_window: RESPONSE_WINDOW,
    })
}

/// Seals webhook secrets under the directory's key, which is made when it is missing.
pub(crate) fn secret_box(personal: &Personal) -> Result<SecretBox, StoreError> {
    let path = personal.data().join(KEY_FILE);
    let key = match read_key(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_key(personal, &path),
        read => read,
    };
    key.map(|key| SecretBox::new(&key)).map_err(|error| StoreError::Unwritable(error.into()))
}

fn read_key(path: &Path) -> io::Result<SecretKey> {
    let bytes = fs::read(path)?;
    let key = <[u8; 32]>::try_from(bytes);
    key.map(SecretKey::new).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "events.key is not a key"))
}

/// Whoever comes second takes the key of whoever came first: it appears whole, or not at all.
fn make_key(personal: &Personal, path: &Path) -> io::Result<SecretKey> {
    let draft = path.with_extension(format!("key.{}", random_hex(personal.entropy(), 8)));
    let made = write_private(&draft, SecretKey::mint(personal.entropy()).reveal());
    let linked = made.and_then(|()| fs::hard_link(&draft, path));
    let _ = fs::remove_file(&draft);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => read_key(path),
    }
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
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

/// Events are delivered by another process, if one has announced itself.
pub(crate) fn elsewhere(data: &Path) -> Delivering {
    let path: PathBuf = data.join(LOCK_FILE);
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
