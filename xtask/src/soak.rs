//! `soak`: the tests of the guarantees at full count, in release, one at a time. Their figures replace the rows of
//! docs/measurements.md; a guarantee whose test fails keeps its old row.

pub(crate) mod machine;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::executables::{self, Executable};
use crate::metadata::{Metadata, Scope};
use crate::process;
use crate::report::Report;
use table::Row;

const PAGE: &str = "docs/measurements.md";

/// Which guarantees to test.
#[derive(Clone, Copy)]
pub(crate) enum Selection {
    All,
    /// The one with this number.
    Row(u32),
}

impl Selection {
    /// What the names of the wanted tests contain.
    fn filter(self) -> String {
        match self {
            Selection::All => "guarantee_".to_owned(),
            Selection::Row(number) => format!("guarantee_{number:02}"),
        }
    }
}

/// Runs the tests, rewrites the page, and then fails if a test failed.
pub(crate) fn run(root: &Path, selection: Selection) -> Result<()> {
    let metadata = Metadata::load(root, Scope::Workspace)?;
    let build = ["build", "--release", "--workspace", "--bins", "--examples", "--locked"];
    process::run(&mut process::cargo(root, &build))?;
    let executables =
        executables::build(root, &["test", "--release", "--no-run", "--workspace", "--locked"])?;

    let mut results = Results::default();
    for executable in executables.iter().filter(|executable| executable.is_test) {
        run_one(executable, &metadata, &selection.filter(), &mut results)?;
    }
    if results.passed == 0 && results.failures.is_empty() {
        bail!("no test has a name with `{}`", selection.filter());
    }
    let rows = results.rows(&machine::today()?, &machine::facts());
    if !rows.is_empty() {
        write(root, rows)?;
    }
    println!("\n{} passed, {} failed", results.passed, results.failures.len());
    if !results.failures.is_empty() {
        bail!("tests failed: {}", results.failures.join(", "));
    }
    if results.measures.is_empty() {
        bail!("no test printed a line `measure: guarantee N: TEXT`");
    }
    Ok(())
}

fn run_one(executable: &Executable, metadata: &Metadata, filter: &str, results: &mut Results) -> Result<()> {
    let title = executable.title(metadata)?;
    println!("\n-- {title}");
    let mut command = executable.command(metadata)?;
    command.args([filter, "--nocapture", "--test-threads=1"]).env("TOOLPOST_SOAK", "1");
    let mut report = Report::default();
    let mut measures = Vec::new();
    let status = process::stream(&mut command, |line| {
        println!("{line}");
        report.read(line);
        measures.extend(measure(line));
    })?;
    if !report.is_complete || (!status.success() && report.failed == 0) {
        // Nobody knows which test it died in, so none of its figures counts.
        results.failures.push(format!("{title} ({status})"));
        return Ok(());
    }
    results.add(&title, &report, measures);
    Ok(())
}

#[derive(Default)]
struct Results {
    passed: usize,
    failures: Vec<String>,
    measures: BTreeMap<u32, Vec<String>>,
    /// Guarantees of which a test failed.
    broken: BTreeSet<u32>,
}

impl Results {
    fn add(&mut self, title: &str, report: &Report, measures: Vec<(u32, String)>) {
        self.passed += report.passed;
        for name in &report.failures {
            self.failures.push(format!("{title} {name}"));
            self.broken.extend(guarantee_in(name));
        }
        for (number, text) in measures {
            self.measures.entry(number).or_default().push(text);
        }
    }

    fn rows(&self, date: &str, machine: &str) -> Vec<Row> {
        let kept = self.measures.iter().filter(|(number, _)| !self.broken.contains(number));
        let row = |(number, texts): (&u32, &Vec<String>)| Row {
            guarantee: *number,
            figures: texts.join("; "),
            date: date.to_owned(),
            machine: machine.to_owned(),
        };
        kept.map(row).collect()
    }
}

fn write(root: &Path, rows: Vec<Row>) -> Result<()> {
    let path = root.join(PAGE);
    let page = fs::read_to_string(&path).with_context(|| format!("cannot read {PAGE}"))?;
    let page = table::rewrite(&page, rows).with_context(|| format!("cannot rewrite {PAGE}"))?;
    fs::write(&path, page).with_context(|| format!("cannot write {PAGE}"))
}

/// The number and the text of `measure: guarantee N: TEXT`, which may follow the harness's own `test name ... `.
fn measure(line: &str) -> Option<(u32, String)> {
    let (_, rest) = line.split_once("measure: guarantee ")?;
    let (number, text) = rest.split_once(':')?;
    Some((number.trim().parse().ok()?, text.trim().to_owned()))
}

/// The number in the name of a test such as `files::guarantee_03_race`.
fn guarantee_in(name: &str) -> Option<u32> {
    let (_, rest) = name.split_once("guarantee_")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_found_also_after_the_name_of_the_test() {
        assert_eq!(measure("measure: guarantee 3: 0 leaks: ok"), Some((3, "0 leaks: ok".to_owned())));
        let line = "test files::guarantee_03_race ... measure: guarantee 3: 0 leaks";
        assert_eq!(measure(line), Some((3, "0 leaks".to_owned())));
        assert_eq!(measure("measure: guarantee x: 0"), None);
    }

    #[test]
    fn a_row_is_a_filter_with_two_digits() {
        assert_eq!(Selection::Row(3).filter(), "guarantee_03");
        assert_eq!(Selection::Row(12).filter(), "guarantee_12");
    }

    #[test]
    fn a_failing_test_leaves_the_old_row() {
        let mut results = Results::default();
        let report = Report::of("failures:\n    files::guarantee_03_race\n");
        let measures = vec![(3, "bad".into()), (4, "good".into()), (4, "better".into())];
        results.add("one", &report, measures);
        let rows = results.rows("2026-01-02", "2 cores");
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].guarantee, rows[0].figures.as_str()), (4, "good; better"));
        assert_eq!(results.failures, ["one files::guarantee_03_race"]);
    }
}
