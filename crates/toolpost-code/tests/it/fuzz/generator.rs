//! Programs by chance: forms of each language as text with holes, filled in until a depth. It knows nothing of the parsers
//! and extractors that read them.

use super::random::Random;

/// The forms of one language: what each hole can be filled with, the simplest first. A hole is `<word>`.
pub(super) struct Forms {
    pub(super) extension: &'static str,
    pub(super) forms: &'static [(&'static str, &'static [&'static str])],
}

impl Forms {
    /// A file of a few items.
    pub(super) fn file(&self, random: &mut Random) -> String {
        let mut text = String::new();
        let depth = 2 + random.below(6);
        self.fill(random, "file", depth, &mut text);
        text
    }

    fn fill(&self, random: &mut Random, hole: &str, depth: usize, text: &mut String) {
        let Some((_, choices)) = self.forms.iter().find(|(name, _)| *name == hole) else {
            text.push_str(hole);
            return;
        };
        // Deep down only the simplest form is left, so that it ends.
        let choice = if depth == 0 || text.len() > 40_000 { 0 } else { random.below(choices.len()) };
        let mut rest = choices[choice];
        while let Some((before, after)) = rest.split_once('<') {
            text.push_str(before);
            match after.split_once('>') {
                Some((hole, after)) if self.forms.iter().any(|(name, _)| *name == hole) => {
                    self.fill(random, hole, depth.saturating_sub(1), text);
                    rest = after;
                }
                _ => {
                    text.push('<');
                    rest = after;
                }
            }
        }
        text.push_str(rest);
    }
}

const NAMES: &[&str] = &["a", "b", "new", "get", "Item", "Other", "self", "x1", "_", "run", "value", "T"];

pub(super) const ALL: [Forms; 4] = [
    Forms {
        extension: "rs",
        forms: &[
            ("id", NAMES),
            ("file", &["<item>", "<item><item><item>", "<item><item><item><item><item><item>"]),
            (
                "item",
                &[
                    "fn <id>() {}\n",
                    "pub fn <id><generics>(<param>, <param>) -> <type> { <stmt><stmt><expr> }\n",
                    "pub struct <id><generics> { <id>: <type>, pub <id>: <type> }\n",
                    "struct <id>(<type>, <type>);\n",
                    "enum <id> { <id>, <id>(<type>), <id> { <id>: <type> } }\n",
                    "impl<generics> <type> { <item><item> }\n",
                    "impl <type> for <type> { type <id> = <type>; <item> }\n",
                    "trait <id>: <type> { fn <id>(&self) -> <type>; <item> }\n",
                    "mod <id> { <item><item> }\n",
                    "use <path>;\n",
                    "pub use <path> as <id>;\n",
                    "use <path>::{self, <id>, <id> as <id>, <id>::*};\n",
                    "type <id> = <type>;\n",
                    "const <id>: <type> = <expr>;\n",
                    "macro_rules! <id> { ($<id>:expr) => { <expr> }; }\n",
                    "#[derive(<id>)]\n<item>",
                    "<id>! { <expr> }\n",
                ],
            ),
            ("generics", &["", "<<id>>", "<'a, <id>: <type> + <type>>", "<const N: usize>"]),
            ("param", &["<id>: <type>", "&mut self", "<pattern>: <type>"]),
            (
                "type",
                &[
                    "<id>",
                    "&'a <type>",
                    "Vec<<type>>",
                    "Option<<type>>",
                    "(<type>, <type>)",
                    "[<type>; 3]",
                    "impl Fn(<type>) -> <type>",
                    "Box<dyn <type>>",
                    "Self",
                    "<path>",
                    "<<type> as <type>>::<id>",
                ],
            ),
            ("path", &["<id>", "crate::<id>", "super::<path>", "self::<id>::<path>", "::<id>::<id>"]),
            (
                "pattern",
                &[
                    "<id>",
                    "Some(<pattern>)",
                    "<id> { <id>, .. }",
                    "(<pattern>, <pattern>)",
                    "<pattern> | <pattern>",
                    "ref <id>",
                ],
            ),
            (
                "stmt",
                &[
                    "<expr>;\n",
                    "let <pattern> = <expr>;\n",
                    "let <id>: <type> = <expr>;\n",
                    "if let <pattern> = <expr> { <stmt> } else { <stmt> }\n",
                    "for <pattern> in <expr> { <stmt> }\n",
                    "while <expr> { <stmt> break; }\n",
                    "<item>",
                    "return <expr>;\n",
                ],
            ),
            (
                "expr",
                &[
                    "<id>",
                    "<expr>.<id>(<expr>)",
                    "<path>::<id>(<expr>, <expr>)",
                    "<id> { <id>: <expr>, <id> }",
                    "|<pattern>| <expr>",
                    "match <expr> { <pattern> if <expr> => <expr>, _ => { <stmt> } }",
                    "&<expr>",
                    "<expr>?",
                    "<expr>.await",
                    "<id>!(<expr>, \"{<id>}\")",
                    "<expr>[<expr>]",
                    "(<expr>, <expr>)",
                    "<expr> as <type>",
                    "{ <stmt> <expr> }",
                    "<expr>.<id>::<<type>>()",
                    "1..<expr>",
                    "*<expr> + -<expr>",
                ],
            ),
        ],
    },
    Forms {
        extension: "py",
        forms: &[
            ("id", NAMES),
            ("file", &["<item>", "<item><item><item>", "<item><item><item><item><item>"]),
            (
                "item",
                &[
                    "<id> = <expr>\n",
                    "def <id>(<param>, <param>=<expr>, *args, **kwargs) -> <expr>: return <expr>\n",
                    "class <id>(<expr>, metaclass=<id>):\n    <id>: <expr> = <expr>\n    def <id>(self, <param>): self.<id> = <expr>\n    @property\n    def <id>(self): return self.<id>.<id>\n",
                    "from .<id> import <id> as <id>, <id>\n",
                    "from <id>.<id> import *\n",
                    "import <id>.<id> as <id>\n",
                    "@<id>(<expr>)\nasync def <id>(<param>): return await <expr>\n",
                    "with <expr> as <id>, <expr>: <id> = <expr>\n",
                    "for <id>, <id> in <expr>: <id> += <expr>\n",
                    "if isinstance(<expr>, <id>): <id> = <expr>\n",
                    "try: <id> = <expr>\nexcept <id> as <id>: raise <expr>\n",
                    "match <expr>:\n    case <id>(<id>=<id>): <id> = <expr>\n    case [<id>, *<id>]: pass\n",
                    "__all__ = ['<id>', \"<id>\"]\n",
                    "global <id>\n",
                    "type <id>[<id>] = <expr>\n",
                    "(<id> := <expr>)\n",
                    "del <expr>\n",
                ],
            ),
            ("param", &["<id>", "<id>: '<expr>'", "<id>: <expr>"]),
            (
                "expr",
                &[
                    "<id>",
                    "<expr>.<id>(<expr>, <id>=<expr>)",
                    "[<expr> for <id> in <expr> if <expr>]",
                    "{<expr>: <expr> for <id>, <id> in <expr>}",
                    "lambda <id>, *<id>: <expr>",
                    "<expr>[<expr>:<expr>]",
                    "super().<id>(<expr>)",
                    "f'{<expr>!r:>{<expr>}}'",
                    "(yield <expr>)",
                    "<expr> if <expr> else <expr>",
                    "Optional[<expr>]",
                    "not <expr> and <expr> | <expr>",
                    "(<expr>, *<expr>)",
                    "\"\"\"<id>\"\"\"",
                ],
            ),
        ],
    },
    Forms {
        extension: "go",
        forms: &[
            ("id", NAMES),
            (
                "file",
                &[
                    "package <id>\n<item>",
                    "package <id>\n<item><item><item><item>",
                    "//go:build <id> && !<id>\n\npackage <id>\n<item><item>",
                ],
            ),
            (
                "item",
                &[
                    "var <id> = <expr>\n",
                    "func <id>(<id> <type>, <id> ...<type>) (<type>, error) { <stmt><stmt> }\n",
                    "func (<id> *<id>) <id>() <type> { <stmt> }\n",
                    "func <id>[<id> any, <id> ~int | <type>](<id> <type>) { <stmt> }\n",
                    "type <id> struct { <id> <type> `json:\"<id>\"`\n <id>\n *<id>.<id> }\n",
                    "type <id> interface { <id>(<type>) <type>\n <id> }\n",
                    "type <id> = <type>\n",
                    "type <id>[<id> any] []<type>\n",
                    "import <id> \"example.com/<id>\"\n",
                    "import ( . \"<id>\"\n _ \"<id>\" )\n",
                    "const ( <id> = iota\n <id> )\n",
                ],
            ),
            (
                "type",
                &[
                    "<id>",
                    "*<type>",
                    "[]<type>",
                    "map[<type>]<type>",
                    "func(<type>) <type>",
                    "chan <type>",
                    "<id>.<id>",
                    "<id>[<type>]",
                    "struct{ <id> <type> }",
                    "interface{}",
                ],
            ),
            (
                "stmt",
                &[
                    "<expr>\n",
                    "<id>, <id> := <expr>, <expr>\n",
                    "if <id>, ok := <expr>; ok { <stmt> } else { <stmt> }\n",
                    "for <id>, <id> := range <expr> { <stmt> }\n",
                    "switch <id> := <expr>.(type) { case <type>, *<type>: <stmt>\n default: <stmt> }\n",
                    "return <expr>\n",
                    "defer func() { <stmt> }()\n",
                    "go <expr>.<id>()\n",
                    "select { case <id> := <-<expr>: <stmt> }\n",
                    "<id>:\n goto <id>\n",
                    "var <id> <type>\n",
                ],
            ),
            (
                "expr",
                &[
                    "<id>",
                    "<expr>.<id>(<expr>, <expr>...)",
                    "&<type>{<id>: <expr>, <expr>}",
                    "[]<type>{{<expr>}, {<id>: <expr>}}",
                    "func(<id> <type>) <type> { <stmt> }",
                    "<expr>[<expr>:<expr>]",
                    "<expr>.(<type>)",
                    "new(<type>)",
                    "<id>[<type>](<expr>)",
                    "<expr> + -<expr>",
                    "`raw`",
                    "<id>.<id>",
                ],
            ),
        ],
    },
    Forms {
        extension: "tsx",
        forms: &[
            ("id", NAMES),
            ("file", &["<item>", "<item><item><item>", "<item><item><item><item><item>"]),
            (
                "item",
                &[
                    "const <id> = <expr>;\n",
                    "export default function <id>(<param>, <param> = <expr>): <type> { <stmt><stmt> }\n",
                    "export class <id> extends <expr> implements <type> { private <id>?: <type> = <expr>; constructor(readonly <id>: <type>) { super(); } get <id>() { return this.<id>; } static <id>() { <stmt> } }\n",
                    "export interface <id> extends <type> { <id>?: <type>; <id>(<param>): <type>; [key: string]: <type> }\n",
                    "export type <id> = <type>;\n",
                    "import <id>, { <id> as <id>, type <id> } from './<id>';\n",
                    "import * as <id> from '<id>';\n",
                    "export { <id> as <id>, <id> } from './<id>';\n",
                    "export * from './<id>';\n",
                    "export * as <id> from '../<id>';\n",
                    "declare module '<id>' { <item> }\n",
                    "declare global { interface <id> { <id>: <type> } }\n",
                    "namespace <id> { <item> }\n",
                    "enum <id> { <id>, <id> = '<id>' }\n",
                    "module.exports = { <id>, <id>: <expr> };\n",
                    "@<id>(<expr>) export abstract class <id> { abstract <id>(): <type> }\n",
                ],
            ),
            (
                "param",
                &[
                    "<id>",
                    "<id>: <type>",
                    "{ <id>, <id>: <id>, ...<id> }: <type>",
                    "this: <type>",
                    "...<id>: <type>[]",
                    "[<id>, <id>]",
                ],
            ),
            (
                "type",
                &[
                    "<id>",
                    "<type>[]",
                    "<type> | <type>",
                    "Promise<<type>>",
                    "{ <id>: <type>; <id>?(): <type> }",
                    "keyof <type>",
                    "<type>['<id>']",
                    "<type> extends infer <id> ? <type> : <type>",
                    "(<id>: <type>) => <type>",
                    "typeof <id>",
                    "{ [<id> in <type>]: <type> }",
                    "`${<type>}x`",
                    "asserts <id> is <type>",
                    "[<type>, ...<type>]",
                ],
            ),
            (
                "stmt",
                &[
                    "<expr>;\n",
                    "let { <id>, <id>: [<id>] } = <expr>;\n",
                    "for (const <id> of <expr>) { <stmt> }\n",
                    "if (<expr> instanceof <id>) { <stmt> } else <stmt>",
                    "try { <stmt> } catch ({ <id> }) { <stmt> }\n",
                    "switch (<expr>) { case <expr>: <stmt> }\n",
                    "return <expr>;\n",
                    "<item>",
                    "<id>: while (true) { break <id>; }\n",
                ],
            ),
            (
                "expr",
                &[
                    "<id>",
                    "<expr>.<id>(<expr>, ...<expr>)",
                    "<expr>?.<id>?.[<expr>]",
                    "{ <id>, <id>: <expr>, [<expr>]: <expr>, <id>() { <stmt> }, ...<expr> }",
                    "async (<param>) => <expr>",
                    "new <id><<type>>(<expr>)",
                    "<expr> as <type>",
                    "`${<expr>}`",
                    "<<id> <id>={<expr>}>{<expr>}<<id>.<id> /></<id>>",
                    "[<expr>, ...<expr>]",
                    "await <expr>",
                    "<expr> satisfies <type>",
                    "<expr>!",
                    "require('<id>')",
                    "function* <id>() { yield <expr>; }",
                    "/<id>[/]/g",
                    "<expr> ?? <expr>",
                ],
            ),
        ],
    },
];
