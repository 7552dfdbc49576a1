//! HTML as a sequence of tags and texts. Takes each byte once; what is broken is read as browsers read it, or as text.

use super::entity::{Place, decode_into};
use super::tag::Tag;
use super::tree::Attribute;

/// Maximum number of bytes of an attribute that are kept.
const LONGEST_VALUE: usize = 8192;
/// Maximum number of attributes of an element that are kept.
const MOST_ATTRIBUTES: usize = 64;

/// A piece of a page.
#[derive(Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// Text, its references not yet replaced.
    Text(&'a str),
    /// Text in which nothing is a reference.
    Raw(&'a str),
    Start {
        tag: Tag,
        is_closed: bool,
    },
    End(Tag),
}

pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// An element whose content is text.
    raw: Option<(Tag, &'a str)>,
    /// Those of the last start tag.
    pub(super) attributes: Vec<(Attribute, String)>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Tokens<'a> {
        Tokens { text, at: 0, raw: None, attributes: Vec::new() }
    }

    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        if let Some((tag, name)) = self.raw.take() {
            return Some(self.raw_text(tag, name));
        }
        loop {
            let rest = &self.text[self.at..];
            if rest.is_empty() {
                return None;
            }
            // A `<` that begins no tag is text, and what follows it too.
            let mut end = 0;
            loop {
                end += memchr::memchr(b'<', &rest.as_bytes()[end..]).unwrap_or(rest.len() - end);
                match rest.as_bytes().get(end + 1) {
                    Some(b'a'..=b'z' | b'A'..=b'Z' | b'/' | b'!' | b'?') => break,
                    Some(_) => end += 1,
                    None => {
                        end = rest.len();
                        break;
                    }
                }
            }
            if end > 0 {
                self.at += end;
                return Some(Token::Text(&rest[..end]));
            }
            if let Some(token) = self.markup(rest) {
                return Some(token);
            }
        }
    }

    /// What begins with `<`; none for a comment and the like, which is stepped over.
    fn markup(&mut self, rest: &'a str) -> Option<Token<'a>> {
        let bytes = rest.as_bytes();
        let close =
            |from: usize| memchr::memchr(b'>', &bytes[from..]).map_or(bytes.len(), |at| from + at + 1);
        match bytes[1] {
            b'!' if rest.starts_with("<!--") => {
                self.at += comment_end(rest);
                None
            }
            b'!' if rest.starts_with("<![CDATA[") => {
                let end = memchr::memmem::find(bytes, b"]]>");
                self.at += end.map_or(rest.len(), |end| end + 3);
                Some(Token::Raw(&rest[9..end.unwrap_or(rest.len())]))
            }
            b'!' | b'?' => {
                self.at += close(2);
                None
            }
            b'/' => {
                let name = name(&bytes[2..]);
                self.at += close(2);
                let is_name = name.first().is_some_and(u8::is_ascii_alphabetic);
                is_name.then(|| Token::End(Tag::named(&name.to_ascii_lowercase())))
            }
            _ => Some(self.start(rest)),
        }
    }

    fn start(&mut self, rest: &'a str) -> Token<'a> {
        let bytes = rest.as_bytes();
        let found = name(&bytes[1..]);
        let name_end = 1 + found.len();
        let tag = Tag::named(&found.to_ascii_lowercase());
        self.attributes.clear();
        let (end, is_closed) = self.read_attributes(rest, name_end);
        self.at += end;
        if tag.is_raw() && !is_closed {
            self.raw = Some((tag, &rest[1..name_end]));
        }
        Token::Start { tag, is_closed }
    }

    /// Reads to the end of the tag. Returns where it ends and whether it ends with `/>`.
    fn read_attributes(&mut self, rest: &str, mut at: usize) -> (usize, bool) {
        let bytes = rest.as_bytes();
        let mut is_closed = false;
        loop {
            while bytes.get(at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/') {
                is_closed = bytes[at] == b'/';
                at += 1;
            }
            match bytes.get(at) {
                None => return (bytes.len(), false),
                Some(b'>') => return (at + 1, is_closed),
                Some(_) => {}
            }
            is_closed = false;
            // A name may begin with `=`.
            let begin = at;
            at += 1;
            while bytes.get(at).is_some_and(|byte| !byte.is_ascii_whitespace() && !b"/>=".contains(byte)) {
                at += 1;
            }
            let key = &bytes[begin..at];
            let mut next = at;
            while bytes.get(next).is_some_and(u8::is_ascii_whitespace) {
                next += 1;
            }
            let mut value = "";
            if bytes.get(next) == Some(&b'=') {
                next += 1;
                while bytes.get(next).is_some_and(u8::is_ascii_whitespace) {
                    next += 1;
                }
                let (from, to, end) = match bytes.get(next) {
                    Some(quote @ (b'"' | b'\'')) => {
                        let from = next + 1;
                        let length = memchr::memchr(*quote, &bytes[from..]).unwrap_or(bytes.len() - from);
                        (from, from + length, (from + length + 1).min(bytes.len()))
                    }
                    _ => {
                        let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>';
                        let length = bytes[next..].iter().position(is_end).unwrap_or(bytes.len() - next);
                        (next, next + length, next + length)
                    }
                };
                value = &rest[from..to];
                at = end;
            }
            self.keep(key, value);
        }
    }

    fn keep(&mut self, key: &[u8], value: &str) {
        let Some(attribute) = Attribute::named(key) else { return };
        let is_known = self.attributes.iter().any(|(known, _)| *known == attribute);
        if is_known || self.attributes.len() >= MOST_ATTRIBUTES {
            return;
        }
        let value = &value[..value.floor_char_boundary(LONGEST_VALUE)];
        let mut decoded = String::with_capacity(value.len());
        decode_into(value, Place::Value, &mut decoded);
        self.attributes.push((attribute, decoded));
    }

    /// Everything up to the end tag of the element.
    fn raw_text(&mut self, tag: Tag, name: &str) -> Token<'a> {
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        let is_end = |at: &usize| {
            let after = &bytes[*at + 2..];
            after.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
                && after.get(name.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric())
        };
        let end = match tag {
            Tag::Plaintext => None,
            _ => memchr::memmem::find_iter(bytes, b"</").find(is_end),
        };
        let end = end.unwrap_or(rest.len());
        self.at += end;
        if tag.is_escapable_raw() { Token::Text(&rest[..end]) } else { Token::Raw(&rest[..end]) }
    }
}

fn name(bytes: &[u8]) -> &[u8] {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'/' || *byte == b'>';
    &bytes[..bytes.iter().position(is_end).unwrap_or(bytes.len())]
}

/// Where a comment ends; browsers accept several ways.
fn comment_end(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    if let Some(short) = ["<!-->", "<!--->"].into_iter().find(|short| rest.starts_with(short)) {
        return short.len();
    }
    let ends = memchr::memmem::find_iter(&bytes[4..], b"--");
    for end in ends {
        match &bytes[4 + end + 2..] {
            [b'>', ..] => return 4 + end + 3,
            [b'!', b'>', ..] => return 4 + end + 4,
            // `--->` too.
            [b'-', b'>', ..] => return 4 + end + 4,
            _ => {}
        }
    }
    rest.len()
}
