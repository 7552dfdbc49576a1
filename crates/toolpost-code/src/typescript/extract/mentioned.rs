//! Names that comments mention: `{@link Item}`, `@see Item`, `@param {Item} name`. They are uses, and say nothing of types.

use std::collections::HashSet;

use super::documented::{Comment, is_word};
use super::state::Extractor;
use crate::facts::{NONE, Op, Role, space};

/// Words of types that are no names.
const WORDS: [&str; 27] = [
    "any",
    "as",
    "asserts",
    "bigint",
    "boolean",
    "extends",
    "false",
    "function",
    "import",
    "infer",
    "is",
    "keyof",
    "never",
    "new",
    "null",
    "number",
    "object",
    "readonly",
    "string",
    "symbol",
    "this",
    "true",
    "typeof",
    "undefined",
    "unique",
    "unknown",
    "void",
];

impl Extractor<'_, '_> {
    /// Records the names in all comments that document. The scopes of the file are known by now.
    pub(super) fn mentions(&mut self) {
        if self.comments.is_empty() {
            return;
        }
        let comments = std::mem::take(&mut self.comments);
        let scopes = self.scopes_of(&comments);
        // Some names were recorded with the types that they say.
        let mut known = HashSet::new();
        if self.is_script {
            let tokens = self.builder.facts().tokens.iter().map(|token| token.start);
            let is_inside = |start: &u32| {
                let next = comments.partition_point(|comment| comment.end <= *start as usize);
                comments.get(next).is_some_and(|comment| comment.start <= *start as usize)
            };
            known.extend(tokens.filter(is_inside));
        }
        for (comment, scope) in comments.iter().zip(scopes) {
            self.mentioned_in(*comment, scope, &known);
        }
        self.comments = comments;
    }

    /// The innermost scope around each comment. Comments are in the order of the file.
    fn scopes_of(&self, comments: &[Comment]) -> Vec<u32> {
        let scopes = &self.builder.facts().scopes;
        let mut order: Vec<u32> = (0..scopes.len() as u32).collect();
        order.sort_by_key(|&index| {
            let scope = &scopes[index as usize];
            (scope.start, std::cmp::Reverse(scope.end), index)
        });
        let mut next = order.into_iter().peekable();
        let mut around: Vec<u32> = Vec::new();
        let of_one = |comment: &Comment| {
            let start = comment.start as u32;
            while let Some(scope) = next.next_if(|&scope| scopes[scope as usize].start <= start) {
                around.retain(|&outer| scopes[outer as usize].end > scopes[scope as usize].start);
                around.push(scope);
            }
            around.retain(|&outer| scopes[outer as usize].end > start);
            around.last().copied().unwrap_or(0)
        };
        comments.iter().map(of_one).collect()
    }

    fn mentioned_in(&mut self, comment: Comment, scope: u32, known: &HashSet<u32>) {
        let source = self.builder.source;
        let mut at = comment.start;
        while let Some(next) = memchr::memchr(b'@', &source[at..comment.end]) {
            let sign = at + next;
            at = sign + 1;
            let length = source[at..comment.end].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let tag = &source[at..at + length];
            at += length;
            let after = skip_spaces(source, at, comment.end);
            let is_inline = sign > 0 && source[sign - 1] == b'{';
            match tag {
                b"link" | b"linkcode" | b"linkplain" if is_inline => {
                    self.linked(after, comment.end, scope, known)
                }
                b"see" if after > at && source[after] != b'{' => {
                    self.linked(after, comment.end, scope, known)
                }
                _ if !is_inline && source[after] == b'{' && source.get(after + 1) != Some(&b'@') => {
                    let mut depth = 0;
                    let close = source[after..comment.end].iter().position(|&byte| {
                        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
                        depth == 0
                    });
                    if let Some(close) = close {
                        self.typed(after + 1, after + close, scope, known);
                        at = after + close;
                    }
                }
                _ => {}
            }
        }
    }

    /// A name behind `@link`, with its members: `Item`, `Item.size`, `Item#size`.
    fn linked(&mut self, start: usize, end: usize, scope: u32, known: &HashSet<u32>) {
        let source = self.builder.source;
        let mut at = start;
        let mut of = NONE;
        loop {
            let length = word(source, at, end);
            let is_address = source[at + length..end].starts_with(b"://");
            if length == 0 || source[at].is_ascii_digit() || is_address {
                return;
            }
            of = self.mentioned(at, length, of, scope, space::ANY, known);
            at += length;
            if at + 1 >= end || !matches!(source[at], b'.' | b'#') {
                return;
            }
            at += 1;
        }
    }

    /// The names in a type. Names of parameters and of members are not looked up.
    fn typed(&mut self, start: usize, end: usize, scope: u32, known: &HashSet<u32>) {
        let source = self.builder.source;
        let (mut at, mut of) = (start, NONE);
        while at < end {
            let byte = source[at];
            if matches!(byte, b'"' | b'\'' | b'`') {
                let close = memchr::memchr(byte, &source[at + 1..end]);
                at = close.map_or(end, |close| at + close + 2);
                of = NONE;
                continue;
            }
            let length = word(source, at, end);
            if length == 0 {
                // Only a dot directly behind a name leads to one of its members.
                of = if byte == b'.' && at > start && is_word(source[at - 1]) { of } else { NONE };
                at += 1;
                continue;
            }
            let text = self.builder.slice(at, at + length);
            let mut next = skip_spaces(source, at + length, end);
            if source[next] == b'?' {
                next = skip_spaces(source, next + 1, end);
            }
            let is_label = next < end && source[next] == b':';
            let is_name = !is_label && !byte.is_ascii_digit() && !WORDS.contains(&text);
            of = if is_name { self.mentioned(at, length, of, scope, space::TYPE, known) } else { NONE };
            at += length;
        }
    }

    /// Records one name, a member of what `of` is if it is an expression.
    fn mentioned(
        &mut self,
        start: usize,
        length: usize,
        of: u32,
        scope: u32,
        space: u8,
        known: &HashSet<u32>,
    ) -> u32 {
        if known.contains(&(start as u32)) {
            return NONE;
        }
        let text = self.builder.slice(start, start + length);
        let name = self.builder.text(text);
        if of != NONE {
            return self.member(name, start, scope, of, space);
        }
        let token = self.builder.token(name, start, scope, Role::Bare, NONE);
        self.builder.token_mut(token).space = space;
        self.builder.expr(Op::Token, token, NONE)
    }
}

/// The first byte that is no space; at most `end`, which is inside of the file.
fn skip_spaces(source: &[u8], at: usize, end: usize) -> usize {
    let spaces = source[at..end].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (at + spaces).min(source.len() - 1)
}

/// How long the word at a byte is.
fn word(source: &[u8], at: usize, end: usize) -> usize {
    source[at..end].iter().take_while(|byte| is_word(**byte)).count()
}
