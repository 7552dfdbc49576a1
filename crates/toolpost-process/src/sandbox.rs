//! What a confined command may see, change and reach. The platform's module makes it so.

use std::path::PathBuf;

/// The view that a confined command has of the machine.
///
/// Beside what is named here it sees the system's own folders, read-only, an empty home folder and temporary folders
/// of its own that vanish with it. It has no capabilities, can gain no privileges, and sees no process but its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Folders and files that it may change.
    pub writable: Vec<PathBuf>,
    /// Folders and files that it may read beside the system's own.
    pub readable: Vec<PathBuf>,
    /// Folders of programs that it may read too. As root it reads there what everybody may, as in the system's own.
    pub programs: Vec<PathBuf>,
    /// Inside what is writable: existing files and folders that it may read and not change, move or replace.
    pub locked: Vec<PathBuf>,
    /// Inside what is visible: existing files and folders whose content is not there for it.
    pub hidden: Vec<PathBuf>,
    /// Names that the command may not create, inside what is writable and in its home folder. One or more parts with
    /// `*`, at any depth, whatever the case, with everything inside, such as `.git/hooks` or `*.code-workspace`. A part
    /// `**` stands for any number of parts.
    pub reserved: Vec<String>,
    /// The user's rules about writing files. A name must be open in every set. Where no rule of a set matches,
    /// `reserved` decides.
    pub rules: Vec<FileRules>,
    /// Whether it may create any file in its home folder that `reserved` does not name, or only caches of package managers
    /// and build tools.
    pub home: HomeFolder,
    /// Other names of folders inside what is writable: the folder, and a name that a link gives it, both absolute. What is
    /// created in the folder is judged under that name too. A rule that opens its real name goes before, unless another
    /// denies the other name.
    pub aliases: Vec<(PathBuf, PathBuf)>,
    /// Paths inside what is writable, existing or not, none of which may become a symbolic link or be moved, whatever the
    /// rules say: links that were judged lead through them.
    pub fixed: Vec<PathBuf>,
    /// Folders inside what is writable in which names are not the user's.
    pub dependencies: Dependencies,
    /// Whether it reaches the network. Without, it has a loopback that it shares with the other commands of this
    /// process and with nobody else.
    pub network: bool,
    /// A folder outside of everything visible, to which all changes of `writable` folders go instead: a dry run. See
    /// [`Scratch`](crate::Scratch).
    pub scratch: Option<PathBuf>,
}

/// Folders that package managers and build tools fill. Inside of them the command may create other names than elsewhere.
///
/// No name may lead into one unless some part of it is called like one: the command may not create a symbolic link
/// through such a name where the link itself lies outside of these folders and is called otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Every folder of such a name is one, existing or not, below a writable folder. Names above that say nothing.
    pub names: Vec<String>,
    /// Folders that are ones beside those.
    pub folders: Vec<PathBuf>,
    /// What `reserved` is for names inside of them.
    pub reserved: Vec<String>,
    /// Hidden files in them that may be removed, and moved with the folders that they lie in.
    pub removable: Vec<PathBuf>,
    /// Files that make a folder one, each as the name of the folder and its own. None may be created in a folder that
    /// holds something locked or hidden.
    pub markers: Vec<(String, String)>,
    /// Further names of folders that are ones at times. No link leads through such a name, and what moves out of such a
    /// folder is looked through, whether the folder is one now or not: it may have been one, or be one to another command.
    pub called: Vec<String>,
}

impl Sandbox {
    /// Which of these names, which do not exist, a command could not create, as the platform judges them when it tries to. The
    /// paths are absolute, and links in them were followed.
    pub fn closed_names(&self, names: &[(PathBuf, NewName)]) -> Vec<bool> {
        crate::platform::closed_names(self, names)
    }
}

/// What a name that does not exist yet would become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewName {
    /// A file.
    File,
    /// An empty folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A folder that has content, by a move or a copy.
    Filled,
}

/// What a command may create in its home folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HomeFolder {
    /// Everything but start-up files.
    #[default]
    Open,
    /// Caches only: nothing that a program reads when it starts.
    Caches,
}

/// Rules about writing the files of the writable folders, as one policy states them.
///
/// Each layer gives the effect of its first matching rule. If any layer denies, the name is closed. Otherwise the first
/// layer with a match decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileRules {
    /// The strongest layer first.
    pub layers: Vec<Vec<FileRule>>,
}

/// One rule about writing files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRule {
    /// What it decides.
    pub effect: FileEffect,
    /// The files it is about.
    pub pattern: FilePattern,
}

/// What a rule decides about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileEffect {
    /// The command may create it.
    Open,
    /// A person would be asked. Nobody can be asked while a command runs, so the name is closed.
    Ask,
    /// The command may not create it, whatever another layer says.
    Deny,
}

/// The files that a rule is about: paths from the first writable folder; absolute ones in the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilePattern {
    /// Every file.
    Everything,
    /// A name in any folder, and everything inside.
    Name(String),
    /// One path, and everything inside.
    Exact(String),
    /// Everything inside this folder, not the folder itself.
    Inside(String),
    /// A glob in the syntax of `globset`, in which `*` stops at `/`; with `inside`, everything below a match counts too.
    Glob {
        /// The glob.
        glob: String,
        /// Whether everything below a match counts too.
        inside: bool,
    },
}

/// A layer of the sandbox, as this machine has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// What it is called.
    pub name: &'static str,
    /// What it does for a command.
    pub does: &'static str,
    /// What cannot be had without it.
    pub need: Need,
    /// What there is, or why it is not there and what can be done.
    pub state: Result<String, String>,
}

/// What a layer is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Any command.
    Commands,
    /// Commands in the sandbox.
    Sandbox,
    /// Dry runs of commands.
    DryRun,
}

/// The layers of the sandbox on this machine, each tried out by a process of its own: this one is not changed.
pub fn layers() -> Vec<Layer> {
    crate::platform::layers()
}
