//! Files that hold secrets are protected wherever a variable says that they lie, and toolpost's own in any workspace.

use crate::{Home, Ran};

const CANARY: &str = "canary-7d1f-secret";

/// Variables and the file that each leads to, from the folder it names.
const LEADS: &[(&str, &str, &str)] = &[
    ("CARGO_HOME", "rust", "rust/credentials.toml"),
    ("CARGO_HOME", "rust", "rust/credentials"),
    ("NPM_CONFIG_USERCONFIG", "conf/npm", "conf/npm"),
    ("npm_config_userconfig", "conf/npm", "conf/npm"),
    ("AWS_SHARED_CREDENTIALS_FILE", "conf/aws", "conf/aws"),
    ("AWS_CONFIG_FILE", "conf/aws-config", "conf/aws-config"),
    ("KUBECONFIG", "conf/kube", "conf/kube"),
    ("KUBECONFIG", "conf/none:ROOT/conf/kube", "conf/kube"),
    ("GNUPGHOME", "gpg", "gpg/private-keys/one"),
    ("DOCKER_CONFIG", "dock", "dock/config.json"),
    ("PGPASSFILE", "conf/pg", "conf/pg"),
    ("NETRC", "conf/net", "conf/net"),
    ("GIT_CONFIG_GLOBAL", "conf/git", "conf/git"),
    ("PIP_CONFIG_FILE", "conf/pip", "conf/pip"),
    ("GOOGLE_APPLICATION_CREDENTIALS", "conf/g.txt", "conf/g.txt"),
    ("CLOUDSDK_CONFIG", "cloud", "cloud/credentials.db"),
    ("GH_CONFIG_DIR", "gh", "gh/hosts.yml"),
    ("PASSWORD_STORE_DIR", "pass", "pass/mail.gpg"),
    ("GRADLE_USER_HOME", "gradle", "gradle/gradle.properties"),
    ("XDG_CONFIG_HOME", "xdg", "xdg/gh/hosts.yml"),
    ("XDG_CONFIG_HOME", "xdg", "xdg/gcloud/x"),
    ("XDG_CONFIG_HOME", "xdg", "xdg/git/credentials"),
];

fn run(home: &Home, variable: &str, value: &str, args: &[&str]) -> Ran {
    Ran::of(home.command(args).env(variable, value).output().unwrap())
}

#[test]
fn what_a_variable_leads_to_is_protected_in_the_workspace_and_outside() {
    for (variable, value, file) in LEADS {
        for place in ["repo", "away"] {
            let home = Home::new();
            let root = home.path(place).display().to_string();
            home.write(&format!("{place}/{file}"), CANARY);
            let value = match *variable {
                "KUBECONFIG" => format!("{root}/{}", value.replace("ROOT", &root)),
                _ => format!("{root}/{value}"),
            };
            let named = format!("{root}/{file}");
            // What the command may read beside the workspace holds the file.
            let readable = format!("readable = ['{}']\n", home.path("away").display());
            home.write(".config/toolpost/config.toml", readable);
            let command = format!("command=cat {named}; grep -r canary-7d1f {root}; true");
            let ran = run(&home, variable, &value, &["call", "bash", &command, "--allow", "exec"]);
            assert!(
                !ran.stdout.contains(CANARY),
                "{place} {variable}: a command read {file}: {}",
                ran.stdout
            );
            assert_eq!(ran.status, 0, "{place} {variable}: {}", ran.stderr);
            if place == "away" {
                continue;
            }
            for args in [
                &["call", "read", &format!("filePath={file}")][..],
                &["call", "grep", "pattern=canary", "hidden=true", "noIgnore=true"],
                &["call", "write", &format!("filePath={file}"), "content=x", "--yes"],
                &["call", "read", &format!("filePath={file}"), "--yes"],
            ] {
                let ran = run(&home, variable, &value, args);
                let said = ran.stdout + &ran.stderr;
                assert!(!said.contains(CANARY), "{variable} {args:?}: {said}");
            }
            assert_eq!(
                std::fs::read_to_string(home.path(&format!("repo/{file}"))).unwrap(),
                CANARY,
                "{variable}"
            );
            // Without the variable it is a file like others, or one of the list.
            let allowed = format!("read: {file}");
            let ran = run(
                &home,
                variable,
                &value,
                &["call", "read", &format!("filePath={file}"), "--allow-rule", &allowed],
            );
            assert!(ran.stdout.contains(CANARY), "{variable}: the user's own rule opens it: {}", ran.stderr);
        }
    }
}

#[test]
fn a_link_to_what_a_variable_leads_to_is_protected_too() {
    let home = Home::new();
    home.write("repo/real/secret", CANARY);
    std::os::unix::fs::symlink("real/secret", home.path("repo/link")).unwrap();
    let value = home.path("repo/link").display().to_string();
    for file in ["link", "real/secret", "real/../real/secret"] {
        let ran = run(&home, "NETRC", &value, &["call", "read", &format!("filePath={file}")]);
        assert!(ran.status != 0 && !ran.stdout.contains(CANARY), "{file}: {}", ran.stdout);
    }
    let ran = run(
        &home,
        "NETRC",
        &value,
        &["call", "bash", "command=cat link real/secret; true", "--allow", "exec"],
    );
    assert!(!ran.stdout.contains(CANARY), "{}", ran.stdout);
}

#[test]
fn a_workspace_that_holds_the_home_directory_does_not_expose_toolposts_own_files() {
    // The home directory itself, and a folder above it; the data where it usually lies, and elsewhere.
    for (above, data) in [(false, ".local/share"), (true, ".local/share"), (false, "data"), (true, "data")] {
        let home = Home::new();
        let base = if above { home.path("up") } else { home.path("") };
        let (user, prefix) = if above { (home.path("up/me"), "me/") } else { (home.path(""), "") };
        let own = format!("{data}/toolpost");
        for file in ["mcp-token", "spill/one", "trust.json", "answers/a.toml", "scratch/x"] {
            let path = user.join(&own).join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, CANARY).unwrap();
        }
        std::fs::remove_file(user.join(&own).join("trust.json")).unwrap();
        let run = |args: &[&str]| {
            let mut command = home.command(args);
            command.env("HOME", &user).env("XDG_DATA_HOME", user.join(data)).current_dir(&base);
            command.arg("--workspace").arg(&base);
            Ran::of(command.output().unwrap())
        };
        for file in ["mcp-token", "spill/one", "scratch/x"] {
            let named = format!("filePath={prefix}{own}/{file}");
            for args in [
                &["call", "read", &named][..],
                &["call", "read", &named, "--yes"],
                &["call", "write", &named, "content=evil", "--yes"],
                &["call", "delete", &named, "--yes"],
                &["call", "edit", &named, "oldString=canary", "newString=evil", "--yes"],
            ] {
                let ran = run(args);
                let said = ran.stdout + &ran.stderr;
                assert!(ran.status != 0 && !said.contains(CANARY), "{args:?}: {said}");
            }
            assert_eq!(std::fs::read_to_string(user.join(&own).join(file)).unwrap(), CANARY);
        }
        // No rule opens it, not even one that allows every file.
        for rule in ["write: **", "write: *", "*: *"] {
            let named = format!("filePath={prefix}{own}/answers/user.toml");
            assert_ne!(
                run(&["call", "write", &named, "content=x", "--allow-rule", rule]).status,
                0,
                "{rule}"
            );
        }
        let planted = format!("filePath={prefix}{own}/trust.json");
        assert_ne!(run(&["call", "write", &planted, "content={}", "--yes"]).status, 0);
        for args in [
            &["call", "grep", "pattern=canary-7d1f", "hidden=true", "noIgnore=true"][..],
            &[
                "call",
                "bash",
                "command=grep -rs canary-7d1f . ; find . -type f | xargs cat 2>/dev/null; true",
                "--allow",
                "exec",
            ],
            &[
                "call",
                "bash",
                &format!("command=cat {}/{own}/mcp-token; true", user.display()),
                "--allow",
                "exec",
            ],
        ] {
            let ran = run(args);
            let said = ran.stdout + &ran.stderr;
            assert!(!said.contains(CANARY), "{above} {data} {args:?}: {said}");
        }
        let ran =
            run(&["call", "bash", "command=f=$(mktemp) && echo x | tee $f made && rm $f", "--allow", "exec"]);
        assert_eq!(ran.stdout.trim(), "x", "commands still work: {}", ran.stderr);
        let evil = format!(
            "command=echo evil > {prefix}{own}/mcp-token; rm -rf {prefix}{own}; mv {prefix}{own} gone; true"
        );
        run(&["call", "bash", &evil, "--allow", "exec"]);
        assert_eq!(std::fs::read_to_string(user.join(&own).join("mcp-token")).unwrap(), CANARY);
    }
}

/// The protected list names files by their folders; the workspace may be one of these.
#[test]
fn a_workspace_that_is_part_of_a_protected_name_protects_the_rest_of_it() {
    for (root, file) in [
        (".github", "workflows/ci.yml"),
        (".vscode", "tasks.json"),
        (".GitHub", "workflows/ci.yml"),
        (".git", "hooks/pre-commit"),
        (".git", "modules/a/config"),
        (".config", "fish/config.fish"),
    ] {
        let home = Home::new();
        home.write(&format!("{root}/notes.md"), "plain\n");
        let workspace = home.path(root);
        let write = |file: &str| {
            let args = ["call", "write", "--workspace", "."];
            let given = [format!("filePath={file}"), "content=x".to_owned()];
            let mut command = home.command(args);
            Ran::of(command.args(given).current_dir(&workspace).output().unwrap())
        };
        let refused = write(file);
        assert_eq!(refused.status, 3, "{root}/{file}: {}{}", refused.stdout, refused.stderr);
        assert!(!workspace.join(file).exists(), "{root}/{file}");
        assert_eq!(write("notes.md").status, 0, "{root}/notes.md");
    }
}
