//! Checks a value against a program: walks both together, with a budget of steps and a limit of depth.
//!
//! A walk that only decides stops at the first failure and allocates nothing; one that collects goes on to find all.

use crate::evaluated::Evaluated;
use crate::failure::{Failure, Kind};
use crate::problem::MOST;
use crate::program::{Check, Node, NodeId, Program, ResourceId};
use crate::{applicator, assertion};
use serde_json::Value;

/// Maximum number of steps for a small value.
const STEPS: u64 = 1 << 20;
/// How many more steps there are for each part of a large value.
const STEPS_PER_PART: u64 = 256;
/// Maximum number of schemas inside of each other: enough for each level of the deepest value to pass five. Takes about
/// 1 MiB of stack where nothing is optimised.
const MAX_LEVELS: u32 = 5 * crate::MAX_DEPTH as u32;

/// How the walk came to a node: a list from the innermost to the outermost, on the stack.
pub(crate) struct Frame<'a> {
    pub(crate) outer: Option<&'a Frame<'a>>,
    pub(crate) step: Step<'a>,
    resource: ResourceId,
    level: u32,
}

/// The step into the value that led to a node.
#[derive(Clone, Copy)]
pub(crate) enum Step<'a> {
    /// None: the node is about the same value as the outer one.
    Same,
    Key(&'a str),
    Item(usize),
}

impl Frame<'_> {
    /// The place of the value as a JSON pointer.
    pub(crate) fn place(&self) -> String {
        let mut place = self.outer.map(Frame::place).unwrap_or_default();
        match self.step {
            Step::Same => {}
            Step::Key(key) => {
                place.push('/');
                place.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Step::Item(at) => place.push_str(&format!("/{at}")),
        }
        place
    }
}

/// One walk.
pub(crate) struct Walk<'p, 'v> {
    pub(crate) program: &'p Program,
    whole: &'v Value,
    steps: u64,
    /// Whether the steps were extended for a large value.
    is_extended: bool,
    /// Why the walk ended before its time.
    stopped: Option<Kind<'p>>,
    pub(crate) is_collecting: bool,
    pub(crate) failures: Vec<Failure<'p, 'v>>,
}

/// Whether the value fits.
pub(crate) fn accepts(program: &Program, value: &Value) -> bool {
    if crate::is_too_deep(value) {
        return false;
    }
    let mut walk = Walk::new(program, value, false);
    walk.node(0, value, None, Step::Same, None) && walk.stopped.is_none()
}

/// All that is wrong with the value, in the order of the schema and of the value.
pub(crate) fn failures<'p, 'v>(program: &'p Program, value: &'v Value) -> Vec<Failure<'p, 'v>> {
    let failure = |kind| vec![Failure { place: String::new(), value, kind }];
    if crate::is_too_deep(value) {
        return failure(Kind::TooDeep);
    }
    let mut walk = Walk::new(program, value, true);
    walk.node(0, value, None, Step::Same, None);
    match walk.stopped {
        Some(kind) => failure(kind),
        None => walk.failures,
    }
}

impl<'p, 'v> Walk<'p, 'v> {
    fn new(program: &'p Program, whole: &'v Value, is_collecting: bool) -> Walk<'p, 'v> {
        let (steps, failures) = (STEPS, Vec::new());
        Walk { program, whole, steps, is_extended: false, stopped: None, is_collecting, failures }
    }

    /// Whether the value fits a node.
    pub(crate) fn node(
        &mut self,
        id: NodeId,
        value: &'v Value,
        outer: Option<&Frame<'_>>,
        step: Step<'_>,
        evaluated: Option<&mut Evaluated>,
    ) -> bool {
        let program = self.program;
        let node = &program.nodes[id as usize];
        let level = outer.map_or(0, |outer| outer.level + 1);
        if level > MAX_LEVELS {
            self.stopped = Some(Kind::TooManyLevels);
        }
        if !self.spend(1) {
            return false;
        }
        let frame = Frame { outer, step, resource: node.resource, level };
        if node.asks_for_evaluated && evaluated.is_none() {
            return self.checks(node, value, &frame, Some(&mut Evaluated::default()));
        }
        self.checks(node, value, &frame, evaluated)
    }

    fn checks(
        &mut self,
        node: &'p Node,
        value: &'v Value,
        frame: &Frame<'_>,
        mut evaluated: Option<&mut Evaluated>,
    ) -> bool {
        let mut fits = true;
        for check in &node.checks {
            if self.check(check, value, frame, evaluated.as_deref_mut()) {
                continue;
            }
            fits = false;
            if !self.goes_on() {
                return false;
            }
        }
        fits
    }

    /// Whether further failures are of interest.
    pub(crate) fn goes_on(&self) -> bool {
        self.is_collecting && self.stopped.is_none() && self.failures.len() < MOST
    }

    fn check(
        &mut self,
        check: &'p Check,
        value: &'v Value,
        frame: &Frame<'_>,
        evaluated: Option<&mut Evaluated>,
    ) -> bool {
        match assertion::holds(check, value, self) {
            Some(true) => true,
            Some(false) => self.fail(Kind::Check(check), value, frame),
            None => applicator::apply(self, check, value, frame, evaluated),
        }
    }

    /// Takes steps from the budget; false if the walk must end.
    pub(crate) fn spend(&mut self, steps: u64) -> bool {
        if self.stopped.is_some() {
            return false;
        }
        if let Some(left) = self.steps.checked_sub(steps) {
            self.steps = left;
            return true;
        }
        if self.is_extended {
            self.stopped = Some(Kind::TooManySteps);
            return false;
        }
        self.is_extended = true;
        self.steps = parts(self.whole).saturating_mul(STEPS_PER_PART);
        self.spend(steps)
    }

    /// Notes a failure; always false.
    pub(crate) fn fail(&mut self, kind: Kind<'p>, value: &'v Value, frame: &Frame<'_>) -> bool {
        if self.is_collecting {
            self.push(Failure { place: frame.place(), value, kind });
        }
        false
    }

    pub(crate) fn push(&mut self, failure: Failure<'p, 'v>) {
        if self.failures.len() < MOST {
            self.failures.push(failure);
        }
    }

    /// What is expected of a value that is not part of this one, such as the name of a property; none if it fits.
    pub(crate) fn apart(&mut self, id: NodeId, value: &Value) -> Option<String> {
        let mut walk = Walk::new(self.program, value, self.is_collecting);
        (walk.steps, walk.is_extended) = (self.steps, true);
        let fits = walk.node(id, value, None, Step::Same, None);
        let expected = walk.failures.first().map(|failure| failure.kind.expected());
        (self.steps, self.stopped) = (walk.steps, walk.stopped.take());
        (!fits).then(|| expected.unwrap_or_default())
    }

    /// Does something that notes no failures.
    pub(crate) fn quietly<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_collecting, false);
        let result = act(self);
        self.is_collecting = before;
        result
    }

    /// Whether the same value fits another node. What that looked at counts as evaluated if it fits; where failures are
    /// collected also if it does not, so that one mistake is not reported twice.
    pub(crate) fn same(
        &mut self,
        id: NodeId,
        value: &'v Value,
        frame: &Frame<'_>,
        evaluated: Option<&mut Evaluated>,
    ) -> bool {
        let Some(evaluated) = evaluated else { return self.node(id, value, Some(frame), Step::Same, None) };
        let mut own = Evaluated::default();
        let fits = self.node(id, value, Some(frame), Step::Same, Some(&mut own));
        if fits || self.is_collecting {
            evaluated.join(&own);
        }
        fits
    }

    /// The node that a dynamic reference means here: the outermost that is in scope.
    pub(crate) fn outermost(&self, name: u32, otherwise: NodeId, frame: &Frame<'_>) -> NodeId {
        let mut found = otherwise;
        let mut next = Some(frame);
        while let Some(frame) = next {
            let anchors = self.program.dynamic.iter();
            let mut here =
                anchors.filter(|(resource, number, _)| (*resource, *number) == (frame.resource, name));
            found = here.next().map_or(found, |(.., node)| *node);
            next = frame.outer;
        }
        found
    }
}

/// The number of values in a value.
fn parts(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(parts).sum::<u64>(),
        Value::Object(map) => 1 + map.values().map(parts).sum::<u64>(),
        Value::String(text) => 1 + text.len() as u64 / 64,
        _ => 1,
    }
}
