//! Where the head of a markdown file ends and its body begins.

use super::LARGEST_HEAD;
use super::node::{At, Node};
use super::yaml::Fault;

/// The head and the body of a file.
pub(super) struct Head {
    pub(super) root: Node,
    pub(super) body: String,
}

/// The head between two lines `---`, the line that it begins on, and what stands behind it.
pub(super) fn split(text: &str) -> Result<(&str, usize, &str), Fault> {
    let fault = |line, message: String| Err(Fault { at: At { line, column: 1 }, message });
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != "---" {
        let message = "the file has no head; begin it with a line `---`, keys such as `description: …`, and a line `---`";
        return fault(1, message.to_owned());
    }
    let (start, mut end, mut line) = (first.len(), first.len(), 1);
    for one in lines {
        line += 1;
        if matches!(one.trim_end(), "---" | "...") {
            let head = &text[start..end];
            if head.len() > LARGEST_HEAD {
                let message = format!("the head has {} bytes; at most {LARGEST_HEAD} are read", head.len());
                return fault(1, message);
            }
            return Ok((head, 2, text[end + one.len()..].trim()));
        }
        end += one.len();
    }
    fault(line, "the head does not end; close it with a line `---`".to_owned())
}

/// The head with each value of one line in quotes that YAML would take for something else. Other hosts read
/// `description: Use this agent for tests. Example: run them` as it is meant, and many files are written like that.
pub(super) fn with_quotes(head: &str) -> String {
    let mut lines = head.lines().peekable();
    let mut quoted = String::with_capacity(head.len() + 16);
    while let Some(line) = lines.next() {
        let is_whole = lines.peek().is_none_or(|next| !next.starts_with([' ', '\t']));
        match line.split_once(": ").filter(|(key, value)| is_whole && is_plain_key(key) && is_misread(value))
        {
            Some((key, value)) => {
                quoted.push_str(&format!("{key}: '{}'", value.trim().replace('\'', "''")));
            }
            None => quoted.push_str(line),
        }
        quoted.push('\n');
    }
    quoted
}

fn is_plain_key(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Whether a value that is not quoted has a sign of YAML in it.
fn is_misread(value: &str) -> bool {
    let value = value.trim();
    !value.starts_with(['\'', '"', '[', '{', '|', '>', '&', '*', '!'])
        && (value.contains(": ") || value.ends_with(':') || value.starts_with(['%', '@', '`']))
}
