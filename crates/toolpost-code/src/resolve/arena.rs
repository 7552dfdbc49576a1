//! Types as the resolver sees them: nominal, with arguments, each kept once and named by a number.

use super::{DefId, Module};
use crate::facts::{Name, QuickMap};

/// A type, by its number in the query.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Type(pub(crate) u32);

impl Type {
    /// Nothing is known.
    pub const UNKNOWN: Type = Type(0);
    /// A type that is not in the tree, of which no more is known.
    pub const EXTERNAL: Type = Type(1);
    /// One of too many types to tell them apart: nothing is known of its members, whatever else it may be.
    pub const MANY: Type = Type(2);
}

/// What a type is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Shape {
    /// Nothing is known.
    Unknown,
    /// A type that is not in the tree, by its name; of the language itself, or of a library.
    External(Name),
    /// An instance of a type.
    Instance(DefId),
    /// The type itself, as a value or a path.
    Class(DefId),
    /// A module.
    Module(Module),
    /// A function; its arguments are the values of the type parameters around it, in their order.
    Function(DefId),
    /// A type parameter.
    Parameter(DefId),
    /// One of its arguments.
    Either,
}

/// The types of a query.
pub(crate) struct Arena {
    nodes: Vec<(Shape, Box<[Type]>)>,
    numbers: QuickMap<(Shape, Box<[Type]>), Type>,
}

impl Default for Arena {
    fn default() -> Arena {
        let mut arena = Arena { nodes: Vec::new(), numbers: QuickMap::default() };
        arena.make(Shape::Unknown, &[]);
        arena.make(Shape::External(Name(0)), &[]);
        arena.make(Shape::Unknown, &[Type::UNKNOWN]);
        arena
    }
}

impl Arena {
    pub(crate) fn make(&mut self, shape: Shape, arguments: &[Type]) -> Type {
        let key = (shape, Box::from(arguments));
        if let Some(&known) = self.numbers.get(&key) {
            return known;
        }
        let number = Type(self.nodes.len() as u32);
        self.nodes.push(key.clone());
        self.numbers.insert(key, number);
        number
    }

    pub(crate) fn shape(&self, of: Type) -> Shape {
        self.nodes[of.0 as usize].0
    }

    pub(crate) fn arguments(&self, of: Type) -> Box<[Type]> {
        self.nodes[of.0 as usize].1.clone()
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }
}
