//! A code engine with fixed answers, so that tools over it are tested by what they make of them. It hides nothing itself:
//! that nothing of a hidden file is shown is then the tools' own work.

use std::sync::Arc;
use toolpost_core::code::{
    Answer, CodeEngine, Confidence, Coverage, Dependencies, Description, Export, Import, Inquiry, Links,
    Match, Reference, References, Resolution, Symbol, SymbolQuery, Target,
};
use toolpost_core::host::Services;
use toolpost_core::{Context, Memory, Policy, ToolError};

/// Files that the answers are about.
pub(crate) const FILES: &str = "\
//- src/reader.rs
//! Reads.
pub struct Reader {
    pub fn parse(&self) -> Result<Page, Error> { todo() }
}
//- src/main.rs
use crate::reader::Reader;
fn main() {
    let reader = Reader::new();
    reader.parse();
    anything.parse();
}
//- secret/keys.rs
pub fn parse_key() {}
//- src/Cargo.toml
[package]
name = \"src\"
//- secret/Cargo.toml
[package]
name = \"secret\"
";

pub(crate) struct FakeEngine {
    pub(crate) coverage: Coverage,
}

/// A session with the engine over the files.
pub(crate) fn session(coverage: Coverage) -> Context {
    let services = Services { code: Some(Arc::new(FakeEngine { coverage })), ..Services::default() };
    Context::builder(Arc::new(Memory::from_fixture(FILES))).services(services).build()
}

/// An answer that has all.
pub(crate) fn whole() -> Coverage {
    Coverage { complete: true, note: None }
}

/// A policy under which `secret` must not be shown.
pub(crate) fn without_secrets() -> Policy {
    Policy::standard().deny("read: /secret").unwrap()
}

fn symbol(name: &str, kind: &str, file: &str, line: u32, container: Option<&str>, signature: &str) -> Symbol {
    Symbol {
        name: name.to_owned(),
        kind: kind.to_owned(),
        file: file.to_owned(),
        line,
        column: 8,
        end_line: line + 2,
        container: container.map(str::to_owned),
        signature: signature.to_owned(),
        exported: true,
    }
}

fn symbols() -> Vec<Symbol> {
    vec![
        symbol("Reader", "struct", "src/reader.rs", 2, None, "pub struct Reader"),
        symbol(
            "parse",
            "method",
            "src/reader.rs",
            3,
            Some("Reader"),
            "pub fn parse(&self) -> Result<Page, Error>",
        ),
        symbol("main", "function", "src/main.rs", 2, None, "fn main()"),
        symbol("parse_key", "function", "secret/keys.rs", 1, None, "pub fn parse_key()"),
    ]
}

fn reference(file: &str, line: u32, column: u32, role: &str, confidence: Confidence) -> Reference {
    Reference { file: file.to_owned(), line, column, role: role.to_owned(), confidence }
}

impl FakeEngine {
    fn named(&self, target: &Target) -> Vec<Symbol> {
        let last = target.symbol.rsplit(['.', ':']).next().unwrap_or_default();
        symbols().into_iter().filter(|symbol| symbol.name == last).collect()
    }
}

impl CodeEngine for FakeEngine {
    fn symbols(&self, _: &Inquiry<'_>, query: &SymbolQuery) -> Answer<Symbol> {
        let wanted = query.text.to_lowercase();
        let fits = |symbol: &Symbol| {
            symbol.name.to_lowercase().contains(&wanted[..wanted.len().min(4)])
                && query.kind.as_ref().is_none_or(|kind| *kind == symbol.kind)
                && (query.path == "." || symbol.file.starts_with(&query.path))
        };
        Ok((symbols().into_iter().filter(fits).collect(), self.coverage.clone()))
    }

    fn matches(&self, _: &Inquiry<'_>, _: &SymbolQuery) -> Answer<Match> {
        let found = |file: &str, line: u32, end_line: u32| Match {
            file: file.to_owned(),
            line,
            column: 5,
            end_line,
            captures: vec![("X".to_owned(), "reader".to_owned())],
        };
        let found =
            vec![found("src/main.rs", 4, 4), found("src/main.rs", 2, 6), found("secret/keys.rs", 1, 1)];
        Ok((found, self.coverage.clone()))
    }

    fn map(&self, _: &Inquiry<'_>, query: &SymbolQuery, focus: &[String]) -> Answer<Symbol> {
        let mut symbols = symbols();
        symbols.sort_by_key(|symbol| !focus.contains(&symbol.file));
        symbols.truncate(query.limit);
        Ok((symbols, self.coverage.clone()))
    }

    fn describe(&self, _: &Inquiry<'_>, target: &Target) -> Answer<Description> {
        let described = self.named(target).into_iter().map(|symbol| Description {
            doc: Some("Parses a page.\n\nSlowly.".to_owned()),
            visibility: "public".to_owned(),
            members: symbols()
                .into_iter()
                .filter(|one| one.container.as_ref() == Some(&symbol.name))
                .collect(),
            used_by: vec![("src/main.rs".to_owned(), 2), ("secret/keys.rs".to_owned(), 1)],
            symbol,
        });
        Ok((described.collect(), self.coverage.clone()))
    }

    fn links(&self, _: &Inquiry<'_>, _: &str) -> Result<Links, ToolError> {
        let import = |module: &str, names: &[&str], file: Option<&str>| Import {
            module: module.to_owned(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            line: 1,
            file: file.map(str::to_owned),
        };
        let export = Export { name: "main".to_owned(), kind: "function".to_owned(), line: 2, from: None };
        Ok(Links {
            imports: vec![
                import("crate::reader", &["Reader"], Some("src/reader.rs")),
                import("std::io", &[], None),
                import("crate::keys", &["parse_key"], Some("secret/keys.rs")),
            ],
            exports: vec![export],
            coverage: self.coverage.clone(),
        })
    }

    fn dependencies(&self, _: &Inquiry<'_>, _: &str) -> Result<Dependencies, ToolError> {
        let edge = |from: &str, to: &str| (from.to_owned(), to.to_owned(), 2);
        Ok(Dependencies {
            files: ["src/main.rs", "src/reader.rs", "secret/keys.rs"].map(str::to_owned).to_vec(),
            edges: vec![
                edge("src/main.rs", "src/reader.rs"),
                edge("src/reader.rs", "src/main.rs"),
                edge("src/main.rs", "secret/keys.rs"),
            ],
            coverage: self.coverage.clone(),
        })
    }

    fn resolve(&self, _: &Inquiry<'_>, target: &Target) -> Result<Resolution, ToolError> {
        let mut named = self.named(target).into_iter();
        let definition = named.next();
        Ok(Resolution {
            confidence: definition.as_ref().map(|_| Confidence::Typed),
            definition,
            candidates: named.collect(),
            external: (target.symbol == "println").then(|| "std::println".to_owned()),
            coverage: self.coverage.clone(),
        })
    }

    fn references(&self, _: &Inquiry<'_>, target: &Target) -> Result<References, ToolError> {
        let definitions = self.named(target);
        let is_known = !definitions.is_empty();
        Ok(References {
            definitions,
            references: match is_known {
                true => vec![
                    reference("src/main.rs", 4, 12, "member", Confidence::Typed),
                    reference("src/reader.rs", 3, 12, "definition", Confidence::Exact),
                    reference("secret/keys.rs", 1, 1, "member", Confidence::Exact),
                ],
                false => Vec::new(),
            },
            possible: match is_known {
                true => vec![reference("src/main.rs", 5, 14, "member", Confidence::Possible)],
                false => Vec::new(),
            },
            coverage: self.coverage.clone(),
        })
    }
}
