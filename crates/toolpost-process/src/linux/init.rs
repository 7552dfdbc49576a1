//! The first process of a command's own namespaces: lays the view, starts the program, and takes everything with it.

use super::child::{self, Streams};
use super::keeper::{GRACE_AFTER_END, exit_of};
use super::sys::{self, Fork};
use super::wire::{Reply, Request, View};
use super::{confine, post, sweep, view};
use crate::ended::{Ended, Exit, Survivor, Why};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Runs the program to its end. When this process ends, by whatever cause, so does every process of the namespace.
pub(super) fn run(
    request: &Request,
    wanted: &View,
    secrets: &[Vec<u8>],
    streams: Streams,
    link: OwnedFd,
) -> ! {
    sys::set_name(c"toolpost-init");
    let result = sys::signal_at_parents_death(libc::SIGKILL)
        .map_err(|error| Reply::no_sandbox("the tie to the keeper", &error))
        .and_then(|()| view::lay(wanted, secrets))
        .and_then(|()| {
            sys::signal_fd(&[libc::SIGCHLD]).map_err(|error| Reply::no_sandbox("signals", &error))
        });
    let signals = match result {
        Ok(signals) => signals,
        Err(reply) => give_up(&link, &reply),
    };
    let program = match sys::fork() {
        Ok(Fork::Child) => {
            child::become_program(request, &streams, &link, || confine::confine(wanted, &link));
        }
        Ok(Fork::Parent(pid)) => pid,
        Err(error) => give_up(&link, &Reply::no_sandbox("the program's process", &error)),
    };
    drop(streams);
    sys::not_to_be_looked_into();
    if let Err(error) = sys::drop_capabilities() {
        give_up(&link, &Reply::no_sandbox("capabilities", &error));
    }
    serve(program, &link, &signals);
    sys::exit(0)
}

fn give_up(link: &OwnedFd, reply: &Reply) -> ! {
    let _ = post::send(link, &reply.encode(), &[]);
    sys::exit(1)
}

fn serve(program: i32, link: &OwnedFd, signals: &OwnedFd) {
    let mut exit = None;
    let mut survivors = (Vec::new(), 0);
    let mut hard_at: Option<Instant> = None;
    loop {
        let timeout = hard_at.map(|at| {
            let left = at.saturating_duration_since(Instant::now());
            Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(0),
                tv_nsec: left.subsec_nanos().into(),
            }
        });
        let mut ready = [PollFd::new(signals, PollFlags::IN), PollFd::new(link, PollFlags::IN)];
        let _ = poll(&mut ready, timeout.as_ref());
        let has_word = !ready[1].revents().is_empty();
        sys::take_signals(signals, 0);
        let are_more = sweep::reap_all(|pid, status| {
            if pid == program {
                exit = Some(exit_of(status));
            }
        });
        if !are_more {
            break;
        }
        if exit.is_some() && hard_at.is_none() {
            survivors = others(program);
            sys::kill(-1, libc::SIGTERM);
            hard_at = Some(Instant::now() + GRACE_AFTER_END);
        }
        if has_word {
            let mut buffer = [0; 8];
            match post::receive(link, &mut buffer) {
                Ok((8, _)) if hard_at.is_none() => {
                    survivors = others(program);
                    sys::kill(-1, libc::SIGTERM);
                    hard_at = Some(Instant::now() + Duration::from_millis(u64::from_le_bytes(buffer)));
                }
                Ok((8, _)) => (),
                // The keeper is gone.
                _ => return,
            }
        }
        if hard_at.is_some_and(|at| Instant::now() >= at) {
            break;
        }
    }
    let (survivors, survivor_count) = survivors;
    let ended = Ended {
        exit: exit.unwrap_or(Exit::Signal(libc::SIGKILL)),
        why: Why::Exited,
        survivors,
        survivor_count,
        wall: Duration::ZERO,
        cpu: Duration::ZERO,
        peak_memory: 0,
        refused: Vec::new(),
        appeared: Vec::new(),
    };
    let _ = post::send(link, &Reply::Ended(ended).encode(), &[]);
}

/// Everything in the namespace but this process and the program.
fn others(program: i32) -> (Vec<Survivor>, u64) {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != 1 && i32::try_from(*pid) != Ok(program))
        .collect();
    sweep::survivors(&pids)
}
