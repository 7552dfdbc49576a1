//! A ring buffer of fixed size, and a small table of counters over it.

use std::collections::HashMap;
use std::fmt;

/// Keeps the last `N` values; older ones fall out.
pub struct Ring<T, const N: usize> {
    items: [Option<T>; N],
    head: usize,
    len: usize,
}

impl<T: Clone, const N: usize> Ring<T, N> {
    pub fn new() -> Self {
        Self { items: std::array::from_fn(|_| None), head: 0, len: 0 }
    }

    pub fn push(&mut self, value: T) -> Option<T> {
        let at = (self.head + self.len) % N;
        if self.len == N {
            let old = self.items[self.head].replace(value);
            self.head = (self.head + 1) % N;
            return old;
        }
        self.items[at] = Some(value);
        self.len += 1;
        None
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).filter_map(move |index| {
            let at = (self.head + index) % N;
            self.items[at].as_ref()
        })
    }

    pub fn is_full(&self) -> bool {
        self.len == N
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    Value { name: String, at: u64, value: f64 },
    Gap { from: u64, to: u64 },
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reading::Value { name, at, value } => write!(f, "{name}@{at} = {value:.3}"),
            Reading::Gap { from, to } => write!(f, "no data from {from} to {to}"),
        }
    }
}

pub fn summary<const N: usize>(ring: &Ring<Reading, N>) -> HashMap<String, (u32, f64)> {
    let mut table: HashMap<String, (u32, f64)> = HashMap::new();
    for reading in ring.iter() {
        if let Reading::Value { name, value, .. } = reading {
            let entry = table.entry(name.clone()).or_default();
            entry.0 += 1;
            entry.1 += value;
        }
    }
    for (_, (count, total)) in table.iter_mut() {
        if *count > 0 {
            *total /= f64::from(*count);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_values_fall_out() {
        let mut ring: Ring<u32, 2> = Ring::new();
        assert_eq!(ring.push(1), None);
        assert_eq!(ring.push(2), None);
        assert_eq!(ring.push(3), Some(1));
        assert!(ring.is_full(), "two of two");
    }
}
