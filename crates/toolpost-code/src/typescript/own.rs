//! The expressions of the language's own: `Op::Own` with one of these numbers and a list of operands.

use crate::facts::{Builder, Op};

/// Calls operand 0 with the type arguments in list 1 and the other operands.
pub(super) const CALL: u32 = 1;
/// Makes an object by `new`, operands as of a call.
pub(super) const NEW: u32 = 2;
/// What argument number 1 of the call 0 should be.
pub(super) const ARGUMENT: u32 = 3;
/// Parameter number 1 of the function that 0 is.
pub(super) const PARAMETER: u32 = 4;
/// What the function 0 returns.
pub(super) const RETURN: u32 = 5;
/// The property of 0 whose name is text 1.
pub(super) const PROPERTY: u32 = 6;
/// The type of property 1, a text or none, of type 0; operand 2 is the type that indexes.
pub(super) const INDEXED: u32 = 7;
/// The function that is definition 0.
pub(super) const FUNCTION: u32 = 8;
/// An object literal, definition 0, that should be 1.
pub(super) const LITERAL: u32 = 9;
/// The module that text 0 names; operand 1 says whether it comes later.
pub(super) const MODULE: u32 = 10;
/// What JSX has as tags of its own.
pub(super) const INTRINSICS: u32 = 11;
/// The attributes of a JSX element whose tag is 0.
pub(super) const ATTRIBUTES: u32 = 12;
/// A type with the properties of 0, with other types if 1 is not that of 0.
pub(super) const MAPPED: u32 = 13;
/// A value of 2 that passed the test 0, one of [`narrow`], or failed it if 1 is 0; operands of the test follow.
pub(super) const NARROWED: u32 = 14;
/// Type 2 if type 0 extends type 1, else type 3.
pub(super) const CONDITIONAL: u32 = 15;

/// What is asked of a value before it is used.
pub(super) mod narrow {
    /// Whether it is an instance of the class 3.
    pub(in super::super) const INSTANCE: u32 = 0;
    /// Whether its property, text 4, equals one of the list 3.
    pub(in super::super) const EQUAL: u32 = 1;
    /// Whether `typeof` gives one of the list of texts 3.
    pub(in super::super) const TYPE: u32 = 2;
    /// Whether it has the property that is text 3.
    pub(in super::super) const HAS: u32 = 3;
    /// Whether the call 3 holds, of which it is argument 4, or the receiver if that is none.
    pub(in super::super) const CALLED: u32 = 4;
    /// Whether its property, text 3, is true.
    pub(in super::super) const TRUE: u32 = 5;
    /// The value 3 was assigned to it.
    pub(in super::super) const ASSIGNED: u32 = 6;
    /// The call 3 came back, of which it is argument 4.
    pub(in super::super) const ASSERTED: u32 = 7;
    /// The call 3 came back, whose first argument is a test that makes it 4.
    pub(in super::super) const ASSERTED_TEST: u32 = 8;
    /// It may have changed since it was tested.
    pub(in super::super) const UNSURE: u32 = 9;
}

/// Writes such an expression.
pub(super) fn own(builder: &mut Builder<'_>, code: u32, operands: &[u32]) -> u32 {
    let list = builder.list(operands);
    builder.expr(Op::Own, code, list)
}
