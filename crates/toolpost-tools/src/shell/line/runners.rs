//! Programs that run what follows one of their subcommands, in an environment that they prepare.

use super::effect::Effect;
use super::word::Word;
use super::wrappers::UNREAD;

/// Programs and their subcommands; one without a subcommand runs its arguments. Options before the inner command are
/// not read.
#[rustfmt::skip]
const RUNNERS: &[(&str, &str)] = &[
    ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("rye", "run"), ("hatch", "run"),
    ("conda", "run"), ("mamba", "run"), ("bundle", "exec"), ("rbenv", "exec"), ("pyenv", "exec"),
    ("nodenv", "exec"), ("asdf", "exec"), ("pnpm", "exec"), ("yarn", "exec"), ("npm", "exec"), ("npm", "x"),
    ("mise", "exec"), ("mise", "x"), ("op", "run"), ("doppler", "run"), ("xcrun", ""), ("rustup", "run"),
    ("lerna", "exec"), ("nx", "exec"), ("pixi", "run"), ("micromamba", "run"), ("devbox", "run"),
    ("opam", "exec"), ("stack", "exec"), ("cabal", "exec"), ("mix", "cmd"), ("fnm", "exec"), ("volta", "run"),
    ("npm", "explore"), ("corepack", ""),
];

/// `uv run pytest` is a command of its own, and runs `pytest`.
pub(super) fn effects(name: &str, words: &[Word]) -> Option<Vec<Effect>> {
    let second = words.get(1).and_then(Word::literal)?;
    // An option may have a value, so any later word may be the subcommand.
    if second.starts_with(['-', '+']) {
        let is_runner = |word: &Word| {
            let text = word.literal();
            let is_one = |(program, subcommand): &(&str, &str)| {
                *program == name
                    && text.as_deref().is_none_or(|text| subcommand.is_empty() || text == *subcommand)
            };
            RUNNERS.iter().any(is_one)
        };
        return words[2..].iter().any(is_runner).then(|| vec![Effect::Own, UNREAD]);
    }
    let (_, subcommand) = RUNNERS
        .iter()
        .find(|(program, subcommand)| *program == name && (subcommand.is_empty() || *subcommand == second))?;
    let mut at = if subcommand.is_empty() { 1 } else { 2 };
    // The toolchain, or the package, in which it runs.
    if name == "rustup" || *subcommand == "explore" {
        at += 1;
    }
    if words.get(at).is_some_and(|word| word.literal().as_deref() == Some("--")) {
        at += 1;
    }
    Some(match words.get(at..) {
        None | Some([]) => vec![Effect::Own],
        Some([first, ..]) if first.beginning().starts_with('-') || first.literal().is_none() => {
            vec![Effect::Own, UNREAD]
        }
        Some(inner) => vec![Effect::Own, Effect::Run(inner.to_vec())],
    })
}
