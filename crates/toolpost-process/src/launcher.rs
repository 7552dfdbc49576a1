//! How this program becomes its own launcher, or names another. Where there is no launcher, none of it does anything.

use std::path::PathBuf;

/// To be called as the first thing in `main`: runs the launcher, and does not return, if this process was started as
/// one. Otherwise it notes that the program can be started again, and returns.
pub fn run_if_asked() {
    #[cfg(target_os = "linux")]
    {
        let name = std::env::args_os().next();
        if name.is_some_and(|name| name == NAME) {
            crate::platform::run_launcher();
        }
        CAN_BE_STARTED_AGAIN.store(true, Ordering::Relaxed);
    }
}

/// Names a program whose `main` calls [`run_if_asked`], for programs that cannot call it themselves.
///
/// The first one named counts.
pub fn set_helper(program: impl Into<PathBuf>) {
    #[cfg(target_os = "linux")]
    let _ = HELPER.set(program.into());
    #[cfg(not(target_os = "linux"))]
    drop(program.into());
}

#[cfg(target_os = "linux")]
pub(crate) use here::*;

#[cfg(target_os = "linux")]
use std::sync::atomic::Ordering;

#[cfg(target_os = "linux")]
mod here {
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// The name under which a program is started again to be the launcher.
    pub(crate) const NAME: &str = "toolpost-launcher";

    /// What is said where there is no launcher.
    pub(crate) const MISSING: &str = "this program cannot be started again as a launcher; call \
         `toolpost_process::launcher::run_if_asked()` as the first line of `main`, or name a program that does with \
         `toolpost_process::launcher::set_helper(path)`";

    pub(super) static CAN_BE_STARTED_AGAIN: AtomicBool = AtomicBool::new(false);
    pub(super) static HELPER: OnceLock<PathBuf> = OnceLock::new();

    /// The program to start as a launcher.
    pub(crate) fn program() -> Option<PathBuf> {
        if let Some(helper) = HELPER.get() {
            return Some(helper.clone());
        }
        CAN_BE_STARTED_AGAIN.load(Ordering::Relaxed).then(crate::platform::this_program)
    }
}
