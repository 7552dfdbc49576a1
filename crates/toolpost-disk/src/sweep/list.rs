//! Folders read anew: which of their entries are of interest, by the rules, the selection and the policy behind it.

use super::Sweep;
use super::fan_out::fan_out;
use super::memory::Known;
use super::stamp::{Raw, Ruled, keeps_times};
use crate::git;
use crate::roots::Failure;
use crate::scan::folder::{BUFFER, Found, OpenFolder};
use rustix::fs::fstat;
use rustix::io::Errno;
use std::path::Path;
use std::sync::Arc;
use toolpost_core::workspace::Kind;
use toolpost_walk::{Rules, Verdict};

/// With fewer folders a thread is not worth its start.
const WORTH_A_THREAD: usize = 8;

/// A folder to be listed.
pub(super) struct Wanted {
    pub(super) below: String,
    pub(super) above: Arc<Rules>,
}

/// A folder as it was found, and the folders in it: their names, and whether only tracked files in them are shown.
pub(super) struct Listed {
    pub(super) known: Known,
    pub(super) folders: Vec<(String, bool)>,
}

/// Lists folders, in their order; none for one that is not there any more. Only the root can fail.
pub(super) fn all(sweep: &Sweep<'_>, wanted: &[Wanted]) -> Vec<Result<Option<Listed>, Failure>> {
    let list = |buffer: &mut Vec<u8>, wanted: &Wanted| one(sweep, wanted, buffer);
    fan_out(wanted, WORTH_A_THREAD, || Vec::with_capacity(BUFFER), list)
}

fn one(sweep: &Sweep<'_>, wanted: &Wanted, buffer: &mut Vec<u8>) -> Result<Option<Listed>, Failure> {
    let folder = match OpenFolder::open(sweep.roots, sweep.root, &wanted.below) {
        Ok(folder) => folder,
        Err(failure) if wanted.below.is_empty() => return Err(failure),
        Err(Failure::Loop | Failure::Changed | Failure::NotAFolder) => return Ok(None),
        Err(Failure::System(Errno::NOENT | Errno::NOTDIR)) => return Ok(None),
        // It can be opened as soon as its mode allows it, which the folder above does not show.
        Err(_) => return Ok(Some(unreadable(wanted))),
    };
    let raw = fstat(&folder.handle).ok().map(|stat| Raw::of(&stat));
    let raw = raw.filter(|raw| sweep.clock.is_settled(raw) && keeps_times(&folder.handle));
    let mut listed = Listed {
        known: Known { prefix: folder.prefix.clone(), raw, ..Known::empty(wanted) },
        folders: Vec::new(),
    };
    let mut is_first = true;
    let mut path = folder.absolute_prefix();
    let mut name = folder.prefix.clone();
    let (path_prefix, name_prefix) = (path.len(), name.len());
    let read = folder.read(buffer, &mut |entries, all| {
        let Listed { known, folders } = &mut listed;
        if is_first {
            is_first = false;
            // What the rules are read from is looked at before it is read.
            let entries = all.then_some(&*entries);
            known.ruled = ruled(sweep, &folder, entries);
            known.is_repository = known.ruled.iter().any(|ruled| ruled.name.starts_with(".git/"));
            known.rules = wanted.above.below(&folder.absolute, folder.ignore_files(entries));
        }
        for found in entries.drain(..) {
            if !found.exact {
                continue;
            }
            path.truncate(path_prefix);
            path.push_str(&found.name);
            name.truncate(name_prefix);
            name.push_str(&found.name);
            if found.name.starts_with('.') && !sweep.select.looks_at_dotted(&name) {
                continue;
            }
            match found.kind {
                Kind::Folder => {
                    let verdict = known.rules.judge(&path, true);
                    if verdict == Verdict::LeftOut {
                        sweep.select.left_out(&name);
                    } else if sweep.select.admits(&name) {
                        folders.push((found.name, verdict == Verdict::OnlyTracked));
                    }
                }
                Kind::File => {
                    if !sweep.select.wants(&name) {
                        continue;
                    }
                    if known.rules.judge(&path, false) == Verdict::LeftOut {
                        sweep.select.left_out(&name);
                    } else if sweep.select.admits(&name)
                        && let Some(stamp) = sweep.clock.file(&folder.handle, &found.name)
                    {
                        known.files.push(found.name.into_boxed_str());
                        known.stamps.push(Some(stamp));
                    }
                }
                Kind::Link | Kind::Special => {}
            }
        }
        true
    });
    if read.is_err() {
        // Not read to its end.
        listed.known.raw = None;
    }
    Ok(Some(listed))
}

/// A folder that cannot be read: it is there, and empty.
fn unreadable(wanted: &Wanted) -> Listed {
    Listed { known: Known::empty(wanted), folders: Vec::new() }
}

/// The files that the rules of a folder are read from; `known` are its entries, if all of them are.
fn ruled(sweep: &Sweep<'_>, folder: &OpenFolder, known: Option<&Vec<Found>>) -> Vec<Ruled> {
    let find = |name: &str| known.and_then(|known| known.iter().find(|found| found.name == name));
    let may_have = |name: &str| known.is_none() || find(name).is_some();
    let look = |name: &str| Ruled::of(sweep.clock, &folder.handle, name);
    let mut all: Vec<Ruled> =
        [".ignore", ".rgignore", ".gitignore"].into_iter().filter(|name| may_have(name)).map(look).collect();
    if !may_have(".git") {
        return all;
    }
    all.extend([".git/index", ".git/info/exclude"].map(look));
    if find(".git").is_none_or(|found| found.kind != Kind::Folder) {
        // The repository may lie elsewhere.
        all.push(look(".git"));
        if let Some(repository) = git::repository(Path::new(&folder.absolute)) {
            let own = ["index", "gitdir", "commondir"].map(|name| repository.own.join(name));
            let shared = repository.shared.join("info/exclude");
            all.extend(own.iter().chain([&shared]).filter_map(|path| path.to_str()).map(look));
        }
    }
    all
}
