//! One live line at the bottom of the terminal: what runs, since when, how to stop it.
//!
//! Nothing is printed for calls that end within a second, and what was printed is taken away at the end.

use super::on_terminal;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use toolpost_core::Event;
use toolpost_core::event::{EventKind, EventSink};

/// Shows the call that runs.
#[derive(Default)]
pub(super) struct LiveLine {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<Option<Running>>,
    changed: Condvar,
}

struct Running {
    call: String,
    what: String,
    since: Instant,
    is_shown: bool,
    is_paused: bool,
}

impl Running {
    /// Makes room for a question.
    fn pause(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            print("\r\x1b[2K");
        }
        self.is_paused = true;
    }
}

impl LiveLine {
    fn start(&self, call: &str, tool: &str, attempt: u32) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let again = if attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
        match state.as_mut() {
            Some(running) if running.call == call => running.what = format!("{tool}{again}"),
            // A call within a call is the outer one's business.
            Some(_) => {}
            None => {
                *state = Some(Running {
                    call: call.to_owned(),
                    what: format!("{tool}{again}"),
                    since: Instant::now(),
                    is_shown: false,
                    is_paused: false,
                });
                let shared = self.shared.clone();
                std::thread::spawn(move || shared.tick());
            }
        }
    }

    fn change(&self, call: &str, change: impl FnOnce(&mut Running)) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = state.as_mut().filter(|running| running.call == call) {
            change(running);
        }
    }

    fn end(&self, call: &str) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = state.take_if(|running| running.call == call)
            && running.is_shown
        {
            print("\r\x1b[2K");
        }
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn tick(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(running) = state.as_mut() {
            let seconds = running.since.elapsed().as_secs();
            if seconds >= 1 && !running.is_paused {
                running.is_shown = true;
                let what: String = on_terminal(&running.what).chars().take(100).collect();
                print(&format!("\r\x1b[2K{what} · {seconds} s · Ctrl-C stops it"));
            }
            state = match self.changed.wait_timeout(state, Duration::from_millis(250)) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}

impl EventSink for LiveLine {
    fn record(&self, event: &Arc<Event>) {
        let Some(call) = &event.call else { return };
        match &event.kind {
            EventKind::CallStarted { tool, attempt, .. } => self.start(call, tool, *attempt),
            EventKind::Progress { title, .. } => {
                // A call that waits for its turn has not started yet.
                self.start(call, title, 1);
                self.change(call, |running| running.what = title.replace('\n', " "));
            }
            EventKind::CallRetried { error, delay_ms, .. } => self.change(call, |running| {
                running.what = format!("{}; next attempt in {delay_ms} ms", error.message());
            }),
            EventKind::Asked { .. } => self.change(call, Running::pause),
            EventKind::Answered { .. } => self.change(call, |running| running.is_paused = false),
            EventKind::CallFinished { .. } => self.end(call),
            EventKind::CallRequested { .. }
            | EventKind::ToolInitialized { .. }
            | EventKind::ArgumentsRepaired { .. }
            | EventKind::HookIntervened { .. }
            | EventKind::CallDecided { .. }
            | EventKind::OutputSpilled { .. }
            | EventKind::FileStored { .. }
            | EventKind::TaskChanged { .. }
            | EventKind::TodosChanged { .. }
            | EventKind::ChangesUndone { .. }
            | EventKind::Activation { .. }
            | EventKind::Warning { .. } => {}
        }
    }
}

fn print(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
