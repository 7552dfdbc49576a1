//! Pages made in the likeness of real ones. Beside each lies what its main text is (`.txt`), and the markdown that was
//! reviewed (`.md`). `cargo run -p toolpost-web --example pages -- DATA DATA 1` writes the latter anew; read the difference.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use toolpost_web::{Form, PageUrl, Stop, decode, read};

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pages");
    let mut pages: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "html"))
        .collect();
    pages.sort();
    pages
}

fn markdown(page: &Path) -> String {
    let url = PageUrl::parse("https://site.example/a/page.html").unwrap();
    let html = decode(&std::fs::read(page).unwrap(), "text/html").text;
    read(&html, &url, Form::Markdown, &Stop::never()).unwrap().text
}

#[test]
fn pages_read_as_reviewed() {
    let pages = pages();
    assert!(pages.len() >= 30, "{}", pages.len());
    let different: Vec<String> = pages
        .iter()
        .filter(|page| {
            std::fs::read_to_string(page.with_extension("md")).unwrap_or_default()
                != format!("{}\n", markdown(page))
        })
        .map(|page| page.display().to_string())
        .collect();
    assert!(different.is_empty(), "not as reviewed: {different:#?}");
}

/// Every word of the main text is there, and little else.
#[test]
fn pages_keep_their_main_text() {
    let (mut recall, mut other) = (0.0, 0.0);
    let pages = pages();
    for page in &pages {
        let wanted = words(&std::fs::read_to_string(page.with_extension("txt")).unwrap());
        let found = words(&markdown(page));
        let common: usize =
            wanted.iter().map(|(word, count)| *count.min(found.get(word).unwrap_or(&0))).sum();
        recall += common as f64 / wanted.values().sum::<usize>() as f64;
        other += 1.0 - common as f64 / found.values().sum::<usize>() as f64;
    }
    let count = pages.len() as f64;
    assert!(recall / count > 0.995, "recall {:.4}", recall / count);
    assert!(other / count < 0.05, "other text {:.4}", other / count);
}

/// Words with how often they occur, without the addresses of links; letters of Chinese and Japanese one by one.
fn words(text: &str) -> HashMap<String, usize> {
    let mut words: HashMap<String, usize> = HashMap::new();
    for piece in without_addresses(text).split(|letter: char| !letter.is_alphanumeric()) {
        let is_single = |letter: char| matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}');
        let mut word = String::new();
        for letter in piece.to_lowercase().chars() {
            if is_single(letter) {
                *words.entry(letter.to_string()).or_default() += 1;
            } else {
                word.push(letter);
            }
        }
        if !word.is_empty() {
            *words.entry(word).or_default() += 1;
        }
    }
    words
}

fn without_addresses(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        kept.push_str(&rest[..at]);
        kept.push(' ');
        rest = &rest[at..];
        rest = &rest[rest.find(')').map_or(rest.len(), |end| end + 1)..];
    }
    kept + rest
}

#[test]
fn structure_is_kept_on_every_page() {
    let all: String = pages().iter().map(|page| markdown(page)).collect();
    for part in [
        "```python\nfrom steadyhttp import Client, Backoff\n",
        "```rust\nfn first_word(text: &str) -> usize {\n    for (at, byte)",
        "| 429 | yes | too many requests; the header says when to return |",
        "| 富士見坂 | 荒川区 | 約九十メートル |",
        "| North | 1,204,300 | 1,231,877 | +2.3 |",
        "[Timeouts](https://site.example/a/timeouts.html)",
        "![build passing](https://site.example/badge.svg)",
        "## Which requests are repeated\n",
    ] {
        assert!(all.contains(part), "{part}");
    }
}
