//! Every extractor and the resolver behind it on generated programs and on real files that were changed by chance: no panic,
//! no endless work, facts that hold together. A few in every run, many in a soak.

mod generator;
mod mutation;
mod random;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use toolpost_code::facts::Facts;
use toolpost_code::languages;
use toolpost_code::resolve::{DefId, Memo, Query};
use toolpost_code::world::World;

use crate::hostile;
use random::Random;

/// Real files of this repository, at least one in each language.
const REAL: [&str; 12] = [
    "crates/toolpost-tools/tests/data/cache.go",
    "crates/toolpost-tools/tests/data/queue.ts",
    "crates/toolpost-tools/tests/data/orders.py",
    "crates/toolpost-plugins/tests/data/server.py",
    "crates/toolpost-process/tests/it/kept/forge.py",
    "examples/langchain/example.py",
    "crates/toolpost-code/src/resolve.rs",
    "crates/toolpost-code/src/facts/builder.rs",
    "crates/toolpost-code/src/typescript/extract.rs",
    "crates/toolpost-core/src/workspace/scan.rs",
    "crates/toolpost-text/src/tracked.rs",
    "xtask/src/soak.rs",
];

/// The stack of the threads in which questions are answered.
const SMALL_STACK: usize = 2 << 20;

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// An extractor's panic is caught and costs its file; here it counts.
fn count_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        before(info);
    }));
}

#[expect(clippy::disallowed_methods, reason = "the count of a soak run comes from its environment")]
fn count(normal: usize, soak: usize) -> usize {
    if std::env::var_os("TOOLPOST_SOAK").is_some_and(|value| value == "1") { soak } else { normal }
}

fn real() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository");
    #[expect(clippy::disallowed_methods, reason = "the test reads files of this repository")]
    let read = |name: &&str| ((*name).to_owned(), std::fs::read(root.join(name)).expect("a real file"));
    REAL.iter().map(read).collect()
}

/// Reads some files as one tree and asks about everything in it.
fn check(files: &[(String, Vec<u8>)]) -> Duration {
    let started = Instant::now();
    let before = PANICS.load(Ordering::Relaxed);
    let languages = languages::all();
    let known = |path: &str| languages::of_path(&languages, path).expect("a language");
    let read: Vec<(String, u8, Facts)> = files
        .iter()
        .map(|(path, bytes)| {
            let language = known(path);
            (path.clone(), language, hostile::read(languages[usize::from(language)], path, bytes))
        })
        .collect();
    let world = World::new(languages::all(), read, Vec::new());
    std::thread::scope(|scope| {
        let ask = || {
            let query = Query::new(&world, Memo::default());
            for file in world.files() {
                let facts = world.facts(file);
                let step = (facts.tokens.len() / 200).max(1);
                for token in (0..facts.tokens.len() as u32).step_by(step) {
                    query.refuel();
                    query.resolve(file, token);
                }
                let step = (facts.defs.len() / 10).max(1);
                for index in (0..facts.defs.len() as u32).step_by(step) {
                    let _ = query.references(DefId { file, index });
                }
                let _ = (query.imports(file), query.exports(file));
            }
        };
        let thread = std::thread::Builder::new().stack_size(SMALL_STACK).spawn_scoped(scope, ask);
        thread.expect("a thread").join().expect("an answer to everything");
    });
    let panics = PANICS.load(Ordering::Relaxed) - before;
    let shown = || -> String {
        files
            .iter()
            .map(|(path, bytes)| format!("--- {path}\n{}\n", String::from_utf8_lossy(bytes)))
            .collect()
    };
    assert_eq!(panics, 0, "an extractor panicked on:\n{}", shown());
    started.elapsed()
}

#[test]
fn guarantee_05_generated_programs_are_read() {
    count_panics();
    let rounds = count(25, 5_000);
    let mut slowest = Duration::ZERO;
    for forms in &generator::ALL {
        let mut random = Random(forms.extension.len() as u64 ^ 0x5eed);
        for _ in 0..rounds {
            let file = |number: usize, random: &mut Random| {
                (format!("src/{number}.{}", forms.extension), forms.file(random).into_bytes())
            };
            let files: Vec<_> = (0..3).map(|number| file(number, &mut random)).collect();
            slowest = slowest.max(check(&files));
        }
    }
    println!(
        "measure: guarantee 5: {} generated trees of sources in four languages, 0 panics, the slowest {} ms",
        rounds * 4,
        slowest.as_millis()
    );
}

#[test]
fn guarantee_05_changed_files_are_read() {
    count_panics();
    let real = real();
    let rounds = count(8, 2_000);
    let mut random = Random(0x2026);
    let mut slowest = Duration::ZERO;
    for (path, source) in &real {
        let extension = path.rsplit('.').next().expect("an extension");
        for _ in 0..rounds {
            let (_, other) = &real[random.below(real.len())];
            let mutated = mutation::mutate(&mut random, source, other);
            // One file in ten has the name of another language.
            let extension = match random.below(10) {
                0 => ["go", "rs", "py", "ts", "tsx", "js"][random.below(6)],
                _ => extension,
            };
            slowest = slowest.max(check(&[(format!("src/file.{extension}"), mutated)]));
        }
    }
    println!(
        "measure: guarantee 5: {} changed real files in four languages, 0 panics, the slowest {} ms",
        rounds * real.len(),
        slowest.as_millis()
    );
}

/// The extractors get no panic from what the other tests of hostile files give them either.
#[test]
fn long_and_deep_files_are_read_without_a_panic() {
    count_panics();
    let mut files = Vec::new();
    for (extension, text) in [
        ("rs", "fn a() { x.b(|c| "),
        ("rs", "mod a { "),
        ("rs", "m!("),
        ("rs", "let a: Vec<"),
        ("py", "a = ["),
        ("py", "lambda: "),
        ("py", "a(b="),
        ("go", "package p\nvar a = []b{"),
        ("go", "package p\nfunc f() { if a { "),
        ("go", "package p\ntype a struct { b "),
        ("ts", "a = { b: "),
        ("ts", "type A = B<"),
        ("ts", "a?.b(() => "),
        ("tsx", "<a>{"),
        ("js", "a.b("),
    ] {
        files.push((format!("deep.{extension}"), text.repeat(3_000).into_bytes()));
    }
    // Minified: one line of half a megabyte.
    let line = "var a=function(b,c){return b.d(c,{e:f,g:[h,i]})};a(1,2),k.l=m||n?o:p;";
    files.push(("minified.js".to_owned(), line.repeat(8_000).into_bytes()));
    let names: String = (0..20_000).map(|number| format!("pub const N{number}: u32 = {number};")).collect();
    files.push(("generated.rs".to_owned(), names.into_bytes()));
    for file in files {
        check(&[file]);
    }
}
