//! Helps the grammar where it cannot read the language: a signature on a line of its own that begins with `<` or `(`
//! needs no separator before it, `export type *` may be written, `in` and `out` may stand before a type parameter, and an
//! attribute may hold `&`. The text keeps its length, so places stay true.

/// What braces, brackets and parentheses are open.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Open {
    /// The body of an interface or an object type.
    Body,
    Other(u8),
}

struct Scan<'a> {
    source: &'a [u8],
    at: usize,
    open: Vec<Open>,
    /// The last byte that is neither space nor comment, and the one before.
    last: u8,
    /// The words since the last statement began: whether a type is being declared.
    declares: bool,
    /// Open `<` directly in a body.
    angles: u32,
    /// Whether the type parameters of a signature were just closed.
    after_parameters: bool,
    /// Whether the open `<` begins a signature.
    is_signature: bool,
    changes: Vec<(usize, u8)>,
}

/// The text with separators where the grammar needs them; none if there is nothing to change.
pub(super) fn repaired(source: &[u8]) -> Option<Vec<u8>> {
    let mut scan = Scan {
        source,
        at: 0,
        open: Vec::new(),
        last: b';',
        declares: false,
        angles: 0,
        after_parameters: false,
        is_signature: false,
        changes: Vec::new(),
    };
    scan.run();
    if scan.changes.is_empty() {
        return None;
    }
    let mut text = source.to_vec();
    for (at, byte) in scan.changes {
        text[at] = byte;
    }
    Some(text)
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut at_line_start = true;
        while let Some(&byte) = self.source.get(self.at) {
            match byte {
                b'\n' => {
                    at_line_start = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'/' if self.next() == Some(b'/') => self.skip_line(),
                b'/' if self.next() == Some(b'*') => {
                    let rest = &self.source[self.at + 2..];
                    let length = memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2);
                    self.at += 2 + length;
                }
                b'\'' | b'"' => self.skip_text(byte),
                b'`' => self.skip_template(),
                b'/' if b"(,=:[!&|?{};<>".contains(&self.last) => self.skip_regex(),
                _ if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80 => {
                    self.word();
                    at_line_start = false;
                }
                _ => {
                    self.sign(byte, at_line_start);
                    at_line_start = false;
                }
            }
        }
    }

    fn next(&self) -> Option<u8> {
        self.source.get(self.at + 1).copied()
    }

    fn skip_line(&mut self) {
        let rest = &self.source[self.at..];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    fn skip_text(&mut self, quote: u8) {
        let is_value = self.last == b'=';
        self.at += 1;
        while let Some(&byte) = self.source.get(self.at) {
            self.at += 1;
            match byte {
                // `href="?a=1&b=2"`: the grammar wants the whole name of a character after each `&` of an attribute.
                b'&' if is_value => self.changes.push((self.at - 1, b'_')),
                b'\\' => self.at += 1,
                b'\n' => break,
                _ if byte == quote => break,
                _ => {}
            }
        }
        self.last = quote;
        self.after_parameters = false;
    }

    fn skip_template(&mut self) {
        self.at += 1;
        let mut depth = 0u32;
        while let Some(&byte) = self.source.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'$' if self.source.get(self.at) == Some(&b'{') => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' if depth > 0 => depth -= 1,
                b'`' if depth == 0 => break,
                _ => {}
            }
        }
        self.last = b'`';
    }

    fn skip_regex(&mut self) {
        let mut in_class = false;
        self.at += 1;
        while let Some(&byte) = self.source.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                b'\n' => break,
                _ => {}
            }
        }
        self.last = b'/';
    }

    fn word(&mut self) {
        let start = self.at;
        while let Some(&byte) = self.source.get(self.at)
            && (byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80)
        {
            self.at += 1;
        }
        let word = &self.source[start..self.at];
        if self.is_variance(word) {
            self.changes.extend((start..self.at).map(|at| (at, b' ')));
            return;
        }
        let in_code = self.open.last() != Some(&Open::Body);
        if in_code && matches!(word, b"interface" | b"type") {
            self.declares = true;
            if word == b"type" && self.source[..start].trim_ascii_end().ends_with(b"export") {
                let rest = &self.source[self.at..];
                if rest.trim_ascii_start().first() == Some(&b'*') {
                    self.changes.extend((start..self.at).map(|at| (at, b' ')));
                }
            }
        } else if in_code
            && matches!(
                word,
                b"const" | b"let" | b"var" | b"function" | b"class" | b"return" | b"export" | b"import"
            )
        {
            self.declares = false;
        }
        self.last = b'a';
        self.after_parameters = false;
    }

    /// Whether the word that was just read is the `in` or `out` of a type parameter: a name follows in the same line.
    fn is_variance(&self, word: &[u8]) -> bool {
        if !matches!(self.last, b'<' | b',') || !matches!(word, b"in" | b"out") {
            return false;
        }
        let rest = &self.source[self.at..];
        let next = rest.trim_ascii_start();
        let is_same_line = !rest[..rest.len() - next.len()].contains(&b'\n');
        let is_part =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte >= 0x80;
        let next = &next[..next.iter().position(|byte| !is_part(byte)).unwrap_or(next.len())];
        // Otherwise `out` is a name of its own.
        let is_name =
            !matches!(next, b"" | b"as" | b"extends" | b"in" | b"instanceof" | b"is" | b"of" | b"satisfies");
        is_same_line && is_name
    }

    fn sign(&mut self, byte: u8, at_line_start: bool) {
        let in_body = self.open.last() == Some(&Open::Body);
        if in_body
            && at_line_start
            && matches!(byte, b'<' | b'(')
            && self.angles == 0
            && !self.after_parameters
            && !b"{;,|&=:<(?.[".contains(&self.last)
            && self.at > 0
            && self.source[self.at - 1].is_ascii_whitespace()
        {
            self.changes.push((self.at - 1, b';'));
            self.last = b';';
        }
        let starts_member = matches!(self.last, b';' | b'{' | b',');
        let was = self.last;
        self.last = byte;
        self.at += 1;
        self.after_parameters = false;
        match byte {
            b'{' => {
                let nested = in_body && !b")>".contains(&was);
                let is_type =
                    nested || (self.declares && (b"=|&".contains(&was) || was == b'a' || was == b'>'));
                self.open.push(if is_type { Open::Body } else { Open::Other(byte) });
                self.angles = 0;
            }
            b'(' | b'[' => self.open.push(Open::Other(byte)),
            b'}' | b')' | b']' => {
                self.open.pop();
                if byte == b'}' && self.open.is_empty() {
                    self.declares = false;
                }
            }
            b'<' if in_body => {
                self.angles += 1;
                if self.angles == 1 {
                    self.is_signature = starts_member;
                }
            }
            b'>' if in_body && was != b'=' => {
                self.angles = self.angles.saturating_sub(1);
                self.after_parameters = self.angles == 0 && self.is_signature;
            }
            _ => {}
        }
    }
}
