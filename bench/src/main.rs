//! Measures what a call costs and how long a start takes, beside the alternatives, and says which goals are met.
//!
//! `toolpost-bench PATH_OF_TOOLPOST [start] [shell] [mcp] [search] [warm] [files] [store] [kernel] [code] [call] [--json] [--corpus=DIR]
//! [--rg=PATH] [--fd=PATH] [--beside=PATH]`. It never fails because something was slow. `mcp --beside=PATH` compares two builds of
//! `toolpost` in one run, in place of the peers.

mod call;
mod code;
mod files;
mod kernel;
mod mcp;
mod places;
mod process;
mod report;
mod samples;
mod search;
mod shell;
mod start;
mod store;
mod warm;

use anyhow::{Context as _, Result, bail};
use places::Places;
use report::Table;
use std::path::Path;

const SCENARIOS: [&str; 10] =
    ["start", "shell", "mcp", "search", "warm", "files", "store", "kernel", "code", "call"];

fn main() -> Result<()> {
    toolpost_process::launcher::run_if_asked();
    let (flags, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let first = flags.first().and_then(|flag| flag.split_once('='));
    if let (Some((warm::SERVE, subject)), [corpus]) = (first, words.as_slice()) {
        return warm::serve(subject, corpus);
    }
    if let Some((code::PART, name)) = first {
        return code::part(name, &words);
    }
    if let Some((store::WORK, url)) = first {
        return store::work(url, &words);
    }
    if let Some((kernel::RUNS, url)) = first {
        return kernel::runs(url);
    }
    if flags.first().is_some_and(|flag| flag == mcp::fixed::SERVE) {
        return mcp::fixed::serve();
    }
    let (toolpost, names) = words.split_first().context("the first argument is the path of `toolpost`")?;
    if let Some(name) = names.iter().find(|name| !SCENARIOS.contains(&name.as_str())) {
        bail!("no scenario `{name}`; there are {}", SCENARIOS.join(", "));
    }
    let mut as_json = false;
    let mut places = Places::default();
    for flag in &flags {
        match flag.split_once('=') {
            None if flag == "--json" => as_json = true,
            Some(("--corpus", path)) => places.corpus = Some(path.into()),
            Some(("--rg", path)) => places.rg = Some(path.into()),
            Some(("--fd", path)) => places.fd = Some(path.into()),
            Some(("--beside", path)) => places.beside = Some(path.into()),
            _ => {
                bail!(
                    "no flag `{flag}`; there are --json, --corpus=DIR, --rg=PATH, --fd=PATH and --beside=PATH"
                )
            }
        }
    }
    let mut tables: Vec<Table> = Vec::new();
    // Starts come first: what this process has grown to would count as memory of its children.
    for scenario in SCENARIOS {
        if names.is_empty() || names.iter().any(|name| name == scenario) {
            let mut hand_on = |table: Table| {
                println!("{table}");
                tables.push(table);
            };
            match scenario {
                "start" => hand_on(start::measure(Path::new(toolpost))?),
                "shell" => shell::measure(&mut hand_on)?,
                "mcp" => mcp::measure(Path::new(toolpost), &places, &mut hand_on)?,
                "warm" => warm::measure(&places)?.into_iter().for_each(hand_on),
                "files" => files::measure(Path::new(toolpost), &mut hand_on)?,
                "store" => store::measure(&mut hand_on)?,
                "kernel" => kernel::measure(&mut hand_on)?,
                "code" => code::measure(Path::new(toolpost), &places, &mut hand_on)?,
                "search" => search::measure(Path::new(toolpost), &places, &mut hand_on)?,
                _ => call::measure()?.into_iter().for_each(hand_on),
            }
        }
    }
    if as_json {
        println!("{}", serde_json::to_string(&tables)?);
    }
    Ok(())
}
