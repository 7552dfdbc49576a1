//! Reading what a test executable prints: how many tests passed, how long each took, which failed.

use std::time::Duration;

/// What one test executable reported, line by line.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Report {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// The time of each test that printed one.
    pub(crate) times: Vec<(Duration, String)>,
    /// The names in the closing list of failures.
    pub(crate) failures: Vec<String>,
    /// Whether the closing line was seen: without it the executable died.
    pub(crate) is_complete: bool,
    is_in_failures: bool,
}

impl Report {
    /// The report of a whole output.
    #[cfg(test)]
    pub(crate) fn of(output: &str) -> Report {
        let mut report = Report::default();
        output.lines().for_each(|line| report.read(line));
        report
    }

    /// Takes in one line of output.
    pub(crate) fn read(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed = count(counts, "passed");
            self.failed = count(counts, "failed");
            self.is_complete = true;
            self.is_in_failures = false;
        } else if line == "failures:" {
            self.is_in_failures = true;
            self.failures.clear();
        } else if self.is_in_failures
            && let Some(name) = line.strip_prefix("    ")
        {
            self.failures.push(name.to_owned());
        } else if let Some((name, time)) = timed(line) {
            self.times.push((time, name.to_owned()));
        }
    }
}

/// The number before a word, in `ok. 3 passed; 0 failed; …`.
fn count(counts: &str, word: &str) -> usize {
    let mut parts = counts.split([';', '.']);
    let number = parts.find_map(|part| part.trim().strip_suffix(word));
    number.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// The name and the time in `test name ... ok <0.012s>`.
fn timed(line: &str) -> Option<(&str, Duration)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let (_, time) = rest.rsplit_once('<')?;
    let seconds: f64 = time.strip_suffix("s>")?.parse().ok()?;
    Some((name, Duration::try_from_secs_f64(seconds).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_times_are_read() {
        let report = Report::of(
            "running 2 tests\ntest a::b ... ok <0.500s>\ntest c ... FAILED <1.000s>\n\nfailures:\n\n\
             ---- c stdout ----\n    indented noise\n\nfailures:\n    c\n\n\
             test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n",
        );
        assert_eq!((report.passed, report.failed, report.is_complete), (1, 1, true));
        let half = Duration::from_millis(500);
        assert_eq!(report.times, [(half, "a::b".to_owned()), (half * 2, "c".to_owned())]);
        assert_eq!(report.failures, ["c"]);
    }

    #[test]
    fn an_executable_that_dies_is_incomplete() {
        assert!(!Report::of("running 2 tests\ntest a ... ok <0.001s>\n").is_complete);
    }
}
