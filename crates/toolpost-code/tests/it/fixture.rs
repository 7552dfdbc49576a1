//! Trees of files written as one string, with `//- path` lines between them.

use toolpost_code::languages;
use toolpost_code::resolve::{DefId, Entity, Memo, Query};
use toolpost_code::world::{FileId, World};

/// The files of a string: path and content.
pub(crate) fn split(text: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.trim_start_matches('\n').split_inclusive('\n') {
        match line.trim().strip_prefix("//- ") {
            Some(path) => files.push((path.to_owned(), String::new())),
            None => files.last_mut().expect("a path first").1.push_str(line),
        }
    }
    files
}

/// The world of a string.
pub(crate) fn world(text: &str) -> World {
    let languages = languages::all();
    let (mut files, mut manifests) = (Vec::new(), Vec::new());
    for (path, content) in split(text) {
        let name = path.rsplit('/').next().expect("a name").to_owned();
        if languages.iter().any(|language| language.manifests().contains(&name.as_str())) {
            manifests.push((path.clone(), content.clone().into_bytes()));
        }
        if let Some(language) = languages::of_path(&languages, &path) {
            let facts = languages::extract(languages[usize::from(language)], &path, content.as_bytes());
            files.push((path, language, facts));
        }
    }
    World::new(languages, files, manifests)
}

/// The token at `path:line:text`; of several in a line `text#2` is the second.
pub(crate) fn token(query: &Query<'_>, place: &str) -> (FileId, u32) {
    let mut parts = place.splitn(3, ':');
    let path = parts.next().expect("a path");
    let line: u32 = parts.next().and_then(|line| line.parse().ok()).expect("a line");
    let text = parts.next().expect("a name");
    let (text, nth) =
        text.rsplit_once('#').map_or((text, 1), |(text, nth)| (text, nth.parse().expect("a number")));
    let file = query.world.file(path).unwrap_or_else(|| panic!("no file {path}"));
    let facts = query.facts(file);
    let mut starts: Vec<u32> = Vec::new();
    for (index, token) in facts.tokens.iter().enumerate() {
        if facts.position(token.start).0 == line && facts.text(token.name) == text {
            let again = starts.last().is_some_and(|&last| facts.tokens[last as usize].start == token.start);
            if again {
                starts.pop();
            }
            starts.push(index as u32);
        }
    }
    let token = starts.get(nth - 1).unwrap_or_else(|| panic!("no `{text}` in line {line} of {path}"));
    (file, *token)
}

fn place(query: &Query<'_>, file: FileId, offset: u32) -> String {
    format!("{}:{}", query.world.path(file), query.facts(file).position(offset).0)
}

/// What a token means, as `path:line confidence`; `external` and nothing at all are said so.
pub(crate) fn check_meaning(text: &str, at: &str, expected: &str) {
    let world = world(text);
    let query = Query::new(&world, Memo::default());
    let (file, token) = token(&query, at);
    let resolution = query.resolve(file, token);
    let entities: Vec<String> = resolution
        .entities
        .iter()
        .map(|&entity| match entity {
            Entity::Def(DefId { file, index }) => {
                place(&query, file, query.facts(file).def(index).expect("a definition").name_start)
            }
            Entity::Module(_) => "module".to_owned(),
            Entity::External => "external".to_owned(),
        })
        .collect();
    let shown = format!("{} {:?}", entities.join(" "), resolution.confidence);
    assert_eq!(shown.trim(), expected, "{at}");
}

/// The uses of what a token declares, as lines with how each was found.
pub(crate) fn check_uses(text: &str, at: &str, expected: &[&str]) {
    let world = world(text);
    let query = Query::new(&world, Memo::default());
    let (file, token) = token(&query, at);
    let def = query.declared_by(file, token).expect("a declaration");
    let references = query.references(def);
    let all = references.found.iter().chain(&references.possible);
    let mut shown: Vec<String> = all
        .filter(|found| (found.file, found.token) != (file, token))
        .map(|found| {
            let start = query.facts(found.file).tokens[found.token as usize].start;
            format!("{} {:?}", place(&query, found.file, start), found.confidence)
        })
        .collect();
    shown.dedup();
    assert_eq!(shown, expected, "{at}");
}

/// The uses of what is meant by a token, as people who point at it get them: `path:line Confidence`, each line once.
pub(crate) fn check_pointed(text: &str, at: &str, expected: &[&str]) {
    let world = world(text);
    let query = Query::new(&world, Memo::default());
    let (file, token) = token(&query, at);
    let mut shown: Vec<String> = Vec::new();
    for entity in query.meaning(file, token).entities {
        let uses = query.uses(file, entity);
        for found in uses.found.iter().chain(&uses.possible) {
            let start = query.facts(found.file).tokens[found.token as usize].start;
            let line = format!("{} {:?}", place(&query, found.file, start), found.confidence);
            if !shown.contains(&line) {
                shown.push(line);
            }
        }
    }
    assert_eq!(shown, expected, "{at}");
}
