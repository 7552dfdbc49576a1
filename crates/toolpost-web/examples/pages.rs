//! Writes the saved pages below a folder as markdown, and says how long that takes: `pages FROM TO ROUNDS`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for measurements"
)]

use std::path::Path;
use toolpost_web::{Form, PageUrl, Stop, decode, read};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, rounds] = arguments.as_slice() else { panic!("pages FROM TO ROUNDS") };
    let url = PageUrl::parse("https://site.example/a/page.html").unwrap();
    let mut pages: Vec<(String, Vec<u8>)> = std::fs::read_dir(from)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "html"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    pages.sort();
    let started = std::time::Instant::now();
    let mut bytes = 0;
    for round in 0..rounds.parse().unwrap() {
        for (name, page) in &pages {
            let html = decode(page, "text/html").text;
            let text = read(&html, &url, Form::Markdown, &Stop::never()).unwrap().text;
            bytes += page.len();
            if round == 0 {
                std::fs::write(Path::new(to).join(format!("{name}.md")), format!("{text}\n")).unwrap();
            }
        }
    }
    println!("{{\"seconds\":{},\"bytes\":{bytes}}}", started.elapsed().as_secs_f64());
}
