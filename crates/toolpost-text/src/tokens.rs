//! What a text costs a model to read, estimated without a tokenizer.
//!
//! It does not follow any one vendor's tokens: it is for budgets and comparisons, never for a bill. Against o200k it is off by a
//! few per cent on declarations and prose in English, which a test of the command measures.

/// About how many tokens the text is.
///
/// Tokenizers first cut a text into pieces, of which most become one token: a word with the sign before it, up to three
/// digits, a run of signs. Long words and long runs become several; scripts without spaces about one for each character.
pub fn tokens(text: &str) -> usize {
    let mut count = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        // One sign before a word belongs to it.
        let is_sign = !first.is_alphanumeric() && first != '\n';
        let word = if is_sign && behind.starts_with(is_letter) { behind } else { rest };
        let (length, price) = match first {
            _ if word.starts_with(is_letter) => {
                let length = word_length(word);
                (rest.len() - word.len() + length, word_price(&word[..length]))
            }
            _ if is_dense(first) => (first.len_utf8(), 1),
            _ if first.is_numeric() => (run(rest, char::is_numeric, 3), 1),
            _ => {
                let length = run(rest, |letter| !letter.is_alphanumeric() && !is_dense(letter), usize::MAX);
                (length, rest[..length].chars().count().div_ceil(4))
            }
        };
        count += price;
        // Never nothing, so that this ends whatever the text is.
        rest = &rest[length.max(first.len_utf8())..];
    }
    count
}

fn is_letter(character: char) -> bool {
    character.is_alphabetic() && !is_dense(character)
}

/// How many bytes belong to the word at the beginning: `camelCase` is two.
fn word_length(text: &str) -> usize {
    let capitals = run(text, |letter| is_letter(letter) && letter.is_uppercase(), usize::MAX);
    capitals + run(&text[capitals..], |letter| is_letter(letter) && !letter.is_uppercase(), usize::MAX)
}

/// Most words that people write are one token; other scripts have fewer words of their own.
fn word_price(word: &str) -> usize {
    match (word.chars().count(), word.is_ascii()) {
        (0..=9, true) => 1,
        (letters, true) => letters.div_ceil(6),
        (letters, false) => letters.div_ceil(3),
    }
}

/// How many bytes the first characters of this kind take, at most so many characters.
fn run(text: &str, is_part: impl Fn(char) -> bool, most: usize) -> usize {
    text.chars().take(most).take_while(|character| is_part(*character)).map(char::len_utf8).sum()
}

/// Chinese, Japanese and Korean characters, and emoji.
fn is_dense(character: char) -> bool {
    matches!(u32::from(character),
        0x1100..=0x11FF | 0x2E80..=0x9FFF | 0xA960..=0xA97F | 0xAC00..=0xD7FF | 0xF900..=0xFAFF
        | 0xFF00..=0xFFEF | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn prices() {
        for (text, expected) in [
            ("", 0),
            ("a", 1),
            ("four", 1),
            ("four words, two signs.", 4 + 2),
            ("camelCaseName", 3),
            ("internationalisation", 4),
            ("2000000", 3),
            (r#"{"type":"object"}"#, 5),
            ("数据库", 3),
            ("データ", 3),
            ("데이터", 3),
            ("read 文件", 2 + 2),
            ("привет", 2),
            ("🙂🙂", 2),
            ("\u{0301}\u{200d}\n\n", 1),
        ] {
            assert_eq!(tokens(text), expected, "{text}");
        }
    }

    #[test]
    fn any_text_comes_to_an_end() {
        for first in ['a', 'A', '1', '"', ' ', '\n', 'é', '文', '٣', '½', 'ǅ', 'ª', '🙂', '\u{301}', '\0']
        {
            for second in
                ['a', 'A', '1', '"', ' ', '\n', 'é', '文', '٣', '½', 'ǅ', 'ª', '🙂', '\u{301}', '\0']
            {
                let text: String = [first, second, first].into_iter().collect();
                assert!((1..=3).contains(&tokens(&text)), "{text:?}");
            }
        }
    }
}
