//! What a server said beside the protocol: the first lines of its standard error, and the first line of its standard
//! output that is no message. Most servers that do not start say there why.

use std::sync::{Mutex, PoisonError};

/// So much of the standard error is kept.
const MOST: usize = 2_000;

/// So many lines of it are shown.
const MOST_LINES: usize = 10;

/// So much of a line that is no message is kept.
const LONGEST_ODD: usize = 200;

/// What was said beside the protocol.
#[derive(Default)]
pub(crate) struct Complaint(Mutex<Said>);

#[derive(Default)]
struct Said {
    stderr: Vec<u8>,
    odd: Option<String>,
}

impl Complaint {
    /// Keeps the beginning of what comes from standard error.
    pub(crate) fn stderr(&self, bytes: &[u8]) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST.saturating_sub(said.stderr.len());
        said.stderr.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Keeps the first line that is no message.
    pub(crate) fn odd(&self, line: &[u8]) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if said.odd.is_none() {
            let text = String::from_utf8_lossy(&line[..line.len().min(4 * LONGEST_ODD)]);
            said.odd = Some(harmless(&text).chars().take(LONGEST_ODD).collect());
        }
    }

    /// A reason, and what was said that may explain it.
    pub(crate) fn added_to(&self, why: &str) -> String {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = why.to_owned();
        if let Some(odd) = &said.odd {
            text.push_str(&format!("; its standard output has a line that is not a message: `{odd}`"));
        }
        let stderr = String::from_utf8_lossy(&said.stderr);
        let lines: Vec<String> =
            stderr.lines().filter(|line| !line.trim().is_empty()).take(MOST_LINES).map(harmless).collect();
        if !lines.is_empty() {
            text.push_str(&format!("; its standard error begins:\n{}", lines.join("\n")));
        }
        text
    }
}

/// A text of somebody else without what could steer a terminal.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_kept_and_nothing_steers_a_terminal() {
        let complaint = Complaint::default();
        assert_eq!(complaint.added_to("it ended"), "it ended");
        complaint.odd(b"Listening\x1b[1m on 3000");
        complaint.odd(b"second");
        complaint.stderr(b"Error: no token\n\nat x\n");
        complaint.stderr(&vec![b'y'; 1 << 20]);
        let text = complaint.added_to("it ended");
        assert!(
            text.contains("`Listening [1m on 3000`") && text.contains("begins:\nError: no token\nat x\nyy"),
            "{text}"
        );
        assert!(text.len() < 2_500 && !text.contains("second") && !text.contains('\x1b'));
    }
}
