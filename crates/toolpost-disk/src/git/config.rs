//! Reads git's configuration files, as `git-config(1)` describes them.

/// The values of one file, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    values: Vec<Value>,
}

/// One value.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    /// In lower case.
    pub(crate) section: String,
    pub(crate) subsection: Vec<u8>,
    /// In lower case.
    pub(crate) key: String,
    pub(crate) value: Vec<u8>,
}

impl Config {
    /// Reads what can be read: git itself stops at the first error and runs nothing.
    pub(crate) fn parse(text: &[u8]) -> Config {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut reader = Reader { rest: text, section: String::new(), subsection: Vec::new() };
        let mut values = Vec::new();
        while let Some(found) = reader.next() {
            values.extend(found);
        }
        Config { values }
    }

    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }

    /// The last value of a key without a subsection, which is the one that counts.
    pub(crate) fn last(&self, section: &str, key: &str) -> Option<&[u8]> {
        let is_it =
            |value: &&Value| value.section == section && value.subsection.is_empty() && value.key == key;
        self.values.iter().rev().find(is_it).map(|value| value.value.as_slice())
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    section: String,
    subsection: Vec<u8>,
}

impl Reader<'_> {
    /// The next value; an empty step for anything else; none at the end.
    fn next(&mut self) -> Option<Option<Value>> {
        let at = self.rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.rest = &self.rest[at..];
        match self.rest[0] {
            b'#' | b';' => self.skip_line(),
            b'[' => self.header(),
            first if first.is_ascii_alphabetic() => return Some(Some(self.value())),
            _ => self.skip_line(),
        }
        Some(None)
    }

    fn take(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn skip_line(&mut self) {
        while self.take().is_some_and(|byte| byte != b'\n') {}
    }

    /// `[section]`, `[section "sub"]` or the old `[section.sub]`.
    fn header(&mut self) {
        self.take();
        let (mut section, mut subsection) = (Vec::new(), Vec::new());
        let mut is_quoted = false;
        while let Some(byte) = self.take() {
            match byte {
                b'\n' => break,
                b'"' => is_quoted = !is_quoted,
                b'\\' if is_quoted => subsection.extend(self.take()),
                byte if is_quoted => subsection.push(byte),
                b']' => break,
                byte if byte.is_ascii_whitespace() => {}
                byte => section.push(byte),
            }
        }
        if let Some(dot) = section.iter().position(|byte| *byte == b'.') {
            subsection = section.split_off(dot)[1..].to_vec();
        }
        self.section = String::from_utf8_lossy(&section).to_ascii_lowercase();
        self.subsection = subsection;
    }

    fn value(&mut self) -> Value {
        let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        let end = self.rest.iter().position(|byte| !is_key(byte)).unwrap_or(self.rest.len());
        let key = String::from_utf8_lossy(&self.rest[..end]).to_ascii_lowercase();
        self.rest = &self.rest[end..];
        while self.rest.first().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            self.take();
        }
        let value = match self.rest.first() {
            Some(b'=') => {
                self.take();
                self.text()
            }
            _ => {
                self.skip_line();
                Vec::new()
            }
        };
        Value { section: self.section.clone(), subsection: self.subsection.clone(), key, value }
    }

    /// The text behind `=`, up to the end of the line or a comment.
    fn text(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        // Spaces count only where something follows.
        let mut kept = 0;
        let mut is_quoted = false;
        while let Some(byte) = self.take() {
            match byte {
                b'\n' => break,
                b'"' => {
                    is_quoted = !is_quoted;
                    kept = text.len();
                }
                b'#' | b';' if !is_quoted => {
                    self.skip_line();
                    break;
                }
                b'\\' => match self.take() {
                    Some(b'\n') => {}
                    Some(b'\r') if self.rest.first() == Some(&b'\n') => {
                        self.take();
                    }
                    Some(escaped) => {
                        text.push(match escaped {
                            b'n' => b'\n',
                            b't' => b'\t',
                            b'b' => 8,
                            other => other,
                        });
                        kept = text.len();
                    }
                    None => break,
                },
                byte if byte.is_ascii_whitespace() && !is_quoted => {
                    if !text.is_empty() {
                        text.push(byte);
                    }
                }
                byte => {
                    text.push(byte);
                    kept = text.len();
                }
            }
        }
        text.truncate(kept);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str, &str, &str)]) {
        let config = Config::parse(text.as_bytes());
        let found: Vec<(&str, String, &str, String)> = config
            .values()
            .iter()
            .map(|value| {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                (value.section.as_str(), text(&value.subsection), value.key.as_str(), text(&value.value))
            })
            .collect();
        let found: Vec<_> = found.iter().map(|(a, b, c, d)| (*a, b.as_str(), *c, d.as_str())).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn values_are_read_as_git_reads_them() {
        check("[core]\n\tbare = false\n", &[("core", "", "bare", "false")]);
        check("[Core] EDITOR = vi  -x # no\n", &[("core", "", "editor", "vi  -x")]);
        check("[filter \"A \\\" b\"]\nclean=\"x ; y\" z ; no", &[("filter", "A \" b", "clean", "x ; y z")]);
        check("[alias]\na = \"!f() {\\n  ./x; }; f\"", &[("alias", "", "a", "!f() {\n  ./x; }; f")]);
        check("[a]\nb = one \\\n  two\r\nc", &[("a", "", "b", "one   two"), ("a", "", "c", "")]);
        check("[diff.tool]\ncommand = x", &[("diff", "tool", "command", "x")]);
        check("\u{feff}# no\n;no\n[x]y=1\n[", &[("x", "", "y", "1")]);
        check("[x\ny=1\n\"\n=\\", &[("x", "", "y", "1")]);
    }

    #[test]
    fn any_bytes_are_read_to_their_end() {
        let mut state = 1u32;
        for _ in 0..5_000 {
            let text: Vec<u8> = (0..40)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    b"[]\"\\=#;\n\r\t ab.\xff-"[(state >> 16) as usize % 16]
                })
                .collect();
            Config::parse(&text);
        }
    }
}
