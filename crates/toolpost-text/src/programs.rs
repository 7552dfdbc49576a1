//! Names of programs: other names of the same program, and programs that run no other.

/// Endings by which systems install variants of one program side by side.
#[rustfmt::skip]
const VARIANTS: &[&str] = &[
    ".athena", ".basic", ".bsd", ".busybox", ".distrib", ".exe", ".gnu", ".gtk", ".gtk3", ".huge", ".motif", ".nox",
    ".openbsd", ".real", ".static", ".tiny", ".traditional", ".ul", "-dbg", "-debug", "-static",
];

/// Other names under which the same program is known: `vim` for `vim.basic`, `python3` and `python` for `python3.11`,
/// `gcc` for `gcc-12`. The nearest come first; the name itself is not among them.
pub fn other_names(name: &str) -> Vec<&str> {
    const MOST: usize = 6;
    let mut names = Vec::new();
    let mut rest = name;
    while names.len() < MOST {
        let variant = VARIANTS.iter().find_map(|ending| rest.strip_suffix(ending));
        let shorter = variant.unwrap_or_else(|| {
            let unnumbered = rest.trim_end_matches(|letter: char| letter.is_ascii_digit());
            match unnumbered.len() < rest.len() {
                true => unnumbered.strip_suffix(['.', '-']).unwrap_or(unnumbered),
                false => rest,
            }
        });
        if shorter.is_empty() || shorter.len() == rest.len() {
            break;
        }
        names.push(shorter);
        rest = shorter;
    }
    names
}

/// Well-known programs that run no command from their arguments, or whose commands the reader of command lines names
/// one by one. All others may be wrappers.
#[rustfmt::skip]
const QUIET: &[&str] = &[
    // What a shell does itself.
    ".", ":", "[", "[[", "alias", "bg", "bind", "break", "builtin", "caller", "cd", "command", "compgen", "complete",
    "continue", "declare", "dirs", "disown", "echo", "enable", "eval", "exec", "exit", "export", "false", "fc", "fg",
    "getopts", "hash", "help", "history", "jobs", "kill", "let", "local", "logout", "mapfile", "popd", "printf",
    "pushd", "pwd", "read", "readarray", "readonly", "return", "set", "shift", "shopt", "source", "suspend", "test",
    "times", "trap", "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait",
    // Wrappers whose command is read.
    "ash", "bash", "dash", "doas", "env", "find", "flock", "gfind", "gtimeout", "ionice", "nice", "nohup", "setsid",
    "sh", "stdbuf", "sudo", "time", "timeout", "watch", "xargs",
    // Files and text.
    "awk", "b2sum", "base32", "base64", "basename", "bat", "batcat", "brotli", "bunzip2", "bzcat", "bzip2", "cat",
    "chattr", "chgrp", "chmod", "chown", "cksum", "cmp", "column", "comm", "cp", "cpio", "csplit", "cut", "dd",
    "delta", "df", "diff", "diff3", "dircolors", "dirname", "dos2unix", "du", "egrep", "expand", "expr", "fd",
    "fdfind", "fgrep", "file", "fmt", "fold", "gawk", "getfacl", "grep", "groups", "gsed", "gsort", "gtar", "gunzip",
    "gzip", "head", "hexdump", "iconv", "install", "join", "jq", "less", "link", "ln", "ls", "lsattr", "lz4", "mawk",
    "md5sum", "mkdir", "mkfifo", "mknod", "mktemp", "more", "mv", "nawk", "nl", "nproc", "numfmt", "od", "paste",
    "patch", "pathchk", "pr", "ptx", "readlink", "realpath", "rev", "rg", "ripgrep", "rm", "rmdir", "rsync", "sed",
    "seq", "setfacl", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shred", "shuf", "sleep", "sort",
    "split", "sponge", "stat", "strings", "strip", "sum", "sync", "tac", "tail", "tar", "tee", "touch", "tr", "tree",
    "truncate", "tsort", "tty", "unexpand", "uniq", "unix2dos", "unlink", "unxz", "unzip", "unzstd", "wc", "xmllint",
    "xxd", "xz", "xzcat", "yes", "yq", "zcat", "zip", "zipinfo", "zstd", "zstdcat",
    // The system.
    "apropos", "apk", "apt", "apt-cache", "apt-get", "cal", "clear", "date", "dig", "dmesg", "dnf", "dpkg",
    "free", "fuser", "getconf", "getent", "host", "hostname", "htop", "id", "ifconfig", "info", "journalctl",
    "killall", "last", "ldd", "locale", "locate", "logger", "logname", "lsblk", "lscpu", "lsof", "man", "mount",
    "netstat", "nm", "nslookup", "objdump", "pacman", "pgrep", "ping", "pkill", "printenv", "ps", "pstree", "readelf",
    "reset", "rpm", "service", "ss", "stty", "systemctl", "top", "tput", "traceroute", "umount", "uname", "uptime",
    "users", "vmstat", "w", "whatis", "whereis", "which", "who", "whoami", "yum",
    // The net.
    "aria2c", "curl", "http", "https", "redis-cli", "scp", "sftp", "wget",
    // Development. Git's subcommands are read; those that are not known need the right to any command.
    "ajv", "autopep8", "black", "c++", "cargo", "cc", "clang", "clang++", "clang-format", "clang-tidy", "composer",
    "convert", "cppcheck", "ctags", "eslint", "ffmpeg", "ffprobe", "flake8", "g++", "gcc", "gh", "git", "glab", "gmake",
    "go", "gofmt", "goimports", "golangci-lint", "gradle", "gradlew", "hadolint", "helm", "identify", "isort", "jar",
    "javac", "javadoc", "jest", "ld", "magick", "make", "mariadb", "markdownlint", "mocha", "mvn", "mypy", "mysql",
    "ninja", "npm", "openssl", "pandoc", "phpstan", "phpunit", "pip", "playwright", "prettier", "protoc", "psql",
    "pylint", "pyright", "pytest", "rspec", "rubocop", "ruff", "rust-analyzer", "rustc", "rustdoc", "rustfmt",
    "shellcheck", "shfmt", "sqlite3", "swiftc", "terraform", "tokei", "tsc", "typos", "vitest", "yamllint",
];

/// Programs that run a command in a container, by some of their subcommands only.
const CONTAINERS: [&str; 5] = ["docker", "podman", "nerdctl", "kubectl", "oc"];
const IN_CONTAINER: [&str; 5] = ["run", "exec", "create", "debug", "machine"];

/// Interpreters: the file that they run is judged by its name, and its arguments are its own.
const INTERPRETERS: [&str; 11] =
    ["python", "node", "nodejs", "perl", "ruby", "php", "lua", "deno", "java", "pypy", "tsx"];

const SYSTEM: [&str; 5] = ["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin"];

/// Whether a program may run a command that its arguments name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Runs {
    /// It runs none.
    Nothing,
    /// Known arguments may be a command; those that are computed are values for a script.
    Known,
    /// Any argument may be a command.
    Any,
}

/// What may be run by the arguments of a program. `has_argument` says whether one of them is this word.
pub(super) fn runs(program: &str, has_argument: impl Fn(&str) -> bool) -> Runs {
    let (folder, name) = program.rsplit_once('/').unwrap_or(("", program));
    let has_own_folder = program.contains('/') && !SYSTEM.contains(&folder);
    if has_own_folder {
        // A program elsewhere may have any name.
        return Runs::Known;
    }
    let is_any = |list: &[&str]| {
        list.contains(&name) || other_names(name).into_iter().any(|other| list.contains(&other))
    };
    if is_any(QUIET) || (is_any(&CONTAINERS) && !IN_CONTAINER.into_iter().any(has_argument)) {
        return Runs::Nothing;
    }
    if is_any(&INTERPRETERS) { Runs::Known } else { Runs::Any }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_and_versions_have_other_names() {
        for (name, expected) in [
            ("vim.basic", &["vim"][..]),
            ("vim.gtk3", &["vim"]),
            ("python3.11", &["python3", "python"]),
            ("perl5.36.0", &["perl5.36", "perl5", "perl"]),
            ("gcc-12", &["gcc"]),
            ("nc.openbsd", &["nc"]),
            ("curl.exe", &["curl"]),
            ("run.sh", &[]),
            ("ls", &[]),
            ("7", &[]),
        ] {
            assert_eq!(other_names(name), expected, "{name}");
        }
    }

    #[test]
    fn well_known_programs_run_nothing() {
        let no = |_: &str| false;
        for program in ["ls", "/usr/bin/grep", "pip3", "gcc-12"] {
            assert_eq!(runs(program, no), Runs::Nothing, "{program}");
        }
        assert_eq!(runs("./ls", no), Runs::Known);
        assert_eq!(runs("python3.11", no), Runs::Known);
        assert_eq!(runs("mise", no), Runs::Any);
        assert_eq!(runs("docker", no), Runs::Nothing);
        assert_eq!(runs("docker", |word| word == "exec"), Runs::Any);
    }
}
