//! Calls through a base, an interface or a trait, which may run another member of the family: the same word for them in
//! every language.

use crate::fixture::check_uses;

#[test]
fn a_call_through_a_base_may_run_what_overrides_it() {
    let python = "
//- a.py
class Base:
    def go(self): return self.step()
    def step(self): return 1
class Child(Base):
    def step(self): return 2
class Other:
    def step(self): return 3
Child().step()
class Third(Base):
    def step(self): return super().step()
";
    check_uses(python, "a.py:5:step", &["a.py:2 Dispatch", "a.py:8 Typed"]);
    check_uses(python, "a.py:3:step", &["a.py:2 Exact", "a.py:10 Exact"]);
    let rust = "
//- src/lib.rs
pub trait Shape { fn area(&self) -> f64; fn twice(&self) -> f64 { self.area() } }
pub struct Sq(f64);
impl Shape for Sq { fn area(&self) -> f64 { self.0 } }
pub fn by_trait(s: &dyn Shape) -> f64 { s.area() }
pub fn by_type(s: &Sq) -> f64 { s.area() }
";
    check_uses(
        rust,
        "src/lib.rs:3:area",
        &["src/lib.rs:1 Dispatch", "src/lib.rs:4 Dispatch", "src/lib.rs:5 Typed"],
    );
    let go = "
//- go.mod
module m
//- a.go
package m

type Shape interface{ Area() int }
type Sq struct{}

func (s Sq) Area() int { return 1 }
func byInterface(s Shape) int { return s.Area() }
func byType(s Sq) int { return s.Area() }
";
    check_uses(go, "a.go:6:Area", &["a.go:7 Dispatch", "a.go:8 Typed"]);
    let typescript = "
//- a.ts
interface Shape { area(): number }
class Sq implements Shape { area() { return 1 } }
function byInterface(s: Shape) { return s.area() }
function byType(s: Sq) { return s.area() }
";
    check_uses(typescript, "a.ts:2:area", &["a.ts:1 Dispatch", "a.ts:3 Dispatch", "a.ts:4 Typed"]);
}

#[test]
fn an_interface_needs_no_name_in_go() {
    let go = "
//- go.mod
module m
//- a.go
package m

type Sq struct{}

func (s Sq) Area() int { return 1 }
func (s Sq) Name() string { return \"\" }

type Ro struct{}

func (r Ro) Area() int { return 2 }

func byParameter(s interface{ Area() int }) int { return s.Area() }
func byAssertion(v any) int { return v.(interface{ Area() int }).Area() }
func both(s interface { Area() int; Name() string }) int { return s.Area() }

type Holder struct{ inner interface{ Area() int } }

func (h Holder) use() int { return h.inner.Area() }
func byBound[T interface{ Area() int }](t T) int { return t.Area() }
func bySwitch(v any) {
	switch w := v.(type) {
	case interface{ Area() int }:
		w.Area()
	}
}
";
    let all =
        ["a.go:12 Dispatch", "a.go:13 Dispatch", "a.go:18 Dispatch", "a.go:19 Dispatch", "a.go:23 Dispatch"];
    check_uses(go, "a.go:10:Area", &all);
    let both = ["a.go:12 Dispatch", "a.go:13 Dispatch", "a.go:14 Dispatch"];
    check_uses(go, "a.go:5:Area", &[&both[..], &all[2..]].concat());
}
