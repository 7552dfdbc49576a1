//! What a tree must be after a change was taken back: for every name what was there before the change, what the change left and
//! what is there now, and `git merge-file` for texts that both have changed.

use super::tree::{Copy, Name, Thing, is_git, parent};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// What was there before a change, and what it has left.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub before: Copy,
    pub after: Copy,
}

/// What a name must be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Want {
    Is(Option<Thing>),
    /// Both have changed it in a way of which the guide says nothing: one of these, or a refusal.
    OneOf(Vec<Option<Thing>>),
    /// A refusal.
    Conflict,
}

impl Want {
    /// A few words, for a report.
    pub(super) fn shown(&self) -> String {
        match self {
            Want::Is(thing) => Thing::shown(thing.as_ref()),
            Want::OneOf(things) => {
                things.iter().map(|thing| Thing::shown(thing.as_ref())).collect::<Vec<_>>().join(" or ")
            }
            Want::Conflict => "a refusal".to_owned(),
        }
    }
}

pub(super) type Wants = BTreeMap<Name, Want>;

impl Change {
    /// Names that it has changed.
    pub(super) fn names(&self) -> BTreeSet<&Name> {
        let all = self.before.names.keys().chain(self.after.names.keys());
        all.filter(|name| self.before.get(name) != self.after.get(name)).collect()
    }

    /// Names that it has changed and that are not recorded.
    pub(super) fn not_recorded(&self) -> Vec<&Name> {
        let is_odd = |name: &&Name| {
            let things = [self.before.get(name), self.after.get(name)];
            !is_text(name) || !things.into_iter().flatten().all(has_text)
        };
        self.names().into_iter().filter(is_odd).collect()
    }

    /// What every name must be once this change is taken back. `desk` is a folder to merge in.
    pub(super) fn taken_back(&self, now: &Copy, desk: &Path) -> Wants {
        let all = self.before.names.keys().chain(self.after.names.keys()).chain(now.names.keys());
        let all: BTreeSet<&Name> = all.collect();
        let mut wants: Wants =
            all.into_iter().map(|name| (name.clone(), self.want(name, now, desk))).collect();
        self.keep_folders(now, &mut wants);
        self.miss_folders(now, &mut wants);
        wants
    }

    fn want(&self, name: &Name, now: &Copy, desk: &Path) -> Want {
        let (before, after, here) = (self.before.get(name), self.after.get(name), now.get(name));
        let has_names = |copy: &Copy| copy.names.get(name).is_some_and(|seen| seen.names > 1);
        if before == after || here == before {
            return Want::Is(here.cloned());
        }
        if !is_text(name) || ![before, after].into_iter().flatten().all(has_text) {
            // Not recorded, which the call says.
            return Want::Is(here.cloned());
        }
        // Of a file with several names, only the one that was used is restored.
        let is_shared = has_names(&self.before) || has_names(&self.after) || has_names(now);
        if is_shared && before.is_some() {
            let mut all = vec![before.cloned(), after.cloned(), here.cloned()];
            if let (Some(before), Some(after), Some(here)) = (before, after, here)
                && let Want::Is(merged) = three(before, after, here, desk)
            {
                all.push(merged);
            }
            return Want::OneOf(all);
        }
        if after == here {
            return Want::Is(before.cloned());
        }
        if name == b".git/COMMIT_EDITMSG" {
            // Git only shows it.
            return Want::OneOf(vec![here.cloned()]);
        }
        if is_git(name) {
            return Want::Conflict;
        }
        match (before, after, here) {
            (Some(before), Some(after), Some(here)) => three(before, after, here, desk),
            (Some(before), None, Some(here)) if before.is_folder() && here.is_folder() => {
                Want::OneOf(vec![Some(before.clone()), Some(here.clone())])
            }
            (Some(before), None, Some(here))
                if before.bytes().is_some() && before.bytes() == here.bytes() =>
            {
                Want::OneOf(vec![Some(here.clone())])
            }
            (None, Some(after), Some(here)) if after.is_folder() && here.is_folder() => {
                Want::OneOf(vec![None, Some(here.clone())])
            }
            (Some(before), Some(after), None) if before.is_folder() && after.is_folder() => {
                Want::OneOf(vec![None])
            }
            _ => Want::Conflict,
        }
    }

    /// A folder that holds something stays.
    fn keep_folders(&self, now: &Copy, wants: &mut Wants) {
        let holds = |want: &Want| *want != Want::Is(None);
        let kept: BTreeSet<Name> =
            wants.iter().filter(|(_, want)| holds(want)).flat_map(|(name, _)| above(name)).collect();
        for name in kept {
            let Some(want) = wants.get_mut(&name) else { continue };
            let here = now.get(&name);
            match (&*want, here) {
                (Want::Is(None), Some(folder)) if folder.is_folder() => *want = Want::Is(here.cloned()),
                (Want::Is(Some(thing)), Some(folder)) if !thing.is_folder() && folder.is_folder() => {
                    *want = Want::Conflict;
                }
                _ => (),
            }
        }
    }

    /// Where a folder was removed by somebody else, what must come back in it has no place.
    fn miss_folders(&self, now: &Copy, wants: &mut Wants) {
        let mut loose = BTreeSet::new();
        for (name, want) in wants.iter().filter(|(_, want)| !matches!(want, Want::Is(None))) {
            let missing = |folder: &Name| match wants.get(folder) {
                Some(Want::Is(Some(thing))) => !thing.is_folder(),
                Some(Want::Is(None)) => true,
                _ => false,
            };
            let folders: Vec<Name> = above(name).filter(missing).collect();
            if !folders.is_empty() && *want != Want::Conflict {
                loose.insert(name.clone());
                loose.extend(folders);
            }
        }
        for name in loose {
            let copies = [&self.before, &self.after, now];
            wants.insert(name.clone(), Want::OneOf(copies.map(|copy| copy.get(&name).cloned()).to_vec()));
        }
    }
}

fn is_text(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok()
}

fn has_text(thing: &Thing) -> bool {
    !matches!(thing, Thing::Link { target } if !is_text(target))
}

fn above(name: &[u8]) -> impl Iterator<Item = Name> {
    std::iter::successors(parent(name).map(<[u8]>::to_vec), |name| parent(name).map(<[u8]>::to_vec))
}

/// The whole tree, where every name is certain.
pub(super) fn certain(wants: &Wants, now: &Copy) -> Option<Copy> {
    let mut copy = now.clone();
    for (name, want) in wants {
        let Want::Is(thing) = want else { return None };
        match thing {
            None => drop(copy.names.remove(name)),
            Some(thing) => {
                let seen = super::tree::Seen { thing: thing.clone(), written: 0, names: 1 };
                copy.names.entry(name.clone()).or_insert(seen).thing = thing.clone();
            }
        }
    }
    Some(copy)
}

/// Somebody else has changed what the change has left, and all three are there.
fn three(before: &Thing, after: &Thing, here: &Thing, desk: &Path) -> Want {
    let (Some(old), Some(left), Some(mode)) = (before.mode(), after.mode(), here.mode()) else {
        return Want::Conflict;
    };
    let content = match (before.bytes(), after.bytes(), here.bytes()) {
        (Some(before), Some(after), Some(here)) => match merged(before, after, here, desk) {
            Some(bytes) => Thing::File { bytes: Arc::from(bytes), mode },
            None => return Want::Conflict,
        },
        (None, None, None) => here.clone(),
        _ => return Want::Conflict,
    };
    let is_text = |thing: &Thing| thing.bytes().is_none_or(|bytes| std::str::from_utf8(bytes).is_ok());
    let mode = if old == left || mode == old {
        mode
    } else if left == mode {
        old
    } else {
        return Want::OneOf(vec![Some(content.with_mode(mode))]);
    };
    let content = content.with_mode(mode);
    let is_merged =
        [before, after].iter().all(|thing| thing.bytes() != here.bytes()) && before.bytes() != after.bytes();
    if is_merged && ![before, after, here].into_iter().all(is_text) {
        return Want::OneOf(vec![Some(content)]);
    }
    Want::Is(Some(content))
}

/// What git makes of it.
fn merged(before: &[u8], after: &[u8], here: &[u8], desk: &Path) -> Option<Vec<u8>> {
    if before == after || here == before {
        return Some(here.to_vec());
    }
    if after == here {
        return Some(before.to_vec());
    }
    for (name, bytes) in [("here", here), ("after", after), ("before", before)] {
        std::fs::write(desk.join(name), bytes).unwrap();
    }
    let mut command = Command::new("git");
    command.args(["merge-file", "-p", "-q", "here", "after", "before"]).current_dir(desk);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    output.status.success().then_some(output.stdout)
}
