//! `toolpost internal`: what the project's own tooling asks the product, and what it starts itself for.

#[cfg(feature = "pdf")]
mod pdf_lengths;
#[cfg(feature = "pdf")]
mod pdf_text;
mod reference;

use crate::cli::Internal;
use crate::output::Printer;
use toolpost_tools::filesystem::Helper;

pub(crate) fn run(printer: &Printer, command: &Internal) -> u8 {
    match command {
        Internal::Reference => match reference::pages() {
            Ok(pages) => {
                printer.json(&pages);
                0
            }
            Err(error) => printer.invocation_error(&error),
        },
        Internal::ConfigSchema => {
            printer.json(&crate::config::schema());
            0
        }
        #[cfg(feature = "pdf")]
        Internal::PdfText => pdf_text::run(printer),
    }
}

/// This program, started again to read PDFs; none if it was built without that or cannot find itself.
pub(crate) fn pdf_helper() -> Option<Helper> {
    if !cfg!(feature = "pdf") {
        return None;
    }
    let program = std::env::current_exe().ok()?;
    Some(Helper {
        args: ["internal", "pdf-text"].map(str::to_owned).into(),
        readable: vec![program.clone()],
        program: program.into_os_string(),
        ..Helper::default()
    })
}
