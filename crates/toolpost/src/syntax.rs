//! Whether files parse, for the tools that change them: what `toolpost-code` finds, in the words of core.

use std::sync::Arc;
use toolpost_code::parses;
use toolpost_core::code::{BrokenBy, Parsed, Syntax, SyntaxCheck};

struct Grammars;

impl Syntax for Grammars {
    fn parsed(&self, name: &str, text: &str) -> Parsed {
        match parses::parsed(name, text) {
            parses::Parsed::Whole => Parsed::Whole,
            parses::Parsed::BrokenAt(line) => Parsed::BrokenAt(line),
            parses::Parsed::Unknown => Parsed::Unknown,
        }
    }
}

/// The check with the grammars of this build.
pub(crate) fn check(exact: BrokenBy) -> SyntaxCheck {
    SyntaxCheck { syntax: Arc::new(Grammars), exact }
}
