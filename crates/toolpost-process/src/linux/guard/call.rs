//! The creating calls by their arguments: each has several spellings in the kernel's table.

use crate::linux::sys::notify::Asked;

/// A call by its arguments, whatever its spelling.
pub(super) enum Call {
    Open { folder: i32, path: u64, flags: u64, mode: u64 },
    MakeFolder { folder: i32, path: u64, mode: u64 },
    MakeNode { folder: i32, path: u64, mode: u64, device: u64 },
    Symlink { target: u64, folder: i32, path: u64 },
    Link { from: (i32, u64), to: (i32, u64), flags: u64 },
    Rename { from: (i32, u64), to: (i32, u64), flags: u64 },
    Bind { socket: i32, address: u64, length: u64 },
    Truncate { path: u64, length: u64 },
    Chmod { folder: i32, path: u64, mode: u64, flags: u64 },
    ChmodOpen { file: i32, mode: u64 },
    Unlink { folder: i32, path: u64, flags: u64 },
    Umask,
}

impl Call {
    /// The call that waits; none if it is not one that is asked about.
    pub(super) fn of(asked: &Asked) -> Option<Call> {
        const HERE: i32 = libc::AT_FDCWD;
        let [a, b, c, d, e, _] = asked.args;
        // Descriptors are 32 bits wide; the kernel ignores the rest of the register too.
        let fd = |register: u64| register as u32 as i32;
        Some(match i64::from(asked.number) {
            libc::SYS_openat => Call::Open { folder: fd(a), path: b, flags: c, mode: d },
            libc::SYS_mkdirat => Call::MakeFolder { folder: fd(a), path: b, mode: c },
            libc::SYS_mknodat => Call::MakeNode { folder: fd(a), path: b, mode: c, device: d },
            libc::SYS_symlinkat => Call::Symlink { target: a, folder: fd(b), path: c },
            libc::SYS_linkat => Call::Link { from: (fd(a), b), to: (fd(c), d), flags: e },
            libc::SYS_renameat => Call::Rename { from: (fd(a), b), to: (fd(c), d), flags: 0 },
            libc::SYS_renameat2 => Call::Rename { from: (fd(a), b), to: (fd(c), d), flags: e },
            libc::SYS_bind => Call::Bind { socket: fd(a), address: b, length: c },
            libc::SYS_truncate => Call::Truncate { path: a, length: b },
            libc::SYS_umask => Call::Umask,
            libc::SYS_unlinkat => Call::Unlink { folder: fd(a), path: b, flags: c },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink => Call::Unlink { folder: HERE, path: a, flags: 0 },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rmdir => Call::Unlink { folder: HERE, path: a, flags: libc::AT_REMOVEDIR as u64 },
            libc::SYS_fchmod => Call::ChmodOpen { file: fd(a), mode: b },
            libc::SYS_fchmodat => Call::Chmod { folder: fd(a), path: b, mode: c, flags: 0 },
            libc::SYS_fchmodat2 => Call::Chmod { folder: fd(a), path: b, mode: c, flags: d },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chmod => Call::Chmod { folder: HERE, path: a, mode: b, flags: 0 },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => Call::Open { folder: HERE, path: a, flags: b, mode: c },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => {
                let flags = (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u64;
                Call::Open { folder: HERE, path: a, flags, mode: b }
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir => Call::MakeFolder { folder: HERE, path: a, mode: b },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mknod => Call::MakeNode { folder: HERE, path: a, mode: b, device: c },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_symlink => Call::Symlink { target: a, folder: HERE, path: b },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_link => Call::Link { from: (HERE, a), to: (HERE, b), flags: 0 },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => Call::Rename { from: (HERE, a), to: (HERE, b), flags: 0 },
            _ => return None,
        })
    }
}
