//! Which names of files belong to what.

use super::Sort;

/// Programming languages with the endings of their files.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("Vue", &["vue"]),
    ("Svelte", &["svelte"]),
    ("Astro", &["astro"]),
    ("MDX", &["mdx"]),
    ("Jupyter", &["ipynb"]),
    ("Java", &["java"]),
    ("Kotlin", &["kt", "kts"]),
    ("Scala", &["scala", "sc"]),
    ("Groovy", &["groovy", "gradle"]),
    ("Clojure", &["clj", "cljs", "cljc"]),
    ("C", &["c", "h"]),
    ("C++", &["cc", "cpp", "cxx", "hpp", "hh", "hxx", "ipp", "inl", "tcc"]),
    ("CUDA", &["cu", "cuh"]),
    ("C#", &["cs"]),
    ("Razor", &["razor", "cshtml"]),
    ("F#", &["fs", "fsi", "fsx"]),
    ("Visual Basic", &["vb"]),
    ("Ruby", &["rb", "rake", "gemspec", "rbi", "rbs"]),
    ("PHP", &["php", "phtml"]),
    ("Swift", &["swift"]),
    ("Objective-C", &["m", "mm"]),
    ("Dart", &["dart"]),
    ("Elixir", &["ex", "exs"]),
    ("Erlang", &["erl", "hrl"]),
    ("Haskell", &["hs", "lhs"]),
    ("OCaml", &["ml", "mli"]),
    ("Lua", &["lua", "luau"]),
    ("Perl", &["pl", "pm"]),
    ("R", &["r", "rmd"]),
    ("Julia", &["jl"]),
    ("Zig", &["zig"]),
    ("Nim", &["nim"]),
    ("Crystal", &["cr"]),
    ("D", &["d"]),
    ("Fortran", &["f", "f90", "f95", "f03"]),
    ("Assembly", &["s", "asm"]),
    ("Cython", &["pyx", "pxd", "pxi"]),
    ("Python (by another ending)", &["pyw", "pyt"]),
    ("Solidity", &["sol"]),
    ("Elm", &["elm"]),
    ("PureScript", &["purs"]),
    ("ReScript", &["res", "resi"]),
    ("Reason", &["re", "rei"]),
    ("CoffeeScript", &["coffee"]),
    ("Haxe", &["hx"]),
    ("Tcl", &["tcl"]),
    ("Lisp", &["lisp", "el", "scm", "rkt"]),
    ("Verilog", &["v", "sv", "svh"]),
    ("VHDL", &["vhd", "vhdl"]),
    ("Prolog", &["pro"]),
    ("Ada", &["adb", "ads"]),
    ("Pascal", &["pas"]),
    ("COBOL", &["cob", "cbl"]),
    ("Gleam", &["gleam"]),
    ("Odin", &["odin"]),
    ("Vala", &["vala"]),
    ("Apex", &["cls"]),
    ("Move", &["move"]),
    ("Cairo", &["cairo"]),
    ("Mojo", &["mojo"]),
    ("Templ", &["templ"]),
];

/// Pages, templates, queries and descriptions of interfaces.
const PAGES: &[(&str, &[&str])] = &[
    ("HTML", &["html", "htm", "xhtml"]),
    ("XAML", &["xaml", "axaml"]),
    (
        "templates",
        &[
            "jinja",
            "jinja2",
            "j2",
            "hbs",
            "handlebars",
            "mustache",
            "ejs",
            "pug",
            "njk",
            "liquid",
            "tmpl",
            "gohtml",
            "gotmpl",
            "tpl",
            "twig",
            "erb",
            "haml",
            "slim",
            "heex",
            "leex",
            "eex",
            "mako",
        ],
    ),
    ("SQL", &["sql"]),
    ("Protocol Buffers", &["proto", "thrift", "capnp", "fbs"]),
    ("GraphQL", &["graphql", "gql"]),
    ("shaders", &["glsl", "hlsl", "wgsl", "metal", "vert", "frag"]),
];

/// Settings, and scripts that run programs.
const SETTINGS: &[&str] = &[
    "json",
    "jsonc",
    "json5",
    "yaml",
    "yml",
    "toml",
    "cfg",
    "ini",
    "conf",
    "properties",
    "xml",
    "plist",
    "sh",
    "bash",
    "zsh",
    "fish",
    "bat",
    "cmd",
    "ps1",
    "psm1",
    "mk",
    "mak",
    "cmake",
    "nix",
    "tf",
    "hcl",
    "bzl",
    "bazel",
    "star",
    "ui",
    "service",
    "desktop",
    "csproj",
    "sln",
    "props",
    "targets",
    "ninja",
    "ron",
];

/// Files of settings without an ending of their own.
const SETTINGS_BY_NAME: [&str; 9] = [
    "Makefile",
    "makefile",
    "GNUmakefile",
    "Dockerfile",
    "Containerfile",
    "Justfile",
    "justfile",
    "Procfile",
    "BUILD",
];

/// What uses nothing: prose, looks, data, pictures, and what programs have made.
const WITHOUT_USES: &[&str] = &[
    "md", "markdown", "mkd", "rst", "txt", "text", "adoc", "asciidoc", "org", "tex", "bib", "rtf", "1", "3",
    "5", "7", "8", "csv", "tsv", "log", "po", "pot", "mo", "snap", "svg", "css", "scss", "sass", "less",
    "styl", "diff", "patch", "rej", "orig", "bak", "map", "lock", "sum", "pem", "crt", "cer", "key", "asc",
    "sig", "license", "example", "png", "jpg", "jpeg", "gif", "webp", "avif", "ico", "icns", "bmp", "tif",
    "tiff", "psd", "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "zip", "gz", "tgz", "bz2",
    "xz", "zst", "7z", "rar", "tar", "br", "jar", "war", "class", "o", "a", "so", "dylib", "dll", "lib",
    "exe", "obj", "pdb", "pyc", "pyo", "pyd", "wasm", "node", "bin", "dat", "db", "sqlite", "sqlite3",
    "woff", "woff2", "ttf", "otf", "eot", "mp3", "mp4", "wav", "ogg", "flac", "webm", "mov", "avi",
    "parquet", "npy", "npz", "pkl", "onnx", "ndjson", "mod", "work",
];

/// Files that programs write: what is in them follows from other files.
const MADE: &[&str] = &["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml"];

/// Files that people read, without an ending.
const READ_BY_PEOPLE: &[&str] = &[
    "LICENSE",
    "COPYING",
    "NOTICE",
    "AUTHORS",
    "CONTRIBUTORS",
    "MAINTAINERS",
    "CODEOWNERS",
    "README",
    "CHANGELOG",
    "CHANGES",
];

pub(super) fn sort_of_name(name: &str) -> Option<Sort> {
    if MADE.contains(&name) || READ_BY_PEOPLE.contains(&name) || is_list_of_tool(name) {
        return None;
    }
    if SETTINGS_BY_NAME.contains(&name) {
        return Some(Sort::Settings);
    }
    let Some((_, ending)) = name.trim_start_matches('.').rsplit_once('.') else {
        // `.gitignore` and the like are settings of tools, which name files.
        return (!name.starts_with('.')).then_some(Sort::Unnamed);
    };
    let all = crate::languages::all();
    if all.iter().any(|language| language.extensions().contains(&ending)) {
        return None;
    }
    let lower = ending.to_ascii_lowercase();
    let lower = lower.as_str();
    let find = |list: &'static [(&'static str, &'static [&'static str])]| {
        list.iter().find(|(_, endings)| endings.contains(&lower)).map(|(name, _)| *name)
    };
    if let Some(language) = find(LANGUAGES) {
        return Some(Sort::Language(language));
    }
    if let Some(page) = find(PAGES) {
        return Some(Sort::Page(page));
    }
    if SETTINGS.contains(&lower) {
        return Some(Sort::Settings);
    }
    (!WITHOUT_USES.contains(&lower)).then_some(Sort::Unnamed)
}

/// `go.sum`-like lists under other names.
fn is_list_of_tool(name: &str) -> bool {
    name.ends_with("-lock.json") || name.ends_with(".lock.json") || name.ends_with(".min.css")
}
