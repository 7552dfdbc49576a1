//! The terminal, as long as its keys are ours: each key comes at once, none is shown or obeyed by the terminal itself.

use super::keys::{Key, Keys};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use std::io::Write;
use tokio::sync::mpsc;

/// Pasted text comes between marks from here on.
const MARKS_PASTES: &str = "\x1b[?2004h";
/// No more; and the cursor is shown.
const AS_BEFORE: &str = "\x1b[?2004l\x1b[?25h";
/// The escape key sends the first byte of other keys; so long is waited for the others.
const REST_OF_A_KEY: Timespec = Timespec { tv_sec: 0, tv_nsec: 30_000_000 };

/// A terminal sends a paste at once. After such a pause, Ctrl-C is a key, and the end of the paste does not come.
const END_OF_A_PASTE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
const INTERRUPT: u8 = 0x03;

/// The terminal gives every key to us until this is dropped.
pub(crate) struct RawMode {
    before: Termios,
}

impl RawMode {
    /// Takes the keys; none where standard input is no terminal.
    pub(crate) fn enter() -> Option<RawMode> {
        let before = tcgetattr(std::io::stdin()).ok()?;
        let mode = RawMode { before };
        mode.take().ok()?;
        Some(mode)
    }

    fn take(&self) -> rustix::io::Result<()> {
        let mut raw = self.before.clone();
        raw.local_modes &= !(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN);
        raw.input_modes &= !(InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR | InputModes::IXON);
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(std::io::stdin(), OptionalActions::Now, &raw)?;
        print(MARKS_PASTES);
        Ok(())
    }

    /// Makes the terminal what it was before.
    pub(crate) fn give_back(&self) {
        print(AS_BEFORE);
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }

    /// Stops this process as Ctrl-Z does, with the terminal as it was. Returns when it goes on.
    pub(crate) fn suspend(&self) {
        self.give_back();
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
        let _ = self.take();
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        self.give_back();
    }
}

fn print(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The keys that are typed, from a thread of its own. They end where standard input does. The thread is not waited for.
pub(crate) fn keys_typed() -> mpsc::UnboundedReceiver<Key> {
    let (send, typed) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let stdin = std::io::stdin();
        let mut keys = Keys::default();
        let mut piece = [0; 4096];
        let is_quiet = |time| {
            let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
            poll(&mut watched, Some(time)).is_ok_and(|ready| ready == 0)
        };
        loop {
            if keys.is_held() && is_quiet(&REST_OF_A_KEY) {
                keys.forget();
            }
            let has_paused = keys.is_pasting() && is_quiet(&END_OF_A_PASTE);
            let read = match rustix::io::read(&stdin, &mut piece) {
                Ok(0) => return,
                Ok(read) => read,
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return,
            };
            let ended = match piece[..read] {
                [INTERRUPT] if has_paused => keys.end_paste(),
                _ => None,
            };
            for key in ended.into_iter().chain(keys.push(&piece[..read])) {
                if send.send(key).is_err() {
                    return;
                }
            }
        }
    });
    typed
}
