//! How long the index of a tree takes, beside a bare parse of the same files: `speed DIR [CACHE]`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a developer's measurement reads a tree and prints figures"
)]

use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use toolpost_code::engine::Engine;
use toolpost_code::facts::Kind;
use toolpost_code::files::{Cache, Files};
use toolpost_code::languages;
use toolpost_code::resolve::DefId;
use toolpost_code::world::Stamp;

struct Tree {
    root: PathBuf,
}

impl Tree {
    fn list(&self, folder: &Path, all: &mut Vec<(String, Stamp)>) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                if entry.file_name() != ".git" && entry.file_name() != "node_modules" {
                    self.list(&entry.path(), all)?;
                }
            } else if kind.is_file()
                && let Ok(path) = entry.path().strip_prefix(&self.root)
                && let Some(path) = path.to_str()
            {
                let data = entry.metadata()?;
                let mark = data.mtime_nsec() as u64 ^ (data.mtime() as u64) << 30 ^ data.ino() << 5;
                all.push((path.to_owned(), Stamp { size: data.size(), mark }));
            }
        }
        Ok(())
    }
}

impl Files for Tree {
    fn sweep(&self) -> io::Result<Vec<(String, Stamp)>> {
        let mut all = Vec::new();
        self.list(&self.root, &mut all)?;
        Ok(all)
    }

    fn stamp(&self, path: &str) -> Option<Stamp> {
        let data = std::fs::metadata(self.root.join(path)).ok()?;
        let mark = data.mtime_nsec() as u64 ^ (data.mtime() as u64) << 30 ^ data.ino() << 5;
        Some(Stamp { size: data.size(), mark })
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        std::fs::read(self.root.join(path))
    }
}

/// Facts in one large file, as a real cache would pack them; here in memory.
#[derive(Default)]
struct Memory {
    kept: Mutex<HashMap<String, Vec<u8>>>,
    bytes: AtomicUsize,
}

impl Cache for Memory {
    fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.kept.lock().ok()?.get(key).cloned()
    }

    fn put(&self, key: &str, bytes: &[u8]) {
        if let Ok(mut kept) = self.kept.lock() {
            self.bytes.fetch_add(bytes.len(), Ordering::Relaxed);
            kept.insert(key.to_owned(), bytes.to_vec());
        }
    }
}

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|word| word.parse::<usize>().ok()).unwrap_or(0) / 1024
}

/// Processor time of this process so far, in seconds: other programs do not disturb it.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let words: Vec<f64> =
        after.split_whitespace().skip(11).take(2).filter_map(|word| word.parse().ok()).collect();
    words.iter().sum::<f64>() / 100.0
}

fn main() -> Result<(), Box<dyn Error>> {
    let root = std::env::args().nth(1).ok_or("speed DIR")?;
    let files: Arc<dyn Files> = Arc::new(Tree { root: PathBuf::from(root) });
    let languages = languages::all();
    let start = Instant::now();
    let swept = files.sweep()?;
    println!("sweep {} files: {:.0} ms", swept.len(), start.elapsed().as_secs_f64() * 1e3);
    let wanted: Vec<(String, u8)> = swept
        .iter()
        .filter(|(_, stamp)| stamp.size <= 4 << 20)
        .filter_map(|(path, _)| Some((path.clone(), languages::of_path(&languages, path)?)))
        .collect();
    let total = AtomicUsize::new(0);
    let next = AtomicUsize::new(0);
    let used = processor();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut parser = tree_sitter::Parser::new();
                while let Some((path, language)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Ok(bytes) = files.read(path) else { continue };
                    total.fetch_add(bytes.len(), Ordering::Relaxed);
                    let grammar = languages[usize::from(*language)].grammar(path);
                    if parser.set_language(&grammar).is_ok() {
                        parser.parse(&bytes, None);
                    }
                }
            });
        }
    });
    let bare = start.elapsed().as_secs_f64();
    let bare_used = processor() - used;
    let megabytes = total.into_inner() as f64 / 1e6;
    println!(
        "bare parse of {} files, {megabytes:.1} MB: {bare:.2} s; {} MB resident",
        wanted.len(),
        resident()
    );
    let cache = Arc::new(Memory::default());
    let start = Instant::now();
    let shared: Arc<dyn Cache> = Arc::<Memory>::clone(&cache);
    let engine = Engine::open(Arc::clone(&files), Arc::clone(&shared), "tree");
    let refreshed = engine.refresh(&|_| {})?;
    let cold = start.elapsed().as_secs_f64();
    let cold_used = processor() - used;
    println!(
        "cold index: {cold:.2} s, {cold_used:.2} s of processors, {:.2} of the bare parse; {refreshed:?}",
        cold_used / bare_used
    );
    let kept = cache.bytes.load(Ordering::Relaxed) / 1_000_000;
    println!("cache {kept} MB; {} MB resident with it", resident());
    drop(engine);
    let start = Instant::now();
    let engine = Engine::open(Arc::clone(&files), shared, "tree");
    let opened = start.elapsed().as_secs_f64() * 1e3;
    let refreshed = engine.refresh(&|_| {})?;
    println!(
        "warm start: {opened:.0} ms to open, {:.0} ms in all; {refreshed:?}; {} MB resident less cache {kept}",
        start.elapsed().as_secs_f64() * 1e3,
        resident()
    );
    measure_questions(&engine);
    println!("{} MB resident less cache {kept}", resident());
    let (edited, _) = &wanted[wanted.len() / 2];
    let start = Instant::now();
    engine.refresh_paths(std::slice::from_ref(edited));
    let fresh = engine.ask(|query| {
        let file = query.world.file(edited)?;
        query
            .facts(file)
            .tokens
            .len()
            .checked_sub(1)
            .map(|token| query.resolve(file, token as u32).confidence)
    });
    println!("one file read again: {:.1} ms, {fresh:?}", start.elapsed().as_secs_f64() * 1e3);
    Ok(())
}

fn measure_questions(engine: &Engine) {
    let mut resolves = Vec::new();
    let mut references = Vec::new();
    let mut random = 12_345u64;
    let mut pick = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below.max(1)
    };
    let count = engine.ask(|query| query.world.files().count());
    for _ in 0..400 {
        let number = pick(count);
        let (token, other) = (pick(usize::MAX >> 34), pick(usize::MAX >> 34));
        engine.ask(|query| {
            let Some(file) = query.world.files().nth(number) else { return };
            let facts = query.facts(file);
            if facts.tokens.is_empty() {
                return;
            }
            let start = Instant::now();
            query.refuel();
            std::hint::black_box(query.resolve(file, (token % facts.tokens.len()) as u32));
            resolves.push(start.elapsed().as_secs_f64() * 1e3);
        });
        engine.ask(|query| {
            let Some(file) = query.world.files().nth(number) else { return };
            let facts = query.facts(file);
            let is_named = |index: &u32| {
                let def = &facts.defs[*index as usize];
                !matches!(def.kind, Kind::Import | Kind::Impl | Kind::Anonymous)
                    && !facts.text(def.name).is_empty()
            };
            let named: Vec<u32> = (0..facts.defs.len() as u32).filter(is_named).collect();
            if named.is_empty() {
                return;
            }
            let start = Instant::now();
            std::hint::black_box(query.references(DefId { file, index: named[other % named.len()] }));
            references.push(start.elapsed().as_secs_f64() * 1e3);
        });
    }
    for (name, mut times) in [("resolve", resolves), ("references", references)] {
        times.sort_by(f64::total_cmp);
        let at = |part: f64| times.get((times.len() as f64 * part) as usize).copied().unwrap_or(0.0);
        println!("{name}: median {:.3} ms, 90 % {:.3} ms, 99 % {:.3} ms", at(0.5), at(0.9), at(0.99));
    }
}
