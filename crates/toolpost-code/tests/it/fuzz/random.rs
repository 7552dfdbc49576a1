//! Numbers that look like chance and are always the same.

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % count.max(1)
    }
}
