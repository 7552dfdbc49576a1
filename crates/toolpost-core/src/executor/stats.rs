//! Counts and times of calls, by tool.

use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// What an executor has done so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// All tools together.
    pub all: ToolStats,
    /// Each tool.
    pub tools: BTreeMap<String, ToolStats>,
}

/// What one tool has done so far. Percentiles are exact to 1 part in 16.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolStats {
    /// Calls that ended.
    pub total: u64,
    /// Of these, those that worked.
    pub success: u64,
    /// And those that did not.
    pub error: u64,
    /// Mean time in milliseconds.
    pub average_ms: f64,
    /// Half of the calls took at most this long.
    pub p50_ms: f64,
    /// 95 of 100.
    pub p95_ms: f64,
    /// 99 of 100.
    pub p99_ms: f64,
}

/// Times in buckets that grow with them: 16 to each doubling, from a microsecond to years.
#[derive(Debug, Clone, Default)]
pub(super) struct Histogram {
    buckets: Vec<u64>,
    total: u64,
    success: u64,
    sum: Duration,
}

impl Histogram {
    pub(super) fn add(&mut self, time: Duration, is_success: bool) {
        let bucket = bucket_of(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.total += 1;
        self.success += u64::from(is_success);
        self.sum = self.sum.saturating_add(time);
    }

    pub(super) fn summary(&self) -> ToolStats {
        ToolStats {
            total: self.total,
            success: self.success,
            error: self.total - self.success,
            average_ms: if self.total == 0 { 0.0 } else { self.sum.as_secs_f64() * 1e3 / self.total as f64 },
            p50_ms: self.percentile(0.50),
            p95_ms: self.percentile(0.95),
            p99_ms: self.percentile(0.99),
        }
    }

    fn percentile(&self, share: f64) -> f64 {
        let wanted = (self.total as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                return upper_bound(bucket) as f64 / 1e3;
            }
        }
        0.0
    }
}

fn bucket_of(micros: u64) -> usize {
    if micros < 16 {
        return micros as usize;
    }
    let doubling = 63 - micros.leading_zeros() as usize;
    let within = (micros >> (doubling - 4)) as usize & 15;
    (doubling - 3) * 16 + within
}

fn upper_bound(bucket: usize) -> u64 {
    if bucket < 16 {
        return bucket as u64;
    }
    let doubling = bucket / 16 + 3;
    let within = (bucket % 16) as u64;
    let width = 1_u64 << (doubling - 4);
    (1_u64 << doubling) + within * width + (width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_near() {
        let mut histogram = Histogram::default();
        for millis in 1..=1000 {
            histogram.add(Duration::from_millis(millis), millis % 10 != 0);
        }
        let stats = histogram.summary();
        assert_eq!((stats.total, stats.success, stats.error), (1000, 900, 100));
        for (found, exact) in [(stats.p50_ms, 500.0), (stats.p95_ms, 950.0), (stats.p99_ms, 990.0)] {
            assert!((found - exact).abs() / exact <= 1.0 / 16.0, "{found} for {exact}");
        }
        assert!((stats.average_ms - 500.5).abs() < 1e-6);
        assert_eq!(Histogram::default().summary(), ToolStats::default());
    }

    #[test]
    fn buckets_are_in_order_and_cover_everything() {
        for micros in (0..5000).chain([u64::MAX / 2, u64::MAX - 1]) {
            let bucket = bucket_of(micros);
            assert!(upper_bound(bucket) >= micros, "{micros}");
            assert!(bucket == 0 || upper_bound(bucket - 1) < micros, "{micros}");
        }
    }
}
