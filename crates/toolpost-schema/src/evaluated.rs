//! Which parts of one value the checks of a schema have looked at: what `unevaluatedProperties` and `unevaluatedItems`
//! ask for.

/// Places in an array or in an object, by their order.
#[derive(Default)]
pub(crate) struct Evaluated {
    bits: Vec<u64>,
    all: bool,
}

impl Evaluated {
    pub(crate) fn add(&mut self, place: usize) {
        let word = place / 64;
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= 1 << (place % 64);
    }

    pub(crate) fn add_all(&mut self) {
        self.all = true;
    }

    pub(crate) fn has(&self, place: usize) -> bool {
        self.all || self.bits.get(place / 64).is_some_and(|word| word & (1 << (place % 64)) != 0)
    }

    pub(crate) fn join(&mut self, other: &Evaluated) {
        self.all |= other.all;
        if self.bits.len() < other.bits.len() {
            self.bits.resize(other.bits.len(), 0);
        }
        self.bits.iter_mut().zip(&other.bits).for_each(|(word, other)| *word |= other);
    }
}
