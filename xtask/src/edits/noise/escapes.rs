//! One level of escaping too much, and entities of HTML.

use super::{Kind, Noisy, decidable, in_context, lossy};
use crate::edits::hunks::Edit;

pub(super) const KINDS: &[Kind] = &[
    decidable(
        "escaped-json",
        "both strings are escaped once more as a whole: undoing it is exact",
        |edit, _| whole(edit, json),
    ),
    decidable(
        "escaped-json-old",
        "`oldString` is escaped once more, `newString` is clean over several lines",
        |edit, _| {
            let (old, new) = (edit.old.join("\n"), edit.new.join("\n"));
            let is_clear = new.contains('\n') && old.contains('\n');
            is_clear.then(|| Noisy::text(json(&old), new))
        },
    ),
    decidable(
        "escaped-newlines",
        "`\\n` for the line endings of both strings, which have no `\\n` of their own",
        |edit, _| {
            let has_own = has(edit, "\\");
            Some(whole(edit, |text| text.replace('\n', "\\n"))?.unless(has_own || edit.old.len() < 2))
        },
    ),
    decidable(
        "escaped-newlines-literal",
        "`\\n` for the line endings; each `\\n` of their own stands in a quoted literal, where no line can end",
        |edit, _| {
            let is_mixed = has(edit, "\\n") && edit.old.len() > 1;
            let is_quoted = edit.old.iter().chain(&edit.new).all(|line| has_quoted_escapes(line));
            let noisy = whole(edit, |text| text.replace('\n', "\\n"))?;
            is_mixed.then(|| noisy.unless(!is_quoted))
        },
    ),
    decidable(
        "escaped-quotes",
        "`\\\"` for the quotes of both strings, which have none of their own",
        |edit, _| {
            Some(
                whole(edit, |text| text.replace('"', "\\\""))?
                    .unless(has(edit, "\\\"") || !in_old(edit, "\"")),
            )
        },
    ),
    decidable(
        "escaped-apostrophes",
        "`\\'` for the apostrophes of both strings, which have none of their own",
        |edit, _| {
            Some(
                whole(edit, |text| text.replace('\'', "\\'"))?.unless(has(edit, "\\'") || !in_old(edit, "'")),
            )
        },
    ),
    decidable("escaped-backslashes", "two backslashes for each of both strings", |edit, _| {
        Some(whole(edit, |text| text.replace('\\', "\\\\"))?.unless(!in_old(edit, "\\")))
    }),
    decidable(
        "escaped-tabs",
        "`\\t` for the tabs of both strings, which have none of their own",
        |edit, _| {
            Some(
                whole(edit, |text| text.replace('\t', "\\t"))?
                    .unless(has(edit, "\\t") || !in_old(edit, "\t")),
            )
        },
    ),
    decidable(
        "escaped-backticks",
        "a backslash before each backtick and `${` of context lines, in both",
        |edit, _| {
            let (old, new) = in_context(edit, |line| line.replace('`', "\\`").replace("${", "\\${"));
            Noisy::lines(edit, &old, &new)
        },
    ),
    decidable("escaped-slashes", "`\\/` for the slashes of context lines, in both strings", |edit, _| {
        let (old, new) = in_context(edit, |line| line.replace('/', "\\/"));
        Noisy::lines(edit, &old, &new)
    }),
    decidable(
        "escaped-unicode",
        "`\\u` escapes for the characters beyond ASCII of context lines",
        |edit, _| {
            let (old, new) = in_context(edit, |line| {
                line.chars()
                    .map(
                        |one| if one.is_ascii() { one.to_string() } else { format!("\\u{:04x}", one as u32) },
                    )
                    .collect()
            });
            Noisy::lines(edit, &old, &new)
        },
    ),
    lossy(
        "unescaped-newlines",
        "a `\\n` within a line has become a line ending in both strings",
        |edit, _| whole(edit, |text| text.replace("\\n", "\n")),
    ),
    lossy("unescaped-backslashes", "one backslash for each two in both strings", |edit, _| {
        whole(edit, |text| text.replace("\\\\", "\\"))
    }),
    decidable(
        "entities",
        "`&lt;`, `&gt;` and `&amp;` in both strings, which have none of their own",
        |edit, _| Some(whole(edit, entities)?.unless(has_entities(edit) || !shows(edit, &['<', '>', '&']))),
    ),
    decidable(
        "entities-quotes",
        "`&quot;` and `&#39;` too in both strings, which have none of their own",
        |edit, _| {
            let all = |text: &str| entities(text).replace('"', "&quot;").replace('\'', "&#39;");
            Some(whole(edit, all)?.unless(has_entities(edit) || !shows(edit, &['<', '>', '&', '"', '\''])))
        },
    ),
    decidable("entities-old", "entities in `oldString` alone", |edit, _| {
        let old = entities(&edit.old.join("\n"));
        let is_changed = in_old_any(edit, ['<', '>', '&']);
        is_changed.then(|| Noisy::text(old, edit.new.join("\n")).unless(has_entities(edit)))
    }),
    decidable(
        "entities-angle",
        "`&lt;` and `&gt;` alone in both strings, which have none of their own",
        |edit, _| {
            let angles = |text: &str| text.replace('<', "&lt;").replace('>', "&gt;");
            Some(whole(edit, angles)?.unless(has_entities(edit) || !shows(edit, &['<', '>'])))
        },
    ),
];

fn whole(edit: &Edit, change: impl Fn(&str) -> String) -> Option<Noisy> {
    let (old, new) = (edit.old.join("\n"), edit.new.join("\n"));
    let noisy = Noisy::text(change(&old), change(&new));
    (noisy.old != old).then_some(noisy)
}

/// Whether every backslash of a line stands in a literal that begins and ends on the line.
fn has_quoted_escapes(line: &str) -> bool {
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', None) => return false,
            ('\\', Some(_)) => drop(characters.next()),
            ('"' | '\'' | '`', None) => quote = Some(character),
            (_, Some(open)) if open == character => quote = None,
            _ => {}
        }
    }
    quote.is_none()
}

fn has(edit: &Edit, part: &str) -> bool {
    edit.old.iter().chain(&edit.new).any(|line| line.contains(part))
}

fn in_old(edit: &Edit, part: &str) -> bool {
    edit.old.iter().any(|line| line.contains(part))
}

fn in_old_any(edit: &Edit, characters: [char; 3]) -> bool {
    edit.old.iter().any(|line| line.contains(characters))
}

/// Whether `old` shows each of these characters that `new` has: otherwise nothing tells that `new` has it escaped.
fn shows(edit: &Edit<'_>, characters: &[char]) -> bool {
    let is_in = |lines: &[String], one: char| lines.iter().any(|line| line.contains(one));
    characters.iter().all(|one| is_in(&edit.old, *one) || !is_in(&edit.new, *one))
}

fn has_entities(edit: &Edit) -> bool {
    let entities = ["&lt;", "&gt;", "&amp;", "&quot;", "&#", "&apos;", "&nbsp;"];
    entities.iter().any(|entity| has(edit, entity))
}

fn entities(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The text as JSON writes it between its quotes.
fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_quoted_or_not() {
        for line in ["plain", r#"print("a\nb")"#, r#"x = 'a\'b' + "c\n""#] {
            assert!(has_quoted_escapes(line), "{line}");
        }
        for line in [r"a \n b", r#""open \n"#, r#"don't "\n""#, r#""a" \ "b""#] {
            assert!(!has_quoted_escapes(line), "{line}");
        }
    }
}
