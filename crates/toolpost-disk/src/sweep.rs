//! Every selected file with its stamp. A folder whose own stamp is as it was has the same names in it, so only its files
//! are looked at, by their last name beneath its handle; a folder that changed is listed anew.
//!
//! What was seen is believed only if a change would show: a stamp that is too recent counts as changed, and folders of file
//! systems that are not known to keep their times are listed each time.

mod compare;
mod fan_out;
mod list;
mod memory;
mod stamp;

#[cfg(test)]
mod tests;

use self::compare::Look;
use self::list::{Listed, Wanted};
use self::memory::{Known, RootMemory, key};
use self::stamp::Clock;
use super::outer::{self, Excludes};
use super::roots::{Failure, Roots};
use std::collections::BTreeSet;
use std::sync::Arc;
use toolpost_core::workspace::{FileStamp, Select, SweepMemory};
use toolpost_walk::Rules;

/// A tree with more repositories in it is listed each time: each of them keeps a handle open.
const MOST_REPOSITORIES: usize = 64;

/// The selected files below all roots. Blocking.
pub(super) fn sweep(
    roots: &Roots,
    excludes: &Excludes,
    select: &dyn Select,
    memory: &mut SweepMemory,
) -> Result<Vec<(String, FileStamp)>, Failure> {
    sweep_at(&Clock::now(), roots, excludes, select, memory)
}

fn sweep_at(
    clock: &Clock,
    roots: &Roots,
    excludes: &Excludes,
    select: &dyn Select,
    memory: &mut SweepMemory,
) -> Result<Vec<(String, FileStamp)>, Failure> {
    let mut known: Vec<RootMemory> = memory.take().unwrap_or_default();
    known.resize_with(roots.names.len(), RootMemory::default);
    let mut found = Vec::new();
    for (root, known) in known.iter_mut().enumerate() {
        let sweep = Sweep { clock, roots, root, select };
        sweep.run(excludes, known, &mut found)?;
    }
    if roots.names.len() > 1 {
        // A root may lie inside of another one.
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        found.dedup_by(|a, b| a.0 == b.0);
    }
    if known.iter().map(RootMemory::repositories).sum::<usize>() <= MOST_REPOSITORIES {
        memory.leave(known);
    }
    Ok(found)
}

/// A sweep of one root.
struct Sweep<'a> {
    clock: &'a Clock,
    roots: &'a Roots,
    root: usize,
    select: &'a dyn Select,
}

impl Sweep<'_> {
    fn run(
        &self,
        excludes: &Excludes,
        memory: &mut RootMemory,
        found: &mut Vec<(String, FileStamp)>,
    ) -> Result<(), Failure> {
        let outer = outer::rules(&self.roots.names[self.root].path, excludes);
        let mark = stamp::of_outer(&outer);
        if memory.outer != mark {
            *memory = RootMemory { outer: mark, ..RootMemory::default() };
        }
        let wanted = match memory.folders.is_empty() {
            true => vec![Wanted { below: String::new(), above: Rules::outside(outer).0 }],
            false => self.compare(memory),
        };
        self.list(memory, wanted)?;
        for known in memory.folders.values_mut() {
            for (name, stamp) in known.files.iter().zip(std::mem::take(&mut known.stamps)) {
                if let Some(stamp) = stamp {
                    found.push((format!("{}{name}", known.prefix), stamp));
                }
            }
        }
        Ok(())
    }

    /// Takes the stamps of files in folders that are as they were; the other folders must be listed anew.
    fn compare(&self, memory: &mut RootMemory) -> Vec<Wanted> {
        let folders: Vec<&Known> = memory.folders.values().collect();
        let looks = compare::compare(&self.roots.handles[self.root], &folders, self.clock);
        let mut changed: BTreeSet<String> = BTreeSet::new();
        let mut gone: Vec<String> = Vec::new();
        for ((key, known), look) in memory.folders.iter_mut().zip(looks) {
            match look {
                Look::Same(stamps) => known.stamps = stamps,
                Look::Changed => drop(changed.insert(key.clone())),
                Look::Gone => gone.push(key.clone()),
            }
        }
        for folder in gone {
            // The folder above it has changed too, unless this one can only not be reached any more.
            memory.drop_tree(&folder);
            changed.insert(folder.rsplit_once('\0').map_or("", |(above, _)| above).to_owned());
        }
        let known = changed.into_iter().filter_map(|key| memory.folders.get(&key));
        known.map(|known| Wanted { below: known.below.clone(), above: Arc::clone(&known.above) }).collect()
    }

    /// Lists folders, and those below them that are new or whose rules have changed.
    fn list(&self, memory: &mut RootMemory, mut wanted: Vec<Wanted>) -> Result<(), Failure> {
        let mut is_first = true;
        while !wanted.is_empty() {
            let listed = list::all(self, &wanted);
            let mut next: Vec<Wanted> = Vec::new();
            for (wanted, listed) in wanted.iter().zip(listed) {
                let key = key(&wanted.below);
                if is_first && !wanted.below.is_empty() && !memory.folders.contains_key(&key) {
                    // A folder above it was listed anew: it is not there any more, or has its turn in the next round.
                    continue;
                }
                match listed {
                    Ok(Some(listed)) => put(memory, key, listed, &mut next),
                    Ok(None) => memory.drop_tree(&key),
                    Err(failure) => return Err(failure),
                }
            }
            wanted = next;
            is_first = false;
        }
        Ok(())
    }
}

/// Puts a folder into memory, in place of what was known of it, and says which folders below it are to be listed.
fn put(memory: &mut RootMemory, key: String, listed: Listed, next: &mut Vec<Wanted>) {
    let Listed { mut known, folders } = listed;
    let mut children: BTreeSet<Box<str>> = BTreeSet::new();
    match memory.folders.remove(&key) {
        Some(old) if Arc::ptr_eq(&old.above, &known.above) && stamp::all_same(&old.ruled, &known.ruled) => {
            known.rules = old.rules;
            children.extend(old.folders);
        }
        _ => memory.drop_below(&key),
    }
    for (name, is_for_tracked) in folders {
        if !children.remove(name.as_str()) {
            let above = if is_for_tracked { known.rules.only_tracked() } else { Arc::clone(&known.rules) };
            next.push(Wanted { below: memory::below(&known.below, &name), above });
        }
        known.folders.push(name.into_boxed_str());
    }
    for gone in children {
        memory.drop_tree(&memory::key(&memory::below(&known.below, &gone)));
    }
    memory.folders.insert(key, known);
}
