//! Asks the tools of a running `toolpost mcp` at the places of an oracle, as a model would: by name, file, line and
//! column.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::options::Options;
use super::score::{Line, Score};
use crate::mcp_server::{Answer, Server};

/// Asks everything of one language.
pub(super) fn measure(executable: &Path, language: &str, options: &Options) -> Result<Score> {
    let repository = options.repos.join(language);
    let stem = options.oracle.join(format!("{language}.large"));
    let oracle = read(&format!("{}.json", stem.display()))?;
    let tokens = read(&format!("{}.resolve.json", stem.display()))?;
    let excluded = read(&format!("{}.timing.json", stem.display()))
        .ok()
        .and_then(|timing| timing["exclude"].as_str().map(str::to_owned))
        .unwrap_or_default();
    let home = std::env::temp_dir().join(format!("toolpost-accuracy-{}", std::process::id()));
    fs::create_dir_all(&home)?;
    let server = Server::start(executable, &["--policy", "read-only", "--structured"], &repository, &home)?;
    let mut asking = Asking {
        server,
        repository,
        texts: HashMap::new(),
        excluded,
        misses: options.misses,
        asked: 0,
        score: Score::default(),
    };
    for entry in oracle.as_array().into_iter().flatten() {
        asking.entry(entry)?;
    }
    for token in tokens.as_array().into_iter().flatten() {
        asking.token(token)?;
    }
    let Asking { server, score, .. } = asking;
    drop(server);
    // What the server kept is of no use to anybody.
    let _ = fs::remove_dir_all(&home);
    Ok(score)
}

fn read(path: &str) -> Result<Value> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {path}"))?;
    serde_json::from_slice(&bytes).with_context(|| format!("{path} is not JSON"))
}

struct Asking {
    server: Server,
    repository: PathBuf,
    /// The lines of files, to know what stands at a place.
    texts: HashMap<String, Vec<String>>,
    /// Folders that the oracle knows nothing of.
    excluded: String,
    misses: usize,
    /// Calls so far.
    asked: usize,
    score: Score,
}

impl Asking {
    /// One symbol: its references from its definition and from a use, and its definition from the use.
    fn entry(&mut self, entry: &Value) -> Result<()> {
        let definition = line_of(&entry["definition"]);
        let kind = usize::from(entry["ambiguous"].as_bool() == Some(true));
        let truth: BTreeSet<Line> =
            lines_of(&entry["references"]).into_iter().filter(|line| *line != definition).collect();
        let symbol = entry["symbol"].as_str().unwrap_or_default().to_owned();
        for (is_use, place) in [(false, &entry["definition"]), (true, &entry["query_position"])] {
            let data = self.ask("find_references", place)?;
            let mut answer: BTreeSet<Line> = lines_of(&data["references"]).into_iter().collect();
            answer.retain(|line| *line != definition && !is_excluded(&self.excluded, &line.0));
            let possible: BTreeSet<Line> = lines_of(&data["possible"]).into_iter().collect();
            let counts = if is_use { &mut self.score.at_use } else { &mut self.score.at_definition };
            counts[kind].add(&answer, &truth);
            self.score.possible += possible.len();
            let missed: Vec<&Line> = truth.difference(&answer).collect();
            // A call that ends with an error claims nothing.
            let is_complete = data["complete"].as_bool() == Some(true);
            let unlisted: Vec<&Line> =
                missed.iter().filter(|line| !possible.contains(**line)).copied().collect();
            let meant = lines_of(&entry["definition_at_query"]);
            let is_other = is_use && !meant.is_empty() && !meant.contains(&definition);
            if is_other {
                self.score.of_another += unlisted.len();
            } else {
                self.score.unlisted += unlisted.len();
                self.score.silent += if is_complete { unlisted.len() } else { 0 };
            }
            if self.misses > 0 {
                let place = line_of(place);
                let place = format!("{symbol} asked at {}:{}", place.0, place.1);
                let wrong: Vec<&Line> = answer.difference(&truth).collect();
                let claim = match (is_other, is_complete) {
                    (true, _) => "other",
                    (false, true) => "silent",
                    (false, false) => "unlisted",
                };
                for (what, lines) in [("missed", missed), (claim, unlisted), ("wrong", wrong)] {
                    for line in lines.iter().take(self.misses) {
                        println!("  {what:<8} {}:{} of {place}", line.0, line.1);
                    }
                }
            }
        }
        let place = &entry["query_position"];
        let truth: BTreeSet<Line> = lines_of(&entry["definition_at_query"]).into_iter().collect();
        if place["at"] == "use" && !truth.is_empty() {
            let data = self.ask("resolve_symbol", place)?;
            let found = first_definition(&data);
            let is_hit = found.as_ref().is_some_and(|line| truth.contains(line));
            self.score.definition.add(is_hit);
            if !is_hit && self.misses > 0 {
                let at = line_of(place);
                println!("  definition of {symbol} at {}:{}: {found:?} instead of {truth:?}", at.0, at.1);
            }
        }
        Ok(())
    }

    /// One identifier chosen at random.
    fn token(&mut self, token: &Value) -> Result<()> {
        let data = self.ask("resolve_symbol", token)?;
        let found = first_definition(&data);
        let truth: BTreeSet<Line> = lines_of(&token["definitions"]).into_iter().collect();
        let class = token["class"].as_str().unwrap_or_default();
        let is_wrong = match class {
            "external" => {
                self.score.external.add(found.is_some());
                found.is_some()
            }
            "none" => false,
            _ => {
                let is_hit = found.as_ref().is_some_and(|line| truth.contains(line));
                self.score.random.add(is_hit);
                !is_hit
            }
        };
        if is_wrong && self.misses > 0 {
            let at = line_of(token);
            println!(
                "  {class} {} at {}:{}:{}: {found:?} instead of {truth:?}",
                token["token"], at.0, at.1, token["col"]
            );
        }
        Ok(())
    }

    /// Calls a tool for a place; nothing where it has no answer.
    fn ask(&mut self, tool: &str, place: &Value) -> Result<Value> {
        let symbol = self.name_at(place);
        let arguments =
            json!({ "symbol": symbol, "file": place["file"], "line": place["line"], "column": place["col"] });
        self.asked += 1;
        self.server.call(self.asked, tool, &arguments)?;
        let Answer { is_error, text, data, .. } = self.server.answer()?;
        if is_error {
            let is_unknown = text.contains("NO_MATCH") || text.contains("no symbol");
            self.score.failed += usize::from(!is_unknown);
            if self.misses > 0 {
                println!("  {tool} {arguments}: {text}");
            }
            return Ok(Value::Null);
        }
        Ok(data)
    }

    /// The identifier that stands at a place of a file.
    fn name_at(&mut self, place: &Value) -> String {
        let (file, line) = line_of(place);
        let path = self.repository.join(&file);
        let lines = self.texts.entry(file).or_insert_with(|| {
            let text = fs::read_to_string(path).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        });
        let line = usize::try_from(line).ok().and_then(|line| lines.get(line.checked_sub(1)?));
        let column = place["col"].as_u64().and_then(|column| usize::try_from(column).ok()).unwrap_or(1);
        let rest: String = line.map(|line| line.chars().skip(column - 1).collect()).unwrap_or_default();
        let is_part = |(index, letter): &(usize, char)| {
            letter.is_alphanumeric() || matches!(letter, '_' | '$') || *index == 0 && *letter == '#'
        };
        rest.chars().enumerate().take_while(is_part).map(|(_, letter)| letter).collect()
    }
}

fn first_definition(data: &Value) -> Option<Line> {
    data["definition"].is_object().then(|| line_of(&data["definition"]))
}

/// Whether a path begins with one of the alternatives of the oracle's simple pattern, ends with it, or contains it.
fn is_excluded(pattern: &str, path: &str) -> bool {
    let mut parts = pattern.trim_matches(['(', ')']).split('|').filter(|part| !part.is_empty());
    parts.any(|part| {
        let literal = part.trim_end_matches(['(', ')']).replace('\\', "");
        match (literal.strip_prefix('^'), literal.strip_suffix('$')) {
            (Some(start), _) => path.starts_with(start.trim_start_matches('(')),
            (None, Some(end)) => path.ends_with(end),
            (None, None) => path.contains(&literal),
        }
    })
}

fn line_of(place: &Value) -> Line {
    (place["file"].as_str().unwrap_or_default().to_owned(), place["line"].as_u64().unwrap_or(0))
}

fn lines_of(places: &Value) -> Vec<Line> {
    places.as_array().into_iter().flatten().map(line_of).collect()
}
