//! Lines that stand for code that somebody did not write out: `// ... rest of the code ...`.

use super::effort::Effort;
use std::collections::HashSet;
use toolpost_core::{Code, ToolError};

/// Bytes that a placeholder has at least, and at most.
const SHORTEST: usize = "...rest".len();
const LONGEST: usize = 200;

/// Fails where a new line is nothing but a placeholder that was in none of the old texts.
pub(crate) fn check(effort: &Effort, name: &str, old: &[&str], new: &str) -> Result<(), ToolError> {
    let mut placeholders: HashSet<&str> = HashSet::new();
    for line in new.lines() {
        effort.spend(line.len().min(LONGEST) * 8 + 8)?;
        placeholders.extend(is_placeholder(line).then(|| line.trim()));
    }
    if placeholders.is_empty() {
        return Ok(());
    }
    // Only they are looked for, so that a large old text costs one pass and no memory.
    let mut known: HashSet<&str> = HashSet::new();
    for line in old.iter().flat_map(|old| old.lines()).map(str::trim) {
        effort.spend(line.len() + 8)?;
        known.extend(placeholders.contains(line).then_some(line));
    }
    for (index, line) in new.lines().enumerate() {
        if placeholders.contains(line.trim()) && is_placeholder(line) && !known.contains(line.trim()) {
            return Err(ToolError::new(
                Code::Omission,
                format!(
                    "line {} of the new text of `{name}` is a placeholder for text that is left out: `{}`; write out what \
                     belongs there, or change less",
                    index + 1,
                    line.trim()
                ),
            )
            .with("line", index + 1)
            .with("text", line.trim()));
        }
    }
    Ok(())
}

/// Marks around a comment, or around the words in it.
const OPENING: [&str; 13] = ["{/*", "<!--", "/**", "/*", "///", "//", "--", "#", "*", ";", "%", "(", "["];
const CLOSING: [&str; 6] = ["*/}", "-->", "*/", ")", "]", "."];

/// What is left out, what becomes of it, and words between.
const FILLERS: &str = "the of this that your my all other others any code file function functions method methods class \
    classes implementation implementations logic content contents body component components import imports module same \
    as before above is are be remains remain stays stay unchanged untouched here goes continues continue for brevity \
    omitted previous original existing rest remaining remainder keep keeps kept no changes change changed needed and \
    lines section part definitions tests fields properties styles rules config configuration text document not shown \
    unmodified";
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
    let is_key = (has("rest") && (has("of") || words.len() == 1))
        || ["existing", "remaining", "remainder", "unchanged", "omitted", "unmodified"].into_iter().any(has)
        || (has("same") && has("as") && (has("before") || has("above")))
        || (has("no") && has("changes"));
    if !is_key {
        return false;
    }
    let others =
        words.iter().filter(|word| !FILLERS.split_whitespace().any(|filler| filler == **word)).count();
    match has_ellipsis {
        true => others <= 2 && others < words.len(),
        false => {
            let is_plain_rest =
                words.starts_with(&["rest", "of"]) || words.starts_with(&["the", "rest", "of"]);
            let has_fate = words.len() > 1 && FATES.into_iter().any(has);
            is_marked && others == 0 && (is_plain_rest || has_fate)
        }
    }
}

/// The words of a line, whether it is a comment or in brackets, and whether dots stand around the words.
fn words(line: &str) -> (Vec<&str>, bool, bool) {
    let mut rest = line;
    let (mut is_marked, mut has_ellipsis) = (false, false);
    loop {
        let before = rest;
        rest = rest.trim_matches(|character: char| character.is_whitespace() || character == ',');
        if let Some(shorter) = rest.strip_prefix("...") {
            (rest, has_ellipsis) = (shorter.trim_start_matches('.'), true);
        }
        if let Some(shorter) = rest.strip_suffix("...") {
            (rest, has_ellipsis) = (shorter.trim_end_matches('.'), true);
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
        ] {
            assert!(!is_placeholder(line), "{line}");
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
