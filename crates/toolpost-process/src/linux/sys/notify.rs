//! The filter before a command's system calls, and the calls that the kernel hands to us.

use super::{check, check_int};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// One instruction of the kernel's filter machine.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::linux) struct Instruction {
    pub(in crate::linux) code: u16,
    pub(in crate::linux) if_true: u8,
    pub(in crate::linux) if_false: u8,
    pub(in crate::linux) value: u32,
}

/// Puts a filter before every system call of this process from here on; with `listen`, returns the descriptor on which
/// calls are reported.
pub(in crate::linux) fn install_filter(filter: &[Instruction], listen: bool) -> io::Result<Option<OwnedFd>> {
    const SET_MODE_FILTER: u64 = 1;
    const NEW_LISTENER: u64 = 1 << 3;
    // A call that was received must be answered once: a signal would otherwise make the program repeat it.
    const WAIT_KILLABLE: u64 = 1 << 5;
    #[repr(C)]
    struct Program {
        length: u16,
        instructions: *const Instruction,
    }
    let length = u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = Program { length, instructions: filter.as_ptr() };
    let flags = if listen { NEW_LISTENER | WAIT_KILLABLE } else { 0 };
    // SAFETY: the program points to as many instructions as it says, laid out as the kernel's `sock_filter`.
    let result =
        check(unsafe { libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, flags, &raw const program) })?;
    // SAFETY: with that flag the result is a new descriptor.
    Ok(listen.then(|| unsafe { OwnedFd::from_raw_fd(i32::try_from(result).unwrap_or(-1)) }))
}

/// A system call that waits for our answer.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::linux) struct Asked {
    pub(in crate::linux) id: u64,
    /// The thread that made it.
    pub(in crate::linux) pid: u32,
    flags: u32,
    pub(in crate::linux) number: i32,
    arch: u32,
    instruction_pointer: u64,
    pub(in crate::linux) args: [u64; 6],
}

/// Lets the kernel switch straight between the caller and us. Older kernels do without.
pub(in crate::linux) fn wake_in_step(listener: BorrowedFd<'_>) {
    const SET_FLAGS: u64 = 0x4008_2104;
    const SYNC_WAKE_UP: u64 = 1;
    // SAFETY: the call takes a number.
    unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS as _, SYNC_WAKE_UP) };
}

/// The next system call that waits.
pub(in crate::linux) fn next_asked(listener: BorrowedFd<'_>) -> io::Result<Asked> {
    const RECEIVE: u64 = 0xc050_2100;
    let mut asked = Asked::default();
    // SAFETY: the structure has the kernel's layout and is zeroed, as it must be.
    check_int(unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE as _, &raw mut asked) })?;
    Ok(asked)
}

/// Whether the call still waits: only then is what was read from its process its own.
pub(in crate::linux) fn still_asks(listener: BorrowedFd<'_>, id: u64) -> bool {
    const IS_VALID: u64 = 0x4008_2102;
    // SAFETY: the id is ours to read.
    unsafe { libc::ioctl(listener.as_raw_fd(), IS_VALID as _, &raw const id) == 0 }
}

/// What a waiting call gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::linux) enum Said {
    /// It was done; this is its result.
    Done(i64),
    /// It fails with this error.
    Failed(i32),
    /// The kernel does it. Only for calls whose arguments are numbers, and those of which all that matters is held by
    /// mounts.
    GoOn,
}

/// Answers a call. A process that is gone needs no answer.
pub(in crate::linux) fn answer(listener: BorrowedFd<'_>, id: u64, said: Said) {
    const SEND: u64 = 0xc018_2101;
    #[repr(C)]
    struct Response {
        id: u64,
        value: i64,
        error: i32,
        flags: u32,
    }
    let response = match said {
        Said::Done(value) => Response { id, value, error: 0, flags: 0 },
        Said::Failed(errno) => Response { id, value: 0, error: -errno, flags: 0 },
        Said::GoOn => Response { id, value: 0, error: 0, flags: 1 },
    };
    // SAFETY: the structure has the kernel's layout.
    unsafe { libc::ioctl(listener.as_raw_fd(), SEND as _, &raw const response) };
}

/// Answers a call with a descriptor of its own that is a copy of ours.
pub(in crate::linux) fn answer_with(
    listener: BorrowedFd<'_>,
    id: u64,
    fd: BorrowedFd<'_>,
    close_on_exec: bool,
) -> io::Result<()> {
    const ADD: u64 = 0x4018_2103;
    const SEND: u32 = 2;
    #[repr(C)]
    struct Added {
        id: u64,
        flags: u32,
        source: u32,
        target: u32,
        target_flags: u32,
    }
    let added = Added {
        id,
        flags: SEND,
        source: fd.as_raw_fd().unsigned_abs(),
        target: 0,
        target_flags: if close_on_exec { libc::O_CLOEXEC.unsigned_abs() } else { 0 },
    };
    // SAFETY: the structure has the kernel's layout.
    check_int(unsafe { libc::ioctl(listener.as_raw_fd(), ADD as _, &raw const added) }).map(drop)
}

/// Reads memory of another process, up to where it ends or `buffer` is full.
pub(in crate::linux) fn read_memory(pid: u32, pointer: u64, buffer: &mut [u8]) -> io::Result<usize> {
    const PAGE: u64 = 4096;
    // The next page may not be there: each page is a piece of its own, and the kernel stops at a piece it cannot read.
    let mut pieces = Vec::with_capacity(3);
    let mut at = pointer;
    let end = pointer.checked_add(buffer.len() as u64).ok_or(io::ErrorKind::InvalidInput)?;
    while at < end {
        let next = ((at / PAGE + 1) * PAGE).min(end);
        pieces.push(libc::iovec {
            iov_base: usize::try_from(at).unwrap_or(0) as *mut libc::c_void,
            iov_len: usize::try_from(next - at).unwrap_or(0),
        });
        at = next;
    }
    let ours = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let pid = i32::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: our piece is the buffer; the other process's pieces are checked by the kernel.
    let count = check(unsafe {
        libc::process_vm_readv(pid, &raw const ours, 1, pieces.as_ptr(), pieces.len() as u64, 0) as i64
    })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// A copy of a descriptor of another thread. Before Linux 6.9 only the first thread of a process can be named.
pub(in crate::linux) fn descriptor_of(thread: u32, process: u32, number: i32) -> io::Result<OwnedFd> {
    const OF_THREAD: u64 = libc::O_EXCL as u64;
    // SAFETY: all calls take numbers and return a new descriptor.
    unsafe {
        let own = check(libc::syscall(libc::SYS_pidfd_open, u64::from(thread), OF_THREAD));
        let process =
            own.or_else(|_| check(libc::syscall(libc::SYS_pidfd_open, u64::from(process), 0_u64)))?;
        let process = OwnedFd::from_raw_fd(i32::try_from(process).unwrap_or(-1));
        let copy = check(libc::syscall(
            libc::SYS_pidfd_getfd,
            i64::from(process.as_raw_fd()),
            i64::from(number),
            0_i64,
        ))?;
        Ok(OwnedFd::from_raw_fd(i32::try_from(copy).unwrap_or(-1)))
    }
}

/// Gives a socket an address, as another process has written it.
pub(in crate::linux) fn bind(socket: BorrowedFd<'_>, address: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(address.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the address has the length that is said; the kernel copies it before it looks at it.
    check_int(unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), length) }).map(drop)
}
