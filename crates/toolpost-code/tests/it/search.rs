//! Names, symbols, imports, dependencies and what matters most.

use toolpost_code::answers::graph::{Edge, circles};
use toolpost_code::answers::ranking::Focus;
use toolpost_code::answers::search::score;
use toolpost_code::answers::symbol::documentation;
use toolpost_code::resolve::{Memo, Query};
use toolpost_code::world::FileId;

use crate::fixture;

const TREE: &str = r#"
//- go.mod
module example.com/a
//- a.go
package a

import "example.com/a/b"

// Parser reads things.
// It is slow.
type Parser struct{ reader b.Reader }

// NewParser makes one.
func NewParser() *Parser { return &Parser{reader: b.NewReader()} }

func (p *Parser) parse() { p.reader.Read(); helper(); helper() }

func helper() {}
//- b/b.go
package b

type Reader struct{}

func NewReader() Reader { return Reader{} }

func (r Reader) Read() {}
"#;

#[test]
fn scores_by_how_well_a_name_suits() {
    let order = |typed: &str, names: &[&str]| {
        let scores: Vec<Option<u32>> = names.iter().map(|name| score(typed, name)).collect();
        assert!(scores.windows(2).all(|pair| pair[0] > pair[1]), "{typed}: {scores:?}");
    };
    order("parser", &["parser", "Parser", "ParserState", "NewParser", "sparser", "xyz"]);
    order("np", &["np", "NewParser", "knapsack"]);
}

/// Names that a tree has, and what people type for them: dropped, added, replaced and swapped letters.
const NAMES: &[&str] = &[
    "Registry",
    "RegistryBuilder",
    "Executor",
    "ExecutorOptions",
    "Context",
    "ContextBuilder",
    "Content",
    "Contract",
    "resolve_symbol",
    "resolve_path",
    "find_references",
    "FileStamp",
    "FileName",
    "parse_config",
    "parse_content",
    "WorkspacePath",
    "Workspace",
    "WorkspaceEngine",
    "Policy",
    "Police",
    "Redactor",
    "Reactor",
    "write_all",
    "writer",
    "Outcome",
    "Output",
    "OutputBudget",
    "Middleware",
    "MiddlewareChain",
    "handle_request",
    "handle_response",
    "getUserById",
    "getUserByName",
    "HttpClient",
    "HttpServer",
    "serialize",
    "deserialize",
    "Dispatcher",
    "Dispatch",
    "SessionStore",
    "SessionState",
    "tokenize",
    "Tokenizer",
    "Scheduler",
    "schedule",
    "connection_pool",
    "ConnectionPool",
    "validate",
    "Validator",
    "checkpoint",
    "snapshot",
    "Subscriber",
    "Subscription",
    "iterator",
    "Iterator",
    "allocate",
    "Allocator",
    "render_template",
    "renderTemplate",
    "compile",
    "Compiler",
    "configure",
    "Configuration",
    "transform",
    "Transformer",
    "authenticate",
    "Authenticator",
];
const MISTYPED: [(&str, &str); 40] = [
    ("Registri", "Registry"),
    ("Regsitry", "Registry"),
    ("Executer", "Executor"),
    ("Exectuor", "Executor"),
    ("Contxet", "Context"),
    ("Contex", "Context"),
    ("Contextt", "Context"),
    ("resolv_symbol", "resolve_symbol"),
    ("reslove_symbol", "resolve_symbol"),
    ("find_refrences", "find_references"),
    ("find_referances", "find_references"),
    ("FileStmap", "FileStamp"),
    ("parse_confg", "parse_config"),
    ("prase_config", "parse_config"),
    ("WorkspacPath", "WorkspacePath"),
    ("Worskpace", "Workspace"),
    ("Workspce", "Workspace"),
    ("Polcy", "Policy"),
    ("Redacter", "Redactor"),
    ("wirte_all", "write_all"),
    ("Outcom", "Outcome"),
    ("Midleware", "Middleware"),
    ("Middlewear", "Middleware"),
    ("handel_request", "handle_request"),
    ("handle_resquest", "handle_request"),
    ("getUserByID", "getUserById"),
    ("getUsrById", "getUserById"),
    ("HttpCleint", "HttpClient"),
    ("serialise", "serialize"),
    ("desrialize", "deserialize"),
    ("Dispacher", "Dispatcher"),
    ("SesionStore", "SessionStore"),
    ("Tokeniser", "Tokenizer"),
    ("Schedular", "Scheduler"),
    ("conection_pool", "connection_pool"),
    ("Validater", "Validator"),
    ("chekpoint", "checkpoint"),
    ("Subscirber", "Subscriber"),
    ("renderTemplte", "renderTemplate"),
    ("Autenticator", "Authenticator"),
];

#[test]
fn mistyped_names_are_found_first() {
    let missed: Vec<(&str, &str)> = MISTYPED
        .into_iter()
        .filter_map(|(typed, meant)| {
            let best = NAMES.iter().max_by_key(|name| (score(typed, name), std::cmp::Reverse(name.len())));
            best.filter(|best| **best != meant).map(|best| (typed, *best))
        })
        .collect();
    assert_eq!(missed, []);
    for far in ["zzzzzz", "Registration", "Exec0r", "ab"] {
        assert!(NAMES.iter().all(|name| score(far, name).is_none_or(|score| score < 400)), "{far}");
    }
}

#[test]
fn what_is_there_as_typed_was_not_mistyped() {
    let world = fixture::world("//- a.py\ndef parse(): pass\ndef pares(): pass\ndef parser(): pass\n");
    let query = Query::new(&world, Memo::default());
    let names = |typed: &str| -> Vec<String> {
        let hits = query.search(typed, 5);
        hits.iter().filter_map(|hit| query.symbol(hit.def)).map(|symbol| symbol.name).collect()
    };
    assert_eq!(names("parse"), ["parse", "parser"]);
    assert_eq!(names("pasre"), ["parse"]);
}

#[test]
fn finds_definitions() {
    let world = fixture::world(TREE);
    let query = Query::new(&world, Memo::default());
    let names = |typed: &str| -> Vec<String> {
        let hits = query.search(typed, 5);
        hits.iter().filter_map(|hit| query.symbol(hit.def)).map(|symbol| symbol.name).collect()
    };
    assert_eq!(names("parser"), ["Parser", "NewParser"]);
    assert_eq!(names("read"), ["Read", "Reader", "reader", "NewReader"]);
}

/// One method, one field and one local variable in each language.
const MEMBERS: &str = r#"
//- go.mod
module example.com/m
//- m.go
package m

type Store struct{ going int }

func (s Store) fetchGo() { hiddenGo := s.going; _ = hiddenGo }
//- m.py
class Store:
    rating: int = 0

    def fetch_python(self):
        hidden_python = self.rating
        return hidden_python
//- Cargo.toml
[package]
name = "m"
//- src/lib.rs
pub struct Store { rusty: u32 }
impl Store {
    pub fn fetch_rust(&self) -> u32 { let hidden_rust = self.rusty; hidden_rust }
}
//- m.ts
export class Store {
    typed = 0
    fetchTypeScript() { const hiddenTypeScript = this.typed; return hiddenTypeScript }
}
"#;

#[test]
fn finds_members_and_no_locals_in_every_language() {
    let world = fixture::world(MEMBERS);
    let query = Query::new(&world, Memo::default());
    let found = |typed: &str| {
        query.search(typed, 5).iter().any(|hit| {
            query.symbol(hit.def).is_some_and(|symbol| symbol.name == typed && symbol.container == ["Store"])
        })
    };
    for name in
        ["fetchGo", "going", "fetch_python", "rating", "fetch_rust", "rusty", "fetchTypeScript", "typed"]
    {
        assert!(found(name), "{name}");
    }
    for name in ["hiddenGo", "hidden_python", "hidden_rust", "hiddenTypeScript"] {
        assert_eq!(query.search(name, 5), [], "{name}");
    }
}

#[test]
fn shows_symbols() {
    let world = fixture::world(TREE);
    let query = Query::new(&world, Memo::default());
    let file = world.file("a.go").expect("a.go");
    let symbols = query.symbols(file);
    let shown: Vec<String> = symbols
        .iter()
        .map(|symbol| {
            format!("{}.{} {:?} {:?}", symbol.container.join("."), symbol.name, symbol.kind, symbol.lines)
        })
        .collect();
    assert_eq!(
        shown,
        [
            ".Parser Struct (7, 7)",
            "Parser.reader Field (7, 7)",
            ".NewParser Function (10, 10)",
            "Parser.parse Method (12, 12)",
            ".helper Function (14, 14)",
        ]
    );
    let source = &fixture::split(TREE)[1].1;
    assert_eq!(documentation(source, &symbols[2]).as_deref(), Some("NewParser makes one."));
    let members = query.own_members(symbols[0].def);
    assert_eq!(members.len(), 2);
}

#[test]
fn follows_imports() {
    let world = fixture::world(TREE);
    let query = Query::new(&world, Memo::default());
    let (a, b) = (world.file("a.go").expect("a.go"), world.file("b/b.go").expect("b/b.go"));
    let imports = query.imports(a);
    assert_eq!((imports[0].module.as_str(), imports[0].files.as_slice()), ("example.com/a/b", &[b][..]));
    assert_eq!(query.dependencies(&[a, b]), [Edge { from: a, to: b, count: 1 }]);
}

#[test]
fn finds_circles() {
    let edge = |from, to| Edge { from: FileId(from), to: FileId(to), count: 1 };
    let found =
        circles(&[edge(1, 2), edge(2, 3), edge(3, 1), edge(3, 4), edge(5, 4), edge(6, 7), edge(7, 6)]);
    let numbers: Vec<Vec<u32>> =
        found.iter().map(|group| group.iter().map(|file| file.0).collect()).collect();
    assert_eq!(numbers, [vec![1, 2, 3], vec![6, 7]]);
}

#[test]
fn ranks_what_is_used() {
    let world = fixture::world(TREE);
    let query = Query::new(&world, Memo::default());
    let names: Vec<String> = query
        .rank(&Focus { names: vec!["helper".to_owned()], ..Focus::default() })
        .iter()
        .filter_map(|ranked| query.symbol(ranked.def))
        .map(|symbol| symbol.name)
        .collect();
    assert_eq!(names[0], "helper");
    assert!(names.contains(&"Reader".to_owned()), "{names:?}");
}

#[test]
fn what_nothing_uses_is_on_the_map() {
    let world = fixture::world("//- a.py\ndef first(): pass\ndef _hidden(): pass\nclass Second: pass\n");
    let query = Query::new(&world, Memo::default());
    let ranked = query.rank(&Focus::default());
    let names: Vec<String> =
        ranked.iter().filter_map(|one| query.symbol(one.def)).map(|symbol| symbol.name).collect();
    assert_eq!(names, ["first", "Second", "_hidden"]);
}

/// The names of all definitions, the most important first.
fn ranked(text: &str) -> Vec<String> {
    let world = fixture::world(text);
    let query = Query::new(&world, Memo::default());
    let ranked = query.rank(&Focus::default());
    ranked.iter().filter_map(|one| query.symbol(one.def)).map(|symbol| symbol.name).collect()
}

#[test]
fn a_module_under_a_name_is_not_on_the_map() {
    let names = ranked(
        "//- checks.ts\nexport function run() {}\n//- use.ts\nimport * as checks from './checks'\n\
         export function all() { checks.run(); checks.run(); checks.run() }\n",
    );
    assert_eq!(names, ["run", "all"]);
}

#[test]
fn how_a_type_keeps_its_values_comes_last() {
    let names = ranked(
        "//- a.py\nclass Box:\n    def __init__(self): self._kept = []\n    def put(self): self._kept.append(self._kept)\n    \
         def take(self): return self._kept.pop(self._kept, self._kept)\n    def swap(self): self.put(); self.take()\n\
         //- b.py\nfrom a import Box\ndef use(): Box().put()\n",
    );
    let place = |name: &str| names.iter().position(|one| one == name);
    assert!(place("_kept") > place("put") && place("_kept") > place("take"), "{names:?}");
}

#[test]
fn what_decorates_a_function_is_no_member_of_it() {
    let world = fixture::world("//- a.py\ndef d(f): return f\n@d\ndef one(a): return a\n");
    let query = Query::new(&world, Memo::default());
    let hit = query.search("one", 1)[0].def;
    assert_eq!(query.own_members(hit), []);
}
