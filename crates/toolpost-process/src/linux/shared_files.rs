//! Files of the workspace that have several names in it (hard links), laid into the folder of changes before a dry run.
//!
//! An overlay copies a file when it is written to, under that one name; its other names would keep the old content. So each
//! such file is copied before the command starts, and all its names are names of the copy: they change together, as they do
//! in the workspace. Names outside of the workspace are not followed.

use super::changes::Tree;
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Timespec, Timestamps, Uid};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Maximum number of names that are looked at.
const MOST_NAMES: usize = 500_000;

/// Maximum number of bytes that are copied.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The names of each file that has several, by device and number: which root, and the path in it.
type Names = BTreeMap<(u64, u64), Vec<(usize, PathBuf)>>;

/// Copies them. False where not all names are known, or where there is too much to copy.
pub(super) fn copy(scratch: &Path, roots: &[PathBuf]) -> bool {
    let roots = super::view::in_order(roots);
    let (mut names, mut room) = (Names::new(), MOST_NAMES);
    let is_known = (0..roots.len()).all(|number| collect(&roots, number, &mut names, &mut room));
    let (mut is_complete, mut bytes_left) = (is_known, MOST_BYTES);
    let mut shared: Vec<Vec<PathBuf>> = Vec::new();
    for (number, root) in roots.iter().enumerate() {
        shared.clear();
        for group in names.values().filter(|group| group.len() > 1) {
            match group.iter().all(|(other, _)| *other == number) {
                true => shared.push(group.iter().map(|(_, path)| path.clone()).collect()),
                // Two overlays cannot hold one file.
                false => is_complete &= group.iter().all(|(other, _)| *other != number),
            }
        }
        if !shared.is_empty() {
            let upper = scratch.join(number.to_string()).join("upper");
            is_complete &= copy_all(root, &upper, &shared, &mut bytes_left).unwrap_or(false);
        }
    }
    is_complete
}

/// Notes the files of one root that have several names. False where there are too many names to look at.
fn collect(roots: &[&Path], number: usize, names: &mut Names, room: &mut usize) -> bool {
    let root = roots[number];
    let Ok(tree) = Tree::open(root, false) else { return true };
    // A root inside of this one has an overlay of its own.
    let is_other = |path: &Path| roots.iter().any(|other| *other != root && *other == root.join(path));
    let mut waiting = vec![PathBuf::new()];
    while let Some(path) = waiting.pop() {
        // What cannot be opened here cannot be opened by the command.
        let Ok(folder) = tree.read(&path, OFlags::DIRECTORY) else { continue };
        let Ok(mut entries) = rustix::fs::Dir::read_from(&folder) else { continue };
        while let Some(Ok(entry)) = entries.read() {
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if *room == 0 {
                return false;
            }
            *room -= 1;
            let inside = || path.join(OsStr::from_bytes(name.to_bytes()));
            let kind = match entry.file_type() {
                FileType::Directory => FileType::Directory,
                FileType::RegularFile | FileType::Unknown => {
                    let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
                        continue;
                    };
                    let kind = FileType::from_raw_mode(stat.st_mode);
                    if kind == FileType::RegularFile && stat.st_nlink > 1 {
                        names.entry((stat.st_dev, stat.st_ino)).or_default().push((number, inside()));
                    }
                    kind
                }
                _ => continue,
            };
            if kind == FileType::Directory && !is_other(&inside()) {
                waiting.push(inside());
            }
        }
    }
    true
}

/// Copies files of one root, each under all its names.
fn copy_all(root: &Path, upper: &Path, files: &[Vec<PathBuf>], bytes_left: &mut u64) -> io::Result<bool> {
    std::fs::create_dir_all(upper)?;
    let (from, to) = (Tree::open(root, false)?, Tree::open(upper, true)?);
    let mut folders = BTreeSet::new();
    let mut is_complete = true;
    for names in files {
        is_complete &= copy_one(&from, &to, names, &mut folders, bytes_left).unwrap_or(false);
    }
    // The deepest first: making something in a folder changes its time.
    for folder in folders.iter().rev() {
        if let Some(stat) = from.stat(folder)? {
            resemble(&to, folder, &stat)?;
        }
    }
    Ok(is_complete)
}

fn copy_one(
    from: &Tree,
    to: &Tree,
    names: &[PathBuf],
    folders: &mut BTreeSet<PathBuf>,
    bytes_left: &mut u64,
) -> io::Result<bool> {
    let [first, others @ ..] = names else { return Ok(true) };
    let source = from.read(first, OFlags::empty())?;
    let stat = rustix::fs::fstat(&source)?;
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if size > *bytes_left {
        return Ok(false);
    }
    *bytes_left -= size;
    for name in names {
        make_folders(to, name, folders)?;
    }
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let copy = rustix::fs::openat(&to.root, first, flags, Mode::RUSR | Mode::WUSR)?;
    io::copy(&mut File::from(source).take(size), &mut File::from(copy))?;
    resemble(to, first, &stat)?;
    for name in others {
        rustix::fs::linkat(&to.root, first, &to.root, name, AtFlags::empty())?;
    }
    Ok(true)
}

/// Makes the folders above a name, for this process alone until all is in them.
fn make_folders(to: &Tree, name: &Path, folders: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    let mut above: Vec<&Path> =
        name.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).collect();
    above.reverse();
    for folder in above {
        if folders.insert(folder.to_owned()) {
            rustix::fs::mkdirat(&to.root, folder, Mode::RWXU)?;
        }
    }
    Ok(())
}

/// Gives a copy the owner, the rights and the times of what it is a copy of.
fn resemble(to: &Tree, path: &Path, stat: &Stat) -> io::Result<()> {
    let owner = (Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)));
    // Who may not give it away keeps it, as an overlay does in its copies.
    let _ = rustix::fs::chownat(&to.root, path, owner.0, owner.1, AtFlags::SYMLINK_NOFOLLOW);
    rustix::fs::chmodat(&to.root, path, Mode::from_raw_mode(stat.st_mode & 0o7777), AtFlags::empty())?;
    let time = |tv_sec: i64, tv_nsec: u64| Timespec { tv_sec, tv_nsec: i64::try_from(tv_nsec).unwrap_or(0) };
    let times = Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    };
    rustix::fs::utimensat(&to.root, path, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}
