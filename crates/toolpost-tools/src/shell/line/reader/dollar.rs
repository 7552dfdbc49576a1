//! What begins with `$`: variables, substitutions, arithmetic and `$'…'`.

use super::{Part, Quoting, Read, Reader, Unclear, value};

/// How a substitution is shown that gives the number of processors.
pub(in super::super) const NPROC: &str = "$(nproc)";

impl Reader<'_> {
    pub(super) fn dollar(&mut self, quoting: Quoting) -> Read<Part> {
        self.at += 1;
        match self.peek() {
            Some(b'(') if self.peek_at(1) == Some(b'(') => self.deeper(|reader| reader.arithmetic(quoting)),
            Some(b'(') => {
                self.at += 1;
                let before = self.at;
                self.substitution()?;
                // The number of processors, as in `make -j$(nproc)`, is told apart.
                let is_nproc = self.text[before..self.at] == *"nproc)";
                Ok(value(if is_nproc { NPROC } else { "$(…)" }, quoting))
            }
            Some(b'{') => {
                self.at += 1;
                self.parameter(quoting)
            }
            Some(b'[') => Err(Unclear("`$[` is evaluated")),
            // A continued line would join the two, as in `$` `\` newline `(`.
            Some(b'\\') => Err(Unclear("a backslash follows `$`")),
            Some(b'\'') if quoting == Quoting::Bare => {
                self.bash_only()?;
                self.at += 1;
                self.escapes()
            }
            Some(b'"') if quoting == Quoting::Bare => Err(Unclear("`$\"` is translated")),
            Some(byte @ (b'@' | b'*' | b'-' | b'0'..=b'9')) => {
                self.at += 1;
                Ok(value(&format!("${}", char::from(byte)), quoting))
            }
            Some(byte @ (b'#' | b'?' | b'$' | b'!')) => {
                self.at += 1;
                Ok(Part::Value { shown: format!("${}", char::from(byte)), quoting, is_number: true })
            }
            Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => {
                let name = self.name();
                Ok(value(&format!("${name}"), quoting))
            }
            _ => Ok(Part::Text("$".to_owned(), quoting)),
        }
    }

    /// The name at this place; empty if there is none.
    pub(super) fn name(&mut self) -> String {
        let length = name_length(self.rest());
        self.at += length;
        self.text[self.at - length..self.at].to_owned()
    }

    /// `${name}`, and the forms whose operand is plain text.
    fn parameter(&mut self, quoting: Quoting) -> Read<Part> {
        const UNCLEAR: Unclear = Unclear("a `${…}` is computed");
        if self.take("#") {
            let name = self.name();
            let _ = self.take("[@]") || self.take("[*]");
            if name.is_empty() || !self.take("}") {
                return Err(UNCLEAR);
            }
            return Ok(Part::Value { shown: format!("${{#{name}}}"), quoting, is_number: true });
        }
        let name = match self.peek() {
            Some(byte @ (b'@' | b'*' | b'0'..=b'9')) => {
                self.at += 1;
                char::from(byte).to_string()
            }
            _ => self.name(),
        };
        if name.is_empty() {
            return Err(UNCLEAR);
        }
        let is_list = self.take("[@]") || self.take("[*]") || name == "@" || name == "*";
        if self.starts("[") {
            let digits = self.rest()[1..].bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 || !self.rest()[1 + digits..].starts_with(']') {
                return Err(UNCLEAR);
            }
            self.at += digits + 2;
        }
        // A list in quotes is several words, which the sign shows.
        let sign = if is_list { "@" } else { "" };
        if self.take("}") {
            return Ok(value(&format!("${{{name}{sign}}}"), quoting));
        }
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_./:*?,@%+- ".contains(letter);
        let length = self.rest().find('}').ok_or(UNCLEAR)?;
        let operation = &self.rest()[..length];
        let operand = operation.trim_start_matches([':', '-', '+', '?', '%', '#', '/', '^', ',']);
        let operator = &operation[..operation.len() - operand.len()];
        let is_known = matches!(operator, ":-" | "-" | ":+" | "+" | ":?" | "?" | "%" | "%%" | "#" | "##");
        // `.` and `/` may lead the operand of `%` and `#`, so the operator is looked for at the beginning as well.
        let is_cut = operation.starts_with(['%', '#']);
        let is_of_bash = operation.starts_with(['/', '^', ','])
            || (operator == ":" && operand.bytes().all(|byte| byte.is_ascii_digit() || byte == b':'));
        let is_plain = operation.trim_start_matches(['#', '^']).chars().all(is_plain);
        if !is_plain || !(is_known || is_cut || is_of_bash) {
            return Err(UNCLEAR);
        }
        if is_of_bash && !is_known && !is_cut {
            self.bash_only()?;
        }
        self.at += length + 1;
        Ok(value(&format!("${{{name}{sign}…}}"), quoting))
    }

    /// `$((…))`: numbers and operators; names are looked at when the whole line is known.
    fn arithmetic(&mut self, quoting: Quoting) -> Read<Part> {
        const UNCLEAR: Unclear = Unclear("arithmetic is computed from more than numbers");
        self.at += 2;
        let mut open = 0_usize;
        loop {
            match self.peek() {
                Some(b')') if open == 0 => break,
                Some(b')') => open -= 1,
                Some(b'(') => open += 1,
                Some(b' ' | b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!' | b'&' | b'|') => {}
                Some(b'$') => match self.dollar(Quoting::Quoted)? {
                    Part::Value { is_number: true, .. } => continue,
                    Part::Value { shown, .. } if name_length(&shown[1..]) + 1 == shown.len() => {
                        self.script.evaluated.push(shown[1..].to_owned());
                        continue;
                    }
                    _ => return Err(UNCLEAR),
                },
                Some(byte) if byte.is_ascii_digit() => {
                    // `010` and `16#ff` are numbers to bash and not the same to every shell.
                    let is_word = |letter: char| !letter.is_ascii_digit();
                    self.at += self.rest().find(is_word).ok_or(UNCLEAR)?;
                    if self
                        .peek()
                        .is_some_and(|byte| byte == b'#' || byte == b'_' || byte.is_ascii_alphabetic())
                    {
                        return Err(UNCLEAR);
                    }
                    continue;
                }
                Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => {
                    let name = self.name();
                    if self.peek() == Some(b'[') {
                        return Err(UNCLEAR);
                    }
                    self.script.evaluated.push(name);
                    continue;
                }
                _ => return Err(UNCLEAR),
            }
            self.at += 1;
        }
        if !self.take("))") {
            return Err(UNCLEAR);
        }
        Ok(Part::Value { shown: "$((…))".to_owned(), quoting, is_number: true })
    }

    /// The rest of `$'…'`.
    fn escapes(&mut self) -> Read<Part> {
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return Err(Unclear("a quote is not closed")),
                Some(b'\'') => {
                    self.at += 1;
                    return Ok(Part::Text(text, Quoting::Quoted));
                }
                Some(b'\n') if !self.documents.is_empty() => {
                    return Err(Unclear("a here-document begins in the middle of a quote"));
                }
                Some(b'\\') => {
                    let letter = match self.peek_at(1) {
                        Some(b'n') => '\n',
                        Some(b't') => '\t',
                        Some(byte @ (b'\\' | b'\'' | b'"')) => char::from(byte),
                        _ => return Err(Unclear("a character is written as a number")),
                    };
                    text.push(letter);
                    self.at += 2;
                }
                Some(_) => {
                    let letter = self.letter();
                    text.push_str(&letter);
                }
            }
        }
    }
}

fn name_length(text: &str) -> usize {
    match text.bytes().next() {
        Some(first) if first == b'_' || first.is_ascii_alphabetic() => {
            text.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count()
        }
        _ => 0,
    }
}
