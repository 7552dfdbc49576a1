//! The tree of agents in one process: depth and fan-out, and one budget that all draw from.
//!
//! [`Ledger`] is pure and keeps the books; [`Branch`] is the place of one activation in it, and waits where others have set
//! aside what they may not need. A part of the budget is set aside only while a model is asked, and never while an agent waits
//! for another: so nobody waits for somebody who waits.

mod ledger;

pub use ledger::{Amount, Draw, Ledger, Refusal, Wanted};

use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolpost_core::activation::{Limits, Reason};
use toolpost_core::model::Request;
use toolpost_core::{Code, ToolError};

/// The id of the run that a call starts: whoever makes the same call again finds the same run. `number` tells several
/// runs of one call from one another.
pub fn child_id(call: &str, number: u64) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    const TIME: usize = 10;
    let hash = Sha256::digest(format!("child\0{call}\0{number}"));
    let head: String = call.chars().filter(char::is_ascii_alphanumeric).take(TIME).collect();
    let tail = hash.iter().take(16).map(|byte| char::from(ALPHABET[usize::from(byte & 31)]));
    format!("{head:0>TIME$}{}", tail.collect::<String>())
}

/// The place of an activation in its tree.
#[derive(Clone)]
pub struct Branch {
    tree: Arc<Shared>,
    id: Arc<str>,
    depth: u64,
    limits: Arc<Limits>,
    cancel: CancellationToken,
}

#[derive(Default)]
struct Shared {
    ledger: Mutex<Ledger>,
    places: Mutex<Places>,
    /// Changes whenever something is given back.
    changed: watch::Sender<u64>,
}

/// The places in a tree: who has one, and who waits for one.
#[derive(Default)]
struct Places {
    /// Of each agent that runs below another: that one, and what ends it.
    running: HashMap<Arc<str>, (Arc<str>, CancellationToken)>,
    /// Of each agent: those who wait for a place below it, in their order.
    waiting: HashMap<Arc<str>, VecDeque<u64>>,
    last: u64,
}

impl Shared {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.changed.send_modify(|number| *number += 1);
    }
}

/// A turn to get a place below an agent; given up when it is dropped.
struct Turn<'a> {
    branch: &'a Branch,
    number: u64,
}

impl<'a> Turn<'a> {
    fn behind_others(branch: &'a Branch) -> Turn<'a> {
        let mut places = branch.tree.places();
        places.last += 1;
        let number = places.last;
        places.waiting.entry(Arc::clone(&branch.id)).or_default().push_back(number);
        Turn { branch, number }
    }

    fn has_come(&self) -> bool {
        let places = self.branch.tree.places();
        places.waiting.get(&self.branch.id).is_none_or(|queue| queue.front() == Some(&self.number))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut places = self.branch.tree.places();
        if let Some(queue) = places.waiting.get_mut(&self.branch.id) {
            queue.retain(|number| *number != self.number);
            if queue.is_empty() {
                places.waiting.remove(&self.branch.id);
            }
        }
        drop(places);
        self.branch.tree.tell();
    }
}

/// A child's place; the place is free again when this is dropped. Whatever was started from it ends then.
pub struct Place {
    branch: Branch,
}

impl Place {
    /// Where it is.
    pub fn branch(&self) -> &Branch {
        &self.branch
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Also where the child has ended without a word, by a crash.
        self.branch.cancel.cancel();
        self.branch.tree.places().running.remove(&self.branch.id);
        self.branch.tree.ledger().end(&self.branch.id);
        self.branch.tree.tell();
    }
}

/// A part of the budget that is set aside. What is not settled is given back when this is dropped.
pub(crate) struct Drawn<'a> {
    branch: &'a Branch,
    held: Amount,
    /// The answer may have at most so many tokens, where that is less than was wanted.
    output: Option<u64>,
}

impl Drawn<'_> {
    /// The request, with an answer that is no longer than what is set aside.
    pub(crate) fn within(&self, request: &Request) -> Request {
        let most = match (request.max_output_tokens, self.output) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Request { max_output_tokens: most, ..request.clone() }
    }

    /// Counts what an attempt has used that is made again. Returns whether there is still as much for the next one as was
    /// set aside.
    pub(crate) fn lose(&self, used: Amount) -> bool {
        let mut ledger = self.branch.tree.ledger();
        ledger.settle(&self.branch.id, Amount::default(), used);
        ledger.fits(&self.branch.id)
    }

    /// Counts what was used.
    pub(crate) fn settle(mut self, used: Amount) {
        let held = std::mem::take(&mut self.held);
        self.branch.tree.ledger().settle(&self.branch.id, held, used);
        self.branch.tree.tell();
    }
}

impl Drop for Drawn<'_> {
    fn drop(&mut self) {
        if self.held != Amount::default() {
            self.branch.tree.ledger().settle(&self.branch.id, self.held, Amount::default());
            self.branch.tree.tell();
        }
    }
}

/// Why nothing of the budget is set aside.
pub(crate) enum Undrawn {
    /// This is used up.
    Spent(Reason),
    /// There is a limit of cost, and a price is not known.
    Unpriced,
    /// Who asked for it is to end.
    Stopped,
}

impl Branch {
    /// The first agent of a tree. Whatever is started in the tree ends with the token.
    pub fn root(id: &str, limits: &Limits, cancel: CancellationToken) -> Branch {
        let tree = Arc::new(Shared::default());
        tree.ledger().root(id, limits);
        Branch { tree, id: id.into(), depth: 0, limits: Arc::new(limits.clone()), cancel }
    }

    /// A place below this one, for an agent with these limits of its own.
    pub fn child(&self, id: &str, own: &Limits) -> Result<Place, ToolError> {
        self.added(id, own).map_err(|refusal| self.told(refusal))
    }

    fn added(&self, id: &str, own: &Limits) -> Result<Place, Refusal> {
        let (depth, limits) = self.tree.ledger().spawn(&self.id, id, own)?;
        let branch = Branch {
            tree: Arc::clone(&self.tree),
            id: id.into(),
            depth,
            limits: Arc::new(limits),
            cancel: self.cancel.child_token(),
        };
        let (of, token) = (Arc::clone(&self.id), branch.cancel.clone());
        self.tree.places().running.insert(Arc::clone(&branch.id), (of, token));
        Ok(Place { branch })
    }

    /// The same; where as many are at work as may be, it waits for its turn, unless the limits refuse that.
    pub async fn child_in_turn(
        &self,
        id: &str,
        own: &Limits,
        cancel: &CancellationToken,
    ) -> Result<Place, ToolError> {
        let mut changed = self.tree.changed.subscribe();
        let turn = Turn::behind_others(self);
        loop {
            changed.mark_unchanged();
            if turn.has_come() {
                let added = self.added(id, own);
                if !matches!(added, Err(Refusal::NotYet(_))) {
                    return added.map_err(|refusal| self.told(refusal));
                }
            }
            tokio::select! {
                () = cancel.cancelled() => return Err(self.told(Refusal::Gone)),
                () = self.cancel.cancelled() => return Err(self.told(Refusal::Gone)),
                _ = changed.changed() => {}
            }
        }
    }

    /// Ends all agents below this one, and waits until they have ended.
    pub(crate) async fn end_below(&self) {
        let mut changed = self.tree.changed.subscribe();
        loop {
            changed.mark_unchanged();
            let below: Vec<CancellationToken> = {
                let places = self.tree.places();
                let below = places.running.values().filter(|(above, _)| *above == self.id);
                below.map(|(_, token)| token.clone()).collect()
            };
            if below.is_empty() {
                return;
            }
            below.iter().for_each(CancellationToken::cancel);
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    fn told(&self, refusal: Refusal) -> ToolError {
        match refusal {
            Refusal::Depth(deepest) => ToolError::new(
                Code::DepthExceeded,
                format!(
                    "no agent can be started here: this tree may have {deepest} levels below the first agent (`limits.depth` counts them), and this \
                     agent is on level {}; do the work yourself",
                    self.depth
                ),
            )
            .with("depth", deepest),
            Refusal::FanOut(most) | Refusal::NotYet(most) => ToolError::new(
                Code::FanoutExceeded,
                format!(
                    "this agent may have {most} children at work at once (`limits.fanOut` counts these), and has them; wait until one has ended, or start fewer"
                ),
            )
            .with("fanOut", most),
            Refusal::Children(most) => ToolError::new(
                Code::FanoutExceeded,
                format!(
                    "this agent may start {most} children in all (`limits.children` counts them, those that have ended too), and has; do the work \
                     yourself, or continue one that has ended"
                ),
            )
            .with("children", most),
            Refusal::Gone => {
                ToolError::new(Code::Cancelled, "the agent has ended, so that it cannot start another")
            }
            Refusal::Running => ToolError::new(
                Code::ExecutionError,
                "this agent is at work already; wait until it has ended before you tell it more",
            ),
        }
    }

    /// The activation.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Levels above it.
    pub fn depth(&self) -> u64 {
        self.depth
    }

    /// The limits that hold for it.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Fires when the activation is to end.
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Whether it, or an agent above it, has a limit of cost.
    pub fn has_cost_limit(&self) -> bool {
        self.tree.ledger().has_cost_limit(&self.id)
    }

    /// What it and all below it have spent: tokens, and US dollars.
    pub fn spent(&self) -> Amount {
        self.tree.ledger().spent(&self.id)
    }

    /// How many children it has started.
    pub fn children_begun(&self) -> u64 {
        self.tree.ledger().begun(&self.id)
    }

    /// Counts children that it has started before.
    pub fn count_begun(&self, children: u64) {
        self.tree.ledger().count_begun(&self.id, children);
    }

    /// Counts what an agent of the tree has spent in another process.
    pub fn restore(&self, parent: Option<&str>, id: &str, spent: Amount) {
        match parent {
            Some(parent) => self.tree.ledger().restore(parent, id, spent),
            None => self.tree.ledger().settle(id, Amount::default(), spent),
        }
    }

    /// Sets aside what a request may use; waits while others hold what they may not need.
    pub(crate) async fn draw(
        &self,
        wanted: &Wanted,
        cancel: &CancellationToken,
    ) -> Result<Drawn<'_>, Undrawn> {
        let mut changed = self.tree.changed.subscribe();
        loop {
            changed.mark_unchanged();
            let draw = self.tree.ledger().draw(&self.id, wanted);
            match draw {
                Draw::Granted { amount, output } => return Ok(Drawn { branch: self, held: amount, output }),
                Draw::Spent(reason) => return Err(Undrawn::Spent(reason)),
                Draw::Unpriced => return Err(Undrawn::Unpriced),
                Draw::Wait => {}
            }
            tokio::select! {
                () = cancel.cancelled() => return Err(Undrawn::Stopped),
                result = changed.changed() => {
                    if result.is_err() {
                        return Err(Undrawn::Stopped);
                    }
                }
            }
        }
    }
}
