//! Guarantee 39 for hooks in any spelling: what a hook runs is asked of the shell itself, and none of it can be changed.

use super::{Dice, User};
use crate::count;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Hooks that run `DIR/NAME`, which may have another spelling in `SPELLED`. `HALF` and `REST` are the path in two, `TOP` is
/// the workspace, `UPPER` the path in capitals.
const SHELL: &[&str] = &[
    "SPELLED",
    "exec SPELLED a b",
    "sh SPELLED",
    ". SPELLED",
    "X=SPELLED; $X",
    "X=SPELLED; Y=$X; sh -e \"$Y\"",
    "${NONE:-SPELLED}",
    "\"${NONE-DIR/NAME}\"",
    "c=HALF; c+=REST; eval \"$c\"",
    "c=HALF; d=REST; \"$c$d\"",
    "T=UPPER; ${T,,}",
    "DIR/{NAME,none}",
    "DIR/{a,b{1,2}} || DIR/NAM{E,F}",
    "for f in DIR/*; do \"$f\"; done",
    "for f in DIR/*; do sh \"$f\"; done",
    "find DIR -type f -exec {} \\;",
    "find DIR -name NAME -exec sh {} \\;",
    "find DIR -type f | xargs -n1 sh",
    "ls DIR/NAME | xargs -I@ sh @",
    "ls -d DIR/* | while read f; do sh \"$f\"; done",
    "run-parts DIR",
    "TOP//.//DIR/./NAME",
    "~/../HOMENAME/repo/DIR/NAME",
    "\"$HOME\"/repo/DIR/NAME",
    "cd DIR; ./NAME",
    "cd DIR && find . -type f -exec sh {} \\;",
    "(cd ./DIR/; sh NAME)",
    "bash -c 'DIR/NAME'",
    "bash -c \"cd DIR; ./NAME\"",
    "eval 'sh DIR/NAME'",
    "timeout 9 nice -n 1 DIR/NAME",
    "env -u NONE A=b sh DIR/NAME",
    "echo DIR/NAME | sh",
    "cat DIR/NAME | sh",
    "sh < DIR/NAME",
    "bash <<'E'\nDIR/NAME\nE",
    "case a in b) none ;; *) DIR/NAME ;; esac",
    "r() { \"$@\"; }; r DIR/NAME",
    "a=(DIR/NAME); \"${a[@]}\"",
    "trap 'DIR/NAME' EXIT",
    "set -- DIR/NAME; \"$1\"",
    "if [ -x DIR/NAME ]; then DIR/NAME; fi",
    "D=$(echo DIR); $D/NAME",
    "N=$(echo NAME); DIR/$N",
    "N=$(echo NAME); sh DIR/\"$N\"",
    "p=./DIR/NAME.x; ${p%.x}",
    "python3 -c 'import os; os.system(\"DIR/NAME\")'",
    "cd DIR; sh \"NAME\"''",
    "cd \"${0%/*}/../../DIR\"; ./NAME",
    "\"${0%/*}\"/../../''DIR/NAME",
    "for d in DIR; do for f in $d/*; do $f; done; done",
    "$(ls DIR/*)",
    "perl -e 'system(\"DIR/NAME\")'",
    "export PATH=\"$PWD/DIR:/usr/bin:/bin\"; NAME",
];

/// The same in Python.
const PYTHON: &[&str] = &[
    "import os, subprocess\nsubprocess.call([os.path.join('DIR', 'NAME')])",
    "import os\nroot = os.getcwd()\nos.system(os.path.join(root, \"DIR\", \"NAME\"))",
    "import pathlib, subprocess\nsubprocess.call(str(pathlib.Path.cwd() / 'DIR' / 'NAME'))",
    "import os\nfor f in sorted(os.listdir('DIR')):\n    os.system('sh DIR/' + f)",
    "import glob, subprocess\nfor f in glob.glob('DIR/*'):\n    subprocess.call([f])",
    "import subprocess\nsubprocess.call('DIR/NAME')",
];

/// Hooks whose program is a module of Python, `DIR/NAME.py` or `DIR/__main__.py`.
const MODULES: &[(&str, &str, bool)] = &[
    ("python3 -m DIR.NAME", "DIR/NAME.py", false),
    ("exec python3 -mDIR.NAME x", "DIR/NAME.py", false),
    ("python3 DIR", "DIR/__main__.py", false),
    ("python3 ./DIR/", "DIR/__main__.py", false),
    ("import sys\nsys.path.insert(0, 'DIR')\nimport NAME", "DIR/NAME.py", true),
    ("import sys, os\nsys.path.insert(0, os.getcwd())\nfrom DIR import NAME", "DIR/NAME.py", true),
    ("import sys, os\nsys.path.append(os.getcwd())\nimport DIR.NAME", "DIR/NAME.py", true),
    ("import sys, importlib\nsys.path.append('')\nimportlib.import_module('DIR.NAME')", "DIR/NAME.py", true),
    ("PYTHONPATH=DIR python3 -m NAME", "DIR/NAME.py", false),
    ("python3 -c 'import DIR.NAME'", "DIR/NAME.py", false),
];

/// A path as the shell reads it, in other letters.
fn spelled(path: &str, dice: &mut Dice) -> String {
    let mut text = String::new();
    for letter in path.chars() {
        match dice.roll(9) {
            0 => text.push_str(&format!("\\{letter}")),
            1 => text.push_str(&format!("'{letter}'")),
            2 => text.push_str(&format!("\"{letter}\"")),
            3 => text.push_str(&format!("\\\n{letter}")),
            4 => text.push_str(&format!("$'\\x{:02x}'", u32::from(letter))),
            5 => text.push_str(&format!("$'\\{:03o}'", u32::from(letter))),
            6 => text.push_str(&format!("''{letter}\"\"")),
            _ => text.push(letter),
        }
    }
    text
}

struct Hook {
    text: String,
    /// The program that it runs, from the top.
    program: String,
}

fn hooks(user: &User, dice: &mut Dice, cases: usize) -> Vec<Hook> {
    let top = user.home.path("repo").display().to_string();
    let home = top.rsplit('/').nth(1).unwrap().to_owned();
    let mut hooks = Vec::new();
    let mut add = |text: &str, program: &str, first: &str, dice: &mut Dice| {
        let index = hooks.len();
        let (folder, name) = (format!("d{index}"), format!("p{index}"));
        let path = format!("{folder}/{name}");
        let half = 1 + dice.roll(path.len() - 1);
        let whole = spelled(&path, dice);
        let text = text.replace("UPPER", &path.to_uppercase()).replace("HOMENAME", &home);
        let text = text.replace("SPELLED", &whole).replace("NAM{E,F}", &format!("p{{{index},x}}"));
        let text = text.replace("HALF", &path[..half]).replace("REST", &path[half..]).replace("TOP", &top);
        let fill = |text: &str| text.replace("DIR", &folder).replace("NAME", &name);
        hooks.push(Hook { text: format!("{first}\n{}\n", fill(&text)), program: fill(program) });
    };
    for index in 0..cases {
        add(SHELL[index % SHELL.len()], "DIR/NAME", "#!/bin/bash", dice);
    }
    for text in PYTHON {
        add(text, "DIR/NAME", "#!/usr/bin/env python3", dice);
    }
    for (text, program, is_python) in MODULES {
        add(text, program, if *is_python { "#!/usr/bin/python3" } else { "#!/bin/sh" }, dice);
    }
    hooks.push(Hook { text: format!("#!{top}/shebang/x -e\n"), program: "shebang/x".to_owned() });
    // Patterns in the workspace itself.
    for (text, program) in [("for f in ./*.one; do sh \"$f\"; done", "x.one"), ("./two-*", "two-x")] {
        hooks.push(Hook { text: format!("#!/bin/sh\n{text}\n"), program: program.to_owned() });
    }
    hooks.push(Hook {
        text: "#!/bin/sh\nfind . -name '*.three' -exec sh {} \\;\n".into(),
        program: "deep/x.three".into(),
    });
    hooks
}

#[test]
fn guarantee_39_what_hooks_run_in_any_spelling_is_protected() {
    let mut dice = Dice(39);
    let cases = count(2 * SHELL.len(), 100 * SHELL.len()).min(180);
    let rounds = count(1, 40);
    let mut tried = 0;
    for user in (0..rounds).flat_map(|_| User::all()) {
        let hooks = hooks(&user, &mut dice, cases);
        let marks = user.home.path("marks");
        std::fs::create_dir(&marks).unwrap();
        for (index, hook) in hooks.iter().enumerate() {
            let mark = marks.join(index.to_string()).display().to_string();
            let text = match hook.program.ends_with(".py") {
                true => format!("open('{mark}', 'w')\n"),
                false => format!("#!/bin/sh\ntouch {mark}\n"),
            };
            user.write(&hook.program, &text);
            user.write(&format!(".git/hooks/hook{index}"), &hook.text);
            for name in [hook.program.clone(), format!(".git/hooks/hook{index}")] {
                let path = user.home.path(&format!("repo/{name}"));
                std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
            }
        }
        user.write("Makefile", "lint:\n\ttrue\n");
        user.write("src/lib.sh.txt", "");
        user.settle();
        // Each hook runs its program.
        for (index, hook) in hooks.iter().enumerate() {
            let mut command = Command::new(user.home.path(&format!("repo/.git/hooks/hook{index}")));
            command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", user.home.path(""));
            command.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(user.home.path("repo"));
            let done = user.as_user(command).output().unwrap();
            let mark = marks.join(index.to_string());
            assert!(mark.exists(), "{}: {}", hook.text, String::from_utf8_lossy(&done.stderr));
        }
        let mut lines = String::new();
        for Hook { program, .. } in &hooks {
            let folder = program.rsplit_once('/').map_or(".", |(folder, _)| folder);
            lines.push_str(&format!(
                "echo EVIL >> {program}; echo EVIL > new; mv -f new {program}; ln -f try.sh {program}; rm -f {program}; \
                 cp try.sh {program}; [ {folder} = . ] || mv {folder} {folder}.old; mkdir -p {folder}; cp try.sh {program}\n"
            ));
        }
        lines.push_str("echo EVIL > new.one; cp try.sh two-new; cp try.sh deep/new.three; true # EVIL\n");
        user.write("try.sh", &lines);
        user.settle();
        let done = user.bash("bash try.sh > /dev/null 2>&1");
        assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
        for Hook { text, program } in &hooks {
            let now = std::fs::read_to_string(user.home.path(&format!("repo/{program}"))).unwrap_or_default();
            assert!(!now.contains("EVIL"), "{}: {program}:\n{text}", user.name());
        }
        for name in ["new.one", "two-new", "deep/new.three"] {
            assert!(!user.has(name), "{}: {name}", user.name());
        }
        let done =
            user.bash("echo x > src/a.rs && echo x >> Makefile && echo x > package.json && mkdir fresh");
        assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
        tried += hooks.len();
    }
    println!("measure: guarantee 39: {tried} hooks in other spellings, 0 of their programs changed");
}

/// Hooks as tools write them, and what must stay open with each.
#[test]
fn hooks_of_every_day_leave_the_work_open() {
    let husky = include_str!("spelled/husky.sh");
    let pre_commit = include_str!("spelled/pre-commit.sh");
    for user in User::all() {
        for (name, text) in [
            (".git/hooks/pre-commit", pre_commit),
            (".git/hooks/h", husky),
            (
                ".git/hooks/pre-push",
                "#!/bin/sh\neval \"$(fnm env)\"\nnpm test\nmake lint\nnpx lint-staged\ncargo fmt --check\n",
            ),
            (
                ".git/hooks/post-merge",
                "#!/usr/bin/env python3\nimport subprocess, sys\nfor d in ('src', 'test'):\n    \
              subprocess.check_call(['flake8', d])\n",
            ),
            (
                ".git/hooks/commit-msg",
                "#!/bin/sh\nfind src -name '*.py' -exec black {} +\ngit diff --name-only | xargs eslint src\n\
              tmp=$(mktemp); trap \"rm -f $tmp\" EXIT\ncase \"$1\" in x) ;; *) echo \"see README.md\" ;; esac\n",
            ),
            ("package.json", "{}"),
            ("Makefile", "lint:\n"),
            ("src/main.py", ""),
            ("test/a.test.js", ""),
            ("lint/rules.js", ""),
            ("node_modules/a/index.js", ""),
        ] {
            user.write(name, text);
        }
        user.settle();
        user.write(
            "try.sh",
            "set -e\nfor f in package.json Makefile src/main.py src/new.py test/a.test.js test/new.js lint/rules.js Cargo.toml \
             node_modules/a/index.js node_modules/b setup.sh main.py; do echo x >> $f; done\nmv src s2; mv s2 src; mv test t2; \
             mv t2 test; rm -r node_modules; mkdir -p node_modules/.bin; echo x > node_modules/.bin/eslint; mkdir dist build\n",
        );
        user.settle();
        let done = user.bash("bash try.sh");
        assert_eq!(done.code, Some(0), "{}: {}", user.name(), done.text);
    }
}
