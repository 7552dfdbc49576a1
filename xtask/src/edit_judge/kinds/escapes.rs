//! Characters written as escapes: for JSON, HTML or Markdown, once or more often.

use super::super::claim::Claim::{self, Decidable, TruthOrRefusal};
use super::super::draft::Draft;
use super::super::random::Choices;
use super::Family::Wrapper;
use super::Goal::{NotCode, Understood};
use super::Stage::{Patch, Strings};
use super::{EDIT, Noise, PATCHES, noise, toward};

pub(super) const NOISES: &[Noise] = &[
    toward(Understood, noise("a JSON string with its quotes", Strings, Wrapper, EDIT, json_quoted)),
    toward(Understood, noise("JSON quotes on old alone", Strings, Wrapper, EDIT, json_quoted_old)),
    toward(Understood, noise("JSON escapes without quotes", Strings, Wrapper, EDIT, json_escaped::<1>)),
    toward(Understood, noise("JSON escapes twice", Strings, Wrapper, EDIT, json_escaped::<2>)),
    toward(Understood, noise("JSON escapes three times", Strings, Wrapper, EDIT, json_escaped::<3>)),
    toward(Understood, noise("a patch as a JSON string", Patch, Wrapper, PATCHES, json_patch)),
    noise("newlines as \\n", Strings, Wrapper, EDIT, newlines),
    noise("tabs as \\t", Strings, Wrapper, EDIT, tabs),
    noise("quotes with backslashes", Strings, Wrapper, EDIT, quotes),
    noise("apostrophes with backslashes", Strings, Wrapper, EDIT, apostrophes),
    noise("doubled backslashes", Strings, Wrapper, EDIT, backslashes),
    toward(Understood, noise("\\u003c for <", Strings, Wrapper, EDIT, unicode_escapes)),
    toward(Understood, noise("\\u003c in a patch", Patch, Wrapper, PATCHES, unicode_escapes_patch)),
    toward(Understood, noise("\\< and \\>", Strings, Wrapper, EDIT, angle)),
    toward(Understood, noise("\\_", Strings, Wrapper, EDIT, underscore)),
    toward(Understood, noise("\\$", Strings, Wrapper, EDIT, dollar)),
    noise("\\* and \\[ as in Markdown", Strings, Wrapper, EDIT, markdown),
    toward(NotCode, noise("entities everywhere", Strings, Wrapper, EDIT, entities)),
    toward(NotCode, noise("numeric entities", Strings, Wrapper, EDIT, numeric_entities)),
    toward(NotCode, noise("entities in some places", Strings, Wrapper, EDIT, some_entities)),
    toward(NotCode, noise("entities in a patch", Patch, Wrapper, PATCHES, entities_patch)),
    toward(NotCode, noise("entities in some lines of a patch", Patch, Wrapper, PATCHES, some_entities_patch)),
    noise("escapes of the file made real newlines", Strings, Wrapper, EDIT, unescaped),
];

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn json_inner(text: &str) -> String {
    let quoted = json(text);
    quoted[1..quoted.len() - 1].to_owned()
}

fn json_quoted(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.old = json(&draft.old);
    draft.new = json(&draft.new);
    Some(Decidable)
}

fn json_quoted_old(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    draft.old = json(&draft.old);
    let plain = !draft.new.contains('\\') && !draft.new.starts_with('"');
    Some(if plain { Decidable } else { TruthOrRefusal })
}

fn json_escaped<const TIMES: usize>(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    for _ in 0..TIMES {
        draft.old = json_inner(&draft.old);
        draft.new = json_inner(&draft.new);
    }
    Some(Decidable)
}

fn json_patch(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    draft.patch = if choices.percent(50) { json(&draft.patch) } else { json_inner(&draft.patch) };
    Some(Decidable)
}

/// Replaces in both strings, or in the old one alone; the text must not have the escape already.
fn both(draft: &mut Draft, choices: &mut Choices, change: impl Fn(&str) -> String) -> Option<Claim> {
    if draft.old.contains('\\') || draft.new.contains('\\') {
        return None;
    }
    let old = change(&draft.old);
    if old == draft.old {
        return None;
    }
    draft.old = old;
    if choices.percent(75) {
        draft.new = change(&draft.new);
    }
    Some(Decidable)
}

fn newlines(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    both(draft, choices, |text| text.replace('\n', "\\n"))
}

fn tabs(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    both(draft, choices, |text| text.replace('\t', "\\t"))
}

fn quotes(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    both(draft, choices, |text| text.replace('"', "\\\""))
}

fn apostrophes(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    both(draft, choices, |text| text.replace('\'', "\\'"))
}

fn backslashes(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if !draft.old.contains('\\') || draft.old.contains("\\\\") || draft.new.contains("\\\\") {
        return None;
    }
    draft.old = draft.old.replace('\\', "\\\\");
    draft.new = draft.new.replace('\\', "\\\\");
    Some(Decidable)
}

fn as_unicode(text: &str) -> String {
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026").replace('\'', "\\u0027")
}

fn unicode_escapes(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    both(draft, choices, as_unicode)
}

fn unicode_escapes_patch(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    body(draft, as_unicode, |_| true)
}

fn angle(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    both(draft, choices, |text| text.replace('<', "\\<").replace('>', "\\>"))
}

fn underscore(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    both(draft, choices, |text| text.replace('_', "\\_"))
}

fn dollar(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    both(draft, choices, |text| text.replace('$', "\\$"))
}

fn markdown(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    both(draft, choices, |text| text.replace('*', "\\*").replace('[', "\\[").replace(']', "\\]"))
}

fn entity(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

fn numeric(text: &str) -> String {
    let text = text.replace('&', "&#38;").replace('<', "&#60;").replace('>', "&#62;");
    text.replace('"', "&#34;").replace('\'', "&#39;")
}

/// A file that has entities of its own leaves it open which of them are meant.
fn has_entities(draft: &Draft) -> bool {
    let file = draft.truth();
    file.split('&').skip(1).any(|rest| {
        rest.starts_with('#')
            || ["amp;", "lt;", "gt;", "quot;", "apos;", "nbsp;"].iter().any(|name| rest.starts_with(name))
    })
}

fn by_entities(draft: &mut Draft, change: impl Fn(&str) -> String) -> Option<Claim> {
    let (old, new) = (change(&draft.old), change(&draft.new));
    if has_entities(draft) || old == draft.old {
        return None;
    }
    draft.old = old;
    draft.new = new;
    Some(Decidable)
}

fn entities(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    by_entities(draft, entity)
}

fn numeric_entities(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    by_entities(draft, numeric)
}

/// Only the angles or only the quotes: undone in the whole, they are what was meant.
fn some_entities(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    match choices.below(3) {
        0 => by_entities(draft, |text| text.replace("->", "-&gt;").replace("=>", "=&gt;")),
        1 => by_entities(draft, |text| text.replace("&&", "&#38;&#38;")),
        _ => by_entities(draft, |text| text.replace('"', "&#34;")),
    }
}

/// Changes lines of a patch that have a mark and are no headers.
fn body(draft: &mut Draft, change: impl Fn(&str) -> String, wanted: impl Fn(usize) -> bool) -> Option<Claim> {
    let mut old_changed = false;
    let mut index = 0;
    let lines: Vec<String> = draft
        .patch
        .split('\n')
        .map(|line| {
            let is_body =
                line.starts_with([' ', '-', '+']) && !line.starts_with("---") && !line.starts_with("+++");
            index += 1;
            if !is_body || !wanted(index) {
                return line.to_owned();
            }
            let changed = change(line);
            old_changed |= changed != line && !line.starts_with('+');
            changed
        })
        .collect();
    draft.patch = lines.join("\n");
    old_changed.then_some(Decidable)
}

fn entities_patch(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    if has_entities(draft) {
        return None;
    }
    body(draft, if choices.percent(50) { entity } else { numeric }, |_| true)
}

fn some_entities_patch(draft: &mut Draft, choices: &mut Choices) -> Option<Claim> {
    if has_entities(draft) {
        return None;
    }
    let parity = choices.below(2);
    body(draft, entity, |index| index % 2 == parity).map(|_| TruthOrRefusal)
}

/// A string of the file has an escaped newline; the model writes a real one.
fn unescaped(draft: &mut Draft, _: &mut Choices) -> Option<Claim> {
    if !draft.old.contains("\\n") || draft.old.contains("\\\\n") {
        return None;
    }
    draft.old = draft.old.replace("\\n", "\n");
    draft.new = draft.new.replace("\\n", "\n");
    Some(TruthOrRefusal)
}
