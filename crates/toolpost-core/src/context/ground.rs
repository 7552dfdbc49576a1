//! What the policy leaves of the disk for a command that a tool starts.

use super::Context;
use crate::capability::Capability;
use crate::error::{Code, ToolError};
use crate::policy::{self, Ahead, Closed, Effect, FilePattern, FileRule, FileRules, Remedy};
use crate::workspace::{
    Dependencies, FolderAlias, Guard, Kind, Mark, Marked, Owner, Stat, Surveyor, WorkspacePath,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What a command may see and change, by absolute paths. A sandbox is made from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ground {
    /// The roots of the workspace.
    pub roots: Vec<String>,
    /// Whether they may be changed, apart from what is marked.
    pub is_writable: bool,
    /// Whether the network may be reached; never in a dry run.
    pub has_network: bool,
    /// What exists and is locked or hidden, each folder before what is in it.
    pub marked: Vec<Marked>,
    /// Names that may not be created in the roots where no rule matches, as in [`Protected::pattern`](crate::policy::Protected::pattern).
    pub reserved: Vec<String>,
    /// The user's rules about writing files, for names that do not exist yet. A name must be open in every set. Where
    /// no rule of a set matches, `reserved` decides.
    pub rules: Vec<FileRules>,
    /// Other names of folders, which links of the workspace give them. A name must be open under each of them.
    pub aliases: Vec<FolderAlias>,
    /// Names through which something protected is reached, existing or not: none of them may become a link or be moved,
    /// whatever the rules say.
    pub fixed: Vec<PathBuf>,
    /// Where names are not the user's. There only `reserved_in_dependencies` decides where no rule matches.
    pub dependencies: Dependencies,
    /// The part of `reserved` that holds in dependency folders, too.
    pub reserved_in_dependencies: Vec<String>,
    /// Whether any command may run. Where rules allow some commands only, what one of them leaves in the home folder must
    /// not choose what the next one runs.
    pub allows_any_command: bool,
}

/// What holds a command to its ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// A sandbox: what is marked and reserved is looked for.
    Confined,
    /// Nothing: only the roots are told.
    Free,
}

impl Context {
    /// What the policy leaves of the disk for a command of this call.
    ///
    /// A fault where the workspace is not on disk: there is nothing that a command could see.
    pub async fn ground(&self, reach: Reach) -> Result<Ground, ToolError> {
        match reach {
            Reach::Confined => self.blocking(move |ctx| ctx.ground_now(reach)).await,
            Reach::Free => self.ground_now(reach),
        }
    }

    /// The same, in place: with [`Reach::Confined`] it blocks like the workspace.
    pub fn ground_now(&self, reach: Reach) -> Result<Ground, ToolError> {
        let not_on_disk = || {
            ToolError::new(
                Code::ExecutionError,
                "commands need a workspace on disk, and this one is kept elsewhere; use the file tools",
            )
        };
        let guard = self.call.guard.clone().ok_or_else(not_on_disk)?;
        // What leaves the machine cannot be thrown away.
        let has_network = self.granted(Capability::Network) && !self.is_dry_run();
        if !self.host_workspace().is_on_disk() {
            return Err(not_on_disk());
        }
        let roots = self.host_workspace().roots();
        let is_writable =
            self.granted(Capability::Write) && guard.is_open_to_commands(Capability::Write, ".", Owner::User);
        let mut ground = Ground {
            roots,
            is_writable,
            has_network,
            marked: Vec::new(),
            reserved: Vec::new(),
            rules: Vec::new(),
            aliases: Vec::new(),
            fixed: Vec::new(),
            dependencies: Dependencies::default(),
            reserved_in_dependencies: Vec::new(),
            allows_any_command: guard.allows_any_command(),
        };
        if reach == Reach::Confined {
            let judge =
                Judge { guard: Arc::clone(&guard), hides_sockets: !has_network, ahead: OnceLock::new() };
            let survey = self.host_workspace().survey(&judge)?;
            ground.marked = survey.marked;
            ground.aliases = survey.aliases;
            ground.fixed = survey.fixed;
            ground.dependencies = survey.dependencies;
            ground.reserved = reserved(Owner::User);
            ground.reserved.extend(guard.protected_paths());
            ground.reserved_in_dependencies = reserved(Owner::Dependency);
            ground.reserved_in_dependencies.extend(guard.protected_paths());
            ground.rules = guard.file_rules();
            let missing = survey.missing.iter().map(|path| closed_path(&ground.roots, path));
            let globs = survey.globs.iter().map(|(folder, glob)| closed_glob(&ground.roots, folder, glob));
            let closed = missing.chain(globs).collect();
            close(&mut ground.rules, closed);
        }
        Ok(ground)
    }

    /// The display name of an absolute path of the workspace, and why a command may not write it: by the policy or, where
    /// that would allow it, because git or a protected link names it.
    pub fn closed_to_commands(&self, path: &Path) -> (String, Closed) {
        let roots = self.host_workspace().roots();
        let name = display(&roots, path);
        if !roots.iter().any(|root| path.starts_with(root)) {
            let any = self.call.guard.as_ref().is_none_or(|guard| guard.allows_any_command());
            let (why, remedy) = match any {
                true => (
                    "outside of the workspace, commands write to temporary folders of their own only, and in their \
                     temporary home folder not to what shells and tools read when they start",
                    "no rule opens it; use a file of the workspace or of /tmp".to_owned(),
                ),
                false => (
                    "rules allow single commands only, and programs run what they find in the home folder, so that \
                     nothing but caches is created there",
                    format!("use a file of the workspace; for all commands {}", {
                        let missing = [Capability::Exec].into_iter().collect();
                        self.policy().advise(&Remedy::Grant { missing, tool: None })
                    }),
                ),
            };
            return (name, Closed { why: why.to_owned(), remedy, rules: Vec::new() });
        }
        let by_policy = |action| self.call.guard.as_ref()?.closed_to_commands(action, &name);
        // What may not be read is covered, so that it can be neither changed nor moved.
        let closed = match (by_policy(Capability::Write), by_policy(Capability::Read)) {
            (Some(mut closed), Some(unread)) if !closed.rules.is_empty() && !unread.rules.is_empty() => {
                closed.rules.extend(unread.rules);
                closed.remedy = self.policy().advise(&Remedy::Closed { rules: &closed.rules });
                closed
            }
            (Some(closed), _) | (None, Some(closed)) => closed,
            (None, None) => return (name.clone(), self.closed_by_what_is_there(&name)),
        };
        let mut closed = closed;
        if policy::may_be_free_in_dependencies(Capability::Write, &name) {
            closed.why.push_str(
                " (its folder does not count as one of dependencies: a rule is about it, it had no marker such as \
                 `pyvenv.cfg` when the command started, or a link with another name leads into such a folder)",
            );
        }
        (name, closed)
    }

    /// The display name of an absolute path of the workspace, and why a command may not read it; none where it may.
    pub fn unreadable_to_commands(&self, path: &Path) -> Option<(String, Closed)> {
        let name = display(&self.host_workspace().roots(), path);
        let closed = self.call.guard.as_ref()?.closed_to_commands(Capability::Read, &name)?;
        Some((name, closed))
    }

    /// What a command sees of a file that it cannot read: its size and its times. Blocks like the workspace.
    pub fn seen_by_commands(&self, name: &str) -> Option<Stat> {
        self.host_workspace().stat(&WorkspacePath::new(name)).ok()
    }

    /// The display name of a symbolic link into a dependency folder, and why a command may not make it.
    pub fn link_closed_to_commands(&self, path: &Path) -> (String, Closed) {
        let name = display(&self.host_workspace().roots(), path);
        let why = "it would be a link into a dependency folder under another name, and commands may create protected names \
                   there";
        let mut closed = self.policy().opened_by(why.to_owned(), Capability::Write, &name);
        closed.remedy = format!("copy the files, or {}", closed.remedy);
        (name, closed)
    }

    /// Why a name is closed that the policy would leave open.
    fn closed_by_what_is_there(&self, name: &str) -> Closed {
        let last = name.rsplit('/').next().unwrap_or(name);
        let opened_by = |why: &str| self.policy().opened_by(why.to_owned(), Capability::Write, name);
        if ["HEAD", "objects", "refs", "commondir"].contains(&last) {
            return opened_by(
                "the folder would become a git repository by it, and git runs what the configuration of one names",
            );
        }
        if is_pointer(name) {
            return opened_by(
                "it is protected (`.git`): git takes its configuration and hooks from where it points",
            );
        }
        let mut closed = opened_by(
            "a protected link, a git hook or git's configuration names it, or the name that a link gives it is \
             protected or denied, or it would make a dependency folder of one that holds a protected file",
        );
        closed.remedy.push_str(
            "; what a protected link leads through can be neither moved nor made a link, whatever the rules say",
        );
        closed
    }
}

struct Judge {
    guard: Arc<dyn Guard>,
    hides_sockets: bool,
    /// Made for the first link that is found.
    ahead: OnceLock<Ahead>,
}

impl Surveyor for Judge {
    fn mark(&self, name: &str, kind: Kind, owner: Owner) -> Mark {
        if !self.guard.is_open_to_commands(Capability::Read, name, owner) {
            Mark::Hidden
        } else if !self.guard.is_open_to_commands(Capability::Write, name, owner)
            || (kind != Kind::Folder && is_pointer(name) && !self.is_opened(Capability::Write, name))
        {
            Mark::Locked
        } else {
            Mark::Free
        }
    }

    fn inherited(&self, name: &str, mark: Mark) -> Mark {
        let is_opened = match mark {
            Mark::Free => true,
            Mark::Locked => self.is_opened(Capability::Write, name),
            Mark::Hidden => self.is_opened(Capability::Read, name),
        };
        if is_opened { Mark::Free } else { mark }
    }

    fn is_removable(&self, name: &str) -> bool {
        self.guard.is_open_to_commands(Capability::Write, name, Owner::Dependency)
            && !self.guard.is_denied_by_rule(Capability::Read, name)
    }

    fn denies(&self, name: &str, mark: Mark) -> bool {
        let action = if mark == Mark::Hidden { Capability::Read } else { Capability::Write };
        self.guard.is_denied_by_rule(action, name)
    }

    fn progress(&self, name: &str, owner: Owner) -> Option<Vec<(usize, u64)>> {
        self.ahead.get_or_init(|| self.guard.ahead()).progress(name, owner)
    }

    fn hides_sockets(&self) -> bool {
        self.hides_sockets
    }

    fn identity(&self) -> String {
        self.guard.identity()
    }
}

impl Judge {
    fn is_opened(&self, action: Capability, name: &str) -> bool {
        self.guard.is_opened_by_rule(action, name)
    }
}

/// Whether the name is that of a repository. Where it is no folder, it says where the repository is.
fn is_pointer(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(".git"))
}

/// The names that may not be created in a folder of this owner unless a rule opens them.
fn reserved(owner: Owner) -> Vec<String> {
    policy::protected()
        .iter()
        .filter(|row| row.action == Capability::Write && row.binds_commands(owner))
        .map(|row| row.pattern.to_owned())
        .collect()
}

/// The path as rules name it: relative in the first root, absolute in the others.
fn display(roots: &[String], path: &Path) -> String {
    let inside = roots.first().and_then(|root| path.strip_prefix(root).ok());
    match inside {
        Some(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Some(inside) => inside.to_string_lossy().into_owned(),
        None => path.to_string_lossy().into_owned(),
    }
}

/// The rule that closes a path where nothing is yet. What cannot be said in UTF-8 is closed with all that is like it.
fn closed_path(roots: &[String], path: &Path) -> FileRule {
    let name = display(roots, path);
    let pattern = match path.to_str() {
        Some(_) => FilePattern::Exact(name),
        None => {
            let parts = name.split(char::REPLACEMENT_CHARACTER).map(globset::escape);
            let mut glob = parts.collect::<Vec<_>>().join("*");
            while glob.contains("**") {
                glob = glob.replace("**", "*");
            }
            FilePattern::Glob { glob, inside: true }
        }
    };
    FileRule { effect: Effect::Ask, pattern }
}

/// The rule that closes files of a form.
fn closed_glob(roots: &[String], folder: &Path, glob: &str) -> FileRule {
    let name = display(roots, folder);
    let glob = match name.as_str() {
        "." => glob.to_owned(),
        name => format!("{}/{glob}", globset::escape(&name.replace(char::REPLACEMENT_CHARACTER, "?"))),
    };
    FileRule { effect: Effect::Ask, pattern: FilePattern::Glob { glob, inside: false } }
}

/// Adds rules below all others: whatever the user says of these files goes before.
fn close(sets: &mut Vec<FileRules>, rules: Vec<FileRule>) {
    if rules.is_empty() {
        return;
    }
    if sets.is_empty() {
        sets.push(FileRules::default());
    }
    for set in sets {
        set.layers.push(rules.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_closed_by_the_names_that_rules_see() {
        use std::os::unix::ffi::OsStrExt;
        let roots = ["/w".to_owned(), "/other".to_owned()];
        let exact = |name: &str| FilePattern::Exact(name.to_owned());
        assert_eq!(closed_path(&roots, Path::new("/w/a/b")).pattern, exact("a/b"));
        assert_eq!(closed_path(&roots, Path::new("/other/a")).pattern, exact("/other/a"));
        let odd = std::path::PathBuf::from(std::ffi::OsStr::from_bytes(b"/w/a[/\xff\xfe.sh"));
        let glob = FilePattern::Glob { glob: "a[[]/*.sh".to_owned(), inside: true };
        assert_eq!(closed_path(&roots, &odd).pattern, glob);
    }
}
