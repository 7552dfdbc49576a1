//! `toolpost internal`: what the project's own tooling asks the product.

mod reference;

use crate::cli::Internal;
use crate::output::Printer;

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
    }
}
