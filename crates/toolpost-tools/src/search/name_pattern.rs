//! A glob over the names below a folder: without a `/` it means the last name, with one the whole way down.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use toolpost_core::{Code, Context, ToolError};

/// Longer patterns are no patterns.
const LONGEST: usize = 2_000;

/// Which names are wanted.
pub(super) struct NamePattern {
    /// A set of one: unlike a single glob it has short cuts for the common forms.
    glob: GlobSet,
    /// What the names begin with that the pattern does not see.
    start: String,
    /// Whether names that match are *not* wanted.
    negated: bool,
    /// Whether the pattern itself names something that begins with a dot.
    pub(super) names_hidden: bool,
}

impl NamePattern {
    /// Reads several patterns with commas between them, `*.ts,*.py`, where no file name of the workspace can be meant.
    pub(super) fn several(
        ctx: &Context,
        argument: &str,
        patterns: &str,
        start: &str,
    ) -> Result<NamePattern, ToolError> {
        let name = ctx.argument(argument).unwrap_or(argument);
        let root = ctx.workspace().root();
        let parts = parts(patterns);
        let is_list = parts.len() > 1 || (parts.len() == 1 && parts[0].len() + 1 == patterns.trim().len());
        match is_list {
            false => NamePattern::new(name, patterns, start, root),
            true => {
                let wanted: Vec<&str> = parts.iter().copied().filter(|part| !part.starts_with('!')).collect();
                let unwanted: Vec<&str> = parts.iter().filter_map(|part| part.strip_prefix('!')).collect();
                // Each part by itself means the last name or the whole way.
                let joined = |parts: &[&str]| {
                    let parts = parts.iter().map(|part| match part.contains('/') {
                        true => (*part).to_owned(),
                        false => format!("**/{part}"),
                    });
                    format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
                };
                match (wanted.as_slice(), unwanted.as_slice()) {
                    (wanted, []) => NamePattern::new(name, &joined(wanted), start, root),
                    ([], unwanted) => NamePattern::new(name, &format!("!{}", joined(unwanted)), start, root),
                    _ => {
                        let message = format!(
                            "`{name}` mixes names to search and names to leave out; give one kind, such as `{}`",
                            wanted.join(",")
                        );
                        Err(ToolError::new(Code::ValidationError, message).with("argument", name))
                    }
                }
            }
        }
    }

    /// Reads the pattern of this argument, for names below the folder of display name `start`. An absolute pattern
    /// is taken from the root on.
    pub(super) fn new(
        argument: &str,
        pattern: &str,
        start: &str,
        root: &str,
    ) -> Result<NamePattern, ToolError> {
        let refuse = |reason: String| {
            let message = format!(
                "`{argument}` is not a valid name pattern ({reason}); *, ?, **, [a-z] and {{a,b}} are special, write \\ before them to match them literally"
            );
            ToolError::new(Code::ValidationError, message).with("argument", argument)
        };
        if pattern.len() > LONGEST {
            return Err(refuse(format!("{} bytes, {LONGEST} at most", pattern.len())));
        }
        let (negated, pattern) = match pattern.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let mut start =
            if start == "." { String::new() } else { format!("{}/", start.trim_end_matches('/')) };
        let mut wanted = pattern;
        let mut is_anchored = false;
        if let Some(from_top) = pattern.strip_prefix('/') {
            // A display name is absolute in every root but the first.
            match pattern.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/')) {
                Some(rest) => {
                    wanted = rest;
                    start.clear();
                }
                None if start.starts_with('/') && pattern.starts_with(&start) => {
                    wanted = &pattern[start.len()..]
                }
                None => wanted = from_top,
            }
            is_anchored = true;
        }
        let wanted = wanted.trim_start_matches("./");
        if wanted.split('/').any(|part| part == "..") {
            let message = format!(
                "`{argument}` leads upwards with `..`, and only names below the folder that is searched are matched; name \
                 that folder instead"
            );
            return Err(ToolError::new(Code::ValidationError, message).with("argument", argument));
        }
        let wanted = match wanted.strip_suffix('/') {
            Some(folder) => format!("{folder}/**"),
            None => wanted.to_owned(),
        };
        let wanted = match is_anchored || wanted.contains('/') || wanted == "**" {
            true => wanted,
            false => format!("**/{wanted}"),
        };
        let glob = GlobBuilder::new(&wanted)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .and_then(|glob| GlobSetBuilder::new().add(glob).build())
            .map_err(|error| refuse(error.kind().to_string()))?;
        let names_hidden = wanted.split(['/', '{', ',']).any(|part| part.starts_with('.') && part != ".");
        Ok(NamePattern { glob, start, negated, names_hidden })
    }

    /// Whether the file of this display name is wanted.
    pub(super) fn wants(&self, name: &str) -> bool {
        let Some(below) = name.strip_prefix(&self.start) else { return false };
        self.glob.is_match(below) != self.negated
    }
}

/// The patterns of a list: with commas between them, or with spaces where each has a `*`. Within braces or brackets, or
/// after a backslash, a comma is part of a pattern.
fn parts(patterns: &str) -> Vec<&str> {
    let (mut depth, mut is_escaped, mut start) = (0_usize, false, 0);
    let mut parts = Vec::new();
    for (at, letter) in patterns.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&patterns[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&patterns[start..]);
    let words = parts.into_iter().flat_map(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        match words.len() > 1 && words.iter().all(|word| word.contains('*')) && !part.contains('\\') {
            true => words,
            false => vec![part.trim()],
        }
    });
    words.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, start: &str, name: &str, expected: bool) {
        let pattern_read = NamePattern::new("pattern", pattern, start, "/workspace").unwrap();
        assert_eq!(pattern_read.wants(name), expected, "{pattern} below {start}: {name}");
    }

    #[test]
    fn a_pattern_means_the_last_name_or_the_whole_way() {
        check("*.rs", ".", "src/deep/a.rs", true);
        check("*.rs", "src", "src/deep/a.rs", true);
        check("src/*.rs", ".", "src/a.rs", true);
        check("src/*.rs", ".", "src/deep/a.rs", false);
        check("src/**/*.rs", ".", "src/a.rs", true);
        check("**/*.{ts,tsx}", ".", "a/b.tsx", true);
        check("./src/*", ".", "src/a", true);
        check("src/", ".", "src/a/b", true);
        check("**", ".", "a/b", true);
        check("/a.rs", ".", "a.rs", true);
        check("/a.rs", ".", "b/a.rs", false);
        check("/workspace/src/*.rs", ".", "src/a.rs", true);
        check("/workspace/src/*.rs", "src", "src/a.rs", true);
        check("/other/*.rs", "/other", "/other/a.rs", true);
        check("!*.rs", ".", "a.rs", false);
        check("!*.rs", ".", "a.md", true);
        check("\\*", ".", "*", true);
    }

    #[test]
    fn patterns_with_commas_between_them_are_several() {
        let ctx = Context::in_memory();
        let check = |pattern: &str, name: &str, expected: bool| {
            let read = NamePattern::several(&ctx, "include", pattern, ".").unwrap();
            assert_eq!(read.wants(name), expected, "{pattern}: {name}");
        };
        check("*.ts,*.py", "src/a.ts", true);
        check("*.ts, *.py", "b.py", true);
        check("*.ts,*.py", "b.rs", false);
        check("src/*.ts,*.py", "src/a.ts", true);
        check("src/*.ts,*.py", "lib/a.ts", false);
        check("src/*.ts,*.py", "lib/deep/b.py", true);
        check("!*.ts,!*.py", "b.py", false);
        check("!*.ts,!*.py", "b.rs", true);
        check("*.{ts,py}", "b.py", true);
        check("*.ts,", "a.ts", true);
        check("*.{ts,tsx}, *.rs", "src/a.tsx", true);
        check("*.{ts,tsx}, *.rs", "src/b.rs", true);
        check("*.{ts,tsx}, *.rs", "src/b.ts,", false);
        check("*.ts *.py", "src/b.py", true);
        check("*.ts *.py", "src/b.rs", false);
        check("My *.txt", "src/My notes.txt", true);
        check("My *.txt", "src/notes.txt", false);
        let mixed = NamePattern::several(&ctx, "include", "*.ts,!*.py", ".").err().unwrap();
        assert!(mixed.message().contains("give one kind, such as `*.ts`"), "{mixed}");
    }

    #[test]
    fn what_is_no_pattern_is_explained() {
        let upwards = NamePattern::new("pattern", "../lib/*.ts", "src", "/").err().unwrap();
        assert!(upwards.message().starts_with("`pattern` leads upwards with `..`"), "{upwards}");
        for pattern in ["{a", "[a", &"a".repeat(LONGEST + 1)] {
            let error = NamePattern::new("include", pattern, ".", "/").err().unwrap();
            assert!(error.message().starts_with("`include` is not a valid name pattern ("), "{error}");
        }
    }
}
