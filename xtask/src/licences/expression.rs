//! Licence expressions as SPDX writes them, and the older form with a slash. It knows no licence by name.

use std::fmt;

use anyhow::{Result, bail};

/// What a package may be used under.
#[derive(Debug, PartialEq)]
pub(super) enum Expression {
    /// One licence.
    Licence(String),
    /// One licence with an exception from it.
    With(String, String),
    /// All of them at once.
    All(Vec<Expression>),
    /// Any one of them.
    Any(Vec<Expression>),
}

impl Expression {
    pub(super) fn parse(text: &str) -> Result<Expression> {
        let tokens = tokens(text);
        let mut parser = Parser { tokens: &tokens };
        let expression = parser.any()?;
        match parser.tokens {
            [] => Ok(expression),
            [token, ..] => bail!("`{token}` is not expected here"),
        }
    }

    /// Whether one can choose so that every licence that binds is an accepted one.
    pub(super) fn is_met(&self, is_accepted: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Expression::Licence(licence) => is_accepted(licence),
            // This exception only gives more rights. Others have to be read before they are trusted.
            Expression::With(licence, exception) => exception == "LLVM-exception" && is_accepted(licence),
            Expression::All(parts) => parts.iter().all(|part| part.is_met(is_accepted)),
            Expression::Any(parts) => parts.iter().any(|part| part.is_met(is_accepted)),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Licence(licence) => formatter.write_str(licence),
            Expression::With(licence, exception) => write!(formatter, "{licence} WITH {exception}"),
            Expression::All(parts) => write_joined(formatter, parts, " AND "),
            Expression::Any(parts) => write_joined(formatter, parts, " OR "),
        }
    }
}

fn write_joined(formatter: &mut fmt::Formatter<'_>, parts: &[Expression], word: &str) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            formatter.write_str(word)?;
        }
        match part {
            Expression::All(_) | Expression::Any(_) => write!(formatter, "({part})")?,
            Expression::Licence(_) | Expression::With(..) => write!(formatter, "{part}")?,
        }
    }
    Ok(())
}

fn tokens(text: &str) -> Vec<String> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

struct Parser<'a> {
    tokens: &'a [String],
}

impl Parser<'_> {
    fn any(&mut self) -> Result<Expression> {
        let mut parts = vec![self.all()?];
        while self.take_word("OR") {
            parts.push(self.all()?);
        }
        Ok(joined(parts, Expression::Any))
    }

    fn all(&mut self) -> Result<Expression> {
        let mut parts = vec![self.one()?];
        while self.take_word("AND") {
            parts.push(self.one()?);
        }
        Ok(joined(parts, Expression::All))
    }

    fn one(&mut self) -> Result<Expression> {
        if self.take_word("(") {
            let inner = self.any()?;
            if !self.take_word(")") {
                bail!("a bracket is not closed");
            }
            return Ok(inner);
        }
        let licence = self.name()?;
        if self.take_word("WITH") {
            return Ok(Expression::With(licence, self.name()?));
        }
        Ok(Expression::Licence(licence))
    }

    fn name(&mut self) -> Result<String> {
        match self.tokens {
            [] => bail!("it ends where a licence should follow"),
            [token, ..] if ["OR", "AND", "WITH", "(", ")"].iter().any(|word| is_word(token, word)) => {
                bail!("`{token}` stands where a licence should")
            }
            [token, rest @ ..] => {
                self.tokens = rest;
                Ok(token.clone())
            }
        }
    }

    fn take_word(&mut self, word: &str) -> bool {
        match self.tokens {
            [token, rest @ ..] if is_word(token, word) => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }
}

fn is_word(token: &str, word: &str) -> bool {
    token == word || token == word.to_ascii_lowercase()
}

fn joined(mut parts: Vec<Expression>, join: impl FnOnce(Vec<Expression>) -> Expression) -> Expression {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            join(parts)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(Expression::parse(text).unwrap().to_string(), expected, "{text}");
    }

    fn check_error(text: &str, expected: &str) {
        assert_eq!(Expression::parse(text).unwrap_err().to_string(), expected, "{text}");
    }

    #[test]
    fn expressions_are_read() {
        check("MIT", "MIT");
        check("MIT OR Apache-2.0", "MIT OR Apache-2.0");
        check("MIT/Apache-2.0", "MIT OR Apache-2.0");
        check("MIT / Apache-2.0", "MIT OR Apache-2.0");
        check("MIT or Apache-2.0", "MIT OR Apache-2.0");
        check("(MIT OR Apache-2.0) AND Unicode-3.0", "(MIT OR Apache-2.0) AND Unicode-3.0");
        check("((MIT))", "MIT");
    }

    #[test]
    fn and_binds_closer_than_or_and_with_closest() {
        check("A OR B AND C", "A OR (B AND C)");
        check("A AND B OR C", "(A AND B) OR C");
        check("A WITH x OR B", "A WITH x OR B");
    }

    #[test]
    fn nonsense_is_refused() {
        check_error("", "it ends where a licence should follow");
        check_error("MIT OR", "it ends where a licence should follow");
        check_error("MIT Apache-2.0", "`Apache-2.0` is not expected here");
        check_error("(MIT", "a bracket is not closed");
        check_error("MIT)", "`)` is not expected here");
        check_error("OR MIT", "`OR` stands where a licence should");
    }

    #[test]
    fn one_accepted_choice_is_enough_but_all_of_and_are_needed() {
        let is_met = |text| Expression::parse(text).unwrap().is_met(&|licence| licence == "A");
        assert!(is_met("A OR B"));
        assert!(!is_met("A AND B"));
        assert!(is_met("(A OR B) AND (B OR A)"));
        assert!(!is_met("A+"));
        assert!(is_met("A WITH LLVM-exception"));
        assert!(!is_met("B WITH LLVM-exception"));
        assert!(!is_met("A WITH Some-other-exception"));
    }
}
