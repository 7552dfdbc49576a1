//! The tree of agents in one process: depth and fan-out, and one budget that all draw from.
//!
//! [`Ledger`] is pure and keeps the books; [`Branch`] is the place of one activation in it, and waits where others have set
//! aside what they may not need. A part of the budget is set aside only while a model is asked, and never while an agent waits
//! for another: so nobody waits for somebody who waits.

mod ledger;

pub use ledger::{Amount, Draw, Ledger, Refusal, Wanted};

use sha2::{Digest, Sha256};
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
    /// Changes whenever something is given back.
    changed: watch::Sender<u64>,
}

impl Shared {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.changed.send_modify(|number| *number += 1);
    }
}

/// A child's place; the place is free again when this is dropped.
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

impl Branch {
    /// The first agent of a tree. Whatever is started in the tree ends with the token.
    pub fn root(id: &str, limits: &Limits, cancel: CancellationToken) -> Branch {
        let tree = Arc::new(Shared::default());
        tree.ledger().root(id, limits);
        Branch { tree, id: id.into(), depth: 0, limits: Arc::new(limits.clone()), cancel }
    }

    /// A place below this one, for an agent with these limits of its own.
    pub fn child(&self, id: &str, own: &Limits) -> Result<Place, ToolError> {
        let added = self.tree.ledger().spawn(&self.id, id, own);
        let (depth, limits) = added.map_err(|refusal| self.told(refusal))?;
        let branch = Branch {
            tree: Arc::clone(&self.tree),
            id: id.into(),
            depth,
            limits: Arc::new(limits),
            cancel: self.cancel.child_token(),
        };
        Ok(Place { branch })
    }

    fn told(&self, refusal: Refusal) -> ToolError {
        match refusal {
            Refusal::Depth(deepest) => ToolError::new(
                Code::DepthExceeded,
                format!("no agent can be started here: this tree may have {deepest} levels below the first agent; do the work yourself"),
            )
            .with("depth", deepest),
            Refusal::FanOut(most) => ToolError::new(
                Code::FanoutExceeded,
                format!("this agent may have {most} others at work at once, and has them; wait until one has ended, or start fewer"),
            )
            .with("fanOut", most),
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
    ) -> Result<Drawn<'_>, Reason> {
        let mut changed = self.tree.changed.subscribe();
        loop {
            changed.mark_unchanged();
            let draw = self.tree.ledger().draw(&self.id, wanted);
            match draw {
                Draw::Granted { amount, output } => return Ok(Drawn { branch: self, held: amount, output }),
                Draw::Spent(reason) => return Err(reason),
                Draw::Wait => {}
            }
            tokio::select! {
                () = cancel.cancelled() => return Err(Reason::Stopped),
                result = changed.changed() => {
                    if result.is_err() {
                        return Err(Reason::Stopped);
                    }
                }
            }
        }
    }
}
