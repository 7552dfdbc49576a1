//! A person at a terminal.

use super::screen::Screen;
use crate::Home;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Whatever a test waits for comes much sooner.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command on a terminal.
pub(crate) struct Seat {
    child: Child,
    master: File,
    screen: Arc<Mutex<Screen>>,
    /// Shows what is printed, until nobody looks any more.
    reader: Option<JoinHandle<()>>,
    is_gone: Arc<AtomicBool>,
}

impl Seat {
    pub(crate) fn new(mut command: Command, columns: u16, height: u16) -> Seat {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let path = std::ffi::OsStr::from_bytes(name.as_bytes());
        let no_control = rustix::fs::OFlags::NOCTTY.bits() as i32;
        let end = OpenOptions::new().read(true).write(true).custom_flags(no_control).open(path).unwrap();
        tcsetwinsize(&end, Winsize { ws_row: height, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        command.stdin(end.try_clone().unwrap()).stdout(end.try_clone().unwrap()).stderr(end);
        let child = command.spawn().unwrap();
        drop(command);
        let master = File::from(master);
        let screen = Arc::new(Mutex::new(Screen::new(usize::from(columns), usize::from(height))));
        let is_gone = Arc::new(AtomicBool::new(false));
        let (shown, mut read, gone) =
            (Arc::clone(&screen), master.try_clone().unwrap(), Arc::clone(&is_gone));
        let reader = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            let pause = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
            while !gone.load(Ordering::Acquire) {
                if poll(&mut [PollFd::new(&read, PollFlags::IN)], Some(&pause)) == Ok(0) {
                    continue;
                }
                let Ok(count @ 1..) = read.read(&mut piece) else { break };
                shown.lock().unwrap().push(&piece[..count]);
            }
        });
        Seat { child, master, screen, reader: Some(reader), is_gone }
    }

    /// The terminal is gone, without a signal.
    pub(crate) fn is_torn_down(&mut self) {
        self.is_gone.store(true, Ordering::Release);
        self.reader.take().map(JoinHandle::join);
        self.master = File::open("/dev/null").unwrap();
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn text(&self) -> String {
        self.screen.lock().unwrap().text()
    }

    pub(crate) fn cursor(&self) -> (String, usize) {
        self.screen.lock().unwrap().cursor()
    }

    pub(crate) fn is_cursor_shown(&self) -> bool {
        self.screen.lock().unwrap().is_cursor_shown
    }

    /// Waits until the screen is as wanted.
    #[track_caller]
    pub(crate) fn sees(&self, what: &str, is_there: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !is_there(&self.text()) {
            assert!(begun.elapsed() < PATIENCE, "{what} does not come:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[track_caller]
    pub(crate) fn reads(&self, words: &str) {
        self.sees(words, |text| text.contains(words));
    }

    pub(crate) fn resizes(&self, columns: u16, height: u16) {
        let size = Winsize { ws_row: height, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        self.screen.lock().unwrap().resize(usize::from(columns), usize::from(height));
        tcsetwinsize(&self.master, size).unwrap();
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::WINCH).unwrap();
    }

    /// Waits for the end of the command. Returns its exit status.
    pub(crate) fn ends(&mut self) -> i32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A conversation with the puppet, on a terminal.
pub(crate) fn with_puppet(home: &Home, args: &[&str], columns: u16) -> Seat {
    let config = home.path("puppet.toml").display().to_string();
    let args = [&["chat"], args, &["--model", "puppet", "--config", &config]].concat();
    let seat = Seat::new(home.command(args), columns, 24);
    seat.reads("›");
    seat
}
