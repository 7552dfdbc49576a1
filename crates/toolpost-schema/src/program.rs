//! A compiled schema: a list of nodes that refer to each other by number, each with its checks in the order of the
//! schema.

use crate::draft::Draft;
use crate::format::Format;
use crate::number::Decimal;
use crate::pattern::Pattern;
use serde_json::{Number, Value};
use std::fmt;

/// The place of a node in its program.
pub(crate) type NodeId = u32;
/// The place of a resource: the schema as a whole, or a part with an `$id` of its own.
pub(crate) type ResourceId = u32;

pub(crate) struct Program {
    pub(crate) nodes: Vec<Node>,
    /// Which node a dynamic anchor means, by its resource and its number.
    pub(crate) dynamic: Vec<(ResourceId, u32, NodeId)>,
}

/// One schema.
#[derive(Default)]
pub(crate) struct Node {
    pub(crate) checks: Vec<Check>,
    pub(crate) resource: ResourceId,
    /// Whether one of its checks asks what the others have looked at.
    pub(crate) asks_for_evaluated: bool,
}

impl Node {
    /// Whether no value fits, by `false`.
    pub(crate) fn is_never(&self) -> bool {
        matches!(self.checks[..], [Check::Never])
    }
}

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Types(u8);

/// The names of the types; the place of each is its bit.
pub(crate) const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

impl Types {
    /// Adds a type by its name; false if there is none.
    pub(crate) fn add(&mut self, name: &str) -> bool {
        match TYPES.iter().position(|known| *known == name) {
            Some(bit) => self.0 |= 1 << bit,
            None => return false,
        }
        true
    }

    pub(crate) fn join(&mut self, other: Types) {
        self.0 |= other.0;
    }

    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        TYPES.into_iter().enumerate().filter(move |(bit, _)| self.0 & (1 << bit) != 0).map(|(_, name)| name)
    }

    pub(crate) fn has(self, value: &Value) -> bool {
        let bits = match value {
            Value::Null => 1,
            Value::Bool(_) => 1 << 1,
            Value::Number(number) if self.0 & (1 << 2) != 0 && crate::number::is_integer(number) => 1 << 2,
            Value::Number(_) => 1 << 3,
            Value::String(_) => 1 << 4,
            Value::Array(_) => 1 << 5,
            Value::Object(_) => 1 << 6,
        };
        self.0 & bits != 0
    }
}

/// Nodes by the names of properties.
#[derive(Default)]
pub(crate) struct ByName(Vec<(Box<str>, NodeId)>);

impl ByName {
    pub(crate) fn new(mut all: Vec<(Box<str>, NodeId)>) -> ByName {
        all.sort_unstable();
        ByName(all)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<NodeId> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(name)).ok().map(|at| self.0[at].1)
    }
}

/// The values of an `enum`.
pub(crate) struct Choice {
    /// As the schema lists them.
    pub(crate) options: Value,
    /// The texts among them, sorted.
    pub(crate) texts: Vec<Box<str>>,
    /// How many options are no texts, with all that they contain.
    pub(crate) weight: u64,
}

/// `properties`, `patternProperties` and `additionalProperties` of one schema.
#[derive(Default)]
pub(crate) struct Object {
    pub(crate) properties: ByName,
    pub(crate) patterns: Vec<(Pattern, NodeId)>,
    pub(crate) additional: Option<NodeId>,
}

/// `prefixItems` and `items`; before 2020-12 `items` and `additionalItems`.
#[derive(Default)]
pub(crate) struct Items {
    pub(crate) prefix: Vec<NodeId>,
    pub(crate) rest: Option<NodeId>,
}

/// `contains` with its limits.
pub(crate) struct Contains {
    pub(crate) node: NodeId,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    /// Whether the items that fit count as evaluated.
    pub(crate) evaluates: bool,
}

/// What a schema demands of a value.
pub(crate) enum Check {
    Never,
    Type(Types),
    Enum(Choice),
    Const(Value),
    Minimum(Number),
    Maximum(Number),
    ExclusiveMinimum(Number),
    ExclusiveMaximum(Number),
    MultipleOf(Number, Decimal),
    MinLength(u64),
    MaxLength(u64),
    Pattern(Pattern),
    Format(Format),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    Items(Items),
    Contains(Contains),
    MinProperties(u64),
    MaxProperties(u64),
    Required(Vec<Box<str>>),
    Object(Object),
    Names(NodeId),
    /// If the first is there, the others must be.
    DependentNames(Vec<(Box<str>, Vec<Box<str>>)>),
    DependentSchemas(Vec<(Box<str>, NodeId)>),
    Ref(NodeId),
    /// The outermost anchor of this number that is in scope; if there is none, the node.
    DynamicRef(u32, NodeId),
    /// The value must itself be a schema.
    IsSchema(Draft),
    All(Vec<NodeId>),
    Any(Vec<NodeId>),
    One(Vec<NodeId>),
    Not(NodeId),
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    UnevaluatedItems(NodeId),
    UnevaluatedProperties(NodeId),
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a program of {} nodes", self.nodes.len())
    }
}
