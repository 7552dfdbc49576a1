//! The elements that mean something to a reader. All others are `Other`.

/// Makes the enum and its names from one list.
///
/// ```text
/// tags! { A "a", Abbr "abbr" }
/// ```
///
/// becomes `enum Tag { A, Abbr, Other }` and a function from `"a"` to `Tag::A`.
macro_rules! tags {
    ($($tag:ident $name:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Tag {
            $($tag,)*
            /// Any other element.
            Other,
        }

        impl Tag {
            /// The tag of a name in lower case.
            pub(super) fn named(name: &[u8]) -> Tag {
                match std::str::from_utf8(name).unwrap_or_default() {
                    $($name => Tag::$tag,)*
                    _ => Tag::Other,
                }
            }
        }
    };
}

tags! {
    A "a", Abbr "abbr", Address "address", Annotation "annotation", Area "area", Article "article", Aside "aside",
    Audio "audio", B "b", Base "base", Blockquote "blockquote", Body "body", Br "br", Button "button", Canvas "canvas",
    Caption "caption", Center "center", Code "code", Col "col", Colgroup "colgroup", Dd "dd", Del "del",
    Details "details", Dialog "dialog", Div "div", Dl "dl", Dt "dt", Em "em", Embed "embed", Fieldset "fieldset",
    Figcaption "figcaption", Figure "figure", Footer "footer", Form "form", H1 "h1", H2 "h2", H3 "h3", H4 "h4",
    H5 "h5", H6 "h6", Head "head", Header "header", Hgroup "hgroup", Hr "hr", Html "html", I "i", Iframe "iframe",
    Img "img", Input "input", Ins "ins", Kbd "kbd", Label "label", Legend "legend", Li "li", Link "link",
    Listing "listing", Main "main", Map "map", Mark "mark", Math "math", Menu "menu", Meta "meta", Nav "nav",
    Noembed "noembed", Noframes "noframes", Noscript "noscript", Object "object", Ol "ol", Optgroup "optgroup",
    Option "option", P "p", Param "param", Picture "picture", Plaintext "plaintext", Pre "pre", Q "q", Rp "rp",
    Rt "rt", Ruby "ruby", S "s", Samp "samp", Script "script", Search "search", Section "section", Select "select",
    Semantics "semantics", Small "small", Source "source", Span "span", Strike "strike", Strong "strong",
    Style "style", Sub "sub", Summary "summary", Sup "sup", Svg "svg", Table "table", Tbody "tbody", Td "td",
    Template "template", Textarea "textarea", Tfoot "tfoot", Th "th", Thead "thead", Time "time", Title "title",
    Tr "tr", Track "track", Tt "tt", U "u", Ul "ul", Var "var", Video "video", Wbr "wbr", Xmp "xmp",
}

impl Tag {
    /// Never has content.
    pub(super) fn is_void(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Area | Base | Br | Col | Embed | Hr | Img | Input | Link | Meta | Param | Source | Track | Wbr
        )
    }

    /// Its content is text and no markup.
    pub(super) fn is_raw(self) -> bool {
        use Tag::*;
        matches!(self, Script | Style | Textarea | Title | Xmp | Iframe | Noembed | Noframes | Plaintext)
    }

    /// References in its content are replaced although it is no markup.
    pub(super) fn is_escapable_raw(self) -> bool {
        matches!(self, Tag::Textarea | Tag::Title)
    }

    /// Stands on lines of its own.
    pub(crate) fn is_block(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Address
                | Article
                | Aside
                | Blockquote
                | Body
                | Caption
                | Center
                | Dd
                | Details
                | Dialog
                | Div
                | Dl
                | Dt
                | Fieldset
                | Figcaption
                | Figure
                | Footer
                | Form
                | H1
                | H2
                | H3
                | H4
                | H5
                | H6
                | Header
                | Hgroup
                | Hr
                | Html
                | Legend
                | Li
                | Listing
                | Main
                | Menu
                | Nav
                | Ol
                | Optgroup
                | Option
                | P
                | Plaintext
                | Pre
                | Search
                | Section
                | Summary
                | Table
                | Tbody
                | Td
                | Tfoot
                | Th
                | Thead
                | Tr
                | Ul
                | Xmp
        )
    }

    /// Its level, for a heading.
    pub(crate) fn heading(self) -> Option<usize> {
        match self {
            Tag::H1 => Some(1),
            Tag::H2 => Some(2),
            Tag::H3 => Some(3),
            Tag::H4 => Some(4),
            Tag::H5 => Some(5),
            Tag::H6 => Some(6),
            _ => None,
        }
    }
}
