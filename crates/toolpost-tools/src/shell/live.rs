//! A command's output while it runs, told as progress: at once, then a few times a second.

use super::clean::cleaned;
use serde_json::json;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use toolpost_core::Context;

/// Between two words.
const PAUSE: Duration = Duration::from_millis(100);

/// Of a flood the last bytes are told.
const MOST: usize = 4 * 1024;

/// Tells what a command writes.
pub(super) struct Live<'a> {
    ctx: &'a Context,
    title: &'a str,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    /// Whether the beginning of what waits is missing.
    is_cut: bool,
    total: u64,
    told: Option<Instant>,
}

impl<'a> Live<'a> {
    pub(super) fn new(ctx: &'a Context, title: &'a str) -> Live<'a> {
        Live { ctx, title, state: Mutex::default() }
    }

    /// The command has written this.
    pub(super) fn saw(&self, bytes: &[u8]) {
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.total += bytes.len() as u64;
            let most = MOST + self.ctx.longest_secret();
            let skipped = bytes.len().saturating_sub(most);
            state.waiting.extend_from_slice(&bytes[skipped..]);
            let over = state.waiting.len().saturating_sub(most);
            state.waiting.drain(..over);
            state.is_cut |= skipped + over > 0;
            if state.told.is_some_and(|at| at.elapsed() < PAUSE) {
                return;
            }
        }
        self.tell();
    }

    /// Tells what has gathered, for ever.
    pub(super) async fn keep_telling(&self) {
        loop {
            tokio::time::sleep(PAUSE).await;
            self.tell();
        }
    }

    fn tell(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waiting.is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(&cleaned(&std::mem::take(&mut state.waiting))).into_owned();
        // What may become a secret waits for what follows, and what may be the end of one is left out: taken out one by one, the
        // pieces of a secret would not be found.
        let end = self.ctx.redactor().settled(&text);
        state.waiting.extend_from_slice(&text.as_bytes()[end..]);
        let missing = if std::mem::take(&mut state.is_cut) { self.ctx.longest_secret() } else { 0 };
        let start = text.ceil_char_boundary(missing.min(end));
        if start < end {
            state.told = Some(Instant::now());
            self.ctx.progress(self.title, json!({ "output": text[start..end], "bytes": state.total }));
        }
    }
}
