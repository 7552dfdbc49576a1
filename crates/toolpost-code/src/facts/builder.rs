//! What an extractor writes the facts of a file into.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::{
    Base, Def, Export, Expr, Facts, Import, Kind, NONE, Name, Op, Role, Scope, ScopeKind, Token, space,
};

/// A quick hasher for numbers that nobody chooses with ill intent: indices, and names, which are hashed already.
#[derive(Default)]
pub(crate) struct Quick(u64);

impl Quick {
    fn mix(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.mix(u64::from(byte)));
    }
    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }
    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }
    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }
    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }
}

/// A map by small numbers.
pub(crate) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// A map by names.
pub(crate) type NameMap<V> = QuickMap<Name, V>;

/// The facts of a file in the making.
pub struct Builder<'a> {
    /// The file.
    pub source: &'a [u8],
    facts: Facts,
    indices: NameMap<u32>,
    /// Values of types without arguments, which all look the same.
    plain: Vec<(&'static str, u32)>,
}

impl<'a> Builder<'a> {
    /// Begins with the scope of the file, which has index 0.
    #[must_use]
    pub fn new(source: &'a [u8]) -> Builder<'a> {
        let mut facts = Facts { remark: NONE, ..Facts::default() };
        // A mark of the order of bytes is no part of the first line.
        facts.lines.push(if source.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 });
        facts.lines.extend(memchr::memchr_iter(b'\n', source).map(|at| at as u32 + 1));
        let end = source.len() as u32;
        facts.scopes.push(Scope { parent: NONE, kind: ScopeKind::Module, owner: NONE, start: 0, end });
        facts.tokens.reserve(source.len() / 10);
        Builder { source, facts, indices: NameMap::default(), plain: Vec::new() }
    }

    /// The facts so far.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The facts so far, to be changed.
    pub fn facts_mut(&mut self) -> &mut Facts {
        &mut self.facts
    }

    /// The index of a text.
    pub fn text(&mut self, text: &str) -> u32 {
        let name = Name::of(text);
        *self.indices.entry(name).or_insert_with(|| {
            self.facts.text.push_str(text);
            self.facts.ends.push(self.facts.text.len() as u32);
            self.facts.numbers.push(name);
            self.facts.ends.len() as u32 - 1
        })
    }

    /// The index of a name, if a text of this name was asked for before.
    #[must_use]
    pub(crate) fn index_of(&self, name: Name) -> Option<u32> {
        self.indices.get(&name).copied()
    }

    /// The text between two bytes of the file; bytes that are no text are left out.
    #[must_use]
    pub fn slice(&self, start: usize, end: usize) -> &'a str {
        let bytes = self.source.get(start..end).unwrap_or(&[]);
        match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""),
        }
    }

    /// Opens a scope.
    pub fn scope(&mut self, parent: u32, kind: ScopeKind, owner: u32, range: std::ops::Range<usize>) -> u32 {
        let (start, end) = (range.start as u32, range.end as u32);
        self.facts.scopes.push(Scope { parent, kind, owner, start, end });
        self.facts.scopes.len() as u32 - 1
    }

    /// A definition without an identifier in the file, or whose identifier is recorded apart.
    pub fn define(&mut self, name: u32, kind: Kind, name_start: usize, range: std::ops::Range<usize>) -> u32 {
        let index = self.facts.defs.len() as u32;
        let space = match kind {
            Kind::Class | Kind::Import => space::VALUE | space::TYPE,
            Kind::Macro => space::MACRO,
            Kind::Label => space::LABEL,
            kind if kind.is_type() => space::TYPE,
            Kind::TypeParameter | Kind::Module | Kind::Impl => space::TYPE,
            _ => space::VALUE,
        };
        self.facts.defs.push(Def {
            name,
            kind,
            space,
            marks: 0,
            scope: NONE,
            owner: NONE,
            same: index,
            name_start: name_start as u32,
            start: range.start as u32,
            end: range.end as u32,
            body: range.end as u32,
            visible: 0,
            declared: NONE,
            value: NONE,
        });
        index
    }

    /// The definition at an index, to be filled in. The index must be one that `define` gave.
    pub fn def(&mut self, index: u32) -> &mut Def {
        &mut self.facts.defs[index as usize]
    }

    /// An identifier.
    pub fn token(&mut self, name: u32, start: usize, scope: u32, role: Role, target: u32) -> u32 {
        let space = if role == Role::Label { space::LABEL } else { space::ANY };
        self.facts.tokens.push(Token { name, start: start as u32, scope, role, space, target });
        self.facts.tokens.len() as u32 - 1
    }

    /// The token at an index, to be filled in. The index must be one that `token` gave.
    pub fn token_mut(&mut self, index: u32) -> &mut Token {
        &mut self.facts.tokens[index as usize]
    }

    /// An expression.
    pub fn expr(&mut self, op: Op, a: u32, b: u32) -> u32 {
        self.facts.exprs.push(Expr { op, a, b });
        self.facts.exprs.len() as u32 - 1
    }

    /// A list for an expression.
    pub fn list(&mut self, members: &[u32]) -> u32 {
        let index = self.facts.lists.len() as u32;
        self.facts.lists.push(members.len() as u32);
        self.facts.lists.extend_from_slice(members);
        index
    }

    /// One of at most so many expressions; those that are none add nothing.
    pub(crate) fn either(&mut self, values: &[u32], most: usize) -> u32 {
        let mut known: Vec<u32> = Vec::new();
        for &value in values.iter().filter(|&&value| value != NONE) {
            if known.len() < most && !known.contains(&value) {
                known.push(value);
            }
        }
        match known[..] {
            [] => NONE,
            [one] => one,
            _ => {
                let list = self.list(&known);
                self.expr(Op::Either, list, NONE)
            }
        }
    }

    /// A type of the language itself.
    pub fn builtin(&mut self, name: &str, arguments: &[u32]) -> u32 {
        let name = self.text(name);
        let list = if arguments.is_empty() { NONE } else { self.list(arguments) };
        self.expr(Op::Builtin, name, list)
    }

    /// The text of a literal: of a value of a type with a type of that name as its argument.
    #[must_use]
    pub(crate) fn literal_text(&self, value: u32) -> Option<u32> {
        let inside = |expr: u32, op: Op| self.facts.exprs.get(expr as usize).filter(|expr| expr.op == op);
        let of = inside(inside(value, Op::Value)?.a, Op::Builtin)?;
        let &[literal] = self.facts.list(of.b) else { return None };
        Some(inside(literal, Op::Builtin)?.a)
    }

    /// A value of a type of the language itself that has no arguments, such as that of a literal.
    pub fn plain_value(&mut self, name: &'static str) -> u32 {
        if let Some(&(_, known)) = self.plain.iter().find(|(known, _)| *known == name) {
            return known;
        }
        let of = self.builtin(name, &[]);
        let value = self.value_of(of);
        self.plain.push((name, value));
        value
    }

    /// A value of a type; none for none.
    pub fn value_of(&mut self, declared: u32) -> u32 {
        if declared == NONE { NONE } else { self.expr(Op::Value, declared, NONE) }
    }

    /// An import.
    pub fn import(&mut self, import: Import) -> u32 {
        self.facts.imports.push(import);
        self.facts.imports.len() as u32 - 1
    }

    /// An export that stands apart.
    pub fn export(&mut self, export: Export) {
        self.facts.exports.push(export);
    }

    /// A base of a type.
    pub fn base(&mut self, def: u32, base: u32) {
        if base != NONE {
            self.facts.bases.push(Base { def, base });
        }
    }

    /// The finished facts: identifiers in the order of the file, one for each place.
    #[must_use]
    pub fn finish(mut self) -> Facts {
        if !self.source.is_ascii() {
            self.facts.bits |= super::WIDE;
        }
        let tokens = &self.facts.tokens;
        if !tokens.is_sorted_by_key(|token| token.start) {
            let mut order: Vec<u32> = (0..tokens.len() as u32).collect();
            order.sort_by_key(|&index| tokens[index as usize].start);
            let mut place = vec![0; order.len()];
            for (new, &old) in order.iter().enumerate() {
                place[old as usize] = new as u32;
            }
            self.facts.tokens = order.iter().map(|&index| tokens[index as usize]).collect();
            for expr in &mut self.facts.exprs {
                let token = match expr.op {
                    Op::Token => &mut expr.a,
                    Op::KeyType => &mut expr.b,
                    _ => continue,
                };
                if let Some(&new) = place.get(*token as usize) {
                    *token = new;
                }
            }
        }
        self.facts.sort();
        self.facts
    }
}
