//! Measures what a call costs and how long a start takes, beside the alternatives, and says which goals are met.
//!
//! `toolpost-bench PATH_OF_TOOLPOST [call] [start] [--json]`. It never fails because something was slow.

mod call;
mod report;
mod samples;
mod start;

use anyhow::{Context as _, Result, bail};
use report::Table;
use std::path::Path;

const SCENARIOS: [&str; 2] = ["start", "call"];

fn main() -> Result<()> {
    let (flags, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let (toolpost, names) = words.split_first().context("the first argument is the path of `toolpost`")?;
    if let Some(name) = names.iter().find(|name| !SCENARIOS.contains(&name.as_str())) {
        bail!("no scenario `{name}`; there are {}", SCENARIOS.join(", "));
    }
    if let Some(flag) = flags.iter().find(|flag| *flag != "--json") {
        bail!("no flag `{flag}`; there is --json");
    }
    let mut tables: Vec<Table> = Vec::new();
    // Starts come first: what this process has grown to would count as memory of its children.
    for scenario in SCENARIOS {
        if names.is_empty() || names.iter().any(|name| name == scenario) {
            let measured = match scenario {
                "start" => vec![start::measure(Path::new(toolpost))?],
                _ => call::measure()?,
            };
            measured.iter().for_each(|table| println!("{table}"));
            tables.extend(measured);
        }
    }
    if !flags.is_empty() {
        println!("{}", serde_json::to_string(&tables)?);
    }
    Ok(())
}
