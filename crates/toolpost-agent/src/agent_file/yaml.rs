//! YAML to a tree, within bounds: bytes, depth and values, those that aliases repeat included.
//!
//! Only `true` and `false` are booleans, a key that is there twice is an error, and tags other than the plain ones are too.

use super::node::{At, Content, Key, Node};
use granit_parser::{Event, Options, Parser, ScalarStyle, Span, Tag};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The most values of one head.
const MOST_VALUES: usize = 20_000;
/// The deepest nesting.
const DEEPEST: usize = 32;

/// Why a text cannot be read, and where.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub(crate) at: At,
    pub(crate) message: String,
}

/// Reads one document. `first_line` is the line of the file that the text begins on.
pub(crate) fn parse(text: &str, first_line: usize) -> Result<Node, Fault> {
    let options = Options::default();
    let parser = Parser::new_from_str_with_options(text, options);
    let mut reader = Reader {
        events: parser,
        first_line,
        values: 0,
        anchors: HashMap::new(),
        last: At { line: first_line, column: 1 },
    };
    reader.document()
}

struct Reader<I> {
    events: I,
    first_line: usize,
    values: usize,
    /// What aliases stand for, by the number of the anchor.
    anchors: HashMap<usize, Node>,
    last: At,
}

impl<'t, I> Reader<I>
where
    I: Iterator<Item = Result<(Event<'t>, Span), granit_parser::ScanError>>,
{
    fn document(&mut self) -> Result<Node, Fault> {
        let nothing = Node { at: self.last, content: Content::Map(Vec::new()) };
        loop {
            let (event, at) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(nothing),
                Event::StreamStart | Event::DocumentStart(..) => {}
                event if is_node(&event) => {
                    let node = self.node(event, at, 0)?;
                    return self.ended(node);
                }
                _ => {}
            }
        }
    }

    /// Nothing may stand behind the document.
    fn ended(&mut self, node: Node) -> Result<Node, Fault> {
        loop {
            let (event, at) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(node),
                Event::DocumentStart(..) => return fault(at, "a second document begins here; keep one"),
                _ => {}
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'t>, At), Fault> {
        match self.events.next() {
            Some(Ok((event, span))) => {
                self.last = self.place(span.start.line(), span.start.col());
                Ok((event, self.last))
            }
            Some(Err(error)) => {
                let at = self.place(error.marker().line(), error.marker().col());
                fault(at, format!("invalid YAML: {}", error.kind()))
            }
            None => Ok((Event::StreamEnd, self.last)),
        }
    }

    fn place(&self, line: usize, column: usize) -> At {
        At { line: self.first_line + line.max(1) - 1, column: column + 1 }
    }

    fn node(&mut self, event: Event<'t>, at: At, depth: usize) -> Result<Node, Fault> {
        if depth > DEEPEST {
            return fault(at, format!("this is nested deeper than {DEEPEST} levels"));
        }
        self.count(1, at)?;
        let (content, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => (scalar(text, style, tag.as_deref(), at)?, anchor),
            Event::SequenceStart(_, anchor, tag) => {
                check_tag(tag.as_deref(), &["seq"], at)?;
                (Content::List(self.items(depth)?), anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                check_tag(tag.as_deref(), &["map"], at)?;
                (Content::Map(self.entries(depth)?), anchor)
            }
            Event::Alias(anchor) => {
                let Some(named) = self.anchors.get(&anchor).cloned() else {
                    return fault(at, "this alias stands for what contains it, or for nothing");
                };
                self.count(size(&named), at)?;
                return Ok(Node { at, ..named });
            }
            _ => return fault(at, "invalid YAML"),
        };
        let node = Node { at, content };
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn count(&mut self, more: usize, at: At) -> Result<(), Fault> {
        self.values = self.values.saturating_add(more);
        match self.values > MOST_VALUES {
            true => fault(at, format!("more than {MOST_VALUES} values, those that aliases repeat included")),
            false => Ok(()),
        }
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, Fault> {
        let mut items = Vec::new();
        loop {
            let (event, at) = self.next()?;
            match event {
                Event::SequenceEnd | Event::StreamEnd => return Ok(items),
                event if is_node(&event) => items.push(self.node(event, at, depth + 1)?),
                _ => {}
            }
        }
    }

    fn entries(&mut self, depth: usize) -> Result<Vec<(Key, Node)>, Fault> {
        let (mut entries, mut known) = (Vec::new(), HashSet::new());
        loop {
            let (event, at) = self.next()?;
            match event {
                Event::MappingEnd | Event::StreamEnd => return Ok(entries),
                event if is_node(&event) => {
                    let key = self.node(event, at, depth + 1)?;
                    let text = match key.content {
                        Content::Text(text) => text,
                        Content::Number(number) => number.to_string(),
                        Content::Boolean(is) => is.to_string(),
                        Content::Null | Content::List(_) | Content::Map(_) => {
                            return fault(
                                at,
                                "a key must be a text; put `…` with special characters in quotes",
                            );
                        }
                    };
                    if !known.insert(text.clone()) {
                        return fault(at, format!("the key `{}` is there twice; keep one", short(&text)));
                    }
                    let (event, value_at) = self.next()?;
                    let value = self.node(event, value_at, depth + 1)?;
                    entries.push((Key { at, text }, value));
                }
                _ => {}
            }
        }
    }
}

fn is_node(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) | Event::Alias(_))
}

fn size(node: &Node) -> usize {
    1 + match &node.content {
        Content::List(items) => items.iter().map(size).sum::<usize>(),
        Content::Map(entries) => entries.iter().map(|(_, node)| 1 + size(node)).sum(),
        _ => 0,
    }
}

fn fault<T>(at: At, message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { at, message: message.into() })
}

/// A text short enough for a message.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

fn check_tag(tag: Option<&Tag>, known: &[&str], at: At) -> Result<(), Fault> {
    match tag.map(ToString::to_string) {
        None => Ok(()),
        Some(tag) if known.iter().any(|known| tag.ends_with(&format!("yaml.org,2002:{known}"))) => Ok(()),
        Some(tag) => fault(at, format!("the tag `{}` is not read here; leave it out", short(&tag))),
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>, at: At) -> Result<Content, Fault> {
    check_tag(tag, &["str", "int", "float", "bool", "null"], at)?;
    let is_text = tag.is_some_and(|tag| tag.to_string().ends_with(":str"));
    match style == ScalarStyle::Plain && !is_text {
        true => Ok(plain(&text)),
        false => Ok(Content::Text(text.into_owned())),
    }
}

/// A scalar without quotes, by the core schema of YAML 1.2.
fn plain(text: &str) -> Content {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Content::Null,
        "true" | "True" | "TRUE" => return Content::Boolean(true),
        "false" | "False" | "FALSE" => return Content::Boolean(false),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_decimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // `010` is ten to one reader and eight to another: it stays a text.
    if is_decimal
        && (digits == "0" || !digits.starts_with('0'))
        && let Ok(number) = text.trim_start_matches('+').parse::<i64>()
    {
        return Content::Number(number.into());
    }
    let is_float = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && !is_decimal
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'-' | b'+'));
    if is_float
        && let Ok(number) = text.parse::<f64>()
        && let Some(number) = serde_json::Number::from_f64(number)
    {
        return Content::Number(number);
    }
    Content::Text(text.to_owned())
}
