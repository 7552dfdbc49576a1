//! Feeds: RSS, Atom and RDF as a list of what is new.

use crate::page::{Form, read};
use crate::stop::{Stop, Stopped};
use crate::url::PageUrl;

/// Maximum number of entries that are written.
const MOST: usize = 200;
/// Maximum number of characters of one entry that are written.
const LONGEST: usize = 2000;

/// One entry of a feed.
#[derive(Default)]
struct Entry {
    title: String,
    link: String,
    date: String,
    text: String,
}

/// Whether an XML document is a feed.
pub fn is_feed(xml: &str) -> bool {
    let mut tokens = Tokens { xml, at: 0 };
    let first = std::iter::from_fn(|| tokens.next()).take(50).find_map(|token| match token {
        Token::Start { name, .. } => Some(name),
        _ => None,
    });
    matches!(first.map(local), Some("rss" | "feed" | "RDF"))
}

/// A feed as text: its title, and each entry with its link, its date and what it says.
pub fn read_feed(xml: &str, url: &PageUrl, form: Form, stop: &Stop<'_>) -> Result<String, Stopped> {
    let mut feed = Entry::default();
    let mut entries: Vec<Entry> = Vec::new();
    let mut is_inside = false;
    let mut tokens = Tokens { xml, at: 0 };
    // The element whose text is being read.
    let mut open: &str = "";
    let mut count = 0_usize;
    while !stop.is_due()
        && let Some(token) = tokens.next()
    {
        let entry = match is_inside {
            true => entries.last_mut().unwrap_or(&mut feed),
            false => &mut feed,
        };
        match token {
            Token::Start { name, attributes, is_closed } => {
                let name = local(name);
                if matches!(name, "item" | "entry") {
                    count += 1;
                    is_inside = true;
                    if entries.len() < MOST {
                        entries.push(Entry::default());
                    }
                    continue;
                }
                if name == "link"
                    && let Some(href) = attribute(attributes, "href")
                    && (entry.link.is_empty() || attribute(attributes, "rel") == Some("alternate"))
                {
                    entry.link = unescaped(href);
                }
                open = if is_closed { "" } else { name };
            }
            Token::End(name) => {
                if matches!(local(name), "item" | "entry") {
                    is_inside = false;
                }
                open = "";
            }
            Token::Text(text) if count <= MOST => {
                let slot = match open {
                    "title" => &mut entry.title,
                    "link" | "guid" | "id" if entry.link.is_empty() && text.trim().starts_with("http") => {
                        &mut entry.link
                    }
                    "pubDate" | "updated" | "date" | "published" if entry.date.is_empty() => &mut entry.date,
                    "description" | "summary" | "content" | "encoded" | "subtitle" => &mut entry.text,
                    _ => continue,
                };
                slot.push_str(&text);
            }
            Token::Text(_) => {}
        }
    }
    stop.checked(written(&feed, &entries, count, url, form, stop))
}

fn written(
    feed: &Entry,
    entries: &[Entry],
    count: usize,
    url: &PageUrl,
    form: Form,
    stop: &Stop<'_>,
) -> String {
    let is_marked = form == Form::Markdown;
    let plain = |html: &str| -> String {
        let text = read(html, url, form, stop).map(|page| page.text).unwrap_or_default();
        text[..text.floor_char_boundary(LONGEST)].to_owned()
    };
    let mark =
        |marks: &str, title: &str| if is_marked { format!("{marks} {title}") } else { title.to_owned() };
    let mut blocks = vec![mark("#", &plain(&feed.title))];
    blocks.push(plain(&feed.text));
    for entry in entries {
        let title = plain(&entry.title);
        let title = if title.is_empty() { "(no title)".to_owned() } else { title };
        blocks.push(mark("##", &title));
        let link = url.join(&entry.link).map(|link| link.to_string()).unwrap_or_default();
        let facts: Vec<&str> =
            [link.as_str(), entry.date.trim()].into_iter().filter(|fact| !fact.is_empty()).collect();
        blocks.push(facts.join(" · "));
        blocks.push(plain(&entry.text));
    }
    if count > entries.len() {
        blocks.push(format!("({} more entries are left out)", count - entries.len()));
    }
    blocks.retain(|block| !block.trim_matches(['#', ' ']).is_empty());
    blocks.join("\n\n")
}

/// A name without its prefix.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = attributes;
    while let Some((key, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let value = &after[1..];
        let end = value.find(quote)?;
        if key.trim() == name {
            return Some(&value[..end]);
        }
        rest = &value[end + 1..];
    }
    None
}

enum Token<'a> {
    Start { name: &'a str, attributes: &'a str, is_closed: bool },
    End(&'a str),
    Text(String),
}

struct Tokens<'a> {
    xml: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = self.xml.get(self.at..).filter(|rest| !rest.is_empty())?;
            let until =
                |end: &str| rest.find(end).map_or((rest.len(), rest.len()), |at| (at, at + end.len()));
            if !rest.starts_with('<') {
                let end = memchr::memchr(b'<', rest.as_bytes()).unwrap_or(rest.len());
                self.at += end;
                return Some(Token::Text(unescaped(&rest[..end])));
            }
            if let Some(data) = rest.strip_prefix("<![CDATA[") {
                let end = data.find("]]>").unwrap_or(data.len());
                self.at += (9 + end + 3).min(rest.len());
                return Some(Token::Text(data[..end].to_owned()));
            }
            if rest.starts_with("<!--") {
                self.at += until("-->").1;
                continue;
            }
            let (end, next) = until(">");
            self.at += next;
            let inner = &rest[1..end.max(1)];
            if inner.starts_with(['!', '?']) {
                continue;
            }
            if let Some(name) = inner.strip_prefix('/') {
                return Some(Token::End(name.trim()));
            }
            let is_closed = inner.ends_with('/');
            let inner = inner.trim_end_matches('/');
            let (name, attributes) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
            return Some(Token::Start { name, attributes, is_closed });
        }
    }
}

/// XML has five names; feeds use those of HTML too.
fn unescaped(text: &str) -> String {
    crate::html::unescaped(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(xml: &str, expected: &str) {
        let url = PageUrl::parse("https://site.example/feed").unwrap();
        assert!(is_feed(xml));
        assert_eq!(read_feed(xml, &url, Form::Markdown, &Stop::never()).unwrap(), expected);
    }

    #[test]
    fn feeds_are_lists() {
        check(
            "<?xml version='1.0'?><!-- x --><rss version='2.0'><channel><title>News &amp; notes</title><link>https://site.example/</link>\
             <item><title>One</title><link>https://site.example/1</link><pubDate>Mon, 1 Jan 2024</pubDate>\
             <description><![CDATA[<p>Hello <b>you</b></p>]]></description></item>\
             <item><title>Two</title><guid>https://site.example/2</guid><description>&lt;p&gt;Second&lt;/p&gt;</description></item>\
             </channel></rss>",
            "# News & notes\n\n## One\n\nhttps://site.example/1 · Mon, 1 Jan 2024\n\nHello **you**\n\n## Two\n\n\
             https://site.example/2\n\nSecond",
        );
        check(
            "<feed xmlns='http://www.w3.org/2005/Atom'><title>Atom</title><entry><title type='html'>A</title>\
             <link rel='alternate' href='/a'/><updated>2024-01-02</updated><summary>Short</summary></entry></feed>",
            "# Atom\n\n## A\n\nhttps://site.example/a · 2024-01-02\n\nShort",
        );
        assert!(!is_feed("<html><body>") && !is_feed("<svg/>") && !is_feed(""));
    }
}
