//! Keeps one command: starts it, watches the clock, and ends it with everything that it started.

use super::child::{self, Streams};
use super::namespaces::Entered;
use super::removable::Removable;
use super::sys::{self, Fork};
use super::wire::{Reply, Request};
use super::{init, post, sweep};
use crate::ended::{Ended, Exit, Survivor, Why};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What is left when the program has ended by itself gets this long to end politely.
pub(super) const GRACE_AFTER_END: Duration = Duration::from_millis(150);

/// The hard end must have worked within this time; what is left then is reported.
const HARD_END: Duration = Duration::from_millis(2_000);

/// A command with its pipes, as this process was handed it.
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) control: OwnedFd,
    pub(super) streams: Streams,
    /// Where what the command changes is recorded.
    pub(super) spool: Option<OwnedFd>,
}

impl Job {
    /// Takes the next command from a socket; none when the other end is gone.
    pub(super) fn receive(socket: &OwnedFd) -> io::Result<Option<Job>> {
        loop {
            let mut buffer = [0; 16];
            let (count, fds) = post::receive(socket, &mut buffer)?;
            if count == 0 {
                return Ok(None);
            }
            if let Some(job) = Job::from_descriptors(fds)? {
                return Ok(Some(job));
            }
        }
    }

    /// The command that came with these descriptors; none if it makes no sense.
    pub(super) fn from_descriptors(mut fds: Vec<OwnedFd>) -> io::Result<Option<Job>> {
        let spool = if fds.len() == 6 { fds.pop() } else { None };
        let Ok([body, control, stdin, stdout, stderr]) = <[OwnedFd; 5]>::try_from(fds) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        let mut body = File::from(body);
        body.seek(SeekFrom::Start(0))?;
        body.read_to_end(&mut bytes)?;
        let streams = Streams { stdin, stdout, stderr };
        Ok(Request::decode(&bytes).ok().map(|request| Job { request, control, streams, spool }))
    }
}

/// Keeps a confined command to its end, reports, and ends.
pub(super) fn run_confined(job: Job, namespaces: Result<Entered, Reply>) -> ! {
    let Job { request, control, streams, spool } = job;
    finish(&control, start_confined(&request, &control, (streams, spool), namespaces))
}

/// Waits for a command without a sandbox, with its process ready; keeps it to its end, reports, and ends.
///
/// All that can be done before the command is known is done: when it comes, it need only be run. `taken` hears of it,
/// so that the next keeper can be made ready; confined commands are passed on to it.
pub(super) fn run_spare(jobs: OwnedFd, taken: OwnedFd) -> ! {
    match wait_for_command(jobs, taken) {
        Ok((control, mut keeper)) => finish(&control, keeper.watch()),
        Err(_) => sys::exit(1),
    }
}

fn finish(control: &OwnedFd, result: Result<Reply, Failure>) -> ! {
    let reply = result.unwrap_or_else(|error| match error.downcast::<Reply>() {
        Ok(reply) => *reply,
        Err(error) => Reply::NotRun {
            what: format!("the command could not be kept: {error}"),
            errno: error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error).unwrap_or(0),
        },
    });
    let _ = control.try_clone().and_then(|control| post::send_framed(control, &reply.encode()));
    sys::exit(0)
}

struct Keeper {
    started: Instant,
    control: OwnedFd,
    link: OwnedFd,
    signals: OwnedFd,
    /// The program; with namespaces, their first process.
    main: i32,
    has_namespaces: bool,
    grace: Duration,
    wall: Option<Instant>,
    /// When the polite end is over, once it has begun.
    hard_at: Option<Instant>,
    why: Why,
    exit: Option<Exit>,
    survivors: Vec<Survivor>,
    survivor_count: u64,
    memory_exceeded: Option<u64>,
    refused: Vec<PathBuf>,
    refused_links: Vec<PathBuf>,
    written: Vec<PathBuf>,
    appeared: Vec<PathBuf>,
    removable: Removable,
}

type Failure = Box<dyn std::error::Error>;

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Reply {}

/// The keeper's own standing: a session, the children of its children, and the signals it listens to.
fn become_keeper() -> io::Result<OwnedFd> {
    sys::set_name(c"toolpost-keeper");
    let _ = rustix::process::setsid();
    sys::become_subreaper()?;
    // If the launcher is killed, nobody else would tell us that it is time.
    sys::signal_at_parents_death(libc::SIGTERM)?;
    sys::signal_fd(&[libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP])
}

fn start_confined(
    request: &Request,
    control: &OwnedFd,
    (streams, spool): (Streams, Option<OwnedFd>),
    namespaces: Result<Entered, Reply>,
) -> Result<Reply, Failure> {
    let view = request.view.as_ref().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let signals = become_keeper()?;
    let (link, childs_link) = post::pair()?;
    let removable = Removable::new(view);
    let namespaces = namespaces?;
    namespaces.enter()?;
    let forked = sys::fork_into(libc::CLONE_NEWPID | libc::CLONE_NEWNS)
        .map_err(|error| Reply::no_sandbox("process and mount namespaces", &error))?;
    let main = match forked {
        Fork::Child => {
            drop((link, signals));
            init::run(request, view, namespaces.system(), (streams, spool), childs_link)
        }
        Fork::Parent(pid) => pid,
    };
    drop((streams, spool, childs_link));
    let limits = (request.wall_ms, request.grace_ms);
    let mut keeper = Keeper::new(control.try_clone()?, link, signals, main, limits);
    keeper.has_namespaces = true;
    keeper.removable = removable;
    keeper.watch()
}

fn wait_for_command(jobs: OwnedFd, taken: OwnedFd) -> io::Result<(OwnedFd, Keeper)> {
    let signals = become_keeper()?;
    let (link, childs_link) = post::pair()?;
    let main = match sys::fork()? {
        Fork::Child => {
            drop((link, signals));
            // The keeper is the parent: without it nobody would end the program.
            if sys::signal_at_parents_death(libc::SIGKILL).is_err() {
                sys::exit(1);
            }
            wait_as_child(&jobs, &taken, &childs_link)
        }
        Fork::Parent(pid) => pid,
    };
    drop((jobs, taken, childs_link));
    let mut limits = [0; 16];
    let (count, mut fds) = post::receive(&link, &mut limits)?;
    let (Some(control), 16) = (fds.pop(), count) else { return Err(io::ErrorKind::UnexpectedEof.into()) };
    let (wall, grace) = limits.split_at(8);
    let number = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let keeper = Keeper::new(control.try_clone()?, link, signals, main, (number(wall), number(grace)));
    Ok((control, keeper))
}

/// The process that becomes the program of the first command without a sandbox.
fn wait_as_child(jobs: &OwnedFd, taken: &OwnedFd, link: &OwnedFd) -> ! {
    loop {
        let Ok(Some(job)) = Job::receive(jobs) else { sys::exit(0) };
        let Job { request, control, streams, spool } = job;
        if request.view.is_some() {
            let Ok(body) = rustix::fs::memfd_create("command", rustix::fs::MemfdFlags::CLOEXEC) else {
                continue;
            };
            let mut body = File::from(body);
            if body.write_all(&request.encode()).is_ok() {
                let body = OwnedFd::from(body);
                let Streams { stdin, stdout, stderr } = &streams;
                let mut fds =
                    vec![body.as_fd(), control.as_fd(), stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
                fds.extend(spool.as_ref().map(AsFd::as_fd));
                let _ = post::send(taken, b"confined", &fds);
            }
            continue;
        }
        let limits = [request.wall_ms.to_le_bytes(), request.grace_ms.to_le_bytes()].concat();
        if post::send(link, &limits, &[control.as_fd()]).is_err() {
            sys::exit(1);
        }
        let _ = post::send(taken, b"taken", &[]);
        drop(control);
        child::become_program(&request, &streams, link, || Ok(()));
    }
}

impl Keeper {
    fn new(
        control: OwnedFd,
        link: OwnedFd,
        signals: OwnedFd,
        main: i32,
        (wall_ms, grace_ms): (u64, u64),
    ) -> Keeper {
        let started = Instant::now();
        Keeper {
            started,
            control,
            link,
            signals,
            main,
            has_namespaces: false,
            grace: Duration::from_millis(grace_ms),
            wall: (wall_ms > 0).then(|| started + Duration::from_millis(wall_ms)),
            hard_at: None,
            why: Why::Exited,
            exit: None,
            survivors: Vec::new(),
            survivor_count: 0,
            memory_exceeded: None,
            refused: Vec::new(),
            refused_links: Vec::new(),
            written: Vec::new(),
            appeared: Vec::new(),
            removable: Removable::default(),
        }
    }
}

impl Reply {
    /// That a layer of the sandbox cannot be had, and what the system says.
    pub(super) fn no_sandbox(layer: &str, error: &io::Error) -> Reply {
        Reply::NoSandbox { layer: layer.into(), why: error.to_string() }
    }
}

impl Keeper {
    fn watch(&mut self) -> Result<Reply, Failure> {
        let mut is_link_open = true;
        loop {
            let timeout = self.next_moment().map(|at| {
                let left = at.saturating_duration_since(Instant::now());
                Timespec {
                    tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                    tv_nsec: left.subsec_nanos().into(),
                }
            });
            let nothing = PollFlags::empty();
            let link_flags = if is_link_open { PollFlags::IN } else { nothing };
            let control_flags = if self.hard_at.is_none() { PollFlags::IN } else { nothing };
            // A descriptor that is not asked about still reports its hang-up, so it is left out.
            let signals = self.signals.as_fd();
            let link = if is_link_open { self.link.as_fd() } else { signals };
            let control = if self.hard_at.is_none() { self.control.as_fd() } else { signals };
            let mut ready = [
                PollFd::from_borrowed_fd(signals, PollFlags::IN),
                PollFd::from_borrowed_fd(link, link_flags),
                PollFd::from_borrowed_fd(control, control_flags),
            ];
            match poll(&mut ready, timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => (),
                Err(error) => return Err(io::Error::from(error).into()),
            }
            let [on_signals, on_link, on_control] = ready.map(|fd| !fd.revents().is_empty());
            if on_link && is_link_open {
                is_link_open = self.hear()?;
            }
            if on_signals {
                if sys::take_signals(&self.signals, libc::SIGTERM) && self.hard_at.is_none() {
                    self.begin_end(Why::Asked, self.grace);
                }
                if self.take_note() {
                    // What init had to say lies in the link still.
                    while is_link_open && self.has_word() {
                        is_link_open = self.hear()?;
                    }
                    break;
                }
            }
            if on_control && self.hard_at.is_none() {
                self.begin_end(Why::Asked, self.grace);
            }
            let now = Instant::now();
            if self.hard_at.is_none() && self.wall.is_some_and(|at| now >= at) {
                self.begin_end(Why::TimedOut, self.grace);
            }
            if self.hard_at.is_some_and(|at| now >= at) {
                self.end_hard();
                while is_link_open && self.has_word() {
                    is_link_open = self.hear()?;
                }
                break;
            }
        }
        let (cpu, peak_memory) = sys::usage_of_children();
        Ok(Reply::Ended(Ended {
            exit: self.exit.unwrap_or(Exit::Signal(libc::SIGKILL)),
            why: self.why,
            survivors: std::mem::take(&mut self.survivors),
            survivor_count: self.survivor_count,
            wall: self.started.elapsed(),
            cpu: Duration::from_micros(cpu),
            peak_memory,
            memory_exceeded: self.memory_exceeded,
            refused: std::mem::take(&mut self.refused),
            refused_links: std::mem::take(&mut self.refused_links),
            written: std::mem::take(&mut self.written),
            appeared: std::mem::take(&mut self.appeared),
        }))
    }

    fn next_moment(&self) -> Option<Instant> {
        match self.hard_at {
            Some(at) => Some(at),
            None => self.wall,
        }
    }

    fn has_word(&self) -> bool {
        let mut ready = [PollFd::new(&self.link, PollFlags::IN)];
        poll(&mut ready, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|count| count > 0)
    }

    /// Hears what the program's side says; whether it may say more.
    fn hear(&mut self) -> Result<bool, Failure> {
        let mut buffer = vec![0; 64 * 1024];
        // When the first process is killed with a word unread, the link is reset. That is its end, no more.
        let count = match post::receive(&self.link, &mut buffer) {
            Ok((count, _)) => count,
            Err(error) if error.raw_os_error() == Some(libc::ECONNRESET) => 0,
            Err(error) => return Err(error.into()),
        };
        if count == 0 {
            return Ok(false);
        }
        match Reply::decode(&buffer[..count])? {
            Reply::Ended(ended) => {
                self.exit = Some(ended.exit);
                self.memory_exceeded = ended.memory_exceeded;
                (self.refused, self.written) = (ended.refused, ended.written);
                self.refused_links = ended.refused_links;
                self.appeared = ended.appeared;
                if self.survivors.is_empty() {
                    (self.survivors, self.survivor_count) = (ended.survivors, ended.survivor_count);
                }
                // Init ends by itself; it is watched all the same.
                if self.hard_at.is_none() {
                    self.hard_at = Some(Instant::now() + GRACE_AFTER_END + Duration::from_millis(300));
                }
                Ok(true)
            }
            Reply::Remove(removal) => {
                let errno = self.removable.remove(&removal).err().map_or(0, |errno| errno.raw_os_error());
                let answer = [removal.id, u64::from(errno.unsigned_abs())].map(u64::to_le_bytes).concat();
                // Who asked may have ended meanwhile.
                let _ = post::send(&self.link, &answer, &[]);
                Ok(true)
            }
            reply => {
                self.end_hard();
                Err(reply.into())
            }
        }
    }

    /// Takes the end of children; whether all has ended.
    fn take_note(&mut self) -> bool {
        let (main, has_namespaces) = (self.main, self.has_namespaces);
        let mut status = None;
        let are_more = sweep::reap_all(|pid, how| {
            if pid == main {
                status = Some(how);
            }
        });
        if let Some(status) = status
            && !has_namespaces
        {
            self.exit = Some(exit_of(status));
            if are_more && self.hard_at.is_none() {
                self.begin_end(Why::Exited, GRACE_AFTER_END);
            }
        }
        !are_more
    }

    fn begin_end(&mut self, why: Why, grace: Duration) {
        self.why = why;
        if self.has_namespaces {
            self.hard_at = Some(Instant::now() + grace + Duration::from_millis(300));
            let grace = u64::try_from(grace.as_millis()).unwrap_or(0);
            let _ = post::send(&self.link, &grace.to_le_bytes(), &[]);
            return;
        }
        self.hard_at = Some(Instant::now() + grace);
        let pids = sweep::descendants();
        let others: Vec<u32> =
            pids.iter().copied().filter(|pid| i32::try_from(*pid) != Ok(self.main)).collect();
        (self.survivors, self.survivor_count) = sweep::survivors(&others);
        sweep::ask_to_end(&pids);
    }

    fn end_hard(&mut self) {
        if self.has_namespaces {
            // With the first process of its namespace, every process of it ends.
            sys::kill(self.main, libc::SIGKILL);
        }
        let main = self.main;
        let mut status = None;
        let is_empty = sweep::end_all(&self.signals, HARD_END, |pid, how| {
            if pid == main {
                status = Some(how);
            }
        });
        if let Some(status) = status
            && !self.has_namespaces
        {
            self.exit = Some(exit_of(status));
        }
        if !is_empty {
            (self.survivors, self.survivor_count) = sweep::survivors(&sweep::descendants());
            self.survivors.iter_mut().for_each(|survivor| survivor.remains = true);
        }
    }
}

/// How a process ended, from what `wait` reports.
pub(super) fn exit_of(status: i32) -> Exit {
    match libc::WIFSIGNALED(status) {
        true => Exit::Signal(libc::WTERMSIG(status)),
        false => Exit::Code(libc::WEXITSTATUS(status)),
    }
}
