//! The launcher: one thread, no secrets, nothing inherited; forks a keeper for every command it is handed.

use super::keeper::{self, Job};
use super::namespaces::Shared;
use super::sys::{self, Fork};
use super::{post, probe, sweep};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

/// How long keepers may take to end their commands when the process they run for is gone.
const LAST: Duration = Duration::from_secs(2);

/// How long after the start of a command the next keeper is made ready.
const AFTER_START: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

/// Runs until the process that started this one lets go of the socket.
pub(crate) fn run() -> ! {
    let is_probe = std::env::args_os().nth(1).is_some_and(|word| word == probe::WORD);
    match if is_probe { probe::run() } else { serve() } {
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
    let (inbox, taken) = post::pair()?;
    let mut keepers = BTreeSet::new();
    let mut shared = Shared::default();
    let mut needs_spare = true;
    loop {
        if needs_spare {
            if !keepers.is_empty() {
                // Not in the very moment in which a command starts and needs the processor; unless the next one waits.
                let _ = poll(&mut [PollFd::new(&socket, PollFlags::IN)], Some(&AFTER_START));
            }
            match sys::fork()? {
                Fork::Child => {
                    drop((signals, inbox));
                    keeper::run_spare(socket, taken)
                }
                Fork::Parent(pid) => keepers.insert(pid),
            };
            needs_spare = false;
        }
        // Of the socket only its end is waited for: commands are taken from it by the keeper that is ready.
        let mut ready = [
            PollFd::new(&socket, PollFlags::empty()),
            PollFd::new(&signals, PollFlags::IN),
            PollFd::new(&inbox, PollFlags::IN),
        ];
        match poll(&mut ready, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => (),
            Err(error) => return Err(error.into()),
        }
        let [is_over, has_signal, has_word] = ready.map(|fd| !fd.revents().is_empty());
        if has_word {
            let mut buffer = [0; 16];
            match post::receive(&inbox, &mut buffer)? {
                (_, fds) if fds.is_empty() => needs_spare = true,
                (_, fds) => {
                    let Some(job) = Job::from_descriptors(fds)? else { continue };
                    let Some(view) = &job.request.view else { continue };
                    let namespaces = shared.for_view(view);
                    match sys::fork()? {
                        Fork::Child => {
                            drop((socket, signals, inbox, taken));
                            keeper::run_confined(job, namespaces)
                        }
                        Fork::Parent(pid) => keepers.insert(pid),
                    };
                }
            }
        }
        if has_signal {
            sys::take_signals(&signals, 0);
            needs_spare |= take_note(&mut keepers);
        }
        if is_over && !has_word {
            break;
        }
    }
    drop((socket, taken));
    // The keepers see for themselves that nobody is there any more.
    let until = std::time::Instant::now() + LAST;
    while !keepers.is_empty() && std::time::Instant::now() < until {
        sweep::wait_for_signal(&signals, Duration::from_millis(50));
        take_note(&mut keepers);
    }
    sweep::end_all(&signals, LAST, |_, _| ());
    Ok(())
}

/// Takes the end of keepers and of orphans. A keeper that was killed leaves its command's processes to us, and may
/// have been the one that was ready for the next: whether one was.
fn take_note(keepers: &mut BTreeSet<i32>) -> bool {
    let mut is_orphaned = false;
    sweep::reap_all(|pid: i32, status: i32| {
        is_orphaned |= keepers.remove(&pid) && libc::WIFSIGNALED(status);
    });
    let was_killed = is_orphaned;
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
    was_killed
}
