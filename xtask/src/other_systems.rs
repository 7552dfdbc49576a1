//! The part for macOS and Windows, type-checked and linted from here. Nothing is linked or run: that takes the systems.

use std::path::Path;

use anyhow::{Result, bail};

use crate::process;

const TARGETS: [&str; 2] = ["x86_64-apple-darwin", "x86_64-pc-windows-msvc"];

/// Checks `toolpost-process` and `toolpost-core` for each; the standard library is checked from source, as it is installed for neither.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut rustc = std::process::Command::new("rustc");
    let sysroot = process::capture(rustc.args(["--print", "sysroot"]).current_dir(root))?;
    let source = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/std/src/lib.rs");
    if !source.exists() {
        bail!(
            "the source of the standard library is missing (`{}`); run `rustup component add rust-src`, or install the \
             package `rust-src` of the system if Rust came from there",
            source.display()
        );
    }
    for target in TARGETS {
        println!("{target}");
        let arguments = [
            "clippy",
            "-Zbuild-std=std,panic_abort",
            "--package=toolpost-process",
            "--package=toolpost-core",
            "--target-dir=target/other-systems",
            "--locked",
            "--target",
            target,
            "--",
            "-D",
            "warnings",
        ];
        // The stable compiler takes the one unstable flag with this.
        process::run(process::cargo(root, &arguments).env("RUSTC_BOOTSTRAP", "1"))?;
    }
    Ok(())
}
