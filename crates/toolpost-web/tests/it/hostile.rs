//! Pages that are made to hurt their reader: all end, in bounded memory, and most say something.

use std::cell::Cell;
use toolpost_web::{Form, Page, PageUrl, Stop, Stopped, is_feed, read, read_feed};

const SIZE: usize = 2 << 20;

fn page(html: &str, form: Form) -> Page {
    let url = PageUrl::parse("https://site.example/").unwrap();
    read(html, &url, form, &Stop::never()).unwrap()
}

fn repeated(text: &str) -> String {
    text.repeat(SIZE / text.len())
}

#[test]
fn hostile_pages_are_read_in_bounds() {
    let url = PageUrl::parse("https://site.example/").unwrap();
    for html in [
        repeated("<div>"),
        repeated("<blockquote><ul><li>x"),
        repeated("<table><tr><td>x"),
        repeated("<table><tr>"),
        format!("<table>{}</table>", repeated("<tr><td rowspan=99999 colspan=99999>x</td></tr>")),
        repeated("<b><i><a href=x>y"),
        repeated("<p><a href=1>a</a><a href=2>b</a></p>"),
        format!(
            "{}<p>{}</p>",
            repeated("<p><a href=1>aaaa</a><a href=2>bbbb</a></p>"),
            repeated("good words here. ")
        ),
        repeated("<h1>Related</h1>"),
        repeated("<h1><div>x<h1>y</div><caption>word word. "),
        repeated("<h2>Related</h2><p>x</p>"),
        repeated("<details><summary>x"),
        repeated("<pre><code>``` `"),
        repeated("<span style='display:none'>x</span>"),
        format!("<div class='{}'>x</div>", repeated("a-b ")),
        format!("<p>{}", repeated("&amp;&#x41;&")),
        format!("<title>{}", repeated("x - y | ")),
        repeated("<sup><sub><math><svg>"),
        repeated("<li>"),
        repeated("<dl><dt><dd>"),
        repeated("\u{202e}\u{e0041}<p>"),
        repeated("<ul><li><p>a</p><p>b</p></ul>"),
    ] {
        for form in [Form::Markdown, Form::Plain] {
            let page = page(&html, form);
            assert!(page.text.len() < 16 * SIZE, "{} bytes of {:.40}", page.text.len(), html);
        }
    }
    for xml in [
        repeated("<item>"),
        repeated("<a b='"),
        repeated("<![CDATA["),
        repeated("<!--"),
        repeated("<item><title>x</title></item>"),
    ] {
        let xml = format!("<rss>{xml}");
        assert!(is_feed(&xml));
        assert!(read_feed(&xml, &url, Form::Markdown, &Stop::never()).unwrap().len() < SIZE);
    }
}

#[test]
fn what_nobody_sees_is_not_read() {
    let html = "<h1>Title</h1><p>Seen by all people who come here.</p><p style='display: none'>secret one</p>\
                <p hidden>secret two</p><p aria-hidden=true>secret three</p><div style='font-size:0'>secret four</div>\
                <!-- secret five --><noscript>secret six</noscript><template>secret seven</template>\
                <p>in\u{200b}vis\u{e0073}\u{202e}ible</p>";
    let text = page(html, Form::Markdown).text;
    assert_eq!(text, "# Title\n\nSeen by all people who come here.\n\ninvisible");
}

#[test]
fn pages_without_text_are_told() {
    let html = "<title>App</title><div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript>\
                <script src=/main.js></script>";
    assert!(page(html, Form::Markdown).needs_script);
    let html = "<title>App</title><p>A short page that is whole as it is.</p>";
    assert!(!page(html, Form::Markdown).needs_script);
}

/// What is written of a page can be much longer than the page: it ends at a limit.
#[test]
fn pages_that_grow_are_cut() {
    let base = format!("<base href='https://long.example/{}/'>", "x".repeat(8_000));
    let words = "word ".repeat(200);
    for html in [
        base.clone() + &"<a href=y>z</a> ".repeat(100_000),
        base.clone() + "<p>" + &"<img alt=z src=y>".repeat(100_000),
        base + "<table><tr><th>a<th>b" + &"<tr><td><a href=y>z</a><td>c".repeat(50_000) + "</table>",
        "<ol start=4000000000><li>".repeat(8) + "<pre>" + &"x\n".repeat(1 << 20),
        format!(
            "<table><tr><th>h{}</table>",
            (format!("<tr>{}", format!("<td rowspan=40>{words}").repeat(40)) + &"<tr>".repeat(40)).repeat(40)
        ),
    ] {
        let page = page(&html, Form::Markdown);
        assert!(page.is_cut && page.text.len() < 10 << 20, "{} bytes of {:.60}", page.text.len(), html);
    }
}

/// The reading stops soon after it is told to, wherever it is: it does a bounded number of steps between two looks.
#[test]
fn reading_stops_when_it_is_told_to() {
    let url = PageUrl::parse("https://site.example/").unwrap();
    let html =
        repeated("<div class='a-b c-d'><h2>Related</h2><p>words <a href=x>y</a></p><ul><li>z</ul></div>");
    let asked = Cell::new(0);
    let count = || {
        asked.set(asked.get() + 1);
        false
    };
    read(&html, &url, Form::Markdown, &Stop::when(&count)).unwrap();
    let all = asked.get();
    assert!(all > 100, "{all}");
    for at in [1, all / 5, all / 2, all - 1] {
        asked.set(0);
        let is_due = || {
            asked.set(asked.get() + 1);
            asked.get() >= at
        };
        assert_eq!(read(&html, &url, Form::Markdown, &Stop::when(&is_due)), Err(Stopped));
        assert!(asked.get() < at + all / 2, "{} looks after the {at}th", asked.get() - at);
    }
}

/// A name of a page is short, whatever the page says.
#[test]
fn names_are_short() {
    let html = format!("<title>{}</title><h1>{}</h1><p>Text.</p>", repeated("long "), repeated("longer "));
    let page = page(&html, Form::Markdown);
    assert!(
        page.title.chars().count() == 300 && page.title.starts_with("longer longer"),
        "{}",
        page.title.len()
    );
    // Each heading is compared with the title, which is read once.
    let html = format!("<title>{} - X</title>{}", "y".repeat(SIZE), repeated("<h1>X</h1>"));
    assert_eq!(self::page(&html, Form::Markdown).title, "X");
    let html = format!("<title>Name - X</title>{}", repeated("<h1>X</h1>"));
    assert_eq!(self::page(&html, Form::Markdown).title, "Name");
}

#[test]
fn a_page_that_sends_its_readers_on_says_where_to() {
    let lead = |content: &str| {
        let page = page(&format!("<meta http-equiv=Refresh content=\"{content}\"><p>Moved."), Form::Markdown);
        page.leads_to.map(|url| url.to_string())
    };
    for content in ["0; url=/new", "0;URL='/new'", "5, /new", " 0 ; Url = /new"] {
        assert_eq!(lead(content).as_deref(), Some("https://site.example/new"), "{content}");
    }
    for content in ["30", "0; url=javascript:alert(1)", "", "0;"] {
        assert_eq!(lead(content), None, "{content}");
    }
    // A page with text only refreshes itself.
    let text = repeated("<p>A sentence with several words in it.</p>");
    assert_eq!(
        page(&format!("<meta http-equiv=refresh content='9; url=/new'>{text}"), Form::Plain).leads_to,
        None
    );
}
