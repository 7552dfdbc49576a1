//! The virtual files of a session as a workspace, so that the file tools act on them.
//!
//! What happens is in [`tree`], in plain blocking functions; here they meet core's trait. Commands do not see these files.

mod tree;

use std::sync::Arc;
use toolpost_core::host::{BoxFuture, blocking, may_block};
use toolpost_core::store::Store;
use toolpost_core::workspace::implement::place::{Place, RootName};
use toolpost_core::workspace::implement::turns::Turns;
use toolpost_core::workspace::{Entries, File, Lock, Stat, Written};
use toolpost_core::{ToolError, Workspace, WorkspacePath};
use tree::Tree;

/// Where the root of such a workspace is said to be.
const ROOT: &str = "/vfs";

/// The virtual files of one session.
///
/// A folder is there while a file is in it. One that was made empty, or whose last file was removed, stays until the
/// process ends. A change that is made under a lock is refused if somebody else, in whatever process, has changed the file
/// since the lock was taken: no edit is lost.
pub struct StoredWorkspace {
    roots: [RootName; 1],
    tree: Arc<Tree>,
    turns: Turns,
}

impl StoredWorkspace {
    /// The files of this session.
    pub fn new(store: Arc<dyn Store>, session: &str) -> StoredWorkspace {
        let root = RootName { path: ROOT.to_owned(), given: ROOT.to_owned() };
        StoredWorkspace { roots: [root], tree: Arc::new(Tree::new(store, session)), turns: Turns::default() }
    }

    /// Does something with the tree and the name that a path leads to, where blocking is allowed.
    async fn run<T: Send + 'static>(
        &self,
        path: &WorkspacePath,
        work: impl FnOnce(&Tree, &str) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let (name, tree) = (self.name(path)?, Arc::clone(&self.tree));
        if may_block() {
            return work(&tree, &name);
        }
        match blocking(move |_| work(&tree, &name)).await {
            Ok(result) => result,
            Err(crash) => Err(ToolError::execution(format!("the file operation was given up: {crash}"))),
        }
    }
}

impl Workspace for StoredWorkspace {
    fn root(&self) -> &str {
        ROOT
    }

    fn name(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        Ok(Place::parse(path, &self.roots)?.below())
    }

    fn stat<'a>(&'a self, path: &'a WorkspacePath) -> BoxFuture<'a, Result<Stat, ToolError>> {
        Box::pin(self.run(path, Tree::stat))
    }

    fn open<'a>(&'a self, path: &'a WorkspacePath) -> BoxFuture<'a, Result<File, ToolError>> {
        Box::pin(self.run(path, Tree::open))
    }

    fn entries<'a>(&'a self, path: &'a WorkspacePath) -> BoxFuture<'a, Result<Entries, ToolError>> {
        Box::pin(self.run(path, Tree::entries))
    }

    fn write<'a>(
        &'a self,
        path: &'a WorkspacePath,
        content: &'a [u8],
    ) -> BoxFuture<'a, Result<Written, ToolError>> {
        let content = content.to_vec();
        Box::pin(self.run(path, move |tree, name| tree.write(name, content)))
    }

    fn remove<'a>(&'a self, path: &'a WorkspacePath) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(self.run(path, Tree::remove))
    }

    fn rename<'a>(
        &'a self,
        from: &'a WorkspacePath,
        to: &'a WorkspacePath,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let to = self.name(to)?;
            self.run(from, move |tree, from| tree.rename(from, &to)).await
        })
    }

    fn create_folder<'a>(&'a self, path: &'a WorkspacePath) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(self.run(path, Tree::create_folder))
    }

    fn lock<'a>(&'a self, path: &'a WorkspacePath) -> BoxFuture<'a, Result<Lock, ToolError>> {
        Box::pin(async move {
            let turn = self.turns.take(&self.name(path)?).await;
            let tree = Arc::clone(&self.tree);
            let held = self.run(path, move |_, name| Tree::hold(&tree, name)).await?;
            // Fields are dropped in order: what is held is forgotten before the next one has its turn.
            Ok(Lock::new((held, turn)))
        })
    }
}
