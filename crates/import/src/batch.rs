//! Things that wait until a file has been read, a bounded number at a time.
//!
//! Only one entry of a tree is open at a time, so attachments wait for the end of the file that names them. A file may
//! name any number: what does not fit into one batch is found again when the file is read once more.

/// Most that wait together.
const MOST: usize = 4096;
/// Most bytes that wait together.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// What waits after one reading of a file.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    waiting: Vec<T>,
    bytes: usize,
    /// How many the batches before this one took.
    skip: usize,
    seen: usize,
}

impl<T> Batch<T> {
    pub(crate) fn first() -> Self {
        Self { waiting: Vec::new(), bytes: 0, skip: 0, seen: 0 }
    }

    /// Lets one wait if it is its turn; `bytes` is what it roughly holds. Offered in the same order at every reading.
    pub(crate) fn offer(&mut self, bytes: usize, make: impl FnOnce() -> T) {
        let turn = self.seen >= self.skip;
        self.seen += 1;
        let fits = self.waiting.is_empty() || self.waiting.len() < MOST && self.bytes + bytes <= MOST_BYTES;
        // One that does not fit ends the batch: the next begins with it.
        if turn && fits && self.skip + self.waiting.len() + 1 == self.seen {
            self.bytes += bytes;
            self.waiting.push(make());
        }
    }

    /// Those that waited, and the batch after them if anything is left for it.
    pub(crate) fn finish(self) -> (Vec<T>, Option<Self>) {
        let taken = self.skip + self.waiting.len();
        let more = !self.waiting.is_empty() && taken < self.seen;
        (self.waiting, more.then(|| Self { waiting: Vec::new(), bytes: 0, skip: taken, seen: 0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_one_has_its_turn_once_and_in_order() {
        for sizes in [vec![1; 10_000], vec![MOST_BYTES; 3], vec![MOST_BYTES - 1, 2, 1, 1], vec![]] {
            let mut taken = Vec::new();
            let mut next = Some(Batch::first());
            while let Some(mut batch) = next.take() {
                sizes.iter().enumerate().for_each(|(number, bytes)| batch.offer(*bytes, || number));
                let (waited, more) = batch.finish();
                taken.extend(waited);
                next = more;
            }
            assert_eq!(taken, (0..sizes.len()).collect::<Vec<_>>());
        }
    }
}
