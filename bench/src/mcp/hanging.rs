//! What a start costs where another server is configured that never answers.

use super::Subject;
use super::client::Client;
use crate::report::{Table, Unit};
use crate::samples::Samples;
use anyhow::Result;
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 200;

const ALONE: &str = "toolpost mcp, no other server";
const HANGING: &str = "toolpost mcp, with a server that hangs";

/// From before the fork to the answer of the greeting, in alternating rounds.
pub(super) fn measure(toolpost: &Path, root: &str) -> Result<Table> {
    let folder = tempfile::tempdir()?;
    let config = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).map(|()| path.display().to_string())
    };
    let without = config("without.toml", "")?;
    // Its tools could be allowed, so that it is started as soon as the greeting is answered.
    let with =
        config("with.toml", "[mcpServers.hangs]\ncommand = 'sleep'\nargs = ['1000']\nhints = 'believed'\n")?;
    let subject = |name: &'static str, config: &str| Subject {
        name,
        program: toolpost.to_owned(),
        arguments: ["--config", config, "mcp", "--workspace", root].map(str::to_owned).to_vec(),
        call: String::new(),
    };
    let subjects = [subject(ALONE, &without), subject(HANGING, &with)];
    let mut measured = [Samples::default(), Samples::default()];
    for round in 0..ROUNDS + 5 {
        for (subject, samples) in subjects.iter().zip(&mut measured) {
            let began = Instant::now();
            let client = Client::start(subject)?;
            if round >= 5 {
                samples.add(began.elapsed());
            }
            drop(client);
        }
    }
    let title = format!("mcp: start to the first answer beside another server, {ROUNDS} alternating rounds");
    let mut table = Table::new(title, Unit::Millis);
    for (subject, samples) in subjects.iter().zip(measured) {
        table.add(subject.name, samples, None);
    }
    table.goal(HANGING, "at most 1 ms longer", |row| row.over_first <= 1.0);
    Ok(table)
}
