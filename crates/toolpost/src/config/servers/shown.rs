//! What a server would start or reach, in lines for whoever decides whether to trust it.

use super::entry::{Entry, Written};
use super::expand::wanted;
use std::collections::BTreeSet;

impl Entry {
    /// What it would start or reach, and what it would be handed, as it is written; values of variables and headers are
    /// not shown.
    pub(crate) fn brings(&self) -> Vec<String> {
        let name = visible(&self.name);
        let way = self.format.words().way;
        let mut lines = Vec::new();
        match &self.reach {
            Err(why) => lines.push(format!("the server `{name}`, which cannot be used: {}", visible(why))),
            Ok(Written::Stdio { words, environment, handed_on, file, cwd }) => {
                let line: Vec<String> = words.iter().map(|word| quoted(&visible(word))).collect();
                lines.extend(folded(&format!("the server `{name}`, started with `{}`", line.join(" "))));
                lines.extend(
                    cwd.iter().flat_map(|cwd| folded(&format!("  in the folder `{}`", visible(cwd)))),
                );
                lines
                    .extend(listed("  with the variables", environment.iter().map(|(name, _)| name.clone())));
                let texts = words.iter().chain(environment.iter().map(|(_, value)| value));
                let wanted = texts.flat_map(|text| wanted(way, text)).chain(handed_on.iter().cloned());
                let file = file.iter().map(|file| format!("file:{file}"));
                lines.extend(listed("  it is handed your", wanted.chain(file)));
            }
            Ok(Written::Http { url, headers, from_variables }) => {
                lines.extend(folded(&format!("the server `{name}` at {}", visible(url))));
                lines.extend(listed("  with the headers", headers.iter().map(|(name, _)| name.clone())));
                let texts = headers.iter().map(|(_, value)| value).chain([url]);
                let wanted = texts.flat_map(|text| wanted(way, text));
                let variables = from_variables.iter().map(|(_, _, variable)| variable.clone());
                lines.extend(listed("  it is handed your", wanted.chain(variables)));
            }
        }
        lines
    }
}

/// A text over several lines: whoever decides must see the end of a long one too.
fn folded(text: &str) -> Vec<String> {
    const LINE: usize = 400;
    const MOST_LINES: usize = 5;
    let characters: Vec<char> = text.chars().collect();
    let mut lines: Vec<String> = characters.chunks(LINE).take(MOST_LINES).map(String::from_iter).collect();
    let more = characters.len().saturating_sub(LINE * MOST_LINES);
    if more > 0 {
        lines.push(format!("and {more} characters more; read the file before you trust it"));
    }
    lines
}

/// Names in a line; none where there are none.
fn listed(before: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let names: BTreeSet<String> = names.map(|name| format!("`{}`", visible(&name))).collect();
    if names.is_empty() {
        return Vec::new();
    }
    folded(&format!("{before} {}", names.into_iter().collect::<Vec<_>>().join(", ")))
}

/// The text with control and hidden characters as their codes, on one line.
fn visible(text: &str) -> String {
    toolpost_core::text::visible(text).replace('\n', "\\u{a}").replace('\t', "\\u{9}")
}

/// A word as a shell would take it, so that one word with a blank is not seen as two.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,${}~^\\".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
