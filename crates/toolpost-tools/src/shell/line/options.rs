//! Options and arguments by which well-known programs run other commands or write files.
//!
//! A rule such as `tar *` is meant for archives, not for `--checkpoint-action=exec`. What such an option would run is
//! not read: the command then needs the right to any. Programs that are not listed are judged by their text alone.

use super::effect::Effect;
use super::word::Word;

struct Program {
    names: &'static [&'static str],
    /// Long options, any unambiguous beginning of which does.
    long: &'static [&'static str],
    /// Letters of short options, alone or among others.
    short: &'static str,
    /// How a word begins.
    begins: &'static [&'static str],
    /// What a word holds, whatever its case.
    holds: &'static [&'static str],
    /// Whether options are also looked for in the lists that a compiler hands on, as in `-Wl,-rpath,DIR`.
    is_in_lists: bool,
    meaning: Meaning,
}

#[derive(Clone, Copy)]
enum Meaning {
    Runs,
    Writes,
}

const NOTHING: Program = Program {
    names: &[],
    long: &[],
    short: "",
    begins: &[],
    holds: &[],
    is_in_lists: false,
    meaning: Meaning::Runs,
};

#[rustfmt::skip]
const COMPILERS: &[&str] = &[
    "gcc", "g++", "cc", "c++", "c89", "c99", "cpp", "clang", "clang++", "clang-cpp", "clang-cl", "gfortran", "flang", "gdc",
    "gccgo", "emcc", "em++", "nvcc", "icx", "icpx", "hipcc",
];

const LINKERS: &[&str] =
    &["ld", "ld.bfd", "ld.gold", "ld.lld", "ld64.lld", "ld.mold", "gold", "lld", "mold", "collect2"];

/// Options by which linkers load plugins, in any unambiguous beginning, run programs or read further options.
const LOADED_BY_LINKERS: &[&str] =
    &["-pl", "--pl", "-load", "--load", "-lto_library", "-mllvm", "-run", "--run", "@"];

const PROGRAMS: &[Program] = &[
    Program {
        names: &["tar", "gtar", "bsdtar"],
        long: &[
            "checkpoint-action",
            "to-command",
            "use-compress-program",
            "rsh-command",
            "info-script",
            "new-volume-script",
            "rmt-command",
            "files-from",
        ],
        short: "IFT",
        ..NOTHING
    },
    Program { names: &["rsync"], long: &["rsh", "rsync-path", "remote-option"], short: "eM", ..NOTHING },
    Program { names: &["ssh", "scp", "sftp"], short: "oFSDPJEI", ..NOTHING },
    Program { names: &["sort", "gsort"], long: &["compress-program"], ..NOTHING },
    Program {
        names: &["sort", "gsort", "shuf", "tree"],
        long: &["output"],
        short: "o",
        meaning: Meaning::Writes,
        ..NOTHING
    },
    Program { names: &["split"], long: &["filter"], ..NOTHING },
    Program { names: &["rg"], long: &["pre", "hostname-bin"], ..NOTHING },
    Program { names: &["fd", "fdfind"], long: &["exec", "exec-batch"], short: "xX", ..NOTHING },
    Program { names: &["ag", "ack", "bat", "batcat", "delta"], long: &["pager", "pre"], ..NOTHING },
    Program { names: &["man"], long: &["pager", "html", "config-file"], short: "PHC", ..NOTHING },
    Program {
        names: &["less", "more", "most"],
        begins: &["+"],
        short: "kToO",
        long: &["lesskey"],
        ..NOTHING
    },
    Program {
        names: &["make", "gmake"],
        long: &["eval", "file", "makefile", "include-dir", "directory", "environment-overrides"],
        short: "fICE",
        holds: &["="],
        ..NOTHING
    },
    Program { names: &["cargo"], long: &["config", "codegen"], begins: &["-Z", "-C"], ..NOTHING },
    Program {
        names: &["npm", "pnpm", "yarn", "npx", "bun", "bunx"],
        long: &[
            "script-shell",
            "userconfig",
            "globalconfig",
            "node-options",
            "shell",
            "call",
            "prefix",
            "init-module",
            "browser",
            "editor",
            "viewer",
            "git",
            "use-yarnrc",
            "cwd",
        ],
        ..NOTHING
    },
    Program { names: &["npx", "bunx", "pnpx"], short: "c", ..NOTHING },
    Program { names: &["gh", "hub", "glab"], long: &["upload-pack", "config"], ..NOTHING },
    Program {
        names: &["go"],
        begins: &[
            "-exec",
            "--exec",
            "-toolexec",
            "--toolexec",
            "-vettool",
            "--vettool",
            "-overlay",
            "--overlay",
            // `go env -w` chooses compilers for later.
            "-w",
            "--w",
        ],
        ..NOTHING
    },
    Program {
        names: &["go"],
        begins: &[
            "-modfile",
            "--modfile",
            "-ldflags",
            "--ldflags",
            "-gcflags",
            "--gcflags",
            "-gccgoflags",
            "--gccgoflags",
            "-compiler",
            "--compiler",
        ],
        ..NOTHING
    },
    // Compilers name other programs, run plugins and read options from files; the linker's options come through them.
    Program {
        names: COMPILERS,
        long: &["config", "for-linker", "gcc-install-dir", "gcc-toolchain", "ld-path", "prefix", "specs"],
        begins: &[
            "-wrapper",
            "-fplugin",
            "-fpass-plugin",
            "-fmodule-mapper",
            "-foffload",
            "-fuse-ld=/",
            "-fuse-ld=.",
            "-iplugindir",
            "-gcc-toolchain",
            "-ccc-",
            "-B",
            "-specs",
            "-Xclang",
            "-mllvm",
            "-load",
            "@",
        ],
        ..NOTHING
    },
    Program { names: COMPILERS, begins: LOADED_BY_LINKERS, is_in_lists: true, ..NOTHING },
    Program { names: LINKERS, begins: LOADED_BY_LINKERS, ..NOTHING },
    Program {
        names: &[
            "nm",
            "ar",
            "ranlib",
            "objdump",
            "objcopy",
            "strip",
            "size",
            "strings",
            "addr2line",
            "as",
            "readelf",
        ],
        long: &["plugin"],
        begins: &["@"],
        ..NOTHING
    },
    Program {
        names: &["rustc", "rustdoc"],
        long: &["codegen", "extern", "sysroot", "runtool", "test-runtool"],
        // Macros of the crates that it loads run while it compiles.
        begins: &["-C", "-L", "-Z", "@"],
        ..NOTHING
    },
    Program {
        names: &["swiftc", "swift"],
        long: &["config"],
        begins: &[
            "-load-plugin",
            "-plugin-path",
            "-external-plugin",
            "-tools-directory",
            "-use-ld",
            "-X",
            "@",
        ],
        ..NOTHING
    },
    Program {
        names: &["javac", "jar", "javadoc"],
        long: &["processor-path", "processor-module-path"],
        begins: &["-J", "-processor", "-Xplugin", "-doclet", "-taglet", "@"],
        ..NOTHING
    },
    Program { names: &["protoc"], long: &["plugin"], begins: &["@"], ..NOTHING },
    Program { names: &["clang-tidy"], long: &["load"], begins: &["-load", "@"], ..NOTHING },
    Program { names: &["cppcheck"], long: &["addon", "addon-python", "clang", "project"], ..NOTHING },
    // `-T` tests an archive by a command, which holds the name of the archive as text of a shell.
    Program { names: &["zip", "zipcloak"], short: "T", long: &["test", "unzip-command"], ..NOTHING },
    Program { names: &["cpio"], long: &["rsh-command", "rmt-command"], ..NOTHING },
    Program { names: &["diff3", "sdiff"], long: &["diff-program"], ..NOTHING },
    Program {
        names: &["cmake"],
        begins: &["-E", "-P", "-C"],
        holds: &["launcher", "_compiler", "make_program", "_linker", "toolchain"],
        ..NOTHING
    },
    Program {
        names: &["ctest"],
        long: &["build-and-test", "script", "script-new-process", "test-command", "launch"],
        begins: &["-S"],
        ..NOTHING
    },
    Program { names: &["ninja", "samu"], begins: &["-f", "-C"], ..NOTHING },
    Program {
        names: &["gradle", "gradlew"],
        long: &["init-script", "build-file", "settings-file", "project-dir", "include-build"],
        begins: &["-I", "-b", "-c", "-p"],
        holds: &["jvmargs", "java.home"],
        ..NOTHING
    },
    Program {
        names: &["mvn", "mvnw"],
        long: &["file", "settings", "global-settings", "toolchains"],
        begins: &["-f", "-s", "-gs", "-t"],
        holds: &["exec:", "exec.", "antrun", "maven.ext"],
        ..NOTHING
    },
    Program {
        names: &["just"],
        long: &["shell", "shell-arg", "justfile", "working-directory", "command", "chooser", "dotenv-path"],
        short: "fdc",
        ..NOTHING
    },
    Program { names: &["pylint"], long: &["init-hook", "load-plugins", "rcfile"], ..NOTHING },
    Program { names: &["mypy"], long: &["python-executable", "config-file"], ..NOTHING },
    Program {
        names: &["pandoc"],
        long: &["filter", "lua-filter", "pdf-engine", "defaults", "data-dir"],
        short: "FLd",
        holds: &[".lua"],
        ..NOTHING
    },
    Program {
        names: &["openssl"],
        begins: &[
            "-engine",
            "--engine",
            "-provider",
            "--provider",
            "-config",
            "--config",
            "-loadconfig",
            "--loadconfig",
            "engine",
        ],
        ..NOTHING
    },
    Program { names: &["ssh-keygen", "ssh-add"], short: "DswS", ..NOTHING },
    Program { names: &["aria2c"], long: &["on-", "conf-path", "input-file"], begins: &["--on-"], ..NOTHING },
    Program {
        names: &["nmap"],
        long: &["script", "datadir", "servicedb"],
        begins: &["-sC", "-A"],
        ..NOTHING
    },
    Program { names: &["kubectl", "oc", "helm"], long: &["kubeconfig", "post-renderer"], ..NOTHING },
    // Package managers run what their settings name.
    Program {
        names: &["apt", "apt-get", "apt-cache"],
        long: &["option", "config-file"],
        short: "oc",
        ..NOTHING
    },
    Program {
        names: &["dpkg"],
        long: &["pre-invoke", "post-invoke", "status-logger", "admindir", "root", "instdir"],
        ..NOTHING
    },
    Program {
        names: &["rpm"],
        long: &["pipe", "eval", "define", "macros", "rcfile", "load", "dbpath"],
        short: "ED",
        ..NOTHING
    },
    Program { names: &["pacman"], long: &["hookdir", "config", "gpgdir"], ..NOTHING },
    Program { names: &["dnf", "yum"], long: &["config", "setopt", "installroot"], short: "c", ..NOTHING },
    Program { names: &["apk"], long: &["root", "repositories-file"], short: "pX", ..NOTHING },
    Program {
        names: &["nc", "ncat", "netcat"],
        long: &["exec", "sh-exec", "lua-exec"],
        short: "ec",
        ..NOTHING
    },
    Program { names: &["tcpdump"], short: "zwF", ..NOTHING },
    Program {
        names: &["psql", "mysql", "mariadb", "sqlite3"],
        holds: &[
            "\\!",
            "\\o",
            "\\w",
            "\\i",
            ".sh",
            ".sy",
            ".o",
            ".l",
            ".r",
            "system",
            "program",
            "load_extension",
        ],
        ..NOTHING
    },
    Program {
        names: &["sqlite3", "psql"],
        holds: &["writefile", "edit(", "attach", "|", ".ex", ".www", ".b", ".sa", ".cl", ".ar"],
        begins: &["-init", "--init", "-A", "--A"],
        ..NOTHING
    },
    Program {
        names: &["mysql", "mariadb"],
        long: &["pager", "tee", "plugin-dir", "defaults-file", "defaults-extra-file"],
        holds: &["pager", "tee ", "source ", "\\p", "\\t", "\\."],
        ..NOTHING
    },
    Program { names: &["curl"], long: &["config", "engine"], short: "K", ..NOTHING },
    Program {
        names: &["curl"],
        long: &[
            "output",
            "remote-name",
            "dump-header",
            "cookie-jar",
            "trace",
            "trace-ascii",
            "libcurl",
            "stderr",
        ],
        short: "oODcJ",
        meaning: Meaning::Writes,
        ..NOTHING
    },
    Program {
        names: &["wget"],
        long: &["execute", "use-askpass", "config", "use-server-timestamps"],
        short: "e",
        ..NOTHING
    },
    Program { names: &["install"], long: &["strip-program"], ..NOTHING },
    Program { names: &["pip", "pip3"], long: &["python", "config-settings", "global-option"], ..NOTHING },
    Program { names: &["docker", "podman"], long: &["config", "host", "hooks-dir"], ..NOTHING },
    Program { names: &["date", "hostname"], long: &["set", "file"], short: "sF", ..NOTHING },
    Program { names: &["yq"], long: &["inplace"], short: "i", meaning: Meaning::Writes, ..NOTHING },
];

/// What the arguments of a well-known program do beside what its name says.
pub(super) fn effects(name: &str, words: &[Word]) -> Vec<Effect> {
    let mut effects = Vec::new();
    let words = own_words(name, words);
    // `x86_64-linux-gnu-gcc` and `llvm-nm` are the same programs for another system.
    let plain = name.rsplit_once('-').map_or(name, |(_, plain)| plain);
    let is_meant = |program: &&Program| {
        program.names.contains(&name) || (is_for_another_system(plain) && program.names.contains(&plain))
    };
    for program in PROGRAMS.iter().filter(is_meant) {
        if words.iter().skip(1).any(|word| program.has(word))
            || (name == "tar" && program.has_first_letters(words))
        {
            effects.push(match program.meaning {
                Meaning::Runs => Effect::Unclear("an option runs another command"),
                Meaning::Writes => Effect::Write(program.target(words)),
            });
        }
    }
    if matches!(name, "tar" | "gtar" | "cpio") && names_a_host(words) {
        effects.push(Effect::Unclear("an archive on another host is reached through another program"));
    }
    if configures(name, words) {
        effects.push(Effect::Unclear("it changes what the program runs later"));
    }
    effects
}

/// Whether programs of this name are also installed with the system that they make programs for in front.
fn is_for_another_system(name: &str) -> bool {
    const TOOLS: [&str; 9] = ["nm", "ar", "ranlib", "objdump", "objcopy", "strip", "size", "as", "readelf"];
    COMPILERS.contains(&name) || LINKERS.contains(&name) || TOOLS.contains(&name)
}

/// The words that are the program's own: what follows `--` is for the program that `cargo run` builds, or for the
/// script that `npm run` starts.
fn own_words<'a>(name: &str, words: &'a [Word]) -> &'a [Word] {
    let second = words.get(1).and_then(Word::literal).unwrap_or_default();
    let hands_on = match name {
        "cargo" => matches!(second.as_str(), "run" | "r" | "test" | "t" | "bench"),
        "npm" => matches!(second.as_str(), "run" | "run-script" | "test" | "start"),
        _ => false,
    };
    let is_end = |word: &Word| word.literal().as_deref() == Some("--");
    // A computed word before it may be an option that takes `--` as its value.
    match words.iter().position(is_end) {
        Some(end) if hands_on && words[..end].iter().all(|word| word.literal().is_some()) => &words[..end],
        _ => words,
    }
}

/// Whether a word may be an archive as `host:file`, to which tar connects.
fn names_a_host(words: &[Word]) -> bool {
    let is_local = |word: &Word| word.literal().as_deref() == Some("--force-local");
    let is_remote = |word: &Word| {
        let beginning = word.beginning();
        let value = match beginning.starts_with("--") {
            true => beginning.split_once('=').map_or("", |(_, value)| value),
            false => &beginning,
        };
        value.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
    };
    !words.iter().any(is_local) && words[1..].iter().any(is_remote)
}

/// Whether a program is told to change its own settings, which may name programs: `npm config set script-shell ./x`.
fn configures(name: &str, words: &[Word]) -> bool {
    const WITH_SETTINGS: [&str; 11] =
        ["npm", "pnpm", "yarn", "bun", "pip", "pip3", "bundle", "gh", "glab", "conda", "poetry"];
    let text = |place: usize| words.get(place).map(|word| word.literal().unwrap_or_default());
    // After an option, which may have a value, any word may be the subcommand.
    let has_options = text(1).is_some_and(|first| first.starts_with(['-', '+']));
    let has = |wanted: &[&str]| {
        let count = if has_options { words.len() } else { 2 };
        (1..count).filter_map(text).any(|text| wanted.contains(&text.as_str()))
    };
    let shows =
        matches!(text(2).as_deref(), None | Some("get" | "list" | "ls" | "--list" | "--help" | "debug"));
    match name {
        // It runs texts.
        "cargo" => has(&["watch"]),
        "gh" if has(&["extension", "extensions", "ext"]) => true,
        _ if !WITH_SETTINGS.contains(&name) => false,
        _ => has(&["set"]) || (has(&["config", "c", "conf", "alias"]) && (has_options || !shows)),
    }
}

impl Program {
    fn has(&self, word: &Word) -> bool {
        let Some(text) = word.with_any_number() else {
            return word.may_hide_an_option() || !self.holds.is_empty();
        };
        let lower = text.to_ascii_lowercase();
        let begins = |text: &str| self.begins.iter().any(|begins| text.starts_with(begins));
        if begins(&text)
            || (self.is_in_lists && text.starts_with("-W") && text.split(',').skip(1).any(begins))
            || self.holds.iter().any(|holds| lower.contains(holds))
        {
            return true;
        }
        match text.strip_prefix("--") {
            Some(long) => is_beginning_of(long, self.long),
            None => text
                .strip_prefix('-')
                .is_some_and(|letters| letters.contains(|letter| self.short.contains(letter))),
        }
    }

    /// The file of the only option that writes one; unknown if there are several, or it is written otherwise.
    fn target(&self, words: &[Word]) -> Word {
        let mut places = (1..words.len()).filter(|place| self.has(&words[*place]));
        let (Some(place), None) = (places.next(), places.next()) else { return Word::unknown() };
        let text = words[place].literal().unwrap_or_default();
        let next =
            || words.get(place + 1).filter(|word| word.is_one()).cloned().unwrap_or_else(Word::unknown);
        match text.as_str() {
            "-o" | "--output" => next(),
            _ => match text.strip_prefix("--output=") {
                Some(target) => Word::literal_of(target),
                // Short options together, with the one that writes last, as in `curl -sSLo FILE`.
                None if text.ends_with('o') && !text.starts_with("--") && text.matches('o').count() == 1 => {
                    next()
                }
                None => Word::unknown(),
            },
        }
    }

    /// `tar xf` has its letters without a dash.
    fn has_first_letters(&self, words: &[Word]) -> bool {
        let first = words.get(1).and_then(Word::literal);
        first.is_some_and(|first| {
            !first.starts_with('-') && first.contains(|letter| self.short.contains(letter))
        })
    }
}

/// Whether the option, without its value, begins one of these names: many programs take any unambiguous beginning.
pub(super) fn is_beginning_of(option: &str, names: &[&str]) -> bool {
    let name = option.split('=').next().unwrap_or(option);
    !name.is_empty() && names.iter().any(|known| known.starts_with(name))
}
