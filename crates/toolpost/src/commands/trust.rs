//! `toolpost trust`: what this workspace brings along, shown before it is trusted.
//!
//! Every file is read once. What is recorded is the hash of what was shown, so that a file swapped in between stays
//! untrusted.

use crate::cli::{Flags, Trust};
use crate::config::env::Environment;
use crate::config::{Config, Found, Inventory, Layers, State, Trusted};
use crate::output::{Printer, Tone, one_line};
use serde_json::json;
use toolpost_core::text::nearest;
use toolpost_core::{Code, ToolError};

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment, trust: &Trust) -> u8 {
    match go(printer, flags, environment, trust) {
        Ok(status) => status,
        Err(error) => printer.invocation_error(&error),
    }
}

fn go(printer: &Printer, flags: &Flags, environment: Environment, trust: &Trust) -> Result<u8, ToolError> {
    let config = Config::look(flags, environment)?;
    if let Some(note) = &config.foreign_repository {
        printer.say(Tone::Note, &format!("note: {note}"));
    }
    if let (Ok(_), Some(problem)) = (&config.workspace, &config.layers.trust_problem) {
        return Err(ToolError::new(Code::ReadError, problem.to_string()));
    }
    let inventory = config.inventory()?;
    let mut layers = config.layers;
    if let Some(file) = &trust.revoke {
        let file = file.as_deref().map(plain);
        let revoked = layers.trust.revoke(&inventory.workspace, file)?;
        return revoke(printer, &layers, &inventory, file, &revoked);
    }
    for problem in &layers.problems {
        printer.say(Tone::Error, &format!("broken: {problem}"));
    }
    if trust.list {
        list(printer, &inventory);
        return Ok(0);
    }
    let chosen = choose(&inventory, &trust.files)?;
    let word = Inventory::digest(chosen.iter().copied());
    if trust.shown.as_ref().is_some_and(|shown| *shown != word) {
        return Err(ToolError::new(
            Code::Untrusted,
            "what waits is not what was shown under that word; look again with `toolpost trust`",
        ));
    }
    if !printer.is_json() {
        printer.page(&page(printer, &chosen));
    }
    let agreed: Vec<&Found> = match (flags.yes, printer.can_ask()) {
        (true, _) => chosen.clone(),
        (false, true) => {
            let agrees = |found: &&&Found| printer.agrees(&format!("trust {}?", one_line(&found.path)));
            chosen.iter().filter(agrees).copied().collect()
        }
        (false, false) => Vec::new(),
    };
    let recorded: Vec<Trusted> = agreed.iter().map(|found| found.trusted()).collect();
    if !recorded.is_empty() {
        layers.trust.record(&inventory.workspace, &recorded)?;
    }
    if printer.is_json() {
        let recorded: Vec<&str> = agreed.iter().map(|found| found.path.as_str()).collect();
        printer.json(&json!({
            "workspace": inventory.workspace, "shown": word, "waiting": chosen, "recorded": recorded,
            "refused": inventory.refused,
        }));
    } else {
        say_result(printer, &inventory, &chosen, &agreed, &word, &trust.files);
    }
    let is_left = agreed.is_empty() && !chosen.is_empty() && !printer.can_ask();
    Ok(if is_left { Code::Untrusted.exit_status() } else { 0 })
}

fn say_result(
    printer: &Printer,
    inventory: &Inventory,
    chosen: &[&Found],
    agreed: &[&Found],
    word: &str,
    files: &[String],
) {
    for refused in &inventory.refused {
        let (path, why) = (one_line(&refused.path), one_line(&refused.why));
        printer.say(Tone::Note, &format!("not looked at, never trusted: {path}: {why}"));
    }
    if chosen.is_empty() {
        printer.say(Tone::Note, "nothing in this workspace waits for trust");
    } else if agreed.is_empty() && printer.can_ask() {
        printer.say(Tone::Note, "nothing was trusted");
    } else if agreed.is_empty() {
        let files: String = files.iter().map(|file| format!(" {}", quoted(&one_line(file)))).collect();
        printer.say(
            Tone::Note,
            &format!(
                "nothing was trusted; to trust what is shown: toolpost trust --yes --shown {word}{files}"
            ),
        );
    } else {
        let count = agreed.len();
        let files = if count == 1 { "file" } else { "files" };
        printer.say(
            Tone::Note,
            &format!("trusted {count} {files}; a change makes them wait again, `toolpost trust --revoke` takes it back"),
        );
    }
}

/// The files that wait, or those of them that were named.
fn choose<'a>(inventory: &'a Inventory, files: &[String]) -> Result<Vec<&'a Found>, ToolError> {
    if files.is_empty() {
        return Ok(inventory.waiting().collect());
    }
    let mut chosen: Vec<&Found> = Vec::new();
    for file in files {
        let file = plain(file);
        let found = inventory.files.iter().find(|found| found.path == file);
        match found {
            Some(found) if found.state == State::Trusted => {}
            Some(found) if chosen.iter().any(|known| known.path == found.path) => {}
            Some(found) => chosen.push(found),
            None => {
                let known = inventory.waiting().map(|found| found.path.as_str());
                let advice = match nearest(file, known, 1).first() {
                    Some(near) => format!("did you mean `{near}`"),
                    None => "`toolpost trust --list` shows what does".to_owned(),
                };
                let message = format!("`{file}` does not wait for trust; {advice}");
                return Err(ToolError::new(Code::FileNotFound, message));
            }
        }
    }
    Ok(chosen)
}

fn revoke(
    printer: &Printer,
    layers: &Layers,
    inventory: &Inventory,
    file: Option<&str>,
    revoked: &[String],
) -> Result<u8, ToolError> {
    if let (Some(file), []) = (file, revoked) {
        let known: Vec<&str> = layers.trust.files(&inventory.workspace).collect();
        let known = if known.is_empty() { "nothing is".to_owned() } else { known.join(", ") };
        let message = format!("`{file}` is not trusted; trusted: {known}");
        return Err(ToolError::new(Code::FileNotFound, message));
    }
    match printer.is_json() {
        true => printer.json(&json!({"workspace": inventory.workspace, "revoked": revoked})),
        false if revoked.is_empty() => printer.say(Tone::Note, "nothing was trusted here"),
        false => {
            for file in revoked {
                printer.page(&format!("no longer trusted: {}\n", one_line(file)));
            }
        }
    }
    Ok(0)
}

fn list(printer: &Printer, inventory: &Inventory) {
    if printer.is_json() {
        return printer.json(inventory);
    }
    let all: Vec<&Found> = inventory.files.iter().collect();
    printer.page(&page(printer, &all));
    if all.is_empty() {
        printer.say(Tone::Note, "nothing in this workspace needs trust");
    }
    for refused in &inventory.refused {
        let (path, why) = (one_line(&refused.path), one_line(&refused.why));
        printer.say(Tone::Note, &format!("not looked at, never trusted: {path}: {why}"));
    }
}

fn page(printer: &Printer, files: &[&Found]) -> String {
    let mut page = String::new();
    for found in files {
        let path = printer.bold(&one_line(&found.path));
        page.push_str(&format!("{path} ({}) {}\n", found.kind, standing(found)));
        if !found.is_own {
            page.push_str(&format!("  sha256 {}\n", found.hash));
        }
        for line in &found.brings {
            page.push_str(&format!("  {}\n", one_line(line)));
        }
        for (started, files) in &found.covers {
            page.push_str(&format!(
                "  trusted together with `{}`, which is started with it:\n",
                one_line(started)
            ));
            for (path, print) in files {
                let print = print.strip_prefix("link ").map_or_else(
                    || format!("sha256 {print}"),
                    |target| format!("a link, sha256 of its target {target}"),
                );
                page.push_str(&format!("    {} ({print})\n", one_line(path)));
            }
        }
        for note in &found.notes {
            page.push_str(&format!("  {}\n", one_line(note)));
        }
    }
    page
}

/// How a file stands, as the end of a sentence.
pub(crate) fn standing(found: &Found) -> &'static str {
    let is_of_hosts = found.kind == "MCP servers";
    if found.is_own {
        return match found.state {
            State::Trusted => "starts files of this workspace, which are trusted",
            State::Waiting => "starts files of this workspace, which wait",
            State::Changed => "starts files of this workspace, which have changed since you trusted them",
        };
    }
    match (found.state, found.is_used) {
        (State::Trusted, true) => "is trusted",
        (State::Trusted, false) if is_of_hosts => {
            "is trusted; it is not read unless `mcpFrom` names its program"
        }
        (State::Trusted, false) => "is trusted; this version does nothing with it yet",
        (State::Waiting, true) => "waits",
        (State::Waiting, false) if is_of_hosts => "waits; it is not read unless `mcpFrom` names its program",
        (State::Waiting, false) => "waits; this version does nothing with it yet",
        (State::Changed, true) if !found.notes.is_empty() => {
            "is not trusted any more, because a file that it starts has changed"
        }
        (State::Changed, true) => "has changed since you trusted it, and waits again",
        (State::Changed, false) if is_of_hosts => {
            "has changed since you trusted it; it is not read unless `mcpFrom` names its program"
        }
        (State::Changed, false) => "has changed since you trusted it; this version does nothing with it yet",
    }
}

/// The path as the list has it.
fn plain(file: &str) -> &str {
    file.trim_start_matches("./")
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
