//! The system calls that no safe library offers, each wrapped once. The only unsafe code of the crate.
//!
//! All of it runs in the launcher and its forks, which have one thread each, so that a fork may go on as any program.

#![expect(unsafe_code, reason = "raw system calls, each with its reason")]

pub(super) mod notify;

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Which side of a fork this is.
pub(super) enum Fork {
    Child,
    Parent(i32),
}

fn check(result: i64) -> io::Result<i64> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn check_int(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Forks. Only to be called in a process with one thread.
pub(super) fn fork() -> io::Result<Fork> {
    // SAFETY: this process has one thread, so that the child may do whatever the parent could.
    match check_int(unsafe { libc::fork() })? {
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent(pid)),
    }
}

/// Forks into new namespaces. Only to be called in a process with one thread.
pub(super) fn fork_into(namespaces: i32) -> io::Result<Fork> {
    let flags = i64::from(namespaces | libc::SIGCHLD);
    // SAFETY: as `fork`; without a stack the child gets a copy of the parent's. The C library's notion of the process
    // id is asked of the kernel each time.
    match check(unsafe { libc::syscall(libc::SYS_clone, flags, 0_i64, 0_i64, 0_i64, 0_i64) })? {
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent(i32::try_from(pid).unwrap_or(i32::MAX))),
    }
}

/// A child that has ended: its number and how it ended, as `wait` reports it.
pub(super) enum Reaped {
    Child(i32, i32),
    /// There are children; none has ended.
    NoneYet,
    /// There are no children.
    NoChildren,
}

/// Takes the end of any child, without waiting.
pub(super) fn reap() -> Reaped {
    let mut status = 0;
    // SAFETY: the status is ours to write.
    match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
        0 => Reaped::NoneYet,
        pid if pid > 0 => Reaped::Child(pid, status),
        _ => Reaped::NoChildren,
    }
}

/// Processor microseconds and the largest resident size, in bytes, of all children waited for.
pub(super) fn usage_of_children() -> (u64, u64) {
    // SAFETY: all zeros is a valid value of this plain structure, which the call then fills.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is ours to write.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    let micros = |time: libc::timeval| time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_usec.unsigned_abs();
    (micros(usage.ru_utime) + micros(usage.ru_stime), usage.ru_maxrss.unsigned_abs() * 1024)
}

/// Sends a signal; negative numbers are groups, -1 is everybody this process can reach.
pub(super) fn kill(pid: i32, signal: i32) {
    // SAFETY: no memory is involved.
    unsafe { libc::kill(pid, signal) };
}

/// Blocks these signals and returns a descriptor that reads them.
pub(super) fn signal_fd(signals: &[i32]) -> io::Result<OwnedFd> {
    // SAFETY: the set is filled by `sigemptyset` before it is used.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, *signal);
        }
        check_int(libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()))?;
        let fd = check_int(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Empties a signal descriptor; whether one of the signals was this one.
pub(super) fn take_signals(fd: &OwnedFd, wanted: i32) -> bool {
    const SIZE: usize = size_of::<libc::signalfd_siginfo>();
    let mut buffer = [0_u8; SIZE * 16];
    let mut found = false;
    while let Ok(count) = rustix::io::read(fd, &mut buffer) {
        if count == 0 {
            break;
        }
        for record in buffer[..count].chunks_exact(SIZE) {
            // The first field is the signal's number.
            found |=
                record.first_chunk().is_some_and(|first| u32::from_ne_bytes(*first) == wanted.unsigned_abs());
        }
    }
    found
}

/// Whether any process has this file, which is open for reading, open for writing: then no lease for reading is given. Who
/// opens it in this moment waits until the lease is returned, and the signal that tells us so must be blocked.
pub(super) fn has_writer(file: BorrowedFd<'_>) -> io::Result<bool> {
    // SAFETY: the descriptor is open, and the calls take no pointer.
    let lease = |kind: i32| check_int(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind) });
    match lease(libc::F_RDLCK) {
        Ok(_) => lease(libc::F_UNLCK).map(|_| false),
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Every signal as a program expects it when it starts: not blocked, not ignored.
pub(super) fn default_signals() {
    // SAFETY: the set is filled before it is used; `SIG_DFL` replaces handlers of a process about to `exec`.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}

fn prctl(option: i32, value: u64) -> io::Result<i32> {
    // SAFETY: the options used below take numbers, no pointers.
    check_int(unsafe { libc::prctl(option, value, 0_u64, 0_u64, 0_u64) })
}

/// Orphans among the descendants become children of this process.
pub(super) fn become_subreaper() -> io::Result<()> {
    prctl(libc::PR_SET_CHILD_SUBREAPER, 1).map(drop)
}

/// A signal to this process when its parent dies.
pub(super) fn signal_at_parents_death(signal: i32) -> io::Result<()> {
    prctl(libc::PR_SET_PDEATHSIG, signal.unsigned_abs().into()).map(drop)
}

/// No program run from here on gains rights by being run.
pub(super) fn no_new_privileges() -> io::Result<()> {
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1).map(drop)
}

/// Nobody of the same user may look into this process or change it.
pub(super) fn not_to_be_looked_into() {
    let _ = prctl(libc::PR_SET_DUMPABLE, 0);
}

/// The name shown by `ps` and used by `killall`.
pub(super) fn set_name(name: &CStr) {
    // SAFETY: the name ends in NUL; the kernel copies at most 16 bytes of it.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr(), 0, 0, 0) };
}

/// Takes every capability from this process for good.
pub(super) fn drop_capabilities() -> io::Result<()> {
    for capability in 0..64 {
        // Those that the kernel does not know are an error that says nothing.
        let _ = prctl(libc::PR_CAPBSET_DROP, capability);
    }
    let _ = prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as u64);
    // Version 3 and this process; two sets of effective, permitted and inheritable bits.
    let header = [0x2008_0522_u32, 0];
    let data = [0_u32; 6];
    // SAFETY: both arrays are of the size that version 3 asks for.
    check(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), data.as_ptr()) }).map(drop)
}

/// Whether this process may mount and make namespaces without a user namespace.
pub(super) fn has_admin_capability() -> bool {
    const SYS_ADMIN: u32 = 21;
    let header = [0x2008_0522_u32, 0];
    let mut data = [0_u32; 6];
    // SAFETY: both arrays are of the size that version 3 asks for.
    let result = unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), data.as_mut_ptr()) };
    result == 0 && data[0] & (1 << SYS_ADMIN) != 0
}

/// Reads no byte of this process's own memory, by a way that the filter refuses.
pub(super) fn read_own_memory() -> io::Result<()> {
    let own = i64::from(std::process::id());
    // SAFETY: both lists are empty.
    check(unsafe { libc::syscall(libc::SYS_process_vm_readv, own, 0_i64, 0_i64, 0_i64, 0_i64, 0_i64) })
        .map(drop)
}

/// Closes every descriptor from `first` on.
pub(super) fn close_from(first: u32) {
    // SAFETY: the callers own none of the descriptors they close.
    unsafe { libc::syscall(libc::SYS_close_range, u64::from(first), u64::from(u32::MAX), 0_u64) };
}

/// Marks every descriptor from `first` on to be closed by `exec`.
pub(super) fn close_from_at_exec(first: u32) {
    const CLOEXEC: u64 = 4;
    // SAFETY: nothing is closed here.
    unsafe { libc::syscall(libc::SYS_close_range, u64::from(first), u64::from(u32::MAX), CLOEXEC) };
}

/// Makes `number` (0, 1 or 2) a copy of the descriptor that `exec` keeps.
pub(super) fn put_at(fd: &OwnedFd, number: i32) -> io::Result<()> {
    if fd.as_raw_fd() == number {
        // SAFETY: clears the close-on-exec mark of a descriptor we own.
        return check_int(unsafe { libc::fcntl(number, libc::F_SETFD, 0) }).map(drop);
    }
    // SAFETY: 0, 1 and 2 of this process are replaced on purpose, right before `exec`.
    check_int(unsafe { libc::dup2(fd.as_raw_fd(), number) }).map(drop)
}

/// Runs a program in place of this one; comes back only with an error.
pub(super) fn exec(program: &CStr, argv: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |list: &[CString]| -> Vec<*const libc::c_char> {
        list.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (argv, environment) = (pointers(argv), pointers(environment));
    // SAFETY: both arrays end in NULL and outlive the call, which returns only when it fails.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}

/// Limits this process and its children; a limit above the hard one is brought down to it.
pub(super) fn limit(resource: libc::__rlimit_resource_t, value: u64) -> io::Result<()> {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours to write.
    check_int(unsafe { libc::getrlimit(resource, &raw mut now) })?;
    let value = value.min(now.rlim_max);
    let wanted = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: the structure is ours to read.
    check_int(unsafe { libc::setrlimit(resource, &raw const wanted) }).map(drop)
}

/// Enters a namespace.
pub(super) fn enter(namespace: BorrowedFd<'_>, kind: i32) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check_int(unsafe { libc::setns(namespace.as_raw_fd(), kind) }).map(drop)
}

/// Leaves the namespaces of the parent for new ones.
pub(super) fn unshare(namespaces: i32) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check_int(unsafe { libc::unshare(namespaces) }).map(drop)
}

/// Brings the loopback device of this network namespace up.
pub(super) fn loopback_up() -> io::Result<()> {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)?;
    // SAFETY: all zeros is a valid value; the name fits, and the flags are the member that the call reads.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
        check_int(libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)).map(drop)
    }
}

/// Makes the attributes of a mount, and of all below it, stricter.
pub(super) fn mount_attributes(mount: BorrowedFd<'_>, set: u64) -> io::Result<()> {
    set_attributes(mount, [set, 0, 0, 0], libc::AT_RECURSIVE)
}

/// Makes the attributes of one mount stricter.
pub(super) fn mount_attributes_of_one(mount: BorrowedFd<'_>, set: u64) -> io::Result<()> {
    set_attributes(mount, [set, 0, 0, 0], 0)
}

/// Shows the owners of a mount, and of all below it, as a user namespace maps them.
pub(super) fn map_owners(mount: BorrowedFd<'_>, users: BorrowedFd<'_>) -> io::Result<()> {
    const MAP_OWNERS: u64 = 0x0010_0000;
    let users = u64::from(users.as_raw_fd().unsigned_abs());
    set_attributes(mount, [MAP_OWNERS, 0, 0, users], libc::AT_RECURSIVE)
}

/// The attributes are: to set, to clear, propagation, user namespace.
fn set_attributes(mount: BorrowedFd<'_>, attributes: [u64; 4], flags: i32) -> io::Result<()> {
    let flags = libc::AT_EMPTY_PATH | flags;
    // SAFETY: the path is empty and ends in NUL; the array has the size that is said.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    })
    .map(drop)
}

/// Makes `.` the root, and what was the root is stacked below it.
pub(super) fn pivot_to_here() -> io::Result<()> {
    // SAFETY: both paths end in NUL.
    check(unsafe { libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) }).map(drop)
}

/// The newest version of Landlock that the kernel has; none without it.
pub(super) fn landlock_version() -> io::Result<u32> {
    const VERSION: u64 = 1;
    // SAFETY: with this flag no structure is read.
    let version = check(unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_u64, VERSION)
    })?;
    Ok(u32::try_from(version).unwrap_or(0))
}

/// What a Landlock rule set is about: files, network ports, and what is kept inside.
#[repr(C)]
pub(super) struct Handled {
    pub(super) files: u64,
    pub(super) network: u64,
    pub(super) scoped: u64,
}

/// A new Landlock rule set.
pub(super) fn landlock_rules(handled: &Handled, version: u32) -> io::Result<OwnedFd> {
    // Older kernels know a shorter structure and refuse a longer one whose tail is not zero.
    let size = match version {
        ..4 => 8_u64,
        4..6 => 16,
        _ => 24,
    };
    // SAFETY: the structure is at least as long as is said.
    let fd = check(unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::from_ref(handled), size, 0_u64)
    })?;
    // SAFETY: the result is a new descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(i32::try_from(fd).unwrap_or(-1)) })
}

/// Allows something beneath a file or folder.
pub(super) fn landlock_allow(rules: &OwnedFd, allowed: u64, beneath: BorrowedFd<'_>) -> io::Result<()> {
    #[repr(C, packed)]
    struct Beneath {
        allowed: u64,
        parent: i32,
    }
    const PATH_BENEATH: u64 = 1;
    let rule = Beneath { allowed, parent: beneath.as_raw_fd() };
    // SAFETY: the structure has the kernel's packed layout.
    check(unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, rules.as_raw_fd(), PATH_BENEATH, &raw const rule, 0_u64)
    })
    .map(drop)
}

/// Holds this process and its children to the rules.
pub(super) fn landlock_restrict(rules: &OwnedFd) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0_u64) }).map(drop)
}

/// Ends this process at once, without running what would clean up after the process it was forked from.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: does not return.
    unsafe { libc::_exit(code) }
}
