//! Families of lines that try to pass a narrow rule, and to get around a denial. Whatever the policy lets through is run
//! in a real bash, where every program is one that records its start: what a rule should have stopped must not have run.

use super::lines::{self, Dice};
use super::recorder::{self, Started};
use super::{decide, policy};
use toolpost_core::policy::{Effect, Layer, Origin, Policy, Profile, Rule};
use toolpost_tools::shell::line;

/// What a user has allowed: narrow commands, of which none is `touch` or `evil`.
const ALLOWED: &[&str] = &[
    "ls *",
    "echo *",
    "cat *",
    "printf *",
    "git status*",
    "git log *",
    "npm test",
    "npm test *",
    "./run *",
    "bash *",
    "sh *",
    "true *",
    "aa *",
    "bb *",
    "cc *",
    "dd *",
    "find *",
    "xargs *",
    "env *",
    "git *",
    "sed *",
    "grep *",
    "f *",
    "cd *",
    "test *",
    "export *",
    "tee *",
    "time *",
    "source *",
    "read *",
    "source ./*",
    "trap *",
    "x *",
    "head *",
    "tail *",
    "wc *",
    "sort *",
    "cp *",
    "make *",
    "python3 *",
    "uv *",
    "tar *",
];

/// Ways by which one command prepares what another runs; `@` is what must not run, `~~` a file that a shell or tool reads
/// when it starts.
#[rustfmt::skip]
const PREPARED: &[&str] = &[
    "echo '@' > ~~", "echo '@' >> ~~", "printf '%s\\n' '@' > ~~", "cat > ~~ <<'E'\n@\nE", "cat <<E > ~~\n@\nE", "echo '@' | tee ~~", "echo '@' | cat > ~~",
    "{ echo '@'; } > ~~", "(echo '@') > ~~", "if true; then echo '@'; fi > ~~", "for i in 1; do echo '@'; done > ~~", "exec > ~~; echo '@'; exec >&2",
    "exec 3> ~~; echo '@' >&3", "echo '@' >| ~~", "echo '@' &> ~~", "echo '@' >& ~~", "echo '@' 1<> ~~", "f=~~; echo '@' > $f", "f=~~; echo '@' > \"$f\"",
    "cd ~; echo '@' > .bash_profile", "cd; echo '@' > .bash_profile", "cd ~ && echo '@' > ./.bashrc", "pushd ~; echo '@' > .profile", "cd /home; echo '@' > .bash_profile",
    "cd ../home; echo '@' > .bash_profile", "echo '@' > ../home/.bash_profile", "echo '@' > $(echo ~~)", "echo '@' > `echo ~~`", "x() { echo '@' > ~~; }; x",
    "while read -r l; do echo \"$l\"; done <<< '@' > ~~", "echo '@' > ~~; echo", "ls > ~~", "cat <(echo '@') > ~~", "echo '@' | tee -a ~~", "sort -o ~~ x",
    "eval \"echo '@' > ~~\"", "bash -c \"echo '@' > ~~\"", "sh -c \"echo '@' > ~~\"", "trap \"echo '@' > ~~\" EXIT", "find . -maxdepth 0 -fprint ~~", "echo '@' > ~~ &",
    "PATH=evil:$PATH run", "PATH=. run", "PATH=.; run", "export PATH=evil; run", "PATH=/bin:evil ls; run", "declare -x PATH=evil; run", "env PATH=evil run", "read PATH <<< evil; run",
    "for PATH in evil; do run; done", "printf -v PATH evil; run", "BASH_ENV=~~ bash -c true", "ENV=~~ sh -i", "export BASH_ENV=evil/run; bash -c true",
    "alias ls='@'\nls", "shopt -s expand_aliases\nalias ls='@'\nls", "ls() { @; }; ls", "function ls { @; }\nls", "ls() ( @ ); ls x", "hash -p /bin/touch ls; ls pwned",
    "trap '@' EXIT", "trap '@' DEBUG; ls", "PROMPT_COMMAND='@'; ls", "PS4='$(@)'; set -x; ls", "cd evil && ./run x", "cd evil; ./run x", "(cd evil; ./run x)", "cd sub/../evil\n./run",
    "cd evil || true; ./run", "pushd evil; ./run x", "cd() { true; }; cd evil; ./run x", "evil/run x", "./evil/run x", "sub/../evil/run", "/work/evil/run x", "env -C evil ./run", "find evil -execdir ./run {} \\;",
    "find evil -name run -execdir ./run x \\;", "find . -exec @ \\;", "find . -maxdepth 0 ''{},-exec,touch,pwned,\\;}", "find . -maxdepth 0 {-exec,touch,pwned,\\;}", "find . -maxdepth 0 \"\"{},-exec,touch,x,\\;}",
    "echo -exec touch pwned ';' | xargs -I X -n 20 find . -maxdepth 0", "echo @ | xargs -I X -n 20 env", "echo @ | xargs env", "echo '@' | xargs -I X sh -c X", "echo touch | xargs -I{} {} x", "echo '@' | bash",
    "echo '@' | sh", "bash <<< '@'", "bash <<E\n@\nE", "sh -s <<< '@'", "bash /dev/stdin <<< '@'", "cat <<< '@' | bash -s", "source /dev/stdin <<< '@'", ". /dev/fd/0 <<< '@'", "source <(echo '@')", "bash <(echo '@')",
    "bash /proc/self/fd/0 <<< '@'", "eval '@'", "eval \"$(echo '@')\"", "$(echo @)", "`echo @`", "x='@'; $x", "x='@'; eval $x", "set -- @; \"$@\"", "${x:-touch} pwned", "{touch,pwned}", "t\\ouch pwned",
    "$'touch' pwned", "tou''ch pwned", "\"touch\" pwned", "command @", "exec @", "builtin eval '@'", "env @", "nice @", "timeout 5 @", "nohup @", "time @", "! @", "coproc @", "bash -c '@'", "bash -lc '@'",
    "sh -c '@'", "/bin/@", "/bin/../bin/@", "cd /bin; ./@", "cd /usr/bin && ./@", "xargs -a /dev/null -r ls; @", "ls $(@)", "ls `@`", "ls <(@)", "ls > >(@)", "cat <<E\n$(@)\nE", "echo ${y:-$(@)}", "[[ -n $(@) ]]",
    "x=$(@)", "x=($(@))", "case $(@) in *) ls;; esac", "echo $(( $(@) + 1 ))", "y='a[$(@)]'; echo $((y))", "test -v 'a[$(@)]'", "printf -v 'a[$(@)]' x", "read 'a[$(@)]' <<< x", "env -S '@'", "uv run @", "busybox @",
];

/// What would then run it.
const TRIGGERS: &[&str] = &[
    "ls",
    "bash -lc true",
    "bash -l -c true",
    "bash --login -c 'ls'",
    "git status",
    "npm test",
    "./run x",
    "true",
    "sh -c ls",
    "aa",
    "bash -c ls",
];

const FILES: &[&str] = &[
    "~/.bash_profile",
    "~/.profile",
    "~/.bashrc",
    "~/.gitconfig",
    "~/.npmrc",
    "$HOME/.bash_profile",
    "\"$HOME/.bash_profile\"",
    "${HOME}/.profile",
    "/home/.bash_profile",
    "~/x/../.bash_profile",
    "/work/../home/.profile",
    "../home/.bash_profile",
    "\"$HOME\"/.bashrc",
    "~root/.profile",
    "~+/../home/.profile",
    "/home/./.bash_profile",
    "//home/.bash_profile",
    "~/.config/git/config",
    "/home/x",
    "~/x",
    "/tmp/../home/.profile",
];

const FORBIDDEN: &[&str] = &["touch pwned", "evil x", "touch x", "/bin/touch pwned", "evil"];

const JOINTS: &[&str] = &[
    "@; %",
    "@ && %",
    "@\n%",
    "%; @; %",
    "{ @; }; %",
    "@ || %",
    "(@); %",
    "@\n\n% # x",
    "if true; then @; fi; %",
    "%; @",
    "% && @",
    "for i in 1; do @; done; %",
    "x() { @; }; x; %",
    "@ &\nwait; %",
    "true | { @; }; %",
    "! @; %",
];

fn attack(dice: &mut Dice) -> String {
    let prepared = dice.of(PREPARED).replace("~~", dice.of(FILES)).replace('@', dice.of(FORBIDDEN));
    let trigger = dice.of(TRIGGERS);
    dice.of(JOINTS).replace('@', &prepared).replace('%', trigger)
}

fn lines(name: &str, count: usize) -> Vec<String> {
    let mut dice = Dice::new(crate::seed(name));
    let line = |dice: &mut Dice| match dice.below(3) {
        0 => lines::line(dice),
        1 => lines::changed(dice, attack),
        _ => attack(dice),
    };
    (0..count).map(|_| line(&mut dice).replace('\0', "")).collect()
}

/// Runs what the policy lets through; the lines that started, or wrote, what they should not.
fn breaches(
    lines: &[String],
    passes: impl Fn(&str) -> bool,
    is_breach: impl Fn(&Started) -> bool,
) -> (usize, Vec<String>) {
    let passed: Vec<String> = lines.iter().filter(|line| passes(line)).cloned().collect();
    let mut found = Vec::new();
    for passed in passed.chunks(10_000) {
        for (line, started) in passed.iter().zip(recorder::run(passed)) {
            if let Some(first) = started.iter().find(|started| is_breach(started)) {
                found.push(format!("{line:?}\n  {first:?}\n  told {:?}", line::accesses(line)));
            }
        }
    }
    (passed.len(), found)
}

fn is_program(started: &Started, name: &str) -> bool {
    started.path.rsplit('/').next() == Some(name) && !started.path.starts_with("/home/")
}

#[test]
fn guarantee_18_narrow_rules_stay_narrow() {
    let lines = lines("narrow", crate::count(3_000, 100_000));
    let policy = policy(ALLOWED);
    let (passed, found) = breaches(
        &lines,
        |line| decide(&policy, line) == Effect::Allow,
        |started| {
            let is_elsewhere = is_program(started, "run") && started.path != "/work/run";
            is_program(started, "touch")
                || is_program(started, "evil")
                || is_elsewhere
                || started.path.starts_with("/home/")
        },
    );
    assert!(found.is_empty(), "{} of {passed}:\n{}", found.len(), found.join("\n"));
    assert!(passed * 40 > lines.len(), "only {passed} of {} lines passed", lines.len());
    println!(
        "measure: guarantee 18: {} lines under narrow rules, {passed} passed and were run, 0 breaches",
        lines.len()
    );
}

#[test]
fn guarantee_18_a_denial_is_not_walked_around() {
    let lines = lines("denied", crate::count(3_000, 100_000));
    let rules = ["touch *", "evil *", "git push *", "./evil/run *", "xargs *"];
    let rule = |rule: &&str| {
        Rule::new(Effect::Deny, "Bash", rule, Origin::new(Layer::User, "rules.toml", 1)).unwrap()
    };
    let policy = Policy::profile(Profile::Privileged)
        .with_names(&crate::names())
        .with_rules(Layer::User, rules.iter().map(rule).collect());
    let (passed, found) = breaches(
        &lines,
        |line| decide(&policy, line) == Effect::Allow,
        |started| {
            let is_push =
                is_program(started, "git") && started.arguments.iter().any(|argument| argument == "push");
            let is_denied = ["touch", "evil", "xargs"].iter().any(|name| is_program(started, name));
            is_denied
                || started.path == "/work/evil/run"
                || (is_push && !started.arguments.iter().any(|argument| argument == "log"))
        },
    );
    assert!(found.is_empty(), "{} of {passed}:\n{}", found.len(), found.join("\n"));
    assert!(passed * 40 > lines.len(), "only {passed} of {} lines passed", lines.len());
    println!(
        "measure: guarantee 18: {} lines against rules that deny, {passed} passed and were run, 0 breaches",
        lines.len()
    );
}
