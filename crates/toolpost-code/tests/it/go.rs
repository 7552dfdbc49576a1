//! Go.

use crate::fixture::{check_meaning, check_uses};

const TREE: &str = r#"
//- go.mod
module example.com/shop
//- shop.go
package shop

import "example.com/shop/store"

type Item struct {
	store.Base
	Name string
}

type Namer interface {
	GetName() string
}

func (i *Item) GetName() string { return i.Name }

func Find(items []*Item, s *store.Store) (*Item, error) {
	for _, item := range items {
		if item.GetName() == "x" {
			return item, s.Err
		}
	}
	return nil, nil
}

func use(n Namer, v any) {
	found, err := Find(nil, store.New())
	_ = found.Name
	_ = err
	n.GetName()
	found.Touch()
	switch v := v.(type) {
	case *Item:
		v.GetName()
	}
	m := map[string][]Item{}
	m["a"][0].GetName()
	_ = Item{Name: "x"}
	x := 1
	{
		x := x + 1
		_ = x
	}
}
//- store/store.go
package store

type Base struct{ touched bool }

func (b *Base) Touch() { b.touched = true }

type Store struct{ Err error }

func New() *Store { return &Store{} }
//- store/host_windows.go
package store

func Host() string { return "w" }
//- store/host_linux.go
package store

func Host() string { return "l" }

var host = Host()
"#;

#[test]
fn meanings() {
    let check = |at, expected| check_meaning(TREE, at, expected);
    check("shop.go:14:Name", "shop.go:7 Typed");
    check("shop.go:18:GetName", "shop.go:14 Typed");
    check("shop.go:26:Find", "shop.go:16 Exact");
    check("shop.go:26:store", "shop.go:3 Exact");
    check("shop.go:26:New", "store/store.go:9 Exact");
    check("shop.go:27:Name", "shop.go:7 Typed");
    check("shop.go:29:GetName", "shop.go:11 Typed");
    check("shop.go:30:Touch", "store/store.go:5 Typed");
    check("shop.go:33:GetName", "shop.go:14 Typed");
    check("shop.go:33:v", "shop.go:31 Exact");
    check("shop.go:36:GetName", "shop.go:14 Typed");
    check("shop.go:37:Name", "shop.go:7 Typed");
    check("shop.go:40:x#2", "shop.go:38 Exact");
    check("shop.go:41:x", "shop.go:40 Exact");
    check("shop.go:19:Err", "store/store.go:7 Typed");
    check("store/host_linux.go:5:Host", "store/host_linux.go:3 Exact");
    check("shop.go:16:error", "external Exact");
}

#[test]
fn uses() {
    check_uses(
        TREE,
        "shop.go:14:GetName",
        &["shop.go:18 Typed", "shop.go:29 Dispatch", "shop.go:33 Typed", "shop.go:36 Typed"],
    );
    check_uses(TREE, "shop.go:7:Name", &["shop.go:14 Typed", "shop.go:27 Typed", "shop.go:37 Typed"]);
}

#[test]
fn groups_on_one_line_are_valid() {
    for (text, is_broken) in [
        ("const ( RED = iota; BLUE )", false),
        ("const (RED = iota)", false),
        ("var ( a = 1; b int )", false),
        ("const ( RED = iota; BLUE", true),
        ("const ( RED = iota BLUE )", true),
        ("var ( a = ; b int )", true),
        ("func f() {\n\tconst ( A = 1; B )\n\tvar ( c = A )\n\t_ = c\n}", false),
        ("func f() { a( }", true),
    ] {
        let world = crate::fixture::world(&format!("//- a.go\npackage m\n{text}\n"));
        assert_eq!(world.broken().len(), usize::from(is_broken), "{text}");
    }
    let text = "//- a.go\npackage m\nconst ( RED = iota; BLUE )\nvar x = BLUE\n";
    check_meaning(text, "a.go:3:BLUE", "a.go:2 Exact");
}
