//! Patterns: the dialect of ECMA-262 that JSON Schema means, on an engine that takes linear time.
//!
//! Look-around and back-references cannot be had in linear time, and are refused.

use regex_automata::meta::{Config, Regex};
use std::iter::Peekable;
use std::str::Chars;

/// Maximum memory of a compiled pattern, in bytes; the same for its cache.
const SIZE_LIMIT: usize = 1 << 20;

const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
const SPACE: &str =
    r"\t\n\x0B\x0C\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";

/// A compiled pattern.
pub(crate) struct Pattern {
    source: Box<str>,
    regex: Regex,
}

impl Pattern {
    /// Compiles a pattern; an error says what is wrong with it.
    pub(crate) fn compile(source: &str) -> Result<Pattern, String> {
        let translated = Translation::of(source)?;
        let config = Config::new()
            .nfa_size_limit(Some(SIZE_LIMIT))
            .hybrid_cache_capacity(SIZE_LIMIT)
            .onepass(false)
            .dfa(false);
        match Regex::builder().configure(config).build(&translated) {
            Ok(regex) => Ok(Pattern { source: source.into(), regex }),
            Err(error) if error.size_limit().is_some() => {
                Err(format!("it takes more than {SIZE_LIMIT} bytes when compiled; use smaller repetitions"))
            }
            Err(error) => Err(reason(&error)),
        }
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// Why the engine refuses a pattern, in one line.
fn reason(error: &regex_automata::meta::BuildError) -> String {
    let text = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
    let last = text.lines().last().unwrap_or("it is not a regular expression");
    last.trim_start_matches("error: ").to_owned()
}

/// Rewrites what the two dialects read differently.
struct Translation<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
}

impl<'a> Translation<'a> {
    fn of(source: &'a str) -> Result<String, String> {
        let mut translation = Translation { rest: source.chars().peekable(), out: String::new() };
        while let Some(next) = translation.rest.next() {
            translation.one(next)?;
        }
        Ok(translation.out)
    }

    /// One character outside of brackets.
    fn one(&mut self, next: char) -> Result<(), String> {
        match next {
            '\\' => self.escape()?,
            '[' => self.class()?,
            '(' => self.group()?,
            '.' => self.out.push_str(r"[^\n\r\u{2028}\u{2029}]"),
            '{' if !self.is_repetition() => self.out.push_str(r"\{"),
            other => self.out.push(other),
        }
        Ok(())
    }

    /// Whether a `{` begins a number of repetitions.
    fn is_repetition(&self) -> bool {
        let inside: String = self.rest.clone().take_while(|next| *next != '}').take(24).collect();
        let is_closed = self.rest.clone().nth(inside.chars().count()) == Some('}');
        let (least, most) = inside.split_once(',').unwrap_or((&inside, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        is_closed && !least.is_empty() && is_number(least) && is_number(most)
    }

    fn group(&mut self) -> Result<(), String> {
        let head: String = self.rest.clone().take(3).collect();
        let is_around = head.starts_with("?=") || head.starts_with("?!") || head == "?<=" || head == "?<!";
        if is_around {
            return Err(format!("look-around such as `({head}` is not supported; say it without"));
        }
        self.out.push('(');
        Ok(())
    }

    /// An escape outside of brackets.
    fn escape(&mut self) -> Result<(), String> {
        let Some(next) = self.rest.next() else { return Err("it ends with a lone `\\`".to_owned()) };
        match next {
            'd' => self.out.push_str(&format!("[{DIGIT}]")),
            'D' => self.out.push_str(&format!("[^{DIGIT}]")),
            'w' => self.out.push_str(&format!("[{WORD}]")),
            'W' => self.out.push_str(&format!("[^{WORD}]")),
            's' => self.out.push_str(&format!("[{SPACE}]")),
            'S' => self.out.push_str(&format!("[^{SPACE}]")),
            'b' => self.out.push_str(r"(?-u:\b)"),
            'B' => self.out.push_str(r"(?-u:\B)"),
            // The ends of a text, as Python and others write them.
            'A' => self.out.push_str(r"\A"),
            'Z' | 'z' => self.out.push_str(r"\z"),
            '1'..='9' => {
                return Err(format!("the back-reference `\\{next}` is not supported; say it without"));
            }
            'k' => return Err("the back-reference `\\k` is not supported; say it without".to_owned()),
            other => self.shared_escape(other)?,
        }
        Ok(())
    }

    /// An escape that means the same inside and outside of brackets.
    fn shared_escape(&mut self, next: char) -> Result<(), String> {
        match next {
            't' => self.literal('\t'),
            'n' => self.literal('\n'),
            'v' => self.literal('\u{B}'),
            'f' => self.literal('\u{C}'),
            'r' => self.literal('\r'),
            '0' => self.literal('\0'),
            'c' => match self.rest.next() {
                Some(letter) if letter.is_ascii_alphabetic() => {
                    self.literal(char::from(letter as u8 % 32));
                }
                _ => return Err("`\\c` must be followed by a letter".to_owned()),
            },
            'x' => {
                let code = self.hex(2)?;
                self.code_point(code)?;
            }
            'u' => {
                let code = self.unicode()?;
                self.code_point(code)?;
            }
            'p' | 'P' => self.property(next),
            other if other.is_ascii_alphanumeric() => {
                return Err(format!("`\\{other}` is not an escape of ECMA-262"));
            }
            other => self.literal(other),
        }
        Ok(())
    }

    /// A property of Unicode, with its name in braces.
    fn property(&mut self, kind: char) {
        self.out.push('\\');
        self.out.push(kind);
        if self.rest.peek() == Some(&'{') {
            let name = std::iter::from_fn(|| self.rest.next_if(|next| *next != '}'));
            self.out.extend(name);
            self.out.extend(self.rest.next());
        }
    }

    /// The code point after `\u`: four digits, a pair of them, or any number in braces.
    fn unicode(&mut self) -> Result<u32, String> {
        if self.rest.next_if_eq(&'{').is_some() {
            let digits: String = std::iter::from_fn(|| self.rest.next_if(|next| *next != '}')).collect();
            self.rest.next();
            return u32::from_str_radix(&digits, 16)
                .map_err(|_| format!("`\\u{{{digits}}}` is not a character"));
        }
        let high = self.hex(4)?;
        let is_pair = (0xD800..0xDC00).contains(&high) && self.rest.clone().take(2).eq("\\u".chars());
        if !is_pair {
            return Ok(high);
        }
        self.rest.nth(1);
        let low = self.hex(4)?;
        Ok(0x10000 + ((high - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF))
    }

    fn hex(&mut self, count: usize) -> Result<u32, String> {
        let digits: String = self.rest.by_ref().take(count).collect();
        let is_hex = digits.len() == count && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u32::from_str_radix(&digits, 16)
            .ok()
            .filter(|_| is_hex)
            .ok_or_else(|| format!("`{digits}` should be {count} hexadecimal digits"))
    }

    fn code_point(&mut self, code: u32) -> Result<(), String> {
        let character = char::from_u32(code).ok_or_else(|| format!("U+{code:X} is not a character"))?;
        self.literal(character);
        Ok(())
    }

    /// A character that means itself.
    fn literal(&mut self, character: char) {
        if character.is_ascii_alphanumeric() || !character.is_ascii() {
            self.out.push(character);
        } else {
            self.out.push_str(&format!("\\x{:02X}", character as u32));
        }
    }

    /// What stands in brackets, whose set operations and inner brackets ECMA-262 does not have.
    fn class(&mut self) -> Result<(), String> {
        let is_negated = self.rest.next_if_eq(&'^').is_some();
        if self.rest.next_if_eq(&']').is_some() {
            self.out.push_str(if is_negated { r"(?s:.)" } else { r"[^\x00-\u{10FFFF}]" });
            return Ok(());
        }
        self.out.push_str(if is_negated { "[^" } else { "[" });
        // Whether the last item was one character, which a `-` makes the start of a range.
        let mut can_start_range = false;
        loop {
            let Some(next) = self.rest.next() else { return Err("a `[` is not closed".to_owned()) };
            match next {
                ']' => break,
                '-' if can_start_range && self.ends_range() => {
                    self.out.push('-');
                    let Some(end) = self.rest.next() else { return Err("a `[` is not closed".to_owned()) };
                    self.class_item(end)?;
                    can_start_range = false;
                }
                other => can_start_range = self.class_item(other)?,
            }
        }
        self.out.push(']');
        Ok(())
    }

    /// Whether what comes after a `-` can be the end of a range: one character.
    fn ends_range(&self) -> bool {
        let mut ahead = self.rest.clone();
        match ahead.next() {
            None | Some(']') => false,
            Some('\\') => !matches!(ahead.next(), Some('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'p' | 'P')),
            Some(_) => true,
        }
    }

    /// One item in brackets; whether it is a single character.
    fn class_item(&mut self, next: char) -> Result<bool, String> {
        if next != '\\' {
            self.literal(next);
            return Ok(true);
        }
        let Some(escaped) = self.rest.next() else { return Err("it ends with a lone `\\`".to_owned()) };
        match escaped {
            'd' => self.out.push_str(DIGIT),
            'D' => self.out.push_str(&format!("[^{DIGIT}]")),
            'w' => self.out.push_str(WORD),
            'W' => self.out.push_str(&format!("[^{WORD}]")),
            's' => self.out.push_str(SPACE),
            'S' => self.out.push_str(&format!("[^{SPACE}]")),
            'p' | 'P' => self.property(escaped),
            'b' => {
                self.literal('\u{8}');
                return Ok(true);
            }
            other => {
                self.shared_escape(other)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}
