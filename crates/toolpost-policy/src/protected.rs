//! The closed list of protected files: what something else will run later asks before it is written, and what holds
//! secrets asks before it is read.
//!
//! A pattern matches at any depth, whatever the case, and everything inside; see `toolpost_text::folded`. `.gitattributes` is not
//! in it: it can only choose among filters that `.git/config` defines, which is. Nor are build files such as `Makefile`
//! or `package.json`: to write those is the work an agent is there for.

use super::action::Action;
use super::effect::{Effect, Layer, Origin};
use super::pattern::Pattern;
use super::rule::{Rule, Target};
use crate::capability::Capability;
use crate::dependency::{DependencyFolder, Owner};
use serde::Serialize;
use std::sync::LazyLock;
use toolpost_text::Screen;
use toolpost_text::protected::{MARKERS, READS, WRITES};

/// A row of the protected list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Protected {
    /// The files: names with `*`, at any depth, whatever the case, with everything inside. A part `**` stands for any
    /// number of parts.
    pub pattern: &'static str,
    /// What asks: writing, or reading.
    pub action: Capability,
    /// Why.
    pub why: &'static str,
    /// Names that the pattern would match and that are free all the same.
    pub except: &'static [&'static str],
}

impl Protected {
    /// Whether it holds in dependency folders too. There the names are those of packages; but a repository is one
    /// wherever it lies, and what is called `.env` may hold the user's own secrets.
    pub fn holds_in_dependencies(&self) -> bool {
        match self.action {
            Capability::Read => self.pattern.contains(".env"),
            _ => matches!(self.pattern.split('/').next(), Some(".git" | "git~1")),
        }
    }

    /// Whether it closes files to commands, in folders of this owner. No file tool has any business inside a repository,
    /// but git and Mercurial do; what chooses programs there is listed apart. Nor has one to make a dependency folder, as
    /// package managers do.
    pub fn binds_commands(&self, owner: Owner) -> bool {
        let is_of_tools = matches!(self.pattern, ".git" | ".hg") || MARKERS.contains(&self.pattern);
        !is_of_tools && (owner == Owner::User || self.holds_in_dependencies())
    }
}

/// The whole list, for `doctor`.
pub fn protected() -> &'static [Protected] {
    &LIST
}

/// Whether the list protects this path against this, at whatever depth.
pub fn is_protected(action: Capability, path: &str) -> bool {
    first_match(&Target::path_of("", action, path, super::names::Names::none())).is_some()
}

/// Whether only the list could close this path to commands, by a name that is free in dependency folders, and some folder
/// above that name is called like one. Whether it is one, only a look at the disk tells.
pub fn may_be_free_in_dependencies(action: Capability, path: &str) -> bool {
    let target = Target::path_of("", action, path, super::names::Names::none());
    let Some(normal) = target.path().filter(|_| first_match(&target).is_some()) else { return false };
    let mut ends = normal.match_indices('/').map(|(at, _)| at);
    let is_one = |end: &usize| {
        let name = normal[..*end].rsplit('/').next().unwrap_or_default();
        DependencyFolder::named(name.as_bytes()).is_some()
    };
    let Some(end) = ends.find(is_one) else { return false };
    let bound =
        |rule: &&Rule| row(rule).is_some_and(|row| row.holds_in_dependencies()) && rule.matches(&target);
    !is_protected(action, &normal[..end]) && !RULES.iter().any(|rule| bound(&rule))
}

/// The outermost folder above this path, or the path itself, that the list closes to commands: to open a file in it, that
/// folder must be opened. None where the list does not close it.
pub(super) fn closed_whole(action: Capability, path: &str) -> Option<&str> {
    let ends = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0).chain([path.len()]);
    ends.map(|end| &path[..end]).find(|above| {
        let target = Target::path_of("", action, above, super::names::Names::none());
        first_for_commands(&target, Owner::User).is_some()
    })
}

/// The list as the rules of the built-in layer.
pub(super) fn rules() -> &'static [Rule] {
    &RULES
}

/// The first rule of the list that matches.
pub(super) fn first_match(target: &Target<'_>) -> Option<&'static Rule> {
    first_of(target, |_| true)
}

/// The first that closes a file to commands in a folder of this owner.
pub(super) fn first_for_commands(target: &Target<'_>, owner: Owner) -> Option<&'static Rule> {
    first_of(target, |rule| row(rule).is_some_and(|row| row.binds_commands(owner)))
}

/// The row that a rule of the list was made of.
pub(super) fn row(rule: &Rule) -> Option<&'static Protected> {
    let line = rule.is_protected().then(|| rule.origin().line)?;
    LIST.get(line.checked_sub(1)?)
}

fn first_of(target: &Target<'_>, is_wanted: impl Fn(&Rule) -> bool) -> Option<&'static Rule> {
    let path = target.path()?;
    let action = target.action()?;
    let (_, screen) = SCREENS.iter().find(|(known, _)| *known == action)?;
    if !screen.suspects(path) {
        return None;
    }
    RULES.iter().find(|rule| is_wanted(rule) && rule.matches(target))
}

/// Why the rule's files are protected, if it is a rule of the list.
pub(super) fn why(rule: &Rule) -> Option<&'static str> {
    row(rule).map(|row| row.why)
}

static LIST: LazyLock<Vec<Protected>> = LazyLock::new(|| {
    let writes = WRITES.iter().flat_map(|(why, patterns)| {
        patterns.iter().map(move |pattern| Protected { pattern, action: Capability::Write, why, except: &[] })
    });
    let reads = READS.iter().flat_map(|(why, patterns, except)| {
        patterns.iter().map(move |pattern| Protected { pattern, action: Capability::Read, why, except })
    });
    writes.chain(reads).collect()
});

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |(index, row): (usize, &Protected)| {
        let origin = Origin::new(Layer::BuiltIn, "protected files", index + 1);
        let resource = Pattern::protected(row.pattern, row.except);
        Rule::from_parts(Effect::Ask, Action::Capability(row.action), resource, origin)
    };
    LIST.iter().enumerate().map(rule).collect()
});

/// What falls at a glance, by action.
static SCREENS: LazyLock<[(Capability, Screen); 2]> = LazyLock::new(|| {
    [Capability::Write, Capability::Read].map(|action| {
        let rows = LIST.iter().filter(|row| row.action == action);
        (action, Screen::new(rows.map(|row| row.pattern)))
    })
});

#[cfg(test)]
mod tests {
    use super::super::names::Names;
    use super::*;
    use crate::access::Access;

    fn asks(action: Capability, path: &str) -> bool {
        let access = Access::path(action, path);
        let target = Target::new("tool", Some(&access), Names::none());
        let all = rules().iter().find(|rule| rule.matches(&target));
        assert_eq!(first_match(&target), all, "{path}");
        all.is_some()
    }

    #[test]
    fn guarantee_15_writing_what_runs_later_asks() {
        for path in [
            ".git/hooks/pre-commit",
            ".git/config",
            ".GIT/Config",
            ".git",
            ".git./hooks/x",
            ".g\u{200c}it/config",
            "sub/.git/hooks/x",
            "src/../.git/config",
            "/home/u/work/.git/config",
            ".git::$INDEX_ALLOCATION/config",
            ".git/commondir",
            ".git/modules/a/config",
            ".git/modules/a/b/modules/c/hooks/post-checkout",
            "sub/.git/worktrees/w/commondir",
            "GIT~1/config",
            ".gitmodules",
            ".bashrc",
            "home/.zshrc",
            ".mcp.json",
            ".github/workflows/ci.yml",
            ".GitHub/Workflows/ci.yml",
            ".gitlab-ci.yml",
            "Jenkinsfile",
            ".circleci/config.yml",
            ".vscode/tasks.json",
            "packages/a/.vscode/launch.json",
            ".idea/runConfigurations/a.xml",
            ".zed/tasks.json",
            ".claude/settings.local.json",
            ".cursor/mcp.json",
            ".gemini/settings.json",
            ".codex/config.toml",
            "opencode.json",
            ".toolpost/config.toml",
            ".envrc",
            ".husky/pre-commit",
            ".hus\u{212a}y/pre-commit",
            ".pre-commit-config.yaml",
            "a.code-workspace",
            ".pylintrc",
            "lib/pylintrc",
            ".asdfrc",
            ".git/remotes/origin",
            ".git/branches/main",
            ".git/modules/a/branches/x",
            ".hg/hgrc",
            ".hg/hgrc-not-shared",
            ".hg/dirstate",
            ".jj/repo/config.toml",
            ".sl/config",
            "lefthook-local.yml",
            "lefthook-local.toml",
            ".lefthook-local.json",
            "lefthook.toml",
            "lefthook.yml",
            ".config/lefthook.jsonc",
            ".lefthook/pre-commit/x.sh",
            ".pnpmfile.mjs",
            ".pnpmfile.cjs",
            "pnpmfile.js",
            ".mise/config.toml",
            ".mise/tasks/x",
            "mise-tasks/x",
            ".mise-tasks/x",
            ".huskyrc",
            "tools/bazel",
            "mise/config.local.toml",
            "mise.local.toml",
            ".mise.ci.toml",
            ".config/mise/config.toml",
            ".config/mise.toml",
            "bunfig.toml",
            ".tool-versions",
            "rust-toolchain",
            "crates/a/rust-toolchain.toml",
            "lint-staged.config.mjs",
            ".lintstagedrc.json",
            "ansible.cfg",
            ".idea/watcherTasks.xml",
            ".bazelrc",
            "user.bazelrc",
            ".bazelrc.local",
            ".latexmkrc",
            "latexmkrc",
        ] {
            assert!(asks(Capability::Write, path), "{path}");
        }
    }

    #[test]
    fn in_dependency_folders_repositories_and_environments_stay_protected() {
        let holding: Vec<&str> =
            LIST.iter().filter(|row| row.holds_in_dependencies()).map(|row| row.pattern).collect();
        for pattern in [
            ".git",
            "git~1",
            ".git/hooks",
            ".git/config",
            ".git/modules/**/config",
            ".env",
            ".env.*",
            ".envrc",
        ] {
            assert!(holding.contains(&pattern), "{pattern}");
        }
        let is_meant = |pattern: &str| pattern.starts_with(".git/") || pattern.contains(".env");
        assert!(
            holding.iter().all(|pattern| is_meant(pattern) || matches!(*pattern, ".git" | "git~1")),
            "{holding:?}"
        );
        // Each marker is a file that a file tool asks about.
        for row in crate::DEPENDENCY_FOLDERS {
            let Some(marker) = row.marker else { continue };
            let path = format!("sub/{}/{marker}", row.name);
            assert!(asks(Capability::Write, &path), "{path}");
            assert!(MARKERS.contains(&format!("{}/{}", row.name, marker.to_lowercase()).as_str()), "{path}");
        }
        let target = |path| Access::path(Capability::Write, path);
        let binds = |access: &Access, owner| {
            first_for_commands(&Target::new("", Some(access), Names::none()), owner).is_some()
        };
        assert!(!binds(&target(".venv/pyvenv.cfg"), Owner::User));
        assert!(binds(&target("p/git~1/hooks/pre-commit"), Owner::User));
        assert!(binds(&target("p/GIT~1"), Owner::Dependency));
        assert!(binds(&target("a/.npmrc"), Owner::User) && !binds(&target("a/.npmrc"), Owner::Dependency));
        assert!(binds(&target("a/.git/config"), Owner::Dependency));
        // Mercurial changes its own folder, but not what it runs.
        assert!(!binds(&target(".hg/dirstate"), Owner::User) && binds(&target(".hg/hgrc"), Owner::User));
        assert!(
            binds(&target(".git/branches/main"), Owner::User) && !binds(&target(".git/refs/x"), Owner::User)
        );
    }

    #[test]
    fn what_may_be_free_in_dependency_folders_is_known_by_its_name() {
        for (action, path, expected) in [
            (Capability::Write, "node_modules/a/.npmrc", true),
            (Capability::Write, "x/.venv/lib/.vscode/tasks.json", true),
            (Capability::Write, "target/.mcp.json", true),
            (Capability::Read, "node_modules/a/c.pem", true),
            (Capability::Read, "./node_modules/../node_modules/a/c.pem", true),
            (Capability::Read, "node_modules/a/.env", false),
            (Capability::Read, "node_modules/a/.env.local", false),
            (Capability::Write, "node_modules/a/.git/config", false),
            (Capability::Write, "node_modules/.git", false),
            (Capability::Write, ".claude/node_modules/a/.npmrc", false),
            (Capability::Write, ".claude/node_modules/x", false),
            (Capability::Write, "node_modules/../.npmrc", false),
            (Capability::Write, "vendor/a/.npmrc", false),
            (Capability::Write, "NODE_MODULES/a/.npmrc", false),
            (Capability::Write, "src/.npmrc", false),
            (Capability::Write, "node_modules/a/index.js", false),
        ] {
            assert_eq!(may_be_free_in_dependencies(action, path), expected, "{action} {path}");
        }
    }

    #[test]
    fn reading_secrets_asks() {
        for path in [
            ".env",
            ".env.local",
            ".env~",
            ".env.bak",
            ".env.swp",
            ".env-prod",
            ".env_backup",
            "#.env#",
            "prod.env~",
            "prod.env.bak",
            "app/.ENV.production",
            "prod.env",
            "server.pem",
            "certs/a.key",
            "id_rsa",
            "id_ed25519",
            ".netrc",
            ".npmrc",
            ".aws/credentials",
            "deploy/credentials.json",
            ".ssh/config",
        ] {
            assert!(asks(Capability::Read, path), "{path}");
        }
    }

    #[test]
    fn everyday_files_are_free() {
        for path in [
            "src/main.rs",
            "Makefile",
            "package.json",
            ".gitignore",
            ".gitattributes",
            ".github/dependabot.yml",
            "README.md",
            "docs/environment.md",
            ".env.example",
            "git/config",
            "hooks/pre-commit",
            ".vscode/extensions.json",
            "docs/lefthook.md",
            "toolchain.toml",
            "lint-staged.md",
            "mise.md",
            "tools/bazel.md",
            "",
            ".",
        ] {
            assert!(!asks(Capability::Write, path), "{path}");
        }
        for path in [
            ".env.example",
            ".env.sample",
            ".env-example",
            ".env_template",
            "src/env.d.ts",
            "next-env.d.ts",
            ".env.template",
            "id_rsa.pub",
            "src/key.rs",
            "monkey",
            "keys.rs",
            ".git/config",
            ".bashrc",
            "environment",
        ] {
            assert!(!asks(Capability::Read, path), "{path}");
        }
    }
}
