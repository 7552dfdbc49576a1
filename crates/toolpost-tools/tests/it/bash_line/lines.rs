//! Command lines made at random: by a grammar, by stringing pieces together, and from real ones that are changed. They
//! were written from what bash does, not from what the reader does.

/// A plain generator, so that a seed names a line for good.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        let mut dice = Dice(seed | 1);
        for _ in 0..100 {
            dice.below(2);
        }
        dice
    }

    pub(super) fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % sides
    }

    pub(super) fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// A line of any kind.
pub(super) fn line(dice: &mut Dice) -> String {
    let line = match dice.below(8) {
        0 => strung(dice),
        1 | 2 => mutated(dice),
        3 => real(dice),
        4 | 5 => line_of_words(dice, 2),
        _ => structured(dice, 3),
    };
    match dice.below(2) {
        0 => line,
        // Programs that only read may be given anything, so that more of these lines can be told.
        _ => line.replace("aa", "ls").replace("bb", "cat").replace("cc", "grep").replace("dd", "wc"),
    }
}

/// Real command lines, as agents run them in projects of many kinds.
pub(super) fn corpus() -> Vec<&'static str> {
    include_str!("corpus.txt").trim_end().split("\n%%\n").collect()
}

const SIGNS: &[&str] = &[
    "'", "\"", "\\", "$", "`", "(", ")", "\n", ";", "{", "}", "#", " ", ",", "*", "~", "<", ">", "&", "|",
    "=",
];

/// Pieces that are strung together without any regard for grammar; most lines are nonsense, and some are traps.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "aa", "bb", "cc", "evil", "ls", "cat", "git", " ", " ", " ", " ", "\n", ";", "&", "&&", "||", "|", "|&", "(", ")",
    "{ ", "; }", "{", "}", "$(", ")", "`", "\"", "'", "\\", "\\\n", "#", " #", "$x", "${x}", "${x:-", "}", "$((",
    "))", "1", "+", "<", ">", ">>", "<<EOF\n", "\nEOF\n", "<<'EOF'\n", "<<-EOF\n\t", "<<<", "<(", ">(", "2>&1", "&>",
    ">&2", "if ", "; then ", "; else ", "; fi", "while ", "; do ", "; done", "for x in ", "case x in ", "x) ", ";; ",
    " esac", "x=", "x=1", "x=(", "x+=", "f() ", "function f ", " f", "!", "! ", "time ", "[[ ", " ]]", "[ ", " ]",
    "-eq ", "eval ", "exec ", "command ", "trap ", " EXIT", "env ", "timeout 1 ", "sh -c '", "bash -c \"", "nice ",
    "xargs ", "$'", "\\'", "\\\"", "\\$", "\\`", "*", "?", "{a,b}", "~", "=", "$", "$@", "$0", "EOF", "\t", "in ",
    "do ", "-c ", "--", "-", "/dev/null", "builtin ", "break", "true", "false", "echo ", "printf ", "$?", "@", "%",
    ",", ":", "é", "))", "((", ";;", ";&", "{}", "''", "\"\"", "{},", ",-exec,", ",evil,", "\\;", "..", "{1..3}", "@(", "!(", "+(",
    "[a-z]", "${", "${#x}", "${!x}", "${x//a/b}", "$[", "$\"", "<>", ">|", "{fd}>", "&>>", "|&", ";;&", "coproc ", "select ",
    "find . ", "-exec ", " {} ", " +", "-I X ", "-n 20 ", "X", "./run", "/bin/evil", "/usr/bin/", "/bin/../bin/", "cd sub",
    "cd /usr/bin", "~/", "IFS=", "PATH=", "BASH_ENV=", "set -- ", "shopt -s extglob\n", "alias aa=evil\n", "local ", "export ",
    "declare ", "read ", "-a ", "$*", "\"$@\"", "$!", "$-", "$_", "!!", "!$", "\r", "\u{0b}", "\u{a0}", "\\\n\\\n", "#!", "%%",
];

#[rustfmt::skip]
const COMMANDS: &[&str] = &[
    "aa", "bb x", "cc 'y z'", "dd \"$x\"", "git log", "ls *", "'evil' 1", "e\\vil", "ev\"il\"", "x=aa; $x", "x=evil",
    "echo hi", "true", "false", "cat", "[ -n x ]", "[[ -n x ]]", "read -r y", "x=$((1+2))", "printf '%s' a",
    "CI=1 aa", "PATH=$PATH bb", "env cc", "timeout 1 dd", "nice aa", "nohup bb", "xargs cc", "eval aa",
    "eval 'bb; cc'", "sh -c 'dd'", "bash -c 'aa | bb'", "command evil", "exec aa", "trap 'bb' EXIT", "f",
    "export CI=1", "cat <<EOF\na $(aa) `bb` \\$(cc)\nEOF\n", "cat <<'EOF'\n$(aa)\nEOF\n",
    "cat <<-EOF\n\t$(dd)\n\tEOF\n", "aa <<< \"$(bb)\"", "{evil,aa}", "${y:-evil}", "$(echo evil)", "`echo evil`",
    "aa {a,b}", "aa ~", "aa # evil", "aa \\\n bb", "aa $'x\\'y'", "aa \"a\\\"b\"", "aa >/dev/null", "2>&1 bb",
    "cc 2>/dev/null >&2", "aa &>/dev/null", "cd /", "set -e", "find . -exec aa {} \\;", "find . -name run -exec bb {} +",
    "find . ''{},-exec,evil,pwned,\\;}", "find . {-exec,evil,x,\\;}", "find sub -execdir ./run {} \\;", "find . -exec aa + -exec bb \\;",
    "find . -exec aa \"$x\" -exec evil {} \\;", "echo a b | xargs -I X -n 20 find .", "echo a b | xargs -n 1 aa",
    "echo -exec evil x ';' | xargs -I X -n 20 find .", "echo a | xargs -I X aa X", "echo a | xargs -i aa {}",
    "echo a | xargs --replace aa {}", "echo a | xargs --replace=Z aa Z", "echo a | xargs --max-lines=1 aa", "echo a | xargs -L 1 aa b",
    "echo evil | xargs -I{} {}", "echo a | xargs env aa", "./run x", "cd sub && ./run", "cd evil; ./run", "(cd src && ./run)",
    "/bin/evil x", "/bin/../bin/evil x", "cd /usr/bin && ./evil x", "cd /bin; ./aa", "scripts/test a", "./scripts/../run",
    "echo evil x | bash", "bash <<< 'evil'", "bash -s <<< 'evil'", "bash /dev/stdin <<< evil", "sh < /dev/null", "bash",
    "git -C . push", "git -C sub log", "git --no-pager log", "git -c x=y log", "git -P diff", "env -i aa", "env -u X aa", "env A=b aa",
    "env CI=1 aa", "env -- aa", "env - aa", "timeout -k 1 2 aa", "timeout -s KILL 1 aa", "nice -n 5 aa", "nice -5 aa", "nohup nice env aa",
    "setsid aa", "stdbuf -oL aa", "time aa", "time -p aa", "! aa", "command -v aa", "command -p aa", "builtin echo a", "exec -a x aa",
    "bash -lc 'aa; bb'", "bash -ec 'aa'", "bash -o pipefail -c 'aa | bb'", "bash -c 'aa \"$0\"' x", "sh -c 'aa \"$@\"' x y",
    "bash --norc -c aa", "sh -c 'sh -c \"aa\"'", "aa '' \"\" b", "aa {a,b}{1,2}", "aa a{,b}", "aa {1..3}", "aa {}", "aa {}{}", "aa x{}y",
    "aa {},", "aa @{0}", "aa stash@{0}", "aa @{a,b}", "aa '{a,b}'", "aa {a,\"b c\"}", "aa [a-z]*", "aa s?b", "aa \\*", "aa ~root ~+ ~/x",
    "aa a=~/x", "aa $'a\\tb'", "aa $'a\\x41'", "aa $\"b\"", "aa \"a b\"c'd e'", "aa a\\ b", "aa \"$(bb)\"", "aa $(bb) x", "aa `bb`", "aa \"`bb`\"",
    "aa $((1 + 2))", "aa $[1+2]", "aa ${x:-y}", "aa \"${x:-y z}\"", "aa ${#x}", "aa \"${x[@]}\"", "x=(a b); aa \"${x[@]}\"", "x=(a b); aa ${x[1]}",
    "i=3; aa $((i))", "x='a b'; aa $x", "x=a; aa \"$x\"", "set -- a b; aa \"$@\"", "for i; do aa; done", "shift; aa", "aa > out; bb < out",
    "aa >> out 2>&1", "aa >| out", "aa <> out", "aa 3>&1 >&2", "aa {fd}>out", "aa &>> out", "cat <<A <<B\nx\nA\ny\nB\n", "aa \"$(cat <<'E'\nx ( y\nE\n)\"",
    "cat <<\\E\n$(aa)\nE\n", "cat <<\"E\"\n$(aa)\nE\n", "cat <<E\n\\$(aa) \\`bb\\`\nE\n", "case $x in a|b) aa;; *) bb;; esac", "case a in (a) aa;; esac",
    "case a in a) aa;;& *) bb;; esac", "[[ a == a* ]] && aa", "[[ a =~ ^a$ ]] && aa", "[[ -f x || -d sub ]] && aa", "[ a = a -a b = b ] && aa",
    "(( 1 + 1 )) && aa", "for ((i=0;i<2;i++)); do aa; done", "select i in a; do aa; break; done", "coproc aa", "alias ll=evil; ll",
    "shopt -s expand_aliases\nalias aa=evil\naa", "shopt -s extglob; aa !(x)", "function g { aa; }; g", "g() { bb; }; g x", "aa() { bb; }; aa x",
    "cd() { aa; }; cd x", "trap aa EXIT", "trap 'aa; bb' INT EXIT", "trap - EXIT", "PATH=/bin; aa", "PATH=. run", "IFS=a; aa xay", "hash -p /bin/evil aa; aa",
    "BASH_ENV=x bash -c aa", "export PATH=/bin; aa", "readonly y=1; aa", "declare y=2; aa $y", "local y", "unset y; aa", "mapfile -t y < /dev/null; aa",
    "read -r y <<< evil; $y", "read y z <<< 'a b'; aa \"$y\"", "printf -v y evil; $y", "echo a | while read -r l; do aa \"$l\"; done", "aa & bb", "aa & wait",
    "{ aa; bb; } | cc", "(aa; bb) > out", "if aa; then bb; else cc; fi", "until aa; do break; done", "aa | bb |& cc", "aa ; ; bb", "aa;;", "aa &&", "| aa",
    "uv run aa x", "poetry run -q aa", "bundle exec aa", "npm exec -- aa", "rustup run stable aa", "sudo aa", "sudo -u x aa", "busybox aa", "ld-linux.so aa",
    "awk '{print}' x", "sed -n 1p x", "tar cf x y", "sort -o out x", "curl -o out x", "rg --pre aa x", "tee out", "make x", "python3 -c 'aa'",
];

#[rustfmt::skip]
const JOINTS: &[&str] = &[
    "@; @", "@ && @", "@ || @", "@ | @", "@ & @", "@\n@", "(@)", "{ @; }", "{ @\n}", "aa $(@)", "bb \"$(@)\"",
    "aa \"x $(@) y\"", "cc `@`", "if @; then @; fi", "if @; then @; else @; fi", "if @; then aa; elif @; then @; fi",
    "for i in a b; do @; done", "for i in $(@); do @; done", "case a in b) @;; a) @;; esac", "f() { @; }; f",
    "f() (@)\nf", "function f { @; }; @; f", "! @", "time @", "x=$(@); @", "aa <(@)", "@ # @", "aa\\\n@",
    "aa 'it' \"@\"", "aa \"$(@)\" '@'", "@ > /dev/null", "{ @; } 2>&1", "(@) | @", "while @; do break; done",
    "until @; do break; done", "[[ -n $(@) ]] && @", "[ -n \"$(@)\" ] || @", "eval '@'", "sh -c '@'", "bash -c '@'",
    "eval \"@\"", "bash -c \"@\"", "echo \"${x:-$(@)}\"", "echo $(( $(@) + 1 ))", "cat <<EOF\n$(@)\nEOF",
    "cat <<EOF\n@\nEOF\n@", "cat <<'EOF'\n@\nEOF\n@", "aa \"$(cat <<'EOF'\n@\nEOF\n)\"", "@ |& @", "aa=@", "@ @",
    "@@", "\"@\"", "'@'", "$(@)", "`@`", "@\\\n@",
];

fn structured(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 || dice.below(4) == 0 {
        return dice.of(COMMANDS).to_owned();
    }
    let mut line = String::new();
    for (place, part) in dice.of(JOINTS).split('@').enumerate() {
        if place > 0 {
            line.push_str(&structured(dice, depth - 1));
        }
        line.push_str(part);
    }
    line
}

fn strung(dice: &mut Dice) -> String {
    let count = 1 + dice.below(12);
    (0..count).map(|_| dice.of(PIECES)).collect()
}

/// A real line, alone or in one of the forms above.
fn real(dice: &mut Dice) -> String {
    let corpus = corpus();
    let line = corpus[dice.below(corpus.len())];
    match dice.below(3) {
        0 => line.to_owned(),
        1 => dice.of(JOINTS).replace('@', line),
        _ => {
            let other = corpus[dice.below(corpus.len())];
            format!("{line}{}{other}", dice.of(&["; ", " && ", " || ", " | ", "\n", " & "]))
        }
    }
}

/// One argument or name, with whatever the shell does to words.
fn word(dice: &mut Dice, depth: usize) -> String {
    let count = 1 + dice.below(3);
    let mut text = String::new();
    for _ in 0..count {
        let part = match dice.below(12) {
            0 => "''".to_owned(),
            1 => format!("'{}'", dice.of(TEXTS)),
            2 => format!("\"{}\"", dice.of(TEXTS)),
            3 => format!("\\{}", dice.of(SIGNS)),
            4 => format!("$'{}'", dice.of(TEXTS)),
            5 => {
                dice.of(&["$x", "${x}", "\"$x\"", "${y:-evil}", "$((1+1))", "$?", "$@", "\"$@\""]).to_owned()
            }
            6 => dice.of(&["*", "?", "[ab]", "~", "~/", "{}", "{a,b}", "{,x}", "{1..2}", "{a"]).to_owned(),
            7 if depth > 0 => {
                let parts: Vec<String> = (0..1 + dice.below(3)).map(|_| word(dice, depth - 1)).collect();
                format!("{{{}}}", parts.join(","))
            }
            8 if depth > 0 => format!("$({})", line_of_words(dice, depth - 1)),
            _ => dice.of(TEXTS).to_owned(),
        };
        text.push_str(&part);
    }
    text
}

const TEXTS: &[&str] =
    &["a", "x", "-n", "-exec", "evil", "aa", ";", "b c", "run", "./", "=", "log", "-", "--", "{}", "+"];

/// Commands with such words for arguments, and at times for a name.
fn line_of_words(dice: &mut Dice, depth: usize) -> String {
    let names = [
        "aa",
        "git",
        "find .",
        "xargs -n 1",
        "env",
        "echo a | xargs",
        "timeout 1",
        "bash -c",
        "eval",
        "./run",
        "nice",
        "ls",
        "sudo",
        "command",
        "find . -name run -exec",
        "xargs -I X",
        "exec",
        "git log",
        "sh -c",
        "printf",
        "test",
        "export",
    ];
    let mut line = match dice.below(8) {
        0 => word(dice, depth),
        _ => dice.of(&names).to_owned(),
    };
    for _ in 0..dice.below(5) {
        line.push(' ');
        line.push_str(&word(dice, depth));
    }
    if dice.below(4) == 0 {
        line.push_str(dice.of(&["; ", " && ", " | ", "\n", " & "]));
        line.push_str(dice.of(COMMANDS));
    }
    line
}

fn mutated(dice: &mut Dice) -> String {
    match dice.below(2) {
        0 => changed(dice, |dice| structured(dice, 3)),
        _ => changed(dice, real),
    }
}

/// A line changed in some places, as typing mistakes would.
pub(super) fn changed(dice: &mut Dice, line: impl Fn(&mut Dice) -> String) -> String {
    let mut letters: Vec<char> = line(dice).chars().collect();
    for _ in 0..=dice.below(3) {
        let at = dice.below(letters.len());
        match dice.below(3) {
            0 => {
                letters.remove(at);
            }
            1 => letters.splice(at..at, dice.of(PIECES).chars()).for_each(drop),
            _ => letters[at] = dice.of(SIGNS).chars().next().unwrap(),
        }
        if letters.is_empty() {
            return "aa".to_owned();
        }
    }
    letters.into_iter().collect()
}
