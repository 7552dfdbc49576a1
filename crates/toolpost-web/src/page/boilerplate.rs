//! What stands around the content of most pages: how it is named, and what it says.

use crate::html::{Attribute, Document, NodeId, Tag};

/// How sure it is that an element is not content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Suspicion {
    /// Nothing speaks against it.
    None,
    /// Remarks of readers, which are the content of some pages.
    Remarks,
    /// Its name says so.
    Named,
    /// No reader sees it, or it is no text.
    Certain,
}

/// Words in class names and ids that stand for something else than content.
const NAMES: &[&str] = &[
    "ad",
    "adbox",
    "ads",
    "adslot",
    "advert",
    "advertisement",
    "advertising",
    "affiliate",
    "announcement",
    "authorbox",
    "backlink",
    "backlinks",
    "bio",
    "blogroll",
    "breadcrumb",
    "breadcrumbs",
    "btn",
    "button",
    "buttons",
    "byline",
    "carousel",
    "catlinks",
    "consent",
    "contentinfo",
    "cookie",
    "cookies",
    "copyright",
    "crumbs",
    "cta",
    "dialog",
    "disclaimer",
    "dropdown",
    "editsection",
    "feedback",
    "flyout",
    "footer",
    "footernav",
    "footnav",
    "gdpr",
    "globalnav",
    "headerlink",
    "hideme",
    "indicators",
    "interlanguage",
    "jumpbox",
    "jumplinks",
    "jumpto",
    "languages",
    "leaderboard",
    "likes",
    "login",
    "masthead",
    "menu",
    "menubar",
    "menus",
    "metanav",
    "modal",
    "mostread",
    "nav",
    "navbar",
    "navbox",
    "navframe",
    "navi",
    "navigation",
    "navlink",
    "navlinks",
    "navmenu",
    "navs",
    "newsletter",
    "noprint",
    "notification",
    "offcanvas",
    "onetrust",
    "outbrain",
    "overlay",
    "pager",
    "pagination",
    "paging",
    "paywall",
    "permalink",
    "popular",
    "popup",
    "postprofile",
    "prevnext",
    "profile",
    "promo",
    "promoted",
    "promotion",
    "pullquote",
    "rail",
    "rating",
    "ratings",
    "reactions",
    "recirc",
    "recommend",
    "recommendations",
    "recommended",
    "related",
    "relatedposts",
    "score",
    "search",
    "searchbox",
    "searchform",
    "share",
    "sharebar",
    "sharedaddy",
    "sharing",
    "shortcuts",
    "sidebar",
    "sidenav",
    "signature",
    "signin",
    "signup",
    "siteinfo",
    "sitemap",
    "skip",
    "skiplink",
    "social",
    "socials",
    "sponsor",
    "sponsored",
    "src",
    "subnav",
    "subscribe",
    "subscription",
    "taboola",
    "tagcloud",
    "tags",
    "teaser",
    "toc",
    "togg",
    "toolbar",
    "tooltip",
    "topbar",
    "trending",
    "utility",
    "votecell",
    "votes",
    "voting",
    "widget",
];

/// Two words that mean something together.
const PAIRS: &[(&str, &str)] = &[
    ("sr", "only"),
    ("screen", "reader"),
    ("visually", "hidden"),
    ("site", "header"),
    ("global", "header"),
    ("read", "more"),
    ("most", "read"),
    ("also", "like"),
    ("read", "next"),
    ("up", "next"),
    ("edit", "page"),
    ("page", "tools"),
    ("table", "of"),
    ("on", "this"),
    ("prev", "next"),
    ("language", "name"),
    ("example", "header"),
];

const REMARKS: &[&str] =
    &["comment", "comments", "commentlist", "disqus", "respond", "responses", "discussion"];

/// Words by which content is named. An element whose name ends with one is not judged by the other words of it.
const CONTENT: &[&str] = &[
    "article",
    "articlebody",
    "body",
    "content",
    "document",
    "entry",
    "main",
    "markdown",
    "post",
    "postbody",
    "prose",
    "readme",
    "story",
    "text",
];

/// Words at the beginning or end of a name that speaks of a layout: `has-sidebar`, `nav-open`.
const LAYOUT_FIRST: &[&str] = &["has", "with", "no", "is", "js", "theme", "layout", "col"];
const LAYOUT_LAST: &[&str] =
    &["open", "enabled", "visible", "layout", "wrapper", "container", "page", "grid", "offset"];

/// Judges an element by itself.
pub(super) fn suspicion(document: &Document, node: NodeId) -> Suspicion {
    use Tag::*;
    let Some(tag) = document.tag(node) else { return Suspicion::None };
    let value = |attribute| document.attribute(node, attribute);
    let is_no_text = matches!(
        tag,
        Script
            | Style
            | Template
            | Head
            | Title
            | Iframe
            | Object
            | Embed
            | Canvas
            | Svg
            | Audio
            | Video
            | Button
            | Select
            | Textarea
            | Dialog
            | Map
            | Noscript
            | Noembed
            | Noframes
            | Rp
            | Legend
    );
    if is_no_text || tag == Input && value(Attribute::Type) != Some("checkbox") {
        return Suspicion::Certain;
    }
    let is_silent = value(Attribute::AriaHidden) == Some("true") && !matches!(tag, Img | Code | Pre | Math);
    if is_silent
        || value(Attribute::Hidden).is_some_and(|hidden| hidden != "until-found")
        || value(Attribute::Style).is_some_and(is_invisible)
    {
        return Suspicion::Certain;
    }
    if is_line_number(document, node) {
        return Suspicion::Certain;
    }
    match tag {
        Html | Body | Main | Pre | Code | Td | Th | Tr | Tbody | Thead => return Suspicion::None,
        Nav | Footer | Search | Menu => return Suspicion::Named,
        _ => {}
    }
    match value(Attribute::Role).unwrap_or_default() {
        "navigation" | "banner" | "contentinfo" | "search" | "complementary" | "dialog" | "menu"
        | "menubar" | "toolbar" | "tablist" | "alertdialog" | "doc-toc" | "doc-backlink" => {
            return Suspicion::Named;
        }
        "main" | "article" => return Suspicion::None,
        _ => {}
    }
    match by_name(document, node) {
        Suspicion::None if tag == Aside => Suspicion::Named,
        by_name => by_name,
    }
}

fn by_name(document: &Document, node: NodeId) -> Suspicion {
    let value = |attribute| document.attribute(node, attribute).unwrap_or_default();
    let classes = value(Attribute::Class).split_ascii_whitespace();
    // The id of a section is often made of the words of its heading, which say what it is about.
    let is_section = document.tag(node).is_some_and(|tag| tag == Tag::Section || tag.heading().is_some())
        || classes.clone().any(|class| class == "section");
    let id = Some(value(Attribute::Id)).filter(|id| !is_section && words(id).len() <= 3);
    classes.chain(id).map(of_name).max().unwrap_or(Suspicion::None)
}

/// Judges one class or id, such as `site-footer`, `relatedPosts`, `post__share`.
fn of_name(name: &str) -> Suspicion {
    // Utility classes, such as `lg:nav`, say nothing of what an element is.
    if name.contains([':', '[', '@']) {
        return Suspicion::None;
    }
    let words = words(&name[..name.floor_char_boundary(80)]);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_last = |list: &[&str]| words.last().is_some_and(|last| list.contains(&last.as_str()));
    let is_first = |list: &[&str]| words.first().is_some_and(|first| list.contains(&first.as_str()));
    if words.len() > 1 && (is_first(LAYOUT_FIRST) || is_last(LAYOUT_LAST)) {
        return Suspicion::None;
    }
    let is_pair = |(first, second): &(&str, &str)| {
        words.windows(2).any(|pair| matches!(pair, [one, two] if one == first && two == second))
    };
    if PAIRS.iter().any(is_pair) {
        return Suspicion::Named;
    }
    // The link from a heading back to the list of contents is the heading.
    if is_pair(&("toc", "backref")) {
        return Suspicion::None;
    }
    match is_last(CONTENT) {
        true => Suspicion::None,
        false if has(NAMES) => Suspicion::Named,
        false if has(REMARKS) => Suspicion::Remarks,
        false => Suspicion::None,
    }
}

/// `relatedPosts` and `related-posts` are `related` and `posts`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_small = false;
    for letter in name.chars() {
        let is_part = letter.is_alphanumeric();
        if (!is_part || letter.is_uppercase() && was_small) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        was_small = is_part && !letter.is_uppercase();
        if is_part {
            word.extend(letter.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The numbers beside lines of code.
fn is_line_number(document: &Document, node: NodeId) -> bool {
    let classes = document.attribute(node, Attribute::Class).unwrap_or_default();
    let is_number = |class: &str| {
        matches!(
            class,
            "linenos"
                | "lineno"
                | "linenodiv"
                | "gutter"
                | "gl"
                | "blob-num"
                | "rouge-gutter"
                | "line-number"
                | "line-numbers-rows"
                | "LineNumber"
        )
    };
    document.tag(node) != Some(Tag::Pre) && classes.split_ascii_whitespace().any(is_number)
}

/// Whether a style hides its element: by itself, out of the screen, cut away, without size or in the colour of its ground.
fn is_invisible(style: &str) -> bool {
    let style: String = style.chars().filter(|letter| !letter.is_whitespace()).collect();
    let style = style.to_ascii_lowercase();
    let parts = || {
        let parts = style.split(';').filter_map(|part| part.split_once(':'));
        parts.map(|(key, value)| (key, value.trim_end_matches("!important")))
    };
    let value_of = |wanted: &str| parts().find(|(key, _)| *key == wanted).map(|(_, value)| value);
    let number = |value: &str| {
        let digits = value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == '%');
        digits.parse::<f32>().ok()
    };
    let is_clipped = || parts().any(|(key, value)| key.starts_with("overflow") && value == "hidden");
    let is_hidden = |(key, value): (&str, &str)| match key {
        "display" => value.starts_with("none"),
        "visibility" => value.starts_with("hidden") || value == "collapse",
        "opacity" | "font-size" => number(value) == Some(0.0),
        "left" | "top" | "right" | "bottom" | "text-indent" | "margin-left" | "margin-top" => {
            let far = if value.ends_with("px") { -500.0 } else { -90.0 };
            number(value).is_some_and(|number| number <= far)
        }
        "width" | "height" | "max-width" | "max-height" => {
            number(value).is_some_and(|size| size <= 1.0 && !value.ends_with("em")) && is_clipped()
        }
        "clip" => value.starts_with("rect(0") || value.starts_with("rect(1px"),
        "clip-path" => matches!(value, "inset(50%)" | "inset(100%)" | "circle(0)" | "circle(0px)"),
        "transform" => value.starts_with("scale(0)"),
        "color" => {
            value == "transparent"
                || value_of("background-color")
                    .or(value_of("background"))
                    .is_some_and(|ground| ground == value)
        }
        _ => false,
    };
    parts().any(is_hidden)
}

/// Maximum number of letters of a heading that announces something else than content.
pub(super) const LONGEST_OTHER: usize = 60;

/// Whether a heading announces something else than content.
pub(super) fn is_other_heading(text: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "related",
        "recommended",
        "you may also",
        "you might also",
        "more from",
        "more in",
        "more stories",
        "more on this",
        "read more",
        "read next",
        "up next",
        "most read",
        "most popular",
        "popular",
        "trending",
        "latest news",
        "latest stories",
        "share this",
        "follow us",
        "newsletter",
        "subscribe",
        "sign up",
        "stay up to date",
        "advertisement",
        "table of contents",
        "contents",
        "on this page",
        "in this article",
        "leave a",
        "around the web",
        "who is online",
        "sponsored",
        "verwandte",
        "関連",
        "相关",
        "связанные",
        "мнения",
        "читайте также",
    ];
    let text = text.trim().trim_start_matches(['¶', '#', ' ']).to_lowercase();
    text.chars().count() <= LONGEST_OTHER && BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

/// Whether a short text is a label of the page's machinery.
pub(super) fn is_label(text: &str) -> bool {
    const LABELS: &[&str] = &[
        "advertisement",
        "ad",
        "share",
        "share this",
        "tweet",
        "print",
        "copy",
        "copied!",
        "edit",
        "edit this page",
        "edit on github",
        "skip to content",
        "skip to main content",
        "jump to content",
        "back to top",
        "top",
        "next",
        "previous",
        "reply",
        "report",
        "save",
        "follow",
        "like",
        "more",
        "menu",
        "improve this page",
        "improve this answer",
        "view source",
        "suggest edits",
        "permalink",
        "loading…",
        "[edit]",
        "[source]",
    ];
    let is_around = |letter: char| "»«›‹→←|· ".contains(letter) || letter.is_whitespace();
    let text = text.trim_matches(is_around).to_lowercase();
    LABELS.contains(&text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged() {
        for (name, expected) in [
            ("site-footer", Suspicion::Named),
            ("relatedPosts", Suspicion::Named),
            ("post__share", Suspicion::Named),
            ("sr-only", Suspicion::Named),
            ("comments-area", Suspicion::Remarks),
            ("comment-body", Suspicion::None),
            ("has-sidebar", Suspicion::None),
            ("nav-open", Suspicion::None),
            ("md:nav", Suspicion::None),
            ("article-content", Suspicion::None),
            ("shadow-header", Suspicion::None),
            ("loading", Suspicion::None),
        ] {
            assert_eq!(of_name(name), expected, "{name}");
        }
        assert!(is_invisible("color: red; DISPLAY : none !important") && is_invisible("font-size:0px"));
        for hidden in [
            "position: absolute; left: -9999px",
            "text-indent:-100em",
            "color: #FFF; background: #fff",
            "color:transparent",
            "clip: rect(0, 0, 0, 0)",
            "clip-path: inset(50%)",
            "height: 1px; width: 1px; overflow: hidden",
            "max-height:0;overflow-y:hidden",
            "visibility: hidden !important",
        ] {
            assert!(is_invisible(hidden), "{hidden}");
        }
        for shown in [
            "display: block; opacity: 0.5",
            "margin-left: -20px",
            "left: -50%",
            "color: white; background: black",
            "height: 0",
            "max-width: 1em; overflow: hidden",
            "clip: auto",
            "width:100%;overflow:hidden",
        ] {
            assert!(!is_invisible(shown), "{shown}");
        }
    }
}
