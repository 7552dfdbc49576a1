//! Methods that give an object of the class that they are called on: `return self`, `return cls()`, `-> Self`.

use crate::facts::{Expr, Facts, Kind, NONE, Op, Role};
use crate::resolve::{Query, Shape, Type};
use crate::world::FileId;

/// How far values of variables are followed.
const DEEPEST: u32 = 6;

/// What a call gives: of the class that it is called on, if the method of a base says so.
pub(in crate::python) fn rebound(query: &Query<'_>, file: FileId, callee: u32, plain: Type) -> Type {
    let Shape::Instance(base) = query.shape(plain) else { return plain };
    let facts = query.facts(file);
    let Some(&Expr { op: Op::Token, a: token, .. }) = facts.exprs.get(callee as usize) else { return plain };
    let Some(token) = facts.token(token).filter(|token| token.role == Role::Member) else { return plain };
    let (Shape::Instance(on) | Shape::Class(on)) = query.shape(query.value_type(file, token.target)) else {
        return plain;
    };
    if on == base || !query.ancestry(on).contains(&base) {
        return plain;
    }
    let Shape::Function(method) = query.shape(query.value_type(file, callee)) else { return plain };
    let Some((facts, known)) = query.def(method) else { return plain };
    let said = if known.declared == NONE { known.value } else { known.declared };
    if is_own(facts, said, DEEPEST) { query.instance_of(on) } else { plain }
}

/// Whether an expression is the object or the class that the code belongs to.
fn is_own(facts: &Facts, expr: u32, depth: u32) -> bool {
    let Some(&Expr { op, a, .. }) = facts.exprs.get(expr as usize).filter(|_| depth > 0) else {
        return false;
    };
    match op {
        Op::This | Op::ThisType => true,
        Op::Call | Op::Value => is_own(facts, a, depth - 1),
        Op::Either => facts.list(a).iter().any(|&one| is_own(facts, one, depth - 1)),
        Op::Token => {
            let Some(token) = facts.token(a).filter(|token| token.role == Role::Bare) else { return false };
            let bound = facts.lookup(token.scope, facts.name(token.name), token.start, token.space);
            bound.iter().filter_map(|&index| facts.def(index)).any(|def| {
                def.kind == Kind::Variable && def.owner == NONE && is_own(facts, def.value, depth - 1)
            })
        }
        _ => false,
    }
}
