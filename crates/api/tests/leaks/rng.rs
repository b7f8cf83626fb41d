//! A small deterministic source of choices: one seed, one world.

/// Splitmix64.
#[derive(Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("smaller than a usize")
    }

    /// True in `percent` of a hundred draws.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Each item with this chance.
    pub(crate) fn some<T: Clone>(&mut self, percent: usize, items: &[T]) -> Vec<T> {
        items.iter().filter(|_| self.chance(percent)).cloned().collect()
    }

    /// Each item with this chance, but at least one.
    pub(crate) fn some_of<T: Clone>(&mut self, percent: usize, items: &[T]) -> Vec<T> {
        let chosen = self.some(percent, items);
        if chosen.is_empty() { vec![self.pick(items).clone()] } else { chosen }
    }
}

/// Scrambles a number.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
