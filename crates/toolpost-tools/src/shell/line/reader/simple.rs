//! Simple commands: assignments, words and redirections; and the definition of a function, which begins alike.

use super::{Assignment, Direction, Read, Reader, Redirection, Simple, Unclear};

impl Reader<'_> {
    /// Reads a simple command or a function; something must be there.
    pub(super) fn simple(&mut self) -> Read<()> {
        let mut simple =
            Simple { is_repeated: self.loops > 0, scope: self.scope.clone(), ..Simple::default() };
        loop {
            self.blanks()?;
            if self.redirection(&mut simple)? {
                continue;
            }
            if simple.words.is_empty() && self.assignment(&mut simple)? {
                continue;
            }
            let word = self.word()?;
            if word.parts.is_empty() {
                break;
            }
            // `{name}>file` sets a variable.
            if matches!(self.peek(), Some(b'<' | b'>')) && word.shown().starts_with('{') {
                return Err(Unclear("a redirection sets a variable"));
            }
            simple.words.push(word);
            if simple.words.len() == 1 && self.is_function()? {
                if !simple.assignments.is_empty() || !simple.redirections.is_empty() {
                    return Err(Unclear("a function begins in the middle"));
                }
                return self.function_body();
            }
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirections.is_empty() {
            return Err(Unclear("a command is missing"));
        }
        self.script.commands.push(simple);
        Ok(())
    }

    /// Whether `()` follows, which is taken.
    pub(super) fn is_function(&mut self) -> Read<bool> {
        let before = self.at;
        self.blanks()?;
        if !self.take("(") {
            self.at = before;
            return Ok(false);
        }
        self.blanks()?;
        match self.take(")") {
            true => Ok(true),
            false => Err(Unclear("a parenthesis stands in a command")),
        }
    }

    /// The body of a function: a compound command. Its commands are judged where they stand, called or not.
    pub(super) fn function_body(&mut self) -> Read<()> {
        self.newlines()?;
        self.script.has_functions = true;
        self.loops += 1;
        let result = self.deeper(|reader| match reader.compound()? {
            true => Ok(()),
            false => Err(Unclear("the body of a function is not a compound command")),
        });
        self.loops -= 1;
        result
    }

    /// Reads `name=value`, if that is here.
    fn assignment(&mut self, simple: &mut Simple) -> Read<bool> {
        let before = self.at;
        let name = self.name();
        if name.is_empty() || !(self.take("=") || self.take("+=")) {
            let is_element = !name.is_empty() && self.starts("[");
            self.at = before;
            return match is_element {
                true => Err(Unclear("an element of a list is set")),
                false => Ok(false),
            };
        }
        let mut values = Vec::new();
        if self.take("(") {
            self.bash_only()?;
            loop {
                self.newlines()?;
                if self.take(")") {
                    break;
                }
                let word = self.word()?;
                if word.parts.is_empty() || word.shown().starts_with('[') {
                    return Err(Unclear("a list is not plain"));
                }
                values.push(word);
            }
        } else {
            values.push(self.word()?);
        }
        simple.assignments.push(Assignment { name, values });
        Ok(true)
    }

    /// The redirections that follow a compound command.
    pub(super) fn trailing_redirections(&mut self) -> Read<()> {
        let mut simple =
            Simple { is_repeated: self.loops > 0, scope: self.scope.clone(), ..Simple::default() };
        loop {
            self.blanks()?;
            if !self.redirection(&mut simple)? {
                break;
            }
        }
        if !simple.redirections.is_empty() {
            self.script.commands.push(simple);
        }
        Ok(())
    }

    /// Reads one redirection, if that is here.
    fn redirection(&mut self, simple: &mut Simple) -> Read<bool> {
        let before = self.at;
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += digits;
        if (self.starts("<(") || self.starts(">(")) && digits == 0 {
            return Ok(false);
        }
        if digits == 0 && (self.take("&>>") || self.take("&>")) {
            self.bash_only()?;
            self.target(Direction::Write, simple)?;
            return Ok(true);
        }
        if self.take("<<<") {
            self.bash_only()?;
            self.blanks()?;
            let word = self.word()?;
            return match word.parts.is_empty() {
                true => Err(Unclear("a redirection has no target")),
                false => Ok(true),
            };
        }
        if self.take("<<") {
            self.document_start()?;
            return Ok(true);
        }
        if self.take(">&") || self.take("<&") {
            let is_output = self.text[..self.at].ends_with(">&");
            self.blanks()?;
            // A number, `-` to close it, or both to move it; after a `-` alone another word would begin.
            let digits_after = self.rest().bytes().take_while(u8::is_ascii_digit).count();
            let length = digits_after + usize::from(self.rest()[digits_after..].starts_with('-'));
            let after = self.rest()[length..].bytes().next();
            if length > 0
                && matches!(
                    after,
                    None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>')
                )
            {
                self.at += length;
                return Ok(true);
            }
            if !is_output || digits > 0 {
                return Err(Unclear("a file descriptor is computed"));
            }
            self.bash_only()?;
            self.target(Direction::Write, simple)?;
            return Ok(true);
        }
        let direction = if self.take(">>") || self.take(">|") {
            Direction::Write
        } else if self.take("<>") {
            Direction::Both
        } else if self.take(">") {
            Direction::Write
        } else if self.take("<") {
            Direction::Read
        } else {
            self.at = before;
            return Ok(false);
        };
        self.target(direction, simple)?;
        Ok(true)
    }

    fn target(&mut self, direction: Direction, simple: &mut Simple) -> Read<()> {
        self.blanks()?;
        let target = self.word()?;
        if target.parts.is_empty() {
            return Err(Unclear("a redirection has no target"));
        }
        simple.redirections.push(Redirection { direction, target });
        Ok(())
    }
}
