//! The first process of a command's own namespaces: lays the view, starts the program, and takes everything with it.

use super::child::{self, Streams};
use super::guard::{Guard, Spool};
use super::keeper::{GRACE_AFTER_END, exit_of};
use super::limits::Limits;
use super::namespaces::System;
use super::sys::{self, Fork};
use super::wire::{Reply, Request, View};
use super::{confine, post, sweep, view};
use crate::ended::{Ended, Exit, Survivor, Why};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Runs the program to its end. When this process ends, by whatever cause, so does every process of the namespace.
pub(super) fn run(
    request: &Request,
    wanted: &View,
    system: &System,
    (streams, spool): (Streams, Option<OwnedFd>),
    link: OwnedFd,
) -> ! {
    sys::set_name(c"toolpost-init");
    let limits = Limits::new(request.processes);
    let result = sys::signal_at_parents_death(libc::SIGKILL)
        .map_err(|error| Reply::no_sandbox("the tie to the keeper", &error))
        .and_then(|()| view::lay(wanted, system))
        .and_then(|()| confine::restrict(wanted))
        .and_then(|()| {
            let failed = |error| Reply::no_sandbox("signals", &error);
            // The guard takes leases, and whoever breaks one sends the second.
            Ok((
                sys::signal_fd(&[libc::SIGCHLD, libc::SIGIO]).map_err(failed)?,
                post::pair().map_err(failed)?,
            ))
        });
    let (signals, (listeners, childs_end)) = match result {
        Ok(made) => made,
        Err(reply) => give_up(&link, &reply),
    };
    let program = match sys::fork() {
        Ok(Fork::Child) => {
            // What is recorded is not for the program to write.
            drop((listeners, spool));
            child::become_program(request, &streams, &link, || confine::confine(wanted, &childs_end));
        }
        Ok(Fork::Parent(pid)) => pid,
        Err(error) => give_up(&link, &Reply::no_sandbox("the program's process", &error)),
    };
    drop((streams, childs_end));
    sys::not_to_be_looked_into();
    if let Err(error) = sys::drop_capabilities() {
        give_up(&link, &Reply::no_sandbox("capabilities", &error));
    }
    let listeners = Some(listeners);
    let spool = spool.map(Spool::new);
    let (link, signals) = (&link, &signals);
    Init { program, link, signals, limits, guard: None, is_guard_over: false, listeners, spool }
        .serve(wanted);
    sys::exit(0)
}

fn give_up(link: &OwnedFd, reply: &Reply) -> ! {
    let _ = post::send(link, &reply.encode(), &[]);
    sys::exit(1)
}

/// What the first process watches.
struct Init<'a> {
    program: i32,
    link: &'a OwnedFd,
    signals: &'a OwnedFd,
    limits: Limits,
    guard: Option<Guard>,
    is_guard_over: bool,
    /// On which the listener of the filter comes, once.
    listeners: Option<OwnedFd>,
    /// Where the guard records what is about to change, until there is a guard.
    spool: Option<Spool>,
}

impl Init<'_> {
    fn serve(&mut self, view: &View) {
        let mut exit = None;
        let mut survivors = (Vec::new(), 0);
        let mut hard_at: Option<Instant> = None;
        loop {
            let next = hard_at.map_or(self.limits.next(), |at| at.min(self.limits.next()));
            let left = next.saturating_duration_since(Instant::now());
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(0),
                tv_nsec: left.subsec_nanos().into(),
            };
            let asking = match (&self.guard, &self.listeners) {
                (Some(guard), _) => (!self.is_guard_over).then(|| guard.listener()),
                (None, listeners) => listeners.as_ref().map(AsFd::as_fd),
            };
            let mut ready =
                vec![PollFd::new(self.signals, PollFlags::IN), PollFd::new(self.link, PollFlags::IN)];
            let is_asking = asking.is_some();
            ready.extend(asking.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
            let closes = self.guard.as_ref().and_then(Guard::closes);
            ready.extend(closes.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
            let _ = poll(&mut ready, Some(&timeout));
            let [has_signal, has_word] = [0, 1].map(|at| !ready[at].revents().is_empty());
            let asks = ready.get(2).filter(|_| is_asking).map_or(PollFlags::empty(), PollFd::revents);
            let has_closed = ready.get(2 + usize::from(is_asking)).is_some_and(|fd| !fd.revents().is_empty());
            if has_closed {
                self.guard.iter_mut().for_each(Guard::look);
            }
            self.hear_guard(asks, view);
            self.limits.look();
            if has_signal {
                sys::take_signals(self.signals, 0);
            }
            let (program, guard) = (self.program, &mut self.guard);
            let mut are_more = true;
            if has_signal || hard_at.is_some() {
                are_more = sweep::reap_all(|pid, status| {
                    if pid == program {
                        exit = Some(exit_of(status));
                    } else if let Some(guard) = guard {
                        guard.forget(pid);
                    }
                });
            }
            if !are_more {
                break;
            }
            if exit.is_some() && hard_at.is_none() {
                survivors = self.end_politely();
                hard_at = Some(Instant::now() + GRACE_AFTER_END);
            }
            if has_word {
                let mut buffer = [0; 16];
                let received = post::receive(self.link, &mut buffer);
                let [first, second] =
                    [0, 8].map(|at| buffer[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)));
                match received {
                    Ok((8, _)) if hard_at.is_none() => {
                        survivors = self.end_politely();
                        hard_at = Some(Instant::now() + Duration::from_millis(first));
                    }
                    Ok((8, _)) => (),
                    // A file was removed, or was not.
                    Ok((16, _)) => {
                        let errno = i32::try_from(second).unwrap_or(libc::EBUSY);
                        if let Some(guard) = &mut self.guard {
                            guard.removed(first, errno);
                        }
                    }
                    // The keeper is gone.
                    _ => return,
                }
            }
            if hard_at.is_some_and(|at| Instant::now() >= at) {
                break;
            }
        }
        let (survivors, survivor_count) = survivors;
        self.guard.iter_mut().for_each(Guard::finish);
        self.spool.iter_mut().for_each(Spool::finish);
        let guard = self.guard.as_ref();
        let ended = Ended {
            exit: exit.unwrap_or(Exit::Signal(libc::SIGKILL)),
            why: Why::Exited,
            survivors,
            survivor_count,
            wall: Duration::ZERO,
            cpu: Duration::ZERO,
            peak_memory: 0,
            memory_exceeded: self.limits.exceeded,
            refused: guard.map(Guard::refused).unwrap_or_default(),
            refused_links: guard.map(Guard::refused_links).unwrap_or_default(),
            written: guard.map(Guard::written).unwrap_or_default(),
            appeared: guard.map(Guard::appeared).unwrap_or_default(),
        };
        let _ = post::send(self.link, &Reply::Ended(ended).encode(), &[]);
    }

    /// Takes the listener of the filter when it comes, and performs the calls that wait.
    fn hear_guard(&mut self, asks: PollFlags, view: &View) {
        if asks.is_empty() {
            return;
        }
        match &mut self.guard {
            Some(guard) if asks.contains(PollFlags::IN) => {
                guard.answer_next();
                for removal in guard.take_removals() {
                    let id = removal.id;
                    if post::send(self.link, &Reply::Remove(removal).encode(), &[]).is_err() {
                        guard.removed(id, libc::EBUSY);
                    }
                }
            }
            // Nobody is left who could ask. What is known is still to be reported.
            Some(_) => self.is_guard_over = true,
            None => {
                let listeners = self.listeners.take();
                let received = listeners.and_then(|fd| post::receive(&fd, &mut [0; 16]).ok());
                let listener = received.and_then(|(_, mut fds)| fds.pop());
                self.guard = listener.map(|listener| Guard::new(listener, view, self.spool.take()));
            }
        }
    }

    /// Asks every process to end; who there was beside the program.
    fn end_politely(&self) -> (Vec<Survivor>, u64) {
        let ours = self.guard.as_ref().map_or(&[][..], Guard::openers);
        ours.iter().for_each(|pid| sys::kill(*pid, libc::SIGKILL));
        let survivors = others(self.program, ours);
        sys::kill(-1, libc::SIGTERM);
        survivors
    }
}

/// Everything in the namespace but our own processes and the program.
fn others(program: i32, ours: &[i32]) -> (Vec<Survivor>, u64) {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            *pid != 1 && i32::try_from(*pid).is_ok_and(|pid| pid != program && !ours.contains(&pid))
        })
        .collect();
    sweep::survivors(&pids)
}
