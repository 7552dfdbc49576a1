//! Which variables may be set without changing what a command does beyond its looks.

use super::word::Word;

/// Variables that no program takes for the name of a program or a file to run: safe to hand to any. `TERM` is not among
/// them, as it decides whether git starts an editor.
#[rustfmt::skip]
const SHOWING: &[&str] = &[
    "LANG", "LANGUAGE", "TZ", "CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CARGO_TERM_COLOR",
    "CARGO_TERM_VERBOSE", "CARGO_INCREMENTAL", "CARGO_NET_OFFLINE", "RUST_LOG", "RUST_BACKTRACE", "RUST_LIB_BACKTRACE",
    "RUST_TEST_THREADS", "COLORTERM", "COLUMNS", "LINES", "DEBUG", "VERBOSE", "LOG_LEVEL", "NODE_ENV", "RAILS_ENV",
    "RACK_ENV", "APP_ENV", "FLASK_ENV", "DO_NOT_TRACK", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED", "GIT_PAGER_IN_USE", "GIT_TERMINAL_PROMPT", "CGO_ENABLED", "GOOS", "GOARCH", "GOARM", "GOAMD64",
    "GOMAXPROCS", "GO111MODULE", "PORT", "HOST", "SOURCE_DATE_EPOCH", "DEBIAN_FRONTEND", "HUSKY",
    "NEXT_TELEMETRY_DISABLED", "PROPTEST_CASES", "INSTA_UPDATE", "OMP_NUM_THREADS",
];

/// Capital letters that people use for values of their own.
const OWN: [&str; 24] = [
    "FILE", "FILES", "DIR", "DIRS", "NAME", "OUT", "OUTPUT", "INPUT", "SRC", "DEST", "COUNT", "VERSION",
    "BRANCH", "RESULT", "STATUS", "ROOT", "TARGET", "URL", "TAG", "COMMIT", "MESSAGE", "LINE", "PID", "ITEM",
];

/// Whether a program may be given this variable.
pub(super) fn may_be_given(name: &str, values: &[Word]) -> bool {
    let is_plain = |text: &str| {
        !text.starts_with('/')
            && !text.contains("..")
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.:,=@/+-".contains(letter))
    };
    let is_known = SHOWING.contains(&name) || (name.starts_with("LC_") && is_name(name));
    is_known && values.iter().all(|value| value.literal().is_some_and(|text| is_plain(&text)))
}

/// Whether the shell may set this variable for itself: no program sees it, and the shell gives it no meaning.
pub(super) fn may_be_set(name: &str) -> bool {
    let is_lower =
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let has_meaning = name.contains("proxy")
        || name.starts_with("npm_")
        || matches!(name, "_" | "auto_resume" | "histchars" | "path" | "cdpath" | "fpath" | "module_path");
    is_name(name) && ((is_lower && !has_meaning) || SHOWING.contains(&name) || OWN.contains(&name))
}

/// Whether the text is the name of a variable and nothing else.
pub(super) fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(|first| first == b'_' || first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}
