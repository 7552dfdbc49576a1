//! Text for a person: characters that cannot be seen, or that change what is seen, shown by their codes.
//!
//! For questions and terminals only. A model gets every text as it is: what it sends back must match.

use std::borrow::Cow;

/// The text with every hidden character as its code, such as `\u{202e}`. Line breaks and tabs stay.
///
/// Hidden are control characters, marks that change the direction of text, characters without width, tags, and
/// variation selectors and joiners that belong to no emoji.
///
/// ```
/// assert_eq!(toolpost_text::visible("rm\u{200b} a\u{202e}txt.exe\n"), "rm\\u{200b} a\\u{202e}txt.exe\n");
/// assert_eq!(toolpost_text::visible("ä ❤\u{fe0f}"), "ä ❤\u{fe0f}");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    shown(text, |hidden, shown| shown.extend(hidden.escape_unicode()))
}

/// The text with every hidden character as `show` writes it.
pub fn shown(text: &str, show: impl Fn(char, &mut String)) -> Cow<'_, str> {
    // Almost every text is plain.
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len());
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match is_hidden(letter) && !belongs_to_emoji(before, letter, letters.peek().copied()) {
            true => show(letter, &mut result),
            false => result.push(letter),
        }
        before = Some(letter);
    }
    if result == text { Cow::Borrowed(text) } else { Cow::Owned(result) }
}

fn is_hidden(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        letter if letter.is_control() => true,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        // Spaces that look like the one between words, and are letters to a shell.
        | '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{3000}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Whether a selector of style, or a joiner, stands where emoji have one.
fn belongs_to_emoji(before: Option<char>, letter: char, after: Option<char>) -> bool {
    let is_picture = |letter: char| {
        matches!(letter, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
            | '\u{2190}'..='\u{27bf}' | '\u{2900}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
            | '\u{1f000}'..='\u{1faff}')
    };
    let follows_picture = before.is_some_and(is_picture);
    match letter {
        '\u{fe0e}' | '\u{fe0f}' => follows_picture || before.is_some_and(|one| "#*0123456789".contains(one)),
        '\u{200d}' => (follows_picture || before == Some('\u{fe0f}')) && after.is_some_and(is_picture),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_turns_is_shown_by_its_code() {
        for hidden in [
            '\0',
            '\x07',
            '\x1b',
            '\r',
            '\x7f',
            '\u{80}',
            '\u{9b}',
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{180e}',
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{200e}',
            '\u{200f}',
            '\u{2028}',
            '\u{2029}',
            '\u{202a}',
            '\u{202b}',
            '\u{202c}',
            '\u{202d}',
            '\u{202e}',
            '\u{2060}',
            '\u{2063}',
            '\u{2066}',
            '\u{2067}',
            '\u{2068}',
            '\u{2069}',
            '\u{206f}',
            '\u{2800}',
            '\u{3164}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e007f}',
            '\u{e0100}',
            '\u{e01ef}',
        ] {
            let text = format!("a{hidden}b");
            assert_eq!(visible(&text), format!("a\\u{{{:x}}}b", hidden as u32));
        }
    }

    #[test]
    fn what_people_write_stays() {
        for text in [
            "plain\n\tä é ñ ü",
            "日本語 한국어 हिन्दी עברית العربية",
            "✅ ❤\u{fe0f} 👩\u{200d}💻 1\u{fe0f}\u{20e3} ☎\u{fe0e}",
            "a\u{301}",
            "",
        ] {
            assert_eq!(visible(text), text);
            assert!(matches!(visible(text), Cow::Borrowed(_)));
        }
        // A joiner between letters joins nothing that can be seen.
        assert_eq!(visible("a\u{200d}b👩\u{200d}c"), "a\\u{200d}b👩\\u{200d}c");
    }
}
