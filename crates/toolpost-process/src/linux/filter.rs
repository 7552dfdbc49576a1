//! The filter before a confined command's system calls: what is refused, and what is asked about.

use super::sys::notify::Instruction;

/// What happens to a call.
enum Rule {
    /// It fails with this error.
    Refuse(i32),
    /// It fails if this argument has any of these bits.
    RefuseBits { arg: u8, bits: u32 },
    /// It fails if this argument is one of these.
    RefuseValues { arg: u8, values: &'static [u32] },
    /// It does nothing and reports success if this argument is one of these.
    PretendValues { arg: u8, values: &'static [u32] },
    /// It fails unless this argument is one of these.
    AllowValues { arg: u8, values: &'static [u32] },
    /// It fails with this error unless this argument is this value.
    AllowOnly { arg: u8, value: u32, errno: i32 },
    /// The guard performs it.
    Ask,
    /// The guard performs it if this argument has any of these bits.
    AskBits { arg: u8, bits: u32 },
    /// This argument is a mode: it fails with bits of a program that runs as somebody else, and the guard performs it if
    /// the owner is left without the right to read or to search.
    Mode { arg: u8 },
    /// The same, but the guard performs it with every other mode.
    AskMode { arg: u8 },
}

const NEW_NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | 0x80) as u32;

/// Local, internet, and the one through which addresses of the machine are listed. Other families (virtual machines,
/// raw packets, ciphers) are not bound to a network namespace or are seldom-trodden ways into the kernel.
const FAMILIES: &[u32] =
    &[libc::AF_UNIX as u32, libc::AF_INET as u32, libc::AF_INET6 as u32, libc::AF_NETLINK as u32];

/// The bits of a mode by which a program runs as somebody else.
const AS_SOMEBODY_ELSE: u32 = 0o6000;

/// A program that hides its memory could not be judged by the names that it creates.
const HIDES_MEMORY: &[u32] = &[libc::PR_SET_DUMPABLE as u32];

/// The process that keeps the command, as the command would name it.
const FIRST_PROCESS: &[u32] = &[1];

/// Typing into a terminal in somebody's name.
const TERMINAL_INPUT: &[u32] = &[libc::TIOCSTI as u32, libc::TIOCLINUX as u32];

fn refused() -> Vec<(i64, Rule)> {
    use libc::{ENOSYS, EPERM};
    let mut rules: Vec<(i64, Rule)> = [
        // Other processes.
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_getfd,
        libc::SYS_kcmp,
        // Mounts and namespaces.
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_setns,
        libc::SYS_open_tree,
        libc::SYS_move_mount,
        libc::SYS_fsopen,
        libc::SYS_fsconfig,
        libc::SYS_fsmount,
        libc::SYS_fspick,
        libc::SYS_mount_setattr,
        libc::SYS_open_by_handle_at,
        // The kernel itself.
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_kexec_load,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_reboot,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        libc::SYS_syslog,
        libc::SYS_acct,
        libc::SYS_quotactl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_keyctl,
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
        libc::SYS_adjtimex,
        libc::SYS_sethostname,
        libc::SYS_setdomainname,
        libc::SYS_vhangup,
    ]
    .map(|number| (number, Rule::Refuse(EPERM)))
    .into();
    // Whose calls no filter would see; programs fall back when there is none.
    for number in [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register] {
        rules.push((number, Rule::Refuse(ENOSYS)));
    }
    // Its flags lie in memory, where a filter cannot look; libraries fall back to `clone`.
    rules.push((libc::SYS_clone3, Rule::Refuse(ENOSYS)));
    rules.push((libc::SYS_clone, Rule::RefuseBits { arg: 0, bits: NEW_NAMESPACES }));
    rules.push((libc::SYS_unshare, Rule::RefuseBits { arg: 0, bits: NEW_NAMESPACES }));
    rules.push((libc::SYS_socket, Rule::AllowValues { arg: 0, values: FAMILIES }));
    rules.push((libc::SYS_ioctl, Rule::RefuseValues { arg: 1, values: TERMINAL_INPUT }));
    // The first process keeps the command to its limits; nobody changes its own.
    rules.push((libc::SYS_prlimit64, Rule::AllowOnly { arg: 0, value: 0, errno: EPERM }));
    for number in [libc::SYS_sched_setscheduler, libc::SYS_sched_setparam, libc::SYS_sched_setattr] {
        rules.push((number, Rule::RefuseValues { arg: 0, values: FIRST_PROCESS }));
    }
    rules.push((libc::SYS_sched_setaffinity, Rule::RefuseValues { arg: 0, values: FIRST_PROCESS }));
    rules.push((libc::SYS_setpriority, Rule::RefuseValues { arg: 1, values: FIRST_PROCESS }));
    rules.push((libc::SYS_prctl, Rule::PretendValues { arg: 0, values: HIDES_MEMORY }));
    rules.push((libc::SYS_fchmod, Rule::RefuseBits { arg: 1, bits: AS_SOMEBODY_ELSE }));
    for number in [libc::SYS_fchmodat, libc::SYS_fchmodat2] {
        rules.push((number, Rule::RefuseBits { arg: 2, bits: AS_SOMEBODY_ELSE }));
    }
    #[cfg(target_arch = "x86_64")]
    rules.push((libc::SYS_chmod, Rule::RefuseBits { arg: 1, bits: AS_SOMEBODY_ELSE }));
    #[cfg(target_arch = "x86_64")]
    for number in [libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_modify_ldt, libc::SYS_kexec_file_load] {
        rules.push((number, Rule::Refuse(EPERM)));
    }
    rules
}

/// Since Linux 6.13; the same number on every architecture.
const SYS_SETXATTRAT: i64 = 463;

/// The rights of an owner without which a folder cannot be looked through.
pub(super) const OWNER_READS: u32 = 0o400;
pub(super) const OWNER_SEARCHES: u32 = 0o100;

/// Calls that create names, and `umask`, since what is created depends on it.
fn asked() -> Vec<(i64, Rule)> {
    // A file without a name may get one later. Files that exist are locked by mounts, which fall off when somebody
    // outside replaces the file, so opening one for writing is judged as well.
    const CREATE: u32 = (libc::O_CREAT
        | (libc::O_TMPFILE & !libc::O_DIRECTORY)
        | libc::O_WRONLY
        | libc::O_RDWR
        | libc::O_TRUNC) as u32;
    let mut rules = vec![
        (libc::SYS_openat, Rule::AskBits { arg: 2, bits: CREATE }),
        // Its flags lie in memory, where they can change after a look; libraries fall back to `openat`.
        (libc::SYS_openat2, Rule::Refuse(libc::ENOSYS)),
        (libc::SYS_mkdirat, Rule::Ask),
        (libc::SYS_mknodat, Rule::Ask),
        (libc::SYS_symlinkat, Rule::Ask),
        (libc::SYS_linkat, Rule::Ask),
        (libc::SYS_renameat2, Rule::Ask),
        (libc::SYS_renameat, Rule::Ask),
        (libc::SYS_bind, Rule::Ask),
        (libc::SYS_truncate, Rule::Ask),
        (libc::SYS_umask, Rule::Ask),
        // A folder that nobody can look into any more would hide what is protected from the next command's survey.
        (libc::SYS_fchmod, Rule::Mode { arg: 1 }),
        (libc::SYS_fchmodat, Rule::Mode { arg: 2 }),
        (libc::SYS_fchmodat2, Rule::Mode { arg: 2 }),
        // Access lists change modes too. They lie in memory, as the names of attributes do; programs do without.
        (libc::SYS_setxattr, Rule::Refuse(libc::EOPNOTSUPP)),
        (libc::SYS_lsetxattr, Rule::Refuse(libc::EOPNOTSUPP)),
        (libc::SYS_fsetxattr, Rule::Refuse(libc::EOPNOTSUPP)),
        (SYS_SETXATTRAT, Rule::Refuse(libc::EOPNOTSUPP)),
    ];
    #[cfg(target_arch = "x86_64")]
    rules.extend([
        (libc::SYS_open, Rule::AskBits { arg: 1, bits: CREATE }),
        (libc::SYS_creat, Rule::Ask),
        (libc::SYS_mkdir, Rule::Ask),
        (libc::SYS_mknod, Rule::Ask),
        (libc::SYS_symlink, Rule::Ask),
        (libc::SYS_link, Rule::Ask),
        (libc::SYS_rename, Rule::Ask),
        (libc::SYS_chmod, Rule::Mode { arg: 1 }),
    ]);
    rules
}

// Of the filter machine's instructions these few are needed.
const LOAD: u16 = 0x20;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const IF_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const ERROR: u32 = 0x0005_0000;
const NOTIFY: u32 = 0x7fc0_0000;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(target_arch = "riscv64")]
const ARCHITECTURE: u32 = 0xc000_00f3;

// Where the kernel puts what it tells the filter.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const fn argument_at(arg: u8) -> u32 {
    16 + 8 * arg as u32
}

fn step(code: u16, value: u32, if_true: u8, if_false: u8) -> Instruction {
    Instruction { code, if_true, if_false, value }
}

fn end(value: u32) -> Instruction {
    step(RETURN, value, 0, 0)
}

fn error(errno: i32) -> Instruction {
    end(ERROR | errno.unsigned_abs())
}

/// Which calls the guard performs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watch {
    Nothing,
    /// Those that create names.
    Names,
    /// Those that remove files too.
    NamesAndRemoval,
    /// Those by which anything is changed.
    Changes,
}

/// Calls that remove files.
fn removing() -> Vec<(i64, Rule)> {
    vec![
        (libc::SYS_unlinkat, Rule::Ask),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_unlink, Rule::Ask),
    ]
}

/// Calls that change what was created, beside those.
fn changing() -> Vec<(i64, Rule)> {
    vec![
        (libc::SYS_fchmod, Rule::AskMode { arg: 1 }),
        (libc::SYS_fchmodat, Rule::AskMode { arg: 2 }),
        (libc::SYS_fchmodat2, Rule::AskMode { arg: 2 }),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, Rule::AskMode { arg: 1 }),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_rmdir, Rule::Ask),
    ]
}

/// The filter, by what the guard performs.
pub(super) fn instructions(watch: Watch) -> Vec<Instruction> {
    // Calls by another machine's numbers, and x86's second numbering, would pass unread.
    let mut filter = vec![
        step(LOAD, ARCHITECTURE_AT, 0, 0),
        step(IF_EQUAL, ARCHITECTURE, 1, 0),
        error(libc::ENOSYS),
        step(LOAD, NUMBER_AT, 0, 0),
        step(IF_AT_LEAST, 0x4000_0000, 0, 1),
        error(libc::ENOSYS),
    ];
    // Of two rules for one call, the first counts.
    let mut rules = match watch {
        Watch::Nothing => Vec::new(),
        Watch::Names => asked(),
        Watch::NamesAndRemoval => asked().into_iter().chain(removing()).collect(),
        Watch::Changes => changing().into_iter().chain(asked()).chain(removing()).collect(),
    };
    rules.extend(refused());
    for (number, rule) in rules {
        let Ok(number) = u32::try_from(number) else { continue };
        let block = block(&rule);
        filter.push(step(IF_EQUAL, number, 0, u8::try_from(block.len()).unwrap_or(u8::MAX)));
        filter.extend(block);
    }
    filter.push(end(ALLOW));
    filter
}

fn block(rule: &Rule) -> Vec<Instruction> {
    let values = |arg: u8, values: &[u32], found: Instruction, other: Instruction| {
        let mut steps = vec![step(LOAD, argument_at(arg), 0, 0)];
        for (at, value) in values.iter().enumerate() {
            // On a match, over the rest of the list and `other` to `found`.
            let rest = u8::try_from(values.len() - at).unwrap_or(u8::MAX);
            steps.push(step(IF_EQUAL, *value, rest, 0));
        }
        steps.extend([other, found]);
        steps
    };
    let bits = |arg: u8, bits: u32, found: Instruction| {
        vec![step(LOAD, argument_at(arg), 0, 0), step(IF_BITS, bits, 0, 1), found, end(ALLOW)]
    };
    match *rule {
        Rule::Refuse(errno) => vec![error(errno)],
        Rule::Ask => vec![end(NOTIFY)],
        Rule::RefuseBits { arg, bits: wanted } => bits(arg, wanted, error(libc::EPERM)),
        Rule::AskBits { arg, bits: wanted } => bits(arg, wanted, end(NOTIFY)),
        Rule::Mode { arg } => vec![
            step(LOAD, argument_at(arg), 0, 0),
            step(IF_BITS, AS_SOMEBODY_ELSE, 0, 1),
            error(libc::EPERM),
            step(IF_BITS, OWNER_READS, 0, 2),
            step(IF_BITS, OWNER_SEARCHES, 0, 1),
            end(ALLOW),
            end(NOTIFY),
        ],
        Rule::AskMode { arg } => vec![
            step(LOAD, argument_at(arg), 0, 0),
            step(IF_BITS, AS_SOMEBODY_ELSE, 0, 1),
            error(libc::EPERM),
            end(NOTIFY),
        ],
        Rule::RefuseValues { arg, values: list } => values(arg, list, error(libc::EPERM), end(ALLOW)),
        Rule::AllowOnly { arg, value, errno } => values(arg, &[value], end(ALLOW), error(errno)),
        Rule::PretendValues { arg, values: list } => values(arg, list, error(0), end(ALLOW)),
        Rule::AllowValues { arg, values: list } => values(arg, list, end(ALLOW), error(libc::EAFNOSUPPORT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's machine, as far as the filter uses it.
    fn run(filter: &[Instruction], architecture: u32, number: i64, args: [u64; 6]) -> u32 {
        let mut at = 0;
        let mut register = 0_u32;
        loop {
            let step = filter[at];
            at += 1;
            let jump = |is: bool| usize::from(if is { step.if_true } else { step.if_false });
            match step.code {
                LOAD => {
                    register = match step.value {
                        NUMBER_AT => u32::try_from(number).unwrap(),
                        ARCHITECTURE_AT => architecture,
                        offset => args[(offset as usize - 16) / 8] as u32,
                    }
                }
                IF_EQUAL => at += jump(register == step.value),
                IF_AT_LEAST => at += jump(register >= step.value),
                IF_BITS => at += jump(register & step.value != 0),
                RETURN => return step.value,
                other => panic!("{other:#x}"),
            }
        }
    }

    #[test]
    fn calls_are_refused_asked_about_and_let_through() {
        let watch = instructions(Watch::Names);
        let plain = instructions(Watch::Nothing);
        let judge = |number, args: [u64; 6]| run(&watch, ARCHITECTURE, number, args);
        assert_eq!(judge(libc::SYS_read, [0; 6]), ALLOW);
        assert_eq!(judge(libc::SYS_ptrace, [0; 6]), ERROR | libc::EPERM as u32);
        assert_eq!(judge(libc::SYS_clone3, [0; 6]), ERROR | libc::ENOSYS as u32);
        assert_eq!(judge(libc::SYS_clone, [libc::SIGCHLD as u64, 0, 0, 0, 0, 0]), ALLOW);
        assert_eq!(judge(libc::SYS_clone, [libc::CLONE_NEWUSER as u64, 0, 0, 0, 0, 0]), ERROR | 1);
        for family in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK] {
            assert_eq!(judge(libc::SYS_socket, [family as u64, 0, 0, 0, 0, 0]), ALLOW, "{family}");
        }
        for family in [libc::AF_VSOCK, libc::AF_PACKET, libc::AF_ALG] {
            let refused = ERROR | libc::EAFNOSUPPORT as u32;
            assert_eq!(judge(libc::SYS_socket, [family as u64, 0, 0, 0, 0, 0]), refused, "{family}");
        }
        assert_eq!(judge(libc::SYS_ioctl, [0, libc::TIOCSTI, 0, 0, 0, 0]), ERROR | 1);
        assert_eq!(judge(libc::SYS_ioctl, [0, libc::FIONREAD, 0, 0, 0, 0]), ALLOW);
        let create = (libc::O_CREAT | libc::O_WRONLY) as u64;
        assert_eq!(judge(libc::SYS_openat, [0, 0, create, 0, 0, 0]), NOTIFY);
        assert_eq!(judge(libc::SYS_openat, [0, 0, libc::O_WRONLY as u64, 0, 0, 0]), NOTIFY);
        assert_eq!(judge(libc::SYS_openat, [0, 0, libc::O_RDONLY as u64, 0, 0, 0]), ALLOW);
        assert_eq!(judge(libc::SYS_truncate, [0; 6]), NOTIFY);
        assert_eq!(judge(libc::SYS_prlimit64, [0, 7, 0, 0, 0, 0]), ALLOW);
        assert_eq!(judge(libc::SYS_prlimit64, [1, 7, 0, 0, 0, 0]), ERROR | 1);
        assert_eq!(judge(libc::SYS_sched_setscheduler, [1, 5, 0, 0, 0, 0]), ERROR | 1);
        assert_eq!(judge(libc::SYS_renameat2, [0; 6]), NOTIFY);
        assert_eq!(judge(libc::SYS_openat, [0, 0, libc::O_TMPFILE as u64, 0, 0, 0]), NOTIFY);
        assert_eq!(judge(libc::SYS_openat, [0, 0, libc::O_DIRECTORY as u64, 0, 0, 0]), ALLOW);
        assert_eq!(judge(libc::SYS_bind, [0; 6]), NOTIFY);
        assert_eq!(judge(libc::SYS_prctl, [libc::PR_SET_DUMPABLE as u64, 0, 0, 0, 0, 0]), ERROR);
        assert_eq!(judge(libc::SYS_prctl, [libc::PR_SET_NAME as u64, 0, 0, 0, 0, 0]), ALLOW);
        assert_eq!(judge(libc::SYS_fchmod, [0, 0o755, 0, 0, 0, 0]), ALLOW);
        assert_eq!(judge(libc::SYS_fchmod, [0, 0o4755, 0, 0, 0, 0]), ERROR | 1);
        assert_eq!(judge(libc::SYS_fchmodat, [0, 0, 0o2755, 0, 0, 0]), ERROR | 1);
        for (mode, expected) in [
            (0o755, ALLOW),
            (0o500, ALLOW),
            (0o644, NOTIFY),
            (0o300, NOTIFY),
            (0, NOTIFY),
            (0o4000, ERROR | 1),
        ] {
            assert_eq!(judge(libc::SYS_fchmodat2, [0, 0, mode, 0, 0, 0]), expected, "{mode:o}");
        }
        let all = instructions(Watch::Changes);
        for (mode, expected) in [(0o755, NOTIFY), (0, NOTIFY), (0o4755, ERROR | 1)] {
            assert_eq!(
                run(&all, ARCHITECTURE, libc::SYS_fchmodat, [0, 0, mode, 0, 0, 0]),
                expected,
                "{mode:o}"
            );
        }
        assert_eq!(run(&all, ARCHITECTURE, libc::SYS_unlinkat, [0; 6]), NOTIFY);
        assert_eq!(judge(libc::SYS_unlinkat, [0; 6]), ALLOW);
        assert_eq!(run(&plain, ARCHITECTURE, libc::SYS_fchmod, [0, 0, 0, 0, 0, 0]), ALLOW);
        assert_eq!(run(&plain, ARCHITECTURE, libc::SYS_fchmod, [0, 0o4000, 0, 0, 0, 0]), ERROR | 1);
        assert_eq!(judge(libc::SYS_setxattr, [0; 6]), ERROR | libc::EOPNOTSUPP as u32);
        assert_eq!(run(&plain, ARCHITECTURE, libc::SYS_renameat2, [0; 6]), ALLOW);
        assert_eq!(run(&watch, 0x4000_0003, libc::SYS_read, [0; 6]), ERROR | libc::ENOSYS as u32);
        assert_eq!(judge(0x4000_0000, [0; 6]), ERROR | libc::ENOSYS as u32);
    }
}
