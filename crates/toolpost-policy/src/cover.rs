//! Whether one rule covers all that another could match. Says yes only where that is certain.

use super::action::Action;
use super::names::Names;
use super::pattern::Pattern;
use super::rule::Rule;
use toolpost_text::wildcard;

/// Whether everything that `inner` matches is also matched by `outer`.
pub(super) fn covers(outer: &Rule, inner: &Rule, names: &Names) -> bool {
    !outer.is_protected()
        && action_covers(outer.action(), inner.action())
        && resource_covers(outer.resource(), inner.resource(), inner.action(), names)
}

fn action_covers(outer: &Action, inner: &Action) -> bool {
    match (outer, inner) {
        (Action::Everything, _) => true,
        (Action::Tool(outer), Action::Tool(inner)) => {
            outer == inner || (!wildcard::has_wildcard(inner) && wildcard::name_matches(outer, inner))
        }
        (outer, inner) => outer == inner,
    }
}

fn resource_covers(outer: &Pattern, inner: &Pattern, action: &Action, names: &Names) -> bool {
    if outer.is_everything() || outer.as_str() == inner.as_str() {
        return true;
    }
    if inner.is_everything() || inner.as_str().contains(['?', '[', '{', '\\']) {
        return false;
    }
    let kinds = names.kinds(action);
    (!kinds.path || path_covers(outer, inner.as_str()))
        && (!kinds.command || command_covers(outer.as_str(), inner.as_str()))
        && (!kinds.host || command_covers(outer.as_str(), inner.as_str()))
}

/// Certain where the outer pattern is a folder, and the inner one lies in it.
fn path_covers(outer: &Pattern, inner: &str) -> bool {
    let outer = outer.as_str();
    let inner = inner.trim_start_matches("./").trim_start_matches('/');
    let outer = outer.trim_start_matches("./").trim_start_matches('/');
    let Some(folder) = outer.strip_suffix("**") else { return false };
    folder.ends_with('/')
        && !folder.contains(['*', '?', '[', '{', '\\'])
        && inner.starts_with(folder)
        && inner.len() > folder.len()
}

/// Certain where the outer pattern is a beginning, and the inner one begins so.
fn command_covers(outer: &str, inner: &str) -> bool {
    let Some(beginning) = outer.strip_suffix('*') else { return false };
    if beginning.contains(['*', '?', '\\']) {
        return false;
    }
    inner.starts_with(beginning) || beginning.strip_suffix(' ').is_some_and(|bare| inner == bare)
}
