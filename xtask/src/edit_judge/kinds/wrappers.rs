//! Text around the strings of an edit that is not part of them.

use super::super::claim::Claim::{self, Decidable, TruthOrRefusal};
use super::super::draft::Draft;
use super::super::random::Choices;
use super::Family::Wrapper;
use super::Goal::Understood;
use super::Stage::Strings;
use super::{EDIT, Noise, noise, toward};

pub(super) const NOISES: &[Noise] = &[
    known("a fence around both", fence),
    known("a fence with the language", fence_language),
    known("a fence around old alone", fence_old),
    known("a fence of tildes", tildes),
    known("a fence without its end", fence_open),
    understood("CDATA around both", cdata),
    understood("CDATA around old alone", cdata_old),
    known("XML tags around both", tags),
    known("a parameter tag around both", parameter),
    understood("a leading @@ header in both", hunk_header),
    understood("a leading @@ header in old alone", hunk_header_old),
    understood("Lines 10-20: before both", lines_header),
    understood("Lines 10-20: before old alone", lines_header_old),
    understood("a path comment before both", path_comment),
    understood("a path comment before old alone", path_comment_old),
    known("a path and a colon before old", path_line),
    known("a sentence before old", sentence),
    known("a sentence before both", sentence_both),
    known("--- and +++ headers in the strings", file_headers),
    known("triple quotes around both", triple_quotes),
    known("backticks around both", backticks),
    known("dots before and behind both", dots),
    known("conflict marks of git around both", conflict),
    known("BEGIN and END around both", begin_end),
];

const fn known(name: &'static str, apply: super::Apply) -> Noise {
    noise(name, Strings, Wrapper, EDIT, apply)
}

const fn understood(name: &'static str, apply: super::Apply) -> Noise {
    toward(Understood, known(name, apply))
}

fn wrap(draft: &mut Draft, before: &str, after: &str) {
    wrap_old(draft, before, after);
    draft.new = format!("{before}{}{after}", draft.new);
}

fn wrap_old(draft: &mut Draft, before: &str, after: &str) {
    draft.bare();
    draft.old = format!("{before}{}{after}", draft.old);
}

/// In a file of Markdown the fences could be text.
fn unless_markdown(draft: &Draft) -> Claim {
    if matches!(draft.extension(), "md" | "txt") { TruthOrRefusal } else { Decidable }
}

fn fence(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    wrap(draft, "```\n", "\n```");
    Some(unless_markdown(draft))
}

fn fence_language(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let open = format!("```{}\n", draft.extension());
    wrap(draft, &open, "\n```\n");
    Some(unless_markdown(draft))
}

fn fence_old(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    wrap_old(draft, "```\n", "\n```");
    Some(unless_markdown(draft))
}

fn tildes(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    wrap(draft, "~~~\n", "\n~~~");
    Some(unless_markdown(draft))
}

fn fence_open(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let open = format!("```{}\n", draft.extension());
    wrap(draft, &open, "");
    Some(TruthOrRefusal)
}

fn cdata(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let newline = *choices.pick(&["", "\n"])?;
    wrap(draft, &format!("<![CDATA[{newline}"), &format!("{newline}]]>"));
    Some(Decidable)
}

fn cdata_old(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    wrap_old(draft, "<![CDATA[", "]]>");
    Some(Decidable)
}

fn tags(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    let newline = *choices.pick(&["", "\n"])?;
    wrap_old(draft, &format!("<old_string>{newline}"), &format!("{newline}</old_string>"));
    draft.new = format!("<new_string>{newline}{}{newline}</new_string>", draft.new);
    Some(TruthOrRefusal)
}

fn parameter(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    wrap_old(draft, "<parameter name=\"old_string\">", "</parameter>");
    draft.new = format!("<parameter name=\"new_string\">{}</parameter>", draft.new);
    Some(TruthOrRefusal)
}

fn header(draft: &mut Draft) -> String {
    draft.is_numbered = true;
    let (first, old, new) = (draft.block().first + 1, draft.old_lines().len(), draft.new_lines().len());
    format!("@@ -{first},{old} +{first},{new} @@\n")
}

fn hunk_header(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let header = header(draft);
    wrap(draft, &header, "");
    Some(Decidable)
}

fn hunk_header_old(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let header = header(draft);
    wrap_old(draft, &header, "");
    Some(Decidable)
}

fn numbered_header(draft: &mut Draft) -> String {
    draft.is_numbered = true;
    format!("Lines {}-{}:\n", draft.block().first + 1, draft.block().end())
}

fn lines_header(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let header = numbered_header(draft);
    wrap(draft, &header, "");
    Some(Decidable)
}

fn lines_header_old(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let header = numbered_header(draft);
    wrap_old(draft, &header, "");
    Some(Decidable)
}

fn path_in_comment(draft: &Draft) -> String {
    let (open, close) = draft.comment();
    format!("{open}{}{close}\n", draft.path)
}

fn path_comment(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let header = path_in_comment(draft);
    wrap(draft, &header, "");
    Some(Decidable)
}

fn path_comment_old(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let header = path_in_comment(draft);
    wrap_old(draft, &header, "");
    Some(Decidable)
}

fn path_line(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let header = format!("{}:\n", draft.path);
    wrap_old(draft, &header, "");
    Some(TruthOrRefusal)
}

fn sentence(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    wrap_old(draft, "Here is the current code:\n", "");
    Some(TruthOrRefusal)
}

fn sentence_both(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    wrap_old(draft, "Here is the current code:\n\n", "");
    draft.new = format!("Here is the new code:\n\n{}", draft.new);
    Some(TruthOrRefusal)
}

fn file_headers(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    let path = draft.path.clone();
    wrap_old(draft, &format!("--- a/{path}\n"), "");
    draft.new = format!("+++ b/{path}\n{}", draft.new);
    Some(TruthOrRefusal)
}

fn triple_quotes(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    wrap(draft, "\"\"\"\n", "\n\"\"\"");
    Some(TruthOrRefusal)
}

fn backticks(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    wrap(draft, "`", "`");
    Some(TruthOrRefusal)
}

fn dots(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    wrap(draft, "...\n", "\n...");
    Some(TruthOrRefusal)
}

fn conflict(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    wrap_old(draft, "<<<<<<< HEAD\n", "\n=======");
    draft.new = format!("=======\n{}\n>>>>>>> main", draft.new);
    Some(TruthOrRefusal)
}

fn begin_end(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    wrap(draft, "BEGIN\n", "\nEND");
    Some(TruthOrRefusal)
}
