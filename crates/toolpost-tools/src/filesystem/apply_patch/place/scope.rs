//! The lines that a hunk says it stands below: `@@ class A`.

use super::super::lines::Lines;
use super::super::patch::Hunk;
use super::{MOST_PLACES, Miss};
use crate::filesystem::effort::Effort;
use crate::filesystem::ladder::Step;

/// The lines below a header that belong to it: those indented deeper, and what closes them.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub(super) header: usize,
    pub(super) end: usize,
}

impl Scope {
    fn holds(&self, line: usize) -> bool {
        self.header <= line && line < self.end
    }
}

/// Where the last of a hunk's headers stands; none where the hunk has none.
pub(super) fn scopes(effort: &Effort, file: &Lines<'_>, hunk: &Hunk) -> Result<Vec<Scope>, Miss> {
    let mut scopes: Vec<Scope> = Vec::new();
    for (index, header) in hunk.headers.iter().enumerate() {
        effort.spend(file.text.len() + file.len())?;
        let wanted = header.text.trim();
        let mut found: Vec<usize> =
            (0..file.len()).filter(|at| file.all[*at].text.trim() == wanted).take(MOST_PLACES).collect();
        if found.is_empty() {
            found =
                (0..file.len()).filter(|at| file.all[*at].text.trim().starts_with(wanted)).take(2).collect();
            if found.len() > 1 {
                return Err(Miss::Ambiguous(Step::Exact, found.into_iter().map(|at| at + 1).collect()));
            }
        }
        if index > 0 {
            let inside = |at: &usize| scopes.iter().any(|scope| scope.header < *at && *at < scope.end);
            let below = |at: &usize| scopes.iter().any(|scope| scope.header < *at);
            match found.iter().any(inside) {
                true => found.retain(inside),
                false => found.retain(below),
            }
        }
        if found.is_empty() {
            return Err(Miss::Header(index));
        }
        scopes = Vec::with_capacity(found.len());
        for header in found {
            let end = end_of_scope(file, header);
            effort.spend((end - header) * 8)?;
            scopes.push(Scope { header, end });
        }
    }
    Ok(scopes)
}

fn end_of_scope(file: &Lines<'_>, header: usize) -> usize {
    let indent = |text: &str| text.len() - text.trim_start().len();
    let own = indent(file.all[header].text);
    let is_outside = |at: &usize| {
        let text = file.all[*at].text;
        let begins = text.trim_start().chars().next();
        begins.is_some_and(|first| {
            indent(text) < own
                || (indent(text) == own && (first.is_alphanumeric() || "_@#/\"'".contains(first)))
        })
    };
    (header + 1..file.len()).find(is_outside).unwrap_or(file.len())
}

/// Of the places those in the scope of the header; where none is, those below it. A header that stands several times
/// says nothing about which of several places is meant, only that it is below one of them.
pub(super) fn below(places: Vec<usize>, scopes: &[Scope]) -> Vec<usize> {
    let below = |place: &usize| scopes.iter().any(|scope| scope.header <= *place);
    let [scope] = scopes else {
        return places.into_iter().filter(|place| scopes.is_empty() || below(place)).collect();
    };
    let inside: Vec<usize> = places.iter().copied().filter(|place| scope.holds(*place)).collect();
    match inside.is_empty() {
        true => places.into_iter().filter(below).collect(),
        false => inside,
    }
}
