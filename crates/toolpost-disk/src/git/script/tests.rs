//! What scripts say, held against tables.

use super::*;

fn check(text: &str, expected: &str) {
    let script = Script::read(text, Some("/h"));
    let computed = script.computed.iter().map(|one| {
        let glob = one.glob.as_ref().map(|glob| format!(" ({glob})")).unwrap_or_default();
        format!("{}…{}{glob}", one.before, one.after)
    });
    let parts = [
        ("names", script.names.clone()),
        ("modules", script.modules.clone()),
        ("codes", script.codes.clone()),
        ("entered", script.entered.clone()),
        ("searched", script.searched.clone()),
        ("computed", computed.collect()),
        ("unclear", script.is_unclear.then(|| "yes".to_owned()).into_iter().collect()),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, all)| !all.is_empty())
        .map(|(what, all)| format!("{what} {}", all.join(", ")))
        .collect();
    assert_eq!(parts.join("; "), expected, "{text:?}");
}

#[test]
fn what_a_script_runs_is_found() {
    check("\"my tools/d.sh\" x", "names my tools/d.sh, tools/d.sh");
    check("my\\ tools/d.sh", "names my tools/d.sh");
    check("cd tools && ./f.sh", "names ./f.sh; entered tools");
    check("bash -c \"cd tools; ./k\"", "names ./k; entered tools, tools");
    check("cd \"$ROOT/tools\"", "entered tools");
    check("make -C sub all", "entered sub");
    check("DIR=scripts\n$DIR/s7.sh", "names scripts/s7.sh");
    check("for s in a b; do sh scripts/$s.sh; done", "names scripts/a.sh, scripts/b.sh");
    check("for s in $X; do sh scripts/$s.sh; done", "computed scripts/….sh");
    check("PATH=node_modules/.bin:$PATH lint", "searched node_modules/.bin");
    check("export PATH=\"$ROOT/bin:$PATH\"", "searched bin");
    check("tools/?", "computed tools/… (tools/?)");
    check("$GIT_DIR/../tools/p", "computed …/../tools/p");
    check("s=$(dirname \"$0\")/$n; sh -e \"$s\" \"$@\"", "computed …");
    check("exec \"$@\"; $EDITOR x; [ -n \"$x\" ] && echo *", "");
    check("git diff --name-only | xargs prettier \"$f\" # cd no", "");
    check("f() { ./x \"$1\"; }; f a 2>&1 >/dev/null", "names ./x, /dev/null");
}

#[test]
fn words_are_what_the_shell_makes_of_them() {
    check("to\"o\"ls/r\\un", "names tools/run");
    check("to'ol's/ru\\\nn", "names tools/run");
    check("$'to\\x6fls/\\162un'", "names tools/run");
    check("$\"tools/run\"", "names tools/run");
    check("${X:-tools/run}", "names tools/run");
    check("${X:=tools}/run", "names tools/run; computed …/run");
    check("${1:-tools/run}; ${X+${Y-tools/a}}", "names tools/a, tools/run");
    check("c=to; c+=ols/run; eval \"$c\"", "names ols/run, tools/run");
    check("c=to; c+=$(x); eval \"$c\"", "computed to…");
    check("T=TOOLS/RUN; ${T,,}", "names TOOLS/RUN, tools/run");
    check("tools/{a,b{1,2}}.sh", "names tools/a.sh, tools/b1.sh, tools/b2.sh");
    check("tools/s{1..3}", "computed tools/s… (tools/s*)");
    check("A=tools; B=$A/run; $B", "names tools/run");
    check("~/../w/t && $HOME/x", "names /h/../w/t, /h/x");
    check("//abs//./path", "names //abs//./path");
    check("timeout 5 nice -n 3 tools/run $x", "names tools/run");
    check("sudo -u me \"$A\"/x", "computed …/x");
}

#[test]
fn what_runs_other_files_is_known() {
    check("run-parts scripts", "computed scripts/… (scripts/*)");
    check("find tools -exec {} \\;", "computed tools/…");
    check("find tools -name x -exec sh {} +", "computed tools/…");
    check("find src -name '*.py' -exec black {} +", "");
    check("find . -name '*.sh' | xargs -n1 bash", "computed … (**/*.sh); unclear yes");
    check("ls tools | xargs -I@ sh @", "unclear yes");
    check("ls tools | while read f; do \"$f\"; done", "computed …");
    check("for f in ./*.sh; do sh \"$f\"; done", "computed ./….sh (*.sh)");
    check("./*.sh", "computed ./….sh (*.sh)");
    check("base64 -d x | sh", "unclear yes");
    check("cat x | bash -s", "unclear yes");
    check("python3 -m tools.mod; python3 -mpkg x", "modules tools.mod, pkg");
    check("python3 -c 'import x'", "codes import x");
    check("bash --version; node -v; python3 --version", "");
    check("case $1 in a) echo;; *) tools/x ;; esac", "names tools/x");
    check("sh -c \"$1\"", "");
    check("trap \"rm -f $(mktemp)\" EXIT; eval \"$(fnm env)\"; npm test", "computed …; unclear yes");
    check("tmp=$(mktemp); trap \"rm -f $tmp\" EXIT; npm test", "");
}

#[test]
fn hooks_of_every_day_say_little() {
    check("#!/bin/sh\nnpm test\nnpx lint-staged\nmake lint\ncargo fmt --check\n", "");
    check(
        "INSTALL_PYTHON=/usr/bin/python3\nARGS=(hook-impl --config=.pre-commit-config.yaml --hook-type=pre-commit)\n\
         HERE=\"$(cd \"$(dirname \"$0\")\" && pwd)\"\nARGS+=(--hook-dir \"$HERE\" -- \"$@\")\n\
         if [ -x \"$INSTALL_PYTHON\" ]; then\n    exec \"$INSTALL_PYTHON\" -mpre_commit \"${ARGS[@]}\"\n\
         elif command -v pre-commit > /dev/null; then\n    exec pre-commit \"${ARGS[@]}\"\nelse\n\
             echo '`pre-commit` not found.  Did you forget to activate your virtualenv?' 1>&2\n    exit 1\nfi\n",
        "names /dev/null, /usr/bin/python3; modules pre_commit",
    );
}

#[test]
fn any_text_is_read_to_its_end() {
    let mut state = 1u32;
    for _ in 0..5_000 {
        let text: String = (0..60)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from(b"a/$(){}\"'`\\ ;=#\n*[:~,+-x"[(state >> 16) as usize % 24])
            })
            .collect();
        Script::read(&text, Some("/h"));
    }
    // Variables that are set from each other take a bounded time.
    let many: String = (0..200).map(|_| "A=$A$B; B=$B$A; ".to_owned()).collect();
    Script::read(&format!("{many} $A$B"), None);
}
