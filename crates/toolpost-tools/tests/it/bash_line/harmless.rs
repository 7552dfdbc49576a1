//! Lines that people really type pass the obvious rules.

use super::{decide, policy};
use toolpost_core::policy::Effect;
use toolpost_tools::shell::line;

const LINES: &[(&str, &[&str])] = &[
    ("git status", &["git status *"]),
    ("git log --oneline -20", &["git log *"]),
    ("git --no-pager diff HEAD~1 -- src/main.rs", &["git diff *"]),
    ("git diff --stat origin/main...HEAD", &["git diff *"]),
    ("git log --format='%h %s' | head -n 5", &["git log *", "head *"]),
    ("git add -A && git commit -m 'fix: the parser (again)'", &["git add *", "git commit *"]),
    (
        "git commit -m \"$(cat <<'EOF'\nFix the parser.\n\nIt's about time (really).\nEOF\n)\"",
        &["git commit *", "cat *"],
    ),
    ("git show HEAD:src/lib.rs | sed -n '1,40p'", &["git show *", "sed -n *"]),
    ("git branch -a | grep feature", &["git branch *", "grep *"]),
    ("git stash show -p stash@{0}", &["git stash *"]),
    ("cargo test --workspace -- --nocapture", &["cargo test *"]),
    ("cargo build 2>&1 | tail -30", &["cargo build *", "tail *"]),
    ("RUST_BACKTRACE=1 cargo test parser::", &["cargo test *"]),
    ("RUST_LOG=debug,hyper=info cargo run --bin server", &["cargo run *"]),
    ("cd crates/core && cargo check", &["cargo check *"]),
    ("cargo clippy --all-targets -- -D warnings", &["cargo clippy *"]),
    ("time cargo build --release", &["cargo build *"]),
    ("npm test", &["npm test *"]),
    ("npm run build -- --watch=false", &["npm run build *"]),
    ("CI=true npm ci", &["npm ci *"]),
    ("NO_COLOR=1 npx eslint src --ext .ts,.tsx", &["npx eslint *"]),
    ("python3 -m pytest -q tests/test_a.py::test_b", &["python3 -m pytest *"]),
    ("go test ./... -run TestX -v", &["go test *"]),
    ("make test -j4", &["make test *"]),
    ("docker ps -a --format '{{.Names}}'", &["docker ps *"]),
    ("ls -la", &["ls *"]),
    ("ls src/*.rs | wc -l", &["ls *", "wc *"]),
    ("find . -name '*.rs' -not -path './target/*' | head", &["find *", "head *"]),
    ("find src -type f -name '*.ts' -exec grep -l TODO {} +", &["find *", "grep *"]),
    ("find . -name '*.py' | xargs grep -n 'import os'", &["find *", "grep *"]),
    ("find . -name '*.go' -print0 | xargs -0 wc -l | sort -n", &["find *", "wc *", "sort *"]),
    ("grep -rn 'fn main' src/ --include='*.rs'", &["grep *"]),
    ("rg -n 'TODO|FIXME' -g '!target' .", &["rg *"]),
    ("sed -n '10,20p' src/main.rs", &["sed -n *"]),
    (
        "awk '{print $1}' access.log | sort | uniq -c | sort -rn | head",
        &["awk *", "sort *", "uniq *", "head *"],
    ),
    ("cat package.json | jq '.scripts | keys[]'", &["cat *", "jq *"]),
    ("for f in *.md; do echo \"$f\"; wc -l \"$f\"; done", &["wc *"]),
    ("for i in 1 2 3; do echo $i; sleep 1; done", &["sleep *"]),
    ("i=0; while [ \"$i\" -lt 3 ]; do echo \"$i\"; i=$((i+1)); done", &["echo *"]),
    ("if [ -f Cargo.toml ]; then cargo check; else npm test; fi", &["cargo check *", "npm test *"]),
    ("[[ -d target ]] && du -sh target || echo none", &["du *"]),
    ("test -f .env && echo yes", &["echo *", "test *"]),
    ("mkdir -p a/b/c && touch a/b/c/d.txt", &["mkdir *", "touch *"]),
    ("mkdir -p src/{api,db}/tests", &["mkdir *"]),
    ("cat > notes.txt <<'EOF'\nhello $(world) `x`\nEOF", &["cat *"]),
    ("cat <<EOF > config.txt\nname=$USER\nEOF", &["cat *"]),
    ("echo 'a; b && c | d' > out.txt", &["echo *"]),
    ("echo \"done: $?\"", &["echo *"]),
    ("set -euo pipefail; cargo fmt --check", &["cargo fmt *"]),
    ("timeout 60 cargo test", &["cargo test *"]),
    ("bash -c 'cd src && ls'", &["ls *"]),
    ("(cd web && npm test)", &["npm test *"]),
    ("{ git status; git diff; } > report.txt", &["git status *", "git diff *"]),
    ("git log -1 --pretty=%B # the last message", &["git log *"]),
    ("git log \\\n  --oneline \\\n  -5", &["git log *"]),
    ("which python3 || echo missing", &["which *"]),
    ("command -v node >/dev/null 2>&1 && node --version", &["node --version"]),
    ("count=$(ls | wc -l); echo \"$count files\"", &["ls *", "wc *"]),
    ("FILE=README.md; cat \"$FILE\"", &["cat *"]),
    ("ps aux | grep '[n]ode'", &["ps *", "grep *"]),
    ("diff <(sort a.txt) <(sort b.txt)", &["diff *", "sort *"]),
    ("tar -czf out.tgz src", &["tar -czf *"]),
    ("date +%Y-%m-%d", &["date *"]),
    ("case \"$1\" in start) echo s ;; *) echo other ;; esac", &["echo *"]),
    ("export RUST_BACKTRACE=1\ncargo test", &["cargo test *"]),
    ("git log --grep='fix: *' --since='2 weeks ago' --author=\"A B\"", &["git log *"]),
    ("true && ls ~/projects", &["ls *"]),
    ("printf '%s\\n' a b c | tr a-z A-Z", &["tr *"]),
    ("python3 script.py --name 'O'\\''Brien' && ls", &["python3 script.py *", "ls *"]),
    ("cargo test 2>/dev/null; echo \"exit $?\"", &["cargo test *"]),
    ("while read -r line; do echo \"$line\"; done < names.txt", &["echo *"]),
    ("git diff --name-only | while read -r f; do wc -l \"$f\"; done", &["git diff *", "wc *"]),
    ("sed 's/foo/bar/g; s|a|b|' in.txt | cut -d: -f1,2", &["sed *", "cut *"]),
    ("env RUST_LOG=info cargo run", &["cargo run *"]),
    ("sleep 2 & wait", &["sleep *"]),
    ("ls | while IFS= read -r line; do echo \"$line\"; done", &["ls *"]),
    ("./scripts/test --fast", &["./scripts/test *"]),
    ("sleep 5 & wait $!", &["sleep *"]),
    ("make -j$(nproc) test", &["make *", "nproc"]),
    ("make test -j\"$(nproc)\"", &["make test *", "nproc"]),
    ("CGO_ENABLED=0 GOOS=linux go build ./cmd/x", &["go build *"]),
    ("PORT=3000 LOG_LEVEL=debug node server.js", &["node server.js"]),
    ("cargo run --bin server -- --config dev.toml", &["cargo run *"]),
    ("awk '{ if ($3 > 10) print }' access.log", &["awk *"]),
    ("rm -f build/*.log ./*.tmp", &["rm *"]),
];

#[test]
fn harmless_lines_pass_the_obvious_rules() {
    assert!(LINES.len() >= 40, "{}", LINES.len());
    let refused: Vec<String> = LINES
        .iter()
        .filter(|(line, rules)| decide(&policy(rules), line) != Effect::Allow)
        .map(|(line, _)| format!("{line:?}: {:?}", line::read(line)))
        .collect();
    assert!(refused.is_empty(), "{} of {}:\n{}", refused.len(), LINES.len(), refused.join("\n"));
    println!("{} harmless lines pass", LINES.len());
}
