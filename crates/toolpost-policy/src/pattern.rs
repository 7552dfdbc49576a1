//! The resource of a rule: one pattern, read as a path, a command or a host by what it is held against.
//!
//! **Paths** follow gitignore, on `/`-separated paths from the workspace root, after `.` and `..` are taken out:
//!
//! | pattern | matches |
//! | --- | --- |
//! | `*`, `**` | everything |
//! | `Makefile`, `*.rs` | that name in any folder, as there is no `/` in it |
//! | `src/*.rs`, `/Makefile`, `./Makefile` | from the workspace root |
//! | `//etc/hosts` | an absolute path of the machine |
//! | `docs`, `src/generated` | also everything inside, as the last part has no wildcard and may be a folder |
//! | `src/**`, `build/` | everything inside |
//!
//! `*` and `?` stop at `/`, `**` does not; `[ab]` and `{a,b}` choose; `\` takes the next character as it is.
//!
//! **Commands** and **hosts**: `*` is anything, `/` and blanks included, and `?` is one character. A blank stands for
//! one or more between words, not in quotes, and a pattern ending in ` *` also matches the command without arguments.
//! A command of several lines is allowed by `*` alone. A program in the workspace may be written with `./` or without.
//! Rules that deny or ask also match other spellings of a command; see `possible.rs`. Hosts ignore case.
//!
//! Nothing here looks at a disk: a link is judged again by its resolved path when it is opened.

use super::commands::FilePattern;
use globset::{Glob, GlobBuilder, GlobMatcher};
use std::fmt;
use std::sync::OnceLock;
use toolpost_text::could_match;
use toolpost_text::folded;
pub(super) use toolpost_text::paths::{exact_path, normal_path};
use toolpost_text::wildcard;

/// The longest pattern taken, in bytes.
pub(super) const LONGEST: usize = 1000;

/// A resource pattern of a rule; see the table of path, command and host forms in `policy/pattern.rs`.
pub struct Pattern {
    text: String,
    kind: Kind,
}

enum Kind {
    Everything,
    Chosen(PathForm),
    Protected(&'static [&'static str]),
    /// One path, and everything inside, whatever the case.
    ProtectedPath(String),
}

/// A path pattern, sorted so that the common forms need no regular expression.
enum PathForm {
    /// A name at any depth, and everything inside.
    Name(String),
    /// One path, and everything inside.
    Exact(String),
    /// Everything inside this folder.
    Inside(String),
    /// All the rest; `inside` where everything below a match counts too.
    Glob { glob: Glob, matcher: OnceLock<GlobMatcher>, inside: Reach },
}

#[derive(PartialEq)]
enum Reach {
    ItselfOnly,
    Inside,
}

impl Pattern {
    /// Reads a pattern; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the resource is empty and would match nothing; write `*` for anything".into());
        }
        if text.len() > LONGEST {
            let length = text.len();
            return Err(format!(
                "the resource has {length} bytes; at most {LONGEST} are taken, use `*` to shorten it"
            ));
        }
        if let Some(control) = text.chars().find(|letter| letter.is_control()) {
            let code = u32::from(control);
            return Err(format!("the resource has the control character U+{code:04X}; take it out"));
        }
        let kind = match text {
            "*" | "**" => Kind::Everything,
            _ => Kind::Chosen(path_form(text)?),
        };
        Ok(Pattern { text: text.to_owned(), kind })
    }

    /// A pattern of the protected list: at any depth, whatever the case, everything inside, `except` those names.
    pub(super) fn protected(text: &str, except: &'static [&'static str]) -> Pattern {
        Pattern { text: text.to_owned(), kind: Kind::Protected(except) }
    }

    /// A protected path from the workspace root, or an absolute one, with everything inside.
    pub(super) fn protected_path(path: &str) -> Pattern {
        Pattern { text: exact_path(path), kind: Kind::ProtectedPath(normal_path(path).into_owned()) }
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it matches every resource there is.
    pub fn is_everything(&self) -> bool {
        matches!(self.kind, Kind::Everything)
    }

    /// Whether it stands in the protected list, or is a path that is protected like those.
    pub fn is_protected(&self) -> bool {
        matches!(self.kind, Kind::Protected(_) | Kind::ProtectedPath(_))
    }

    /// Whether it is about one place, and not about a name at any depth.
    pub(super) fn is_protected_path(&self) -> bool {
        matches!(self.kind, Kind::ProtectedPath(_))
    }

    /// Whether it matches a path, in whatever form that is given.
    pub fn matches_path(&self, path: &str) -> bool {
        self.matches_normal_path(&normal_path(path))
    }

    /// Whether it matches a path that `normal_path` has made.
    pub(super) fn matches_normal_path(&self, path: &str) -> bool {
        match &self.kind {
            Kind::Everything => true,
            Kind::Protected(except) => folded::matches(&self.text, except, path),
            Kind::ProtectedPath(protected) => {
                let begins =
                    path.get(..protected.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(protected));
                begins && (path.len() == protected.len() || path[protected.len()..].starts_with('/'))
            }
            Kind::Chosen(form) => form.matches(path),
        }
    }

    /// The files it matches, as a plain value. Not for protected patterns, which match as `toolpost_text::folded` says.
    pub(super) fn files(&self) -> FilePattern {
        match &self.kind {
            Kind::Everything | Kind::Protected(_) => FilePattern::Everything,
            Kind::ProtectedPath(path) => FilePattern::Exact(path.clone()),
            Kind::Chosen(PathForm::Name(name)) => FilePattern::Name(name.clone()),
            Kind::Chosen(PathForm::Exact(path)) => FilePattern::Exact(path.clone()),
            Kind::Chosen(PathForm::Inside(folder)) => FilePattern::Inside(folder.clone()),
            Kind::Chosen(PathForm::Glob { glob, inside, .. }) => {
                FilePattern::Glob { glob: glob.glob().to_owned(), inside: *inside == Reach::Inside }
            }
        }
    }

    /// Whether it matches one command.
    pub fn matches_command(&self, command: &str) -> bool {
        match self.kind {
            Kind::Everything => true,
            Kind::Protected(_) | Kind::ProtectedPath(_) => false,
            Kind::Chosen(_) => wildcard::command_matches(&self.text, command),
        }
    }

    /// Whether it matches some spelling of the command, or some value of what is computed in it: for rules that deny or ask.
    pub(super) fn could_match_command(&self, command: &str) -> bool {
        match self.kind {
            Kind::Everything => true,
            Kind::Protected(_) | Kind::ProtectedPath(_) => false,
            Kind::Chosen(_) => {
                wildcard::command_matches(&self.text, command) || could_match(&self.text, command)
            }
        }
    }

    /// Whether it matches a host, with its port or without. A pattern without a port is about every port.
    pub fn matches_host(&self, host: &str) -> bool {
        match self.kind {
            Kind::Everything => true,
            Kind::Protected(_) | Kind::ProtectedPath(_) => false,
            Kind::Chosen(_) => {
                let is_any_port = split_port(&self.text).1.is_none();
                wildcard::host_matches(&self.text, host)
                    || is_any_port && wildcard::host_matches(&self.text, split_port(host).0)
            }
        }
    }

    /// Whether it names this host, letter by letter: a wildcard can stand for the port only.
    pub(super) fn names_host(&self, host: &str) -> bool {
        let (own, port) = split_port(&self.text);
        let own = own.replace('\\', "");
        let (name, wanted) = split_port(host);
        let is_port = port.is_none_or(|port| port == "*" || Some(port) == wanted);
        is_port && !own.contains(['*', '?']) && own.eq_ignore_ascii_case(name)
    }
}

/// A host and its port, if it has one: `example.com:443`, `[::1]:80`.
fn split_port(place: &str) -> (&str, Option<&str>) {
    match place.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') && (!host.contains(':') || host.ends_with(']')) => {
            (host, Some(port))
        }
        _ => (place, None),
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.text)
    }
}

impl PathForm {
    fn matches(&self, path: &str) -> bool {
        match self {
            PathForm::Name(name) => path.split('/').any(|part| part == name),
            PathForm::Exact(exact) => {
                path == exact || path.strip_prefix(exact.as_str()).is_some_and(|rest| rest.starts_with('/'))
            }
            PathForm::Inside(folder) => {
                path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
            }
            PathForm::Glob { glob, matcher, inside } => {
                let matcher = matcher.get_or_init(|| glob.compile_matcher());
                matcher.is_match(path)
                    || (*inside == Reach::Inside
                        && path.match_indices('/').any(|(at, _)| matcher.is_match(&path[..at])))
            }
        }
    }
}

fn path_form(text: &str) -> Result<PathForm, String> {
    let (rest, anchored) = if let Some(rest) = text.strip_prefix("//") {
        (format!("/{}", rest.trim_start_matches('/')), true)
    } else if let Some(rest) = text.strip_prefix('/') {
        (rest.to_owned(), true)
    } else {
        let mut rest = text;
        while let Some(shorter) = rest.strip_prefix("./") {
            rest = shorter;
        }
        (rest.to_owned(), rest.len() < text.len())
    };
    let folder = rest.strip_suffix('/').filter(|folder| !folder.is_empty());
    let body = folder.unwrap_or(&rest);
    let anchored = anchored || body.contains('/');
    let plain = |text: &str| !text.contains(['*', '?', '[', ']', '{', '}', '\\']);
    if folder.is_none() {
        match body.strip_suffix("/**") {
            Some(inside) if plain(inside) => return Ok(PathForm::Inside(inside.to_owned())),
            _ if plain(body) && anchored => return Ok(PathForm::Exact(body.to_owned())),
            _ if plain(body) => return Ok(PathForm::Name(body.to_owned())),
            _ => {}
        }
    }
    let prefix = if anchored { "" } else { "**/" };
    let suffix = if folder.is_some() { "/**" } else { "" };
    let last = body.rsplit('/').next().unwrap_or(body);
    let inside = if folder.is_none() && !last.contains(['*', '?', '[', '{', '}']) {
        Reach::Inside
    } else {
        Reach::ItselfOnly
    };
    let glob = GlobBuilder::new(&format!("{prefix}{body}{suffix}"))
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|error| {
            format!(
                "the resource `{text}` is not a valid glob: {}; write `\\` before a character to match it literally",
                error.kind()
            )
        })?;
    Ok(PathForm::Glob { glob, matcher: OnceLock::new(), inside })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, path: &str, expected: bool) {
        assert_eq!(Pattern::parse(pattern).unwrap().matches_path(path), expected, "{pattern:?} {path:?}");
    }

    #[test]
    fn paths_follow_the_table() {
        for (pattern, path, expected) in [
            ("*", "a/b/c", true),
            ("**", ".", true),
            ("Makefile", "Makefile", true),
            ("Makefile", "sub/Makefile", true),
            ("Makefile", "/abs/Makefile", true),
            ("/Makefile", "Makefile", true),
            ("/Makefile", "sub/Makefile", false),
            ("./Makefile", "sub/Makefile", false),
            ("./Makefile", "./x/../Makefile", true),
            ("*.rs", "src/deep/a.rs", true),
            ("*.rs", "src/a.rs/b", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/deep/a.rs", false),
            ("src/*.rs", "sub/src/a.rs", false),
            ("src/**", "src/a/b", true),
            ("src/**", "src", false),
            ("src/**", "srcs/a", false),
            ("src/**/*.rs", "src/a.rs", true),
            ("src/**/*.rs", "src/a/b.rs", true),
            ("**/secret", "a/b/secret/key", true),
            ("docs", "docs/a/b", true),
            ("docs", "x/docs/a", true),
            ("docs", "mydocs", false),
            ("src/gen", "src/gen/a", true),
            ("src/gen", "src/generated", false),
            ("build/", "build/a", true),
            ("build/", "x/build/a", true),
            ("build/", "build", false),
            ("//etc/hosts", "/etc/hosts", true),
            ("//etc/hosts", "etc/hosts", false),
            ("//etc/**", "/etc/a/b", true),
            ("/etc/**", "/etc/a", false),
            ("{a,b}/*.txt", "b/x.txt", true),
            ("[ab].txt", "deep/a.txt", true),
            (r"\*.txt", "*.txt", true),
            (r"\*.txt", "a.txt", false),
            ("a/b", "a//b/", true),
            ("a/b", "a/./c/../b", true),
            ("a/b", "../a/b", false),
            ("src/**", "src/../.env", false),
            (".env", "src/../.env", true),
        ] {
            check(pattern, path, expected);
        }
    }

    #[test]
    fn the_exact_pattern_of_a_path_matches_it_and_not_its_neighbours() {
        for path in ["Makefile", "src/a.rs", "/etc/hosts", "a*b/{c}", "[x]", r"back\slash"] {
            check(&exact_path(path), path, true);
            check(&exact_path(path), &format!("other/{path}"), false);
        }
    }

    #[test]
    fn bad_patterns_say_what_to_do() {
        for (pattern, expected) in [
            ("", "write `*` for anything"),
            ("  ", "write `*` for anything"),
            ("a\u{1}b", "U+0001"),
            ("src/[a", "is not a valid glob"),
            ("src/{a", "is not a valid glob"),
        ] {
            let error = Pattern::parse(pattern).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert!(Pattern::parse(&"x".repeat(1001)).unwrap_err().contains("at most 1000"));
        assert!(Pattern::parse(&"[!a]".repeat(250)).unwrap().matches_path(&"b".repeat(250)));
    }
}
