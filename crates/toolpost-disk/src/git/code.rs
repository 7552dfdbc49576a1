//! What a hook in another language than that of the shell says about the files that it runs.
//!
//! The language is not understood. What stands in quotes may be a name or a part of one, and modules that are imported may
//! lie in any folder that is mentioned.

/// Languages of which the first line of a script tells.
const LANGUAGES: &[&str] = &[
    "python",
    "perl",
    "ruby",
    "node",
    "deno",
    "bun",
    "php",
    "lua",
    "tclsh",
    "Rscript",
    "julia",
    "groovy",
    "osascript",
];

/// Words in a text that goes through folders, or runs what it finds under a computed name.
const SEARCHES: &[&str] = &[
    "listdir",
    "glob",
    "scandir",
    "iterdir",
    "walk",
    "readdir",
    "opendir",
    "Dir.",
    "Dir[",
    "runpy",
    "import_module",
    "__import__",
    "execfile",
    "exec(",
    "eval(",
    "compile(",
];

/// What files with code end in.
pub(crate) const ENDINGS: &[&str] = &[
    "py", "sh", "bash", "js", "mjs", "cjs", "ts", "rb", "pl", "pm", "php", "lua", "tcl", "R", "jl", "groovy",
    "exs",
];

/// What one text says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Code {
    /// What stands in quotes.
    pub(crate) strings: Vec<String>,
    /// Modules that it imports, with `/` for `.`.
    pub(crate) modules: Vec<String>,
    /// Whether it goes through folders.
    pub(crate) searches: bool,
}

/// Whether the first line says that a script is for another program than a shell.
pub(crate) fn is_code(text: &str) -> bool {
    let first = text.strip_prefix("#!").and_then(|text| text.lines().next()).unwrap_or_default();
    let mut words = first.split(|letter: char| letter.is_whitespace() || letter == '/');
    words.any(|word| LANGUAGES.iter().any(|language| word.starts_with(language)))
}

impl Code {
    pub(crate) fn read(text: &str) -> Code {
        let mut code = Code { searches: SEARCHES.iter().any(|word| text.contains(word)), ..Code::default() };
        for line in text.lines() {
            code.strings(line);
            code.imports(line.trim());
        }
        for all in [&mut code.strings, &mut code.modules] {
            all.sort();
            all.dedup();
        }
        code
    }

    fn strings(&mut self, line: &str) {
        let mut letters = line.chars();
        let mut quote = None;
        let mut text = String::new();
        while let Some(letter) = letters.next() {
            match (quote, letter) {
                (None, '"' | '\'' | '`') => quote = Some(letter),
                (None, _) => {}
                (Some(_), '\\') => text.extend(letters.next()),
                (Some(open), letter) if open == letter => {
                    quote = None;
                    self.string(std::mem::take(&mut text));
                }
                (Some(_), letter) => text.push(letter),
            }
        }
        // A text over several lines.
        self.string(text);
    }

    fn string(&mut self, text: String) {
        let is_name =
            |text: &str| text.chars().any(|letter| letter != '.' && letter != '/') && text.len() < 1_000;
        self.strings.extend(text.split_whitespace().filter(|part| is_name(part)).map(str::to_owned));
        // `tools/*.py`: the folder is what is known.
        for part in text.split_whitespace() {
            let plain = part.find(['*', '?', '[', '{', '%', '$']).map(|at| &part[..at]);
            let folder =
                plain.and_then(|plain| Some(plain.rsplit_once('/')?.0)).filter(|folder| is_name(folder));
            self.strings.extend(folder.map(str::to_owned));
        }
        // `import_module("tools.check")`
        let is_module = text.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '.');
        if is_module && is_name(&text) {
            self.modules.push(text.trim_matches('.').replace('.', "/"));
        }
        if text.contains(' ') && is_name(&text) {
            self.strings.push(text);
        }
    }

    /// `import a.b, c` and `from a.b import c`.
    fn imports(&mut self, line: &str) {
        let names = |text: &str| -> Vec<String> {
            let parts = text.split([',', '(', ')', ';']).filter_map(|part| part.split_whitespace().next());
            parts
                .map(|name| name.trim_matches('.').replace('.', "/"))
                .filter(|name| !name.is_empty())
                .collect()
        };
        if let Some(rest) = line.strip_prefix("import ") {
            self.modules.extend(names(rest));
        }
        if let Some(rest) = line.strip_prefix("use ").or_else(|| line.strip_prefix("require ")) {
            self.modules.extend(names(&rest.replace("::", ".")));
        }
        if let Some((module, rest)) = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
        {
            let module = module.trim().trim_matches('.').replace('.', "/");
            self.modules.extend(
                names(rest).iter().map(|name| format!("{module}/{name}").trim_matches('/').to_owned()),
            );
            self.modules.extend((!module.is_empty()).then_some(module));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_other_languages_are_found() {
        let text = "#!/usr/bin/env python3\nimport os, sys.x as y\nfrom tools.check import run, more\nfrom . import a\n\
                    os.system(os.path.join(root, \"tools\", 'run it'))  # \"no\"\n";
        assert!(is_code(text) && !is_code("#!/bin/sh\npython3 x\n") && !is_code("python"));
        let code = Code::read(text);
        assert_eq!(code.strings, ["it", "no", "run", "run it", "tools"]);
        assert_eq!(
            code.modules,
            ["a", "no", "os", "sys/x", "tools", "tools/check", "tools/check/more", "tools/check/run"]
        );
        assert!(!code.searches && Code::read("for f in glob('x'):").searches);
    }
}
