//! What is known of a project, as a model reads it.

use super::facts::{Command, Evident, Facts, Purpose};
use super::languages::Language;
use crate::one_line;

/// Maximum number of items of one kind that are shown.
const MOST_SHOWN: usize = 12;

/// All facts, each with its evidence.
pub(super) fn detected(facts: &Facts, languages: &[Language], note: &str) -> String {
    let mut text = String::new();
    let mut section = |heading: &str, lines: Vec<String>| {
        if lines.is_empty() {
            return;
        }
        text.push_str(&format!("{heading}:\n"));
        for line in lines.iter().take(MOST_SHOWN) {
            text.push_str(&format!("  {}\n", one_line(line)));
        }
        if lines.len() > MOST_SHOWN {
            text.push_str(&format!("  and {} more\n", lines.len() - MOST_SHOWN));
        }
    };
    section("languages", languages.iter().map(language).collect());
    section("package managers", evident(&facts.package_managers));
    section("build tools", evident(&facts.build_tools));
    section("frameworks", evident(&facts.frameworks));
    section(
        "workspaces",
        facts
            .workspaces
            .iter()
            .map(|one| {
                let members: Vec<&str> = one.members.iter().take(MOST_SHOWN).map(String::as_str).collect();
                let more = match one.members.len().saturating_sub(MOST_SHOWN) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let count = one.members.len();
                let names = members.join(", ");
                format!("{} in {} ({count} members: {names}{more})  [{}]", one.kind, one.folder, one.evidence)
            })
            .collect(),
    );
    section("commands", facts.commands.iter().map(command).collect());
    section("entry points", evident(&facts.entry_points));
    section("manifests that cannot be read", evident(&facts.problems));
    if text.is_empty() {
        text.push_str("nothing here says what the project is: no manifest and no source files\n");
    }
    text.push_str(note);
    text
}

fn language(language: &Language) -> String {
    format!("{} ({} files, {} %)", language.name, language.files, language.percent)
}

fn evident(list: &[Evident]) -> Vec<String> {
    list.iter().map(|one| format!("{}  [{}]", one.name, one.evidence)).collect()
}

fn command(command: &Command) -> String {
    let folder = match command.folder.as_str() {
        "." => String::new(),
        folder => format!("  in {folder}"),
    };
    format!("{}: {}{folder}  [{}]", command.purpose.word(), command.command, command.evidence)
}

/// The commands that a newcomer needs, by purpose: those of the root or, where it has none, those of the folders near it.
pub(super) fn usual_commands<'a>(facts: &'a Facts, root: &str) -> Vec<(Purpose, Vec<&'a Command>)> {
    let has_own = facts.commands.iter().any(|command| command.folder == root);
    let mut purposes: Vec<(Purpose, Vec<&Command>)> = Vec::new();
    for command in &facts.commands {
        let is_wanted = match has_own {
            true => command.folder == root,
            false => command.folder.matches('/').count() < 2,
        };
        match purposes.iter_mut().find(|(purpose, _)| *purpose == command.purpose) {
            Some((_, commands)) if is_wanted && commands.len() < 4 => commands.push(command),
            None if is_wanted => purposes.push((command.purpose, vec![command])),
            _ => {}
        }
    }
    purposes.sort_by_key(|(purpose, _)| *purpose);
    purposes
}
