//! The trying itself: for each layer a process that takes it on for good, sees whether it holds, and ends.

use crate::linux::guard::Guard;
use crate::linux::namespaces::System;
use crate::linux::sys::{self, Fork, Reaped, notify};
use crate::linux::wire::{Reply, View};
use crate::linux::{confine, filter, namespaces, post, sweep, view};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Mode;
use rustix::mount::{MountFlags, mount};
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// No try takes longer.
const PATIENCE: Duration = Duration::from_secs(3);

/// What was found, or what is missing.
type Found = Result<String, String>;

type Try = fn() -> Found;

const TRIES: [(&str, Try); 8] = [
    ("subreaper", subreaper),
    ("user namespace", user),
    ("process and mount namespaces", mounts),
    ("network namespace", network),
    ("landlock", landlock),
    ("system call filter", filtered),
    ("watched calls", watched),
    ("overlay", overlay),
];

/// Tries each layer in a process of its own and prints a line for it.
pub(in crate::linux) fn run() -> io::Result<()> {
    let mut lines = String::from("launcher\tyes\tstarts\n");
    for (name, attempt) in TRIES {
        let (word, text) = match apart(&attempt) {
            Ok(text) => ("yes", text),
            Err(text) => ("no", text),
        };
        lines.push_str(&format!("{name}\t{word}\t{}\n", text.replace(['\n', '\t'], " ")));
    }
    io::stdout().write_all(lines.as_bytes())
}

/// Runs a try in a forked process, which ends with it.
fn apart(attempt: &dyn Fn() -> Found) -> Found {
    forked(sys::fork, attempt)
}

fn forked(fork: impl FnOnce() -> io::Result<Fork>, attempt: &dyn Fn() -> Found) -> Found {
    let said = |error: io::Error| error.to_string();
    let (mut from_child, to_parent) = io::pipe().map_err(said)?;
    match fork().map_err(said)? {
        Fork::Child => {
            drop(from_child);
            let (byte, text) = match attempt() {
                Ok(text) => (1, text),
                Err(text) => (0, text),
            };
            let _ = (&to_parent).write_all(&[&[byte], text.as_bytes()].concat());
            sys::exit(0)
        }
        Fork::Parent(pid) => {
            drop(to_parent);
            let patience = Timespec { tv_sec: i64::try_from(PATIENCE.as_secs()).unwrap_or(3), tv_nsec: 0 };
            let ready = poll(&mut [PollFd::new(&from_child, PollFlags::IN)], Some(&patience));
            let mut bytes = Vec::new();
            if ready.is_ok_and(|count| count > 0) {
                from_child.read_to_end(&mut bytes).map_err(said)?;
            }
            sys::kill(pid, libc::SIGKILL);
            match bytes.split_first() {
                Some((1, text)) => Ok(String::from_utf8_lossy(text).into_owned()),
                Some((_, text)) => Err(String::from_utf8_lossy(text).into_owned()),
                None => Err(format!("it did not answer within {} s", PATIENCE.as_secs())),
            }
        }
    }
}

/// What the system says of a missing layer.
fn why(reply: Reply) -> String {
    match reply {
        Reply::NoSandbox { layer, why } if layer != namespaces::USER => format!("{layer}: {why}"),
        Reply::NoSandbox { why, .. } => why,
        other => other.to_string(),
    }
}

fn subreaper() -> Found {
    let failed = |error: io::Error| error.to_string();
    sys::become_subreaper().map_err(failed)?;
    let signals = sys::signal_fd(&[libc::SIGCHLD]).map_err(failed)?;
    if let Fork::Child = sys::fork().map_err(failed)? {
        // A daemon: its parent ends, it has a session of its own, and does not go by itself.
        if let Ok(Fork::Child) = sys::fork() {
            let _ = rustix::process::setsid();
            std::thread::sleep(PATIENCE);
        }
        sys::exit(0)
    }
    let until = Instant::now() + PATIENCE / 2;
    while !matches!(sys::reap(), Reaped::Child(_, _)) {
        if Instant::now() > until {
            return Err("a child that ended was not reported".into());
        }
        sweep::wait_for_signal(&signals, Duration::from_millis(20));
    }
    if sweep::children_of_this().is_empty() {
        return Err(
            "a daemon was not found; the kernel must list children (CONFIG_PROC_CHILDREN), and `/proc` \
                    must be mounted"
                .into(),
        );
    }
    match sweep::end_all(&signals, PATIENCE / 2, |_, _| ()) {
        true => Ok("finds and ends daemons".into()),
        false => Err("a daemon could not be ended".into()),
    }
}

fn user() -> Found {
    if sys::has_admin_capability() {
        return Ok("not needed: this is an administrator".into());
    }
    namespaces::become_admin().map_err(why)?;
    Ok("works".into())
}

/// Takes on the right to make namespaces. Why it cannot be had is said once, of its own layer.
fn become_admin() -> Result<(), String> {
    namespaces::become_admin().map_err(|_| "it needs the user namespace".to_owned())
}

/// Runs a try as the first process of namespaces of its own.
fn in_namespaces(attempt: &dyn Fn() -> Found) -> Found {
    become_admin()?;
    forked(|| sys::fork_into(libc::CLONE_NEWPID | libc::CLONE_NEWNS), attempt)
}

fn mounts() -> Found {
    in_namespaces(&|| {
        view::lay(&View::default(), &System::default()).map_err(why)?;
        let seen = fs::read_dir("/proc").into_iter().flatten().flatten();
        let processes = seen.filter(|entry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit()).count();
        match (std::process::id(), processes) {
            (1, 1) => Ok("works".into()),
            (pid, count) => Err(format!("not alone: process {pid} of {count}")),
        }
    })
}

fn overlay() -> Found {
    in_namespaces(&|| {
        let failed = |error: io::Error| error.to_string();
        let (lower, store) = ("/tmp/toolpost-lower", "/tmp/toolpost-store");
        mount("toolpost", "/tmp", "tmpfs", MountFlags::NOSUID, c"mode=0755")
            .map_err(|error| failed(error.into()))?;
        fs::create_dir(lower).and_then(|()| fs::create_dir(store)).map_err(failed)?;
        let view = View { writable: vec![lower.into()], scratch: store.into(), ..View::default() };
        view::lay(&view, &System::default()).map_err(why)?;
        fs::write(format!("{lower}/file"), "changed").map_err(failed)?;
        Ok("works".into())
    })
}

fn network() -> Found {
    become_admin()?;
    let failed = |error: io::Error| error.to_string();
    sys::unshare(libc::CLONE_NEWNET).map_err(failed)?;
    sys::loopback_up().map_err(|error| format!("the loopback stays down: {error}"))?;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    std::net::TcpStream::connect_timeout(&address, PATIENCE / 2).map_err(failed)?;
    // Nothing is sent: a way is looked up, and there must be none.
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").map_err(failed)?;
    match socket.connect("192.0.2.1:9") {
        Ok(()) => Err("there is a way out".into()),
        Err(_) => Ok("works".into()),
    }
}

fn landlock() -> Found {
    let needs = "the kernel needs 5.13 or later with Landlock switched on (`lsm=` at boot)";
    let version = sys::landlock_version().map_err(|error| format!("{error}; {needs}"))?;
    let failed = |error: io::Error| error.to_string();
    sys::no_new_privileges().map_err(failed)?;
    confine::landlock(&View::default()).map_err(failed)?;
    // This process's own: writing to it would be fine otherwise.
    match fs::OpenOptions::new().write(true).open("/proc/self/comm") {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(format!("version {version}")),
        _ => Err("it is switched on and does not hold".into()),
    }
}

fn filtered() -> Found {
    let failed = |error: io::Error| format!("{error}; the kernel needs CONFIG_SECCOMP_FILTER");
    sys::no_new_privileges().map_err(failed)?;
    notify::install_filter(&filter::instructions(filter::Watch::Nothing), false).map_err(failed)?;
    match sys::read_own_memory() {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Ok("works".into()),
        _ => Err("it is switched on and does not hold".into()),
    }
}

/// A name that is refused is refused by us: for the kernel it would be no such file.
fn watched() -> Found {
    let failed = |error: io::Error| format!("{error}; the kernel needs 5.19 or later");
    let (link, childs_link) = post::pair().map_err(failed)?;
    let make = || rustix::fs::mkdir("/proc/toolpost-reserved", Mode::RWXU);
    if make() == Err(rustix::io::Errno::ACCESS) {
        return Err("cannot be tried out: nothing may be made in `/proc`".into());
    }
    let Fork::Parent(child) = sys::fork().map_err(failed)? else {
        let word = sys::no_new_privileges()
            .and_then(|()| notify::install_filter(&filter::instructions(filter::Watch::Names), true))
            .and_then(|listener| listener.ok_or_else(|| io::ErrorKind::NotFound.into()))
            .and_then(|listener| post::send(&childs_link, b"listener", &[listener.as_fd()]));
        let word = match word {
            Ok(()) if make() == Err(rustix::io::Errno::ACCESS) => String::new(),
            Ok(()) => "it is switched on and does not hold".into(),
            Err(error) => failed(error),
        };
        let _ = post::send(&childs_link, format!(".{word}").as_bytes(), &[]);
        sys::exit(0)
    };
    drop(childs_link);
    let mut buffer = [0; 512];
    let (mut count, mut fds) = post::receive(&link, &mut buffer).map_err(failed)?;
    if let Some(listener) = fds.pop() {
        let view = View {
            writable: vec![b"/".to_vec()],
            reserved: vec![b"toolpost-reserved".to_vec()],
            ..View::default()
        };
        Guard::new(listener, &view, None).answer_next();
        (count, _) = post::receive(&link, &mut buffer).map_err(failed)?;
    }
    sys::kill(child, libc::SIGKILL);
    match buffer[..count] {
        [b'.'] => Ok("works".into()),
        [] => Err("it did not answer".into()),
        ref text => Err(String::from_utf8_lossy(&text[1..]).into_owned()),
    }
}
