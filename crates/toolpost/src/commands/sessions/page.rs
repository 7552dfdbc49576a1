//! The page that a session is exported to: HTML that needs no other file, no script and no network.

use std::fmt::Write;
use toolpost_core::text::visible;

const STYLE: &str = include_str!("page.css");

/// A page that is being written.
pub(super) struct Page(String);

impl Page {
    pub(super) fn new(session: &str) -> Page {
        let title = escaped(session);
        Page(format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        ))
    }

    /// HTML as it is.
    pub(super) fn open(&mut self, html: &str) {
        self.0.push_str(html);
    }

    /// A name and its value.
    pub(super) fn row(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.0, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
    }

    /// A row of the timeline, with what can be unfolded.
    pub(super) fn entry(
        &mut self,
        at: u64,
        agent: &str,
        depth: u64,
        kind: &str,
        label: &str,
        bodies: &[(&str, String)],
    ) {
        let indent = depth.min(12) as f64 * 1.2;
        let line = line(at, agent, label);
        if bodies.is_empty() {
            let _ =
                writeln!(self.0, "<div class=\"entry {kind}\" style=\"margin-left:{indent}em\">{line}</div>");
            return;
        }
        let _ = writeln!(
            self.0,
            "<details class=\"entry {kind}\" style=\"margin-left:{indent}em\"><summary>{line}</summary>"
        );
        for (name, body) in bodies {
            let _ = writeln!(self.0, "<h4>{}</h4>\n<pre>{}</pre>", escaped(name), lines(body));
        }
        self.0.push_str("</details>\n");
    }

    /// Begins rows of the timeline that are folded into one.
    pub(super) fn begin_group(&mut self, at: u64, agent: &str, depth: u64, label: &str) {
        let indent = depth.min(12) as f64 * 1.2;
        let line = line(at, agent, label);
        let _ = writeln!(
            self.0,
            "<details class=\"entry call\" style=\"margin-left:{indent}em\"><summary>{line}</summary>"
        );
    }

    pub(super) fn end_group(&mut self) {
        self.0.push_str("</details>\n");
    }

    pub(super) fn end(mut self) -> String {
        self.0.push_str("</main>\n</body>\n</html>\n");
        self.0
    }
}

fn line(at: u64, agent: &str, label: &str) -> String {
    format!(
        "<span class=\"at\">{:.2} s</span><span class=\"who\">{}</span><span class=\"what\">{}</span>",
        at as f64 / 1000.0,
        escaped(agent),
        escaped(label)
    )
}

/// The lines of a text; those of a diff have their colours.
fn lines(text: &str) -> String {
    let is_diff = text.lines().any(|line| line.starts_with("@@ ")) || text.contains("\n+++ ");
    if !is_diff {
        return escaped(text);
    }
    let mut html = String::new();
    for line in text.lines() {
        let class = match line.as_bytes().first() {
            Some(b'+') => Some("plus"),
            Some(b'-') => Some("minus"),
            Some(b'@') => Some("hunk"),
            _ => None,
        };
        let _ = match class {
            Some(class) => writeln!(html, "<span class=\"{class}\">{}</span>", escaped(line)),
            None => writeln!(html, "{}", escaped(line)),
        };
    }
    html
}

/// A text that is nothing but text. Control characters that a browser would not show are named.
pub(super) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    // What is hidden would show another text than the one that was said.
    for letter in visible(text).chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            letter => html.push(letter),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_becomes_a_tag() {
        assert_eq!(escaped("<script>&\"'\u{1b}[0m"), "&lt;script&gt;&amp;&quot;&#39;\\u{1b}[0m");
        assert_eq!(escaped("a\u{202e}b\n\tä"), "a\\u{202e}b\n\tä");
        let shown = lines("--- a\n+++ b\n@@ -1 +1 @@\n-<b>\n+x");
        assert!(shown.contains("<span class=\"minus\">-&lt;b&gt;</span>"), "{shown}");
        assert_eq!(lines("+ a list\n- not a diff"), "+ a list\n- not a diff");
    }
}
