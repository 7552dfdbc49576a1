//! `test`: builds every test, runs it with its time taken, and counts. Doc tests are cargo's own business.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::executables::{self, Executable};
use crate::metadata::{Metadata, Scope};
use crate::process;
use crate::report::Report;

/// Which tests to run.
#[derive(Clone, Copy)]
pub(crate) enum Selection<'a> {
    All,
    /// Those whose name contains this text.
    Matching(&'a str),
}

/// Runs the tests; an error if one fails, or if there was none to run.
pub(crate) fn run(root: &Path, selection: Selection) -> Result<()> {
    let metadata = Metadata::load(root, Scope::Workspace)?;
    // A test may run a program or an example of another package, which cargo would not build for it.
    process::run(&mut process::cargo(root, &["build", "--workspace", "--bins", "--examples", "--locked"]))?;
    let executables = executables::build(root, &["test", "--no-run", "--workspace", "--locked"])?;

    let mut total = Total::default();
    for executable in executables.iter().filter(|executable| executable.is_test) {
        let title = executable.title(&metadata)?;
        println!("\n-- {title}");
        let report = run_one(executable, &metadata, selection)?;
        total.add(&title, report);
    }
    print!("{}", total.shown());
    if total.failed > 0 {
        bail!("tests failed: {}", total.failures.join(", "));
    }
    if total.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

fn run_one(executable: &Executable, metadata: &Metadata, selection: Selection) -> Result<Report> {
    let mut command = executable.command(metadata)?;
    // Times are an unstable option of the test harness; the variable opens it in this process only.
    command.args(["-Zunstable-options", "--report-time"]).env("RUSTC_BOOTSTRAP", "1");
    if let Selection::Matching(filter) = selection {
        command.arg(filter);
    }
    let mut report = Report::default();
    let status = process::stream(&mut command, |line| {
        println!("{line}");
        report.read(line);
    })?;
    if !report.is_complete || (!status.success() && report.failed == 0) {
        println!("this executable ended with {status} and counts as one failed test");
        report.failed += 1;
        report.failures.push("(the executable itself)".to_owned());
    }
    Ok(report)
}

/// The sum over all executables.
#[derive(Default)]
struct Total {
    passed: usize,
    failed: usize,
    times: Vec<(Duration, String)>,
    failures: Vec<String>,
}

impl Total {
    fn add(&mut self, title: &str, report: Report) {
        self.passed += report.passed;
        self.failed += report.failed;
        self.times.extend(report.times.into_iter().map(|(time, name)| (time, format!("{title} {name}"))));
        self.failures.extend(report.failures.into_iter().map(|name| format!("{title} {name}")));
    }

    fn shown(&self) -> String {
        let mut times: Vec<_> = self.times.iter().collect();
        times.sort_by(|one, other| other.cmp(one));
        let mut text = "\nthe ten slowest tests\n".to_owned();
        for (time, name) in times.into_iter().take(10) {
            text.push_str(&format!("{:>9.3} s  {name}\n", time.as_secs_f64()));
        }
        text.push_str(&format!("\n{} passed, {} failed\n", self.passed, self.failed));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_come_first_and_the_count_last() {
        let mut total = Total::default();
        for number in 0..12 {
            let output =
                format!("test test_{number} ... ok <0.{number:03}s>\ntest result: ok. 1 passed; 0 failed;");
            total.add("one", Report::of(&output));
        }
        total.add("two", Report::of("failures:\n    x\n\ntest result: FAILED. 0 passed; 1 failed;"));
        let shown = total.shown();
        let lines: Vec<_> = shown.trim().lines().collect();
        assert_eq!(lines[1].trim(), "0.011 s  one test_11");
        assert_eq!(lines[10].trim(), "0.002 s  one test_2");
        assert_eq!(lines[lines.len() - 1], "12 passed, 1 failed");
        assert_eq!(total.failures, ["two x"]);
    }
}
