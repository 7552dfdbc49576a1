//! A page as its reader wants it: what it is called, and its main content as markdown or plain text.

mod boilerplate;
mod code;
mod content;
mod inline;
mod render;
mod table;

use crate::html::{Attribute, Document, NodeId, Tag};
use crate::stop::{Stop, Stopped};
use crate::url::PageUrl;
use content::Main;
use render::Renderer;

/// How the content is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// With headings, links, lists, tables and code marked.
    Markdown,
    /// The words alone.
    Plain,
}

/// What a page says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// What it is called; empty where it has no name.
    pub title: String,
    /// Who wrote it, where it says so.
    pub author: Option<String>,
    /// When it was published, as it writes it.
    pub published: Option<String>,
    /// The main content.
    pub text: String,
    /// Whether the text goes on beyond the most that is written.
    pub is_cut: bool,
    /// Whether it is empty because its content is put in by JavaScript.
    pub needs_script: bool,
    /// Where a page without text of its own sends its readers.
    pub leads_to: Option<PageUrl>,
}

/// A page with less text than this, and with scripts, is an empty shell.
const SHELL: usize = 200;

/// Maximum number of letters of a title, an author or a date.
const LONGEST_NAME: usize = 300;

/// What stands between the name of a page and that of its site.
const SEPARATORS: [&str; 6] = [" - ", " | ", " — ", " – ", " · ", " :: "];

/// Reads a page. `url` is where it was found; relative links are resolved against it.
pub fn read(html: &str, url: &PageUrl, form: Form, stop: &Stop<'_>) -> Result<Page, Stopped> {
    let document = Document::parse(html, stop);
    let head = Head::of(&document);
    let base = head.base.and_then(|base| url.join(base).ok());
    let base = base.as_ref().unwrap_or(url);
    let main = Main::find(&document, &|heading| head.is_site(heading), stop);
    let mut renderer = Renderer::new(&document, &main, base, form, stop);
    let title = head.title(&document, &main);
    // The name stands above the text, unless the text begins with it.
    if !title.is_empty() && !main.has_title && !main.begins_with(&document, &title) {
        renderer.title(&title);
    }
    renderer.blocks(main.root);
    let is_cut = renderer.is_full();
    let text = renderer.finish();
    let length = text.chars().filter(|letter| !letter.is_whitespace()).count();
    let is_shell = length < SHELL + title.len() && main.is_sparse;
    let leads_to = head.refresh.filter(|_| is_shell).and_then(|refresh| base.join(refresh).ok());
    stop.checked(Page {
        title,
        author: head.author.map(short),
        published: head.published.map(short),
        needs_script: is_shell && head.has_scripts && leads_to.is_none(),
        leads_to,
        is_cut,
        text,
    })
}

/// What a page says of itself.
#[derive(Default)]
struct Head<'a> {
    named: Option<&'a str>,
    /// What the element `title` says.
    title: Option<String>,
    site: Option<&'a str>,
    author: Option<&'a str>,
    published: Option<&'a str>,
    base: Option<&'a str>,
    /// The address of a `refresh`.
    refresh: Option<&'a str>,
    has_scripts: bool,
}

impl<'a> Head<'a> {
    fn of(document: &'a Document) -> Head<'a> {
        let mut head = Head::default();
        for node in document.all() {
            match document.tag(node) {
                Some(Tag::Title) if head.title.is_none() && !is_in_svg(document, node) => {
                    let texts = document.children(node).map(|child| document.text(child));
                    head.title = Some(short(&texts.collect::<String>()));
                }
                Some(Tag::Base) => head.base = head.base.or(document.attribute(node, Attribute::Href)),
                Some(Tag::Script) => head.has_scripts = true,
                Some(Tag::Meta) => head.meta(document, node),
                _ => {}
            }
        }
        head
    }

    fn meta(&mut self, document: &'a Document, node: NodeId) {
        let name = document.attribute(node, Attribute::Property);
        let name = name.or(document.attribute(node, Attribute::Name)).unwrap_or_default();
        let content = document.attribute(node, Attribute::Content).filter(|text| !text.trim().is_empty());
        let equivalent = document.attribute(node, Attribute::HttpEquiv).unwrap_or_default();
        if equivalent.eq_ignore_ascii_case("refresh") {
            self.refresh = self.refresh.or(content.and_then(refreshed));
        }
        let slot = match name.to_ascii_lowercase().as_str() {
            "og:title" | "twitter:title" => &mut self.named,
            "og:site_name" => &mut self.site,
            "author" | "article:author" | "parsely-author" => &mut self.author,
            "article:published_time" | "date" | "dc.date" | "pubdate" => &mut self.published,
            _ => return,
        };
        *slot = slot.or(content);
    }

    /// Whether a text is the name of the site, which stands at the end of the title and is shorter than the page's own.
    fn is_site(&self, text: &str) -> bool {
        let title = self.title.as_deref().unwrap_or_default();
        let is_end = |separator: &&str| {
            title.rsplit_once(*separator).is_some_and(|(page, site)| site == text && site.len() < page.len())
        };
        self.site.is_some_and(|site| clean(site) == text) || SEPARATORS.iter().any(is_end)
    }

    /// The name of the page, without that of its site.
    fn title(&self, document: &Document, main: &Main) -> String {
        if let Some(heading) = main.heading {
            let text = short(&main.text_of(document, heading));
            if !text.is_empty() {
                return text;
            }
        }
        let title = self.named.map_or_else(|| self.title.clone().unwrap_or_default(), short);
        let site = self.site.map(clean).unwrap_or_default();
        for separator in SEPARATORS {
            if let Some((before, after)) = title.rsplit_once(separator)
                && !before.is_empty()
                && (after == site || after.split(' ').count() <= 4 && before.len() > after.len())
            {
                return before.to_owned();
            }
        }
        title
    }
}

fn is_in_svg(document: &Document, node: NodeId) -> bool {
    std::iter::successors(Some(node), |node| document.parent(*node))
        .any(|node| document.tag(node) == Some(Tag::Svg))
}

/// The address in `5; url=next.html`; none in `5`, which only asks for the same page again.
fn refreshed(content: &str) -> Option<&str> {
    let (_, rest) = content.split_once([';', ','])?;
    let rest = rest.trim();
    let named = rest.get(..3).filter(|name| name.eq_ignore_ascii_case("url")).map(|_| rest[3..].trim_start());
    let address = named.and_then(|rest| rest.strip_prefix('=')).unwrap_or(rest);
    let address = address.trim().trim_matches(['"', '\'']);
    (!address.is_empty()).then_some(address)
}

/// A name on one line, cut where it is too long to be one.
fn short(text: &str) -> String {
    let start = text.trim_start();
    let mut text = clean(&start[..start.floor_char_boundary(4 * LONGEST_NAME)]);
    if let Some((end, _)) = text.char_indices().nth(LONGEST_NAME) {
        text.truncate(end);
    }
    text
}

/// A text on one line, without what nobody sees.
fn clean(text: &str) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.contains(inline::is_invisible) {
        text.retain(|letter| !inline::is_invisible(letter));
    }
    text
}
