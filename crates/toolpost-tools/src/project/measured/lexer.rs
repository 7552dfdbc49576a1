//! Code without its comments and literals, for measuring: a light reading that is right for nearly every line, and where it
//! is not, wrong for one line only.

/// How a language writes what is no code.
struct Syntax {
    line: &'static [&'static str],
    block: Option<(&'static str, &'static str)>,
    /// Whether `'` begins a text, and not a character or a lifetime.
    single_is_text: bool,
    triple: bool,
    backtick: bool,
}

const C_LIKE: Syntax = Syntax {
    line: &["//"],
    block: Some(("/*", "*/")),
    single_is_text: false,
    triple: false,
    backtick: false,
};

fn syntax_of(language: &str) -> Syntax {
    match language {
        "Python" => Syntax { line: &["#"], block: None, single_is_text: true, triple: true, ..C_LIKE },
        "TypeScript" | "JavaScript" | "Vue" | "Svelte" => {
            Syntax { single_is_text: true, backtick: true, ..C_LIKE }
        }
        "Go" => Syntax { backtick: true, ..C_LIKE },
        "PHP" => Syntax { line: &["//", "#"], single_is_text: true, ..C_LIKE },
        "Dart" => Syntax { single_is_text: true, ..C_LIKE },
        "Ruby" | "Shell" | "Elixir" | "R" | "Julia" | "Perl" | "Crystal" | "Nix" => {
            Syntax { line: &["#"], block: None, single_is_text: true, ..C_LIKE }
        }
        "Lua" | "SQL" | "Haskell" => Syntax { line: &["--"], block: None, single_is_text: true, ..C_LIKE },
        _ => C_LIKE,
    }
}

/// What is left of a text.
pub(super) struct Lexed {
    /// The code, every other byte a space; lines stay where they are.
    pub(super) code: String,
    /// Texts in `'`, and in `"`.
    pub(super) single: usize,
    pub(super) double: usize,
}

/// Reads a text.
pub(super) fn lexed(language: &str, text: &str) -> Lexed {
    let syntax = syntax_of(language);
    let bytes = text.as_bytes();
    let mut code: Vec<u8> = Vec::with_capacity(bytes.len());
    let (mut single, mut double, mut at) = (0, 0, 0);
    // Covers everything up to a position; line ends stay.
    let cover = |code: &mut Vec<u8>, from: usize, to: usize| {
        code.extend(bytes[from..to].iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }));
    };
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end =
            if let Some((open, close)) = syntax.block.filter(|(open, _)| rest.starts_with(open.as_bytes())) {
                at + open.len()
                    + find(&rest[open.len()..], close.as_bytes())
                        .map_or(rest.len() - open.len(), |end| end + close.len())
            } else if syntax.line.iter().any(|mark| rest.starts_with(mark.as_bytes())) {
                at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
            } else if syntax.triple && (rest.starts_with(b"\"\"\"") || rest.starts_with(b"'''")) {
                at + 3 + find(&rest[3..], &rest[..3]).map_or(rest.len() - 3, |end| end + 3)
            } else if language == "Rust" && is_raw(bytes, at) {
                at + raw_end(rest)
            } else {
                match rest[0] {
                    b'"' => {
                        double += 1;
                        at + text_end(rest, b'"', language == "Rust")
                    }
                    b'\'' if syntax.single_is_text => {
                        single += 1;
                        at + text_end(rest, b'\'', false)
                    }
                    b'\'' => at + character_end(rest),
                    b'`' if syntax.backtick => at + text_end(rest, b'`', true),
                    byte => {
                        code.push(byte);
                        at += 1;
                        continue;
                    }
                }
            };
        let end = end.clamp(at + 1, bytes.len());
        cover(&mut code, at, end);
        at = end;
    }
    Lexed { code: String::from_utf8_lossy(&code).into_owned(), single, double }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, wanted)
}

/// The end of a text in quotes; unless it may go over lines, it ends at the end of its line.
fn text_end(bytes: &[u8], quote: u8, over_lines: bool) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' if !over_lines => return at,
            byte if *byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// The end of a character such as `'x'`; of a lifetime only its quote.
fn character_end(bytes: &[u8]) -> usize {
    if bytes.get(1) == Some(&b'\\') {
        return bytes.iter().take(12).skip(3).position(|byte| *byte == b'\'').map_or(1, |end| end + 4);
    }
    // A character has at most four bytes.
    bytes.iter().take(6).skip(2).position(|byte| *byte == b'\'').map_or(1, |end| match end {
        0 => 3,
        // More than one byte in ASCII is a lifetime followed by another quote.
        more if bytes[1] >= 0x80 => more + 3,
        _ => 1,
    })
}

/// Whether a raw text of Rust begins here: `r"`, `r#"`, `br"`.
fn is_raw(bytes: &[u8], at: usize) -> bool {
    let is_inside = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    let rest = &bytes[at..];
    let rest = rest.strip_prefix(b"b").unwrap_or(rest);
    let Some(rest) = rest.strip_prefix(b"r").filter(|_| !is_inside) else { return false };
    rest.iter().find(|byte| **byte != b'#') == Some(&b'"')
}

fn raw_end(bytes: &[u8]) -> usize {
    let start = bytes.iter().position(|byte| *byte == b'"').unwrap_or_default();
    let hashes = bytes[..start].iter().filter(|byte| **byte == b'#').count();
    let close: Vec<u8> = [b'"'].into_iter().chain(std::iter::repeat_n(b'#', hashes)).collect();
    find(&bytes[start + 1..], &close).map_or(bytes.len(), |end| start + 1 + end + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: &str, text: &str, expected: &str) {
        let code = lexed(language, text).code;
        let squeezed: Vec<&str> = code.split_whitespace().collect();
        assert_eq!(squeezed.join(" "), expected, "{language}: {text}");
        assert_eq!(code.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn comments_and_literals_are_covered() {
        check("Rust", "a // b\nc /* d\n*/ e \"f // g\" h", "a c e h");
        check(
            "Rust",
            "fn f<'a>(x: &'a str) { 'x'; '\\n'; r#\"a \" b\"#; y }",
            "fn f< a>(x: & a str) { ; ; ; y }",
        );
        check("Python", "a = 'b' # c\n\"\"\"d\ne\"\"\"\nf", "a = f");
        check("TypeScript", "const a = `b ${c}\nd`; // e\nf('g')", "const a = ; f( )");
        check("Go", "a := `b\nc` // d\n'e'", "a :=");
        check("Python", "a = 'never closed\nb", "a = b");
        check("Rust", "\"never closed \\", "");
    }

    #[test]
    fn quotes_are_counted() {
        let lexed = lexed("Python", "a = 'b' + \"c\" + 'd' # 'e'");
        assert_eq!((lexed.single, lexed.double), (2, 1));
    }
}
