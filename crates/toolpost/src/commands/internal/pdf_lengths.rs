//! PDFs whose streams say a wrong length: they get the right one, as viewers do by themselves. Pure.
//!
//! The file itself stays as it is; each stream in question is appended again, as a later version of it, which is how PDFs are
//! changed.

use memchr::memmem;
use std::borrow::Cow;

/// Streams that are looked at.
const MOST_STREAMS: usize = 100_000;
/// Bytes before a stream in which its dictionary and the number of its object are looked for.
const LONGEST_HEAD: usize = 64 << 10;

/// The file with the right length of every stream.
pub(super) fn right(bytes: &[u8]) -> Cow<'_, [u8]> {
    let wrong = wrong_streams(bytes);
    // Of a file that is encrypted, the end says more than is known here.
    match wrong.is_empty() || memmem::find(bytes, b"/Encrypt").is_some() {
        true => Cow::Borrowed(bytes),
        false => appended(bytes, &wrong).map_or(Cow::Borrowed(bytes), Cow::Owned),
    }
}

/// A stream with a wrong length.
struct Wrong<'a> {
    /// The number and the generation of the object.
    object: (u32, u32),
    dictionary: &'a [u8],
    /// Where the length stands in the dictionary.
    length: std::ops::Range<usize>,
    data: &'a [u8],
}

fn wrong_streams(bytes: &[u8]) -> Vec<Wrong<'_>> {
    let mut wrong = Vec::new();
    let mut at = 0;
    for _ in 0..MOST_STREAMS {
        let Some(keyword) = memmem::find(&bytes[at..], b"stream").map(|found| at + found) else { break };
        at = keyword + b"stream".len();
        let Some(start) = after_end_of_line(bytes, at) else { continue };
        let Some((object, dictionary)) = head(bytes, keyword) else { continue };
        let Some((length, said)) = length(bytes, dictionary) else { continue };
        if said.is_some_and(|said| ends_there(bytes, start, said)) {
            at = start + said.unwrap_or_default();
            continue;
        }
        let Some(end) = memmem::find(&bytes[start..], b"endstream").map(|found| start + found) else { break };
        let data = without_end_of_line(&bytes[start..end]);
        wrong.push(Wrong { object, dictionary, length, data });
        at = end + b"endstream".len();
    }
    wrong
}

/// Where the data of a stream begins, by the keyword before it.
fn after_end_of_line(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at..)? {
        [b'\r', b'\n', ..] => Some(at + 2),
        [b'\n', ..] => Some(at + 1),
        _ => None,
    }
}

fn without_end_of_line(data: &[u8]) -> &[u8] {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    data.strip_suffix(b"\r").unwrap_or(data)
}

/// Whether a stream of this length ends with its keyword.
fn ends_there(bytes: &[u8], start: usize, length: usize) -> bool {
    let Some(rest) = start.checked_add(length).and_then(|end| bytes.get(end..)) else { return false };
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
    rest.strip_prefix(b"\n").unwrap_or(rest).starts_with(b"endstream")
}

/// The object that a stream belongs to, and its dictionary.
fn head(bytes: &[u8], keyword: usize) -> Option<((u32, u32), &[u8])> {
    let before = bytes[keyword.saturating_sub(LONGEST_HEAD)..keyword].trim_ascii_end();
    let obj = memmem::rfind(before, b"obj")?;
    let dictionary = before[obj + 3..].trim_ascii();
    if !dictionary.starts_with(b"<<")
        || !dictionary.ends_with(b">>")
        || dictionary.windows(6).any(|part| part == b"endobj")
    {
        return None;
    }
    let (rest, generation) = last_number(before[..obj].trim_ascii_end())?;
    let (_, number) = last_number(rest.trim_ascii_end())?;
    Some(((number, generation), dictionary))
}

/// The number at the end, and what stands before it.
fn last_number(text: &[u8]) -> Option<(&[u8], u32)> {
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (rest, digits) = text.split_at(text.len() - digits);
    Some((rest, std::str::from_utf8(digits).ok()?.parse().ok()?))
}

/// Where a dictionary says the length, and what it says; none of the latter where that is said elsewhere and cannot be found.
fn length(bytes: &[u8], dictionary: &[u8]) -> Option<(std::ops::Range<usize>, Option<usize>)> {
    let key = memmem::find_iter(dictionary, b"/Length").find(|at| {
        // Not `/Length1` of a font.
        dictionary.get(at + 7).is_some_and(|next| next.is_ascii_whitespace())
    })?;
    let value = key + 7 + dictionary[key + 7..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let text = &dictionary[value..];
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<usize>().ok();
    let Some(said) = number(&text[..digits]) else {
        // A number that is none, such as one below 0.
        let end =
            text.iter().take_while(|byte| !byte.is_ascii_whitespace() && !b"/>[(<".contains(byte)).count();
        return Some((value..value + end, None));
    };
    let mut words = text[digits..].split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let (generation, sign) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if !sign.starts_with(b"R") || number(generation).is_none() {
        return Some((value..value + digits, Some(said)));
    }
    // The length is another object.
    let end = value + memmem::find(text, b"R")? + 1;
    let name = format!("{said} {} obj", number(generation)?);
    let found = memmem::find_iter(bytes, name.as_bytes())
        .find(|at| at.checked_sub(1).is_none_or(|before| !bytes[before].is_ascii_digit()));
    let elsewhere = found.and_then(|at| {
        let text = bytes[at + name.len()..].trim_ascii_start();
        number(&text[..text.iter().take_while(|byte| byte.is_ascii_digit()).count()])
    });
    Some((value..end, elsewhere))
}

/// The file with these streams once more at its end; none where it does not say what a file has to say there.
fn appended(bytes: &[u8], wrong: &[Wrong<'_>]) -> Option<Vec<u8>> {
    let start = memmem::rfind(bytes, b"startxref")?;
    let text = bytes[start + 9..].trim_ascii_start();
    let digits = &text[..text.iter().take_while(|byte| byte.is_ascii_digit()).count()];
    let previous: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let reference = |key: &[u8]| {
        let at = memmem::rfind(bytes, key)? + key.len();
        let end = memmem::find(&bytes[at..], b"R")?;
        let text = std::str::from_utf8(bytes.get(at..at + end.min(40))?).ok()?;
        let mut words = text.split_ascii_whitespace();
        let (number, generation) = (words.next()?.parse::<u32>().ok()?, words.next()?.parse::<u32>().ok()?);
        Some(format!("{number} {generation} R"))
    };
    let root = reference(b"/Root")?;
    let most = wrong.iter().map(|one| one.object.0).max()?;
    let size_at = memmem::rfind(bytes, b"/Size")? + 5;
    let text = bytes[size_at..].trim_ascii_start();
    let digits = &text[..text.iter().take_while(|byte| byte.is_ascii_digit()).count()];
    let size = std::str::from_utf8(digits).ok()?.parse::<u32>().ok()?.max(most.saturating_add(1));
    let mut whole = bytes.to_vec();
    whole.push(b'\n');
    let mut table = String::from("xref\n");
    for Wrong { object: (number, generation), dictionary, length, data } in wrong {
        table.push_str(&format!("{number} 1\n{:010} {generation:05} n \n", whole.len()));
        whole.extend_from_slice(format!("{number} {generation} obj\n").as_bytes());
        whole.extend_from_slice(&dictionary[..length.start]);
        whole.extend_from_slice(data.len().to_string().as_bytes());
        whole.extend_from_slice(&dictionary[length.end..]);
        whole.extend_from_slice(b"\nstream\n");
        whole.extend_from_slice(data);
        whole.extend_from_slice(b"\nendstream\nendobj\n");
    }
    let at = whole.len();
    let trailer =
        format!("trailer << /Size {size} /Root {root} /Prev {previous} >>\nstartxref\n{at}\n%%EOF\n");
    whole.extend_from_slice(table.as_bytes());
    whole.extend_from_slice(trailer.as_bytes());
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a stream of `data` that says this length is appended, and with which.
    fn check(said: &str, data: &str, expected: Option<&str>) {
        let file = format!(
            "%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n7 0 obj\n3\nendobj\n4 0 obj\n<< {said} /Length1 9 >>\nstream\n{data}\n\
             endstream\nendobj\nxref\n0 1\ntrailer << /Size 5 /Root 1 0 R >>\nstartxref\n99\n%%EOF\n"
        );
        let whole = right(file.as_bytes());
        let added = String::from_utf8_lossy(&whole[file.len()..]).into_owned();
        match expected {
            None => assert_eq!(added, "", "{said}"),
            Some(expected) => {
                assert!(
                    added.contains(&format!(
                        "4 0 obj\n<< {expected} /Length1 9 >>\nstream\n{data}\nendstream"
                    )),
                    "{added}"
                );
                assert!(added.contains("/Root 1 0 R /Prev 99") && added.contains("4 1\n"), "{added}");
            }
        }
    }

    #[test]
    fn only_wrong_lengths_are_made_right() {
        check("/Length 3", "abc", None);
        check("/Length 2", "abc", Some("/Length 3"));
        check("/Length 30", "abc", Some("/Length 3"));
        check("/Length 99999999999", "abc", Some("/Length 3"));
        check("/Length -1", "abc", Some("/Length 3"));
        check("/Length 7 0 R", "abc", None);
        check("/Length 7 0 R", "abcd", Some("/Length 4"));
        check("/Length 8 0 R", "abcd", Some("/Length 4"));
        check("/Length 5", "a\nstream\nb", Some("/Length 10"));
        check("/Other 5", "abc", None);
    }

    #[test]
    fn anything_else_stays_as_it_is() {
        for bytes in [
            &b""[..],
            b"stream\n",
            b"1 0 obj << /Length 1 >> stream\nab endstream",
            b"\xff\xfe<<>>stream\r\nx",
        ] {
            assert_eq!(&*right(bytes), bytes);
        }
    }
}
