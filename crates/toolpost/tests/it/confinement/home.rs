//! Folders of `PATH` and the command's own home folder.

use super::{CANARY, User};
use crate::Ran;
use std::os::unix::fs::{PermissionsExt, symlink};

/// Runs a line with these arguments and a `PATH` that begins with these folders; what it printed, and what was said.
fn bash(user: &User, path: &str, args: &[&str], line: &str) -> String {
    let mut all = vec!["call", "bash", "--workspace", "."];
    all.extend(args);
    let line = format!("command={line}");
    all.push(&line);
    let mut command = user.as_user(user.home.command(all));
    let usual = std::env::var("PATH").unwrap();
    command.env("PATH", if path.is_empty() { usual } else { format!("{path}:{usual}") });
    let ran = Ran::of(command.output().unwrap());
    format!("{}{}", ran.stdout, ran.stderr)
}

#[test]
fn guarantee_36_a_folder_of_path_shows_no_secret() {
    for user in User::all() {
        for (name, mode) in [
            ("bin/plain", 0o644),
            ("bin/.env", 0o644),
            ("bin/id_rsa", 0o644),
            ("bin/sub/deep/server.key", 0o644),
            ("bin/r600", 0o600),
            ("bin/r640", 0o640),
            ("bin/sub/r400", 0o400),
        ] {
            user.home.write(name, if name == "bin/plain" { "CANARY-plain" } else { CANARY });
            std::fs::set_permissions(user.home.path(name), PermissionsExt::from_mode(mode)).unwrap();
        }
        for name in ["bin", "bin/sub", "bin/sub/deep"] {
            std::fs::set_permissions(user.home.path(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
        user.home.write(".ssh/id_x", CANARY);
        user.home.write("proj/doc", CANARY);
        symlink(user.home.path(""), user.home.path("repo/homelink")).unwrap();
        user.settle();
        let home = user.home.path("").display().to_string();
        let home = home.trim_end_matches('/');
        let bin = format!("{home}/bin");
        // Those that only the owner may read are the ordinary user's own, like programs that only they may run.
        let is_root = user.name() == "root";
        let hides = if is_root {
            ".env id_rsa sub/deep/server.key r600 r640 sub/r400"
        } else {
            ".env id_rsa sub/deep/server.key"
        };
        let cat = hides.split(' ').map(|name| format!("{bin}/{name}")).collect::<Vec<_>>().join(" ");
        let said = bash(&user, &bin, &["--allow", "exec"], &format!("cat {bin}/plain {cat}"));
        assert!(said.contains("CANARY-plain"), "{}: {said}", user.name());
        assert!(!said.contains(CANARY), "{}: {said}", user.name());
        for path in [
            home.to_owned(),
            format!("{home}/"),
            format!("{home}/proj/.."),
            format!("{home}/proj/../."),
            format!("{home}/repo/homelink"),
            format!("{home}/repo/homelink/repo/.."),
            format!("{home}/.."),
            format!("{home}/.ssh"),
            "/".to_owned(),
            "/tmp/..".to_owned(),
            ".".to_owned(),
        ] {
            let line = format!("grep -rs CANARY {home} /proc/1/root/{home} ; ls {home}/proj; echo end");
            let said = bash(&user, &path, &["--allow", "exec"], &line);
            assert!(said.contains("end"), "{}: PATH={path}: {said}", user.name());
            assert!(!said.contains(CANARY), "{}: PATH={path}: {said}", user.name());
        }
    }
}

#[test]
fn guarantee_18_narrow_rules_leave_the_home_folder_closed() {
    let lines = [
        "cp c ~/.sqliterc",
        "cp c ~/.psqlrc",
        "cp c ~/.anyrc",
        "cp c ~/plain",
        "cp -r loc/. ~/",
        "cp c ~/.config",
        "mkdir -p ~/.local/lib/python3/site-packages",
        "cp -r loc ~/.local",
        "ln -s $PWD/loc ~/.cache",
        "ln -s $PWD/loc ~/.npm",
        "mv loc ~/.local",
        "mkdir -p ~/.config/gdb",
        "mkdir -p ~/.cargo; cp c ~/.cargo/config",
        "mkdir ~/bin",
    ];
    for user in User::all() {
        user.write("c", "text\n");
        user.write("loc/x.pth", "text\n");
        user.settle();
        let narrow =
            ["cp *", "ln *", "mv *", "mkdir *", "find *", "true"].map(|rule| format!("bash: {rule}"));
        let mut args: Vec<&str> = Vec::new();
        narrow.iter().for_each(|rule| args.extend(["--allow-rule", rule]));
        for line in lines {
            let line = line.replace("$PWD", user.home.path("repo").to_str().unwrap());
            let said = bash(
                &user,
                "",
                &args,
                &format!(
                    "{line}; find ~ -not -type d -path '*/.*' ; find ~ -name 'x.pth' ; find ~ -name plain"
                ),
            );
            let home = user.home.path("").display().to_string();
            let created = said.lines().filter(|line| line.starts_with(&home) && !line.contains("/repo/"));
            let created: Vec<&str> = created.collect();
            assert!(created.is_empty(), "{}: `{line}` created {created:?}: {said}", user.name());
            assert!(
                said.contains("exit code") || said.contains("refused") || said.contains("denied"),
                "{line}: {said}"
            );
        }
        // Caches are open, and so is everything with the capability as a whole.
        let said = bash(
            &user,
            "",
            &args,
            "mkdir -p ~/.cache/x ~/.npm/_logs ~/.local/state; cp c ~/.cache/x/c; cp c ~/.npm/_logs/1; find ~/.cache/x/c ~/.npm/_logs/1",
        );
        assert!(
            said.contains(".cache/x/c") && said.contains("_logs/1") && !said.contains("exit code"),
            "{said}"
        );
        let said = bash(&user, "", &["--allow", "exec"], "cp c ~/.anyrc && cp c ~/plain && echo made");
        assert!(said.contains("made"), "{}: {said}", user.name());
        // What the message says to do.
        let said = bash(&user, "", &args, "cp c ~/.anyrc");
        assert!(said.contains("--allow exec"), "{said}");
    }
}

#[test]
fn guarantee_15_start_up_files_of_a_home_folder_are_not_written() {
    let files = [
        ".bash_completion",
        ".xprofile",
        ".xsessionrc",
        ".xinitrc",
        ".tmux.conf",
        ".config/tmux/tmux.conf",
        ".emacs",
        ".emacs.d/init.el",
        ".vimrc",
        ".config/nvim/init.lua",
        ".direnvrc",
        ".config/direnv/direnvrc",
        ".psqlrc",
        ".sqliterc",
        ".gdbinit",
        ".config/gdb/gdbinit",
        ".config/environment.d/x.conf",
        ".local/share/systemd/user/x.service",
        ".local/share/applications/x.desktop",
        ".local/bin/ls",
        ".local/lib/python3.11/site-packages/x.pth",
        ".local/lib/python3.11/site-packages/usercustomize.py",
        "sitecustomize.py",
        ".screenrc",
        ".pam_environment",
        ".wgetrc",
        ".Rprofile",
        ".ipython/profile_default/startup/x.py",
        ".gradle/init.gradle",
        ".m2/settings.xml",
        ".hgrc",
        ".kube/config",
        ".aws/config",
        ".docker/config.json",
        ".config/i3/config",
        ".config/sway/config",
        ".config/hypr/hyprland.conf",
        ".forward",
        ".procmailrc",
        ".oh-my-zsh/x",
        ".config/starship.toml",
        ".config/lazygit/config.yml",
    ];
    for user in User::all() {
        user.settle();
        let lines: Vec<String> = files
            .iter()
            .map(|file| format!("(mkdir -p $(dirname {file}); echo x >> {file}) 2>/dev/null; test -e {file} && echo made {file}"))
            .collect();
        user.home.write("try.sh", lines.join("\n") + "\necho x > notes.txt && echo made notes\n");
        user.settle();
        let home = user.home.path("").display().to_string();
        let line = format!("command=cd {home} && bash try.sh");
        let args = ["call", "bash", "--allow", "exec", "--workspace", &home, &line];
        let ran = Ran::of(user.as_user(user.home.command(args)).output().unwrap());
        let made: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("made ")).collect();
        assert_eq!(made, ["made notes"], "{}: {}{}", user.name(), ran.stdout, ran.stderr);
    }
}

/// In a workspace: version control, hooks and tools that run on their own.
#[test]
fn guarantee_15_what_tools_run_unasked_is_not_written() {
    let files = [
        ".hg/hgrc",
        ".jj/repo/config.toml",
        ".sl/config",
        ".git/remotes/origin",
        ".git/branches/main",
        "lefthook-local.yml",
        ".lefthook-local.toml",
        "lefthook.toml",
        ".pnpmfile.mjs",
        ".mise/config.toml",
        "mise.local.toml",
        "bunfig.toml",
        ".tool-versions",
        "rust-toolchain.toml",
        "rust-toolchain",
        "lint-staged.config.js",
        "ansible.cfg",
        ".idea/watcherTasks.xml",
        ".bazelrc",
        ".latexmkrc",
    ];
    let user = User::all().remove(0);
    let lines = files.map(|file| {
        format!(
            "(mkdir -p $(dirname {file}); echo x >> {file}) 2>/dev/null; test -f {file} && echo made {file}"
        )
    });
    user.write(
        "try.sh",
        &(lines.join("\n") + "\nmkdir -p .hg/store && echo x > .hg/store/a && echo made store\n"),
    );
    user.settle();
    let done = user.bash("bash try.sh");
    let made: Vec<&str> = done.text.lines().filter(|line| line.starts_with("made ")).collect();
    assert_eq!(made, ["made store"], "{}", done.text);
    // A tool that writes files asks about each of them, and about Mercurial's own files too.
    for file in files.iter().chain(&[".hg/store/a"]) {
        let ran = user.home.run(&["call", "write", &format!("filePath={file}"), "content=x"]);
        assert_eq!(ran.status, 3, "{file}: {}{}", ran.stdout, ran.stderr);
    }
}

/// What is laid into the home folder for a command was there when it started.
#[test]
fn settings_that_were_there_are_not_reported_as_new() {
    for user in User::all() {
        user.home.write(".gitconfig", "[user]\n\tname = Ada\n");
        user.settle();
        let done = user.bash("mkdir -p ~/.npm && echo x > ~/.npm/a && echo y > ~/b && git config user.name");
        assert_eq!((done.code, done.text.as_str()), (Some(0), "Ada\n"), "{}", user.name());
    }
}
