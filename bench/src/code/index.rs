//! The index made from nothing, and one that is kept: opened, compared with its files, asked, and asked after an edit.

use super::Stayed;
use super::tree::{Kept, Tree};
use anyhow::{Context as _, Result, ensure};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use toolpost_code::engine::Engine;
use toolpost_code::facts::{Kind, Name};
use toolpost_code::resolve::DefId;
use toolpost_code::world::FileId;

const QUESTIONS: usize = 400;
const EDITS: usize = 11;
/// How many of the slowest questions are named.
const SLOWEST: usize = 5;

fn open(folder: &Path, cache: &Path) -> Result<Engine> {
    Ok(Engine::open(Arc::new(Tree::open(folder)?), Arc::new(Kept(cache.to_owned())), "tree"))
}

pub(super) fn cold(folder: &Path, cache: &Path) -> Result<()> {
    let refreshed = open(folder, cache)?.refresh(&|_| {})?;
    ensure!(refreshed.parsed > 0, "{} has no file of a known language", folder.display());
    Ok(())
}

pub(super) fn stay(folder: &Path, cache: &Path) -> Result<Stayed> {
    let started = Instant::now();
    let engine = open(folder, cache)?;
    let refreshed = engine.refresh(&|_| {})?;
    let mut stayed = Stayed { files: refreshed.files, warm: nanoseconds(started), ..Stayed::default() };
    ensure!(refreshed.read == 0, "{} files changed since the index was made", refreshed.read);
    ask(&engine, &mut stayed);
    stayed.slowest.sort_unstable_by_key(|(time, _)| std::cmp::Reverse(*time));
    stayed.slowest.truncate(SLOWEST);
    for _ in 0..EDITS {
        let started = Instant::now();
        engine.refresh(&|_| {})?;
        stayed.unchanged.push(nanoseconds(started));
    }
    stayed.edits = edit(&engine, folder, Way::InPlace)?;
    stayed.replaced = edit(&engine, folder, Way::Replaced)?;
    stayed.added = edit(&engine, folder, Way::Added)?;
    Ok(stayed)
}

/// Ways in which programs write a file.
#[derive(Clone, Copy)]
enum Way {
    InPlace,
    Replaced,
    Added,
}

/// Writes a function and a call of it, and asks for its uses, again and again; the tree is as it was in the end.
fn edit(engine: &Engine, folder: &Path, way: Way) -> Result<Vec<u64>> {
    let path = engine.ask(|query| {
        let is_rust = |file: &FileId| query.world.path(*file).ends_with("/lib.rs");
        query.world.files().find(is_rust).map(|file| query.world.path(file).to_owned())
    });
    let path = path.context("the tree has no lib.rs to be edited")?;
    let place = folder.join(&path);
    let before = std::fs::read(&place)?;
    let mut times = Vec::new();
    for number in 0..EDITS {
        let name = format!("edited_{number}_by_the_benchmark");
        let code = format!("\npub fn {name}() {{}}\nfn calls_{name}() {{ {name}() }}\n");
        let text = [before.as_slice(), code.as_bytes()].concat();
        let (written, place) = match way {
            Way::InPlace | Way::Replaced => (path.clone(), place.clone()),
            Way::Added => {
                let beside = path.replace("lib.rs", &format!("{name}.rs"));
                (beside.clone(), folder.join(beside))
            }
        };
        match way {
            Way::InPlace => std::fs::write(&place, text)?,
            Way::Replaced => {
                let beside = place.with_extension("new");
                std::fs::write(&beside, text)?;
                std::fs::rename(beside, &place)?;
            }
            Way::Added => std::fs::write(&place, code)?,
        }
        let started = Instant::now();
        engine.refresh(&|_| {})?;
        let found = engine.ask(|query| {
            let file = query.world.file(&written)?;
            let facts = query.facts(file);
            let local = facts.index_of(Name::of(&name))?;
            let index = facts.defs.iter().position(|def| def.name == local)?;
            Some(query.references(DefId { file, index: u32::try_from(index).ok()? }).found.len())
        });
        times.push(nanoseconds(started));
        match way {
            Way::Added => std::fs::remove_file(&place)?,
            Way::InPlace | Way::Replaced => std::fs::write(&place, &before)?,
        }
        ensure!(found == Some(2), "the answer after an edit of {written} is not fresh: {found:?} uses");
        engine.refresh(&|_| {})?;
    }
    Ok(times)
}

/// Asks for the meaning of identifiers and for the uses of definitions that are picked at random, always the same.
fn ask(engine: &Engine, stayed: &mut Stayed) {
    let mut random = 12_345u64;
    let mut pick = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below.max(1)
    };
    let files: Vec<FileId> = engine.ask(|query| query.world.files().collect());
    for _ in 0..QUESTIONS {
        let file = files[pick(files.len())];
        let (token, other) = (pick(1 << 30), pick(1 << 30));
        engine.ask(|query| {
            let count = query.facts(file).tokens.len();
            if count > 0 {
                let started = Instant::now();
                query.refuel();
                std::hint::black_box(query.resolve(file, (token % count) as u32));
                stayed.resolves.push(nanoseconds(started));
            }
        });
        engine.ask(|query| {
            let facts = query.facts(file);
            let is_named = |index: &u32| {
                let def = &facts.defs[*index as usize];
                !matches!(def.kind, Kind::Import | Kind::Impl | Kind::Anonymous)
                    && !facts.text(def.name).is_empty()
            };
            let named: Vec<u32> = (0..facts.defs.len() as u32).filter(is_named).collect();
            if !named.is_empty() {
                let started = Instant::now();
                let index = named[other % named.len()];
                let found = query.references(DefId { file, index });
                let time = nanoseconds(started);
                stayed.references.push(time);
                let name = facts.text(facts.defs[index as usize].name);
                let place = query.world.path(file);
                let uses = found.found.len();
                stayed.slowest.push((time, format!("{name} of {place}, {uses} uses")));
            }
        });
    }
}

fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
