//! A cable between a node and the database that can be cut: nothing is refused, nothing arrives, nobody is told.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

/// How long bytes that were on their way when it was cut are held before the connection is given up.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A loopback port that leads to another one.
#[derive(Debug)]
pub(super) struct Cable {
    pub(super) address: SocketAddr,
    is_cut: Arc<AtomicBool>,
}

impl Cable {
    pub(super) fn lay(to: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no loopback port is free")?;
        let address = listener.local_addr()?;
        let is_cut = Arc::new(AtomicBool::new(false));
        let cut = Arc::clone(&is_cut);
        thread::spawn(move || {
            // Ends with the program: a listener has no other end.
            for near in listener.incoming().filter_map(Result::ok) {
                let cut = Arc::clone(&cut);
                thread::spawn(move || join(&near, to, &cut));
            }
        });
        Ok(Self { address, is_cut })
    }

    pub(super) fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
    }

    /// Connections from before stay dead: what they lost cannot come back.
    pub(super) fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

fn join(near: &TcpStream, to: SocketAddr, cut: &Arc<AtomicBool>) {
    while cut.load(Ordering::SeqCst) {
        thread::sleep(LOOK_EVERY);
    }
    let Ok(far) = TcpStream::connect(to) else { return };
    let (Ok(near_again), Ok(far_again)) = (near.try_clone(), far.try_clone()) else { return };
    let back = Arc::clone(cut);
    let answers = thread::spawn(move || carry(&far_again, &near_again, &back));
    carry(near, &far, cut);
    let _ = answers.join();
}

/// Carries bytes one way until either end closes, or the cable is cut under it.
fn carry(mut from: &TcpStream, mut to: &TcpStream, cut: &AtomicBool) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let mut was_cut = false;
        while cut.load(Ordering::SeqCst) {
            was_cut = true;
            thread::sleep(LOOK_EVERY);
        }
        if was_cut || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
