//! Lines that stand for code that somebody did not write out: `// ... rest of the code ...`.

use super::effort::Effort;
use std::collections::HashSet;
use toolpost_core::{Code, ToolError};

/// Bytes that a placeholder has at least, and at most.
const SHORTEST: usize = "snip".len();
const LONGEST: usize = 200;

/// Fails where a new line is nothing but a placeholder, or ends with one, that was in none of the old texts.
pub(crate) fn check(effort: &Effort, name: &str, old: &[&str], new: &str) -> Result<(), ToolError> {
    let mut placeholders: HashSet<&str> = HashSet::new();
    for line in new.lines() {
        effort.spend(line.len().min(LONGEST) * 8 + 8)?;
        placeholders.extend(placeholder(line));
    }
    if placeholders.is_empty() {
        return Ok(());
    }
    // Only they are looked for, so that a large old text costs one pass and no memory.
    let mut known: HashSet<&str> = HashSet::new();
    for line in old.iter().flat_map(|old| old.lines()).map(str::trim) {
        effort.spend(line.len() + 8)?;
        known.extend(placeholder(line).filter(|known| placeholders.contains(known)));
    }
    for (index, line) in new.lines().enumerate() {
        if let Some(text) = placeholder(line).filter(|text| !known.contains(text)) {
            return Err(ToolError::new(
                Code::Omission,
                format!(
                    "line {} of the new text of `{name}` is a placeholder for text that is left out: `{}`; write out what \
                     belongs there, or change less",
                    index + 1,
                    text
                ),
            )
            .with("line", index + 1)
            .with("text", text));
        }
    }
    Ok(())
}

/// Marks around a comment, or around the words in it.
const OPENING: [&str; 14] =
    ["{/*", "<!--", "/**", "/*", "///", "//", "--", "#", "*", ";", "%", "(", "[", "<"];
const CLOSING: [&str; 8] = ["*/}", "-->", "*/", ")", "]", ">", ".", "--"];

/// What is left out, what becomes of it, and words between.
const FILLERS: &str = "the of this that your my all other others any code file function functions method methods class \
    classes implementation implementations logic content contents body component components import imports module same \
    as before above is are be remains remain stays stay unchanged untouched here goes continues continue for brevity \
    omitted previous original existing rest remaining remainder keep keeps kept no changes change changed needed and \
    lines section part definitions tests fields properties styles rules config configuration text document not shown \
    unmodified todo note as-is some more lines below snip snipped";
/// What becomes of it.
const FATES: [&str; 14] = [
    "here",
    "unchanged",
    "untouched",
    "unmodified",
    "remains",
    "remain",
    "stays",
    "same",
    "omitted",
    "brevity",
    "goes",
    "continues",
    "kept",
    "shown",
];

/// The placeholder that a line is, or that stands behind what it says, as a comment.
fn placeholder(line: &str) -> Option<&str> {
    if is_placeholder(line) {
        return Some(line.trim());
    }
    let mut marks = ["//", "#", "/*", "--", "<!--", ";;", "%"]
        .into_iter()
        .filter_map(|mark| line.find(&format!(" {mark}")));
    let comment = |at: usize| line[at..].trim();
    let has_words = |comment: &str| {
        let plain = comment.to_lowercase().replace('…', "...");
        let (words, is_marked, has_ellipsis) = words(&plain);
        let has = |all: &[&str]| words.iter().any(|word| all.contains(word));
        let is_told = match has_ellipsis {
            Ellipsis::Around => true,
            Ellipsis::OneSide => words.len() > 1,
            // Without dots, a remark on the line itself says less.
            Ellipsis::None => {
                is_in_brackets(&plain)
                    || has(&["snip", "snipped", "keep"])
                    || has(&["rest", "existing", "remaining", "other"]) && has(&FATES)
            }
        };
        is_marked && is_told
    };
    let is_outside = |at: usize| !["\"", "'", "`"].iter().any(|quote| is_within(line, at, quote));
    marks.find(|at| is_outside(*at) && has_words(comment(*at)) && is_placeholder(comment(*at))).map(comment)
}

/// Whether a part of a line is within quotes that are closed behind it.
fn is_within(line: &str, at: usize, quote: &str) -> bool {
    line[..at].matches(quote).count() % 2 == 1 && line[at..].contains(quote)
}

/// Whether a line is nothing but a placeholder.
pub(crate) fn is_placeholder(line: &str) -> bool {
    if !(SHORTEST..=LONGEST).contains(&line.len()) {
        return false;
    }
    let plain = line.trim().to_lowercase().replace('…', "...");
    let (words, is_marked, has_ellipsis) = words(&plain);
    if words.is_empty() || words.len() > 12 {
        return false;
    }
    let has = |word: &str| words.contains(&word);
    let others =
        words.iter().filter(|word| !FILLERS.split_whitespace().any(|filler| filler == **word)).count();
    if words.iter().all(|word| ["snip", "snipped"].contains(word)) {
        return true;
    }
    // What a language spreads: `...rest,`.
    let is_spread = plain.trim_end_matches(',').strip_prefix("...").is_some_and(|name| {
        !is_marked && !name.ends_with('.') && name.chars().all(|one| one.is_alphanumeric() || one == '_')
    });
    if is_spread {
        return false;
    }
    if has_ellipsis == Ellipsis::Around && others == 0 {
        return true;
    }
    let is_bracketed = is_in_brackets(&plain);
    let is_kept_code = has("code") && (has("keep") || has("kept")) && (has("existing") || has("rest"));
    if is_kept_code && others == 0 {
        return true;
    }
    let is_key = (has("rest") && (has("of") || words.len() == 1))
        || ["existing", "remaining", "remainder", "unchanged", "omitted", "unmodified"].into_iter().any(has)
        || (has("same") && has("as") && (has("before") || has("above")))
        || (has("no") && has("changes"));
    if !is_key {
        return false;
    }
    // `(unchanged)` and `[existing code]`; a single word in square brackets may be the name of a table.
    let is_single =
        words.len() == 1 && (comment_text(&plain).starts_with('[') || !(has("unchanged") || has("omitted")));
    if is_bracketed && others == 0 && !is_single {
        return true;
    }
    match has_ellipsis != Ellipsis::None {
        true => others <= 2 && others < words.len(),
        false => {
            let is_plain_rest =
                words.starts_with(&["rest", "of"]) || words.starts_with(&["the", "rest", "of"]);
            let has_fate = words.len() > 1 && FATES.into_iter().any(has);
            is_marked && others == 0 && (is_plain_rest || has_fate)
        }
    }
}

/// A line without the marks of a comment around it.
fn comment_text(line: &str) -> &str {
    let line = line.trim();
    let open = ["{/*", "<!--", "/**", "/*", "///", "//", "--", "#", "*", ";", "%"];
    let line = open.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let close = ["*/}", "-->", "*/"];
    close.iter().find_map(|mark| line.strip_suffix(mark)).unwrap_or(line).trim()
}

/// Whether brackets are around what a line or a comment says.
fn is_in_brackets(line: &str) -> bool {
    let text = comment_text(line);
    text.starts_with(['(', '[', '<']) && text.ends_with([')', ']', '>'])
}

/// Where dots stand beside the words of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ellipsis {
    None,
    OneSide,
    Around,
}

/// The words of a line, whether it is a comment or in brackets, and whether dots stand around the words.
fn words(line: &str) -> (Vec<&str>, bool, Ellipsis) {
    let mut rest = line;
    let mut is_marked = false;
    let (mut before_words, mut behind_words) = (false, false);
    loop {
        let before = rest;
        rest = rest.trim_matches(|character: char| character.is_whitespace() || character == ',');
        if let Some(shorter) = rest.strip_prefix("...") {
            (rest, before_words) = (shorter.trim_start_matches('.'), true);
        }
        if let Some(shorter) = rest.strip_suffix("...") {
            (rest, behind_words) = (shorter.trim_end_matches('.'), true);
        }
        if let Some(shorter) = OPENING.iter().find_map(|mark| rest.strip_prefix(mark)) {
            (rest, is_marked) = (shorter, true);
        }
        if let Some(shorter) = CLOSING.iter().find_map(|mark| rest.strip_suffix(mark)) {
            rest = shorter;
        }
        if rest == before {
            break;
        }
    }
    let has_ellipsis = match (before_words, behind_words) {
        (true, true) => Ellipsis::Around,
        (false, false) => Ellipsis::None,
        _ => Ellipsis::OneSide,
    };
    let is_separator =
        |character: char| character.is_whitespace() || matches!(character, ',' | '-' | '–' | ':');
    let is_clean = rest.chars().all(|character| {
        character.is_alphanumeric() || is_separator(character) || character == '_' || character == '\''
    });
    match is_clean {
        true => (rest.split(is_separator).filter(|word| !word.is_empty()).collect(), is_marked, has_ellipsis),
        // Quotes, brackets or operators: code, not a remark.
        false => (Vec::new(), is_marked, has_ellipsis),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders() {
        for line in [
            "// ... existing code ...",
            "// rest of the code…",
            "    # ... rest of the code remains the same ...",
            "(rest of methods ...)",
            "/* ... existing implementation ... */",
            "<!-- rest of the file unchanged -->",
            "{/* ... rest of component ... */}",
            "-- remaining code unchanged",
            "// The rest of the function stays the same.",
            "... (rest of code)",
            "# … unchanged …",
            "// existing code here",
            "// code omitted for brevity",
            "// ... keep existing imports ...",
            "[... remaining methods ...]",
            "// same as before...",
            "// ... other methods unchanged ...",
            "* ... rest of the class ...",
            "; rest of the file",
            "... code ...",
            "    (unchanged)",
            "[existing code]",
            "snip",
            "// snip",
            "[snip]",
            "-- snip --",
            "# ... snip ...",
            "... previous code ...",
            "... keep the rest ...",
            "// TODO: keep existing code here",
            "TODO: keep existing code here",
            "existing code ...",
            "<existing code>",
            "<!-- ... code ... -->",
            "/* … code … */",
            "// (unchanged)",
            "    # [existing code]",
            "<!-- (same as before) -->",
            "/* [unchanged code here] */",
        ] {
            assert!(is_placeholder(line), "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_one() {
        for line in [
            "",
            "...",
            "    ...",
            "// ...",
            "rest of the code",
            "const msg = \"(rest of methods ...)\";",
            "// the rest of the code relies on sorted input",
            "function f(...rest) {",
            "const { a, ...rest } = props;",
            "    pass  # rest of the code",
            "# Existing users",
            "existing = load()",
            "// existing",
            "# Remaining work",
            "unchanged",
            "print('existing code ...')",
            "// unchanged since 2019, see the log of the release for the whole story of it",
            "The remaining tests are run by hand.",
            "    ...rest,",
            "    ...rest",
            "...styles,",
            "    ...config",
            "[existing]",
            "[rest]",
            "(code)",
            "<styles>",
            "</body>",
            "<body>",
            "... # implementation",
            "x = snip",
            "code",
            "existing code",
            "# Keep existing connections",
        ] {
            assert!(!is_placeholder(line), "{line}");
        }
    }

    #[test]
    fn behind_what_a_line_says() {
        for (line, text) in [
            ("x()  // ... existing code ...", Some("// ... existing code ...")),
            ("    run(1) # ... rest of the code ...", Some("# ... rest of the code ...")),
            ("say('a // ... existing code ...')", None),
            ("f(...rest) // the rest is passed on", None),
            ("x() // waits ... then goes on", None),
            ("pass  # rest of the code", None),
            ("x()  // (unchanged)", Some("// (unchanged)")),
            ("x();  // [existing code]", Some("// [existing code]")),
            ("x()  # ... code ...", Some("# ... code ...")),
            ("x();  // snip", Some("// snip")),
            ("x();  // TODO: keep existing code here", Some("// TODO: keep existing code here")),
            ("x();  // rest of the function unchanged", Some("// rest of the function unchanged")),
            ("    \"a text that goes on \\  // ... existing code ...", Some("// ... existing code ...")),
            ("x = 3  # same as before", None),
            ("x = 3  # unchanged", None),
            ("x = 3  # (optional)", None),
            ("f(x)  // (see the log)", None),
        ] {
            assert_eq!(placeholder(line), text, "{line}");
        }
    }

    #[test]
    fn what_was_there_may_stay() {
        let effort = Effort::limited(10_000);
        assert!(
            check(&effort, "a", &["x\n// ... existing code ...\n"], "// ... existing code ...\ny\n").is_ok()
        );
        let error = check(&effort, "a", &["x\n"], "y\n  // ... existing code ...\n").unwrap_err();
        assert_eq!(error.code(), Code::Omission);
        assert_eq!(error.details()["line"], 2);
    }
}
