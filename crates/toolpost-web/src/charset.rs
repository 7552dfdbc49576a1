//! The text of a body, whatever it is encoded in: by its byte order mark, by the header, by what the page says of
//! itself, by how it looks.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use std::borrow::Cow;

/// Maximum number of bytes in which a page says what it is encoded in.
const HEAD: usize = 2048;

/// A text and the name of its encoding.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The text; what was invalid is replaced.
    pub text: String,
    /// The encoding.
    pub charset: &'static str,
    /// Whether something was invalid.
    pub has_errors: bool,
}

/// The text of a body with this content type.
pub fn decode(body: &[u8], content_type: &str) -> Decoded {
    let (encoding, body) = match Encoding::for_bom(body) {
        Some((encoding, length)) => (encoding, &body[length..]),
        None => (encoding_of(body, content_type), body),
    };
    let (text, has_errors) = encoding.decode_without_bom_handling(body);
    Decoded { text: owned(text), charset: encoding.name(), has_errors }
}

fn owned(text: Cow<'_, str>) -> String {
    // A NUL means nothing in any text, and ends strings elsewhere.
    if memchr::memchr(0, text.as_bytes()).is_some() {
        text.replace('\0', "\u{fffd}")
    } else {
        text.into_owned()
    }
}

fn encoding_of(body: &[u8], content_type: &str) -> &'static Encoding {
    let by_header = parameter(content_type, "charset").and_then(named);
    let own = by_header.or_else(|| said_by_itself(&body[..body.len().min(HEAD)]));
    let is_utf8 = || std::str::from_utf8(body).is_ok() || is_cut_utf8(body);
    match own {
        // Many pages that were saved or moved are UTF-8 and still say what they were; their bytes could hardly be so by chance.
        Some(_) if by_header.is_none() && is_wide(body) && is_utf8() => UTF_8,
        Some(encoding) => encoding,
        None => match wide(body) {
            Some(encoding) => encoding,
            None if is_utf8() => UTF_8,
            None => sniffed(body),
        },
    }
}

/// Whether there are more than a few bytes beyond ASCII.
fn is_wide(body: &[u8]) -> bool {
    body.iter().filter(|byte| **byte >= 0x80).nth(5).is_some()
}

/// Valid but for a character that the end of the body cuts.
fn is_cut_utf8(body: &[u8]) -> bool {
    std::str::from_utf8(body).is_err_and(|error| error.error_len().is_none())
}

fn named(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.trim().as_bytes())
}

/// A parameter of a header such as `text/html; charset="utf-8"`.
pub(crate) fn parameter<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    header.split(';').skip(1).find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// `<meta charset=…>`, `<meta http-equiv… content="…charset=…">` or `<?xml encoding="…"?>`.
fn said_by_itself(head: &[u8]) -> Option<&'static Encoding> {
    let head: String = head.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    let label = |from: &str| {
        let from = from.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
        let end = from.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_:.".contains(letter));
        named(&from[..end.unwrap_or(from.len())])
    };
    let found = match head.strip_prefix("<?xml") {
        Some(declaration) => {
            let declaration = &declaration[..declaration.find('>').unwrap_or(declaration.len())];
            declaration.find("encoding").and_then(|at| label(&declaration[at + 8..]))
        }
        None => None,
    };
    let found = found.or_else(|| {
        head.match_indices("<meta").find_map(|(at, _)| {
            let tag = &head[at..];
            let tag = &tag[..tag.find('>').unwrap_or(tag.len())];
            label(&tag[tag.find("charset")? + 7..])
        })
    })?;
    // Said in single bytes, it cannot be true.
    let is_wide = found == encoding_rs::UTF_16LE || found == encoding_rs::UTF_16BE;
    Some(if is_wide { UTF_8 } else { found })
}

/// UTF-16 by its zeros, which no other text has.
fn wide(body: &[u8]) -> Option<&'static Encoding> {
    let sample = &body[..body.len().min(1 << 16)];
    let zeros = |parity: usize| sample.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
    let half = sample.len() / 2;
    if half > 8 && zeros(1) * 10 > half * 7 && zeros(0) * 10 < half {
        return Some(encoding_rs::UTF_16LE);
    }
    if half > 8 && zeros(0) * 10 > half * 7 && zeros(1) * 10 < half {
        return Some(encoding_rs::UTF_16BE);
    }
    None
}

/// By how it looks: pairs of bytes that only one encoding has often.
fn sniffed(body: &[u8]) -> &'static Encoding {
    let sample = &body[..body.len().min(1 << 16)];
    let candidates = [
        encoding_rs::SHIFT_JIS,
        encoding_rs::EUC_JP,
        encoding_rs::GB18030,
        encoding_rs::BIG5,
        encoding_rs::EUC_KR,
        encoding_rs::WINDOWS_1251,
        encoding_rs::KOI8_R,
        WINDOWS_1252,
    ];
    let scored = candidates.into_iter().map(|encoding| (likelihood(sample, encoding), encoding));
    let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map_or(WINDOWS_1252, |(_, encoding)| encoding)
}

/// How much the text looks like one that people write, a number for each letter beyond ASCII.
fn likelihood(sample: &[u8], encoding: &'static Encoding) -> i64 {
    let (text, has_errors) = encoding.decode_without_bom_handling(sample);
    let mut sum = 0_i64;
    let mut before = ' ';
    for letter in text.chars() {
        sum += match letter {
            '\u{fffd}' => -40,
            '\0'..='\x7f' => 0,
            // Kana and Hangul are half of what their languages are written in, and of nothing else.
            '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}' => 6,
            // In a language that is written so, no Latin letter stands right beside most of them.
            '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{2fa1f}' if before.is_ascii_alphabetic() => -4,
            '\u{4e00}'..='\u{9fff}' => 4,
            '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff5e}' => 4,
            // Half-width kana are what other encodings look like in this one.
            '\u{ff61}'..='\u{ff9f}' => -3,
            // Small letters follow others; capitals stand at the beginning.
            'а'..='я' | 'ё' if before.is_alphabetic() || !before.is_alphanumeric() => 2,
            'А'..='Я' if before.is_lowercase() => -3,
            'А'..='Я' => 1,
            'à'..='ö' | 'ø'..='ÿ' if before.is_ascii_alphabetic() => 3,
            'À'..='Ö' | 'Ø'..='ß' if before.is_ascii_lowercase() => -2,
            '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' => -10,
            '«' | '»' | '–' | '—' | '“' | '”' | '’' | '…' | '€' | '°' | '§' => 1,
            _ => -1,
        };
        before = letter;
    }
    if has_errors { sum - 20 } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{BIG5, EUC_JP, EUC_KR, GB18030, KOI8_R, SHIFT_JIS, WINDOWS_1251};

    fn check(body: &[u8], content_type: &str, charset: &str, text: &str) {
        let decoded = decode(body, content_type);
        assert_eq!((decoded.charset, decoded.text.as_str()), (charset, text), "{content_type}");
    }

    #[test]
    fn the_encoding_is_told() {
        check("é".as_bytes(), "text/html; charset=utf-8", "UTF-8", "é");
        check(b"\xe9", "text/html; Charset=\"ISO-8859-1\"", "windows-1252", "é");
        check(b"\xef\xbb\xbf\xc3\xa9", "text/html; charset=latin1", "UTF-8", "é");
        check(b"\xff\xfeh\0i\0", "text/html", "UTF-16LE", "hi");
        check(b"<meta charset=koi8-r>\xc1", "text/html", "KOI8-R", "<meta charset=koi8-r>а");
        let equiv =
            b"<META http-equiv=Content-Type content='text/html; charset=shift_jis'>\x83\x65".as_slice();
        assert!(decode(equiv, "text/html").text.ends_with('テ'));
        check(
            b"<?xml version='1.0' encoding='windows-1251'?>\xe0",
            "",
            "windows-1251",
            "<?xml version='1.0' encoding='windows-1251'?>а",
        );
        // A wrong word of the page about itself does not spoil what is plainly UTF-8.
        check("<meta charset=latin1>日本".as_bytes(), "", "UTF-8", "<meta charset=latin1>日本");
        check("<meta charset=utf-16>a".as_bytes(), "", "UTF-8", "<meta charset=utf-16>a");
        check("a\0b".as_bytes(), "text/plain; charset=none", "UTF-8", "a\u{fffd}b");
    }

    #[test]
    fn the_encoding_is_guessed() {
        let russian = "Съешь же ещё этих мягких французских булок, да выпей чаю. Всё это известно всем.";
        let japanese = "私はガラスを食べられます。それは私を傷つけません。東京は日本の首都です。";
        let chinese = "我能吞下玻璃而不伤身体。北京是中华人民共和国的首都，位于华北平原的北部。";
        let traditional = "我能吞下玻璃而不傷身體。臺北是臺灣的首都，位於臺灣北部的臺北盆地。";
        let korean = "나는 유리를 먹을 수 있어요. 그래도 아프지 않아요. 서울은 한국의 수도입니다.";
        let german = "Die Größe der Straße überrascht; schöne Grüße aus München für alle Jäger und Köche.";
        for (encoding, text) in [
            (WINDOWS_1251, russian),
            (KOI8_R, russian),
            (SHIFT_JIS, japanese),
            (EUC_JP, japanese),
            (GB18030, chinese),
            (BIG5, traditional),
            (EUC_KR, korean),
            (WINDOWS_1252, german),
        ] {
            let (bytes, _, _) = encoding.encode(text);
            check(&bytes, "text/plain", encoding.name(), text);
        }
        let wide: Vec<u8> = "plain words in two bytes".encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(&wide, "", "UTF-16LE", "plain words in two bytes");
    }
}
