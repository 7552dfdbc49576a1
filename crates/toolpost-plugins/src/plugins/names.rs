//! The names of tools in the registry: one canonical, and the spellings that lead to exactly one tool.

use crate::listed::Listed;
use crate::names;
use crate::upstream::Upstream;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use toolpost_core::dialect::Alias;
use toolpost_core::registry::Draft;

/// A tool with its names.
pub(super) struct Named {
    /// The canonical one.
    pub(super) name: String,
    spellings: Vec<String>,
    pub(super) listed: Arc<Listed>,
}

impl Named {
    /// A tool under a name that no other has.
    pub(super) fn new(upstream: &Upstream, listed: Listed, taken: &mut BTreeSet<String>) -> Named {
        let (server, part) = (&upstream.server().name, upstream.part());
        let mut name = names::canonical(part, &listed.name);
        if !taken.insert(name.clone()) {
            name = names::apart(&name, &format!("{server}/{}", listed.name));
            taken.insert(name.clone());
        }
        Named { spellings: names::spellings(server, part, &listed.name), name, listed: Arc::new(listed) }
    }
}

/// Takes away all other names of these tools.
pub(super) fn forget<'a>(draft: &mut Draft, tools: impl Iterator<Item = &'a Named>) {
    for tool in tools {
        for spelling in &tool.spellings {
            draft.remove_alias(spelling);
        }
    }
}

/// Gives these tools their other names. A spelling that could mean two tools means neither: which one would depend on
/// who started first. Nor does one that has a meaning of its own.
pub(super) fn spell<'a>(draft: &mut Draft, tools: impl Iterator<Item = &'a Named>) {
    let mut meant: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for tool in tools {
        for spelling in &tool.spellings {
            meant.entry(spelling).or_default().insert(&tool.name);
        }
    }
    for (spelling, tools) in meant {
        if let (1, Some(tool)) = (tools.len(), tools.first())
            && draft.is_free(spelling)
        {
            // It is free, and its tool has just been registered.
            let _ = draft.add_alias(Alias::new(spelling, *tool));
        }
    }
}
