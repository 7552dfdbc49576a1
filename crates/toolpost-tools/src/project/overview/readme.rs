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
    tree.first_of(folder, &NAMES).or_else(|| tree.first_linked(folder, &NAMES))
}

/// Blocks of code between lines of backquotes or tildes.
#[derive(Default)]
struct Fences {
    open: Option<(char, usize)>,
}

/// What a line is among blocks of code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineKind<'a> {
    /// Opens a block, with what it says of its language.
    Opens(&'a str),
    Closes,
    Code,
    Text,
}

impl Fences {
    fn line<'a>(&mut self, line: &'a str) -> LineKind<'a> {
        let text = line.trim_start();
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'));
        let length = mark.map_or(0, |mark| text.chars().take_while(|letter| *letter == mark).count());
        let rest = text[length..].trim();
        match (self.open, mark) {
            (Some((open, least)), Some(mark)) if mark == open && length >= least && rest.is_empty() => {
                self.open = None;
                LineKind::Closes
            }
            (Some(_), _) => LineKind::Code,
            (None, Some(mark)) if length >= 3 && !(mark == '`' && rest.contains('`')) => {
                self.open = Some((mark, length));
                LineKind::Opens(rest)
            }
            _ => LineKind::Text,
        }
    }
}

/// The lines of a text without comments of HTML and tags that are longer than a line.
fn without_html(text: &str) -> String {
    let mut shown = String::new();
    let (mut fences, mut in_comment, mut in_tag) = (Fences::default(), false, false);
    for line in text.lines() {
        let mut rest = line;
        if !in_comment && !in_tag && fences.line(line) != LineKind::Text {
            shown.push_str(line);
            shown.push('\n');
            continue;
        }
        loop {
            if in_comment || in_tag {
                let end = if in_comment { "-->" } else { ">" };
                let Some((_, after)) = rest.split_once(end) else { break };
                (in_comment, in_tag, rest) = (false, false, after);
            }
            let opens = rest.find('<').filter(|at| {
                let after = &rest[at + 1..];
                after.starts_with("!--")
                    || after.starts_with(|next: char| next.is_ascii_alphabetic() || next == '/')
                        && !after.contains('>')
            });
            let comment = rest.find("<!--");
            match (comment, opens) {
                (Some(at), _) => {
                    shown.push_str(&rest[..at]);
                    (in_comment, rest) = (true, &rest[at + 4..]);
                }
                (None, Some(at)) => {
                    shown.push_str(&rest[..at]);
                    (in_tag, rest) = (true, "");
                }
                (None, None) => {
                    shown.push_str(rest);
                    break;
                }
            }
        }
        shown.push('\n');
    }
    shown
}

/// The title: the first heading.
pub(super) fn title(text: &str) -> Option<String> {
    let text = without_html(text);
    let lines: Vec<&str> = text.lines().take(60).collect();
    let mut fences = Fences::default();
    for (place, line) in lines.iter().enumerate() {
        if fences.line(line) != LineKind::Text {
            continue;
        }
        if let Some(title) = line.strip_prefix("# ") {
            let title = plain(title);
            // A heading may be a picture.
            if title.is_empty() {
                continue;
            }
            return Some(title);
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
    let mut fences = Fences::default();
    for line in without_html(text).lines() {
        match fences.line(line) {
            LineKind::Text => {}
            // What comes after a block of code is no introduction any more.
            LineKind::Opens(_) if has_text => break,
            _ => continue,
        }
        if is_definition(line) {
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

/// Whether a line says where a link leads, or sets a picture: `[ci]: https://…`, `.. image:: …`.
fn is_definition(line: &str) -> bool {
    let line = line.trim();
    line.starts_with(".. ")
        || line.starts_with(":target:")
        || line.starts_with(":alt:")
        || line
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("]:"))
            .is_some_and(|(label, _)| !label.contains(']'))
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() > 2 && line.chars().all(|letter| matches!(letter, '-' | '=' | '*' | '_'))
}

/// What follows a label in brackets and where it leads, in parentheses or brackets, each of which may hold others.
fn after_link(text: &str) -> Option<&str> {
    let after = after_pair(text, '[', ']')?;
    match after.chars().next() {
        Some('(') => after_pair(after, '(', ')'),
        Some('[') => after_pair(after, '[', ']'),
        _ => Some(after),
    }
}

/// What follows the bracket that closes the first one.
fn after_pair(text: &str, open: char, close: char) -> Option<&str> {
    let mut depth = 0usize;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(&text[at + letter.len_utf8()..]);
            }
        }
    }
    None
}

/// A line without pictures, links and HTML; nothing where only badges stand.
pub(super) fn plain(line: &str) -> String {
    let mut text = String::new();
    // What is this long is no text for people, and looking for the ends of its links would take long.
    let mut rest = line[..line.floor_char_boundary(2_000)].trim();
    let indent = if line.starts_with("  - ") || line.starts_with("  * ") { "  " } else { "" };
    while let Some(letter) = rest.chars().next() {
        if rest.starts_with("![") {
            rest = after_link(&rest[1..]).unwrap_or("");
            continue;
        }
        if rest.starts_with("[![") {
            // A picture that is a link: `[![alt](picture)](link)`, or both by their names.
            rest = after_link(rest).unwrap_or("");
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
        // A link whose end stands elsewhere: `[label][name]`.
        if let Some(after) = rest.strip_prefix('[')
            && let Some((label, after)) =
                after.split_once("][").filter(|(label, _)| !label.contains(['[', ']']))
            && let Some((_, after)) = after.split_once(']')
        {
            text.push_str(label);
            rest = after;
            continue;
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
    let mut fences = Fences::default();
    for line in text.lines() {
        match fences.line(line) {
            LineKind::Opens(language) => {
                let word = language.split([' ', ',', '{']).next().unwrap_or_default();
                let is_shell = matches!(word, "sh" | "bash" | "shell" | "console" | "zsh" | "");
                block = is_shell.then(String::new);
            }
            LineKind::Code => {
                if let Some(lines) = block.as_mut().filter(|lines| lines.lines().count() < 12) {
                    lines.push_str(line);
                    lines.push('\n');
                }
            }
            LineKind::Closes => {
                if let Some(lines) = block.take().filter(|lines| !lines.trim().is_empty()) {
                    return Some((format!("\"{heading}\""), lines));
                }
            }
            LineKind::Text => {
                if let Some(title) = line.strip_prefix('#') {
                    heading = plain(title.trim_start_matches('#'));
                }
            }
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
        assert_eq!(plain("See the [docs][d] and [this], or [a](b)."), "See the docs and [this], or a.");
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
    fn what_stands_in_blocks_is_no_heading() {
        let text =
            "```sh\n# not this\n```\n~~~\n# nor this\n~~~\n# This\n\nText.\n\n````md\n```\n# no\n```\n````\n";
        assert_eq!(title(text).as_deref(), Some("This"));
        assert_eq!(introduction(text, 100), "Text.");
        let text = "# A\n~~~python\n# no\n~~~\n## Build\n```sh\n```\n```bash\n# first\nmake\n```\n";
        assert_eq!(first_commands(text), Some(("\"Build\"".to_owned(), "# first\nmake\n".to_owned())));
    }

    #[test]
    fn badges_of_every_form_are_left_out() {
        for line in [
            "[![Build][ci-badge]][ci-link]",
            "![crates][c] [![docs][d]](https://x)",
            "[![a](https://x/y(1).svg)](https://x/(z))",
        ] {
            assert_eq!(plain(line), "", "{line}");
        }
        let text = "# A\n<!-- two\nlines -->\n<p\n  align=\"center\">\n<img src=\"a\"\n alt=\"b\">\n</p>\n\n[ci]: https://x\n.. image:: https://x\n\nText.\n";
        assert_eq!(introduction(text, 100), "Text.");
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
