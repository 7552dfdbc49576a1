//! What a host says about its commands.

use super::background::Background;
use std::path::PathBuf;
use std::sync::Arc;

/// How commands are confined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Confinement {
    /// The kernel holds them to what the policy allows; where it cannot, they are refused.
    #[default]
    Strict,
    /// Not at all: they can do what the user can.
    None,
}

/// What a host says about its commands. The default confines them and gives them nothing of the host's environment.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How they are confined.
    pub confinement: Confinement,
    /// Their environment, beside what the tool itself sets.
    pub environment: Vec<(String, String)>,
    /// Files and folders outside of the workspace that they may read, beside the system's own: toolchains.
    pub readable: Vec<PathBuf>,
    /// Folders of programs that they may read too. As root they read there what everybody may.
    pub programs: Vec<PathBuf>,
    /// Files and folders in those that they may not read.
    pub hidden: Vec<PathBuf>,
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
            readable: Vec::new(),
            programs: Vec::new(),
            hidden: Vec::new(),
            background: Background::at_most(0),
            scratch: None,
        }
    }
}
