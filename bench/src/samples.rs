//! Times of one thing measured many times, and the memory it took.

use std::time::Duration;

/// Times, in no order.
#[derive(Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// Half of the times are at most this.
    pub(crate) fn median(&mut self) -> Duration {
        self.percentile(50)
    }

    /// 95 of 100 are.
    pub(crate) fn p95(&mut self) -> Duration {
        self.percentile(95)
    }

    /// 99 of 100 are.
    pub(crate) fn p99(&mut self) -> Duration {
        self.percentile(99)
    }

    fn percentile(&mut self, percent: usize) -> Duration {
        self.0.sort_unstable();
        let place = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(place).copied().unwrap_or_default()
    }
}

/// The most memory this process has had so far, in KiB; 0 where the system does not tell.
pub(crate) fn peak_memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
