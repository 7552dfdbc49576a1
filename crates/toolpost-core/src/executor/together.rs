//! Several calls made at once: whatever the policy asks about any of them is asked together, and answered, before the
//! first of them runs. What a tool asks while it runs goes straight to the person.

use crate::confirm::{Answer, Confirm, Question};
use crate::future::BoxFuture;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};

/// Calls that wait for each other's questions.
pub(super) struct Together {
    above: Arc<dyn Confirm>,
    /// How many calls there are.
    calls: usize,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    /// Calls that have neither come to their start nor ended.
    before_start: usize,
    /// Those of them that do not wait for an answer, and so may still ask. Below zero for a moment, where a call ends
    /// while its question is out.
    undecided: isize,
    asked: Vec<Asked>,
    /// Of the calls that run one after another, which have ended.
    ended: Vec<bool>,
}

struct Asked {
    /// The number of the call, from 1.
    number: usize,
    question: Question,
    answer: oneshot::Sender<Answer>,
}

impl Together {
    pub(super) fn new(above: Arc<dyn Confirm>, calls: usize) -> Arc<Together> {
        let state = State {
            before_start: calls,
            undecided: isize::try_from(calls).unwrap_or(isize::MAX),
            asked: Vec::new(),
            ended: Vec::new(),
        };
        Arc::new(Together { above, calls, state: Mutex::new(state), changed: Notify::new() })
    }

    /// The call of this number, from 1; with its place, if it must not run beside others that have one. Made once for each
    /// call, in order.
    pub(super) fn member(self: &Arc<Together>, number: usize, place: Option<usize>) -> Member {
        if place.is_some() {
            self.state().ended.push(false);
        }
        Member { together: Arc::clone(self), number, place, has_come: AtomicBool::new(false) }
    }

    /// Asks what the calls want to be asked, as soon as none of them could ask more. Returns when all have their answers.
    pub(super) async fn ask_all(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let asked = {
                let mut state = self.state();
                if state.before_start == 0 {
                    return;
                }
                match state.undecided > 0 {
                    true => Vec::new(),
                    // Without those of calls that have been given up meanwhile.
                    false => {
                        let mut asked = std::mem::take(&mut state.asked);
                        asked.retain(|asked| !asked.answer.is_closed());
                        // The person reads them in the order of the calls, not in that in which they became ready.
                        asked.sort_by_key(|asked| asked.number);
                        asked
                    }
                }
            };
            if asked.is_empty() {
                changed.await;
                continue;
            }
            let (questions, senders): (Vec<Question>, Vec<_>) =
                asked.into_iter().map(|asked| (asked.question, asked.answer)).unzip();
            let answers = self.above.confirm_all(&questions).await;
            self.state().undecided += isize::try_from(senders.len()).unwrap_or(0);
            // A question without an answer is dropped, which counts as one that nobody could be asked.
            for (sender, answer) in senders.into_iter().zip(answers) {
                let _ = sender.send(answer);
            }
        }
    }

    /// Takes a question of the call of this number; none once all calls have come to their start.
    fn take(&self, number: usize, question: &Question) -> Option<oneshot::Receiver<Answer>> {
        let mut state = self.state();
        if state.before_start == 0 {
            return None;
        }
        let (answer, receiver) = oneshot::channel();
        let mut question = question.clone();
        question.facts.insert(0, format!("call {number} of {}", self.calls));
        state.asked.push(Asked { number, question, answer });
        state.undecided -= 1;
        drop(state);
        self.changed.notify_waiters();
        Some(receiver)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who is asked for one of the calls.
struct Asking {
    together: Arc<Together>,
    number: usize,
}

impl Confirm for Asking {
    fn confirm<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        match self.together.take(self.number, question) {
            Some(answer) => Box::pin(async { answer.await.unwrap_or(Answer::Nobody) }),
            None => self.together.above.confirm(question),
        }
    }

    fn confirm_all<'a>(&'a self, questions: &'a [Question]) -> BoxFuture<'a, Vec<Answer>> {
        self.together.above.confirm_all(questions)
    }

    fn wants_preview(&self) -> bool {
        self.together.above.wants_preview()
    }
}

/// One of the calls. Dropped, it has ended.
pub(super) struct Member {
    together: Arc<Together>,
    number: usize,
    place: Option<usize>,
    has_come: AtomicBool,
}

impl Member {
    /// Who is asked for this call.
    pub(super) fn confirm(&self) -> Arc<dyn Confirm> {
        Arc::new(Asking { together: Arc::clone(&self.together), number: self.number })
    }

    /// All is known that this call must be asked. Returns when that is so of all calls, and it is this one's turn.
    pub(super) async fn may_start(&self) {
        self.come();
        loop {
            let changed = self.together.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let is_free = {
                let state = self.together.state();
                let before = &state.ended[..self.place.unwrap_or(0)];
                state.before_start == 0 && before.iter().all(|has_ended| *has_ended)
            };
            if is_free {
                return;
            }
            changed.await;
        }
    }

    fn come(&self) {
        if self.has_come.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut state = self.together.state();
        state.before_start -= 1;
        state.undecided -= 1;
        drop(state);
        self.together.changed.notify_waiters();
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.come();
        if let Some(place) = self.place {
            self.together.state().ended[place] = true;
            self.together.changed.notify_waiters();
        }
    }
}
