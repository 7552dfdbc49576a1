//! Rounds of reading, editing and writing over generated files with secrets of many forms. A model here knows only what it was
//! shown. After each call, the file is the true one or unchanged, and no part of a value was shown.

use super::super::edit::content;
use super::super::{call, count, seed, shown};
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::text::Redactor;
use toolpost_core::{Context, Memory, Outcome, Workspace as _, WorkspacePath};

const NAME: &str = "settings.txt";

/// Random choices.
struct Choices(u64);

impl Choices {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn characters(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }
}

const LETTERS: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const BASE64: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789+/";

/// A value as such things look.
fn value(choices: &mut Choices) -> String {
    let length = 12 + choices.below(30);
    let letters = choices.characters(LETTERS, length);
    match choices.below(10) {
        0 => format!("ghp_{letters}"),
        1 => format!("sk-ant-api03-{letters}-{}", choices.characters(LETTERS, 6)),
        2 => format!("AKIA{}", choices.characters("ABCDEFGHJKLMNPQRSTUVWXYZ234567", 16)),
        3 => format!("eyJhbGciOiJIUzI1NiJ9.{letters}.{}", choices.characters(LETTERS, 20)),
        4 => format!("postgres://app:{letters}@db.example.com:5432/app?sslmode=require"),
        5 => format!("{}==", choices.characters(BASE64, 42)),
        6 => format!("{letters} with \"quotes\" and \\ {}", choices.characters(LETTERS, 5)),
        7 | 8 => pem(choices),
        _ => letters,
    }
}

fn pem(choices: &mut Choices) -> String {
    let kind = choices.pick(&["PRIVATE KEY", "RSA PRIVATE KEY", "CERTIFICATE"]);
    let lines: Vec<String> = (0..=choices.below(4)).map(|_| choices.characters(BASE64, 40)).collect();
    format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----", lines.join("\n"))
}

/// The lines of a value that tell something; of one line, the value itself.
fn parts(value: &str) -> Vec<&str> {
    value.lines().filter(|line| line.len() >= 8 && !line.starts_with("-----")).collect()
}

/// A value in the syntax of a kind of file, on lines of its own.
fn setting(form: usize, name: &str, value: &str) -> String {
    let quoted = Value::from(value).to_string();
    let key = name.to_lowercase();
    match form {
        0 => format!("{name}={value}"),
        1 => format!("  \"{key}\": {quoted},"),
        2 => format!("{key} = {quoted}"),
        3 => format!("{key}: |\n  {}", value.replace('\n', "\n  ")),
        4 => format!("export {name}='{value}'"),
        5 => format!("{key} = \"\"\"\n{value}\"\"\""),
        // A diff as a file.
        6 => format!("-{name}=old\n+{name}={}", value.replace('\n', "\n+")),
        _ => format!("// {name} is {value}, used below"),
    }
}

/// A file with these secrets between plain lines, each of which is there once.
fn file(choices: &mut Choices, secrets: &[(String, String)]) -> String {
    let form = choices.below(8);
    let mut text = String::new();
    let mut number = 0;
    let mut plain = |choices: &mut Choices, text: &mut String| {
        for _ in 0..=choices.below(4) {
            number += 1;
            let word = choices.characters("abcdefgh", 5);
            text.push_str(&setting(
                if form == 3 || form == 5 { 2 } else { form },
                &format!("LINE_{number}"),
                &word,
            ));
            text.push('\n');
        }
    };
    for (name, value) in secrets {
        plain(choices, &mut text);
        for _ in 0..=usize::from(choices.below(6) == 0) {
            text.push_str(&setting(form, name, value));
            text.push('\n');
        }
    }
    plain(choices, &mut text);
    text
}

/// The secrets of a session, and as its redactor knows them: a value of several lines also by its lines.
fn secrets(choices: &mut Choices) -> (Vec<(String, String)>, Redactor) {
    let names = ["GITHUB_TOKEN", "API_KEY", "DB_PASSWORD", "SIGNING_KEY"];
    let mut secrets: Vec<(String, String)> = Vec::new();
    for name in names.iter().take(1 + choices.below(names.len())) {
        // One may be a part of another, or the same.
        let value = match secrets.last() {
            Some((_, last)) if choices.below(8) == 0 && !last.contains('\n') => format!("{last}-more"),
            Some((_, last)) if choices.below(12) == 0 => last.clone(),
            _ => value(choices),
        };
        secrets.push(((*name).to_owned(), value));
    }
    let known = secrets.iter().flat_map(|(name, value)| {
        let lines = if value.contains('\n') { parts(value) } else { Vec::new() };
        std::iter::once(value.as_str()).chain(lines).map(move |part| (name.as_str(), part))
    });
    let redactor = Redactor::new(known.collect::<Vec<_>>());
    (secrets, redactor)
}

/// What the session has shown must not have any part of a value.
fn nothing_is_shown(outcome: &Outcome, secrets: &[(String, String)]) {
    let data = match &outcome.result {
        Ok(output) => output.data.to_string(),
        Err(error) => format!("{error:?}"),
    };
    let all = format!("{}\n{}\n{data}", shown(outcome), outcome.to_text());
    for (name, value) in secrets {
        for part in parts(value) {
            let escaped = Value::from(part).to_string();
            let is_shown = all.contains(part) || all.contains(escaped.trim_matches('"'));
            assert!(!is_shown, "{name} is shown: {all}");
        }
    }
}

/// Lines that a model was shown, and the true ones below them.
struct Seen {
    shown: Vec<String>,
    truth: Vec<String>,
}

/// One change as a model would make it: some line that has no value gets another end.
fn changed(choices: &mut Choices, seen: &Seen, word: &str) -> Option<(usize, Seen)> {
    let plain: Vec<usize> = (0..seen.shown.len())
        .filter(|at| seen.shown[*at].contains("LINE_") || seen.shown[*at].contains("line_"))
        .collect();
    if plain.is_empty() || seen.shown.len() != seen.truth.len() {
        return None;
    }
    let at = choices.pick(&plain);
    let (mut shown, mut truth) = (seen.shown.clone(), seen.truth.clone());
    for line in [&mut shown[at], &mut truth[at]] {
        let cut = line.trim_end_matches(['"', ',', '\'']).len();
        line.insert_str(cut, word);
    }
    Some((at, Seen { shown, truth }))
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The call that makes the change, in one of the forms that tools take.
fn request(choices: &mut Choices, before: &[String], after: &[String], at: usize) -> (&'static str, Value) {
    let first = at.saturating_sub(choices.below(4));
    let end = (at + 1 + choices.below(4)).min(before.len());
    let (old, new) = (&before[first..end], &after[first..end]);
    let hunk = |mark: char, lines: &[String]| -> String {
        lines.iter().map(|line| format!("{mark}{line}\n")).collect()
    };
    let body = match choices.below(2) {
        // All lines again, those with a mark too.
        0 => format!("{}{}", hunk('-', old), hunk('+', new)),
        _ => {
            let (above, below) = (hunk(' ', &before[first..at]), hunk(' ', &before[at + 1..end]));
            format!("{above}-{}\n+{}\n{below}", before[at], after[at])
        }
    };
    match choices.below(7) {
        0 => ("write", json!({"filePath": NAME, "content": joined(after)})),
        1 => ("edit", json!({"filePath": NAME, "oldString": joined(old), "newString": joined(new)})),
        2 => {
            let spaced = |lines: &[String]| lines.join("  \n");
            ("edit", json!({"filePath": NAME, "oldString": spaced(old), "newString": new.join("\n")}))
        }
        3 => {
            let one = json!({"oldString": old.join("\n"), "newString": new.join("\n")});
            ("edit", json!({"filePath": NAME, "edits": [one]}))
        }
        4 => {
            let (first, count) = (first + 1, end - first);
            let patch =
                format!("--- a/{NAME}\n+++ b/{NAME}\n@@ -{first},{count} +{first},{count} @@\n{body}");
            ("apply_patch", json!({ "patch": patch }))
        }
        5 => {
            let patch = format!("*** Begin Patch\n*** Update File: {NAME}\n@@\n{body}*** End Patch\n");
            ("apply_patch", json!({ "patch": patch }))
        }
        _ => {
            let patch = format!("*** Begin Patch\n*** Add File: {NAME}\n{}*** End Patch\n", hunk('+', after));
            ("apply_patch", json!({ "patch": patch }))
        }
    }
}

/// Another word for a mark, as models write it.
fn with_another_word(choices: &mut Choices, args: &Value) -> Option<Value> {
    let word = choices.pick(&["[REDACTED]", "<redacted>", "[redacted: hidden]", "[redacted:OTHER_NAME]"]);
    let text = args.to_string();
    let (old, new) = text.split_once("newString").or_else(|| text.split_once("\"content\""))?;
    let start = new.find("[redacted:")?;
    let end = start + new[start..].find(']')? + 1;
    let name = if text.contains("newString") { "newString" } else { "\"content\"" };
    serde_json::from_str(&format!("{old}{name}{}{word}{}", &new[..start], &new[end..])).ok()
}

/// How many calls of some rounds landed and were refused.
#[derive(Default)]
struct Tally {
    calls: usize,
    landed: usize,
}

fn round(choices: &mut Choices, tally: &mut Tally) {
    let (secrets, redactor) = secrets(choices);
    let memory = Memory::new();
    let path = WorkspacePath::new(NAME);
    memory.write(&path, file(choices, &secrets).as_bytes()).unwrap();
    let ctx = Context::builder(Arc::new(memory)).redactor(redactor.clone()).build();
    for step in 0..3 {
        let before = String::from_utf8(content(&ctx, NAME)).unwrap();
        // By lines, as with numbers, or as a whole.
        let is_by_line = choices.below(2) == 0;
        let read = call(&ctx, "read", json!({"filePath": NAME, "lineNumbers": is_by_line}));
        nothing_is_shown(&read, &secrets);
        nothing_is_shown(&call(&ctx, "grep", json!({"pattern": ".", "path": NAME})), &secrets);
        let seen = match is_by_line {
            true => Seen {
                shown: lines(&before).iter().map(|line| redactor.redact(line).into_owned()).collect(),
                truth: lines(&before),
            },
            false => whole(&before, &redactor),
        };
        let Some((at, after)) = changed(choices, &seen, &format!("x{step}")) else { continue };
        let (tool, args) = request(choices, &seen.shown, &after.shown, at);
        if choices.below(6) == 0
            && let Some(args) = with_another_word(choices, &args)
        {
            let outcome = call(&ctx, tool, args.clone());
            nothing_is_shown(&outcome, &secrets);
            let kept = String::from_utf8(content(&ctx, NAME)).unwrap();
            assert_eq!(kept, before, "{tool} {args}: {}", shown(&outcome));
            continue;
        }
        let outcome = call(&ctx, tool, args.clone());
        nothing_is_shown(&outcome, &secrets);
        let found = String::from_utf8(content(&ctx, NAME)).unwrap();
        let truth = joined(&after.truth);
        tally.calls += 1;
        tally.landed += usize::from(outcome.is_success());
        let expected = if outcome.is_success() { &truth } else { &before };
        assert_eq!(&found, expected, "{tool} {args} on {before}: {}", shown(&outcome));
    }
}

/// The file as it is shown in one piece: a value of several lines is one line there.
fn whole(before: &str, redactor: &Redactor) -> Seen {
    let shown = lines(&redactor.redact(before));
    let mut truth = Vec::new();
    let mut rest = before;
    for line in &shown {
        // Each shown line is redacted from as few lines as say the same.
        let ends = rest.match_indices('\n').map(|(at, _)| at);
        let end = ends.into_iter().find(|end| redactor.redact(&rest[..*end]) == *line).unwrap();
        truth.push(rest[..end].to_owned());
        rest = &rest[end + 1..];
    }
    Seen { shown, truth }
}

#[test]
fn guarantee_50_no_round_loses_or_shows_a_value() {
    let mut choices = Choices(seed("redacted rounds"));
    let rounds = count(60, 1_000);
    let mut tally = Tally::default();
    for _ in 0..rounds {
        round(&mut choices, &mut tally);
    }
    let Tally { calls, landed } = tally;
    println!(
        "measure: guarantee 50: {rounds} rounds of read, edit and write over files with secrets, {landed} of {calls} changes \
         landed, 0 bytes of a value lost, 0 shown"
    );
    assert!(landed * 10 >= calls * 8, "{landed} of {calls}");
}
