//! The search pack: files by their names, lines by their content.

mod glob;
mod grep;
mod name_pattern;
mod newest;
mod watch;

pub use glob::Glob;
pub use grep::Grep;

use toolpost_core::pack::RiskProfile;
use toolpost_core::policy::Profile;
use toolpost_core::workspace::ScanOptions;
use toolpost_core::{Context, Pack};

/// The pack.
pub fn pack() -> Pack {
    Pack::compiled_in(
        "search",
        "Finding files by name and lines by content.",
        RiskProfile::Fixed(Profile::ReadOnly),
        &["files", "search"],
    )
    .with(Glob)
    .with(Grep)
}

/// How a search that found nothing finds more: by which arguments, beside those of how to match; and what the session has
/// no argument for and was not looked at.
fn look_further(ctx: &Context, matching: &[(&str, bool)], options: ScanOptions) -> String {
    let left_out = [
        ("hidden", options.hidden, "names that begin with a dot"),
        ("noIgnore", options.no_ignore, "what .gitignore leaves out"),
    ];
    let ways = matching.iter().map(|(argument, is_set)| (*argument, *is_set));
    let ways = ways.chain(left_out.map(|(argument, is_set, _)| (argument, is_set)));
    let ways: Vec<String> =
        ways.filter(|(_, is_set)| !is_set).filter_map(|(argument, _)| ctx.spelled(argument, true)).collect();
    let unseen =
        left_out.into_iter().filter(|(argument, is_set, _)| !is_set && ctx.argument(argument).is_none());
    let unseen: Vec<&str> = unseen.map(|(_, _, what)| what).collect();
    let mut text = String::new();
    if !ways.is_empty() {
        text.push_str(&format!("; look further with {}", crate::alternatives(&ways)));
    }
    if !unseen.is_empty() {
        text.push_str(&format!("; not looked at: {}", unseen.join(", ")));
    }
    text
}
