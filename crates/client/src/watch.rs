//! Watches for an answer before sleeping on it, where answers come quickly.
//!
//! A thread that sleeps is woken by another core, and on a virtual machine that takes a good part of what a server near by
//! needs for a page of records. So a thread that serves one host, and has nothing else to do, looks for the answer again
//! and again for about as long as such a page takes, and only then sleeps. It does so only as long as answers come in that
//! time: a server that is slow or far away is slept for from the next call on.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};

/// How long it watches: the most of a core's time that a call costs by it.
const WATCH: Duration = Duration::from_micros(500);

/// Whether the last answer came within that time. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch(Arc<AtomicBool>);

impl Watch {
    /// Waits for an answer, the first moments awake where that is likely to be enough and takes nothing from others.
    pub(crate) async fn wait_for<F: Future>(&self, answer: F) -> F::Output {
        let start = Instant::now();
        let mut answer = pin!(answer);
        if self.0.load(Ordering::Relaxed) && may_watch() {
            tokio::select! {
                biased;
                answer = &mut answer => return answer,
                () = stay_awake_since(start) => {}
            }
        }
        let answer = answer.await;
        self.0.store(start.elapsed() <= WATCH, Ordering::Relaxed);
        answer
    }
}

/// Each turn looks whether anything came, and runs whatever it was for. Before it does, whoever waits for this core has
/// it: the system may have put the very server here that is waited for.
async fn stay_awake_since(start: Instant) {
    while start.elapsed() < WATCH {
        std::thread::yield_now();
        tokio::task::yield_now().await;
    }
}

/// A runtime of one thread serves one host; in others a thread has other calls to answer. On one core the server could
/// not work meanwhile.
fn may_watch() -> bool {
    static HAS_CORES: LazyLock<bool> =
        LazyLock::new(|| std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1));
    *HAS_CORES && Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer that is there after it was looked for some times.
    async fn answer_after(looks: u32) -> u32 {
        for _ in 0..looks {
            tokio::task::yield_now().await;
        }
        7
    }

    #[tokio::test]
    async fn every_answer_is_given_whether_it_is_watched_for_or_not() {
        let watch = Watch::default();
        for is_watched in [false, true] {
            for looks in [0, 3] {
                watch.0.store(is_watched, Ordering::Relaxed);
                assert_eq!(watch.wait_for(answer_after(looks)).await, 7);
            }
        }
    }

    #[tokio::test]
    async fn a_slow_server_is_not_watched_for_again() {
        let watch = Watch(Arc::new(AtomicBool::new(true)));
        watch.wait_for(tokio::time::sleep(WATCH * 20)).await;
        assert!(!watch.0.load(Ordering::Relaxed));
    }
}
