//! Pages that are made to hurt their reader: all end, in bounded memory, and most say something.

use toolpost_web::{Form, PageUrl, is_feed, read, read_feed};

const SIZE: usize = 2 << 20;

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
            let page = read(&html, &url, form);
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
        assert!(read_feed(&xml, &url, Form::Markdown).len() < SIZE);
    }
}

#[test]
fn what_nobody_sees_is_not_read() {
    let url = PageUrl::parse("https://site.example/").unwrap();
    let html = "<h1>Title</h1><p>Seen by all people who come here.</p><p style='display: none'>secret one</p>\
                <p hidden>secret two</p><p aria-hidden=true>secret three</p><div style='font-size:0'>secret four</div>\
                <!-- secret five --><noscript>secret six</noscript><template>secret seven</template>\
                <p>in\u{200b}vis\u{e0073}\u{202e}ible</p>";
    let text = read(html, &url, Form::Markdown).text;
    assert_eq!(text, "# Title\n\nSeen by all people who come here.\n\ninvisible");
}

#[test]
fn pages_without_text_are_told() {
    let url = PageUrl::parse("https://site.example/").unwrap();
    let html = "<title>App</title><div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript>\
                <script src=/main.js></script>";
    assert!(read(html, &url, Form::Markdown).needs_script);
    let html = "<title>App</title><p>A short page that is whole as it is.</p>";
    assert!(!read(html, &url, Form::Markdown).needs_script);
}
