//! What a host says about its commands.

use super::background::Background;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

/// How commands are confined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Confinement {
    /// The kernel holds them to what the policy allows; where it cannot, they are refused.
    #[default]
    Strict,
    /// Not at all: they can do what the user can.
    None,
}

/// What commands may read outside of the workspace, beside the system's own files.
#[derive(Debug, Clone, Default)]
pub struct Outside {
    /// Files and folders: toolchains.
    pub readable: Vec<PathBuf>,
    /// Folders of programs. As root, commands read there what everybody may.
    pub programs: Vec<PathBuf>,
    /// Files and folders in those that they may not read.
    pub hidden: Vec<PathBuf>,
}

impl Outside {
    /// What this function finds, when it is first needed.
    pub fn found_by(
        look: impl FnOnce() -> Outside + Send + 'static,
    ) -> Arc<LazyLock<Outside, Box<dyn FnOnce() -> Outside + Send>>> {
        Arc::new(LazyLock::new(Box::new(look)))
    }
}

/// What a host says about its commands. The default confines them and gives them nothing of the host's environment.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How they are confined.
    pub confinement: Confinement,
    /// Their environment, beside what the tool itself sets.
    pub environment: Vec<(String, String)>,
    /// What they may read outside of the workspace. It is looked for before the first command: many processes run none.
    pub outside: Arc<LazyLock<Outside, Box<dyn FnOnce() -> Outside + Send>>>,
    /// Those that run in the background; none can where the host does not live longer than a call.
    pub background: Arc<Background>,
    /// Where dry runs keep what they would change, for as long as they last.
    pub scratch: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            confinement: Confinement::Strict,
            environment: vec![(
                "PATH".into(),
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into(),
            )],
            outside: Outside::found_by(Outside::default),
            background: Background::at_most(0),
            scratch: None,
        }
    }
}
