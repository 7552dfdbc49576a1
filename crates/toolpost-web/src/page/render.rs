//! The content of a page as markdown, or as its words alone.

use super::Form;
use super::code;
use super::content::Main;
use super::inline::{Inline, Opened};
use super::table;
use crate::html::{Attribute, Content, Document, NodeId, Tag};
use crate::stop::Stop;
use crate::url::PageUrl;

/// Maximum number of lists and quotations in each other that are indented.
const DEEPEST: usize = 8;

/// Maximum number of bytes that are written. Long addresses, deep lists and spanning cells make a page longer than its source.
const MAX_BYTES: usize = 8 << 20;

pub(super) struct Renderer<'a> {
    pub(super) document: &'a Document,
    pub(super) main: &'a Main,
    url: &'a PageUrl,
    pub(super) form: Form,
    stop: &'a Stop<'a>,
    out: String,
    inline: Inline,
    /// What each line begins with: quotations and the indentation of lists.
    prefix: String,
    /// What the last line that was written began with.
    last_prefix: String,
    depth: usize,
    /// What stands before the next line in place of the end of the prefix: the mark of an item.
    mark: Option<String>,
    /// What goes before the next block.
    gap: Gap,
    /// Whether everything stands on one line, as in a cell of a table.
    is_cell: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    Nothing,
    Line,
    Blank,
}

impl<'a> Renderer<'a> {
    pub(super) fn new(
        document: &'a Document,
        main: &'a Main,
        url: &'a PageUrl,
        form: Form,
        stop: &'a Stop<'a>,
    ) -> Renderer<'a> {
        Renderer {
            document,
            main,
            url,
            form,
            stop,
            out: String::new(),
            inline: Inline::default(),
            prefix: String::new(),
            last_prefix: String::new(),
            depth: 0,
            mark: None,
            gap: Gap::Nothing,
            is_cell: false,
        }
    }

    /// The same for a cell of a table.
    pub(super) fn for_cell(&self) -> Renderer<'a> {
        let Renderer { document, main, url, form, stop, .. } = *self;
        Renderer { is_cell: true, ..Renderer::new(document, main, url, form, stop) }
    }

    /// How many bytes may still be written.
    pub(super) fn room(&self) -> usize {
        MAX_BYTES.saturating_sub(self.out.len() + self.inline.len())
    }

    /// Whether nothing more is written.
    pub(super) fn is_full(&self) -> bool {
        self.room() == 0
    }

    pub(super) fn title(&mut self, title: &str) {
        let mark = if self.form == Form::Markdown { "# " } else { "" };
        self.block(&format!("{mark}{title}"));
    }

    pub(super) fn finish(mut self) -> String {
        self.flush();
        // A line that parts the text from nothing goes too.
        let mut end = self.out.trim_end();
        while let Some(rest) = end.strip_suffix("\n---") {
            end = rest.trim_end();
        }
        self.out.truncate(end.len());
        self.out
    }

    /// The text of a cell, on one line.
    pub(super) fn finish_cell(mut self) -> String {
        super::clean(&self.inline.take())
    }

    /// Writes what is in an element.
    pub(super) fn blocks(&mut self, node: NodeId) {
        for child in self.document.children(node) {
            self.node(child);
        }
    }

    fn node(&mut self, node: NodeId) {
        if self.main.is_hidden(node) || self.is_full() || self.stop.is_due() {
            return;
        }
        match self.document.content(node) {
            Content::Text(_) => self.inline.push(self.document.text(node)),
            Content::Element(tag, _) => self.element(node, tag),
        }
    }

    fn element(&mut self, node: NodeId, tag: Tag) {
        let is_marked = self.form == Form::Markdown;
        match tag {
            Tag::Br => self.inline.line_end(),
            Tag::Wbr => {}
            Tag::Hr => {
                self.flush();
                if is_marked && !self.is_cell {
                    self.block("---");
                }
            }
            Tag::Img => self.image(node),
            Tag::Input => self.inline.push(match self.document.attribute(node, Attribute::Checked) {
                Some(_) => "[x] ",
                None => "[ ] ",
            }),
            Tag::Math => self.math(node),
            Tag::A => self.link(node),
            Tag::Strong | Tag::B => self.marked(node, "**"),
            Tag::Em | Tag::I | Tag::Var => self.marked(node, "*"),
            Tag::Del | Tag::S | Tag::Strike => self.marked(node, "~~"),
            Tag::Code | Tag::Tt | Tag::Samp | Tag::Kbd => self.code(node),
            Tag::Sup => self.raised(node),
            Tag::Q => {
                self.inline.push_raw("“");
                self.blocks(node);
                self.inline.push_raw("”");
            }
            Tag::Rt => {
                self.inline.push_raw("(");
                self.blocks(node);
                self.inline.push_raw(")");
            }
            _ if !tag.is_block() => self.blocks(node),
            _ => {
                self.flush();
                self.block_element(node, tag);
                self.flush();
            }
        }
    }

    fn block_element(&mut self, node: NodeId, tag: Tag) {
        if let Some(level) = tag.heading() {
            return self.heading(node, level);
        }
        match tag {
            Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext => self.preformatted(node),
            Tag::Ul | Tag::Ol | Tag::Menu => self.list(node, tag),
            Tag::Li => self.item(node, "- "),
            Tag::Blockquote => {
                self.apart();
                self.indented("> ", |renderer| renderer.blocks(node));
                self.gap = self.gap.max(Gap::Blank);
            }
            Tag::Table => table::write(self, node),
            Tag::Dt | Tag::Summary => {
                self.apart();
                self.marked(node, "**");
                self.flush();
                self.gap = Gap::Line;
            }
            Tag::Dd => {
                self.gap = self.gap.min(Gap::Line);
                self.blocks(node);
                self.flush();
                self.gap = Gap::Blank;
            }
            _ => {
                self.apart();
                self.blocks(node);
                self.flush();
                self.gap = self.gap.max(Gap::Blank);
            }
        }
    }

    fn heading(&mut self, node: NodeId, level: usize) {
        // Within a line, it is a part of that line, which is not to be read again for each of its headings.
        if self.is_cell {
            self.blocks(node);
            return;
        }
        self.blocks_on_one_line(node);
        let text = self.inline.take().replace('\n', " ");
        let text = text.trim_end_matches(['¶', '#', '§', '🔗', ' ']);
        let is_made_of_marks = !text.chars().any(char::is_alphanumeric);
        if text.is_empty() || is_made_of_marks && text.len() < 4 {
            return;
        }
        let text = text.trim_start_matches(['#', '§', ' ']);
        let marks = match self.form {
            Form::Markdown => "######"[..level].to_owned() + " ",
            Form::Plain => String::new(),
        };
        self.apart();
        self.block(&format!("{marks}{}", text.replace("**", "")));
    }

    /// Writes what is in an element, without paragraphs of its own.
    fn blocks_on_one_line(&mut self, node: NodeId) {
        let was_cell = std::mem::replace(&mut self.is_cell, true);
        self.blocks(node);
        self.is_cell = was_cell;
    }

    fn preformatted(&mut self, node: NodeId) {
        let text = code::text(self.document, self.main, node);
        let language = code::language(self.document, node);
        self.fenced(&text, &language);
    }

    /// Writes lines of code.
    pub(super) fn fenced(&mut self, text: &str, language: &str) {
        let text = text.trim_end().trim_start_matches('\n');
        if text.is_empty() {
            return;
        }
        if self.is_cell {
            let mark = "`".repeat(longest_run(text, '`') + 1);
            self.inline
                .push_raw(&format!("{mark}{}{mark}", text.split_whitespace().collect::<Vec<_>>().join(" ")));
            return;
        }
        self.apart();
        match self.form {
            Form::Plain => self.block(text),
            Form::Markdown => {
                let fence = "`".repeat((longest_run(text, '`') + 1).max(3));
                self.block(&format!("{fence}{language}\n{text}\n{fence}"));
            }
        }
        self.gap = self.gap.max(Gap::Blank);
    }

    fn list(&mut self, node: NodeId, tag: Tag) {
        match self.depth {
            0 => self.apart(),
            _ => self.gap = Gap::Line,
        }
        let start =
            self.document.attribute(node, Attribute::Start).and_then(|start| start.parse::<u32>().ok());
        let mut number = start.unwrap_or(1);
        for child in self.document.children(node) {
            match self.document.tag(child) {
                Some(Tag::Li) if self.main.is_hidden(child) => {}
                Some(Tag::Li) => {
                    let mark = if tag == Tag::Ol { format!("{number}. ") } else { "- ".to_owned() };
                    number = number.saturating_add(1);
                    self.item(child, &mark);
                }
                _ => self.node(child),
            }
        }
        self.flush();
        self.gap = if self.depth == 0 { Gap::Blank } else { Gap::Line };
    }

    fn item(&mut self, node: NodeId, mark: &str) {
        self.flush();
        if !self.main.shows_something(self.document, node) {
            return;
        }
        self.mark = Some(mark.to_owned());
        self.indented(&" ".repeat(mark.len()), |renderer| renderer.blocks(node));
        self.mark = None;
        self.gap = Gap::Line;
    }

    /// Writes something with a longer prefix.
    fn indented(&mut self, prefix: &str, write: impl FnOnce(&mut Self)) {
        let length = self.prefix.len();
        let is_indented = self.depth < DEEPEST && !self.is_cell;
        if is_indented {
            self.prefix.push_str(prefix);
        } else {
            self.mark = None;
        }
        self.depth += 1;
        write(self);
        self.flush();
        self.depth -= 1;
        self.prefix.truncate(length);
    }

    fn marked(&mut self, node: NodeId, mark: &str) {
        let opened = self.inline.open();
        self.blocks(node);
        if self.form == Form::Markdown {
            self.inline.close(opened, |inner| match inner.starts_with(mark) && inner.ends_with(mark) {
                true => inner.to_owned(),
                false => format!("{mark}{}{mark}", inner.replace('\n', " ")),
            });
        }
    }

    fn code(&mut self, node: NodeId) {
        let opened = self.inline.open();
        let text = self.main.text_of(self.document, node);
        self.inline.push(&text);
        if self.form == Form::Markdown {
            self.inline.close(opened, |inner| {
                let mark = "`".repeat(longest_run(inner, '`') + 1);
                let space = if inner.starts_with('`') || inner.ends_with('`') { " " } else { "" };
                format!("{mark}{space}{inner}{space}{mark}")
            });
        }
    }

    /// Numbers of references are left out; an exponent is marked, so that 10² is not 102.
    fn raised(&mut self, node: NodeId) {
        let text = self.main.text_of(self.document, node);
        let text = text.trim();
        let is_reference = text.starts_with('[') && text.ends_with(']') && text.len() <= 8;
        let is_noted = self.document.children(node).any(|child| {
            let href = self.document.attribute(child, Attribute::Href).unwrap_or_default();
            href.contains("#fn") || href.contains("#cite") || href.contains("#ref")
        });
        if is_reference || is_noted {
            return;
        }
        if text.chars().all(|letter| letter.is_ascii_digit() || letter == '-' || letter == '−')
            && !text.is_empty()
        {
            self.inline.push_raw("^");
        }
        self.blocks(node);
    }

    fn link(&mut self, node: NodeId) {
        let opened = self.inline.open();
        self.blocks(node);
        self.close_link(node, opened);
    }

    fn close_link(&mut self, node: NodeId, opened: Opened) {
        let href = self.document.attribute(node, Attribute::Href).unwrap_or_default().trim();
        if self.form == Form::Plain || href.is_empty() {
            return;
        }
        let (is_within, url) = (href.starts_with('#'), self.url);
        self.inline.close(opened, |inner| {
            // A sign that only leads to its own place.
            if is_within && matches!(inner, "#" | "¶" | "§" | "🔗" | "↩" | "↩︎" | "^") {
                return String::new();
            }
            let address = if is_within { None } else { url.join(href).ok() };
            let mail = href.strip_prefix("mailto:").map(|mail| mail.split('?').next().unwrap_or_default());
            match (&address, mail) {
                (Some(address), _) => {
                    let fragment = href.find('#').map_or("", |at| &href[at..]);
                    let address = format!("{address}{}", fragment.replace([' ', ')', '('], ""));
                    let address = address.replace('(', "%28").replace(')', "%29");
                    match inner == address || inner == address.trim_end_matches('/') {
                        true => format!("<{address}>"),
                        false => format!("[{}]({address})", inner.replace('\n', " ")),
                    }
                }
                (None, Some(mail)) if !inner.contains('@') => format!("{inner} <{mail}>"),
                _ => inner.to_owned(),
            }
        });
    }

    fn image(&mut self, node: NodeId) {
        let value = |attribute| self.document.attribute(node, attribute).unwrap_or_default().trim();
        let alt = super::clean(value(Attribute::Alt));
        if alt.is_empty() {
            return;
        }
        // A formula as a picture has its source as its text.
        let formula = alt.strip_prefix("{\\displaystyle ").and_then(|alt| alt.strip_suffix('}'));
        if let Some(formula) = formula {
            self.inline.push_raw(&format!("${}$", formula.trim()));
            return;
        }
        let source = if value(Attribute::Src).starts_with("data:") {
            value(Attribute::DataSrc)
        } else {
            value(Attribute::Src)
        };
        let address = if source.is_empty() { None } else { self.url.join(source).ok() };
        match (self.form, address) {
            (Form::Markdown, Some(address)) => {
                let address = address.to_string().replace('(', "%28").replace(')', "%29");
                self.inline.push_raw(&format!("![{}]({address})", alt.replace([']', '['], "")));
            }
            (Form::Markdown, None) => self.inline.push_raw(&format!("![{}]", alt.replace([']', '['], ""))),
            (Form::Plain, _) => self.inline.push(&alt),
        }
    }

    /// A formula by its source, where it has one.
    fn math(&mut self, node: NodeId) {
        let source = self.document.below(node).find(|node| {
            self.document.tag(*node) == Some(Tag::Annotation)
                && self.document.attribute(*node, Attribute::Encoding) == Some("application/x-tex")
        });
        match source {
            Some(source) => {
                let text: String = self.document.below(source).map(|node| self.document.text(node)).collect();
                self.inline.push_raw(&format!("${}$", super::clean(&text)));
            }
            None => self.blocks(node),
        }
    }

    /// Leaves a blank line before the next block, unless that is the first of its item.
    fn apart(&mut self) {
        if self.mark.is_none() {
            self.gap = self.gap.max(Gap::Blank);
        }
    }

    /// Ends a paragraph.
    pub(super) fn flush(&mut self) {
        if self.is_cell {
            self.inline.push(" ");
            return;
        }
        let text = self.inline.take();
        if text.is_empty() {
            return;
        }
        match self.form {
            Form::Plain => self.block(&text),
            Form::Markdown => self.block(&without_marks(&text)),
        }
        self.gap = Gap::Blank;
    }

    /// Writes lines, each with its prefix.
    pub(super) fn block(&mut self, text: &str) {
        if self.is_cell {
            self.inline.push(text);
            return;
        }
        if !self.out.is_empty() {
            match self.gap {
                Gap::Nothing | Gap::Line => self.out.push('\n'),
                Gap::Blank if self.mark.is_some() && self.out.ends_with('\n') => {}
                Gap::Blank => {
                    self.out.push('\n');
                    let length = self.gap_prefix();
                    self.out.push_str(self.prefix[..length].trim_end());
                    self.out.push('\n');
                }
            }
        }
        for (at, line) in text.split('\n').enumerate() {
            if self.is_full() {
                break;
            }
            if at > 0 {
                self.out.push('\n');
            }
            let start = self.out.len();
            match self.mark.take() {
                Some(mark) => {
                    let outer = self.prefix.len() - mark.len().min(self.prefix.len());
                    self.out.push_str(&self.prefix[..outer]);
                    self.out.push_str(&mark);
                }
                None => self.out.push_str(&self.prefix),
            }
            match line {
                "" => {
                    let end = start + self.out[start..].trim_end().len();
                    self.out.truncate(end);
                }
                line => self.out.push_str(line),
            }
        }
        self.last_prefix.clone_from(&self.prefix);
        self.gap = Gap::Blank;
    }

    /// How much of the prefix a blank line has: what the lines around it share.
    fn gap_prefix(&self) -> usize {
        let mark = self.mark.as_ref().map_or(0, String::len);
        let own = &self.prefix.as_bytes()[..self.prefix.len() - mark.min(self.prefix.len())];
        own.iter().zip(self.last_prefix.as_bytes()).take_while(|(own, last)| own == last).count()
    }
}

/// A paragraph of which no line looks like a heading, a list or a quotation.
fn without_marks(text: &str) -> String {
    let looks = |line: &str| {
        let digits = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let hashes = line.trim_start_matches('#');
        line.starts_with("- ")
            || line.starts_with("+ ")
            || line.starts_with("* ")
            || line.starts_with("> ")
            || hashes.len() < line.len() && hashes.starts_with(' ')
            || line.starts_with("```")
            || digits.len() < line.len() && line.len() - digits.len() < 4 && digits.starts_with(". ")
    };
    let lines = text.split('\n').map(|line| {
        let is_number = line.starts_with(|letter: char| letter.is_ascii_digit());
        match looks(line) {
            true if is_number => line.replacen(". ", "\\. ", 1),
            true => format!("\\{line}"),
            false => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The longest run of a letter.
pub(super) fn longest_run(text: &str, letter: char) -> usize {
    text.split(|other| other != letter).map(str::len).max().unwrap_or(0)
}
