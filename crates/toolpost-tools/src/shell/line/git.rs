//! `git`: its options come before the subcommand, and some of both run other programs.

use super::effect::Effect;
use super::options::is_beginning_of;
use super::word::Word;

const RUNS: Effect = Effect::Unclear("git is told to run another program");

/// Options of subcommands that run a program.
const LONG: [&str; 9] = [
    "upload-pack",
    "receive-pack",
    "exec",
    "open-files-in-pager",
    "ext-diff",
    "extcmd",
    "config",
    "template",
    "config-env",
];

/// Subcommands with no option that runs a program, so that their arguments may be computed.
const PLAIN: [&str; 20] = [
    "add",
    "commit",
    "checkout",
    "switch",
    "status",
    "branch",
    "tag",
    "stash",
    "merge",
    "rm",
    "mv",
    "restore",
    "rev-parse",
    "ls-files",
    "cherry-pick",
    "reset",
    "rev-list",
    "cat-file",
    "merge-base",
    "describe",
];

/// The words without options that change nothing, and what git does beside its subcommand.
pub(super) fn effects(words: &[Word]) -> (Vec<Word>, Vec<Effect>) {
    let mut shown = vec![words[0].clone()];
    let mut at = 1;
    let subcommand = loop {
        let Some(word) = words.get(at) else { return (shown, Vec::new()) };
        let Some(text) = word.literal() else {
            shown.extend_from_slice(&words[at..]);
            return (shown, vec![Effect::Unclear("the subcommand is computed")]);
        };
        match text.as_str() {
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => at += 1,
            "-C" => {
                shown.extend(words[at..].iter().take(2).cloned());
                at += 2;
            }
            "--version" | "-v" | "--help" | "-h" | "--exec-path" | "--html-path" => {
                shown.extend_from_slice(&words[at..]);
                return (shown, Vec::new());
            }
            text if text.starts_with('-') => {
                shown.extend_from_slice(&words[at..]);
                return (shown, vec![RUNS]);
            }
            _ => break text,
        }
    };
    shown.extend_from_slice(&words[at..]);
    let mut effects = Vec::new();
    let arguments = &words[at + 1..];
    let mut before = String::new();
    for (place, word) in arguments.iter().enumerate() {
        let Some(text) = word.literal() else {
            let is_value = word.is_one()
                && matches!(before.as_str(), "-m" | "--message" | "-am" | "-F" | "--author" | "-b" | "-n");
            if word.may_hide_an_option() && !is_value && !PLAIN.contains(&subcommand.as_str()) {
                effects.push(RUNS);
            }
            before = String::new();
            continue;
        };
        if text == "--" {
            break;
        }
        effects.extend(of_argument(&subcommand, &text, arguments.get(place + 1)));
        before = text;
    }
    let runs_its_arguments = match subcommand.as_str() {
        "submodule" => arguments.iter().any(|word| word.literal().is_none_or(|text| text == "foreach")),
        "bisect" => arguments.first().is_none_or(|word| word.literal().is_none_or(|text| text == "run")),
        "filter-branch" | "difftool" | "mergetool" | "send-email" | "daemon" | "instaweb" | "web--browse"
        | "credential" | "for-each-repo" | "remote-ext" | "upload-pack" | "receive-pack" | "shell"
        | "gui" | "citool" | "maintenance" | "hook" | "p4" | "svn" | "cvsserver" | "fast-import" => true,
        _ => false,
    };
    if runs_its_arguments {
        effects.push(RUNS);
    }
    (shown, effects)
}

fn of_argument(subcommand: &str, text: &str, next: Option<&Word>) -> Option<Effect> {
    let is_message = subcommand == "commit";
    if text.contains("::") && text.starts_with("ext") && !is_message {
        return Some(RUNS);
    }
    if let Some(long) = text.strip_prefix("--") {
        if is_beginning_of(long, &["output", "output-directory"]) {
            let target = match long.split_once('=') {
                Some((_, target)) => Some(target.to_owned()),
                None => next.and_then(Word::literal),
            };
            return Some(Effect::Write(target));
        }
        return is_beginning_of(long, &LONG).then_some(RUNS);
    }
    let letters = text.strip_prefix('-')?;
    let runs = match subcommand {
        "grep" => letters.contains('O'),
        "rebase" => letters.contains('x'),
        "clone" => letters.contains(['u', 'c']),
        "archive" | "format-patch" => return letters.contains('o').then_some(Effect::Write(None)),
        _ => false,
    };
    runs.then_some(RUNS)
}
