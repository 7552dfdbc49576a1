//! What a text costs a model to read, estimated without a tokenizer.
//!
//! It does not follow any one vendor's tokens: it is for budgets and comparisons, never for a bill.

/// About how many tokens the text is: four bytes each, and one for each character of a script written without
/// spaces, of which tokenizers join few.
pub fn tokens(text: &str) -> usize {
    let mut dense = 0;
    let mut dense_bytes = 0;
    for character in text.chars().filter(|character| is_dense(*character)) {
        dense += 1;
        dense_bytes += character.len_utf8();
    }
    dense + (text.len() - dense_bytes).div_ceil(4)
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
            ("fives", 2),
            ("数据库", 3),
            ("データ", 3),
            ("데이터", 3),
            ("read 文件", 2 + 2),
            ("привет", 3),
        ] {
            assert_eq!(tokens(text), expected, "{text}");
        }
    }
}
