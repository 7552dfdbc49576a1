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
            "Dockerfile",
            "Containerfile",
        ],
    ),
    (
        &["gradle", "gradlew", "gradlew.bat"],
        &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "init.gradle",
            "gradle.properties",
            "gradle/libs.versions.toml",
            "gradle/wrapper/gradle-wrapper.properties",
            "gradle/wrapper/gradle-wrapper.jar",
            "buildSrc/build.gradle",
            "buildSrc/build.gradle.kts",
        ],
    ),
    (
        &["mvn", "mvnw", "mvnw.cmd", "mvnd"],
        &[
            "pom.xml",
            ".mvn/maven.config",
            ".mvn/jvm.config",
            ".mvn/extensions.xml",
            ".mvn/settings.xml",
            ".mvn/wrapper/maven-wrapper.properties",
            ".mvn/wrapper/maven-wrapper.jar",
        ],
    ),
    (
        &["dotnet", "msbuild"],
        &[
            "Program.cs",
            "Directory.Build.props",
            "Directory.Build.targets",
            "Directory.Build.rsp",
            "Directory.Packages.props",
            "global.json",
            "nuget.config",
            "NuGet.Config",
            "Properties/launchSettings.json",
            ".config/dotnet-tools.json",
        ],
    ),
    (
        &["mix", "iex", "elixir"],
        &["mix.exs", "mix.lock", "config/config.exs", "config/runtime.exs", "config/dev.exs", ".iex.exs"],
    ),
    (
        &["mise", "rtx"],
        &[
            "mise.toml",
            ".mise.toml",
            "mise.local.toml",
            ".mise.local.toml",
            "mise/config.toml",
            ".mise/config.toml",
            ".config/mise.toml",
            ".config/mise/config.toml",
            ".tool-versions",
        ],
    ),
    (&["asdf"], &[".tool-versions"]),
    (
        &["nix", "nix-shell", "nix-build", "nix-instantiate", "devenv"],
        &["flake.nix", "flake.lock", "shell.nix", "default.nix", "devenv.nix", "devenv.yaml"],
    ),
    (&["devbox"], &["devbox.json", "devbox.lock"]),
    (&["direnv"], &[".envrc"]),
    (
        PYTHON_RUNNERS,
        &[
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "uv.lock",
            "uv.toml",
            "poetry.lock",
            "poetry.toml",
            "pdm.lock",
            "pdm.toml",
            "hatch.toml",
            "Pipfile",
            "Pipfile.lock",
            "pixi.toml",
            "pixi.lock",
            "tox.ini",
            "noxfile.py",
            "pytest.ini",
            "conftest.py",
        ],
    ),
    (PYTHON_SERVERS, &["app.py", "wsgi.py", "asgi.py", "main.py", "gunicorn.conf.py", ".flaskenv", ".env"]),
    (&["invoke", "inv"], &["tasks.py", "invoke.yaml"]),
    (&["fab"], &["fabfile.py"]),
    (&["sbt"], &["build.sbt", "project/build.properties", "project/plugins.sbt", ".sbtopts", ".jvmopts"]),
    (&["lein"], &["project.clj"]),
    (&["clojure", "clj"], &["deps.edn"]),
    (&["bb"], &["bb.edn"]),
    (&["ant"], &["build.xml"]),
    (&["cabal", "stack"], &["cabal.project", "stack.yaml", "package.yaml", "Setup.hs"]),
    (&["dart", "flutter"], &["pubspec.yaml", "pubspec.lock", "lib/main.dart", "bin/main.dart"]),
    (&["swift"], &["Package.swift", "Sources/main.swift"]),
    (&["zig"], &["build.zig", "build.zig.zon", "src/main.zig"]),
    (&["composer", "php"], &["composer.json", "php.ini"]),
    (&["R", "Rscript"], &[".Rprofile", ".Renviron"]),
    (&["foreman", "overmind", "honcho", "hivemind"], &["Procfile", "Procfile.dev", ".env"]),
    (&["pm2"], &["ecosystem.config.js", "ecosystem.config.cjs", "package.json"]),
    (&["nodemon"], &["nodemon.json", "package.json"]),
    (&["tsx", "ts-node"], &["tsconfig.json"]),
    (&["turbo", "nx", "lerna"], &["turbo.json", "nx.json", "lerna.json", "package.json"]),
    (&["gulp", "grunt"], &["gulpfile.js", "gulpfile.mjs", "Gruntfile.js", "Gruntfile.cjs"]),
    (&["scons"], &["SConstruct", "Sconstruct", "sconstruct"]),
    (&["cmake", "ninja"], &["CMakeLists.txt", "CMakePresets.json", "build.ninja"]),
    (
        &["bazel", "bazelisk"],
        &["MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel", "BUILD", "BUILD.bazel", ".bazelrc"],
    ),
    (&["vagrant"], &["Vagrantfile"]),
    (&["earthly"], &["Earthfile"]),
];

/// Programs that run what a Python project names.
const PYTHON_RUNNERS: &[&str] = &[
    "uv", "uvx", "poetry", "pdm", "hatch", "rye", "pixi", "pipenv", "pipx", "tox", "nox", "pytest", "py.test",
];

/// Programs that run an object of a Python module, given as `module:object`.
const PYTHON_SERVERS: &[&str] = &[
    "uvicorn",
    "gunicorn",
    "hypercorn",
    "daphne",
    "granian",
    "flask",
    "fastapi",
    "celery",
    "waitress-serve",
    "uwsgi",
    "fastmcp",
    "mcp",
];

/// Programs, and the endings of files in their folder that they take for their project.
const ENDINGS: &[(&[&str], &[&str])] = &[
    (&["dotnet", "msbuild"], &[".csproj", ".fsproj", ".vbproj", ".proj", ".sln", ".slnx"]),
    (&["cabal", "stack"], &[".cabal"]),
    (&["bundle", "rake"], &[".gemspec"]),
];

/// Flags of node and its like whose value is a module.
const MODULE_FLAGS: &[&str] =
    &["-r", "--require", "--import", "--loader", "--experimental-loader", "--preload"];

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
    if runs(PYTHON_SERVERS) {
        words.iter().flat_map(|word| values(word)).for_each(|name| python_object(name, into));
    }
    if runs(&["mise", "rtx"]) {
        for folder in ["mise-tasks", ".mise-tasks", "mise/tasks", ".mise/tasks", ".config/mise/tasks"] {
            into.extend(words.iter().skip(1).map(|word| format!("{folder}/{}", word.replace(':', "/"))));
        }
    }
    // A project file elsewhere: its folder has further files.
    if runs(&["cargo", "mvn", "mvnw", "gradle", "gradlew", "dotnet", "uv", "poetry"]) {
        let folders = words.iter().flat_map(|word| values(word)).filter_map(|name| name.rsplit_once('/'));
        into.extend(folders.map(|(folder, _)| folder.to_owned()).filter(|folder| !folder.is_empty()));
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

/// The modules that flags of node and its like name, without those that are paths.
pub(super) fn node_modules(words: &[String]) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    if !words.iter().any(|word| is_of(EXTENSIONS[0].0, word)) {
        return modules;
    }
    for (index, word) in words.iter().enumerate() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (word.as_str(), words.get(index + 1).map(String::as_str)),
        };
        let value = if MODULE_FLAGS.contains(&flag) { value } else { word.strip_prefix("-r") };
        let is_bare =
            |name: &&str| !name.is_empty() && name.len() < 500 && !name.starts_with(['.', '/', '-']);
        modules.extend(value.filter(is_bare).map(str::to_owned));
    }
    modules
}

/// The places of a module that is given by its name: in the folder and in those above.
pub(super) fn module_places(module: &str) -> impl Iterator<Item = String> + '_ {
    (0..=ABOVE).map(move |above| format!("{}node_modules/{module}", "../".repeat(above)))
}

/// The package that a module belongs to: `a` of `a/b`, `@a/b` of `@a/b/c`.
pub(super) fn package_of(module: &str) -> &str {
    let parts = if module.starts_with('@') { 2 } else { 1 };
    let end = module.match_indices('/').nth(parts - 1).map_or(module.len(), |(at, _)| at);
    &module[..end]
}

/// A name with each ending that node may add to it.
pub(super) fn with_extensions(name: &str) -> impl Iterator<Item = String> + '_ {
    [""].iter().chain(NODE).map(move |extension| format!("{name}{extension}"))
}

/// The endings of the files that the command's programs take for their project.
pub(super) fn endings(words: &[String], into: &mut BTreeSet<&'static str>) {
    for (programs, endings) in ENDINGS {
        if words.iter().any(|word| is_of(programs, word)) {
            into.extend(endings.iter());
        }
    }
}

/// Whether the command runs what a Python project names.
pub(super) fn runs_python_project(words: &[String]) -> bool {
    words.iter().any(|word| is_of(PYTHON_RUNNERS, word))
}

/// The files of a Python module that is given as `module:object` or `module`.
pub(super) fn python_object(text: &str, into: &mut BTreeSet<String>) {
    let module = text.split(':').next().unwrap_or(text);
    let mut files = BTreeSet::new();
    python_module(module, &mut files);
    for file in files {
        into.insert(format!("src/{file}"));
        into.insert(file);
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
