//! Here-documents: what is in them is text, except for the substitutions of those without quotes.

use super::{Quoting, Read, Reader, Unclear};

/// How long the word that ends a here-document may be, and how many may follow one line.
const LONGEST: usize = 60;
const MOST: usize = 6;

/// A here-document whose text follows the end of the line.
pub(super) struct Document {
    delimiter: String,
    is_quoted: bool,
    has_tabs: bool,
}

impl Reader<'_> {
    /// Reads what follows `<<`.
    pub(super) fn document_start(&mut self) -> Read<()> {
        let has_tabs = self.take("-");
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
        let quote = match self.peek() {
            Some(byte @ (b'\'' | b'"')) => {
                self.at += 1;
                Some(byte)
            }
            _ => None,
        };
        let delimiter = self.name();
        if delimiter.is_empty() || delimiter.len() > LONGEST || self.documents.len() >= MOST {
            return Err(Unclear("the end of a here-document is not a plain word"));
        }
        if let Some(quote) = quote {
            if self.peek() != Some(quote) {
                return Err(Unclear("the end of a here-document is not a plain word"));
            }
            self.at += 1;
        }
        if !matches!(self.peek(), None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>'))
        {
            return Err(Unclear("the end of a here-document is not a plain word"));
        }
        self.documents.push(Document { delimiter, is_quoted: quote.is_some(), has_tabs });
        Ok(())
    }

    /// Reads the text of a here-document, from the beginning of its first line.
    pub(super) fn document(&mut self, document: &Document) -> Read<()> {
        let from = self.at;
        let mut at = self.at;
        let mut parentheses = 0_isize;
        let end = loop {
            if at >= self.end {
                return Err(Unclear("a here-document has no end"));
            }
            let rest = &self.text[at..self.end];
            let line = rest.split('\n').next().unwrap_or(rest);
            let stripped = if document.has_tabs { line.trim_start_matches('\t') } else { line };
            if stripped == document.delimiter {
                let end = at;
                at += line.len();
                break end;
            }
            // In a substitution bash takes `EOF)` for the end, other shells do not.
            if stripped.starts_with(&document.delimiter) {
                return Err(Unclear("a here-document seems to end, and does not"));
            }
            if !document.is_quoted && line.ends_with('\\') {
                return Err(Unclear("a line of a here-document is continued"));
            }
            for byte in line.bytes() {
                parentheses += match byte {
                    b'(' => 1,
                    b')' => -1,
                    _ => 0,
                };
                // Old shells look for the end of a substitution in the text of its here-documents too.
                if parentheses < 0 && self.substitutions > 0 {
                    return Err(Unclear("a here-document in a substitution seems to close it"));
                }
            }
            at += line.len() + 1;
        };
        if !document.is_quoted {
            let whole = std::mem::replace(&mut self.end, end);
            let result = self.document_values(from);
            self.end = whole;
            result?;
        }
        self.at = at;
        match self.peek() {
            Some(b'\n') => self.at += 1,
            None => {}
            Some(_) => return Err(Unclear("a here-document has no end")),
        }
        Ok(())
    }

    fn document_values(&mut self, from: usize) -> Read<()> {
        self.at = from;
        while let Some(byte) = self.peek() {
            match byte {
                b'$' => {
                    self.dollar(Quoting::Quoted)?;
                }
                b'`' => {
                    self.backquoted(Quoting::Quoted)?;
                }
                b'\\' => {
                    self.at += 1;
                    self.letter();
                }
                _ => self.at += 1,
            }
        }
        Ok(())
    }
}
