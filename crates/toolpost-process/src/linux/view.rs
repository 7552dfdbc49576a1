//! The files that a confined command sees: a new root, put together from pieces of the old one.
//!
//! Every piece is taken hold of by descriptor before anything is covered, so that a workspace below `/tmp` is found
//! although the command has a `/tmp` of its own.

use super::namespaces::{self, System};
use super::sys;
use super::wire::{Reply, View};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_change,
    move_mount, open_tree, unmount,
};
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Folders of the system, read-only; where one is a link, the link is laid.
pub(super) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/run/systemd/resolve",
    "/run/current-system",
    "/sys/devices/system/cpu",
];

const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

const READ_ONLY: u64 = 1;
const NO_SUID: u64 = 2;
const NO_DEVICES: u64 = 4;

/// The folder for temporary files, of which each command has one of its own.
const TEMPORARY: &str = "/tmp";

/// Where the new root is put together.
const STAGE: &str = "/tmp";

/// Where the temporary file system of the command is while the new root is put together.
const OWN: &str = "own";

/// Where the files lie that stand for hidden ones.
const COVERS: &str = "run/hidden";

/// At most a quarter of the memory, and a million files.
const OWN_SIZE: &CStr = c"mode=0700,size=25%,nr_inodes=1000000";

/// Maximum number of files to look at in a folder of programs whose owners cannot be mapped.
const MOST_PROGRAMS: usize = 20_000;

struct Piece {
    at: PathBuf,
    tree: OwnedFd,
    is_folder: bool,
}

/// Makes this process's namespace show the view and nothing else.
pub(super) fn lay(view: &View, system: &System) -> Result<(), Reply> {
    let mut step = "private mounts";
    try_lay(view, system, &mut step)
        .map_err(|error| Reply::no_sandbox(&format!("mount namespace ({step})"), &error))
}

fn try_lay(view: &View, system: &System, step: &mut &'static str) -> io::Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    *step = "system folders";
    let mut links = Vec::new();
    let mut pieces = Vec::new();
    for path in SYSTEM.iter().map(Path::new) {
        if let Ok(target) = rustix::fs::readlink(path, Vec::new()) {
            links.push((path, target));
        } else if let Some(piece) = take(path, READ_ONLY | NO_SUID | NO_DEVICES)? {
            if let Some(users) = &system.ownerless
                && !system.listed.contains(&path)
            {
                sys::map_owners(piece.tree.as_fd(), users.as_fd())?;
            }
            pieces.push(piece);
        }
    }
    *step = "readable folders";
    for path in view.readable.iter().map(|path| as_path(path)) {
        pieces.extend(take(path, READ_ONLY | NO_SUID | NO_DEVICES)?);
    }
    *step = "folders of programs";
    let mut secrets = Vec::new();
    for path in view.programs.iter().map(|path| as_path(path)) {
        let Some(piece) = take(path, READ_ONLY | NO_SUID | NO_DEVICES)? else { continue };
        let users = system.ownerless.as_ref();
        let is_mapped = users.is_some_and(|users| sys::map_owners(piece.tree.as_fd(), users.as_fd()).is_ok());
        if !is_mapped && rustix::process::geteuid().is_root() {
            // What cannot be looked through is left out.
            let mut left = MOST_PROGRAMS;
            let Some(found) = namespaces::root_only(path, &mut left) else { continue };
            secrets.extend(found);
        }
        pieces.push(piece);
    }
    *step = "workspace";
    let mut writable = Vec::new();
    let roots: Vec<&Path> = view.writable.iter().map(|path| as_path(path)).collect();
    for (number, path) in in_order(&roots).into_iter().enumerate() {
        writable.extend(take(path, NO_SUID | NO_DEVICES)?.map(|piece| (number, piece)));
    }
    let scratch = match view.scratch.as_slice() {
        [] => None,
        path => take(as_path(path), NO_SUID | NO_DEVICES)?,
    };
    *step = "devices";
    let mut devices = Vec::new();
    for path in DEVICES.iter().map(Path::new) {
        devices.extend(take(path, NO_SUID)?);
    }
    *step = "new root";
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("toolpost", STAGE, "tmpfs", flags, c"mode=0755,size=64m")?;
    rustix::process::chdir(STAGE)?;
    *step = "folders of its own";
    for (path, mode) in
        [("tmp", 0o1777), ("var/tmp", 0o1777), ("dev", 0o755), ("proc", 0o555), ("run", 0o755)]
    {
        make_folder(Path::new(path), mode)?;
    }
    // One file system for all temporary folders: what they hold counts together.
    make_folder(Path::new(OWN), 0o700)?;
    mount("toolpost", OWN, "tmpfs", flags, OWN_SIZE)?;
    own_folder("tmp", Path::new("tmp"), 0o1777)?;
    mount("proc", "proc", "proc", MountFlags::RDONLY | flags | MountFlags::NOEXEC, None)?;
    own_folder("shm", Path::new("dev/shm"), 0o1777)?;
    for (name, target) in [
        ("dev/fd", "/proc/self/fd"),
        ("dev/stdin", "/proc/self/fd/0"),
        ("dev/stdout", "/proc/self/fd/1"),
        ("dev/stderr", "/proc/self/fd/2"),
    ] {
        rustix::fs::symlink(target, name)?;
    }
    let home = as_path(&view.home);
    let places = pieces.iter().chain(writable.iter().map(|(_, piece)| piece));
    close_folders_above(places, home)?;
    // The home folder first: toolchains and workspaces may lie in it.
    if home.is_absolute() && home != Path::new("/") && home != Path::new(TEMPORARY) {
        own_folder("home", below(home), 0o755)?;
    }
    *step = "pieces of the view";
    for (path, target) in links {
        if let Some(above) = below(path).parent() {
            make_folder(above, 0o755)?;
        }
        rustix::fs::symlink(target, below(path))?;
    }
    pieces.extend(devices);
    // What lies inside another piece is laid after it.
    pieces.sort_by(|a, b| a.at.cmp(&b.at));
    let covered_by_writable = |at: &Path| view.writable.iter().any(|root| at.starts_with(as_path(root)));
    for piece in pieces.iter().filter(|piece| !covered_by_writable(&piece.at)) {
        put(piece)?;
    }
    for (number, piece) in &writable {
        match &scratch {
            None => put(piece)?,
            Some(scratch) => {
                *step = "throw-away overlay";
                put_overlay(piece, scratch, *number)?;
            }
        }
    }
    *step = "locked files";
    let mut locked: Vec<&Path> = view.locked.iter().map(|path| as_path(path)).collect();
    // What lies inside of what is locked is locked with it, and is laid after it where it has a mark of its own.
    locked.sort();
    for path in locked {
        lay_over_itself(path, READ_ONLY).map_err(|error| about(path, &error))?;
    }
    *step = "hidden files";
    let hidden = view.hidden.iter().chain(&system.secrets).chain(&secrets);
    hide(hidden.map(|path| as_path(path)))?;
    unmount(OWN, UnmountFlags::DETACH)?;
    rustix::fs::unlinkat(CWD, OWN, AtFlags::REMOVEDIR)?;
    *step = "change of root";
    seal_root()
}

/// Closes the folders of `/tmp` that are there only because the workspace lies in them: what a command writes beside the
/// workspace must not vanish without a word. The places of the pieces are made first, as none can be made afterwards.
fn close_folders_above<'a>(pieces: impl Iterator<Item = &'a Piece>, home: &Path) -> io::Result<()> {
    let mut closed: Vec<PathBuf> = Vec::new();
    let mut close = |path: &Path, is_folder: bool| -> io::Result<()> {
        let Ok(inside) = path.strip_prefix(TEMPORARY) else { return Ok(()) };
        let mut parts = inside.components();
        let (Some(first), Some(_)) = (parts.next(), parts.next()) else { return Ok(()) };
        make_place(below(path), is_folder)?;
        let above = Path::new(TEMPORARY).join(first);
        // The home folder is the command's own, wherever it lies.
        if !above.starts_with(home) && !closed.contains(&above) {
            closed.push(above);
        }
        Ok(())
    };
    for piece in pieces {
        close(&piece.at, piece.is_folder)?;
    }
    if !closed.is_empty() && home.starts_with(TEMPORARY) {
        make_folder(below(home), 0o755)?;
    }
    closed.iter().try_for_each(|path| lay_over_itself(path, READ_ONLY).map_err(|error| about(path, &error)))
}

/// The order in which writable folders are laid, each after what it lies in, and by which their overlays are numbered.
pub(super) fn in_order<P: AsRef<Path>>(roots: &[P]) -> Vec<&Path> {
    let mut roots: Vec<&Path> = roots.iter().map(AsRef::as_ref).collect();
    roots.sort();
    roots.dedup();
    roots
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The same path seen from the new root, which is the current folder.
fn below(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// Takes hold of a file or folder with all that is mounted in it; none if it is not there.
fn take(path: &Path, attributes: u64) -> io::Result<Option<Piece>> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let tree = match open_tree(CWD, path, flags) {
        Ok(tree) => tree,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR | rustix::io::Errno::ACCESS) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let stat = rustix::fs::fstat(&tree)?;
    let is_folder = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir();
    sys::mount_attributes(tree.as_fd(), attributes)?;
    Ok(Some(Piece { at: path.to_owned(), tree, is_folder }))
}

/// Puts a piece at its path in the new root.
fn put(piece: &Piece) -> io::Result<()> {
    let at = below(&piece.at);
    make_place(at, piece.is_folder)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(piece.tree.as_fd(), "", CWD, at, flags)?;
    Ok(())
}

/// Puts a folder at its path such that changes go to the scratch folder.
fn put_overlay(piece: &Piece, scratch: &Piece, number: usize) -> io::Result<()> {
    // Both are shown for a moment below a name of this process's own, as the option takes paths.
    let (lower, store) = (format!("lower{number}"), format!("store{number}"));
    for (name, tree) in [(&lower, &piece.tree), (&store, &scratch.tree)] {
        make_folder(Path::new(name), 0o700)?;
        let copy = open_tree(
            tree,
            "",
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::AT_EMPTY_PATH | OpenTreeFlags::AT_RECURSIVE,
        )?;
        move_mount(copy.as_fd(), "", CWD, name.as_str(), MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    let (upper, work) = (format!("{store}/{number}/upper"), format!("{store}/{number}/work"));
    for folder in [&upper, &work] {
        make_folder(Path::new(folder), 0o700)?;
    }
    look_alike(piece, Path::new(&upper))?;
    let at = below(&piece.at);
    make_place(at, true)?;
    let options = CString::new(format!("lowerdir={lower},upperdir={upper},workdir={work},userxattr"))?;
    mount("toolpost", at, "overlay", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())?;
    for name in [&lower, &store] {
        unmount(name.as_str(), UnmountFlags::DETACH)?;
    }
    Ok(())
}

/// The folder of changes is what the command sees as the root: its rights and time are those of the real one.
fn look_alike(piece: &Piece, upper: &Path) -> io::Result<()> {
    let stat = rustix::fs::fstat(&piece.tree)?;
    let owner = (Some(rustix::fs::Uid::from_raw(stat.st_uid)), Some(rustix::fs::Gid::from_raw(stat.st_gid)));
    // An owner whom this namespace does not know cannot be named in it.
    let _ = rustix::fs::chown(upper, owner.0, owner.1);
    rustix::fs::chmod(upper, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
    rustix::fs::utimensat(CWD, upper, &times_of(&stat), AtFlags::empty())?;
    Ok(())
}

/// The error with the path that it is about.
fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

/// Shows a new folder of the temporary file system at this place.
fn own_folder(name: &str, at: &Path, mode: u32) -> io::Result<()> {
    let folder = Path::new(OWN).join(name);
    make_folder(&folder, mode)?;
    make_folder(at, mode)?;
    let tree = open_tree(CWD, &folder, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
    move_mount(tree.as_fd(), "", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    Ok(())
}

/// Whether a folder of the system can be shown with other owners.
pub(super) fn can_map_owners(folder: &Path, users: BorrowedFd<'_>) -> bool {
    match take(folder, READ_ONLY) {
        Ok(Some(piece)) => sys::map_owners(piece.tree.as_fd(), users).is_ok(),
        Ok(None) => true,
        Err(_) => false,
    }
}

/// Mounts what is at a path onto itself: it cannot be moved or removed any more. Without following links.
fn lay_over_itself(path: &Path, attributes: u64) -> io::Result<()> {
    let Some(place) = open_place(path)? else { return Ok(()) };
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = open_tree(&place, "", flags)?;
    if attributes != 0 {
        sys::mount_attributes(tree.as_fd(), attributes)?;
    }
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree.as_fd(), "", &place, "", flags)?;
    Ok(())
}

/// A path in the new root; none if it is not there any more. A link at its end is what is meant; one on the way has come
/// since the path was looked at, and is an error.
fn open_place(path: &Path) -> io::Result<Option<OwnedFd>> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat2(CWD, below(path), flags, Mode::empty(), resolve) {
        Ok(place) => Ok(Some(place)),
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Covers files with files that nobody can read, folders with an empty one.
fn hide<'a>(paths: impl Iterator<Item = &'a Path>) -> io::Result<()> {
    make_folder(Path::new(COVERS), 0o700)?;
    make_folder(Path::new("run/hidden-folder"), 0o000)?;
    for (number, path) in paths.enumerate() {
        cover(path, number).map_err(|error| about(path, &error))?;
    }
    rustix::fs::chmod(COVERS, Mode::empty())?;
    Ok(())
}

fn cover(path: &Path, number: usize) -> io::Result<()> {
    let Some(place) = open_place(path)? else { return Ok(()) };
    let stat = rustix::fs::fstat(&place)?;
    let cover = match rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir() {
        true => PathBuf::from("run/hidden-folder"),
        false => stand_in(&stat, number)?,
    };
    let tree = open_tree(CWD, &cover, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
    sys::mount_attributes(tree.as_fd(), READ_ONLY)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree.as_fd(), "", &place, "", flags)?;
    Ok(())
}

/// An empty file that nobody can read, of the size and time of the one that it stands for: git and others that compare
/// these take it for unchanged, and do not open it.
fn stand_in(stat: &rustix::fs::Stat, number: usize) -> io::Result<PathBuf> {
    let path = Path::new(COVERS).join(number.to_string());
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(CWD, &path, flags, Mode::empty())?;
    // Whether it can be run is part of what git compares.
    rustix::fs::fchmod(&file, Mode::from_raw_mode(stat.st_mode & 0o111))?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() {
        // A size that the file system does not take is left as it is.
        let _ = rustix::fs::ftruncate(&file, u64::try_from(stat.st_size).unwrap_or(0));
    }
    rustix::fs::futimens(&file, &times_of(stat))?;
    Ok(path)
}

/// The times of a file, to be set on another.
fn times_of(stat: &rustix::fs::Stat) -> rustix::fs::Timestamps {
    let time = |tv_sec: i64, tv_nsec: u64| rustix::fs::Timespec {
        tv_sec,
        tv_nsec: i64::try_from(tv_nsec).unwrap_or(0),
    };
    rustix::fs::Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    }
}

/// The new root becomes the root, read-only; the old one is gone.
fn seal_root() -> io::Result<()> {
    let here = open_tree(CWD, ".", OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
    sys::pivot_to_here()?;
    unmount(".", UnmountFlags::DETACH)?;
    rustix::process::chdir("/")?;
    sys::mount_attributes_of_one(here.as_fd(), READ_ONLY)
}

fn make_place(at: &Path, is_folder: bool) -> io::Result<()> {
    if is_folder {
        return make_folder(at, 0o755);
    }
    if let Some(above) = at.parent() {
        make_folder(above, 0o755)?;
    }
    match rustix::fs::openat(
        CWD,
        at,
        OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::from_raw_mode(0o644),
    ) {
        Ok(_) => Ok(()),
        // It is there and cannot be written: a place all the same.
        Err(
            rustix::io::Errno::ACCESS
            | rustix::io::Errno::ROFS
            | rustix::io::Errno::ISDIR
            | rustix::io::Errno::NXIO,
        ) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn make_folder(at: &Path, mode: u32) -> io::Result<()> {
    if at.as_os_str().is_empty() || rustix::fs::statat(CWD, at, AtFlags::empty()).is_ok() {
        return Ok(());
    }
    if let Some(above) = at.parent() {
        make_folder(above, 0o755)?;
    }
    match rustix::fs::mkdirat(CWD, at, Mode::from_raw_mode(mode)) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {
            rustix::fs::chmod(at, Mode::from_raw_mode(mode))?;
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}
