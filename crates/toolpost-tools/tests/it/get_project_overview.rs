//! `get_project_overview`: an introduction, within its tokens; of this very repository too.

use super::{call, data, disk, memory, shown};
use crate::fake_engine::{session, whole};
use serde_json::json;
use std::path::Path;

const PROJECT: &str = "\
//- README.md
# Painter

[![CI](https://ci/badge.svg)](https://ci)

Painter draws [pictures](docs/pictures.md) from plain text.

- fast
- small

## Install

```sh
cargo install painter
```
//- Cargo.toml
[workspace]
members = [\"crates/*\"]
//- CONTRIBUTING.md
# Contributing

```
cargo xtask check
```
//- crates/brush/Cargo.toml
[package]
name = \"brush\"
description = \"Strokes and fills\"
//- crates/brush/src/lib.rs
//! Brushes.
pub struct Brush;
//- crates/canvas/Cargo.toml
[package]
name = \"canvas\"
//- crates/canvas/src/main.rs
//! The surface that is painted on. More.
fn main() {}
//- docs/pictures.md
# Pictures
";

#[test]
fn a_project_is_introduced() {
    let expected = "\
# Painter

## What it is

Painter draws pictures from plain text.

- fast
- small

Languages (2 source files): Rust 100 %. A cargo workspace of 2 packages. Built with cargo.

## Layout

- `crates/`: Rust packages (2 source files)
  - `crates/brush`: Strokes and fills
  - `crates/canvas`: The surface that is painted on
- `docs/`: documentation

It begins in `crates/canvas/src/main.rs`, `crates/brush/src/lib.rs`.

## How to build, test and run

```sh
cargo build --workspace                 # build
cargo test --workspace                  # test
cargo clippy --workspace --all-targets  # lint
cargo fmt --all                         # format
```

From CONTRIBUTING.md, \"Contributing\":

```sh
cargo xtask check
```

From README.md, \"Install\":

```sh
cargo install painter
```

## Read next

- `CONTRIBUTING.md`: how to contribute
- 1 pages in `docs/`
";
    assert_eq!(shown(&call(&memory(PROJECT), "get_project_overview", json!({}))), expected);
}

#[test]
fn the_tokens_are_kept() {
    for most in [200, 400, 1_000, 4_000] {
        let outcome = call(&memory(PROJECT), "get_project_overview", json!({"maxTokens": most}));
        let tokens = data(&outcome)["tokens"].as_u64().unwrap();
        assert!(tokens <= most, "{tokens} of {most}: {}", shown(&outcome));
        assert!(shown(&outcome).contains("Painter draws pictures"), "{}", shown(&outcome));
        assert_eq!(shown(&outcome).matches("```").count() % 2, 0);
    }
}

#[test]
fn with_an_engine_the_important_symbols_are_shown() {
    let text = shown(&call(&session(whole()), "get_project_overview", json!({})));
    assert!(
        text.contains("## Most important symbols\n\n```\nsrc/reader.rs\n  pub struct Reader\n"),
        "{text}"
    );
}

#[test]
fn a_folder_without_anything_is_said_to_be_so() {
    let text = shown(&call(&memory("//- a.txt\nx\n"), "get_project_overview", json!({})));
    assert_eq!(text, "# This project\n\n## What it is\n\nNo source files.\n");
}

/// The introduction of this repository names what its own README does, and keeps to its tokens.
#[test]
fn this_repository_is_introduced_well() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let outcome = call(&disk(root), "get_project_overview", json!({}));
    let text = shown(&outcome);
    println!("{text}");
    assert!(data(&outcome)["tokens"].as_u64().unwrap() <= 4_000);
    for part in [
        "# toolpost",
        "The tool runtime for AI agents",
        "`crates/toolpost-core`",
        "cargo test --workspace",
        "cargo xtask",
        "`ARCHITECTURE.md`",
        "4 spaces",
        "Rust",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}
