//! What was measured, for a person and as JSON.

use crate::process::Runs;
use crate::samples::Samples;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// One scenario under one condition. The first row is what the others are compared with.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Table {
    title: String,
    unit: Unit,
    rows: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// What the figures of a table are.
#[derive(Clone, Copy, Serialize)]
pub(crate) enum Unit {
    #[serde(rename = "µs")]
    Micros,
    #[serde(rename = "ms")]
    Millis,
    /// Made of the times that one took: those of the slowest are the smallest.
    #[serde(rename = "per second")]
    PerSecond,
    #[serde(rename = "MiB")]
    Mebibytes,
}

/// Which of two figures is the better one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Better {
    Less,
    More,
}

/// One thing that was measured.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    name: String,
    pub(crate) median: f64,
    pub(crate) p95: f64,
    p99: f64,
    pub(crate) over_first: f64,
    pub(crate) ratio: f64,
    /// Median of the CPU time, where it is a process.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_kib: Option<u64>,
    goals: Vec<Goal>,
}

/// What was wanted, and whether it was so.
#[derive(Serialize)]
struct Goal {
    text: String,
    met: bool,
}

impl Unit {
    fn of(self, time: Duration) -> f64 {
        match self {
            Unit::Micros => time.as_secs_f64() * 1e6,
            Unit::Millis => time.as_secs_f64() * 1e3,
            Unit::PerSecond => 1.0 / time.as_secs_f64(),
            Unit::Mebibytes => f64::NAN,
        }
    }

    fn better(self) -> Better {
        match self {
            Unit::PerSecond => Better::More,
            Unit::Micros | Unit::Millis | Unit::Mebibytes => Better::Less,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Unit::Micros => "times in µs",
            Unit::Millis => "times in ms",
            Unit::PerSecond => "in a second",
            Unit::Mebibytes => "MiB",
        }
    }
}

impl Table {
    pub(crate) fn new(title: impl Into<String>, unit: Unit) -> Table {
        Table { title: title.into(), unit, rows: Vec::new(), notes: Vec::new() }
    }

    pub(crate) fn add(&mut self, name: &str, mut samples: Samples, peak_kib: Option<u64>) {
        let [median, p95, p99] =
            [samples.median(), samples.p95(), samples.p99()].map(|time| self.unit.of(time));
        self.row(name, [median, p95, p99], peak_kib);
    }

    /// Adds what is no time and was looked at once.
    pub(crate) fn add_figure(&mut self, name: &str, figure: f64) {
        self.row(name, [figure; 3], None);
    }

    fn row(&mut self, name: &str, [median, p95, p99]: [f64; 3], peak_kib: Option<u64>) {
        let first = self.rows.first().map_or(median, |row| row.median);
        self.rows.push(Row {
            name: name.to_owned(),
            median,
            p95,
            p99,
            over_first: median - first,
            ratio: median / first,
            cpu: None,
            peak_kib,
            goals: Vec::new(),
        });
    }

    pub(crate) fn add_runs(&mut self, name: &str, mut runs: Runs) {
        let cpu = self.unit.of(runs.cpu.median());
        self.add(name, runs.times, Some(runs.peak_kib));
        if let Some(row) = self.rows.last_mut() {
            row.cpu = Some(cpu);
        }
    }

    /// States a goal of the row of this name, and whether `is_met` finds it met.
    pub(crate) fn goal(&mut self, name: &str, text: impl Into<String>, is_met: impl FnOnce(&Row) -> bool) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.name == name) {
            let met = is_met(row);
            row.goals.push(Goal { text: text.into(), met });
        }
    }

    /// States that one row is to be so many times better than another, in the median; and better at all in the 99th part.
    pub(crate) fn lead(&mut self, name: &str, other: &str, times: f64) {
        let Some((median, p99)) =
            self.rows.iter().find(|row| row.name == other).map(|row| (row.median, row.p99))
        else {
            return;
        };
        let better = self.unit.better();
        let is_ahead = |ours: f64, theirs: f64, times: f64| match better {
            Better::Less => ours * times <= theirs,
            Better::More => ours >= theirs * times,
        };
        let text = match times {
            1.0 => format!("ahead of {other}"),
            _ if times > 1.0 => format!("{times} × ahead of {other}"),
            _ => format!("at least {times} × {other}"),
        };
        // Where ours need not be ahead, the slowest calls say nothing.
        let is_ahead_in_tail = |row: &Row| times < 1.0 || is_ahead(row.p99, p99, 1.0);
        self.goal(name, text, |row| is_ahead(row.median, median, times) && is_ahead_in_tail(row));
    }

    pub(crate) fn median(&self, name: &str) -> f64 {
        self.rows.iter().find(|row| row.name == name).map_or(f64::NAN, |row| row.median)
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit.word();
        writeln!(f, "{} ({unit})", self.title)?;
        writeln!(
            f,
            "  {:<38} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9} {:>9}  goal",
            "", "median", "p95", "p99", "− first", "ratio", "cpu", "peak MiB"
        )?;
        for row in &self.rows {
            let cpu = row.cpu.map_or("–".to_owned(), |cpu| format!("{cpu:.3}"));
            let peak = row.peak_kib.map_or("–".to_owned(), |kib| format!("{:.1}", kib as f64 / 1024.0));
            let goals: Vec<String> = row
                .goals
                .iter()
                .map(|goal| format!("{}: {}", goal.text, if goal.met { "met" } else { "NOT MET" }))
                .collect();
            writeln!(
                f,
                "  {:<38} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>7.2} {:>9} {:>9}  {}",
                row.name,
                row.median,
                row.p95,
                row.p99,
                row.over_first,
                row.ratio,
                cpu,
                peak,
                goals.join("; ")
            )?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "  {note}"))
    }
}
