//! What lies below a folder of any workspace: its names in order for tools that list, its files for tools that search,
//! without what the ignore files leave out.

mod rules;
mod scan;
mod walk;

pub use rules::{Rules, Verdict};
pub use scan::scan;
pub use walk::{Found, LeftOut, Walk, WalkOptions, walk};
