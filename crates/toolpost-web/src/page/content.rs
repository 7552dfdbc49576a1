//! Where the content of a page is: found by where the text is, in sentences rather than in links.
//!
//! Every element is measured once. From the root, the way leads down as long as one child has nearly all of the text.

use super::boilerplate::{LONGEST_OTHER, Suspicion, is_label, is_other_heading, suspicion};
use crate::html::{Attribute, Content, Document, NodeId, Tag};
use crate::stop::Stop;

/// What is shown of a page.
pub(super) struct Main {
    /// The element that holds the content.
    pub(super) root: NodeId,
    /// The heading that names the page.
    pub(super) heading: Option<NodeId>,
    /// Whether that heading is part of the content.
    pub(super) has_title: bool,
    /// Whether there is hardly any text, also outside of the content.
    pub(super) is_sparse: bool,
    /// By node: not shown.
    hidden: Vec<bool>,
}

/// What is known of an element and everything in it.
#[derive(Debug, Clone, Copy, Default)]
struct Measure {
    /// Letters.
    letters: u32,
    /// Letters in links.
    linked: u32,
    /// Links.
    links: u32,
    /// Letters that read like content.
    good: f32,
}

impl Measure {
    fn link_share(&self) -> f32 {
        if self.letters == 0 { 0.0 } else { self.linked as f32 / self.letters as f32 }
    }
}

/// A page with more text than this outside of remarks is about that text.
const OWN_TEXT: f32 = 400.0;
/// A page with fewer letters than this has hardly any text.
const SPARSE: u32 = 400;

impl Main {
    /// `is_site` says whether a heading is the name of the whole site.
    pub(super) fn find(document: &Document, is_site: &dyn Fn(&str) -> bool, stop: &Stop<'_>) -> Main {
        let judged = judged(document, stop);
        let is = |node: NodeId, suspicion| judged[node.index()] == suspicion;
        let visible = hidden_by(document, |node| is(node, Suspicion::Certain));
        let all = measured(document, &visible);
        let total = all[0].letters;
        // A name does not hide what is most of the page, nor its title.
        let by_name = |node: NodeId| {
            is(node, Suspicion::Named)
                && all[node.index()].letters * 2 < total.max(1)
                && !holds_title(document, node, &all)
        };
        let named = hidden_by(document, |node| visible[node.index()] || by_name(node));
        let without_remarks = hidden_by(document, |node| named[node.index()] || is(node, Suspicion::Remarks));
        let own = measured(document, &without_remarks);
        let (hidden, measures) = match own[0].good > OWN_TEXT {
            true => (without_remarks, own),
            false => {
                let measures = measured(document, &named);
                (named, measures)
            }
        };
        let root = descend(document, &hidden, &measures);
        let mut main = Main { root, heading: None, has_title: false, is_sparse: total < SPARSE, hidden };
        main.prune(document, &measures, stop);
        main.find_heading(document, is_site, stop);
        main
    }

    pub(super) fn is_hidden(&self, node: NodeId) -> bool {
        self.hidden[node.index()]
    }

    /// The shown text of an element.
    pub(super) fn text_of(&self, document: &Document, node: NodeId) -> String {
        let shown = document.below(node).filter(|node| !self.is_hidden(*node));
        shown.map(|node| document.text(node)).collect()
    }

    /// Whether the first heading of the content is this text.
    pub(super) fn begins_with(&self, document: &Document, title: &str) -> bool {
        let is_heading = |node: &NodeId| document.tag(*node).is_some_and(|tag| tag.heading().is_some());
        let first = document.below(self.root).filter(|node| !self.is_hidden(*node)).find(is_heading);
        first.is_some_and(|first| super::clean(&self.text_of(document, first)) == title)
    }

    /// Whether anything of an element is shown: a word, or a picture.
    pub(super) fn shows_something(&self, document: &Document, node: NodeId) -> bool {
        document.below(node).filter(|node| !self.is_hidden(*node)).any(|node| {
            document.tag(node) == Some(Tag::Img)
                || document.text(node).contains(|letter: char| !letter.is_whitespace())
        })
    }

    fn hide(&mut self, document: &Document, node: NodeId) {
        document.below(node).for_each(|node| self.hidden[node.index()] = true);
    }

    /// Takes out what stands within the content and is none of it.
    fn prune(&mut self, document: &Document, measures: &[Measure], stop: &Stop<'_>) {
        let root = measures[self.root.index()];
        let is_index = root.link_share() > 0.5;
        let inside: Vec<NodeId> = document.below(self.root).skip(1).collect();
        let is_paragraph = |node: &NodeId| {
            matches!(document.tag(*node), Some(Tag::P | Tag::Pre | Tag::Table))
                && !self.is_hidden(*node)
                && measures[node.index()].good > 30.0
        };
        let first_good = inside.iter().position(is_paragraph);
        let last_good = inside.iter().rposition(is_paragraph);
        let before = blocks_before(document);
        // The level of a heading that announces something else, and its parent.
        let mut skipping: Option<(usize, Option<NodeId>)> = None;
        for (at, node) in inside.into_iter().enumerate() {
            if stop.is_due() {
                return;
            }
            let Some(tag) = document.tag(node).filter(|_| !self.is_hidden(node)) else { continue };
            let measure = measures[node.index()];
            let parent = document.parent(node);
            if let Some(level) = tag.heading() {
                skipping = skipping.filter(|(over, _)| level > *over);
                let is_short = measure.letters <= 2 * LONGEST_OTHER as u32;
                let is_other = || is_short && is_other_heading(&self.text_of(document, node));
                if skipping.is_none() && level > 1 && is_other() {
                    skipping = Some((level, parent));
                }
                if skipping.is_some() {
                    self.hide(document, node);
                }
                continue;
            }
            if let Some((_, announced)) = skipping
                && announced == parent
                && tag.is_block()
            {
                // What follows such a heading goes along, where it is links or short.
                if measure.link_share() > 0.35 || measure.letters < 240 {
                    self.hide(document, node);
                    continue;
                }
                skipping = None;
            }
            let is_list = matches!(
                tag,
                Tag::Ul | Tag::Ol | Tag::Div | Tag::Section | Tag::P | Tag::Dl | Tag::Header | Tag::Table
            );
            let share = measure.link_share();
            let least = if matches!(tag, Tag::Ul | Tag::Ol) { 0.45 } else { 0.7 };
            if is_list && !is_index && measure.links >= 2 && share > least {
                let is_before =
                    first_good.is_some_and(|first| at < first) && measure.letters < 300 && share > 0.7;
                // At the end, a short list that is half links leads to the page before and the next one.
                let most = if share > 0.7 { 4 } else { 6 };
                let is_after =
                    last_good.is_some_and(|last| at > last) && measure.letters * most < root.letters;
                if (is_before || is_after) && !is_announced(document, before[node.index()]) {
                    self.hide(document, node);
                    continue;
                }
            }
            let is_inline = matches!(tag, Tag::A | Tag::Span);
            let is_alone = !is_inline
                || parent.is_some_and(|parent| measures[parent.index()].letters == measure.letters);
            let may_be_label = is_alone && (tag.is_block() || is_inline);
            if may_be_label
                && (1..=24).contains(&measure.letters)
                && !matches!(tag, Tag::Td | Tag::Th | Tag::Li | Tag::Dt | Tag::Pre)
                && is_label(&self.text_of(document, node))
            {
                self.hide(document, node);
            }
        }
    }

    /// The first heading of the highest level, in the content or else before it.
    fn find_heading(&mut self, document: &Document, is_site: &dyn Fn(&str) -> bool, stop: &Stop<'_>) {
        let has_words = |node: &NodeId| {
            let text = self.text_of(document, *node);
            text.chars().any(char::is_alphanumeric) && !is_site(&super::clean(&text))
        };
        let is_first = |node: &NodeId| document.tag(*node) == Some(Tag::H1) && !is_site_name(document, *node);
        let below = document.below(self.root).take_while(|_| !stop.is_due());
        let inside = below.filter(|node| !self.is_hidden(*node) && is_first(node)).find(has_words);
        if inside.is_some() {
            (self.heading, self.has_title) = (inside, true);
            return;
        }
        // The text of one that is hidden with its surroundings is read all the same.
        let whole = |node: &NodeId| document.below(*node).map(|node| document.text(node)).collect::<String>();
        let before = document.all().take_while(|node| *node <= self.root && !stop.is_due());
        let outside = before.filter(is_first);
        let outside: Vec<NodeId> = outside.filter(|node| !is_site(&super::clean(&whole(node)))).collect();
        if let [heading] = outside.as_slice() {
            let below: Vec<NodeId> = document.below(*heading).collect();
            for node in below {
                self.hidden[node.index()] = suspicion(document, node) == Suspicion::Certain;
            }
            self.heading = Some(*heading);
        }
    }
}

/// Judges every element. In code, the names of elements are those of a highlighter.
fn judged(document: &Document, stop: &Stop<'_>) -> Vec<Suspicion> {
    let mut is_code = vec![false; document.len()];
    let mut judged = Vec::with_capacity(document.len());
    for node in document.all() {
        let by_parent = document.parent(node).is_some_and(|parent| is_code[parent.index()]);
        is_code[node.index()] = by_parent || matches!(document.tag(node), Some(Tag::Pre | Tag::Code));
        let suspicion = if stop.is_due() { Suspicion::None } else { suspicion(document, node) };
        let is_of_highlighter = by_parent && suspicion != Suspicion::Certain;
        judged.push(if is_of_highlighter { Suspicion::None } else { suspicion });
    }
    judged
}

/// Whether a heading is the name of the whole site: a link to its front page.
fn is_site_name(document: &Document, heading: NodeId) -> bool {
    let parent = document.parent(heading).filter(|parent| document.tag(*parent) == Some(Tag::A));
    let links = document.below(heading).filter(|node| document.tag(*node) == Some(Tag::A));
    links.chain(parent).any(|link| {
        let href = document.attribute(link, Attribute::Href).unwrap_or_default();
        let rest =
            href.split_once("://").map_or(href, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
        matches!(rest, "/" | "./" | "index.html")
    })
}

/// Spreads what hides an element to everything in it.
fn hidden_by(document: &Document, is_hidden: impl Fn(NodeId) -> bool) -> Vec<bool> {
    let mut hidden = vec![false; document.len()];
    for node in document.all() {
        let by_parent = document.parent(node).is_some_and(|parent| hidden[parent.index()]);
        hidden[node.index()] = by_parent || is_hidden(node);
    }
    hidden
}

/// A block at the top with the title in it, and hardly a link.
fn holds_title(document: &Document, node: NodeId, all: &[Measure]) -> bool {
    matches!(document.tag(node), Some(Tag::Header | Tag::Hgroup | Tag::H1 | Tag::Div))
        && all[node.index()].link_share() < 0.3
        && document
            .below(node)
            .take(40)
            .any(|node| document.tag(node) == Some(Tag::H1) && !is_site_name(document, node))
}

/// The measures of all elements, those of the innermost first.
fn measured(document: &Document, hidden: &[bool]) -> Vec<Measure> {
    let mut measures = vec![Measure::default(); document.len()];
    for node in document.all().rev() {
        let at = node.index();
        if hidden[at] {
            measures[at] = Measure::default();
            continue;
        }
        match document.content(node) {
            Content::Text(_) => measures[at].letters = weight(document.text(node)),
            Content::Element(tag, _) => {
                if tag == Tag::A && document.attribute(node, Attribute::Href).is_some() {
                    measures[at].linked = measures[at].letters;
                    measures[at].links += 1;
                }
                if tag.is_block() {
                    measures[at].good += own_good(document, node, tag, &measures);
                }
            }
        }
        if let Some(parent) = document.parent(node) {
            let own = measures[at];
            let sum = &mut measures[parent.index()];
            sum.letters = sum.letters.saturating_add(own.letters);
            sum.linked = sum.linked.saturating_add(own.linked);
            sum.links += own.links;
            sum.good += own.good;
        }
    }
    measures
}

/// What the text of an element itself, outside of the blocks in it, is worth.
fn own_good(document: &Document, node: NodeId, tag: Tag, measures: &[Measure]) -> f32 {
    let (mut letters, mut linked) = (0_u32, 0_u32);
    for child in document.children(node) {
        let measure = measures[child.index()];
        if document.tag(child).is_none_or(|tag| !tag.is_block()) && measure.good == 0.0 {
            letters += measure.letters;
            linked += measure.linked;
        }
    }
    if letters == 0 {
        return 0.0;
    }
    let free = 1.0 - linked as f32 / letters as f32;
    let worth = match tag {
        Tag::Pre => 1.0,
        Tag::P | Tag::Blockquote if letters >= 30 => 1.2,
        _ if letters >= 30 => 1.0,
        Tag::Td | Tag::Th | Tag::Dd | Tag::Li => 0.6,
        _ => 0.3,
    };
    letters as f32 * worth * free * free
}

/// Letters, those of scripts without spaces counted double.
fn weight(text: &str) -> u32 {
    let of = |letter: char| match letter {
        ' ' | '\n' | '\t' | '\r' | '\u{a0}' => 0,
        '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => 2,
        _ => 1,
    };
    text.chars().map(of).sum()
}

/// From the whole page to the element that holds its content.
fn descend(document: &Document, hidden: &[bool], measures: &[Measure]) -> NodeId {
    let mut root = document.root();
    loop {
        let is_container = |child: &NodeId| {
            let Some(tag) = document.tag(*child) else { return false };
            let is_text = matches!(tag, Tag::P | Tag::Pre | Tag::Ul | Tag::Ol | Tag::Dl | Tag::Blockquote);
            let is_box = tag.is_block() && !is_text && tag.heading().is_none();
            (is_box || matches!(tag, Tag::Other | Tag::Span)) && !hidden[child.index()]
        };
        let good = |node: NodeId| measures[node.index()].good;
        let children = document.children(root).filter(is_container);
        let Some(best) = children.max_by(|a, b| good(*a).total_cmp(&good(*b))) else { return root };
        let share = if good(root) > 0.0 { good(best) / good(root) } else { 0.0 };
        let wanted = if is_named_content(document, best) { 0.5 } else { 0.85 };
        let is_data = document.tag(best) == Some(Tag::Table) && !is_frame(document, best, measures);
        if share < wanted || is_data {
            return root;
        }
        root = best;
    }
}

/// Whether a table has a cell with most of its text: then it only makes a layout.
fn is_frame(document: &Document, table: NodeId, measures: &[Measure]) -> bool {
    let all = measures[table.index()].letters;
    let is_long =
        |node: NodeId| document.tag(node) == Some(Tag::Td) && measures[node.index()].letters * 2 > all;
    document.below(table).any(is_long)
}

fn is_named_content(document: &Document, node: NodeId) -> bool {
    let value = |attribute| document.attribute(node, attribute).unwrap_or_default();
    let is_name = |name: &str| {
        matches!(
            name.to_ascii_lowercase().as_str(),
            "content"
                | "main"
                | "main-content"
                | "maincontent"
                | "article"
                | "post-content"
                | "entry-content"
                | "markdown-body"
                | "mw-content-text"
                | "bodycontent"
                | "article-body"
                | "story-body"
                | "post-body"
                | "document"
                | "page-content"
                | "entry"
                | "post"
        )
    };
    matches!(document.tag(node), Some(Tag::Main | Tag::Article | Tag::Body))
        || value(Attribute::Role) == "main"
        || value(Attribute::Itemprop).eq_ignore_ascii_case("articleBody")
        || [Attribute::Id, Attribute::Class]
            .iter()
            .any(|name| value(*name).split_ascii_whitespace().any(is_name))
}

/// By node: the block before it under the same parent.
fn blocks_before(document: &Document) -> Vec<Option<NodeId>> {
    let mut before = vec![None; document.len()];
    let mut last: Vec<Option<NodeId>> = vec![None; document.len()];
    for node in document.all().skip(1) {
        let Some(parent) = document.parent(node) else { continue };
        before[node.index()] = last[parent.index()];
        if document.tag(node).is_some_and(Tag::is_block) {
            last[parent.index()] = Some(node);
        }
    }
    before
}

/// Whether the block before a list announces it: a heading, or a text that ends with a colon.
fn is_announced(document: &Document, before: Option<NodeId>) -> bool {
    let Some(before) = before else { return false };
    let is_heading = |node: NodeId| document.tag(node).is_some_and(|tag| tag.heading().is_some());
    let text: String = document.below(before).take(100).map(|node| document.text(node)).collect();
    document.below(before).take(100).any(is_heading) || text.trim_end().ends_with([':', '：'])
}
