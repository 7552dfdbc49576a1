//! Where things are that are not ours: the tree that is searched, and the programs that we are compared with.

use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a tree must have to be worth a figure.
const LEAST_FILES: u64 = 30_000;
const LEAST_BYTES: u64 = 300_000_000;
/// How many files of the registry the scenario `code` takes.
const CODE_FILES: u64 = 18_000;
/// A registry with next to nothing in it would be copied without end.
const MOST_COPIES: u32 = 50;

/// The packages and their versions, by the program that they install.
const PEERS: [(&str, &str); 2] = [("rg", "ripgrep@15.2.0"), ("fd", "fd-find@10.5.0")];

/// What the flags name; the rest is found or made below target/.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) corpus: Option<PathBuf>,
    pub(crate) rg: Option<PathBuf>,
    pub(crate) fd: Option<PathBuf>,
    /// Another build of `toolpost`, which takes the place of the peers.
    pub(crate) beside: Option<PathBuf>,
}

/// A tree of sources.
#[derive(Clone)]
pub(crate) struct Corpus {
    pub(crate) folder: PathBuf,
    files: u64,
    bytes: u64,
    /// How often the registry's sources are in it, where it was made of them.
    copies: u32,
}

impl Places {
    /// The tree to search: the one named, else the sources of the local cargo registry, copied until they are enough.
    pub(crate) fn corpus(&self) -> Result<Corpus> {
        if let Some(folder) = &self.corpus {
            let folder =
                folder.canonicalize().with_context(|| format!("no folder `{}`", folder.display()))?;
            let (files, bytes) = size(&folder);
            return Ok(Corpus { folder, files, bytes, copies: 0 });
        }
        let (sources, files, bytes) = registry()?;
        let is_enough = |copies: u32| {
            files * u64::from(copies) >= LEAST_FILES && bytes * u64::from(copies) >= LEAST_BYTES
        };
        let copies = (1..=MOST_COPIES).find(|copies| is_enough(*copies)).with_context(|| {
            format!("{} has too little ({files} files); name a tree with --corpus=DIR", sources.display())
        })?;
        if copies == 1 {
            return Ok(Corpus { folder: sources, files, bytes, copies });
        }
        let folder = scratch()?.join("corpus");
        let total = (files * u64::from(copies), bytes * u64::from(copies));
        if size(&folder) != total {
            eprintln!("copying {} {copies} times to {} …", sources.display(), folder.display());
            if folder.exists() {
                std::fs::remove_dir_all(&folder)?;
            }
            // A repository of its own, or the rules of the one around it would hold here.
            std::fs::create_dir_all(folder.join(".git"))?;
            for copy in 1..=copies {
                let status = Command::new("cp")
                    .arg("-r")
                    .arg(&sources)
                    .arg(folder.join(format!("copy-{copy}")))
                    .status()?;
                if !status.success() {
                    bail!("cp ended with {status}");
                }
            }
        }
        Ok(Corpus { folder, files: total.0, bytes: total.1, copies })
    }

    /// Sources to be understood, of which some are edited: a copy of the tree named, else of packages of the local cargo
    /// registry, in the order of their names.
    pub(crate) fn sources(&self) -> Result<Corpus> {
        let folder = scratch()?.join("code");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        // A repository of its own, or the rules of the one around it would hold here.
        std::fs::create_dir_all(folder.join(".git"))?;
        let copy = |from: &Path| -> Result<()> {
            let status = Command::new("cp").arg("-r").arg(from).arg(&folder).status()?;
            if !status.success() {
                bail!("cp ended with {status}");
            }
            Ok(())
        };
        if let Some(named) = &self.corpus {
            let named = named.canonicalize().with_context(|| format!("no folder `{}`", named.display()))?;
            copy(&named)?;
        } else {
            let (sources, ..) = registry()?;
            let mut packages: Vec<PathBuf> = Vec::new();
            for host in std::fs::read_dir(&sources)?.flatten() {
                packages.extend(std::fs::read_dir(host.path())?.flatten().map(|entry| entry.path()));
            }
            packages.sort_by(|one, other| one.file_name().cmp(&other.file_name()));
            let mut files = 0;
            for package in packages {
                if files >= CODE_FILES {
                    break;
                }
                files += size(&package).0;
                copy(&package)?;
            }
        }
        let (files, bytes) = size(&folder);
        Ok(Corpus { folder, files, bytes, copies: 1 })
    }

    /// `rg` or `fd`: the one named, else the fixed version, built from the package registry once.
    pub(crate) fn peer(&self, name: &str) -> Result<PathBuf> {
        let given = if name == "rg" { &self.rg } else { &self.fd };
        if let Some(path) = given {
            return path.canonicalize().with_context(|| format!("no executable `{}`", path.display()));
        }
        let (_, package) = PEERS.iter().find(|(peer, _)| *peer == name).context("no such peer")?;
        let root = target().join("peers").join(package.replace('@', "-"));
        let program = root.join("bin").join(name);
        if !program.is_file() {
            eprintln!("installing {package} into {} (once) …", root.display());
            let status = Command::new("cargo")
                .args(["install", "--locked", "--root"])
                .arg(&root)
                .arg(package)
                .status()?;
            if !status.success() {
                bail!("cargo install {package} ended with {status}; name another with --{name}=PATH");
            }
        }
        Ok(program)
    }
}

impl Corpus {
    /// How large it is, for a title.
    pub(crate) fn size(&self) -> String {
        let copies = if self.copies > 1 {
            format!(" (the local cargo registry {} times)", self.copies)
        } else {
            String::new()
        };
        format!("{} files, {} MB{copies}", self.files, self.bytes / 1_000_000)
    }
}

/// The sources of the local cargo registry, how many files they are and how many bytes they have.
fn registry() -> Result<(PathBuf, u64, u64)> {
    let home = std::env::home_dir().context("no home folder; name a tree with --corpus=DIR")?;
    let cargo = std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from);
    let sources = cargo.join("registry/src");
    let (files, bytes) = size(&sources);
    if files == 0 {
        bail!("no sources in {}; name a tree with --corpus=DIR", sources.display());
    }
    Ok((sources, files, bytes))
}

/// Where large files may be made for a while.
pub(crate) fn scratch() -> Result<PathBuf> {
    let folder = target().join("bench");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn target() -> PathBuf {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    bench.parent().unwrap_or(bench).join("target")
}

/// How many files lie below a folder, and how many bytes they have.
fn size(folder: &Path) -> (u64, u64) {
    let Ok(entries) = std::fs::read_dir(folder) else { return (0, 0) };
    entries.flatten().fold((0, 0), |(files, bytes), entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => {
            let below = size(&entry.path());
            (files + below.0, bytes + below.1)
        }
        Ok(kind) if kind.is_file() => (files + 1, bytes + entry.metadata().map_or(0, |known| known.len())),
        _ => (files, bytes),
    })
}
