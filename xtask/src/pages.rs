//! `pages`: the saved pages of `toolpost-web`, read by it and by two peers, side by side: how much of the main text each
//! keeps, how much else it keeps, and how fast it is. The table goes to docs/measurements.md. Nothing of the peers is committed.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::process;

const PAGES: &str = "crates/toolpost-web/tests/data/pages";
const PAGE: &str = "docs/measurements.md";
const BEGIN: &str = "<!-- pages:begin -->";
const END: &str = "<!-- pages:end -->";
const NPM: [&str; 4] =
    ["@mozilla/readability@0.6.0", "turndown@7.2.1", "turndown-plugin-gfm@1.0.2", "jsdom@24.1.3"];
const PIP: [&str; 2] = ["trafilatura==2.3.1", "lxml_html_clean"];
/// How often the pages are read; the first time counts too.
const ROUNDS: usize = 20;

/// How well one reads.
struct Score {
    name: &'static str,
    recall: f64,
    other: f64,
    speed: f64,
}

/// Measures and writes the table into docs/measurements.md.
pub(crate) fn run(root: &Path) -> Result<()> {
    let table = measure(root)?;
    print!("{table}");
    let page = fs::read_to_string(root.join(PAGE))?;
    let (before, rest) = page.split_once(BEGIN).with_context(|| format!("{PAGE} has no line `{BEGIN}`"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("{PAGE} has no line `{END}`"))?;
    fs::write(root.join(PAGE), format!("{before}{BEGIN}\n{table}{END}{after}"))?;
    Ok(())
}

/// Reads the pages with all three, one after the other. Returns the table, with what was wanted and whether it was met.
pub(crate) fn measure(root: &Path) -> Result<String> {
    let scratch = root.join("target/pages");
    fs::create_dir_all(&scratch)?;
    let own = out(&scratch, "toolpost")?;
    let rounds = ROUNDS.to_string();
    let words = ["run", "--release", "-q", "-p", "toolpost-web", "--example", "pages", "--", PAGES];
    let mut cargo = process::cargo(root, &words);
    cargo.arg(&own).arg((ROUNDS * 20).to_string());
    let mut scores = vec![score(root, "toolpost", &own, &mut cargo)?];

    let readability = out(&scratch, "readability")?;
    fs::write(scratch.join("peers.mjs"), include_str!("pages/peers.mjs"))?;
    run_in(&scratch, "npm", &[&["install", "--no-save", "--silent"], &NPM[..]].concat())?;
    let mut node = Command::new("node");
    node.current_dir(&scratch).arg("peers.mjs").arg(root.join(PAGES)).arg(&readability).arg(&rounds);
    scores.push(score(root, "@mozilla/readability 0.6.0 with turndown 7.2.1", &readability, &mut node)?);

    let trafilatura = out(&scratch, "trafilatura")?;
    fs::write(scratch.join("peers.py"), include_str!("pages/peers.py"))?;
    run_in(&scratch, "python3", &["-m", "venv", "python"])?;
    let python = scratch.join("python/bin/python");
    run_in(&scratch, &python.to_string_lossy(), &[&["-m", "pip", "install", "-q"], &PIP[..]].concat())?;
    let mut reader = Command::new(&python);
    reader.arg(scratch.join("peers.py")).arg(root.join(PAGES)).arg(&trafilatura).arg(&rounds);
    scores.push(score(root, "trafilatura 2.3.1", &trafilatura, &mut reader)?);

    Ok(table(&scores))
}

fn out(scratch: &Path, name: &str) -> Result<PathBuf> {
    let folder = scratch.join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn run_in(folder: &Path, program: &str, words: &[&str]) -> Result<()> {
    process::run(Command::new(program).args(words).current_dir(folder))
}

/// Runs a reader, which prints how long it took, and scores what it wrote.
fn score(root: &Path, name: &'static str, written: &Path, reader: &mut Command) -> Result<Score> {
    let output = reader.output().with_context(|| format!("{name} cannot be started"))?;
    if !output.status.success() {
        bail!("{name} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let number = |key: &str| -> Option<f64> {
        let rest = said.split(&format!("\"{key}\":")).nth(1)?;
        rest.trim_start().split([',', '}']).next()?.trim().parse().ok()
    };
    let (seconds, bytes) =
        number("seconds").zip(number("bytes")).with_context(|| format!("{name} said `{said}`"))?;
    let (mut recall, mut other, mut count) = (0.0, 0.0, 0.0);
    for entry in fs::read_dir(root.join(PAGES))? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let file = path.with_extension("md");
        let file = file.file_name().context("a file without a name")?;
        let wanted = words(&fs::read_to_string(&path)?);
        let found = words(&fs::read_to_string(written.join(file)).unwrap_or_default());
        let common: usize =
            wanted.iter().map(|(word, count)| *count.min(found.get(word).unwrap_or(&0))).sum();
        recall += common as f64 / wanted.values().sum::<usize>() as f64;
        let all = found.values().sum::<usize>();
        other += if all == 0 { 0.0 } else { 1.0 - common as f64 / all as f64 };
        count += 1.0;
    }
    Ok(Score { name, recall: recall / count, other: other / count, speed: bytes / seconds / 1e6 })
}

fn table(scores: &[Score]) -> String {
    let mut text =
        "| reader | main text kept | other text in the result | MB a second |\n| --- | --- | --- | --- |\n"
            .to_owned();
    for Score { name, recall, other, speed } in scores {
        text.push_str(&format!(
            "| {name} | {:.1} % | {:.1} % | {speed:.2} |\n",
            recall * 100.0,
            other * 100.0
        ));
    }
    let Some((own, peers)) = scores.split_first() else { return text };
    let goals = [
        ("most of the main text", peers.iter().all(|peer| own.recall >= peer.recall)),
        ("least other text", peers.iter().all(|peer| own.other <= peer.other)),
        ("ten times as fast as each peer", peers.iter().all(|peer| own.speed >= 10.0 * peer.speed)),
    ];
    let word = |is_met| if is_met { "met" } else { "NOT MET" };
    let goals: Vec<String> =
        goals.iter().map(|(goal, is_met)| format!("{goal}: {}", word(*is_met))).collect();
    text.push_str(&format!("\nGoals: {}.\n", goals.join("; ")));
    text
}

/// Words with how often they occur, without the addresses of links; letters of Chinese and Japanese one by one.
fn words(text: &str) -> HashMap<String, usize> {
    let mut words: HashMap<String, usize> = HashMap::new();
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        kept.push_str(&rest[..at]);
        kept.push(' ');
        rest = &rest[at..];
        rest = &rest[rest.find(')').map_or(rest.len(), |end| end + 1)..];
    }
    kept.push_str(rest);
    for piece in kept.split(|letter: char| !letter.is_alphanumeric()) {
        let mut word = String::new();
        for letter in piece.to_lowercase().chars() {
            match letter {
                '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' => {
                    *words.entry(letter.to_string()).or_default() += 1;
                }
                letter => word.push(letter),
            }
        }
        if !word.is_empty() {
            *words.entry(word).or_default() += 1;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_counted_without_addresses() {
        let found = words("# A [link](https://a.example/b) and 日本 and");
        let mut found: Vec<(&str, usize)> =
            found.iter().map(|(word, count)| (word.as_str(), *count)).collect();
        found.sort_unstable();
        assert_eq!(found, [("a", 1), ("and", 2), ("link", 1), ("日", 1), ("本", 1)]);
    }
}
