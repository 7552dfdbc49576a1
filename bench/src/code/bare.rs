//! A bare parse: every file of a known language read and parsed, on all processors, and nothing kept.

use super::tree::Tree;
use anyhow::Result;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolpost_code::files::Files as _;
use toolpost_code::languages;

/// The index takes no larger files either.
const LARGEST: u64 = 4 << 20;

pub(super) fn parse(folder: &Path) -> Result<()> {
    let tree = Tree::open(folder)?;
    let languages = languages::all();
    let files: Vec<(String, u8)> = tree
        .sweep()?
        .into_iter()
        .filter(|(_, stamp)| stamp.size <= LARGEST)
        .filter_map(|(path, _)| languages::of_path(&languages, &path).map(|language| (path, language)))
        .collect();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(16);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut parser = tree_sitter::Parser::new();
                while let Some((path, language)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Ok(bytes) = tree.read(path) else { continue };
                    if parser.set_language(&languages[usize::from(*language)].grammar(path)).is_ok() {
                        std::hint::black_box(parser.parse(&bytes, None));
                    }
                }
            });
        }
    });
    Ok(())
}
