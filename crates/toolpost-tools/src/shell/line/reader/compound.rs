//! Lists, pipelines and compound commands.

use super::{Assignment, Dialect, Read, Reader, Simple, Unclear};

const RESERVED: [&str; 12] =
    ["then", "elif", "else", "fi", "do", "done", "esac", "in", "}", "coproc", "]]", "))"];

impl Reader<'_> {
    /// Reads commands up to one of the words that may stop them, which stays, or to the end. Says which it was.
    pub(super) fn list(&mut self, stops: &[&'static str]) -> Read<&'static str> {
        loop {
            self.newlines()?;
            if let Some(stop) = self.at_stop(stops) {
                return Ok(stop);
            }
            if self.peek().is_none() && stops.is_empty() {
                return Ok("");
            }
            self.deeper(Self::and_or)?;
            self.blanks()?;
            if let Some(stop) =
                self.at_stop(&stops.iter().copied().filter(|stop| is_sign(stop)).collect::<Vec<_>>())
            {
                return Ok(stop);
            }
            match self.peek() {
                None if stops.is_empty() => return Ok(""),
                Some(b'\n') => self.newline()?,
                Some(b';') if self.peek_at(1) != Some(b';') && self.peek_at(1) != Some(b'&') => self.at += 1,
                Some(b'&') if !matches!(self.peek_at(1), Some(b'&' | b'>')) => self.at += 1,
                _ => return Err(Unclear("a list of commands does not go on as it should")),
            }
        }
    }

    fn at_stop(&self, stops: &[&'static str]) -> Option<&'static str> {
        stops.iter().copied().find(|stop| match is_sign(stop) {
            true => self.starts(stop),
            false => self.at_reserved(stop),
        })
    }

    /// Whether this reserved word stands here, as a word of its own.
    fn at_reserved(&self, word: &str) -> bool {
        let ends = |byte: u8| b" \t\n;&|()<>".contains(&byte);
        self.starts(word) && self.rest()[word.len()..].bytes().next().is_none_or(ends)
    }

    fn take_reserved(&mut self, word: &str) -> bool {
        let is_there = self.at_reserved(word);
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    fn and_or(&mut self) -> Read<()> {
        loop {
            self.pipeline()?;
            self.blanks()?;
            if !(self.take("&&") || self.take("||")) {
                return Ok(());
            }
            self.newlines()?;
        }
    }

    fn pipeline(&mut self) -> Read<()> {
        // After `|` bash takes `time` for a program, and other shells do anywhere.
        let mut is_first = self.dialect == Dialect::Bash;
        loop {
            self.is_timed = is_first;
            is_first = false;
            self.command()?;
            self.blanks()?;
            if self.starts("||") || !self.starts("|") {
                return Ok(());
            }
            self.at += 1;
            if self.take("&") {
                self.bash_only()?;
            }
            self.newlines()?;
        }
    }

    fn command(&mut self) -> Read<()> {
        self.blanks()?;
        while self.at_reserved("!") || (self.is_timed && self.at_reserved("time")) {
            if self.at_reserved("time") {
                self.script.timed.push(self.at);
                self.at += 4;
                self.blanks()?;
                self.take_reserved("-p");
                self.blanks()?;
                if self.starts("-") {
                    return Err(Unclear("`time` has an option"));
                }
            } else {
                self.at += 1;
            }
            self.blanks()?;
        }
        if RESERVED.iter().any(|word| self.at_reserved(word)) {
            return Err(Unclear("a reserved word stands where a command should"));
        }
        match self.compound()? {
            true => Ok(()),
            false => self.simple(),
        }
    }

    /// Reads a compound command with its redirections, if one is here.
    pub(super) fn compound(&mut self) -> Read<bool> {
        if self.starts("((") {
            return Err(Unclear("`((` is evaluated"));
        }
        if self.take("(") {
            self.in_shell(|reader| reader.list(&[")"]))?;
            if !self.take(")") {
                return Err(Unclear("a parenthesis is not closed"));
            }
        } else if self.take_reserved("{") {
            self.list(&["}"])?;
            self.at += 1;
        } else if self.take_reserved("if") {
            self.conditional()?;
        } else if self.take_reserved("while") || self.take_reserved("until") {
            self.loops += 1;
            self.list(&["do"])?;
            self.at += 2;
            self.body()?;
        } else if self.take_reserved("for") {
            self.each()?;
        } else if self.take_reserved("select") {
            self.bash_only()?;
            self.each()?;
        } else if self.take_reserved("case") {
            self.case()?;
        } else if self.take_reserved("[[") {
            self.bash_only()?;
            self.test()?;
        } else if self.take_reserved("function") {
            self.bash_only()?;
            self.blanks()?;
            let name = self.word()?;
            if name.literal().is_none_or(|name| name.is_empty()) {
                return Err(Unclear("a function has no plain name"));
            }
            self.is_function()?;
            self.function_body()?;
            return Ok(true);
        } else {
            return Ok(false);
        }
        self.trailing_redirections()?;
        self.blanks()?;
        match self.peek() {
            None | Some(b'\n' | b';' | b'&' | b'|' | b')') => Ok(true),
            // `fi fi` and `} }` are fine to bash, and nobody types them on one line without `;`.
            Some(_) => Err(Unclear("something follows a compound command")),
        }
    }

    fn conditional(&mut self) -> Read<()> {
        self.list(&["then"])?;
        self.at += 4;
        loop {
            match self.list(&["elif", "else", "fi"])? {
                "elif" => {
                    self.at += 4;
                    self.list(&["then"])?;
                    self.at += 4;
                }
                "else" => {
                    self.at += 4;
                    self.list(&["fi"])?;
                    self.at += 2;
                    return Ok(());
                }
                _ => {
                    self.at += 2;
                    return Ok(());
                }
            }
        }
    }

    /// The body of a loop, after `do`; the caller has counted the loop.
    fn body(&mut self) -> Read<()> {
        self.list(&["done"])?;
        self.at += 4;
        self.loops -= 1;
        Ok(())
    }

    fn each(&mut self) -> Read<()> {
        self.blanks()?;
        let name = self.name();
        if name.is_empty() {
            return Err(Unclear("a loop has no plain variable"));
        }
        self.newlines()?;
        let mut values = Vec::new();
        if self.take_reserved("in") {
            loop {
                self.blanks()?;
                let word = self.word()?;
                if word.parts.is_empty() {
                    break;
                }
                values.push(word);
            }
        }
        self.blanks()?;
        let _ = self.take(";");
        self.newlines()?;
        if !self.take_reserved("do") {
            return Err(Unclear("a loop has no body"));
        }
        self.loops += 1;
        let assignments = vec![Assignment { name, values }];
        let scope = self.scope.clone();
        self.script.commands.push(Simple { assignments, is_repeated: true, scope, ..Simple::default() });
        self.body()
    }

    fn case(&mut self) -> Read<()> {
        // Where the substitution ends, shells of different age disagree about the parentheses of the patterns.
        if self.substitutions > 0 {
            return Err(Unclear("there is a `case` in a substitution"));
        }
        self.blanks()?;
        if self.word()?.parts.is_empty() {
            return Err(Unclear("a `case` has no word"));
        }
        self.newlines()?;
        if !self.take_reserved("in") {
            return Err(Unclear("a `case` has no `in`"));
        }
        loop {
            self.newlines()?;
            if self.take_reserved("esac") {
                return Ok(());
            }
            let _ = self.take("(");
            loop {
                self.blanks()?;
                if self.word()?.parts.is_empty() {
                    return Err(Unclear("a `case` has an empty pattern"));
                }
                self.blanks()?;
                if !self.take("|") {
                    break;
                }
            }
            if !self.take(")") {
                return Err(Unclear("a `case` has an odd pattern"));
            }
            self.blanks()?;
            if self.at_reserved("time") {
                return Err(Unclear("`time` follows a pattern"));
            }
            match self.list(&[";;", ";&", "esac"])? {
                "esac" => {}
                ";;" if !self.starts(";;&") => self.at += 2,
                _ => return Err(Unclear("a `case` falls through")),
            }
        }
    }
}

fn is_sign(stop: &str) -> bool {
    !stop.bytes().all(|byte| byte.is_ascii_alphabetic()) && stop != "}"
}
