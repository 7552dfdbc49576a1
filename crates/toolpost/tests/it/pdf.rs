//! The text of PDFs in `read`: by a child that a hostile file may crash, loop or fill, at the cost of one call's text.

use crate::Home;
use crate::load::stretched;
use serde_json::Value;
use std::time::{Duration, Instant};

/// A PDF of these objects, numbered from 1; the first is the catalogue.
fn pdf(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (at, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", bytes.len()));
        bytes.extend(format!("{} 0 obj\n", at + 1).bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    let start = bytes.len();
    bytes.extend(table.bytes());
    let size = objects.len() + 1;
    bytes.extend(
        format!("trailer << /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n").bytes(),
    );
    bytes
}

pub(crate) fn stream(dictionary: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<< /Length {} {dictionary} >>\nstream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

/// Pages with a content each. The first form of every page is object 4.
pub(crate) fn pages(contents: &[Vec<u8>], form: Vec<u8>, trailer: &str) -> Vec<u8> {
    let kids: String = (0..contents.len()).map(|at| format!("{} 0 R ", 5 + 2 * at)).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", contents.len()).into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
        form,
    ];
    for (at, content) in contents.iter().enumerate() {
        let resources = "/Resources << /Font << /F1 3 0 R >> /XObject << /Fm 4 0 R >> >>";
        let place = 6 + 2 * at;
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {place} 0 R {resources} >>"
            )
            .into_bytes(),
        );
        objects.push(content.clone());
    }
    pdf(&objects, trailer)
}

pub(crate) fn text(lines: &[&str]) -> Vec<u8> {
    let shown: String = lines.iter().map(|line| format!("({line}) Tj T* ")).collect();
    stream("", format!("BT /F1 12 Tf 72 720 Td 14 TL {shown} ET").as_bytes())
}

pub(crate) fn empty() -> Vec<u8> {
    b"null".to_vec()
}

/// Zeros without end, almost: 258 of them for each 13 bits, 2,064 for each of the blocks.
pub(crate) fn bomb(blocks: usize) -> Vec<u8> {
    let mut bits: Vec<bool> = vec![true, true, false];
    let mut code = |value: u32, length: u32| bits.extend((0..length).rev().map(|at| value >> at & 1 == 1));
    code(0b0011_0000, 8);
    for _ in 0..16 {
        code(0b1100_0101, 8);
        code(0, 5);
    }
    code(0, 7);
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |sum, bit| sum << 1 | u8::from(*bit));
    let short: Vec<u8> = bits.chunks(8).map(byte).collect();
    // Eight times 13 bits are 13 bytes, wherever they begin.
    let (begin, end) = short.split_at(2);
    [&[0x78, 0x9c], begin, &end[..13].repeat(blocks), end, &[0; 4]].concat()
}

fn read(home: &Home, args: &[&str]) -> Value {
    let (status, envelope) = home.json(&[&["call", "read"], args].concat());
    assert_eq!((status, &envelope["success"]), (0, &true.into()), "{envelope}");
    envelope
}

#[test]
fn text_comes_page_by_page_as_numbered_lines() {
    let home = Home::new();
    let file = pages(&[text(&["Hello world", "second line"]), text(&["on page two"])], empty(), "");
    home.write("repo/a.pdf", &file);
    let whole = read(&home, &["filePath=a.pdf"]);
    let shown = whole["output"].as_str().unwrap();
    let expected =
        "1: == page 1 of 2 ==\n2: Hello world\n3: second line\n4: == page 2 of 2 ==\n5: on page two\n(";
    assert!(shown.starts_with(expected) && shown.contains("attached as a PDF"), "{shown}");
    assert_eq!((&whole["data"]["pages"], &whole["data"]["totalLines"]), (&2.into(), &5.into()));
    assert_eq!(whole["attachments"][0]["mediaType"], "application/pdf");
    let first = read(&home, &["filePath=a.pdf", "limit=2"]);
    assert_eq!(first["data"]["nextOffset"], 3);
    assert!(first["output"].as_str().unwrap().contains("go on with offset=3"), "{first}");
    // The file itself comes with the first lines only.
    let rest = read(&home, &["filePath=a.pdf", "offset=3"]);
    assert!(rest["output"].as_str().unwrap().starts_with("3: second line\n4: == page 2"), "{rest}");
    assert!(rest["attachments"].as_array().is_none_or(Vec::is_empty), "{rest}");
    let (status, past) = home.json(&["call", "read", "filePath=a.pdf", "offset=9"]);
    assert_eq!((status, &past["error"]["code"]), (1, &"READ_ERROR".into()), "{past}");
}

#[test]
fn streams_that_say_a_wrong_length_are_read() {
    let home = Home::new();
    let file = pages(&[text(&["Hello world"]), text(&["on page two"])], empty(), "");
    let content = String::from_utf8_lossy(&file).into_owned();
    let at = content.find("on page two").and_then(|at| content[..at].rfind("/Length ")).unwrap() + 8;
    let end = at + content[at..].find(' ').unwrap();
    for length in ["1", "7", "99", "0", "-1"] {
        let mut wrong = file.clone();
        let length = format!("{length:>width$}", width = end - at);
        wrong.splice(at..end, length.bytes());
        home.write("repo/a.pdf", &wrong);
        let shown = read(&home, &["filePath=a.pdf"])["output"].as_str().unwrap().to_owned();
        assert!(shown.contains("Hello world") && shown.contains("on page two"), "{length}: {shown}");
    }
}

#[test]
fn a_pdf_without_text_says_so() {
    let home = Home::new();
    home.write("repo/a.pdf", pages(&[stream("", b"")], empty(), ""));
    let output = read(&home, &["filePath=a.pdf"]);
    assert!(output["output"].as_str().unwrap().contains("no text on its 1 pages"), "{output}");
    assert_eq!(output["attachments"].as_array().unwrap().len(), 1);
}

#[test]
fn a_hostile_pdf_costs_its_own_text_and_nothing_else() {
    let whole = pages(&[text(&["Hello"])], empty(), "");
    let owner = "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O (abcdefghijklmnopqrstuvwxyz012345) \
                 /U (abcdefghijklmnopqrstuvwxyz012345) >> /ID [(0123456789012345) (0123456789012345)]";
    let inside = "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /Fm 4 0 R >> >>";
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("cut", whole[..whole.len() / 2].to_vec()),
        ("garbage", [b"%PDF-1.7\n".as_slice(), &[0xa5; 5000]].concat()),
        ("encrypted", pages(&[text(&["Hello"])], empty(), owner)),
        // A form that shows itself.
        ("looping", pages(&[stream("", b"/Fm Do")], stream(inside, b"/Fm Do"), "")),
        ("bomb", pages(&[stream("/Filter /FlateDecode", &bomb(700_000))], empty(), "")),
    ];
    for (name, bytes) in cases {
        let home = Home::new();
        home.write("repo/a.pdf", &bytes);
        let started = Instant::now();
        let output = read(&home, &["filePath=a.pdf"]);
        let took = started.elapsed();
        let shown = output["output"].as_str().unwrap();
        println!("{name}: {took:?}: {shown}");
        // What is encrypted reads as if nothing were on its pages.
        let is_told = shown.contains("its text cannot be had") || shown.contains("no text on its");
        assert!(shown.contains("attached as a PDF") && is_told, "{name}: {shown}");
        assert_eq!(output["attachments"].as_array().unwrap().len(), 1, "{name}");
        assert!(took < stretched(Duration::from_secs(15)), "{name}: {took:?}");
    }
}

#[test]
fn without_a_sandbox_a_pdf_is_attached_and_its_text_is_not_looked_for() {
    let home = Home::new();
    home.write("repo/a.pdf", pages(&[text(&["Hello"])], empty(), ""));
    let command = home.command(["call", "read", "filePath=a.pdf", "--json"]);
    let output = crate::layers::without_user_namespaces(&command).output().unwrap();
    let (status, envelope) = crate::Ran::of(output).json();
    let shown = envelope["output"].as_str().unwrap();
    assert!(
        status == 0 && shown.contains("its text cannot be had: no sandbox here: user namespace"),
        "{shown}"
    );
    assert_eq!(envelope["attachments"].as_array().unwrap().len(), 1);
}

#[test]
fn the_text_comes_over_mcp_as_it_does_on_the_command_line() {
    let home = Home::new();
    home.write("repo/a.pdf", pages(&[text(&["Hello world", "second line"])], empty(), ""));
    let expected = read(&home, &["filePath=a.pdf"])["output"].clone();
    assert!(expected.as_str().unwrap().contains("2: Hello world\n"), "{expected}");
    let result = crate::mcp::called(&home, "read", &serde_json::json!({"filePath": "a.pdf"}));
    assert_eq!(result["content"][0]["text"], expected, "{result}");
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "the file itself is for programs: {result}");
}
