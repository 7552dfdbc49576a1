//! What a README says of itself: its first paragraphs, and how the project is used. Badges, pictures and HTML are left out.

use crate::project::tree::Tree;
use toolpost_core::text::tokens;

const NAMES: [&str; 8] = [
    "README.md",
    "Readme.md",
    "readme.md",
    "README.markdown",
    "README.rst",
    "README.txt",
    "README",
    "README.adoc",
];

/// The name of the README of a folder; an empty folder is the root.
pub(super) fn name_in<'a>(tree: &Tree, folder: &str) -> Option<&'a str> {
    tree.first_of(folder, &NAMES)
}

/// The title: the first heading.
pub(super) fn title(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().take(60).collect();
    for (place, line) in lines.iter().enumerate() {
        if let Some(title) = line.strip_prefix("# ") {
            let title = plain(title);
            return (!title.is_empty()).then_some(title);
        }
        let below = lines.get(place + 1).map(|line| line.trim()).unwrap_or_default();
        let is_underlined = below.len() > 2 && below.chars().all(|letter| letter == '=');
        if is_underlined && !line.trim().is_empty() {
            return Some(plain(line));
        }
    }
    None
}

/// The text before the second heading, as paragraphs and items, as many as fit.
pub(super) fn introduction(text: &str, room: usize) -> String {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut paragraph: Vec<String> = Vec::new();
    let mut has_text = false;
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            // What comes after a block of code is no introduction any more.
            if has_text {
                break;
            }
            continue;
        }
        if is_code {
            continue;
        }
        if line.starts_with('#') || is_rule(line) {
            if has_text || !paragraph.is_empty() {
                break;
            }
            continue;
        }
        let shown = plain(line);
        let starts = line.trim_start().starts_with("- ") || line.trim_start().starts_with("* ");
        if shown.is_empty() || starts {
            flush(&mut paragraph, &mut paragraphs);
        }
        if !shown.is_empty() {
            has_text = true;
            paragraph.push(shown);
        }
        if paragraphs.len() > 40 {
            break;
        }
    }
    flush(&mut paragraph, &mut paragraphs);
    let mut shown = String::new();
    for paragraph in paragraphs {
        let is_item = paragraph.starts_with("- ") || paragraph.starts_with("* ");
        let gap = match (
            shown.is_empty(),
            is_item && shown.lines().last().is_some_and(|last| last.starts_with(['-', '*'])),
        ) {
            (true, _) => "",
            (_, true) => "\n",
            _ => "\n\n",
        };
        let more = format!("{gap}{paragraph}");
        if tokens(&shown) + tokens(&more) > room {
            break;
        }
        shown.push_str(&more);
    }
    shown
}

fn flush(paragraph: &mut Vec<String>, paragraphs: &mut Vec<String>) {
    if !paragraph.is_empty() {
        paragraphs.push(paragraph.join(" "));
        paragraph.clear();
    }
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() > 2 && line.chars().all(|letter| matches!(letter, '-' | '=' | '*' | '_'))
}

/// A line without pictures, links and HTML; nothing where only badges stand.
pub(super) fn plain(line: &str) -> String {
    let mut text = String::new();
    // What is this long is no text for people, and looking for the ends of its links would take long.
    let mut rest = line[..line.floor_char_boundary(2_000)].trim();
    let indent = if line.starts_with("  - ") || line.starts_with("  * ") { "  " } else { "" };
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("![") {
            rest = after.split_once(')').map_or("", |(_, after)| after);
            continue;
        }
        if let Some(after) = rest.strip_prefix("[![") {
            // A picture that is a link: `[![alt](picture)](link)`.
            rest = after
                .split_once(")](")
                .and_then(|(_, after)| after.split_once(')'))
                .map_or("", |(_, after)| after);
            continue;
        }
        if let Some(after) = rest.strip_prefix('[') {
            let link =
                after.split_once("](").and_then(|(label, after)| Some((label, after.split_once(')')?.1)));
            if let Some((label, after)) = link.filter(|(label, _)| !label.contains('[')) {
                text.push_str(label);
                rest = after;
                continue;
            }
        }
        let is_tag = |after: &str| {
            after.starts_with(|next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!'))
        };
        if let Some(after) = rest.strip_prefix('<').filter(|after| is_tag(after)) {
            rest = after.split_once('>').map_or("", |(_, after)| after);
            continue;
        }
        text.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let text: String = words.join(" ").chars().filter(|letter| !letter.is_control()).collect();
    match text.chars().any(char::is_alphanumeric) {
        true => format!("{indent}{text}"),
        false => String::new(),
    }
}

/// The first block of commands below a heading about using, installing or building, as the README or the guide for
/// contributors has it.
pub(super) fn usage(tree: &Tree, room: usize) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    names.extend(
        tree.first_of("", &["CONTRIBUTING.md", "DEVELOPMENT.md", "HACKING.md", "docs/CONTRIBUTING.md"]),
    );
    names.extend(name_in(tree, ""));
    let mut shown = String::new();
    for name in names {
        let Some(text) = tree.text(&tree.inside("", name)) else { continue };
        let Some((heading, block)) = first_commands(&text) else { continue };
        let piece = format!("\nFrom {name}, {heading}:\n\n```sh\n{block}```\n");
        if tokens(&shown) + tokens(&piece) <= room {
            shown.push_str(&piece);
        }
    }
    (!shown.is_empty()).then_some(shown)
}

/// The heading of the first block of commands, and at most twelve lines of it.
fn first_commands(text: &str) -> Option<(String, String)> {
    let mut heading = String::new();
    let mut block: Option<String> = None;
    for line in text.lines() {
        if let Some(lines) = &mut block {
            if line.trim_start().starts_with("```") {
                return Some((format!("\"{heading}\""), std::mem::take(lines)));
            }
            if lines.lines().count() < 12 {
                lines.push_str(line);
                lines.push('\n');
            }
            continue;
        }
        if let Some(title) = line.strip_prefix('#') {
            heading = plain(title.trim_start_matches('#'));
            continue;
        }
        let fence = line.trim_start().strip_prefix("```").map(str::trim);
        if let Some(language) = fence {
            let is_shell = matches!(language, "sh" | "bash" | "shell" | "console" | "zsh" | "");
            block = Some(String::new()).filter(|_| is_shell);
            if !is_shell {
                // Another language's block is passed over by waiting for its end.
                heading.push('\u{0}');
            }
        }
        if heading.ends_with('\u{0}') && fence == Some("") {
            heading.pop();
            block = None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn badges_links_and_html_are_left_out() {
        assert_eq!(plain("[![CI](https://x/y.svg)](https://x) ![a](b)"), "");
        assert_eq!(plain("A [tool](https://x) for <b>people</b> & 1 < 2."), "A tool for people & 1 < 2.");
        assert_eq!(plain("<p align=\"center\">"), "");
    }

    #[test]
    fn the_introduction_ends_at_the_next_heading() {
        let text = "# x\n\n[![b](c)](d)\n\nOne\nparagraph.\n\n- a\n- b\n  more\n\n## Use\n\nno\n";
        assert_eq!(title(text).as_deref(), Some("x"));
        assert_eq!(introduction(text, 100), "One paragraph.\n\n- a\n- b more");
        assert_eq!(introduction(text, 4), "One paragraph.");
        assert_eq!(title("My thing\n========\n").as_deref(), Some("My thing"));
    }

    #[test]
    fn the_first_commands_are_found() {
        let text = "# x\n```rust\nfn no() {}\n```\n## Install\n```sh\nmake\nmake test\n```\n";
        assert_eq!(first_commands(text), Some(("\"Install\"".to_owned(), "make\nmake test\n".to_owned())));
        assert_eq!(
            first_commands("# x\n```\ncargo run\n```\n"),
            Some(("\"x\"".to_owned(), "cargo run\n".to_owned()))
        );
    }
}
