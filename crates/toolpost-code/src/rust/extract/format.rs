//! The names in the text of a format, such as `"{name:>width$}"`.

/// Each name with the byte of the text where it begins. A text that is no format has none.
pub(super) fn names(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr2(b'{', b'}', &bytes[at..]).map(|next| at + next) {
        if bytes.get(open + 1) == Some(&bytes[open]) {
            at = open + 2;
            continue;
        }
        if bytes[open] == b'}' {
            return Vec::new();
        }
        let Some(close) = memchr::memchr2(b'{', b'}', &bytes[open + 1..]).map(|next| open + 1 + next) else {
            return Vec::new();
        };
        if bytes[close] == b'{' {
            return Vec::new();
        }
        let inside = &text[open + 1..close];
        let (argument, form) =
            inside.split_once(':').map_or((inside, ""), |(argument, form)| (argument, form));
        let name = argument.trim();
        if is_name(name) {
            found.push((open + 1 + argument.len() - argument.trim_start().len(), name));
        } else if !name.bytes().all(|byte| byte.is_ascii_digit()) {
            return Vec::new();
        }
        let form_start = open + 1 + argument.len() + 1;
        for (end, _) in form.match_indices('$') {
            let is_part = |letter: &char| letter.is_alphanumeric() || *letter == '_';
            let length: usize = form[..end].chars().rev().take_while(is_part).map(char::len_utf8).sum();
            // A zero in front is a sign of the form.
            let name = form[end - length..end].trim_start_matches('0');
            if is_name(name) {
                found.push((form_start + end - name.len(), name));
            }
        }
        at = close + 1;
    }
    found
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
        && text != "_"
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn names_of_formats() {
        for (text, expected) in [
            ("a {b} {c:?} {{d}} {} {0} {:?}", &[(3, "b"), (7, "c")][..]),
            (
                "{x:>width$.prec$} {:0size$} {:1$} {:.*}",
                &[(1, "x"), (4, "width"), (11, "prec"), (21, "size")],
            ),
            ("{ a } {b:#x}", &[(2, "a"), (7, "b")]),
            ("{a", &[]),
            ("fn f() { g() }", &[]),
            ("{a} }", &[]),
            ("{r#type}", &[]),
            ("{\u{e9}}", &[(1, "\u{e9}")]),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }
}
