//! Types that JavaScript says in comments: `@param {Item} name`, `@returns {Item}`, `@type {Item}`, `@typedef {Item} Name`.
//! What is more than names, arguments, lists and unions stays unknown.

use tree_sitter::Node;

use super::K;
use super::state::Extractor;
use crate::facts::{Kind, NONE, Op, Role, mark, space};
use crate::typescript::own::{self, own};

/// How deep types are followed.
const DEEPEST: u32 = 16;

/// What one comment says.
#[derive(Clone, Copy)]
pub(super) struct Comment {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Where a type stands between its braces.
struct Cursor<'a> {
    source: &'a [u8],
    at: usize,
    end: usize,
    scope: u32,
}

impl Extractor<'_, '_> {
    /// Finds the comments of a file that document. In JavaScript some of them declare types.
    pub(super) fn find_comments(&mut self) {
        let source = self.builder.source;
        let mut at = 0;
        while let Some(found) = memchr::memmem::find(&source[at..], b"/**") {
            let start = at + found;
            let Some(length) = memchr::memmem::find(&source[start + 3..], b"*/") else { break };
            at = start + 3 + length + 2;
            if memchr::memchr(b'@', &source[start..at]).is_some() {
                self.comments.push(Comment { start, end: at });
            }
        }
        let telling = if self.is_script { self.comments.len() } else { 0 };
        for index in 0..telling {
            self.type_definitions(self.comments[index]);
        }
    }

    /// The comment directly before a byte, where types may be said in comments.
    pub(super) fn comment_before(&self, start: usize) -> Option<Comment> {
        if !self.is_script {
            return None;
        }
        let after = self.comments.partition_point(|comment| comment.end <= start);
        let comment = *self.comments.get(after.checked_sub(1)?)?;
        let between = self.builder.source.get(comment.end..start)?;
        between.iter().all(u8::is_ascii_whitespace).then_some(comment)
    }

    /// Remembers the comment before a statement for the function that is its value.
    pub(super) fn remember_comment(&mut self, start: usize, value: Node<'_>) {
        if self.is_script
            && !self.comments.is_empty()
            && matches!(self.kind(value), K::Arrow | K::FunctionExpression)
        {
            self.comment = self.comment_before(start);
        }
    }

    /// The type behind a tag of a comment; of a parameter by its name.
    pub(super) fn documented(&mut self, comment: Comment, tags: &[&str], name: &str, scope: u32) -> u32 {
        let source = self.builder.source;
        for (tag, start, end) in self.tags(comment) {
            let after: &[u8] = source[end + 1..comment.end].trim_ascii_start();
            let after = after.strip_prefix(b"[").unwrap_or(after).trim_ascii_start();
            let length = after.iter().position(|&byte| !is_word(byte)).unwrap_or(after.len());
            if tags.contains(&tag) && (name.is_empty() || &after[..length] == name.as_bytes()) {
                let mut cursor = Cursor { source, at: start, end, scope };
                return self.union_said(&mut cursor, 0);
            }
        }
        NONE
    }

    /// The tags with types: their names, and where the types begin and end.
    fn tags(&self, comment: Comment) -> Vec<(&'static str, usize, usize)> {
        let source = self.builder.source;
        let mut found = Vec::new();
        let mut at = comment.start;
        while let Some(next) = memchr::memchr(b'@', &source[at..comment.end]) {
            at += next + 1;
            let rest = &source[at..comment.end];
            let known = ["param", "returns", "return", "type", "typedef", "arg", "argument"];
            let Some(tag) =
                known.into_iter().filter(|tag| rest.starts_with(tag.as_bytes())).max_by_key(|tag| tag.len())
            else {
                continue;
            };
            let open = at + tag.len() + rest[tag.len()..].iter().take_while(|byte| **byte == b' ').count();
            if source.get(open) != Some(&b'{') {
                continue;
            }
            let mut depth = 0;
            let close = source[open..comment.end].iter().position(|&byte| {
                depth += i32::from(byte == b'{') - i32::from(byte == b'}');
                depth == 0
            });
            let Some(close) = close else { continue };
            found.push((tag, open + 1, open + close));
            at = open + close;
        }
        found
    }

    fn type_definitions(&mut self, comment: Comment) {
        let source = self.builder.source;
        for (tag, start, end) in self.tags(comment) {
            if tag != "typedef" {
                continue;
            }
            let spaces =
                source[end + 1..comment.end].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let at = end + 1 + spaces;
            let length = source[at..comment.end].iter().take_while(|byte| is_word(**byte)).count();
            if length == 0 {
                continue;
            }
            let text = self.builder.slice(at, at + length);
            let name = self.builder.text(text);
            let def = self.builder.define(name, Kind::Alias, at, comment.start..comment.end);
            self.builder.token(name, at, 0, Role::Declaration, def);
            let mut cursor = Cursor { source, at: start, end, scope: 0 };
            let declared = self.union_said(&mut cursor, 0);
            let known = self.builder.def(def);
            known.declared = declared;
            known.marks |= mark::TRANSPARENT | mark::PUBLIC;
            self.bind(def, 0);
        }
    }

    /// `A | B`.
    fn union_said(&mut self, cursor: &mut Cursor<'_>, depth: u32) -> u32 {
        let mut all = Vec::new();
        loop {
            all.push(self.list_said(cursor, depth));
            if cursor.peek() != Some(b'|') {
                break;
            }
            cursor.at += 1;
        }
        self.either(&all)
    }

    /// `A`, `A[]`, `?A`, `A=`.
    fn list_said(&mut self, cursor: &mut Cursor<'_>, depth: u32) -> u32 {
        while matches!(cursor.peek(), Some(b'?' | b'!')) {
            cursor.at += 1;
        }
        let mut of = self.name_said(cursor, depth);
        while cursor.peek() == Some(b'[') && cursor.source.get(cursor.at + 1) == Some(&b']') {
            cursor.at += 2;
            of = self.builder.builtin("[]", &[of]);
        }
        if cursor.peek() == Some(b'=') {
            cursor.at += 1;
        }
        of
    }

    /// A name with its arguments, qualified or not.
    fn name_said(&mut self, cursor: &mut Cursor<'_>, depth: u32) -> u32 {
        if depth > DEEPEST {
            cursor.at = cursor.end;
            return NONE;
        }
        if cursor.peek() == Some(b'(') {
            cursor.at += 1;
            let of = self.union_said(cursor, depth + 1);
            if cursor.peek() == Some(b')') {
                cursor.at += 1;
            }
            return of;
        }
        let start = cursor.at;
        let length = cursor.source[start..cursor.end].iter().take_while(|byte| is_word(**byte)).count();
        cursor.at += length;
        let text = self.builder.slice(start, start + length);
        let mut of = match text {
            "" => {
                cursor.at = cursor.end;
                return NONE;
            }
            "any" | "unknown" | "void" | "undefined" | "null" | "Object" | "object" | "Function"
            | "function" => NONE,
            "string" | "number" | "boolean" | "symbol" | "bigint" => self.builder.builtin(text, &[]),
            "import" => self.import_said(cursor),
            _ => {
                let name = self.builder.text(text);
                let token = self.builder.token(name, start, cursor.scope, Role::Bare, NONE);
                self.builder.token_mut(token).space = space::TYPE;
                self.builder.expr(Op::Token, token, NONE)
            }
        };
        while cursor.peek() == Some(b'.')
            && cursor.source.get(cursor.at + 1).is_some_and(|&byte| is_word(byte))
        {
            let start = cursor.at + 1;
            let length = cursor.source[start..cursor.end].iter().take_while(|byte| is_word(**byte)).count();
            cursor.at = start + length;
            let text = self.builder.slice(start, start + length);
            let name = self.builder.text(text);
            of = self.member(name, start, cursor.scope, of, space::TYPE);
        }
        // Both `Array<T>` and `Array.<T>` are written.
        if cursor.peek() == Some(b'.') {
            cursor.at += 1;
        }
        if cursor.peek() == Some(b'<') {
            let mut arguments = Vec::new();
            while matches!(cursor.peek(), Some(b'<' | b',')) {
                cursor.at += 1;
                arguments.push(self.union_said(cursor, depth + 1));
            }
            if cursor.peek() == Some(b'>') {
                cursor.at += 1;
            }
            let list = self.builder.list(&arguments);
            of = if of == NONE { NONE } else { self.builder.expr(Op::Apply, of, list) };
        }
        of
    }

    /// `import('module')`.
    fn import_said(&mut self, cursor: &mut Cursor<'_>) -> u32 {
        let rest = &cursor.source[cursor.at..cursor.end];
        let Some(close) = memchr::memchr(b')', rest).filter(|_| rest.first() == Some(&b'(')) else {
            return NONE;
        };
        let text = self.builder.slice(cursor.at + 1, cursor.at + close).trim().trim_matches(['"', '\'']);
        cursor.at += close + 1;
        let text = self.builder.text(text);
        own(self.builder, own::MODULE, &[text, 0])
    }
}

impl Cursor<'_> {
    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        while self.at < self.end && self.source[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        (self.at < self.end).then(|| self.source[self.at])
    }
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}
