//! The time by which a call must have ended.
//!
//! A timer that is set for each call, and taken away after it, wakes the runtime only to be told of it: two system calls, as
//! many as the call itself makes to send and to receive. To put off a timer that is set already takes none. So the timers of
//! calls that have ended are kept, and put off by the next ones; one that nobody puts off any more ends unheard.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Handle, Id};
use tokio::time::{Instant, Sleep, sleep};

/// How many timers are kept, which is how many calls that run together gain from it.
const KEPT: usize = 16;

/// Timers. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deadlines(Arc<Mutex<Vec<Kept>>>);

/// A timer, and the runtime it was made in; it ends only there.
type Kept = (Id, Pin<Box<Sleep>>);

impl Deadlines {
    /// What `work` gives, or nothing when it takes longer than this.
    pub(crate) async fn within<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut timer = self.set(limit);
        let done = tokio::select! {
            biased;
            done = work => done,
            () = timer.as_mut() => return None,
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT {
            kept.push((Handle::current().id(), timer));
        }
        Some(done)
    }

    fn set(&self, limit: Duration) -> Pin<Box<Sleep>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match kept.filter(|(runtime, _)| *runtime == Handle::current().id()) {
            Some((_, mut timer)) => {
                timer.as_mut().reset(Instant::now() + limit);
                timer
            }
            None => Box::pin(sleep(limit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    /// No call ends before its own time, whatever timer it was given.
    #[tokio::test]
    async fn a_timer_that_is_kept_ends_when_the_next_call_says() {
        let deadlines = Deadlines::default();
        let (short, long) = (Duration::from_millis(20), Duration::from_millis(60));
        // Put off, left to end unheard, and set earlier.
        for (kept, idle, limit) in [(short, false, long), (short, true, short), (long, false, short)] {
            assert_eq!(deadlines.within(kept, async { 7 }).await, Some(7));
            assert_eq!(deadlines.0.lock().unwrap().len(), 1);
            if idle {
                sleep(long).await;
            }
            let start = Instant::now();
            assert_eq!(deadlines.within(limit, pending::<()>()).await, None);
            assert!(start.elapsed() >= limit);
            assert!(deadlines.0.lock().unwrap().is_empty());
        }
    }

    #[test]
    fn another_runtime_has_timers_of_its_own() {
        let deadlines = Deadlines::default();
        for _ in 0..2 {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let short = Duration::from_millis(20);
            assert_eq!(runtime.block_on(deadlines.within(short, pending::<()>())), None);
            assert_eq!(runtime.block_on(deadlines.within(short, async { 7 })), Some(7));
        }
    }

    #[tokio::test]
    async fn calls_that_run_together_have_a_timer_each() {
        let deadlines = Deadlines::default();
        let (short, long) = (Duration::from_millis(20), Duration::from_mins(1));
        for _ in 0..2 {
            let late = deadlines.within(short, pending::<()>());
            let quick = deadlines.within(long, async {});
            assert_eq!(tokio::join!(quick, late), (Some(()), None));
        }
    }
}
