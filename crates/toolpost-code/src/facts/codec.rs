//! Facts as bytes and back: numbers of variable length, differences where numbers grow, a version and a checksum in
//! front. Bytes that were not written by this version, whole, are refused; nothing in them is believed before.

use super::{Base, Def, Export, Expr, Facts, Import, Kind, NONE, Name, Op, Role, Scope, ScopeKind, Token};

/// Raised whenever an extractor or this format changes: facts of other versions are ignored.
pub(crate) const VERSION: u32 = 10;

const MAGIC: [u8; 4] = *b"tpcf";

/// Bytes that are not the facts of this version, unchanged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Damaged;

/// A number for bytes that changes when they do.
#[must_use]
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let mut hash: u64 = 0x51_7c_c1_b7_27_22_0a_95 ^ (bytes.len() as u64);
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    for &byte in chunks.remainder() {
        hash = (hash.rotate_left(23) ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    hash ^ (hash >> 31)
}

/// Writes numbers.
#[derive(Default)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
}

/// Bytes in front of a body: what it is, its version, its checksum.
const HEAD: usize = 16;

impl Writer {
    /// A body that gets its head in the end.
    pub(crate) fn headed() -> Writer {
        Writer { bytes: vec![0; HEAD] }
    }

    /// Puts version and checksum in front of the body.
    pub(crate) fn seal(mut self, magic: [u8; 4]) -> Vec<u8> {
        let checksum = checksum(&self.bytes[HEAD..]);
        self.bytes[..4].copy_from_slice(&magic);
        self.bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
        self.bytes[8..HEAD].copy_from_slice(&checksum.to_le_bytes());
        self.bytes
    }

    #[inline]
    pub(crate) fn number(&mut self, value: u64) {
        let mut rest = value;
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    /// An index or none, which is the smallest.
    fn index(&mut self, value: u32) {
        self.number(u64::from(value.wrapping_add(1)));
    }

    /// A number near another one.
    fn near(&mut self, value: u32, base: u32) {
        let difference = i64::from(value) - i64::from(base);
        self.number(((difference << 1) ^ (difference >> 63)) as u64);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

/// Reads them back.
pub(crate) struct Reader<'a> {
    pub(crate) bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    #[inline(always)]
    pub(crate) fn number(&mut self) -> Result<u64, Damaged> {
        // Most numbers take one byte.
        match self.bytes {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.bytes = rest;
                Ok(u64::from(*byte))
            }
            _ => self.long_number(),
        }
    }

    fn long_number(&mut self) -> Result<u64, Damaged> {
        let mut value = 0u64;
        for (index, &byte) in self.bytes.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.bytes = &self.bytes[index + 1..];
                return Ok(value);
            }
        }
        Err(Damaged)
    }

    #[inline(always)]
    fn small(&mut self) -> Result<u32, Damaged> {
        u32::try_from(self.number()?).map_err(|_| Damaged)
    }

    #[inline(always)]
    fn index(&mut self) -> Result<u32, Damaged> {
        Ok(self.small()?.wrapping_sub(1))
    }

    #[inline(always)]
    fn near(&mut self, base: u32) -> Result<u32, Damaged> {
        let value = self.number()?;
        let difference = (value >> 1) as i64 ^ -((value & 1) as i64);
        u32::try_from(i64::from(base) + difference).map_err(|_| Damaged)
    }

    /// A count of things that take at least one byte each, so that no count is larger than what follows.
    pub(crate) fn count(&mut self) -> Result<usize, Damaged> {
        let count = self.number()? as usize;
        if count > self.bytes.len() { Err(Damaged) } else { Ok(count) }
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Damaged> {
        let length = self.count()?;
        let (text, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        std::str::from_utf8(text).map_err(|_| Damaged)
    }
}

/// The body behind version and checksum.
pub(crate) fn unseal(magic: [u8; 4], bytes: &[u8]) -> Result<&[u8], Damaged> {
    let (head, body) = bytes.split_at_checked(HEAD).ok_or(Damaged)?;
    let right = head[..4] == magic
        && head[4..8] == VERSION.to_le_bytes()
        && head[8..] == checksum(body).to_le_bytes();
    if right { Ok(body) } else { Err(Damaged) }
}

/// The facts as bytes.
#[must_use]
pub fn encode(facts: &Facts) -> Vec<u8> {
    let mut writer = Writer::headed();
    writer.index(facts.remark);
    writer.number(u64::from(facts.bits));
    writer.number(u64::from(facts.has_errors));
    writer.number(u64::from(facts.error_line));
    writer.text(&facts.text);
    ascending(&mut writer, &facts.ends);
    ascending(&mut writer, &facts.lines);
    writer.number(facts.scopes.len() as u64);
    let mut last = 0;
    for scope in &facts.scopes {
        writer.index(scope.parent);
        writer.number(scope.kind as u64);
        writer.index(scope.owner);
        writer.near(scope.start, last);
        writer.near(scope.end, scope.start);
        last = scope.start;
    }
    writer.number(facts.defs.len() as u64);
    last = 0;
    for (index, def) in facts.defs.iter().enumerate() {
        writer.index(def.name);
        writer.number(def.kind as u64);
        writer.number(u64::from(def.space));
        writer.number(u64::from(def.marks));
        writer.index(def.scope);
        writer.index(def.owner);
        writer.near(def.same, index as u32);
        writer.near(def.name_start, last);
        writer.near(def.start, def.name_start);
        writer.near(def.end, def.start);
        writer.near(def.body, def.end);
        writer.index(if def.visible == 0 { NONE } else { def.visible });
        writer.index(def.declared);
        writer.index(def.value);
        last = def.name_start;
    }
    writer.number(facts.tokens.len() as u64);
    last = 0;
    for token in &facts.tokens {
        writer.index(token.name);
        writer.near(token.start, last);
        writer.index(token.scope);
        writer.bytes.push(token.role as u8 | token.space << 3);
        writer.index(token.target);
        last = token.start;
    }
    writer.number(facts.imports.len() as u64);
    for import in &facts.imports {
        for index in [import.def, import.scope, import.module, import.name, import.path, import.start] {
            writer.index(index);
        }
        writer.number(u64::from(import.marks));
    }
    writer.number(facts.exports.len() as u64);
    for export in &facts.exports {
        writer.index(export.name);
        writer.index(export.value);
        writer.index(export.import);
    }
    writer.number(facts.bases.len() as u64);
    for base in &facts.bases {
        writer.index(base.def);
        writer.index(base.base);
    }
    writer.number(facts.exprs.len() as u64);
    for (index, expr) in facts.exprs.iter().enumerate() {
        writer.bytes.push(expr.op as u8);
        // Operands are mostly just before the expression itself, or none.
        match expr.a {
            NONE => writer.number(0),
            a => {
                let difference = i64::from(a) - index as i64;
                writer.number(((difference << 1) ^ (difference >> 63)) as u64 + 1);
            }
        }
        writer.index(expr.b);
    }
    writer.number(facts.lists.len() as u64);
    for &member in &facts.lists {
        writer.index(member);
    }
    writer.seal(MAGIC)
}

/// The facts from bytes.
///
/// # Errors
///
/// The bytes are not facts of this version, or not all of them are as they were written.
pub fn decode(bytes: &[u8]) -> Result<Facts, Damaged> {
    let mut reader = Reader { bytes: unseal(MAGIC, bytes)? };
    let mut facts = Facts {
        remark: reader.index()?,
        bits: reader.small()?,
        has_errors: reader.number()? != 0,
        error_line: reader.small()?,
        text: reader.text()?.to_owned(),
        ..Facts::default()
    };
    facts.ends = read_ascending(&mut reader)?;
    facts.numbers.reserve_exact(facts.ends.len());
    let mut start = 0;
    for &end in &facts.ends {
        let text = facts.text.get(start..end as usize).ok_or(Damaged)?;
        facts.numbers.push(Name::of(text));
        start = end as usize;
    }
    facts.lines = read_ascending(&mut reader)?;
    let mut last = 0;
    let count = reader.count()?;
    if count > reader.bytes.len() / LEAST_SCOPE {
        return Err(Damaged);
    }
    facts.scopes.reserve_exact(count);
    for _ in 0..count {
        let (parent, kind, owner) = (reader.index()?, reader.number()?, reader.index()?);
        let start = reader.near(last)?;
        let end = reader.near(start)?;
        let kind = [ScopeKind::Module, ScopeKind::Class, ScopeKind::Function, ScopeKind::Block]
            .get(kind as usize)
            .copied()
            .ok_or(Damaged)?;
        last = start;
        facts.scopes.push(Scope { parent, kind, owner, start, end });
    }
    last = 0;
    let count = reader.count()?;
    if count > reader.bytes.len() / LEAST_DEF {
        return Err(Damaged);
    }
    facts.defs.reserve_exact(count);
    for index in 0..count {
        let name = reader.index()?;
        let kind = Kind::ALL.get(reader.number()? as usize).copied().ok_or(Damaged)?;
        let space = reader.number()? as u8;
        let marks = reader.number()? as u16;
        let scope = reader.index()?;
        let owner = reader.index()?;
        let same = reader.near(index as u32)?;
        let name_start = reader.near(last)?;
        let start = reader.near(name_start)?;
        let end = reader.near(start)?;
        let body = reader.near(end)?;
        let visible = match reader.index()? {
            NONE => 0,
            visible => visible,
        };
        let (declared, value) = (reader.index()?, reader.index()?);
        last = name_start;
        facts.defs.push(Def {
            name,
            kind,
            space,
            marks,
            scope,
            owner,
            same,
            name_start,
            start,
            end,
            body,
            visible,
            declared,
            value,
        });
    }
    last = 0;
    let count = reader.count()?;
    if count > reader.bytes.len() / LEAST_TOKEN {
        return Err(Damaged);
    }
    facts.tokens.reserve_exact(count);
    for _ in 0..count {
        let name = reader.index()?;
        let start = reader.near(last)?;
        let scope = reader.index()?;
        let (&bits, rest) = reader.bytes.split_first().ok_or(Damaged)?;
        reader.bytes = rest;
        let target = reader.index()?;
        let role = ROLES.get(usize::from(bits & 7)).copied().ok_or(Damaged)?;
        last = start;
        facts.tokens.push(Token { name, start, scope, role, space: bits >> 3, target });
    }
    for _ in 0..reader.count()? {
        let (def, scope, module) = (reader.index()?, reader.index()?, reader.index()?);
        let (name, path, start) = (reader.index()?, reader.index()?, reader.index()?);
        let marks = reader.number()? as u16;
        facts.imports.push(Import { def, scope, module, name, path, marks, start });
    }
    for _ in 0..reader.count()? {
        let (name, value, import) = (reader.index()?, reader.index()?, reader.index()?);
        facts.exports.push(Export { name, value, import });
    }
    for _ in 0..reader.count()? {
        let (def, base) = (reader.index()?, reader.index()?);
        facts.bases.push(Base { def, base });
    }
    let count = reader.count()?;
    if count > reader.bytes.len() / LEAST_EXPR {
        return Err(Damaged);
    }
    facts.exprs.reserve_exact(count);
    for index in 0..count {
        let (&op, rest) = reader.bytes.split_first().ok_or(Damaged)?;
        reader.bytes = rest;
        let op = OPS.get(usize::from(op)).copied().ok_or(Damaged)?;
        let a = match reader.number()? {
            0 => NONE,
            value => {
                let value = value - 1;
                let difference = (value >> 1) as i64 ^ -((value & 1) as i64);
                u32::try_from(index as i64 + difference).map_err(|_| Damaged)?
            }
        };
        let b = reader.index()?;
        facts.exprs.push(Expr { op, a, b });
    }
    let count = reader.count()?;
    facts.lists.reserve_exact(count);
    for _ in 0..count {
        facts.lists.push(reader.index()?);
    }
    facts.sort();
    Ok(facts)
}

/// The fewest bytes that one of them takes, so that no more is reserved than can follow.
const LEAST_SCOPE: usize = 5;
const LEAST_DEF: usize = 14;
const LEAST_TOKEN: usize = 5;
const LEAST_EXPR: usize = 3;

const ROLES: [Role; 8] = [
    Role::Declaration,
    Role::Bare,
    Role::Member,
    Role::Key,
    Role::Keyword,
    Role::Import,
    Role::Label,
    Role::Loose,
];

const OPS: [Op; 27] = [
    Op::Token,
    Op::Call,
    Op::New,
    Op::Index,
    Op::Element,
    Op::Key,
    Op::Await,
    Op::Try,
    Op::Enter,
    Op::Deref,
    Op::Builtin,
    Op::At,
    Op::Either,
    Op::Apply,
    Op::Closure,
    Op::This,
    Op::ThisType,
    Op::Super,
    Op::Value,
    Op::TypeOf,
    Op::Anonymous,
    Op::Parameter,
    Op::Argument,
    Op::KeyType,
    Op::Unknown,
    Op::Own,
    Op::OwnOther,
];

fn ascending(writer: &mut Writer, numbers: &[u32]) {
    writer.number(numbers.len() as u64);
    let mut last = 0;
    for &number in numbers {
        writer.number(u64::from(number - last));
        last = number;
    }
}

fn read_ascending(reader: &mut Reader<'_>) -> Result<Vec<u32>, Damaged> {
    let count = reader.count()?;
    let mut numbers = Vec::with_capacity(count);
    let mut last = 0u32;
    for _ in 0..count {
        last = last.checked_add(reader.small()?).ok_or(Damaged)?;
        numbers.push(last);
    }
    Ok(numbers)
}
