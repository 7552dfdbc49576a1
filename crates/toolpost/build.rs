//! Asks the linker for a smaller table of relocations, where the system can read one.
//!
//! The command has about 60,000 addresses that are filled in at every start. In the packed form (`DT_RELR`) their table takes
//! 16 KB instead of 1.5 MB, and `toolpost mcp` gives its first answer 0.15 ms earlier.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script asks its own environment and the system's C library"
)]

use std::env;
use std::process::Command;

/// The first version of the GNU C library that reads the packed form. An older one refuses to start such a program.
const READS_PACKED: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_gnu_linux = ["CARGO_CFG_TARGET_OS", "CARGO_CFG_TARGET_ENV"]
        .map(|name| env::var(name).unwrap_or_default())
        == ["linux", "gnu"];
    // What another machine can read is not known here.
    let is_for_this_machine = env::var("HOST").is_ok_and(|host| Ok(host) == env::var("TARGET"));
    if is_gnu_linux && is_for_this_machine && library_version().is_some_and(|version| version >= READS_PACKED)
    {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of the C library of this machine, as in `glibc 2.36`.
fn library_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
