//! Languages by the names of files.

use super::tree::Tree;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Programming languages with the endings of their files.
const LANGUAGES: [(&str, &[&str]); 46] = [
    ("Rust", &["rs"]),
    ("Python", &["py", "pyi"]),
    ("TypeScript", &["ts", "tsx", "mts", "cts"]),
    ("JavaScript", &["js", "jsx", "mjs", "cjs"]),
    ("Go", &["go"]),
    ("Java", &["java"]),
    ("Kotlin", &["kt", "kts"]),
    ("Scala", &["scala", "sc"]),
    ("Groovy", &["groovy"]),
    ("Clojure", &["clj", "cljs", "cljc"]),
    ("C", &["c", "h"]),
    ("C++", &["cc", "cpp", "cxx", "hpp", "hh", "hxx", "ipp"]),
    ("C#", &["cs"]),
    ("F#", &["fs", "fsi", "fsx"]),
    ("Visual Basic", &["vb"]),
    ("Ruby", &["rb"]),
    ("PHP", &["php"]),
    ("Swift", &["swift"]),
    ("Objective-C", &["m", "mm"]),
    ("Dart", &["dart"]),
    ("Elixir", &["ex", "exs"]),
    ("Erlang", &["erl", "hrl"]),
    ("Haskell", &["hs", "lhs"]),
    ("OCaml", &["ml", "mli"]),
    ("Lua", &["lua"]),
    ("Perl", &["pl", "pm"]),
    ("R", &["r"]),
    ("Julia", &["jl"]),
    ("Zig", &["zig"]),
    ("Nim", &["nim"]),
    ("Crystal", &["cr"]),
    ("D", &["d"]),
    ("Fortran", &["f90", "f95", "f03"]),
    ("Assembly", &["s", "asm"]),
    ("Shell", &["sh", "bash", "zsh", "fish"]),
    ("PowerShell", &["ps1", "psm1"]),
    ("SQL", &["sql"]),
    ("HTML", &["html", "htm"]),
    ("CSS", &["css", "scss", "sass", "less"]),
    ("Vue", &["vue"]),
    ("Svelte", &["svelte"]),
    ("Astro", &["astro"]),
    ("Terraform", &["tf"]),
    ("Nix", &["nix"]),
    ("Protocol Buffers", &["proto"]),
    ("Starlark", &["bzl", "star"]),
];

/// A language and how much there is of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Language {
    /// Its name.
    pub(super) name: String,
    /// Files in it.
    pub(super) files: usize,
    /// Of a hundred files in any language, these.
    pub(super) percent: usize,
}

/// The language of a file, by its name.
pub(super) fn language_of(file: &str) -> Option<&'static str> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let (_, ending) = name.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    LANGUAGES.iter().find(|(_, endings)| endings.contains(&ending.as_str())).map(|(name, _)| *name)
}

/// The languages of a project's own files, the most frequent first.
pub(super) fn languages(tree: &Tree) -> Vec<Language> {
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    for file in tree.files.iter().filter(|file| !tree.is_foreign(file) && !tree.is_hidden(file)) {
        if let Some(language) = language_of(file) {
            *counted.entry(language).or_default() += 1;
        }
    }
    // A header belongs to whatever language the sources are in.
    if let (Some(c), true) = (counted.get("C").copied(), counted.contains_key("C++")) {
        let sources = tree.files.iter().filter(|file| file.ends_with(".c")).count();
        if sources == 0 {
            counted.remove("C");
            *counted.entry("C++").or_default() += c;
        }
    }
    let total: usize = counted.values().sum();
    let mut languages: Vec<Language> = counted
        .into_iter()
        .map(|(name, files)| Language {
            name: name.to_owned(),
            files,
            percent: (files * 100 + total / 2) / total.max(1),
        })
        .collect();
    languages.sort_by(|a, b| b.files.cmp(&a.files).then_with(|| a.name.cmp(&b.name)));
    languages
}
