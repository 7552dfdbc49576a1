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

/// What times are given in.
#[derive(Clone, Copy, Serialize)]
pub(crate) enum Unit {
    #[serde(rename = "µs")]
    Micros,
    #[serde(rename = "ms")]
    Millis,
}

/// One thing that was measured.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    name: String,
    pub(crate) median: f64,
    p95: f64,
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
        }
    }

    fn word(self) -> &'static str {
        match self {
            Unit::Micros => "µs",
            Unit::Millis => "ms",
        }
    }
}

impl Table {
    pub(crate) fn new(title: impl Into<String>, unit: Unit) -> Table {
        Table { title: title.into(), unit, rows: Vec::new(), notes: Vec::new() }
    }

    pub(crate) fn add(&mut self, name: &str, mut samples: Samples, peak_kib: Option<u64>) {
        let (median, p95) = (self.unit.of(samples.median()), self.unit.of(samples.p95()));
        let first = self.rows.first().map_or(median, |row| row.median);
        self.rows.push(Row {
            name: name.to_owned(),
            median,
            p95,
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
        writeln!(f, "{} (times in {unit})", self.title)?;
        writeln!(
            f,
            "  {:<38} {:>9} {:>9} {:>9} {:>7} {:>9} {:>9}  goal",
            "", "median", "p95", "− first", "ratio", "cpu", "peak MiB"
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
                "  {:<38} {:>9.3} {:>9.3} {:>9.3} {:>7.2} {:>9} {:>9}  {}",
                row.name,
                row.median,
                row.p95,
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
