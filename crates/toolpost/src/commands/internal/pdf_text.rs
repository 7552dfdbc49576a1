//! `toolpost internal pdf-text`: a PDF on standard input, the text of its pages on standard output, apart by form feeds.
//!
//! The library panics by policy on what it does not understand, and may loop; so this is run in a sandbox with limits,
//! by `read`, and by nobody else.

use super::pdf_lengths;
use crate::output::{Printer, Tone};
use std::io::Read;

/// No larger file is attached either.
const MOST: u64 = 20 << 20;

pub(super) fn run(printer: &Printer) -> u8 {
    // One line for whoever started this, instead of a report for a developer.
    std::panic::set_hook(Box::new(|_| {}));
    match std::panic::catch_unwind(text) {
        Ok(Ok(text)) => {
            printer.page(&text);
            0
        }
        Ok(Err(why)) => refuse(printer, &why),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
            refuse(printer, said.unwrap_or("the PDF is not understood"))
        }
    }
}

fn refuse(printer: &Printer, why: &str) -> u8 {
    printer.say(Tone::Error, why);
    1
}

fn text() -> Result<String, String> {
    let mut bytes = Vec::new();
    let input = std::io::stdin().lock();
    input.take(MOST).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let bytes = pdf_lengths::right(&bytes);
    let pages = pdf_extract::extract_text_from_mem_by_pages(&bytes).map_err(|error| error.to_string())?;
    let pages: Vec<String> = pages.into_iter().map(|page| page.replace('\x0c', "\n")).collect();
    Ok(pages.join("\x0c"))
}
