//! The launcher: one thread, no secrets, nothing inherited; forks a keeper for every command it is handed.

use super::child::Streams;
use super::keeper::{self, Job};
use super::namespaces::Shared;
use super::sys::{self, Fork};
use super::wire::Request;
use super::{post, sweep};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// How long keepers may take to end their commands when the process they run for is gone.
const LAST: Duration = Duration::from_secs(2);

/// Runs until the process that started this one lets go of the socket.
pub(crate) fn run() -> ! {
    match serve() {
        Ok(()) => sys::exit(0),
        Err(_) => sys::exit(1),
    }
}

fn serve() -> io::Result<()> {
    sys::set_name(c"toolpost-launch");
    // What this process was started with beside its socket is nobody's business here.
    sys::close_from(3);
    let socket = rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    for number in 0..3 {
        sys::put_at(&nothing, number)?;
    }
    // Away from the terminal: its signals are for the process we work for.
    let _ = rustix::process::setsid();
    sys::become_subreaper()?;
    let signals = sys::signal_fd(&[libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP])?;
    let mut keepers = BTreeSet::new();
    let mut shared = Shared::default();
    loop {
        let mut ready = [PollFd::new(&socket, PollFlags::IN), PollFd::new(&signals, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => (),
            Err(error) => return Err(error.into()),
        }
        let (has_message, has_signal) = (!ready[0].revents().is_empty(), !ready[1].revents().is_empty());
        if has_signal {
            sys::take_signals(&signals, 0);
            take_note(&mut keepers);
        }
        if has_message {
            let mut buffer = [0; 16];
            let (count, fds) = post::receive(&socket, &mut buffer)?;
            if count == 0 {
                break;
            }
            let Ok([body, control, stdin, stdout, stderr]) = <[OwnedFd; 5]>::try_from(fds) else { continue };
            let Ok(request) = read_request(body) else { continue };
            let namespaces = request.view.as_ref().map(|view| shared.for_view(view));
            let job = Job { request, control, streams: Streams { stdin, stdout, stderr }, namespaces };
            match sys::fork()? {
                Fork::Child => {
                    drop((socket, signals));
                    keeper::run(job)
                }
                Fork::Parent(pid) => keepers.insert(pid),
            };
        }
    }
    // The keepers see for themselves that nobody is there any more.
    let until = std::time::Instant::now() + LAST;
    while !keepers.is_empty() && std::time::Instant::now() < until {
        sweep::wait_for_signal(&signals, Duration::from_millis(50));
        take_note(&mut keepers);
    }
    sweep::end_all(&signals, LAST, |_, _| ());
    Ok(())
}

/// Takes the end of keepers and of orphans. A keeper that was killed leaves its command's processes to us.
fn take_note(keepers: &mut BTreeSet<i32>) {
    let mut is_orphaned = false;
    let mut note = |pid: i32, status: i32| {
        is_orphaned |= keepers.remove(&pid) && libc::WIFSIGNALED(status);
    };
    sweep::reap_all(&mut note);
    while is_orphaned {
        let orphans: Vec<u32> = sweep::children_of_this()
            .into_iter()
            .filter(|pid| i32::try_from(*pid).is_ok_and(|pid| !keepers.contains(&pid)))
            .collect();
        for pid in &orphans {
            if let Ok(pid) = i32::try_from(*pid) {
                sys::kill(pid, libc::SIGKILL);
            }
        }
        is_orphaned = !orphans.is_empty();
        if is_orphaned {
            std::thread::sleep(Duration::from_millis(1));
            sweep::reap_all(|pid, _| {
                keepers.remove(&pid);
            });
        }
    }
}

fn read_request(body: OwnedFd) -> io::Result<Request> {
    let mut file = File::from(body);
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Request::decode(&bytes)
}
