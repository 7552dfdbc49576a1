//! What programs add to the names that they are given, and the files that they read without being given any.

use super::pieces::base_name;
use std::collections::BTreeSet;

/// What node and its like add to a name.
const NODE: &[&str] = &[".js", ".json", ".node", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx"];

/// Programs, and what they add to a name.
const EXTENSIONS: &[(&[&str], &[&str])] = &[
    (&["node", "nodejs", "bun", "deno", "tsx", "ts-node", "nodemon"], NODE),
    (&["ruby", "jruby", "irb", "rake", "bundle"], &[".rb", ".so"]),
    (&["lua", "luajit"], &[".lua"]),
];

/// Programs, and the files that they look for in their folder and in those above.
const DEFAULTS: &[(&[&str], &[&str])] = &[
    (&["make", "gmake", "bmake"], &["GNUmakefile", "makefile", "Makefile", "BSDmakefile"]),
    (&["just"], &["justfile", "Justfile", ".justfile", "JUSTFILE"]),
    (&["task", "go-task"], &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"]),
    (&["rake", "bundle"], &["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb", "Gemfile"]),
    (&["go"], &["go.mod", "go.work", "main.go"]),
    (&["cargo"], &["Cargo.toml", "build.rs", "src/main.rs", ".cargo/config.toml", ".cargo/config"]),
    (&["deno"], &["deno.json", "deno.jsonc"]),
    (&["bun", "bunx"], &["bunfig.toml", "package.json"]),
    (
        &["npm", "npx", "pnpm", "pnpx", "yarn"],
        &["package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", ".pnpmfile.cjs"],
    ),
    (
        &["docker", "podman", "docker-compose", "podman-compose"],
        &[
            "compose.yaml",
            "compose.yml",
            "docker-compose.yml",
            "docker-compose.yaml",
            "compose.override.yaml",
        ],
    ),
];

/// Maximum number of folders above in which default files are looked for.
const ABOVE: usize = 6;

/// Variables that hold options, and the program whose options they are.
const OPTIONS: &[(&str, &str)] =
    &[("NODE_OPTIONS", "node"), ("BUN_OPTIONS", "bun"), ("PERL5OPT", "perl"), ("RUBYOPT", "ruby")];

/// Whether a word starts one of these programs, in any version: `python3.12` is `python`.
pub(super) fn is_of(list: &[&str], word: &str) -> bool {
    let name = base_name(word);
    list.contains(&name) || list.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// The program and its options that a variable holds, if it holds options.
pub(super) fn options(name: &str, value: &str) -> Option<Vec<String>> {
    let (_, program) = OPTIONS.iter().find(|(variable, _)| *variable == name)?;
    let mut words = vec![(*program).to_owned()];
    words.extend(super::pieces::shell_words(value).into_iter().map(|word| match *program {
        // The first dash may be left out.
        "perl" if !word.starts_with('-') => format!("-{word}"),
        _ => word,
    }));
    Some(words)
}

/// The names that the command's words stand for beside themselves.
pub(super) fn names(words: &[String], into: &mut BTreeSet<String>) {
    let runs = |list: &[&str]| words.iter().any(|word| is_of(list, word));
    for (programs, extensions) in EXTENSIONS {
        if runs(programs) {
            for name in words.iter().flat_map(|word| values(word)) {
                into.extend(extensions.iter().map(|extension| format!("{name}{extension}")));
            }
        }
    }
    let is_code = |word: &&String| word.contains(|c: char| c.is_whitespace() || "'\"();".contains(c));
    for (index, word) in words.iter().enumerate() {
        for module in behind_letter(word, 'm', words.get(index + 1)) {
            python_module(module, into);
        }
    }
    if runs(&["python", "pypy", "uv", "uvx"]) {
        for word in words.iter().filter(is_code) {
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            word.split(|c| !is_part(c)).for_each(|module| python_module(module, into));
        }
    }
    if runs(&["perl"]) {
        for (index, word) in words.iter().enumerate() {
            let next = words.get(index + 1);
            for module in behind_letter(word, 'm', next).chain(behind_letter(word, 'M', next)) {
                perl_module(module, into);
            }
            if let Some((_, module)) = word.split_once(':').filter(|_| word.starts_with("-d")) {
                perl_module(&format!("Devel::{module}"), into);
            }
        }
        for word in words.iter().filter(is_code) {
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            word.split(|c| !is_part(c)).for_each(|module| perl_module(module, into));
        }
    }
    if runs(&["java"]) {
        into.extend(words.iter().map(|word| format!("{}.class", word.replace('.', "/"))));
    }
    if runs(&["cargo"]) {
        for pair in words.windows(2) {
            let name = &pair[1];
            match pair[0].as_str() {
                "--bin" => into.extend([format!("src/bin/{name}.rs"), format!("src/bin/{name}/main.rs")]),
                "--example" => {
                    into.extend([format!("examples/{name}.rs"), format!("examples/{name}/main.rs")])
                }
                _ => {}
            }
        }
    }
}

/// The files that the command's programs look for by themselves, from each folder.
pub(super) fn defaults(words: &[String], into: &mut BTreeSet<String>) {
    for (programs, files) in DEFAULTS {
        if words.iter().any(|word| is_of(programs, word)) {
            for above in 0..=ABOVE {
                into.extend(files.iter().map(|file| format!("{}{file}", "../".repeat(above))));
            }
        }
    }
}

/// What Python runs at its start from the folders of `PYTHONPATH`.
pub(super) fn python_path(value: &str, into: &mut BTreeSet<String>) {
    for folder in value.split(':') {
        let folder = if folder.is_empty() { "." } else { folder };
        for module in ["sitecustomize", "usercustomize"] {
            into.extend([format!("{folder}/{module}.py"), format!("{folder}/{module}/__init__.py")]);
        }
    }
}

/// A word and the parts of it that may be the name of a module.
fn values(word: &str) -> Vec<&str> {
    let mut values = vec![word];
    values.extend(word.match_indices('=').map(|(at, _)| &word[at + 1..]));
    values.extend(word.split(['"', '\'', '`']).filter(|part| part.len() < word.len()));
    values.extend(suffixes(word));
    values.retain(|value| !value.is_empty() && value.len() < 1_000);
    values
}

/// What may be the value behind one-letter flags that are written together: `-r./x`, `-wIlib`.
pub(super) fn suffixes(word: &str) -> impl Iterator<Item = &str> {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
    let flags = letters.bytes().take(6).take_while(u8::is_ascii_alphanumeric).count();
    (1..=flags).map(move |at| &letters[at..])
}

/// The values of a one-letter flag, alone or behind others: `-m x`, `-mx`, `-um x`.
fn behind_letter<'a>(word: &'a str, letter: char, next: Option<&'a String>) -> impl Iterator<Item = &'a str> {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
    letters.match_indices(letter).take(6).filter_map(move |(at, _)| match &letters[at + 1..] {
        "" => next.map(String::as_str),
        value => Some(value),
    })
}

fn python_module(module: &str, into: &mut BTreeSet<String>) {
    let module = module.trim_matches('.');
    if module.is_empty() || module.contains('/') || module.len() > 500 {
        return;
    }
    let mut path = String::new();
    for part in module.split('.') {
        path.push_str(part);
        into.extend([format!("{path}/__init__.py"), format!("{path}.py")]);
        path.push('/');
    }
    into.insert(format!("{path}__main__.py"));
}

fn perl_module(module: &str, into: &mut BTreeSet<String>) {
    let module = module.trim_start_matches('-');
    let end = module.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(module.len());
    let module = &module[..end];
    if !module.is_empty() && module.len() < 500 {
        into.insert(format!("{}.pm", module.replace("::", "/").replace('\'', "/")));
    }
}
