//! What was fetched, as a model can read it: by its content type and, where that says nothing or lies, by its first bytes.

use super::webfetch::Format;
use crate::filesystem::{Helper, known_binary, media_type, pdf_pages};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::time::Duration;
use toolpost_core::outcome::{Attachment, AttachmentContent};
use toolpost_core::{Code, ToolError};
use toolpost_web::{Fetched, Form, PageUrl, Stop, Stopped, decode, is_feed, read, read_feed};

const NEEDS_SCRIPT: &str =
    "(the page has hardly any text of its own: JavaScript would put it in, which is not run here)";
const LEADS_ON: &str = "(the page sends its readers on to the address at its end, which was not fetched)";
const GOES_ON: &str = "(the text goes on beyond what is taken of it)";

/// A page as text.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) kind: &'static str,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) charset: Option<&'static str>,
    pub(super) note: Option<String>,
    pub(super) attachment: Option<Attachment>,
}

/// Reads what was fetched. Takes processor time, until it is stopped: call it where blocking is allowed.
pub(super) fn of_text(page: &Fetched, format: Format, stop: &Stop<'_>) -> Result<Reading, ToolError> {
    let too_slow = |_: Stopped| {
        let message = format!(
            "{} arrived, and takes too long to read; ask for its source, or allow more time",
            page.url
        );
        ToolError::new(Code::Timeout, message).with("url", page.url.to_string())
    };
    let decoded = decode(&page.body, &page.content_type);
    let reading = |kind, text| Reading { kind, text, charset: Some(decoded.charset), ..Reading::default() };
    let form = if format == Format::Text { Form::Plain } else { Form::Markdown };
    let essence = essence(&page.content_type);
    let is_html = is_html(&essence, &decoded.text);
    let is_xml = essence.ends_with("/xml") || essence.ends_with("+xml") || decoded.text.starts_with("<?xml");
    if is_html && format != Format::Html {
        let found = read(&decoded.text, &page.url, form, stop).map_err(too_slow)?;
        let (text, note) = match found.leads_to {
            Some(next) => (format!("{}\n\n{next}", found.text), Some(LEADS_ON)),
            None if found.needs_script => (found.text, Some(NEEDS_SCRIPT)),
            None => (found.text, found.is_cut.then_some(GOES_ON)),
        };
        let note = note.map(str::to_owned);
        return Ok(Reading { title: found.title, note, ..reading("html", text) });
    }
    if is_xml && !is_html && format != Format::Html && is_feed(&decoded.text) {
        let text = read_feed(&decoded.text, &page.url, form, stop).map_err(too_slow)?;
        return Ok(reading("feed", text));
    }
    let kind = match essence.as_str() {
        _ if is_html => "html",
        "application/json" => "json",
        essence if essence.ends_with("+json") => "json",
        _ if is_xml => "xml",
        _ => "text",
    };
    if kind == "text" && is_binary(&page.body, decoded.charset) {
        return Err(unreadable(page));
    }
    Ok(reading(kind, decoded.text))
}

/// What is no text: an image, or a PDF, which is read within the time that is left. None for everything else.
pub(super) async fn of_file(
    page: &Fetched,
    pdf: Option<&Helper>,
    time: Duration,
) -> Result<Option<Reading>, ToolError> {
    let Some(media_type) = media_type(&page.body) else { return Ok(None) };
    let name = file_name(&page.url);
    let attachment = || Attachment {
        media_type: media_type.to_owned(),
        filename: name.clone(),
        content: AttachmentContent::Data(STANDARD.encode(&page.body)),
    };
    if media_type != "application/pdf" {
        let text = format!("{name} is attached as an image ({media_type}, {} bytes)", page.body.len());
        return Ok(Some(Reading {
            kind: "image",
            text,
            attachment: Some(attachment()),
            ..Reading::default()
        }));
    }
    let said = match pdf {
        Some(helper) => pdf_pages(helper, page.body.clone(), time).await,
        None => Err("no program for it is there".to_owned()),
    };
    let (pages, is_cut) = match said {
        Ok((pages, is_cut)) if pages.iter().any(|page| !page.is_empty()) => (pages, is_cut),
        other => {
            let why = other.err().unwrap_or_else(|| "there is no text on its pages".to_owned());
            let text = format!(
                "{name} is attached as a PDF ({} bytes); its text cannot be had: {why}",
                page.body.len()
            );
            return Ok(Some(Reading {
                kind: "pdf",
                text,
                attachment: Some(attachment()),
                ..Reading::default()
            }));
        }
    };
    let count = pages.len();
    let numbered =
        pages.iter().enumerate().map(|(at, page)| format!("== page {} of {count} ==\n{page}", at + 1));
    let note = is_cut.then(|| GOES_ON.to_owned());
    let text = numbered.collect::<Vec<_>>().join("\n");
    Ok(Some(Reading { kind: "pdf", text, note, ..Reading::default() }))
}

/// A content type without its parameters.
fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_html(essence: &str, text: &str) -> bool {
    match essence {
        "text/html" | "application/xhtml+xml" => true,
        "" | "text/plain" | "application/octet-stream" | "text/xml" | "application/xml" => {
            let head = text[..text.floor_char_boundary(512)].trim_start().to_ascii_lowercase();
            head.starts_with("<!doctype html") || head.starts_with("<html")
        }
        _ => false,
    }
}

fn is_binary(body: &[u8], charset: &str) -> bool {
    let head = &body[..body.len().min(8192)];
    let is_control = |byte: &&u8| **byte < 9 || (14..32).contains(*byte) && **byte != 27;
    let controls = head.iter().filter(is_control).count();
    !charset.starts_with("UTF-16") && (known_binary(head).is_some() || controls * 20 > head.len().max(1))
}

fn unreadable(page: &Fetched) -> ToolError {
    let what = known_binary(&page.body)
        .map_or_else(|| format!("`{:.100}`", essence(&page.content_type)), str::to_owned);
    let message = format!(
        "{} is not text but {what} ({} bytes); download it with a command, or find a page about it",
        page.url,
        page.body.len()
    );
    ToolError::new(Code::IsBinary, message).with("url", page.url.to_string())
}

fn file_name(url: &PageUrl) -> String {
    let path = url.path().split('?').next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let name: String =
        name.chars().filter(|letter| letter.is_ascii_alphanumeric() || "._-%".contains(*letter)).collect();
    if name.is_empty() { "file".to_owned() } else { name }
}
