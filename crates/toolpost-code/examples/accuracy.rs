//! How the answers compare with those of real language servers: `cargo xtask accuracy` runs this.
//!
//! `accuracy --repos DIR --oracle DIR [--lang NAME] [--set large|small] [--show SYMBOL] [--misses N]`: the clone of
//! each language's repository is `DIR/NAME`; the oracle has `NAME.large.json` and `NAME.large.resolve.json`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a developer's measurement reads clones and oracle files and prints a table"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;
use toolpost_code::facts::Role;
use toolpost_code::languages;
use toolpost_code::resolve::{DefId, Entity, Memo, Query, Reference};
use toolpost_code::world::{FileId, World};

type Line = (String, u64);

struct Options {
    repos: String,
    oracle: String,
    set: String,
    language: Option<String>,
    show: Option<String>,
    misses: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options {
        repos: String::new(),
        oracle: String::new(),
        set: ".large".to_owned(),
        language: None,
        show: None,
        misses: 0,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
        match word.as_str() {
            "--repos" => options.repos = value,
            "--oracle" => options.oracle = value,
            "--set" => options.set = if value == "small" { String::new() } else { format!(".{value}") },
            "--lang" => options.language = Some(value),
            "--show" => options.show = Some(value),
            "--misses" => options.misses = value.parse()?,
            _ => return Err(format!("unknown option `{word}`").into()),
        }
    }
    println!(
        "{:<11} {:>13} {:>13} {:>13} {:>6} {:>7} {:>8} {:>27} {:>9} {:>9} {:>8} {:>8}",
        "language",
        "unique P/R",
        "ambiguous P/R",
        "all P/R",
        "def@1",
        "random",
        "external",
        "missing with complete: true",
        "unlisted",
        "possible",
        "index",
        "refs"
    );
    for language in ["go", "python", "rust", "typescript"] {
        if options.language.as_deref().is_none_or(|only| only == language) {
            measure(language, &options)?;
        }
    }
    Ok(())
}

fn load(root: &Path) -> Result<(World, f64), Box<dyn Error>> {
    let languages = languages::all();
    let mut paths = Vec::new();
    list(root, root, &mut paths)?;
    paths.sort();
    let mut manifests = Vec::new();
    let mut files = Vec::new();
    let mut seconds = 0.0;
    for path in paths {
        let name = path.rsplit('/').next().unwrap_or(&path);
        let is_manifest = languages.iter().any(|language| language.manifests().contains(&name));
        if is_manifest {
            manifests.push((path.clone(), std::fs::read(root.join(&path))?));
        }
        if let Some(language) = languages::of_path(&languages, &path) {
            let source = std::fs::read(root.join(&path))?;
            let start = Instant::now();
            let facts = languages::extract(languages[usize::from(language)], &path, &source);
            seconds += start.elapsed().as_secs_f64();
            files.push((path, language, facts));
        }
    }
    Ok((World::new(languages, files, manifests), seconds))
}

fn list(root: &Path, folder: &Path, paths: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if name != ".git" && name != "node_modules" && name != "target" {
                list(root, &entry.path(), paths)?;
            }
        } else if kind.is_file()
            && let Some(path) = entry.path().strip_prefix(root)?.to_str()
        {
            paths.push(path.replace('\\', "/"));
        }
    }
    Ok(())
}

#[derive(Default)]
struct Count {
    right: usize,
    wrong: usize,
    missed: usize,
}

impl Count {
    fn show(&self) -> String {
        let precision = self.right as f64 / (self.right + self.wrong).max(1) as f64;
        let recall = self.right as f64 / (self.right + self.missed).max(1) as f64;
        format!("{precision:.3}/{recall:.3}")
    }
}

fn measure(language: &str, options: &Options) -> Result<(), Box<dyn Error>> {
    let root = Path::new(&options.repos).join(language);
    let stem = Path::new(&options.oracle).join(format!("{language}{}", options.set));
    let stem = stem.display();
    let read = |path: String| -> Result<Value, Box<dyn Error>> {
        Ok(serde_json::from_slice(&std::fs::read(&path).map_err(|error| format!("{path}: {error}"))?)?)
    };
    let oracle = read(format!("{stem}.json"))?;
    let excluded = read(format!("{stem}.timing.json")).ok();
    let excluded =
        excluded.and_then(|timing| timing["exclude"].as_str().map(str::to_owned)).unwrap_or_default();
    let (world, seconds) = load(&root)?;
    let query = Query::new(&world, Memo::default());
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let (mut asked, mut hits) = (0usize, 0usize);
    let mut times = Vec::new();
    let mut worst = Vec::new();
    let (mut silent, mut unlisted, mut listed) = (0usize, 0usize, 0usize);
    for entry in oracle.as_array().into_iter().flatten() {
        let symbol = entry["symbol"].as_str().unwrap_or("");
        let definition = line_of(&entry["definition"]);
        let truth: BTreeSet<Line> =
            lines_of(&entry["references"]).filter(|line| *line != definition).collect();
        let start = Instant::now();
        let Answer { found: answer, possible, is_complete } = references(&query, &entry["definition"]);
        listed += possible.len();
        times.push(start.elapsed().as_secs_f64() * 1e3);
        let is_in_scope = |path: &str| excluded.is_empty() || !matches_any(&excluded, path);
        let answer: BTreeSet<Line> =
            answer.into_iter().filter(|line| *line != definition && is_in_scope(&line.0)).collect();
        let kind = if entry["ambiguous"].as_bool() == Some(true) { "ambiguous" } else { "unique" };
        let (right, wrong) = (answer.intersection(&truth).count(), answer.difference(&truth).count());
        let missed = truth.difference(&answer).count();
        for line in truth.difference(&answer).filter(|line| !possible.contains(*line)) {
            unlisted += 1;
            silent += usize::from(is_complete);
            if options.misses > 0 {
                let claim = if is_complete { "silent" } else { "unlisted" };
                println!("{claim} {}:{} of {symbol} {}:{}", line.0, line.1, definition.0, definition.1);
            }
        }
        for bucket in [kind, "all"] {
            let count = counts.entry(bucket).or_default();
            count.right += right;
            count.wrong += wrong;
            count.missed += missed;
        }
        worst.push((
            wrong + missed,
            format!("{symbol} ({}) {}:{}", entry["kind"], definition.0, definition.1),
        ));
        if options.show.as_deref() == Some(symbol) {
            println!("-- {symbol} {} {}:{} {kind}", entry["kind"], definition.0, definition.1);
            answer.difference(&truth).for_each(|line| println!("   wrong  {}:{}", line.0, line.1));
            truth.difference(&answer).for_each(|line| println!("   missed {}:{}", line.0, line.1));
        }
        if entry["query_position"]["at"] == "use" {
            let truth: BTreeSet<Line> = lines_of(&entry["definition_at_query"]).collect();
            if !truth.is_empty() {
                asked += 1;
                let found = resolve(&query, &entry["query_position"]);
                let hit = found.first().is_some_and(|line| truth.contains(line));
                hits += usize::from(hit);
                if !hit && options.misses > 0 {
                    let at = line_of(&entry["query_position"]);
                    println!("definition of {symbol} at {}:{}: {found:?} instead of {truth:?}", at.0, at.1);
                }
            }
        }
    }
    let mut random = (0usize, 0usize);
    let mut outside = (0usize, 0usize);
    let mut resolve_time = 0.0;
    let mut by_class: BTreeMap<String, usize> = BTreeMap::new();
    let tokens = read(format!("{stem}.resolve.json"))?;
    for token in tokens.as_array().into_iter().flatten() {
        let truth: BTreeSet<Line> = lines_of(&token["definitions"]).collect();
        let start = Instant::now();
        let found = resolve(&query, token);
        resolve_time += start.elapsed().as_secs_f64() * 1e3;
        let class = token["class"].as_str().unwrap_or("");
        let at = line_of(token);
        if matches!(class, "external" | "none") {
            outside.0 += usize::from(class == "external");
            outside.1 += usize::from(!found.is_empty() && class == "external");
            if !found.is_empty() && options.misses > 0 && class == "external" {
                println!("{class} {} at {}:{} answered {found:?}", token["token"], at.0, at.1);
            }
        } else {
            random.0 += 1;
            let hit = found.first().is_some_and(|line| truth.contains(line));
            random.1 += usize::from(hit);
            if !hit && options.misses > 0 {
                *by_class.entry(class.to_owned()).or_default() += 1;
                let (name, column) = (&token["token"], &token["col"]);
                println!("{class} {name} at {}:{}:{column}: {found:?} instead of {truth:?}", at.0, at.1);
            }
        }
    }
    worst.sort_by_key(|(errors, _)| std::cmp::Reverse(*errors));
    for (errors, symbol) in worst.iter().take(options.misses).filter(|(errors, _)| *errors > 0) {
        println!("{errors:>5} {symbol}");
    }
    times.sort_by(f64::total_cmp);
    let show = |bucket: &str| counts.get(bucket).map_or_else(String::new, Count::show);
    println!(
        "{language:<11} {:>13} {:>13} {:>13} {:>6.3} {:>7.3} {:>8.3} {silent:>27} {unlisted:>9} {listed:>9} {:>7.2}s {:>6.2}ms  resolve {:.3} ms {by_class:?}",
        show("unique"),
        show("ambiguous"),
        show("all"),
        hits as f64 / asked.max(1) as f64,
        random.1 as f64 / random.0.max(1) as f64,
        outside.1 as f64 / outside.0.max(1) as f64,
        seconds,
        times.get(times.len() / 2).copied().unwrap_or(0.0),
        resolve_time / (random.0 + outside.0).max(1) as f64,
    );
    Ok(())
}

/// Whether a path begins with one of the alternatives of the oracle's simple pattern, or contains it.
fn matches_any(pattern: &str, path: &str) -> bool {
    pattern.trim_matches(['(', ')']).split('|').any(|part| {
        let literal = part.trim_end_matches(['(', ')']).replace('\\', "");
        match literal.strip_prefix('^') {
            Some(start) => path.starts_with(start.trim_start_matches('(')),
            None => match literal.strip_suffix('$') {
                Some(end) => path.ends_with(end),
                None => path.contains(&literal),
            },
        }
    })
}

fn line_of(place: &Value) -> Line {
    (place["file"].as_str().unwrap_or("").to_owned(), place["line"].as_u64().unwrap_or(0))
}

fn lines_of(places: &Value) -> impl Iterator<Item = Line> {
    places.as_array().into_iter().flatten().map(line_of)
}

fn token_at(query: &Query<'_>, place: &Value) -> Option<(FileId, u32)> {
    let file = query.world.file(place["file"].as_str()?)?;
    let facts = query.facts(file);
    let column = u32::try_from(place["col"].as_u64()?).ok()?;
    let start = facts.line_start(u32::try_from(place["line"].as_u64()?).ok()?)?;
    Some((file, facts.token_at(start + column - 1)?))
}

/// The uses of a definition, as lines.
#[derive(Default)]
struct Answer {
    found: Vec<Line>,
    possible: BTreeSet<Line>,
    /// Whether the answer claims that there are no other uses.
    is_complete: bool,
}

fn references(query: &Query<'_>, place: &Value) -> Answer {
    let Some((file, token)) = token_at(query, place) else { return Answer::default() };
    let line = |found: &Reference| place_of(query, found.file, found.token);
    let mut answer = Answer { is_complete: true, ..Answer::default() };
    for entity in query.meaning(file, token).entities {
        let uses = query.uses(file, entity);
        answer.is_complete &= uses.possible.is_empty() && !uses.is_open && !uses.is_cut;
        answer.found.extend(uses.found.iter().map(line));
        answer.possible.extend(uses.possible.iter().map(line));
    }
    answer
}

fn place_of(query: &Query<'_>, file: FileId, token: u32) -> Line {
    let facts = query.facts(file);
    let start = facts.token(token).map_or(0, |token| token.start);
    (query.world.path(file).to_owned(), u64::from(facts.position(start).0))
}

fn resolve(query: &Query<'_>, place: &Value) -> Vec<Line> {
    let Some((file, token)) = token_at(query, place) else { return Vec::new() };
    let is_declaration = query.facts(file).token(token).is_some_and(|token| token.role == Role::Declaration);
    let resolution = query.definition(file, token);
    if resolution.confidence > toolpost_code::resolve::Confidence::UniqueMember && !is_declaration {
        return Vec::new();
    }
    resolution
        .entities
        .iter()
        .filter_map(|&entity| match entity {
            Entity::Def(DefId { file, index }) => {
                if let Some(file) = query.project(file).file_of(query, DefId { file, index }) {
                    return Some((query.world.path(file).to_owned(), 1));
                }
                let facts = query.facts(file);
                let start = facts.def(index)?.name_start;
                Some((query.world.path(file).to_owned(), u64::from(facts.position(start).0)))
            }
            Entity::Module(module) => {
                let file = query.project(file).module_file(module)?;
                Some((query.world.path(file).to_owned(), 1))
            }
            Entity::External => None,
        })
        .collect()
}
