//! Expressions of Python's own. `Op::Own` has a list as its first operand: one of these numbers, then its operands,
//! which are expressions unless said otherwise.

/// A variable after an assignment: the value, then the variable itself, which may be declared with a type.
pub(super) const ASSIGNED: u32 = 0;
/// The first operand where it is known to be an instance of the second, a class or a tuple of classes.
pub(super) const INSTANCE: u32 = 1;
/// The first operand where it is known not to be an instance of the second.
pub(super) const NOT_INSTANCE: u32 = 2;
/// The first operand, a class, where it is known to be a subclass of the second.
pub(super) const SUBCLASS: u32 = 3;
/// The class of the operand.
pub(super) const CLASS_OF: u32 = 4;
/// A binary operation: left, right, and the name of the method that does it, a text.
pub(super) const OPERATOR: u32 = 5;
/// An instance of the operand, a class or a tuple of classes: what an `except` clause binds.
pub(super) const CAUGHT: u32 = 6;

/// Element of the first operand at a position, a number.
pub(super) const ELEMENT: u32 = 7;

/// Marks of definitions.
pub(super) mod mark {
    use crate::facts::mark;

    /// A method of the class itself.
    pub(in super::super) const CLASS_METHOD: u16 = mark::OWN_A;
    /// A class whose annotated fields are the parameters of its constructor.
    pub(in super::super) const RECORD: u16 = mark::OWN_A;
    /// One of several signatures.
    pub(in super::super) const OVERLOAD: u16 = mark::OWN_B;
    /// A field with an annotation.
    pub(in super::super) const ANNOTATED: u16 = mark::OWN_B;
    /// A generator that is used as a context.
    pub(in super::super) const CONTEXT: u16 = mark::OWN_C;
}
