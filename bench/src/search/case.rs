//! What is searched for, as each side wants to be told.

use serde_json::{Value, json};

/// One search.
pub(crate) struct Case {
    pub(crate) title: &'static str,
    pub(crate) pattern: &'static str,
    pub(crate) kind: Kind,
    pub(crate) shown: Shown,
}

/// How the pattern is read.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Literal,
    Regex,
    Names,
}

/// What is shown of a match in a file.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Shown {
    Lines,
    Names,
    Counts,
}

const fn case(title: &'static str, pattern: &'static str, kind: Kind, shown: Shown) -> Case {
    Case { title, pattern, kind, shown }
}

/// Every search; the patterns are found, or not, in the sources of what toolpost itself is built of.
pub(crate) const CASES: [Case; 7] = [
    case("a rare literal", "fn find_overlapping_iter", Kind::Literal, Shown::Lines),
    case("a common literal", "unwrap()", Kind::Literal, Shown::Lines),
    case("a common literal, names only", "unwrap()", Kind::Literal, Shown::Names),
    case("a common literal, counted", "unwrap()", Kind::Literal, Shown::Counts),
    case("a regex", r"fn \w+_[a-z]{9,}_\w+\(&mut self", Kind::Regex, Shown::Lines),
    case("no match", "qqzzxxjjkkww", Kind::Literal, Shown::Lines),
    case("names", "**/*.rs", Kind::Names, Shown::Lines),
];

impl Case {
    /// The name of the program beside which it is measured.
    pub(crate) fn peer(&self) -> &'static str {
        if self.kind == Kind::Names { "fd" } else { "rg" }
    }

    /// The other's arguments.
    pub(crate) fn theirs(&self, shown: Shown) -> Vec<&'static str> {
        // As ours do, both look at ignore files also where there is no repository.
        let mut arguments = vec!["--no-require-git"];
        if self.kind == Kind::Names {
            arguments.extend(["--type", "f", "--glob", self.pattern, "--full-path"]);
            return arguments;
        }
        arguments.push(match shown {
            Shown::Lines => "-n",
            Shown::Names => "-l",
            Shown::Counts => "-c",
        });
        if self.kind == Kind::Literal {
            arguments.push("-F");
        }
        arguments.extend(["-e", self.pattern]);
        arguments
    }

    /// Our tool.
    pub(crate) fn tool(&self) -> &'static str {
        if self.kind == Kind::Names { "glob" } else { "grep" }
    }

    /// Its arguments.
    pub(crate) fn ours(&self, shown: Shown) -> Value {
        let (mode, limit) = match shown {
            _ if self.kind == Kind::Names => return json!({"pattern": self.pattern}),
            Shown::Lines => ("content", 200),
            Shown::Names => ("files", 200),
            Shown::Counts => ("count", 10_000),
        };
        let literal = self.kind == Kind::Literal;
        json!({"pattern": self.pattern, "literal": literal, "mode": mode, "limit": limit})
    }
}
