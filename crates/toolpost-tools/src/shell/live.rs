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
            state.waiting.extend_from_slice(&bytes[bytes.len().saturating_sub(MOST)..]);
            let over = state.waiting.len().saturating_sub(MOST);
            state.waiting.drain(..over);
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
        state.told = Some(Instant::now());
        let text = String::from_utf8_lossy(&cleaned(&std::mem::take(&mut state.waiting))).into_owned();
        self.ctx.progress(self.title, json!({ "output": text, "bytes": state.total }));
    }
}
