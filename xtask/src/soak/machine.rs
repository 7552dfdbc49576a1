//! What a reader of a measurement should know of the machine and the day.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;

/// Cores, memory and kernel, as far as the system tells.
pub(crate) fn facts() -> String {
    let mut facts = Vec::new();
    if let Ok(cores) = std::thread::available_parallelism() {
        facts.push(format!("{cores} cores"));
    }
    if let Some(memory) = fs::read_to_string("/proc/meminfo").ok().as_deref().and_then(memory) {
        facts.push(memory);
    }
    if let Ok(release) = fs::read_to_string("/proc/sys/kernel/osrelease") {
        facts.push(format!("Linux {}", version(&release)));
    }
    facts.join(", ")
}

/// Today's date in UTC: `2026-01-02`.
pub(crate) fn today() -> Result<String> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    Ok(date(seconds / 86_400))
}

/// The memory in a text such as /proc/meminfo.
fn memory(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(format!("{:.1} GiB", kibibytes / f64::from(1 << 20)))
}

/// The numbers of a kernel's release, without what its builder added.
fn version(release: &str) -> &str {
    let release = release.trim();
    let end = release.find(|character: char| !character.is_ascii_digit() && character != '.');
    &release[..end.unwrap_or(release.len())]
}

/// The date that lies this many days after 1 January 1970.
fn date(days: u64) -> String {
    let mut left = days;
    let mut year = 1970;
    while left >= days_of(year) {
        left -= days_of(year);
        year += 1;
    }
    let february = days_of(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", left + 1)
}

fn days_of(year: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if is_leap { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_453), "2025-12-31");
        assert_eq!(date(20_454), "2026-01-01");
    }

    #[test]
    fn facts_are_read() {
        assert_eq!(memory("MemTotal:        8388608 kB\nMemFree: 1 kB\n").as_deref(), Some("8.0 GiB"));
        assert_eq!(version("6.12.3-build-7\n"), "6.12.3");
        assert_eq!(version("6.12"), "6.12");
    }
}
