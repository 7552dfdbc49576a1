//! The tree of a page: a flat list of nodes. Deeper than the limit, elements are siblings.

use super::entity::{Place, decode_into};
use super::tag::Tag;
use super::tokens::{Token, Tokens};
use crate::stop::Stop;

/// Maximum depth of the tree.
const DEEPEST: usize = 256;

/// A node, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

const NONE: u32 = u32::MAX;

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

struct Node {
    parent: u32,
    first: u32,
    last: u32,
    next: u32,
    content: Content,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// An element, with its attributes.
    Element(Tag, Range),
    /// A text.
    Text(Range),
}

/// A part of one of the document's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    start: u32,
    end: u32,
}

/// Makes the enum of the attributes that are kept and their names from one list, as `tags!` does.
macro_rules! attributes {
    ($($attribute:ident $name:literal,)*) => {
        /// An attribute that means something to a reader.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Attribute {
            $($attribute,)*
        }

        impl Attribute {
            /// The attribute of a name, in whichever case.
            pub(super) fn named(name: &[u8]) -> Option<Attribute> {
                if name.len() > 20 {
                    return None;
                }
                match std::str::from_utf8(&name.to_ascii_lowercase()).unwrap_or_default() {
                    $($name => Some(Attribute::$attribute),)*
                    _ => None,
                }
            }
        }
    };
}

attributes! {
    Alt "alt", AriaHidden "aria-hidden", AriaLabel "aria-label", AriaLevel "aria-level", Checked "checked",
    Class "class", Colspan "colspan", Content "content", DataLang "data-lang", DataLanguage "data-language",
    DataSrc "data-src", DataLine "data-line-number", Datetime "datetime", Encoding "encoding", Hidden "hidden", Href "href",
    HttpEquiv "http-equiv", Id "id", Itemprop "itemprop", Lang "lang", Name "name", Property "property", Rel "rel",
    Role "role", Rowspan "rowspan", Src "src", Start "start", Style "style", Title "title", Type "type",
}

/// A page as a tree.
pub(crate) struct Document {
    nodes: Vec<Node>,
    texts: String,
    attributes: Vec<(Attribute, String)>,
}

impl Document {
    /// The tree of a page, as far as it was read when it was time to stop. Takes time in proportion to its length.
    pub(crate) fn parse(html: &str, stop: &Stop<'_>) -> Document {
        let document = Document {
            nodes: Vec::with_capacity(html.len() / 24 + 8),
            texts: String::with_capacity(html.len() / 2),
            attributes: Vec::new(),
        };
        let mut builder = Builder { document, open: Vec::new(), unopened: 0 };
        let root = builder.add(NONE, Content::Element(Tag::Html, Range { start: 0, end: 0 }));
        builder.open.push((root, Tag::Html));
        let mut tokens = Tokens::new(html);
        while !stop.is_due()
            && let Some(token) = tokens.next()
        {
            match token {
                Token::Text(text) => builder.text(text, Place::Text),
                Token::Raw(text) => builder.raw(text),
                Token::Start { tag, is_closed } => builder.start(tag, is_closed, &mut tokens.attributes),
                Token::End(tag) => builder.end(tag),
            }
        }
        builder.document
    }

    /// The element that holds everything.
    pub(crate) fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// What a node is.
    pub(crate) fn content(&self, node: NodeId) -> Content {
        self.nodes[node.index()].content
    }

    /// The tag of an element; none for a text.
    pub(crate) fn tag(&self, node: NodeId) -> Option<Tag> {
        match self.content(node) {
            Content::Element(tag, _) => Some(tag),
            Content::Text(_) => None,
        }
    }

    /// The text of a text node; empty for an element.
    pub(crate) fn text(&self, node: NodeId) -> &str {
        match self.content(node) {
            Content::Text(range) => &self.texts[range.start as usize..range.end as usize],
            Content::Element(..) => "",
        }
    }

    /// An attribute of an element.
    pub(crate) fn attribute(&self, node: NodeId, attribute: Attribute) -> Option<&str> {
        let Content::Element(_, range) = self.content(node) else { return None };
        let own = &self.attributes[range.start as usize..range.end as usize];
        own.iter().find(|(known, _)| *known == attribute).map(|(_, value)| value.as_str())
    }

    pub(crate) fn parent(&self, node: NodeId) -> Option<NodeId> {
        id(self.nodes[node.index()].parent)
    }

    pub(crate) fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let first = id(self.nodes[node.index()].first);
        std::iter::successors(first, |node| id(self.nodes[node.index()].next))
    }

    /// All nodes in the order of the page. A parent comes before its children.
    pub(crate) fn all(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// A node and everything below it, in the order of the page.
    pub(crate) fn below(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut waiting = vec![node];
        std::iter::from_fn(move || {
            let next = waiting.pop()?;
            let at = waiting.len();
            waiting.extend(self.children(next));
            waiting[at..].reverse();
            Some(next)
        })
    }
}

fn id(raw: u32) -> Option<NodeId> {
    (raw != NONE).then_some(NodeId(raw))
}

struct Builder {
    document: Document,
    /// The elements that are open, the outermost first.
    open: Vec<(u32, Tag)>,
    /// Elements that are too deep to be open.
    unopened: usize,
}

impl Builder {
    fn add(&mut self, parent: u32, content: Content) -> u32 {
        let nodes = &mut self.document.nodes;
        let new = nodes.len() as u32;
        nodes.push(Node { parent, first: NONE, last: NONE, next: NONE, content });
        if parent != NONE {
            let parent = &mut nodes[parent as usize];
            let before = std::mem::replace(&mut parent.last, new);
            match before {
                NONE => parent.first = new,
                before => nodes[before as usize].next = new,
            }
        }
        new
    }

    fn current(&self) -> u32 {
        self.open.last().map_or(0, |(node, _)| *node)
    }

    fn text(&mut self, text: &str, place: Place) {
        let start = self.document.texts.len();
        decode_into(text, place, &mut self.document.texts);
        self.add_text(start);
    }

    fn raw(&mut self, text: &str) {
        // What scripts and styles say is not for readers; other raw text is rare.
        if matches!(self.open.last(), Some((_, Tag::Style | Tag::Iframe))) {
            return;
        }
        let start = self.document.texts.len();
        self.document.texts.push_str(text);
        self.add_text(start);
    }

    fn add_text(&mut self, start: usize) {
        let end = self.document.texts.len();
        if end > start {
            let range = Range { start: start as u32, end: end as u32 };
            self.add(self.current(), Content::Text(range));
        }
    }

    fn start(&mut self, tag: Tag, is_closed: bool, attributes: &mut Vec<(Attribute, String)>) {
        // There is one of each; a second one only adds attributes, which nobody needs.
        if tag == Tag::Html && self.document.nodes.len() > 1 {
            return;
        }
        self.close_before(tag);
        let start = self.document.attributes.len() as u32;
        self.document.attributes.append(attributes);
        let range = Range { start, end: self.document.attributes.len() as u32 };
        if tag == Tag::Html {
            self.document.nodes[0].content = Content::Element(tag, range);
            return;
        }
        let node = self.add(self.current(), Content::Element(tag, range));
        // Only elements of SVG and MathML are closed by a slash.
        let is_foreign = tag == Tag::Other || matches!(tag, Tag::Svg | Tag::Math);
        if tag.is_void() || (is_closed && is_foreign) {
            return;
        }
        if self.open.len() < DEEPEST {
            self.open.push((node, tag));
        } else {
            self.unopened += 1;
        }
    }

    /// Closes what cannot hold the new element.
    fn close_before(&mut self, tag: Tag) {
        use Tag::*;
        if self.unopened > 0 {
            return;
        }
        match tag {
            Li => self.close_nearest(&[Li], &[Ul, Ol, Menu]),
            Dt | Dd => self.close_nearest(&[Dt, Dd], &[Dl]),
            Option => self.close_nearest(&[Option], &[Select, Optgroup]),
            Optgroup => self.close_nearest(&[Option, Optgroup], &[Select]),
            Tr => self.close_nearest(&[Tr, Caption, Colgroup], &[Table, Tbody, Thead, Tfoot]),
            Td | Th => self.close_nearest(&[Td, Th], &[Tr, Table]),
            Tbody | Thead | Tfoot => self.close_nearest(&[Tbody, Thead, Tfoot, Caption, Colgroup], &[Table]),
            A => self.close_nearest(&[A], &[Table, Td, Th]),
            Body => self.close_nearest(&[Head], &[]),
            Rt | Rp => self.close_nearest(&[Rt, Rp], &[Ruby]),
            _ => {}
        }
        if tag.heading().is_some() && self.open.last().is_some_and(|(_, open)| open.heading().is_some()) {
            self.open.pop();
        }
        let is_in_paragraph =
            tag.is_block() && !matches!(tag, Td | Th | Tr | Tbody | Thead | Tfoot | Caption | Option);
        if is_in_paragraph {
            self.close_nearest(&[P], &[Table, Td, Th, Caption, Button, Object]);
        }
        // What belongs to the body ends the head.
        let is_of_head =
            matches!(tag, Title | Meta | Link | Base | Script | Style | Noscript | Template | Head);
        if !is_of_head && self.open.len() > 1 && self.open[1].1 == Head {
            self.open.truncate(1);
        }
    }

    /// Closes the nearest of these, with all that is open in it, unless one of `within` is nearer.
    fn close_nearest(&mut self, tags: &[Tag], within: &[Tag]) {
        for at in (1..self.open.len()).rev() {
            let (_, open) = self.open[at];
            if tags.contains(&open) {
                self.open.truncate(at);
                return;
            }
            if within.contains(&open) {
                return;
            }
        }
    }

    fn end(&mut self, tag: Tag) {
        use Tag::*;
        if tag == Br {
            self.start(Br, false, &mut Vec::new());
            return;
        }
        if tag.is_void() || matches!(tag, Html | Body) {
            return;
        }
        if self.unopened > 0 {
            self.unopened -= 1;
            return;
        }
        let is_of_table = matches!(tag, Table | Tbody | Thead | Tfoot | Tr | Td | Th | Caption);
        let is_inline = !tag.is_block() && tag != Other;
        for at in (1..self.open.len()).rev() {
            let (_, open) = self.open[at];
            let is_heading = tag.heading().is_some() && open.heading().is_some();
            if open == tag || is_heading {
                self.open.truncate(at);
                return;
            }
            let is_border = match open {
                Table => !is_of_table || tag != Table,
                Td | Th | Caption => !is_of_table,
                Ul | Ol => tag == Li,
                _ => is_inline && open.is_block(),
            };
            if is_border {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree in one line: `div(p("a") p("b"))`.
    fn shown(document: &Document, node: NodeId) -> String {
        match document.content(node) {
            Content::Text(_) => format!("{:?}", document.text(node)),
            Content::Element(tag, _) => {
                let inner: Vec<String> =
                    document.children(node).map(|child| shown(document, child)).collect();
                let name = format!("{tag:?}").to_lowercase();
                if inner.is_empty() { name } else { format!("{name}({})", inner.join(" ")) }
            }
        }
    }

    fn check(html: &str, expected: &str) {
        let document = Document::parse(html, &Stop::never());
        assert_eq!(shown(&document, document.root()), format!("html({expected})"), "{html}");
    }

    #[test]
    fn trees_are_as_in_browsers() {
        check("<p>a<p>b", r#"p("a") p("b")"#);
        check("<ul><li>a<li>b<ul><li>c</ul></ul>d", r#"ul(li("a") li("b" ul(li("c")))) "d""#);
        check("<table><tr><td>a<td>b<tr><td>c</table>d", r#"table(tr(td("a") td("b")) tr(td("c"))) "d""#);
        check("<div><b>a</div>b", r#"div(b("a")) "b""#);
        check("<p>a <b>b<i>c</b>d", r#"p("a " b("b" i("c")) "d")"#);
        check("a < b <3 <!-- <p> --> c<!--> d", r#""a < b <3 " " c" " d""#);
        check("<script>if (a < b) '</p>'</SCRIPT>x", r#"script("if (a < b) '</p>'") "x""#);
        check("<title>a &amp; <b></title>", r#"title("a & <b>")"#);
        check("<head><title>t</title><p>x", r#"head(title("t")) p("x")"#);
        check("<dl><dt>a<dd>b<dt>c</dl>", r#"dl(dt("a") dd("b") dt("c"))"#);
        check("<a href=x>1<a href=y>2</a>", r#"a("1") a("2")"#);
        check("<div><span>a</p></span>b</div>", r#"div(span("a") "b")"#);
        check("<h1>a<h2>b</h1>c", r#"h1("a") h2("b") "c""#);
        check("<br/><div/>x", r#"br div("x")"#);
        check("<p>a<table><tr><td>b</table>", r#"p("a") table(tr(td("b")))"#);
        check("<", r#""<""#);
        check("x</", r#""x""#);
        check("<a", "a");
        check("<![CDATA[x<y]]>", r#""x<y""#);
    }

    #[test]
    fn attributes_are_read() {
        let html = "<a HREF='x?a=1&amp;b' class = \"p q\" title=t/ id=1 id=2 data-x=9 hidden>";
        let document = Document::parse(html, &Stop::never());
        let node = NodeId(1);
        let value = |attribute| document.attribute(node, attribute);
        assert_eq!(value(Attribute::Href), Some("x?a=1&b"));
        assert_eq!(value(Attribute::Class), Some("p q"));
        assert_eq!(value(Attribute::Title), Some("t/"));
        assert_eq!((value(Attribute::Id), value(Attribute::Hidden)), (Some("1"), Some("")));
        assert_eq!(value(Attribute::Alt), None);
    }

    #[test]
    fn hostile_pages_take_linear_time_and_bounded_depth() {
        for html in [
            "<div>".repeat(400_000),
            "<p><b><i>".repeat(200_000),
            "<table><tr><td>".repeat(100_000),
            "</div>".repeat(400_000),
            format!("<a href='{}'>x", "y".repeat(3_000_000)),
            format!("<a {}>x", "b=1 ".repeat(700_000)),
            "<!--".repeat(700_000),
            "<script>".repeat(300_000),
            "<a href=\"".repeat(300_000),
            "<![CDATA[".repeat(300_000),
            "&".repeat(2_000_000),
            "<".repeat(2_000_000),
            "<ul><li>".repeat(200_000),
        ] {
            let document = Document::parse(&html, &Stop::never());
            let mut depth = vec![0_usize; document.len()];
            for node in document.all().skip(1) {
                depth[node.index()] = document.parent(node).map_or(0, |parent| depth[parent.index()] + 1);
            }
            assert!(depth.iter().max() <= Some(&DEEPEST), "{}", &html[..10]);
        }
    }
}
