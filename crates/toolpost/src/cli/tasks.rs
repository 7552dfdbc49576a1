//! `toolpost tasks`: its commands.

use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

/// What to do with the shared tasks.
#[derive(Debug, Subcommand)]
pub enum Tasks {
    /// Show the tasks as a tree, as `toolpost tasks` alone does.
    List,
    /// Add a task.
    Add {
        /// A few words.
        title: String,
        /// All that its worker needs to know.
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        description: String,
        /// A task that must be completed first.
        #[arg(long, value_name = "ID")]
        depends_on: Vec<String>,
    },
    /// Show one task in full.
    Show {
        /// Its id, such as t1.
        id: String,
    },
    /// Show the tasks and every change as it comes, until interrupted.
    Watch,
    /// Take a task from the session or agent that has claimed it, so that it can be claimed again.
    Release {
        /// Its id, such as t1.
        id: String,
    },
    /// Accept the result that was submitted for a task.
    Complete {
        /// Its id, such as t1.
        id: String,
    },
    /// Refuse the result that was submitted for a task, so that it can be claimed again.
    Reject {
        /// Its id, such as t1.
        id: String,
        /// What is missing, for whoever claims it next.
        reason: String,
    },
    /// Create the tasks of a file: JSON as `export` prints it, or a check list in Markdown.
    ///
    /// All are created, or none. In a check list a task depends on those that are indented below it.
    Import {
        /// The file; `-` for standard input.
        file: PathBuf,
        /// json or markdown; otherwise the content tells.
        #[arg(long, value_name = "FORMAT")]
        format: Option<TaskFormat>,
    },
    /// Print all tasks so that `import` can create them elsewhere.
    Export {
        /// json, with everything; or markdown, a check list of titles, descriptions and dependencies.
        #[arg(long, value_name = "FORMAT", default_value = "json")]
        format: TaskFormat,
    },
}

/// How tasks are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TaskFormat {
    /// An object with the list `tasks`.
    Json,
    /// A check list.
    Markdown,
}
