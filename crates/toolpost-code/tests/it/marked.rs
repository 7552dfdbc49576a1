//! Files written as one string, with `//- path` lines between them. `<|>` stands before the identifier that is asked
//! about, `«` before each identifier that the answer must name.

use toolpost_code::languages;
use toolpost_code::resolve::{Entity, Memo, Query};
use toolpost_code::world::World;

const ASKED: &str = "<|>";
const EXPECTED: char = '«';

/// A place: path and byte.
type Site = (String, u32);

struct Fixture {
    world: World,
    asked: Site,
    expected: Vec<Site>,
}

fn read(text: &str) -> Fixture {
    let languages = languages::all();
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match (line.trim_start().strip_prefix("//- "), files.last_mut()) {
            (Some(path), _) => files.push((path.trim().to_owned(), String::new())),
            (None, Some((_, content))) => content.push_str(line),
            (None, None) => {}
        }
    }
    let (mut asked, mut expected, mut facts) = (None, Vec::new(), Vec::new());
    for (path, content) in files {
        let mut plain = String::new();
        let mut rest = content.as_str();
        while let Some(c) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix(ASKED) {
                asked = Some((path.clone(), plain.len() as u32));
                rest = after;
            } else {
                if c == EXPECTED {
                    expected.push((path.clone(), plain.len() as u32));
                } else {
                    plain.push(c);
                }
                rest = &rest[c.len_utf8()..];
            }
        }
        let language = languages::of_path(&languages, &path).expect("a file of a known language");
        let known = languages::extract(languages[usize::from(language)], &path, plain.as_bytes());
        facts.push((path, language, known));
    }
    let world = World::new(languages, facts, Vec::new());
    Fixture { world, asked: asked.expect("a question"), expected }
}

/// Asks for every use of the definition at `<|>`; the uses, apart from that place, must be those marked with `«`.
#[track_caller]
pub(crate) fn check_references(text: &str) {
    let mut fixture = read(text);
    let query = Query::new(&fixture.world, Memo::default());
    let file = query.world.file(&fixture.asked.0).expect("the file");
    let token = query.facts(file).token_starting(fixture.asked.1).expect("an identifier at the question");
    let def = query.declared_by(file, token).or_else(|| query.resolve(file, token).defs().next());
    let found = query.references(def.expect("a definition")).found;
    let mut found: Vec<Site> = found
        .iter()
        .map(|found| {
            let token = query.facts(found.file).token(found.token).expect("a token");
            (query.world.path(found.file).to_owned(), token.start)
        })
        .filter(|site| *site != fixture.asked)
        .collect();
    found.sort();
    fixture.expected.sort();
    assert_eq!(found, fixture.expected, "in\n{text}");
}

/// Asks what the identifier at `<|>` means: the names marked with `«`, or nothing of the tree.
#[track_caller]
pub(crate) fn check_meaning(text: &str) {
    let mut fixture = read(text);
    let query = Query::new(&fixture.world, Memo::default());
    let file = query.world.file(&fixture.asked.0).expect("the file");
    let token = query.facts(file).token_starting(fixture.asked.1).expect("an identifier at the question");
    let resolution = query.resolve(file, token);
    let mut found: Vec<Site> = resolution
        .entities
        .iter()
        .filter_map(|&entity| match entity {
            Entity::Def(def) => {
                let start = query.facts(def.file).def(def.index)?.name_start;
                Some((query.world.path(def.file).to_owned(), start))
            }
            Entity::Module(module) => {
                Some((query.world.path(query.project(file).module_file(module)?).to_owned(), 0))
            }
            Entity::External => None,
        })
        .collect();
    found.sort();
    fixture.expected.sort();
    assert_eq!(found, fixture.expected, "{:?} in\n{text}", resolution.confidence);
}
