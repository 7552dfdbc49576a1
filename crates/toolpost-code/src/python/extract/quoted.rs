//! Annotations inside of strings: `"list[Thing] | None"`. A small reader of its own, because the grammar sees a string.

use super::state::Extractor;
use crate::facts::{NONE, Op, Role};

/// How deep brackets may nest.
const DEEPEST: u32 = 40;

/// Where the reader stands in the file.
struct Reader {
    at: usize,
    end: usize,
    scope: u32,
    depth: u32,
}

impl Extractor<'_, '_> {
    /// The type that the text between two bytes of the file names; none if it is no type.
    pub(super) fn quoted(&mut self, start: usize, end: usize, scope: u32) -> u32 {
        let text = self.builder.slice(start, end);
        let is_part = |c: char| c.is_alphanumeric() || "_.[]|, \t\n\r'\"()".contains(c);
        if text.len() > 2_000 || !text.chars().all(is_part) {
            return NONE;
        }
        let mut reader = Reader { at: start, end, scope, depth: 0 };
        self.quoted_union(&mut reader)
    }

    fn peek(&self, reader: &mut Reader) -> u8 {
        while reader.at < reader.end && self.builder.source[reader.at].is_ascii_whitespace() {
            reader.at += 1;
        }
        if reader.at < reader.end { self.builder.source[reader.at] } else { 0 }
    }

    fn quoted_union(&mut self, reader: &mut Reader) -> u32 {
        let mut all = vec![self.quoted_one(reader)];
        while self.peek(reader) == b'|' {
            reader.at += 1;
            all.push(self.quoted_one(reader));
        }
        self.either(&all)
    }

    fn quoted_one(&mut self, reader: &mut Reader) -> u32 {
        reader.depth += 1;
        if reader.depth > DEEPEST {
            reader.at = reader.end;
            return NONE;
        }
        let first = self.peek(reader);
        let expr = match first {
            b'[' | b'(' => {
                let parts = self.quoted_list(reader);
                self.builder.builtin("()", &parts)
            }
            b'"' | b'\'' => {
                let start = reader.at + 1;
                let rest = self.builder.source.get(start..reader.end).unwrap_or(&[]);
                match rest.iter().position(|&byte| byte == first) {
                    Some(length) => {
                        let mut inner =
                            Reader { at: start, end: start + length, depth: reader.depth, ..*reader };
                        reader.at = start + length + 1;
                        self.quoted_union(&mut inner)
                    }
                    None => {
                        reader.at = reader.end;
                        NONE
                    }
                }
            }
            b'.' => {
                while self.peek(reader) == b'.' {
                    reader.at += 1;
                }
                NONE
            }
            byte if is_name(byte) && !byte.is_ascii_digit() => self.quoted_name(reader),
            _ => {
                reader.at = reader.end;
                NONE
            }
        };
        reader.depth -= 1;
        expr
    }

    fn quoted_name(&mut self, reader: &mut Reader) -> u32 {
        let mut target = NONE;
        let mut last = "";
        loop {
            self.peek(reader);
            let start = reader.at;
            while reader.at < reader.end && is_name(self.builder.source[reader.at]) {
                reader.at += 1;
            }
            let text = self.builder.slice(start, reader.at);
            if text.is_empty() {
                return NONE;
            }
            if text == "None" && target == NONE {
                return self.simple("None");
            }
            last = if text.is_empty() { last } else { text };
            let name = self.builder.text(text);
            let role = if target == NONE { Role::Bare } else { Role::Member };
            let token = self.builder.token(name, start, reader.scope, role, target);
            target = self.token_expr(token);
            if self.peek(reader) != b'.' {
                break;
            }
            reader.at += 1;
        }
        if self.peek(reader) != b'[' {
            return self.named(last, target, reader.scope);
        }
        if last == "Literal" {
            // What stands in the brackets is values, not types.
            reader.at = reader.end;
            return NONE;
        }
        let parts = self.quoted_list(reader);
        self.generic(last, target, &parts)
    }

    /// The parts between brackets.
    fn quoted_list(&mut self, reader: &mut Reader) -> Vec<u32> {
        let mut parts = Vec::new();
        reader.at += 1;
        while reader.at < reader.end {
            match self.peek(reader) {
                b']' | b')' => {
                    reader.at += 1;
                    break;
                }
                b',' => reader.at += 1,
                _ => {
                    let before = reader.at;
                    parts.push(self.quoted_union(reader));
                    if reader.at == before {
                        reader.at = reader.end;
                    }
                }
            }
        }
        parts
    }

    /// A name that stands for a type by itself.
    pub(super) fn named(&mut self, name: &str, expr: u32, scope: u32) -> u32 {
        match name {
            "Self" => self.builder.expr(Op::ThisType, scope, NONE),
            _ => expr,
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128
}
