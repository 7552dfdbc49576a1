//! Bars of time that mean the same on a quiet machine and on a busy one.

use std::time::Duration;

/// How many times longer everything takes, because others use the processors too; 1 on a quiet machine.
pub(crate) fn slowness() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut fields = text.split_whitespace();
    let lately: f64 = fields.next().and_then(|field| field.parse().ok()).unwrap_or(0.0);
    let now: f64 = fields.nth(2).and_then(|field| field.split('/').next()?.parse().ok()).unwrap_or(0.0);
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    // One more for what has only just begun.
    ((lately.max(now) + 1.0) / processors * 1.5).max(1.0)
}

/// The bar, stretched by how busy the machine is.
pub(crate) fn stretched(bar: Duration) -> Duration {
    bar.mul_f64(slowness())
}
