//! The virtual files of a session as a workspace, so that the file tools act on them.
//!
//! What happens is in [`tree`], in plain blocking functions; here they meet core's trait. Commands do not see these files.

mod tree;

use std::sync::Arc;
use std::time::Duration;
use toolpost_core::store::{By, Store};
use toolpost_core::workspace::implement::place::{Place, RootName};
use toolpost_core::workspace::implement::turns::Turns;
use toolpost_core::workspace::{Entries, File, Lock, LockRequest, Stat, Written};
use toolpost_core::{ToolError, Workspace, WorkspacePath};
use tree::{Author, Tree};

/// The longest pause between two tries for a lock; the first is always given.
const PAUSE: Duration = Duration::from_millis(1);
/// Where the root of such a workspace is said to be.
const ROOT: &str = "/vfs";

/// The virtual files of one session.
///
/// A folder is there while a file is in it. One that was made empty, or whose last file was removed, stays until the
/// process ends. A change that is made under a lock is refused if somebody else, in whatever process, has changed the file
/// since the lock was taken: no edit is lost.
#[derive(Clone)]
pub struct StoredWorkspace {
    roots: [RootName; 1],
    tree: Arc<Tree>,
    turns: Arc<Turns>,
    /// Who makes changes.
    author: Author,
}

impl StoredWorkspace {
    /// The files of this session.
    pub fn new(store: Arc<dyn Store>, session: &str) -> StoredWorkspace {
        let root = RootName { path: ROOT.to_owned(), given: ROOT.to_owned() };
        StoredWorkspace {
            roots: [root],
            tree: Arc::new(Tree::new(store, session)),
            turns: Arc::default(),
            author: Author::default(),
        }
    }
}

impl Workspace for StoredWorkspace {
    fn root(&self) -> &str {
        ROOT
    }

    fn for_call(&self, by: &dyn Fn() -> By) -> Option<Arc<dyn Workspace>> {
        Some(Arc::new(StoredWorkspace { author: Author::of(&by()), ..self.clone() }))
    }

    fn name(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        Ok(Place::parse(path, &self.roots)?.below())
    }

    fn stat(&self, path: &WorkspacePath) -> Result<Stat, ToolError> {
        self.tree.stat(&self.name(path)?)
    }

    fn open(&self, path: &WorkspacePath) -> Result<File, ToolError> {
        self.tree.open(&self.name(path)?)
    }

    fn entries(&self, path: &WorkspacePath) -> Result<Entries, ToolError> {
        self.tree.entries(&self.name(path)?)
    }

    fn write(&self, path: &WorkspacePath, content: &[u8]) -> Result<Written, ToolError> {
        self.tree.write(&self.author, &self.name(path)?, content.to_vec())
    }

    fn remove(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.tree.remove(&self.author, &self.name(path)?)
    }

    fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), ToolError> {
        self.tree.rename(&self.author, &self.name(from)?, &self.name(to)?)
    }

    fn create_folder(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.tree.create_folder(&self.name(path)?)
    }

    fn lock(&self, path: &WorkspacePath) -> Result<LockRequest, ToolError> {
        let (name, tree) = (self.name(path)?, Arc::clone(&self.tree));
        let turn = self.turns.request(&name);
        // The version is noted once the turn is given: what was changed before is no reason to refuse.
        Ok(turn.then(PAUSE, move || Tree::hold(&tree, &name).map(|held| Some(Lock::new(held)))))
    }
}
