//! The parts of an introduction, each within its share of the tokens.

mod about;
mod parts;
mod readme;

use super::extract_conventions::{conventions_of_text, line};
use super::facts::Facts;
use super::get_project_overview::Section;
use super::languages::languages;
use super::manifest;
use super::report::usual_commands;
use super::tree::Tree;
use toolpost_core::Context;
use toolpost_core::code::{Inquiry, SymbolQuery};
use toolpost_core::text::tokens;

/// A heading, its share of the tokens, and who writes it within a number of them.
type Part<'a> = (&'a str, usize, &'a dyn Fn(usize) -> String);

/// An introduction names what to begin with; the map has the rest.
const MOST_OF_MAP: usize = 500;

/// Title and sections of an introduction of at most so many tokens.
pub(super) fn overview(ctx: &Context, tree: &Tree, most: usize) -> (String, Vec<Section>) {
    let facts = manifest::facts(tree);
    let title = about::title(tree, &facts);
    // Headings and the title cost something too.
    let mut room = most.saturating_sub(tokens(&title) + tokens(&tree.note()) + 20);
    let mut sections = Vec::new();
    // What matters most is written first, and gets what it needs of its share; what it leaves is for the others.
    let plan: [Part<'_>; 6] = [
        ("What it is", 20, &|room| about::what_it_is(tree, &facts, room)),
        ("How to build, test and run", 14, &|room| commands(tree, &facts, room)),
        ("Layout", 30, &|room| parts::layout(tree, &facts, room)),
        ("Most important symbols", 22, &|room| map(ctx, tree, room.min(MOST_OF_MAP))),
        ("How it is written", 10, &|room| written(tree, room)),
        ("Read next", 4, &|room| parts::read_next(tree, room)),
    ];
    let mut shares: usize = plan.iter().map(|(_, share, _)| share).sum();
    for (heading, share, write) in plan {
        let own = room * share / shares.max(1);
        shares -= share;
        let text = fitted(write(own.saturating_sub(8)).trim_end(), own);
        if text.is_empty() {
            continue;
        }
        room = room.saturating_sub(tokens(&text) + 8);
        sections.push(Section { heading: heading.to_owned(), text });
    }
    // A reader wants the layout before the commands.
    if let Some(place) =
        sections.iter().position(|section| section.heading == "Layout").filter(|place| *place > 1)
    {
        sections.swap(1, place);
    }
    (title, sections)
}

/// As many whole lines of a text as fit.
fn fitted(text: &str, most: usize) -> String {
    if tokens(text) <= most {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let (mut low, mut high) = (0, lines.len());
    while high - low > 1 {
        let middle = low.midpoint(high);
        match tokens(&lines[..middle].join("\n")) <= most {
            true => low = middle,
            false => high = middle,
        }
    }
    let mut kept = lines[..low].join("\n");
    // A block of code that was opened is closed, or goes if nothing of it fits.
    let is_open =
        |text: &str| text.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1;
    if is_open(&kept) && kept.lines().last().is_some_and(|line| line.trim_start().starts_with("```")) {
        kept.truncate(kept.trim_end().rfind('\n').unwrap_or(0));
    }
    if kept.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1 {
        kept.push_str("\n```");
    }
    kept
}

fn commands(tree: &Tree, facts: &Facts, room: usize) -> String {
    let mut text = String::new();
    let purposes = usual_commands(facts, &tree.root);
    let width = purposes
        .iter()
        .flat_map(|(_, commands)| commands)
        .map(|one| one.command.len())
        .max()
        .unwrap_or(0)
        .min(44);
    for (purpose, commands) in purposes {
        for command in commands {
            let folder = match command.folder.as_str() {
                folder if folder == tree.root => String::new(),
                folder => format!(" in {folder}"),
            };
            text.push_str(&format!("{:width$}  # {}{folder}\n", command.command, purpose.word()));
        }
    }
    let mut shown = match text.is_empty() {
        true => String::new(),
        false => format!("```sh\n{text}```\n"),
    };
    let rest = room.saturating_sub(tokens(&shown));
    if let Some(block) = readme::usage(tree, rest) {
        shown.push_str(&block);
    }
    shown
}

fn map(ctx: &Context, tree: &Tree, room: usize) -> String {
    let Ok(engine) = ctx.code() else { return String::new() };
    let shows = |file: &str| ctx.withheld(file).is_none();
    let query = SymbolQuery { path: tree.root.clone(), limit: room / 5 + 1, ..SymbolQuery::default() };
    let Ok((mut symbols, _)) = engine.map(&Inquiry { ctx, shows: &shows }, &query, &[]) else {
        return String::new();
    };
    symbols.retain(|symbol| shows(&symbol.file));
    let (drawn, count) = crate::code::fitted(ctx, &symbols, room.saturating_sub(6));
    if count == 0 || drawn.trim().is_empty() { String::new() } else { format!("```\n{drawn}```") }
}

fn written(tree: &Tree, room: usize) -> String {
    let main = languages(tree).into_iter().next().map(|language| language.name);
    let conventions = conventions_of_text(tree);
    let topics = [
        "indentation",
        "line length",
        "quotes",
        "semicolons",
        "test layout",
        "error handling",
        "import order",
    ];
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for topic in topics {
        let own = conventions.iter().find(|one| {
            one.topic == topic && (one.language == "all" || Some(&one.language) == main.as_ref())
        });
        let Some(own) = own else { continue };
        let shown = format!("- {}", line(own));
        used += tokens(&shown);
        if used > room {
            break;
        }
        lines.push(shown);
    }
    lines.join("\n")
}
