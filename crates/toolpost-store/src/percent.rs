//! Text in which some bytes are percent-encoded: values of addresses, and ids as names of files.

/// The text, decoded. A percent sign that encodes nothing stays, and bytes that are not UTF-8 are replaced.
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let code = more.get(..2).filter(|code| first == b'%' && code.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        decoded.push(code.unwrap_or(first));
        rest = if code.is_some() { &more[2..] } else { more };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::percent_decoded;

    #[test]
    fn only_two_digits_encode_a_byte() {
        for (text, expected) in [("a%3Ab%2f", "a:b/"), ("%+1%zz%4", "%+1%zz%4"), ("%c3%a4%", "ä%")] {
            assert_eq!(percent_decoded(text), expected);
        }
    }
}
