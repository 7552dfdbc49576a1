//! A page as its reader wants it: what it is called, and its main content as markdown or plain text.

mod boilerplate;
mod code;
mod content;
mod inline;
mod render;
mod table;

use crate::html::{Attribute, Document, NodeId, Tag};
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
    /// Whether it is empty because its content is put in by JavaScript.
    pub needs_script: bool,
}

/// A page with less text than this, and with scripts, is an empty shell.
const SHELL: usize = 200;

/// What stands between the name of a page and that of its site.
const SEPARATORS: [&str; 6] = [" - ", " | ", " — ", " – ", " · ", " :: "];

/// Reads a page. `url` is where it was found; relative links are resolved against it.
pub fn read(html: &str, url: &PageUrl, form: Form) -> Page {
    let document = Document::parse(html);
    let head = Head::of(&document);
    let base = head.base.and_then(|base| url.join(base).ok());
    let main = Main::find(&document, &|heading| head.is_site(&document, heading));
    let mut renderer = Renderer::new(&document, &main, base.as_ref().unwrap_or(url), form);
    let title = head.title(&document, &main);
    // The name stands above the text, unless the text begins with it.
    if !title.is_empty() && !main.has_title && !main.begins_with(&document, &title) {
        renderer.title(&title);
    }
    renderer.blocks(main.root);
    let text = renderer.finish();
    let length = text.chars().filter(|letter| !letter.is_whitespace()).count();
    let is_shell = length < SHELL + title.len() && head.has_scripts && main.is_sparse;
    Page {
        title,
        author: head.author.map(clean),
        published: head.published.map(clean),
        needs_script: is_shell,
        text,
    }
}

/// What a page says of itself.
#[derive(Default)]
struct Head<'a> {
    named: Option<&'a str>,
    title: Option<NodeId>,
    site: Option<&'a str>,
    author: Option<&'a str>,
    published: Option<&'a str>,
    base: Option<&'a str>,
    has_scripts: bool,
}

impl<'a> Head<'a> {
    fn of(document: &'a Document) -> Head<'a> {
        let mut head = Head::default();
        for node in document.all() {
            match document.tag(node) {
                Some(Tag::Title) if head.title.is_none() && !is_in_svg(document, node) => {
                    head.title = Some(node)
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
        let slot = match name.to_ascii_lowercase().as_str() {
            "og:title" | "twitter:title" => &mut self.named,
            "og:site_name" => &mut self.site,
            "author" | "article:author" | "parsely-author" => &mut self.author,
            "article:published_time" | "date" | "dc.date" | "pubdate" => &mut self.published,
            _ => return,
        };
        *slot = slot.or(content);
    }

    /// What the element `title` says.
    fn whole_title(&self, document: &Document) -> String {
        let texts = self.title.iter().flat_map(|node| document.children(*node));
        clean(&texts.map(|child| document.text(child)).collect::<String>())
    }

    /// Whether a text is the name of the site, which stands at the end of the title.
    fn is_site(&self, document: &Document, text: &str) -> bool {
        let title = self.whole_title(document);
        let is_end = |separator: &&str| title.rsplit_once(*separator).is_some_and(|(_, site)| site == text);
        self.site.is_some_and(|site| clean(site) == text) || SEPARATORS.iter().any(is_end)
    }

    /// The name of the page, without that of its site.
    fn title(&self, document: &Document, main: &Main) -> String {
        if let Some(heading) = main.heading {
            let text = clean(&main.text_of(document, heading));
            if !text.is_empty() {
                return text;
            }
        }
        let title = self.named.map_or_else(|| self.whole_title(document), clean);
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

/// A text on one line.
fn clean(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
