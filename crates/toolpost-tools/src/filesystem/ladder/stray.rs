//! Marks of other formats around the texts of an edit: those of SEARCH/REPLACE blocks, and CDATA.
//!
//! They are taken off before anything is compared, where the file has none of them: written, they would be garbage.

use std::borrow::Cow;

/// Both texts without the marks; `None` where they have none.
pub(super) fn without(text: &str, old: &str, new: &str) -> Option<(String, String)> {
    blocks(text, old, new).or_else(|| cdata(text, old, new))
}

fn blocks(text: &str, old: &str, new: &str) -> Option<(String, String)> {
    let first =
        |text: &'_ str| text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    let last =
        |text: &'_ str| text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    let begins = is_mark(&first(old), '<', "SEARCH");
    let ends = is_mark(&last(new), '>', "REPLACE");
    if !begins && !ends {
        return None;
    }
    let is_own = text.lines().any(|line| is_mark(line, '<', "SEARCH") || is_mark(line, '>', "REPLACE"));
    if is_own {
        return None;
    }
    let is_divider = |line: &str| is_mark(line, '=', "");
    let mut bare_old = Cow::Borrowed(old);
    if begins {
        bare_old = Cow::Owned(without_first(&bare_old));
    }
    if is_divider(&last(&bare_old)) {
        bare_old = Cow::Owned(without_last(&bare_old));
    }
    let mut bare_new = Cow::Borrowed(new);
    if ends {
        bare_new = Cow::Owned(without_last(&bare_new));
    }
    if is_divider(&first(&bare_new)) {
        bare_new = Cow::Owned(without_first(&bare_new));
    }
    let has_more = |text: &str| text.lines().any(|line| is_divider(line) || is_mark(line, '<', "SEARCH"));
    let is_clear = !has_more(&bare_old) && !has_more(&bare_new) && !bare_old.trim().is_empty();
    is_clear.then(|| (bare_old.into_owned(), bare_new.into_owned()))
}

fn is_mark(line: &str, sign: char, word: &str) -> bool {
    let line = line.trim();
    let rest = line.trim_start_matches(sign);
    (5..=9).contains(&(line.len() - rest.len())) && rest.trim() == word
}

/// Without the first line that says something and what is above it.
fn without_first(text: &str) -> String {
    let mut lines = text.split_inclusive('\n').skip_while(|line| line.trim().is_empty());
    lines.next();
    lines.collect()
}

/// Without the last line that says something and what is below it; the newline before it is not a part of the text.
fn without_last(text: &str) -> String {
    let bare = text.trim_end();
    let end = bare.rfind('\n').unwrap_or(0);
    bare[..end].strip_suffix('\r').unwrap_or(&bare[..end]).to_owned()
}

fn cdata(text: &str, old: &str, new: &str) -> Option<(String, String)> {
    const OPEN: &str = "<![CDATA[";
    if text.contains(OPEN) {
        return None;
    }
    let inside = |text: &'_ str| text.trim().strip_prefix(OPEN)?.strip_suffix("]]>").map(str::to_owned);
    // A newline beside the mark is a part of the text where the other text has it too, without a mark.
    let bare = |inner: String, other: &str| {
        let inner =
            if other.starts_with('\n') { &*inner } else { inner.strip_prefix('\n').unwrap_or(&inner) };
        let inner = if other.ends_with('\n') { inner } else { inner.strip_suffix('\n').unwrap_or(inner) };
        inner.to_owned()
    };
    match (inside(old), inside(new)) {
        (None, None) => None,
        (Some(bare_old), Some(bare_new)) => Some((bare(bare_old, ""), bare(bare_new, ""))),
        (Some(bare_old), None) => Some((bare(bare_old, new), new.to_owned())),
        (None, Some(bare_new)) => Some((old.to_owned(), bare(bare_new, old))),
    }
}
