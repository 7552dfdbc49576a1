//! `toolpost vfs`: its commands.

use clap::Subcommand;
use std::path::PathBuf;

/// What to do with virtual files.
#[derive(Debug, Subcommand)]
pub enum Vfs {
    /// Which files there are: their versions and sizes.
    List {
        /// Only those whose paths begin so.
        prefix: Option<String>,
    },
    /// The content of a file.
    Show {
        /// Its path.
        path: String,
        /// An older version; otherwise the newest.
        #[arg(long, value_name = "N")]
        version: Option<u64>,
    },
    /// Every version of a file: when and by whom it was made.
    History {
        /// Its path.
        path: String,
    },
    /// Write all files below a folder; never through links.
    Export {
        /// The folder; it is made if it is not there.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Overwrite files that have another content.
        #[arg(long)]
        force: bool,
        /// Write protected files too, such as git hooks: other programs run them.
        #[arg(long)]
        protected: bool,
    },
    /// Make virtual files of a file, or of all files below a folder, without links and .git.
    Import {
        /// The file or folder.
        #[arg(value_name = "DIR|FILE")]
        from: PathBuf,
        /// The path of the virtual file; or of the folder that files come into, which ends with `/` for a single file.
        #[arg(long = "as", value_name = "PATH")]
        path: Option<String>,
    },
}
