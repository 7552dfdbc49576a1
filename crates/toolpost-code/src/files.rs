//! What the engine needs of the world outside: files to read, and a place to keep what it found out.

use std::io;

use crate::world::Stamp;

/// The files of one tree. Implemented by whoever knows the disk and what may be seen of it; called by the engine, from
/// several threads at once.
pub trait Files: Send + Sync {
    /// Every file that may be seen, by its path below the root with `/` between its parts, and its stamp. A link that
    /// leads around in a circle must be left out.
    ///
    /// # Errors
    ///
    /// The tree cannot be listed at all; single files that cannot be seen are left out.
    fn sweep(&self) -> io::Result<Vec<(String, Stamp)>>;

    /// The stamp of one file; nothing if it is gone or may not be seen.
    fn stamp(&self, path: &str) -> Option<Stamp>;

    /// The content of a file.
    ///
    /// # Errors
    ///
    /// The file is gone, may not be read, or is no file.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;
}

/// Bytes kept under names between runs. Everything in it may be lost or changed at any time: what is read back carries
/// its version and a checksum, and is ignored if they are not right.
pub trait Cache: Send + Sync {
    /// What is kept under a name.
    fn get(&self, key: &str) -> Option<Vec<u8>>;

    /// Keeps bytes under a name. Failing to is no error.
    fn put(&self, key: &str, bytes: &[u8]);

    /// Keeps bytes of which there are many, never others under the same name. They may wait for others until
    /// [`Cache::flush`], and can be got from then on, by this process at once.
    fn gather(&self, key: &str, bytes: &[u8]) {
        self.put(key, bytes);
    }

    /// Writes down what was gathered.
    fn flush(&self) {}
}

/// A cache that keeps nothing.
pub struct NoCache;

impl Cache for NoCache {
    fn get(&self, _key: &str) -> Option<Vec<u8>> {
        None
    }

    fn put(&self, _key: &str, _bytes: &[u8]) {}
}
