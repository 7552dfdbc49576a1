//! Which layers of the sandbox this machine has, each tried out.

use super::sys;
use crate::sandbox::Layer;

/// The layers, as far as they can be told without a command.
pub(crate) fn layers() -> Vec<Layer> {
    let landlock = match sys::landlock_version() {
        Ok(version) => Ok(format!("version {version}")),
        Err(error) => Err(format!("{error}; the kernel needs 5.13 or later with Landlock switched on")),
    };
    vec![Layer { name: "landlock", does: "a second wall around what may be changed", state: landlock }]
}
