//! `hosts`: runs the tests of the agent hosts and writes their table into the guide. The tests install the hosts, play their
//! model and judge what it is sent; this only shows what they found.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::executables;
use crate::metadata::{Metadata, Scope};
use crate::process;
use crate::report::Report;
use crate::soak::machine;

const PAGE: &str = "docs/guide/mcp.md";
const BEGIN: &str = "<!-- hosts:begin -->\n";
const END: &str = "<!-- hosts:end -->";
const HEAD: &str = "| host | version | date | text | output | error | edit | picture | cancel | install |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

/// The columns behind the date.
const ANSWERS: usize = 7;

/// What the names of the tests contain.
const FILTER: &str = "hosts::guarantee_42";

/// Runs the tests, prints the table and writes it if each host is as it should be; an error otherwise.
pub(crate) fn run(root: &Path) -> Result<()> {
    let metadata = Metadata::load(root, Scope::Workspace)?;
    let mut command = executables::program_tests(root)?.command(&metadata)?;
    // One after another, so that no line is cut by another; all of them, and not only those of every run.
    command.args([FILTER, "--nocapture", "--test-threads=1"]).env("TOOLPOST_SOAK", "1");
    let mut report = Report::default();
    let mut hosts = Vec::new();
    let status = process::stream(&mut command, |line| {
        println!("{line}");
        report.read(line);
        hosts.extend(host(line));
    })?;
    let page = fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let table = table(&in_order(hosts, &page), &machine::today()?);
    println!("\n{table}");
    if !status.success() || report.failed > 0 || report.passed == 0 {
        bail!("{} passed, {} failed: {}", report.passed, report.failed, report.failures.join(", "));
    }
    let page = rewrite(&page, &table).with_context(|| format!("cannot rewrite {PAGE}"))?;
    fs::write(root.join(PAGE), page).with_context(|| format!("cannot write {PAGE}"))
}

/// What a test found out about one host.
#[derive(Debug, PartialEq)]
struct Host {
    name: String,
    version: String,
    /// What the columns say.
    answers: Vec<String>,
}

/// The host of a line `host: NAME VERSION ANSWER…`, divided by tabs, which may follow the harness's own `test name ... `.
fn host(line: &str) -> Option<Host> {
    let (_, row) = line.split_once("host: ")?;
    let mut cells = row.split('\t').map(|cell| cell.trim().to_owned());
    let (name, version) = (cells.next()?, cells.next()?);
    let answers: Vec<String> = cells.collect();
    let is_row = answers.len() == ANSWERS && answers.iter().all(|answer| !answer.is_empty());
    is_row.then_some(Host { name, version, answers })
}

/// The hosts in the order in which the page has them; new ones come last.
fn in_order(mut hosts: Vec<Host>, page: &str) -> Vec<Host> {
    hosts.sort_by_key(|host| page.find(&format!("| `{}` |", host.name)).unwrap_or(usize::MAX));
    hosts
}

fn table(hosts: &[Host], date: &str) -> String {
    let row = |host: &Host| {
        format!("| `{}` | {} | {date} | {} |\n", host.name, host.version, host.answers.join(" | "))
    };
    format!("{HEAD}{}", hosts.iter().map(row).collect::<String>())
}

/// The page with this table between its markers.
fn rewrite(page: &str, table: &str) -> Result<String> {
    let (before, rest) = page.split_once(BEGIN).with_context(|| format!("no line `{}`", BEGIN.trim()))?;
    let (_, after) =
        rest.split_once(END).with_context(|| format!("no line `{END}` below the first marker"))?;
    Ok(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "host: @a/b\t1.2.3\tyes\tyes, twice\tyes\tyes\tno: it has none\tyes\tyes";

    #[test]
    fn a_row_is_read_also_after_the_name_of_the_test() {
        let expected = Host {
            name: "@a/b".to_owned(),
            version: "1.2.3".to_owned(),
            answers: ["yes", "yes, twice", "yes", "yes", "no: it has none", "yes", "yes"]
                .map(str::to_owned)
                .to_vec(),
        };
        assert_eq!(host(ROW).as_ref(), Some(&expected));
        assert_eq!(host(&format!("test x ... {ROW}")), Some(expected));
        for line in ["host: a", "host: a\t1\tyes\tyes", "host: a\t1\t\t\t\t\t\t\tyes", "the ghost: a 1 b c d"]
        {
            assert_eq!(host(line), None, "{line}");
        }
    }

    #[test]
    fn the_table_replaces_the_older_one_and_keeps_its_order() {
        let page = format!("one\n{BEGIN}{HEAD}| `b` | 1 | 2026-01-01 | no |\n{END}\ntwo\n");
        let rows = ["a", "b"].map(|name| ROW.replace("@a/b", name));
        let hosts = rows.iter().filter_map(|line| host(line)).collect();
        let table = table(&in_order(hosts, &page), "2026-01-02");
        let row = |name: &str| {
            format!(
                "| `{name}` | 1.2.3 | 2026-01-02 | yes | yes, twice | yes | yes | no: it has none | yes | yes |\n"
            )
        };
        let rows = row("b") + &row("a");
        assert_eq!(rewrite(&page, &table).unwrap(), format!("one\n{BEGIN}{HEAD}{rows}{END}\ntwo\n"));
        assert!(rewrite("no markers", &table).is_err());
    }

    #[test]
    fn the_page_of_this_repository_can_be_rewritten() {
        let page = include_str!("../../docs/guide/mcp.md");
        assert!(rewrite(page, "x\n").unwrap().contains("x\n<!-- hosts:end -->"));
    }
}
