//! The namespaces that all confined commands of one launcher share: users, messages, and the network without a way out.
//!
//! What they share is cheap to enter and dear to make. Processes and mounts are each command's own.

use super::sys::{self, Fork};
use super::view;
use super::wire::{Reply, View};
use rustix::fs::{Mode, OFlags};
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;

/// Made when the first confined command comes.
#[derive(Default)]
pub(super) struct Shared {
    made: Option<Result<Rc<Made>, Reply>>,
}

struct Made {
    /// None where this process may do without.
    user: Option<OwnedFd>,
    ipc: OwnedFd,
    network: OwnedFd,
    system: System,
}

/// How the system's folders are shown to a command of the administrator, who owns most files in them.
#[derive(Default)]
pub(super) struct System {
    /// A user namespace in which root owns nothing: mounted with it, files that only root may read cannot be read.
    pub(super) ownerless: Option<OwnedFd>,
    /// The folders that cannot be mounted with it.
    pub(super) listed: Vec<&'static Path>,
    /// In these: the files and folders that not everybody may read.
    pub(super) secrets: Vec<Vec<u8>>,
}

/// The namespaces one command enters.
pub(super) struct Entered {
    made: Rc<Made>,
    network: bool,
}

impl Shared {
    /// The namespaces for a command with this view.
    pub(super) fn for_view(&mut self, view: &View) -> Result<Entered, Reply> {
        let made = self.made.get_or_insert_with(|| make().map(Rc::new));
        if made.is_err() {
            // What was missing may have been put right.
            let made = self.made.take().unwrap_or_else(|| make().map(Rc::new));
            return made.map(|made| Entered { made, network: view.network });
        }
        made.clone().map(|made| Entered { made, network: view.network })
    }
}

impl Entered {
    /// Enters them, for good.
    pub(super) fn enter(&self) -> Result<(), Reply> {
        let failed = |what: &'static str| move |error: io::Error| Reply::no_sandbox(what, &error);
        if let Some(user) = &self.made.user {
            sys::enter(user.as_fd(), libc::CLONE_NEWUSER).map_err(failed(USER))?;
        }
        sys::enter(self.made.ipc.as_fd(), libc::CLONE_NEWIPC).map_err(failed("message namespace"))?;
        if !self.network {
            sys::enter(self.made.network.as_fd(), libc::CLONE_NEWNET).map_err(failed(NETWORK))?;
        }
        Ok(())
    }

    /// How the system's folders are shown.
    pub(super) fn system(&self) -> &System {
        &self.made.system
    }
}

pub(super) const USER: &str = "user namespace";
const NETWORK: &str = "network namespace";

/// Makes the namespaces in a short-lived child, and keeps hold of them.
fn make() -> Result<Made, Reply> {
    let needs_user = !sys::has_admin_capability();
    let (layer, flags) = match needs_user {
        true => (USER, libc::CLONE_NEWUSER),
        false => (NETWORK, 0),
    };
    let failed = |error: &io::Error| missing(layer, needs_user, error);
    let (mut from_child, to_parent) = io::pipe().map_err(|error| failed(&error))?;
    let (from_parent, to_child) = io::pipe().map_err(|error| failed(&error))?;
    let ids = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let pid = match sys::fork().map_err(|error| failed(&error))? {
        Fork::Child => {
            drop((from_child, to_child));
            let result = enter_new(flags, ids);
            let errno = result.err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
            let _ = (&to_parent).write_all(&errno.to_ne_bytes());
            let _ = (&from_parent).read(&mut [0]);
            sys::exit(0)
        }
        Fork::Parent(pid) => pid,
    };
    drop((to_parent, from_parent));
    let mut errno = [0; 4];
    from_child.read_exact(&mut errno).map_err(|error| failed(&error))?;
    let made = match i32::from_ne_bytes(errno) {
        0 => hold(pid, needs_user).map_err(|error| failed(&error)),
        errno => Err(failed(&io::Error::from_raw_os_error(errno))),
    };
    drop(to_child);
    made
}

/// Takes on the right to make namespaces: in a user namespace, unless this process has it.
pub(super) fn become_admin() -> Result<(), Reply> {
    if sys::has_admin_capability() {
        return Ok(());
    }
    let ids = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    sys::unshare(libc::CLONE_NEWUSER).and_then(|()| map(ids)).map_err(|error| missing(USER, true, &error))
}

fn missing(layer: &str, needs_user: bool, error: &io::Error) -> Reply {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES | libc::ENOSPC) if needs_user => Reply::NoSandbox {
            layer: layer.into(),
            why: format!(
                "{error}; this machine does not let ordinary users make namespaces (see the settings \
                 `kernel.unprivileged_userns_clone`, `user.max_user_namespaces` and \
                 `kernel.apparmor_restrict_unprivileged_userns`)"
            ),
        },
        _ => Reply::no_sandbox(layer, error),
    }
}

fn enter_new(user: i32, ids: (u32, u32)) -> io::Result<()> {
    sys::unshare(user | libc::CLONE_NEWNET | libc::CLONE_NEWIPC)?;
    if user != 0 {
        map(ids)?;
    }
    sys::loopback_up()
}

/// Everybody is who they were; nobody else exists.
fn map((uid, gid): (u32, u32)) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}

fn hold(pid: i32, user: bool) -> io::Result<Made> {
    let open = |name: &str| -> io::Result<OwnedFd> {
        Ok(rustix::fs::open(
            format!("/proc/{pid}/ns/{name}"),
            OFlags::RDONLY | OFlags::CLOEXEC,
            Mode::empty(),
        )?)
    };
    let user = if user { Some(open("user")?) } else { None };
    let system = if rustix::process::geteuid().is_root() { System::of_root() } else { System::default() };
    Ok(Made { user, ipc: open("ipc")?, network: open("net")?, system })
}

impl System {
    /// Each folder is decided by itself: what the kernel keeps in files of its own (`/sys`) has no owners to map.
    fn of_root() -> System {
        let ownerless = without_root().ok();
        let folders = view::SYSTEM.iter().map(Path::new).filter(|folder| !folder.is_symlink());
        let listed: Vec<&'static Path> = folders
            .filter(|folder| {
                !ownerless.as_ref().is_some_and(|users| view::can_map_owners(folder, users.as_fd()))
            })
            .collect();
        let mut left = usize::MAX;
        let secrets = listed.iter().flat_map(|folder| root_only(folder, &mut left)).flatten().collect();
        System { ownerless, listed, secrets }
    }
}

/// A user namespace that maps every id except 0 to itself.
fn without_root() -> io::Result<OwnedFd> {
    let (mut from_child, to_parent) = io::pipe()?;
    let (from_parent, to_child) = io::pipe()?;
    let pid = match sys::fork()? {
        Fork::Child => {
            drop((from_child, to_child));
            let has_left = sys::unshare(libc::CLONE_NEWUSER).is_ok();
            let _ = (&to_parent).write_all(&[u8::from(has_left)]);
            let _ = (&from_parent).read(&mut [0]);
            sys::exit(0)
        }
        Fork::Parent(pid) => pid,
    };
    drop((to_parent, from_parent));
    let mut has_left = [0];
    from_child.read_exact(&mut has_left)?;
    for file in ["uid_map", "gid_map"] {
        fs::write(format!("/proc/{pid}/{file}"), format!("1 1 {}", u32::MAX - 1))?;
    }
    let users = format!("/proc/{pid}/ns/user");
    let users = rustix::fs::open(users, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    drop(to_child);
    Ok(users)
}

/// Files and folders that not everybody may read; none if there are too many files. To root without capabilities its own
/// files are open all the same.
pub(super) fn root_only(folder: &Path, left: &mut usize) -> Option<Vec<Vec<u8>>> {
    use std::os::unix::fs::PermissionsExt;
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        *left = left.checked_sub(1)?;
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_symlink() {
            continue;
        }
        let path = entry.path();
        if metadata.permissions().mode() & 0o004 == 0 {
            found.push(path.into_os_string().into_encoded_bytes());
        } else if metadata.is_dir() {
            found.extend(root_only(&path, left)?);
        }
    }
    Some(found)
}
