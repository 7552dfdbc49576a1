//! Files with text in languages that are not read: which words they have. A name that occurs in one of them may be used
//! there, so an answer about the name is not known to be complete. What the words mean is not asked.

mod table;

use crate::facts::Name;

/// What a file that is not read holds, by its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sort {
    /// A programming language, by its name. Every word in it may be a use.
    Language(&'static str),
    /// Pages, queries and templates, by their name. Every word in them may be a use.
    Page(&'static str),
    /// Settings and scripts, which name code by a path such as `package.module:name`. Other words in them are their own.
    Settings,
    /// A name that says nothing. It counts if its content is text.
    Unnamed,
}

impl Sort {
    /// The name of the language, if the name of the file tells it.
    #[must_use]
    pub fn language(self) -> Option<&'static str> {
        match self {
            Sort::Language(name) => Some(name),
            _ => None,
        }
    }
}

/// What a file holds that no language of this build reads. None for files that are read, and for those in which nothing is
/// used: prose, pictures, data, lists that programs write.
#[must_use]
pub fn sort_of(path: &str) -> Option<Sort> {
    let name = path.rsplit('/').next().unwrap_or(path);
    table::sort_of_name(name)
}

/// Words that are longer are no names.
const LONGEST: usize = 120;
/// A file that has so many bytes without a zero among them is text.
const LOOKED_AT: usize = 8 << 10;

/// The words of a file as numbers, sorted, each once. None where the content is not text.
#[must_use]
pub fn words(path: &str, sort: Sort, bytes: &[u8]) -> Option<Box<[u32]>> {
    if memchr::memchr(0, &bytes[..bytes.len().min(LOOKED_AT)]).is_some() {
        return None;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    // Without an ending only what says how it is run is a program; the others are read by people.
    if sort == Sort::Unnamed && ending.is_none() && !bytes.starts_with(b"#!") {
        return None;
    }
    let mut words: Vec<u32> = Vec::new();
    let mut keep = |word: &str| words.push(number(word));
    let is_notebook = ending == Some("ipynb");
    let is_toml = ending == Some("toml");
    let is_page = matches!(sort, Sort::Page(_)) || matches!(ending, Some("vue" | "svelte" | "astro"));
    let mut at = 0;
    while at < bytes.len() {
        if is_notebook && bytes[at] == b'\\' {
            // A line break inside of a string is no part of the word behind it.
            at += 2;
            continue;
        }
        if !is_part(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        at += bytes[at..].iter().take_while(|byte| is_part(**byte)).count();
        let Ok(word) = std::str::from_utf8(&bytes[start..at]) else { continue };
        if word.len() > LONGEST || word.starts_with(|first: char| first.is_ascii_digit()) {
            continue;
        }
        if sort == Sort::Settings
            && !(is_qualified(&bytes[..start]) && (!is_toml || is_quoted(&bytes[..start])))
        {
            continue;
        }
        keep(word);
        // `$count` may be `count` in the language of the page or script.
        if let Some(plain) = word.strip_prefix('$') {
            keep(plain);
        }
        if is_page && bytes.get(at) == Some(&b'-') {
            dashed(&bytes[start..], &mut keep);
        }
    }
    words.sort_unstable();
    words.dedup();
    Some(words.into_boxed_slice())
}

/// The number of a word.
#[must_use]
pub(crate) fn number(word: &str) -> u32 {
    Name::of(word).0 as u32
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// Whether a word stands behind a name and `.`, `:` or `#`, as in `package.module:name`.
fn is_qualified(before: &[u8]) -> bool {
    let joined = before.iter().rev().take_while(|byte| matches!(byte, b'.' | b':' | b'#')).count();
    (1..=2).contains(&joined) && before[..before.len() - joined].last().is_some_and(|byte| is_part(*byte))
}

/// Whether a string is open at the end of a line. Without quotes `a.b` is a key of the settings themselves.
fn is_quoted(before: &[u8]) -> bool {
    let line = before.iter().rev().take_while(|byte| **byte != b'\n');
    line.filter(|byte| matches!(byte, b'"' | b'\'')).count() % 2 == 1
}

/// `<my-box>` in a page is what code calls `MyBox`, and `my-box="…"` what it calls `myBox`.
fn dashed(text: &[u8], keep: &mut impl FnMut(&str)) {
    let length = text.iter().take(LONGEST).take_while(|byte| is_part(**byte) || **byte == b'-').count();
    let Ok(text) = std::str::from_utf8(&text[..length]) else { return };
    let mut camel = String::new();
    for (index, part) in text.split('-').enumerate() {
        let mut letters = part.chars();
        let Some(first) = letters.next() else { continue };
        match index {
            0 => camel.push(first),
            _ => camel.extend(first.to_uppercase()),
        }
        camel.push_str(letters.as_str());
    }
    keep(&camel);
    let mut letters = camel.chars();
    if let Some(first) = letters.next() {
        let pascal: String = first.to_uppercase().chain(letters).collect();
        keep(&pascal);
    }
}
