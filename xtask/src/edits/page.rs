//! The page that shows what was found: `docs/edits.md`. Each table stands between two markers and is replaced as a whole.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::noise::Class;
use super::peers::{PEERS, Peers};
use super::tally::{self, Counts, Tally};
use crate::soak::machine;

const PAGE: &str = "docs/edits.md";

/// Writes the tables of our own cases and of the kinds of noise.
pub(super) fn write_ours(root: &Path, tally: &Tally, seed: u64) -> Result<()> {
    let facts = format!("Seed {seed}, {}, {}.\n\n", machine::today()?, machine::facts());
    rewrite(root, "ours", &format!("{facts}{}", tally.table()))?;
    rewrite(root, "kinds", &tally::kinds_table())
}

/// Writes the table of others on the same cases.
pub(super) fn write_peers(root: &Path, ours: &Tally, peers: &Peers, seed: u64) -> Result<()> {
    let facts = format!("Seed {seed}, {}, {}.\n\n", machine::today()?, machine::facts());
    rewrite(root, "peers", &format!("{facts}{}", table(ours, peers)))
}

/// Right, refused and wrong of each, on the cases of each kind that are not lossy.
pub(super) fn table(ours: &Tally, peers: &Peers) -> String {
    let mut text = String::from("| noise | cases | toolpost |");
    for peer in &PEERS {
        let _ = write!(text, " {} {} |", peer.title, peer.version);
    }
    text.push_str("\n| --- | --- | --- | --- | --- | --- |\n");
    for class in [Class::Decidable, Class::Contradictory] {
        for kind in super::noise::kinds() {
            let counts = |tally: &Tally| tally.of(kind.name, class);
            row(&mut text, &format!("`{}`", kind.name), ours, peers, counts);
        }
        row(&mut text, &format!("all {}", class.name()), ours, peers, |tally| tally.all_of(class));
    }
    for (peer, reason) in PEERS.iter().zip(&peers.reasons) {
        if let Some(reason) = reason {
            let _ = writeln!(text, "\n{} could not be run: {reason}.", peer.title);
        }
    }
    text
}

fn row(text: &mut String, name: &str, ours: &Tally, peers: &Peers, counts: impl Fn(&Tally) -> Counts) {
    let all = counts(ours).all();
    if all == 0 {
        return;
    }
    let _ = write!(text, "| {name} | {all} | {} |", counts(ours).shares());
    for tally in &peers.tallies {
        let counts = counts(tally);
        let cell = if counts.all() == 0 { "–".to_owned() } else { counts.shares() };
        let _ = write!(text, " {cell} |");
    }
    text.push('\n');
}

fn rewrite(root: &Path, name: &str, table: &str) -> Result<()> {
    let path = root.join(PAGE);
    let page = fs::read_to_string(&path).with_context(|| format!("cannot read {PAGE}"))?;
    let page = replaced(&page, name, table).with_context(|| format!("cannot rewrite {PAGE}"))?;
    fs::write(&path, page).with_context(|| format!("cannot write {PAGE}"))
}

/// The page with this table between the markers of this name.
fn replaced(page: &str, name: &str, table: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- {name}:begin -->\n"), format!("<!-- {name}:end -->"));
    let (before, rest) = page.split_once(&begin).with_context(|| format!("no line `{}`", begin.trim()))?;
    let (_, after) = rest.split_once(&end).with_context(|| format!("no line `{end}`"))?;
    Ok(format!("{before}{begin}{}\n{end}{after}", table.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_replaces_the_older_one() {
        let page = "a\n<!-- ours:begin -->\nold\n<!-- ours:end -->\nb\n";
        assert_eq!(replaced(page, "ours", "new\n\n").unwrap(), page.replace("old", "new"));
        assert!(replaced(page, "peers", "new").is_err());
    }

    #[test]
    fn the_page_of_this_repository_can_be_rewritten() {
        let page = include_str!("../../../docs/edits.md");
        for name in ["ours", "peers", "kinds"] {
            assert!(replaced(page, name, "x").unwrap().contains(&format!("x\n<!-- {name}:end -->")));
        }
    }
}
