//! The text of a PDF, by a helper in a sandbox: a file that makes it crash, loop or grow costs this one call its text.

use super::lines;
use super::{Args, Data, Encoding, Wanted, note, past_the_end};
use crate::filesystem::helper::{Bounds, Helper};
use std::io::Cursor;
use std::path::Path;
use std::time::Duration;
use toolpost_core::{Context, Output, ToolError};
use toolpost_process::Sandbox;

/// How long the text of a file may take.
const TIME: Duration = Duration::from_secs(12);

/// The text of each page, and whether there is more than is taken; or why there is none in this time.
pub(crate) async fn pages(
    helper: &Helper,
    bytes: Vec<u8>,
    time: Duration,
) -> Result<(Vec<String>, bool), String> {
    let bounds = Bounds { time, memory: 300 << 20, output: 8 << 20 };
    let said = helper.run(Path::new("/"), Sandbox::default(), bytes, bounds).await?;
    let text = String::from_utf8_lossy(&said.bytes);
    Ok((text.split('\x0c').map(|page| page.trim().to_owned()).collect(), said.is_cut))
}

/// Puts the text of its pages, as numbered lines, before the attachment. The attachment comes with the first lines only.
pub(super) async fn with_text(
    ctx: &Context,
    helper: &Helper,
    args: &Args,
    bytes: Vec<u8>,
    attached: Output<Data>,
) -> Result<Output<Data>, ToolError> {
    let (pages, is_cut) = match pages(helper, bytes, TIME).await {
        Ok(pages) => pages,
        Err(why) => return Ok(noted(attached, &format!("its text cannot be had: {why}"))),
    };
    if pages.iter().all(String::is_empty) {
        let why = format!("no text on its {} pages; they may be pictures", pages.len());
        return Ok(noted(attached, &why));
    }
    let name = attached.title.clone();
    let whole: String = pages
        .iter()
        .enumerate()
        .map(|(at, page)| format!("== page {} of {} ==\n{page}\n", at + 1, pages.len()))
        .collect();
    let wanted = Wanted::new(ctx, args);
    let size = whole.len() as u64;
    let page = lines::page(ctx, Cursor::new(whole), size, Encoding::Utf8, &wanted)
        .map_err(|error| error.named(&name))?;
    if page.lines == 0 && wanted.first > 1 {
        return Err(past_the_end(ctx, &name, "lines of text", page.total.unwrap_or(0), wanted.first));
    }
    let cut = if is_cut { "(the text goes on beyond what is taken of it)" } else { "" };
    let mut output = attached;
    let attached = if wanted.first == 1 { format!("({})", output.text) } else { String::new() };
    output.text = format!("{}{}{cut}{attached}", page.text, note(ctx, &page, &wanted));
    if wanted.first > 1 {
        output.attachments.clear();
    }
    output.data = Data {
        start_line: wanted.first,
        lines: page.lines,
        total_lines: page.total,
        next_offset: page.next,
        cut_lines: page.cut,
        pages: Some(pages.len() as u64),
        ..output.data
    };
    Ok(output)
}

fn noted(mut attached: Output<Data>, why: &str) -> Output<Data> {
    attached.text = format!("{}; {why}", attached.text);
    attached
}
