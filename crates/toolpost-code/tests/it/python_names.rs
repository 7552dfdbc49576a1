//! What Python's names mean: scopes, imports, receivers, members, names of arguments.

use crate::hostile::everything;
use crate::marked::{check_meaning, check_references};

#[test]
fn scopes() {
    check_references("//- a.py\n<|>x = 1\ndef f(x):\n    return x\nprint(«x)\n");
    check_references("//- a.py\n<|>x = 1\ndef f():\n    global «x\n    «x = 2\n    return «x\n");
    check_references(
        "//- a.py\ndef f():\n    <|>x = 1\n    def g():\n        nonlocal «x\n        «x = 2\n    return «x\nx = 3\n",
    );
    check_references(
        "//- a.py\n<|>x = 1\nclass A:\n    x = 2\n    y = x\n    def f(self):\n        return «x\n",
    );
    check_references("//- a.py\n<|>x = []\ny = [x for x in «x]\nz = {x: 1 for x in «x if x}\n");
    check_references("//- a.py\n<|>x = 1\nf = lambda x: x\ng = lambda y=«x: «x\n");
    check_references(
        "//- a.py\nclass A:\n    <|>size = 1\n    half = «size\n    sizes = [size for _ in «size]\n",
    );
    check_references("//- a.py\ndef f():\n    if (<|>n := 1):\n        return [«n for _ in range(«n)]\n");
}

#[test]
fn imports() {
    check_references(
        "//- src/p/__init__.py\nfrom .a import «f as «f\n//- src/p/a.py\ndef <|>f(): ...\n//- tests/t.py\nimport p\nfrom p import «f\np.«f()\n",
    );
    check_references(
        "//- p/__init__.py\nfrom .a import *\n__all__ = ['«f']\n//- p/a.py\ndef <|>f(): ...\ndef _g(): ...\n//- t.py\nfrom p import «f\n",
    );
    check_references(
        "//- p/__init__.py\n//- p/a/__init__.py\n//- p/a/b.py\nfrom ..c import «f\nimport p.c\np.c.«f()\n//- p/c.py\ndef <|>f(): ...\n",
    );
    check_references(
        "//- p/__init__.py\n//- p/c.py\ndef <|>f(): ...\n//- t.py\nimport p.c as d\nfrom p import c\nd.«f, c.«f\n",
    );
    check_references(
        "//- a.py\ntry:\n    from b import «f\nexcept ImportError:\n    f = None\n«f()\n//- b.py\ndef <|>f(): ...\n",
    );
    check_references(
        "//- a.py\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from b import «C\ndef f(c: '«C | None', d: \"list['«C']\"): ...\n//- b.py\nclass <|>C: ...\n",
    );
    check_meaning("//- p/__init__.py\nfrom . import b as b\n//- p/«b.py\n//- t.py\nimport p\np.<|>b\n");
    check_meaning("//- p/types.py\nx = 1\n//- p/a.py\nimport types\ntypes.<|>x\n");
    check_meaning(
        "//- one/src/p/__init__.py\n«x = 1\n//- one/tests/t.py\nfrom p import <|>x\n//- two/src/p/__init__.py\nx = 2\n",
    );
}

#[test]
fn receivers() {
    let class = "//- a.py\nclass A:\n    def <|>m(self): ...\nclass B:\n    def m(self): ...\n";
    for uses in [
        "A().«m()\nB().m()\n",
        "def f(a: A, b: B):\n    a.«m(), b.m()\n",
        "def f(a: 'A | None'):\n    a.«m()\n",
        "def f(a: list[A]):\n    for one in a: one.«m()\n    a[0].«m()\n    [x.«m() for x in a]\n",
        "def f(a: dict[str, A]):\n    for key, value in a.items(): value.«m()\n    a.get('x').«m()\n    a['x'].«m()\n",
        "def f() -> A: ...\nf().«m()\n",
        "def f():\n    return A()\nf().«m()\n",
        "class C(A):\n    def m(self):\n        super().«m()\n        self.m()\n",
        "class C(A):\n    def n(self):\n        self.«m()\n",
        "class C:\n    def __init__(self): self.a = A()\n    def n(self): self.a.«m()\n",
        "class C:\n    a: A\n    def n(self): self.a.«m()\nC().a.«m()\n",
        "class C:\n    @property\n    def a(self) -> A: ...\nC().a.«m()\n",
        "class C:\n    @classmethod\n    def make(cls) -> 'A':\n        return A()\nC.make().«m()\n",
        "def f(x):\n    if isinstance(x, A):\n        x.«m()\n    x = B()\n    x.m()\n",
        "def f(x: A | B):\n    if isinstance(x, B):\n        return x.m()\n    x.«m()\n",
        "def f(x: object):\n    assert isinstance(x, A) and x.«m()\n    x.«m()\n",
        "x = A()\nx.«m()\nx = B()\nx.m()\n",
        "if input():\n    x = A()\nelse:\n    x = B()\nx.«m()\n",
        "x = None\nfor i in range(3):\n    if x: x.«m()\n    x = A()\n",
        "class C:\n    def __enter__(self) -> A: ...\n    def __exit__(self, *a): ...\nwith C() as c: c.«m()\n",
        "from contextlib import contextmanager\n@contextmanager\ndef f():\n    yield A()\nwith f() as a: a.«m()\n",
        "try: ...\nexcept A as e: e.«m()\nexcept (A, B) as e: e.«m()\n",
        "from typing import TypeVar\nT = TypeVar('T')\ndef f(x: T) -> T: ...\nf(A()).«m(), f(B()).m()\n",
        "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass C(Generic[T]):\n    def get(self) -> T: ...\ndef f(c: C[A]): c.get().«m()\n",
        "class C[T]:\n    def get(self) -> T: ...\ndef f(c: C[A]): c.get().«m()\n",
        "def wrap(f) -> A: ...\n@wrap\ndef g(): ...\ng.«m()\n",
        "match input():\n    case A() as a: a.«m()\n",
        "async def f() -> A: ...\nasync def g():\n    (await f()).«m()\n",
        "from typing import cast\ncast('A', input()).«m()\n",
        "def f(x): x.m()\n",
    ] {
        check_references(&format!("{class}{uses}"));
    }
}

#[test]
fn members() {
    check_references(
        "//- a.py\nclass A:\n    def __init__(self):\n        self.<|>x = 1\n    def f(self):\n        self.«x += 1\n        return self.«x\nclass B:\n    def f(self): self.x = 1\nA().«x\n",
    );
    check_references(
        "//- a.py\nclass A:\n    @property\n    def «x(self): ...\n    @«x.setter\n    def <|>x(self, value): ...\nA().«x = 1\n",
    );
    check_references(
        "//- a.py\nfrom typing import overload\n@overload\ndef «f(a: int) -> int: ...\n@overload\ndef «f(a: str) -> str: ...\ndef <|>f(a): ...\n«f(1)\n",
    );
    check_references(
        "//- a.py\nfrom enum import Enum\nclass E(Enum):\n    <|>RED = 1\n    def f(self): ...\nE.«RED.f()\n",
    );
}

#[test]
fn keywords() {
    check_references("//- a.py\ndef f(<|>a, b): return «a\nf(«a=1, b=2)\n");
    check_references(
        "//- a.py\nclass A:\n    def __init__(self, <|>a): self.a = «a\nA(«a=1)\nclass B(A): ...\nB(«a=1)\n",
    );
    check_references(
        "//- a.py\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    <|>a: int\nA(«a=1).«a\n",
    );
}

#[test]
fn what_is_hostile_is_survived() {
    let mut nested = String::new();
    for depth in 0..600 {
        nested.push_str(&" ".repeat(depth));
        nested.push_str("if isinstance(x, A) and x:\n");
    }
    let inputs: [Vec<u8>; 12] = [
        b"print 'hello', x\nexec 'a' in b\nraise E, 'text'\ntry: pass\nexcept E, e: pass\n".to_vec(),
        b"def f(a, (b, c)): return `a`\nprint >>f, 1\n".to_vec(),
        b"# -*- coding: latin-1 -*-\nname = '\xe9\xff'\n\x0c\nclass A:\n\tdef f(self):\n\t\treturn self.\xe9\n".to_vec(),
        b"\xef\xbb\xbfimport a\r\nfrom a import (b,\r\n c)\r\n".to_vec(),
        b"class\ndef (\n@\nself. = \nfrom . import\nimport\nx: = 1\nfor in :\n".to_vec(),
        b"def f(x: '[[[[(((', y: \"a.b.\", z: 'A[', w: '.'): ...\n".to_vec(),
        b"match x:\n  case {'a': b, **c}: pass\n  case [a, *b] | C(d, e=F(g=_)): pass\n  case a.b.c: pass\n".to_vec(),
        b"class A(A): x = A.x\nclass B(C): ...\nclass C(B): ...\nB().x\nx = x.x\nfrom a import *\n".to_vec(),
        format!("x = {}1", "not ".repeat(5_000)).into_bytes(),
        format!("x = {}1", "a or ".repeat(5_000)).into_bytes(),
        format!("def f(x: '{}') : ...", "a[".repeat(900)).into_bytes(),
        nested.into_bytes(),
    ];
    for input in inputs {
        everything(&input);
    }
}
