//! Patches with wrong, missing or strange headers, and with text around them.

use super::super::claim::Claim::{self, Decidable, TruthOrRefusal};
use super::super::draft::Draft;
use super::super::random::Choices;
use super::Family::Wrapper;
use super::Goal::Understood;
use super::Stage::Patch;
use super::{Noise, PATCHES, UNIFIED, noise, toward};

pub(super) const NOISES: &[Noise] = &[
    unified("wrong counts in @@", counts),
    unified("wrong line numbers in @@", numbers),
    unified("@@ without numbers", no_numbers),
    unified("@@ with dots", dots),
    unified("no @@ at all", no_header),
    unified("the line of a function behind @@", function),
    toward(Understood, unified("only +++", only_new)),
    unified("only ---", only_old),
    unified("paths without a/ and b/", no_letters),
    unified("headers of git", git_headers),
    unified("times behind the paths", times),
    unified("a patch from git format-patch", mail),
    unified("Index: before the headers", index_header),
    unified("counts left out", counts_left_out),
    unified("a note about the final newline", final_newline_note),
    unified("a combined diff's @@@", triple_at),
    noise("a fence around the patch", Patch, Wrapper, PATCHES, fence),
    noise("a fence with diff", Patch, Wrapper, PATCHES, fence_diff),
    noise("sentences around the patch", Patch, Wrapper, PATCHES, sentences),
    noise("the whole patch indented", Patch, Wrapper, PATCHES, indented),
    noise("no newline at the end of the patch", Patch, Wrapper, PATCHES, cut_newline),
    noise("blank lines at the end of the patch", Patch, Wrapper, PATCHES, blank_end),
    toward(Understood, noise("CDATA around the patch", Patch, Wrapper, PATCHES, cdata)),
    toward(Understood, noise("a coloured diff", Patch, Wrapper, UNIFIED, coloured)),
    noise("./ before the path", Patch, Wrapper, PATCHES, dot_path),
];

const fn unified(name: &'static str, apply: super::Apply) -> Noise {
    noise(name, Patch, Wrapper, UNIFIED, apply)
}

/// Changes the headers of hunks, which begin with `@@ -`.
fn hunk_headers(draft: &mut Draft, mut change: impl FnMut(&str) -> String) {
    let lines: Vec<String> = draft
        .patch
        .split('\n')
        .map(|line| if line.starts_with("@@ -") { change(line) } else { line.to_owned() })
        .collect();
    draft.patch = lines.join("\n");
}

/// The four numbers of a header.
fn parse(header: &str) -> Option<[usize; 4]> {
    let mut found =
        header.split(|character: char| !character.is_ascii_digit()).filter_map(|text| text.parse().ok());
    Some([found.next()?, found.next()?, found.next()?, found.next()?])
}

fn counts(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let by = 1 + choices.below(4);
    let more = choices.percent(50);
    let wrong = |count: usize| if more { count + by } else { count.saturating_sub(by) };
    hunk_headers(draft, |line| match parse(line) {
        Some([old, old_count, new, new_count]) => {
            format!("@@ -{old},{} +{new},{} @@", wrong(old_count), wrong(new_count))
        }
        None => line.to_owned(),
    });
    // More lines than there are can mean that the end of the patch was cut off.
    Some(if more { TruthOrRefusal } else { Decidable })
}

fn numbers(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let by = if choices.percent(50) { 1 + choices.below(5) } else { 20 + choices.below(200) };
    hunk_headers(draft, |line| match parse(line) {
        Some([old, old_count, new, new_count]) => {
            format!("@@ -{},{old_count} +{},{new_count} @@", old + by, new + by)
        }
        None => line.to_owned(),
    });
    draft.has_numbers = false;
    Some(Decidable)
}

fn no_numbers(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    hunk_headers(draft, |_| "@@".to_owned());
    draft.has_numbers = false;
    Some(Decidable)
}

fn dots(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let header = *choices.pick(&["@@ ... @@", "@@ -1,1 +1,1 @@", "@@ @@", "@@ -0,0 +0,0 @@"])?;
    hunk_headers(draft, |_| header.to_owned());
    draft.has_numbers = false;
    Some(Decidable)
}

fn no_header(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if draft.blocks.len() > 1 {
        return None;
    }
    let lines: Vec<&str> = draft.patch.split('\n').filter(|line| !line.starts_with("@@ -")).collect();
    draft.patch = lines.join("\n");
    draft.has_numbers = false;
    Some(TruthOrRefusal)
}

fn function(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let text = *choices.pick(&["def run(self):", "func (v *Viper) Get(key string) any {", "class Base {"])?;
    hunk_headers(draft, |line| format!("{line} {text}"));
    Some(Decidable)
}

fn without(draft: &mut Draft, start: &str) {
    let mut done = false;
    let lines: Vec<&str> = draft
        .patch
        .split('\n')
        .filter(|line| {
            let drop = !done && line.starts_with(start);
            done |= drop;
            !drop
        })
        .collect();
    draft.patch = lines.join("\n");
}

fn only_new(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    without(draft, "--- a/");
    Some(Decidable)
}

fn only_old(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    without(draft, "+++ b/");
    Some(TruthOrRefusal)
}

fn no_letters(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = draft.patch.replacen("--- a/", "--- ", 1).replacen("+++ b/", "+++ ", 1);
    Some(Decidable)
}

fn git_headers(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let path = &draft.path;
    draft.patch = format!("diff --git a/{path} b/{path}\nindex 1a2b3c4..5d6e7f8 100644\n{}", draft.patch);
    Some(Decidable)
}

fn times(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let path = &draft.path;
    draft.patch = draft
        .patch
        .replacen(&format!("--- a/{path}"), &format!("--- {path}\t2024-03-01 10:00:00.000000000 +0100"), 1)
        .replacen(&format!("+++ b/{path}"), &format!("+++ {path}\t2024-03-01 10:05:00.000000000 +0100"), 1);
    Some(Decidable)
}

fn mail(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let path = &draft.path;
    draft.patch = format!(
        "From 1a2b3c4d5e6f Mon Sep 17 00:00:00 2001\nFrom: A Person <a@example.com>\nDate: Fri, 1 Mar 2024 10:00:00 +0100\n\
         Subject: [PATCH] Change it\n\n---\n {path} | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n\
         diff --git a/{path} b/{path}\nindex 1a2b3c4..5d6e7f8 100644\n{}-- \n2.44.0\n\n",
        draft.patch
    );
    Some(Decidable)
}

fn index_header(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = format!("Index: {}\n{}\n{}", draft.path, "=".repeat(67), draft.patch);
    Some(Decidable)
}

fn counts_left_out(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    hunk_headers(draft, |line| match parse(line) {
        Some([old, _, new, _]) => format!("@@ -{old} +{new} @@"),
        None => line.to_owned(),
    });
    Some(Decidable)
}

fn final_newline_note(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch.push_str("\\ No newline at end of file\n");
    // The file does have one; at its end the note asks to take it away.
    if draft.blocks.last()?.end() == draft.before.len() {
        let truth = draft.truth();
        draft.accepted.push(truth.trim_end_matches(['\n', '\r']).to_owned());
    }
    Some(TruthOrRefusal)
}

fn triple_at(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    hunk_headers(draft, |line| line.replace("@@", "@@@"));
    Some(TruthOrRefusal)
}

fn fence(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = format!("```\n{}```\n", draft.patch);
    Some(Decidable)
}

fn fence_diff(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = format!("```diff\n{}```", draft.patch);
    Some(Decidable)
}

fn sentences(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch =
        format!("Here is the patch:\n\n```diff\n{}```\n\nThis changes what was asked.\n", draft.patch);
    Some(Decidable)
}

fn indented(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let deeper = |line: &str| if line.is_empty() { String::new() } else { format!("    {line}") };
    draft.patch = draft.patch.split('\n').map(deeper).collect::<Vec<_>>().join("\n");
    Some(TruthOrRefusal)
}

fn cut_newline(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = draft.patch.trim_end_matches('\n').to_owned();
    Some(Decidable)
}

fn blank_end(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch.push_str("\n\n");
    Some(Decidable)
}

fn cdata(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.patch = format!("<![CDATA[\n{}]]>", draft.patch);
    Some(Decidable)
}

fn coloured(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let paint = |line: &str| {
        let colour = match line.chars().next() {
            Some('+') => "32",
            Some('-') => "31",
            Some('@') => "36",
            _ => return line.to_owned(),
        };
        format!("\u{1b}[{colour}m{line}\u{1b}[m")
    };
    draft.patch = draft.patch.split('\n').map(paint).collect::<Vec<_>>().join("\n");
    Some(Decidable)
}

fn dot_path(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let path = draft.path.clone();
    draft.patch = draft
        .patch
        .replace(&format!("a/{path}"), &format!("./{path}"))
        .replace(&format!("b/{path}"), &format!("./{path}"))
        .replace(&format!("File: {path}"), &format!("File: ./{path}"));
    Some(Decidable)
}
