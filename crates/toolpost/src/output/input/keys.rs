//! Keys, from the bytes that a terminal sends for them.

/// A key, or what was pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Letter(char),
    /// A text that came at once, with its lines.
    Paste(String),
    Enter,
    /// A new line inside of a text: alt-enter, or ctrl-j.
    NewLine,
    Left,
    Right,
    WordLeft,
    WordRight,
    Up,
    Down,
    Home,
    End,
    Backspace,
    Delete,
    /// Deletes to the end of the line.
    CutRight,
    /// Deletes to the beginning of the line.
    CutLeft,
    /// Deletes the word before the cursor.
    CutWord,
    /// Puts back what was deleted last.
    PutBack,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    EndOfInput,
    /// Ctrl-L.
    Redraw,
    /// Ctrl-Z.
    Suspend,
}

const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";
/// Maximum number of bytes of an escape sequence; a longer one is none.
const LONGEST_SEQUENCE: usize = 32;

/// Reads keys out of bytes, however they are cut.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Bytes that are not a whole key yet.
    held: Vec<u8>,
    /// What was pasted so far; none outside of a paste.
    pasted: Option<Vec<u8>>,
}

/// What the first bytes are.
enum Found {
    /// A key, of so many bytes.
    Key(Key, usize),
    /// Nothing that means anything, of so many bytes.
    Nothing(usize),
    /// The beginning of a paste, of so many bytes.
    Paste(usize),
    /// Not whole.
    More,
}

impl Keys {
    /// The keys that are whole with these bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.held.extend_from_slice(bytes);
        let mut keys = Vec::new();
        loop {
            if self.pasted.is_some() {
                match self.paste() {
                    Some(key) => keys.push(key),
                    None => return keys,
                }
            }
            match found(&self.held) {
                Found::Key(key, length) => {
                    self.held.drain(..length);
                    keys.push(key);
                }
                Found::Nothing(length) => drop(self.held.drain(..length)),
                Found::Paste(length) => {
                    self.held.drain(..length);
                    self.pasted = Some(Vec::new());
                }
                Found::More => return keys,
            }
        }
    }

    /// Whether a key has begun that may be whole already: the escape key sends the first byte of others.
    pub(super) fn is_held(&self) -> bool {
        self.pasted.is_none() && !self.held.is_empty()
    }

    /// Nothing more came: what has begun is no key that we know.
    pub(super) fn forget(&mut self) {
        if self.pasted.is_none() {
            self.held.clear();
        }
    }

    /// Whether something is being pasted.
    pub(super) fn is_pasting(&self) -> bool {
        self.pasted.is_some()
    }

    /// Ends a paste whose end does not come. What has come of it is there.
    pub(super) fn end_paste(&mut self) -> Option<Key> {
        let rest = std::mem::take(&mut self.held);
        let pasted = [self.pasted.take()?, rest].concat();
        Some(Key::Paste(text_of(&pasted)))
    }

    /// What was pasted, once its end has come.
    fn paste(&mut self) -> Option<Key> {
        let pasted = self.pasted.get_or_insert_default();
        let end = self.held.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS);
        match end {
            Some(end) => {
                pasted.extend(self.held.drain(..end));
                self.held.drain(..PASTE_ENDS.len());
                let text = text_of(pasted);
                self.pasted = None;
                Some(Key::Paste(text))
            }
            None => {
                // The end may be cut in two.
                let kept = self.held.len().saturating_sub(PASTE_ENDS.len() - 1);
                pasted.extend(self.held.drain(..kept));
                None
            }
        }
    }
}

/// The text of what was pasted; terminals end its lines in each way there is.
fn text_of(pasted: &[u8]) -> String {
    String::from_utf8_lossy(pasted).replace("\r\n", "\n").replace('\r', "\n")
}

fn found(bytes: &[u8]) -> Found {
    let Some(first) = bytes.first() else { return Found::More };
    let key = match first {
        b'\x1b' => return escaped(bytes),
        b'\r' => Key::Enter,
        b'\n' => Key::NewLine,
        0x7f | 0x08 => Key::Backspace,
        0x01 => Key::Home,
        0x02 => Key::Left,
        0x03 => Key::Interrupt,
        0x04 => Key::EndOfInput,
        0x05 => Key::End,
        0x06 => Key::Right,
        0x0b => Key::CutRight,
        0x0c => Key::Redraw,
        0x0e => Key::Down,
        0x10 => Key::Up,
        0x15 => Key::CutLeft,
        0x17 => Key::CutWord,
        0x19 => Key::PutBack,
        0x1a => Key::Suspend,
        b'\t' => Key::Letter('\t'),
        0x00..=0x1f => return Found::Nothing(1),
        _ => return letter(bytes),
    };
    Found::Key(key, 1)
}

/// A letter in UTF-8.
fn letter(bytes: &[u8]) -> Found {
    let length = match bytes[0] {
        0x00..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Found::Nothing(1),
    };
    let Some(bytes) = bytes.get(..length) else { return Found::More };
    match std::str::from_utf8(bytes).ok().and_then(|text| text.chars().next()) {
        Some(letter) => Found::Key(Key::Letter(letter), length),
        None => Found::Nothing(1),
    }
}

/// What begins with an escape.
fn escaped(bytes: &[u8]) -> Found {
    if bytes.starts_with(PASTE_BEGINS) {
        return Found::Paste(PASTE_BEGINS.len());
    }
    match bytes.get(1) {
        None => Found::More,
        Some(b'\r' | b'\n') => Found::Key(Key::NewLine, 2),
        Some(b'b') => Found::Key(Key::WordLeft, 2),
        Some(b'f') => Found::Key(Key::WordRight, 2),
        Some(0x7f | 0x08) => Found::Key(Key::CutWord, 2),
        Some(b'O') => match bytes.get(2) {
            None => Found::More,
            Some(last) => with_last(*last, false).map_or(Found::Nothing(3), |key| Found::Key(key, 3)),
        },
        Some(b'[') => {
            let is_last = |byte: &u8| (0x40..=0x7e).contains(byte);
            let Some(end) = bytes.iter().skip(2).position(is_last) else {
                return if bytes.len() > LONGEST_SEQUENCE {
                    Found::Nothing(bytes.len())
                } else {
                    Found::More
                };
            };
            let (length, parameters) = (end + 3, &bytes[2..end + 2]);
            let has_modifier = parameters.contains(&b';');
            let key = match (bytes[end + 2], parameters) {
                (b'~', b"1" | b"7") => Some(Key::Home),
                (b'~', b"4" | b"8") => Some(Key::End),
                (b'~', b"3") => Some(Key::Delete),
                // Alt-enter and shift-enter, where the terminal tells them apart.
                (b'u', b"13;2" | b"13;3") => Some(Key::NewLine),
                (b'~', b"27;2;13" | b"27;3;13") => Some(Key::NewLine),
                (last, _) => with_last(last, has_modifier),
            };
            key.map_or(Found::Nothing(length), |key| Found::Key(key, length))
        }
        // The escape key alone, before another key.
        Some(0x00..=0x1f) => Found::Nothing(1),
        // Alt with a letter means nothing.
        Some(_) => Found::Nothing(2),
    }
}

/// The keys that have a letter of their own. With a modifier, the arrows go over words.
fn with_last(last: u8, has_modifier: bool) -> Option<Key> {
    Some(match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' if has_modifier => Key::WordRight,
        b'C' => Key::Right,
        b'D' if has_modifier => Key::WordLeft,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same keys come out however the bytes are cut.
    fn check(bytes: &[u8], expected: &[Key]) {
        for size in 1..=bytes.len() {
            let mut keys = Keys::default();
            let found: Vec<Key> = bytes.chunks(size).flat_map(|chunk| keys.push(chunk)).collect();
            assert_eq!(found, expected, "in pieces of {size}");
            assert!(!keys.is_held(), "in pieces of {size}");
        }
    }

    #[test]
    fn bytes_become_keys() {
        check(b"a\r", &[Key::Letter('a'), Key::Enter]);
        check("ä漢😀".as_bytes(), &[Key::Letter('ä'), Key::Letter('漢'), Key::Letter('😀')]);
        check(b"\x1b[A\x1bOB\x1b[1;5C\x1b[D", &[Key::Up, Key::Down, Key::WordRight, Key::Left]);
        check(b"\x1b[H\x1b[4~\x1b[3~", &[Key::Home, Key::End, Key::Delete]);
        check(
            b"\x01\x05\x0b\x15\x17\x7f",
            &[Key::Home, Key::End, Key::CutRight, Key::CutLeft, Key::CutWord, Key::Backspace],
        );
        check(b"\x1b\r\n\x1b[13;2u", &[Key::NewLine, Key::NewLine, Key::NewLine]);
        check(b"\x03\x04", &[Key::Interrupt, Key::EndOfInput]);
        check(b"\x1b\x1b[A\x1b\x03\x1b\x1bOB", &[Key::Up, Key::Interrupt, Key::Down]);
        // What means nothing is left out.
        check(b"\x1b[99~x\x1bqy\xffz\x1b[?1;2c", &[Key::Letter('x'), Key::Letter('y'), Key::Letter('z')]);
    }

    #[test]
    fn what_is_pasted_comes_at_once() {
        let lines: String = (0..200).map(|number| format!("line {number}\r")).collect();
        let bytes = format!("a\x1b[200~{lines}\x1b[201~b");
        let text = lines.replace('\r', "\n");
        check(bytes.as_bytes(), &[Key::Letter('a'), Key::Paste(text), Key::Letter('b')]);
        // Keys inside of a paste are text.
        check(b"\x1b[200~\x03\x1b[A\x1b[201~", &[Key::Paste("\x03\x1b[A".to_owned())]);
    }

    #[test]
    fn a_paste_without_an_end_can_be_ended() {
        let mut keys = Keys::default();
        assert_eq!(keys.push(b"\x1b[200~one\rtwo\x1b[20"), []);
        assert!(keys.is_pasting());
        assert_eq!(keys.end_paste(), Some(Key::Paste("one\ntwo\x1b[20".to_owned())));
        assert_eq!(keys.push(b"\x03"), [Key::Interrupt]);
        assert_eq!(keys.end_paste(), None);
    }

    #[test]
    fn the_escape_key_alone_is_let_go() {
        let mut keys = Keys::default();
        assert_eq!(keys.push(b"\x1b"), []);
        assert!(keys.is_held());
        keys.forget();
        assert_eq!(keys.push(b"[A"), [Key::Letter('['), Key::Letter('A')]);
    }
}
