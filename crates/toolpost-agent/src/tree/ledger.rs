//! The books of a tree of agents: who is below whom, how many run, and what is spent. Pure.

use std::collections::HashMap;
use toolpost_core::activation::{BeyondFanOut, Limits, Reason};
use toolpost_core::model::{Price, Usage};

/// Parts of a US dollar in which cost is counted, so that sums are exact.
const PARTS: f64 = 1e9;

/// Every activation of a tree.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    nodes: HashMap<String, Node>,
}

#[derive(Debug, Clone)]
struct Node {
    parent: Option<String>,
    depth: u64,
    /// The deepest level that may be below it; none without a limit.
    deepest: Option<u64>,
    limits: Limits,
    is_running: bool,
    /// Children that run.
    children: u64,
    /// Children that have begun.
    begun: u64,
    /// Spent by it and by all below it.
    spent: Amount,
    /// Set aside for requests that are under way, by it and by all below it.
    held: Amount,
}

/// Tokens and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Tokens of requests and answers.
    pub tokens: u64,
    /// Thousand-millionths of a US dollar, as far as prices are known.
    pub cost: u64,
    /// Those of the tokens whose price is not known.
    pub unpriced: u64,
}

impl Amount {
    /// So many tokens that cost so many US dollars; none where their price is not known.
    pub fn new(tokens: u64, cost: Option<f64>) -> Amount {
        let unpriced = if cost.is_none() { tokens } else { 0 };
        Amount { tokens, cost: parts(cost.unwrap_or(0.0)), unpriced }
    }

    /// The tokens of a request and its answer, and what they cost.
    pub fn of(usage: &Usage, cost: Option<f64>) -> Amount {
        Amount::new(usage.input.saturating_add(usage.output), cost)
    }

    /// The known part of the cost, in US dollars.
    pub fn dollars(&self) -> f64 {
        self.cost as f64 / PARTS
    }

    /// The cost in US dollars; none where the price of a part is not known.
    pub fn whole_cost(&self) -> Option<f64> {
        (self.unpriced == 0).then(|| self.dollars())
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Amount) -> Amount {
        Amount {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.saturating_add(other.cost),
            unpriced: self.unpriced.saturating_add(other.unpriced),
        }
    }

    /// What is left without the other one.
    #[must_use]
    pub fn minus(self, other: Amount) -> Amount {
        Amount {
            tokens: self.tokens.saturating_sub(other.tokens),
            cost: self.cost.saturating_sub(other.cost),
            unpriced: self.unpriced.saturating_sub(other.unpriced),
        }
    }
}

/// A cost in parts; a fraction counts as a whole one.
fn parts(cost: f64) -> u64 {
    // What is negative or not a number becomes 0, what is too large the largest number.
    (cost * PARTS).ceil() as u64
}

/// Why an agent cannot be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No more levels are allowed.
    Depth(u64),
    /// No more children are allowed at once.
    FanOut(u64),
    /// The same, for one that may begin when another has ended.
    NotYet(u64),
    /// No more children are allowed in all.
    Children(u64),
    /// The parent does not run.
    Gone,
    /// The child runs already.
    Running,
}

/// What a request to a model may use at most.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Tokens of the request, as estimated.
    pub input: u64,
    /// Maximum number of tokens of the answer.
    pub output: u64,
    /// What they cost; none where that is not known, or nothing.
    pub price: Option<Price>,
}

impl Wanted {
    fn amount(&self, output: u64) -> Amount {
        let usage = Usage { input: self.input, output, ..Usage::default() };
        Amount::of(&usage, self.price.as_ref().map(|price| price.of(&usage)))
    }
}

/// What comes of a request for a part of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// It is set aside.
    Granted {
        /// How much.
        amount: Amount,
        /// The answer may have at most so many tokens, where that is less than was wanted.
        output: Option<u64>,
    },
    /// Not now: others have set aside what they may not need.
    Wait,
    /// Never: this is used up.
    Spent(Reason),
    /// Never: there is a limit of cost, and what this or something before it costs is not known.
    Unpriced,
}

impl Ledger {
    /// Adds the first agent.
    pub fn root(&mut self, id: &str, limits: &Limits) {
        let node = Node {
            parent: None,
            depth: 0,
            deepest: limits.depth,
            limits: limits.clone(),
            is_running: true,
            children: 0,
            begun: 0,
            spent: Amount::default(),
            held: Amount::default(),
        };
        self.nodes.insert(id.to_owned(), node);
    }

    /// Adds an agent below another, or lets one run again. Returns the limits that hold for it.
    pub fn spawn(&mut self, parent: &str, id: &str, own: &Limits) -> Result<(u64, Limits), Refusal> {
        let above = self.nodes.get(parent).filter(|node| node.is_running).ok_or(Refusal::Gone)?;
        let depth = above.depth + 1;
        if let Some(deepest) = above.deepest.filter(|deepest| depth > *deepest) {
            return Err(Refusal::Depth(deepest));
        }
        // One that goes on is not one more.
        let is_new = !self.nodes.contains_key(id);
        if let Some(most) = above.limits.children.filter(|most| is_new && above.begun >= *most) {
            return Err(Refusal::Children(most));
        }
        if let Some(most) = above.limits.fan_out.filter(|most| above.children >= *most) {
            let is_refused = most == 0 || above.limits.beyond_fan_out == Some(BeyondFanOut::Refuse);
            return Err(if is_refused { Refusal::FanOut(most) } else { Refusal::NotYet(most) });
        }
        if self.nodes.get(id).is_some_and(|node| node.is_running || node.parent.as_deref() != Some(parent)) {
            return Err(Refusal::Running);
        }
        let below = own.depth.map(|levels| depth.saturating_add(levels));
        let deepest = match (above.deepest, below) {
            (Some(above), Some(below)) => Some(above.min(below)),
            (above, below) => above.or(below),
        };
        let usual = own.or(&Limits { depth: None, ..Limits::usual() });
        let of_parent = Limits {
            fan_out: above.limits.fan_out,
            beyond_fan_out: above.limits.beyond_fan_out,
            children: above.limits.children,
            time_ms: above.limits.time_ms,
            ..Limits::default()
        };
        let limits = Limits { depth: deepest.map(|deepest| deepest - depth), ..usual.meet(&of_parent) };
        let before = self.nodes.remove(id);
        let (spent, held, begun) = before.map(|node| (node.spent, node.held, node.begun)).unwrap_or_default();
        let node = Node {
            parent: Some(parent.to_owned()),
            depth,
            deepest,
            limits: limits.clone(),
            is_running: true,
            children: 0,
            begun,
            spent,
            held,
        };
        self.nodes.insert(id.to_owned(), node);
        if let Some(above) = self.nodes.get_mut(parent) {
            above.children += 1;
            above.begun += u64::from(is_new);
        }
        Ok((depth, limits))
    }

    /// Adds what an agent has spent that ran in another process.
    pub fn restore(&mut self, parent: &str, id: &str, spent: Amount) {
        if !self.nodes.contains_key(id) {
            let depth = self.nodes.get(parent).map_or(1, |above| above.depth + 1);
            let node = Node {
                parent: Some(parent.to_owned()),
                depth,
                deepest: None,
                limits: Limits::default(),
                is_running: false,
                children: 0,
                begun: 0,
                spent: Amount::default(),
                held: Amount::default(),
            };
            self.nodes.insert(id.to_owned(), node);
            self.count_begun(parent, 1);
        }
        self.settle(id, Amount::default(), spent);
    }

    /// Counts children that an agent had before.
    pub fn count_begun(&mut self, id: &str, children: u64) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.begun = node.begun.saturating_add(children);
        }
    }

    /// Children of an agent that have begun.
    pub fn begun(&self, id: &str) -> u64 {
        self.nodes.get(id).map_or(0, |node| node.begun)
    }

    /// An agent has ended.
    pub fn end(&mut self, id: &str) {
        let Some(node) = self.nodes.get_mut(id).filter(|node| node.is_running) else { return };
        node.is_running = false;
        if let Some(above) = node.parent.clone().and_then(|parent| self.nodes.get_mut(&parent)) {
            above.children = above.children.saturating_sub(1);
        }
    }

    /// Sets aside what a request may use, of the budgets of an agent and of all above it, or nothing at all.
    pub fn draw(&mut self, id: &str, wanted: &Wanted) -> Draw {
        let path = self.path(id);
        let mut output = wanted.output;
        let mut is_held = false;
        let mut short: Option<Reason> = None;
        let is_unpriced = wanted.amount(wanted.output).unpriced > 0;
        for node in path.iter().filter_map(|id| self.nodes.get(id)) {
            if node.limits.cost.is_some() && (is_unpriced || node.spent.unpriced > 0) {
                return Draw::Unpriced;
            }
            let used = node.spent.plus(node.held);
            is_held |= node.held != Amount::default();
            if let Some(most) = node.limits.tokens {
                let left = most.saturating_sub(used.tokens).saturating_sub(wanted.input);
                if left == 0 {
                    short = short.or(Some(Reason::Tokens));
                }
                output = output.min(left);
            }
            if let (Some(most), Some(_)) = (node.limits.cost, &wanted.price) {
                let left = (most * PARTS) as u64;
                let left = left.saturating_sub(used.cost).saturating_sub(wanted.amount(0).cost);
                let each = wanted.amount(1_000_000).cost.saturating_sub(wanted.amount(0).cost);
                if left == 0 && each > 0 {
                    short = short.or(Some(Reason::Cost));
                }
                if each > 0 {
                    let fitting = u128::from(left) * 1_000_000 / u128::from(each);
                    // One part less: each fraction of a part was counted as a whole one.
                    let fitting = u64::try_from(fitting).unwrap_or(u64::MAX).saturating_sub(1);
                    if fitting == 0 {
                        short = short.or(Some(Reason::Cost));
                    }
                    output = output.min(fitting);
                }
            }
        }
        // What uses nothing need not wait for what others may give back.
        let is_free = wanted.input == 0 && wanted.output == 0;
        match short {
            Some(_) if is_held && is_free => {}
            Some(_) if is_held => return Draw::Wait,
            Some(reason) => return Draw::Spent(reason),
            // Less than wanted, while others hold more than they may need.
            None if output < wanted.output && is_held => return Draw::Wait,
            None => {}
        }
        let amount = wanted.amount(output);
        for id in &path {
            if let Some(node) = self.nodes.get_mut(id) {
                node.held = node.held.plus(amount);
            }
        }
        Draw::Granted { amount, output: (output < wanted.output).then_some(output) }
    }

    /// Gives back what was set aside, and counts what was used.
    pub fn settle(&mut self, id: &str, held: Amount, used: Amount) {
        for id in self.path(id) {
            if let Some(node) = self.nodes.get_mut(&id) {
                node.held = node.held.minus(held);
                node.spent = node.spent.plus(used);
            }
        }
    }

    /// Whether what is spent and set aside fits into the budgets of an agent and of all above it.
    pub fn fits(&self, id: &str) -> bool {
        self.path(id).iter().filter_map(|id| self.nodes.get(id)).all(|node| {
            let used = node.spent.plus(node.held);
            node.limits.tokens.is_none_or(|most| used.tokens <= most)
                && node
                    .limits
                    .cost
                    .is_none_or(|most| used.unpriced == 0 && used.cost <= (most * PARTS) as u64)
        })
    }

    /// Whether an agent, or one above it, has a limit of cost.
    pub fn has_cost_limit(&self, id: &str) -> bool {
        self.path(id).iter().filter_map(|id| self.nodes.get(id)).any(|node| node.limits.cost.is_some())
    }

    /// Children of an agent that run.
    pub fn children(&self, id: &str) -> u64 {
        self.nodes.get(id).map_or(0, |node| node.children)
    }

    /// What an agent and all below it have spent.
    pub fn spent(&self, id: &str) -> Amount {
        self.nodes.get(id).map(|node| node.spent).unwrap_or_default()
    }

    /// The agent and all above it.
    fn path(&self, id: &str) -> Vec<String> {
        let mut path = Vec::new();
        let mut next = Some(id.to_owned());
        while let Some(id) = next {
            next = self.nodes.get(&id).and_then(|node| node.parent.clone());
            path.push(id);
        }
        path
    }
}
