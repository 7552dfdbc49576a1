//! A copy of the whole tree: what every name in it is. Of `.git` it has what git means, without objects and what git only notes.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// What a name is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Thing {
    File { bytes: Arc<[u8]>, mode: u32 },
    Link { target: Vec<u8> },
    Folder { mode: u32 },
    Other,
}

impl Thing {
    pub(super) fn is_folder(&self) -> bool {
        matches!(self, Thing::Folder { .. })
    }

    pub(super) fn mode(&self) -> Option<u32> {
        match self {
            Thing::File { mode, .. } | Thing::Folder { mode } => Some(*mode),
            _ => None,
        }
    }

    pub(super) fn with_mode(&self, mode: u32) -> Thing {
        match self {
            Thing::File { bytes, .. } => Thing::File { bytes: Arc::clone(bytes), mode },
            Thing::Folder { .. } => Thing::Folder { mode },
            other => other.clone(),
        }
    }

    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Thing::File { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// A few words, for a report.
    pub(super) fn shown(thing: Option<&Thing>) -> String {
        match thing {
            None => "nothing".to_owned(),
            Some(Thing::File { bytes, mode }) => {
                let text = bytes.escape_ascii().to_string();
                let end = text.len().min(1500);
                format!("file {mode:o} {} bytes `{}`", bytes.len(), &text[..end])
            }
            Some(Thing::Link { target }) => format!("link to `{}`", target.escape_ascii()),
            Some(Thing::Folder { mode }) => format!("folder {mode:o}"),
            Some(Thing::Other) => "something else".to_owned(),
        }
    }
}

/// A name of a copy.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub thing: Thing,
    /// When it was last written, in nanoseconds; of a folder nothing.
    pub written: i128,
    /// How many names the file has.
    pub names: u64,
}

pub(super) type Name = Vec<u8>;

/// Every name below the root, but for dependency folders, which have a copy of their own.
#[derive(Clone, Debug, Default)]
pub(super) struct Copy {
    pub names: BTreeMap<Name, Seen>,
    pub dependencies: BTreeMap<Name, Seen>,
}

pub(super) fn is_git(name: &[u8]) -> bool {
    name.starts_with(b".git/")
}

pub(super) fn parent(name: &[u8]) -> Option<&[u8]> {
    name.iter().rposition(|byte| *byte == b'/').map(|at| &name[..at])
}

impl Copy {
    pub(super) fn of(root: &Path) -> Copy {
        let mut copy = Copy::default();
        look(root, b"", &mut copy);
        if root.join(".git/index").exists() {
            let staged = git(root, &["ls-files", "-s", "-z"]).1;
            let thing = Thing::File { bytes: Arc::from(staged), mode: 0o644 };
            copy.names.insert(b".git/index".to_vec(), Seen { thing, written: 0, names: 1 });
        }
        copy
    }

    pub(super) fn get(&self, name: &[u8]) -> Option<&Thing> {
        self.names.get(name).map(|seen| &seen.thing)
    }

    /// The first names in which they differ.
    pub(super) fn differs(&self, other: &Copy) -> Vec<String> {
        let mut all: Vec<&Name> = self.names.keys().chain(other.names.keys()).collect();
        all.sort();
        all.dedup();
        let different = all.into_iter().filter(|name| self.get(name) != other.get(name));
        let shown = |name: &Name| {
            let (one, two) = (Thing::shown(self.get(name)), Thing::shown(other.get(name)));
            format!("{}: {one} AGAINST {two}", name.escape_ascii())
        };
        different.map(shown).take(8).collect()
    }

    /// Whether this text is anywhere, outside of git.
    pub(super) fn has(&self, text: &[u8]) -> bool {
        let within = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text);
        self.names.iter().filter(|(name, _)| !is_git(name)).any(|(name, seen)| {
            within(name)
                || match &seen.thing {
                    Thing::File { bytes, .. } => within(bytes),
                    Thing::Link { target } => within(target),
                    _ => false,
                }
        })
    }
}

fn look(folder: &Path, above: &[u8], copy: &mut Copy) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, mut name) = (entry.path(), above.to_vec());
        name.extend(entry.file_name().as_bytes());
        if [&b".git/index"[..], b".git/objects"].contains(&name.as_slice()) {
            continue;
        }
        let about = path.symlink_metadata().unwrap();
        let mode = about.mode() & 0o7777;
        let thing = if about.is_symlink() {
            Thing::Link { target: std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec() }
        } else if about.is_dir() {
            Thing::Folder { mode }
        } else if about.is_file() {
            Thing::File { bytes: Arc::from(std::fs::read(&path).unwrap()), mode }
        } else {
            Thing::Other
        };
        let is_folder = thing.is_folder();
        let written = i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec());
        let seen = Seen {
            thing,
            written: if is_folder { 0 } else { written },
            names: if is_folder { 1 } else { about.nlink() },
        };
        // Git makes and removes its folders as it likes.
        if !(is_folder && (is_git(&name) || name == b".git")) {
            let is_dependency = name.split(|byte| *byte == b'/').any(|part| part == b"node_modules");
            let names = if is_dependency { &mut copy.dependencies } else { &mut copy.names };
            names.insert(name.clone(), seen);
        }
        if is_folder {
            name.push(b'/');
            look(&path, &name, copy);
        }
    }
}

/// Git as the user runs it, in the repository. It notes nothing by looking.
pub(super) fn git(root: &Path, args: &[&str]) -> (bool, Vec<u8>) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=u", "-c", "user.email=u@example.org", "-c", "gc.auto=0"]).args(args);
    command.current_dir(root).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_EDITOR", "true");
    let output = command.output().unwrap();
    (output.status.success(), output.stdout)
}
