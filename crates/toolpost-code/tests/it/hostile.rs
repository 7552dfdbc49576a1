//! Files that nobody wrote with good intentions: no crash, no endless work, facts that hold together.

use toolpost_code::facts::{self, Facts, NONE, Op};
use toolpost_code::language::Language;
use toolpost_code::languages;
use toolpost_code::resolve::{Memo, Query};
use toolpost_code::world::World;

/// Reads a file as the engine does, on a thread with room, and checks that nothing in its facts leads outside of them.
pub(crate) fn read(language: &'static dyn Language, path: &str, source: &[u8]) -> Facts {
    std::thread::scope(|scope| {
        let work = || {
            let facts = languages::extract(language, path, source);
            check(&facts, source.len());
            facts
        };
        let thread = std::thread::Builder::new().stack_size(48 << 20).spawn_scoped(scope, work);
        thread.expect("a thread").join().expect("no panic")
    })
}

fn check(facts: &Facts, length: usize) {
    let within = |index: u32, length: usize| index == NONE || (index as usize) < length;
    for token in &facts.tokens {
        assert!(token.start as usize <= length && within(token.scope, facts.scopes.len()));
    }
    assert!(facts.tokens.is_sorted_by_key(|token| token.start));
    for def in &facts.defs {
        assert!(def.start <= def.end && def.end as usize <= length, "{def:?}");
        assert!(within(def.owner, facts.defs.len()) && within(def.same, facts.defs.len()));
        assert!(within(def.declared, facts.exprs.len()) && within(def.value, facts.exprs.len()));
    }
    for expr in &facts.exprs {
        if expr.op == Op::Token {
            assert!(within(expr.a, facts.tokens.len()));
        }
    }
    let again = facts::decode(&facts::encode(facts)).expect("facts that can be read back");
    assert_eq!(again.tokens.len(), facts.tokens.len());
    assert_eq!(facts::encode(&again), facts::encode(facts));
}

/// Every identifier of a file gets an answer.
fn resolve_all(language: &'static dyn Language, path: &str, facts: Facts) {
    let languages = languages::all();
    let number =
        languages.iter().position(|known| known.name() == language.name()).expect("a language") as u8;
    let count = facts.tokens.len() as u32;
    let world = World::new(languages, vec![(path.to_owned(), number, facts)], Vec::new());
    let query = Query::new(&world, Memo::default());
    let file = world.file(path).expect("the file");
    for token in (0..count).step_by((count as usize / 500).max(1)) {
        query.refuel();
        query.resolve(file, token);
    }
    for index in (0..world.facts(file).defs.len() as u32).step_by(7).take(50) {
        let _ = query.references(toolpost_code::resolve::DefId { file, index });
    }
}

pub(crate) fn everything(source: &[u8]) {
    for language in languages::all() {
        for extension in language.extensions() {
            let path = format!("file.{extension}");
            let facts = read(language, &path, source);
            resolve_all(language, &path, facts);
        }
    }
}

#[test]
fn deep_nesting() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("a.b(", ")"), ("-", ""), ("a + ", "a")]
    {
        let source = format!("{}x{}", open.repeat(20_000), close.repeat(20_000));
        everything(source.as_bytes());
    }
    let chain = format!("package p\nvar x = a{}", ".b()".repeat(20_000));
    everything(chain.as_bytes());
    let blocks = format!("fn f() {{ {}{} }}", "if a { ".repeat(5_000), "}".repeat(5_000));
    everything(blocks.as_bytes());
}

#[test]
fn long_lines_and_odd_bytes() {
    everything(b"");
    everything(b"\xef\xbb\xbfpackage p\r\n\r\nfunc f() {}\r\n");
    everything(b"\xff\xfe\x00a\x00b = \xc3\x28 \xf0\x9f\x92");
    everything("var \u{1F600}é = \"ü\"; function ñ() {}\n".repeat(50).as_bytes());
    everything("a=1;b=a;function c(d){return d.e(a,b)};".repeat(5_000).as_bytes());
    everything(&[0; 4_096]);
}

/// Pieces of the four languages, whole and broken, put together by chance.
const PIECES: &[&str] = &[
    "package p\n",
    "import \"x\"\n",
    "func ",
    "(r *T) ",
    "name",
    "(a, b int, c ...T)",
    " error ",
    "{",
    "}",
    "return ",
    "x := ",
    "for _, v := range ",
    "switch v := y.(type) { case T: ",
    "struct { A; B int }",
    "interface { M() }",
    "def ",
    "class ",
    "self.",
    "(self, *args, **kw):\n    ",
    "from . import ",
    "lambda x: ",
    "@decorator\n",
    "yield ",
    "async ",
    "with a as b:\n  ",
    "fn ",
    "impl<T: X> Y for ",
    "use a::{b::*, c as d, self};",
    "mod m { ",
    "let Some(x) = ",
    "match x { A | B if c => d, _ => {} }",
    "macro_rules! m { ($e:expr) => { $e } }",
    "m!(a, |x| { x.y() })",
    "#[derive(Debug)]\n",
    "'a",
    "&mut ",
    "::<T>",
    "?",
    "where T: ",
    "const { a, b: c = 1, ...d } = ",
    "=> ",
    "export default ",
    "export * from './x';",
    "import type { A as B } from 'y';",
    "interface I<T> extends J { k?: T }",
    "type U = A | B[] | { c: d };",
    "<div a={b}>",
    "</div>",
    "`t${x}`",
    "/re/g",
    "enum E { A, B }",
    "namespace N { ",
    "declare ",
    "\"text\"",
    "'c'",
    "0x1f",
    "// comment\n",
    "/* ",
    " */",
    "#",
    "\n",
    "\n    ",
    ";",
    ",",
    ".",
    ":",
    "=",
    "==",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "|",
    "\\",
    "\u{00e9}",
    "\0",
    "$x",
];

#[test]
fn pieces_put_together_by_chance() {
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    for _ in 0..150 {
        let count = 1 + next(60);
        let source: String = (0..count).map(|_| PIECES[next(PIECES.len())]).collect();
        let mut bytes = source.into_bytes();
        if next(4) == 0 && !bytes.is_empty() {
            let at = next(bytes.len());
            bytes[at] = next(256) as u8;
        }
        everything(&bytes);
    }
}
