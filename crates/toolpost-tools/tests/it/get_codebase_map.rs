//! `get_codebase_map`: as much as fits, in the order of importance.

use super::{call, data, shown};
use crate::fake_engine::{session, whole};
use serde_json::json;

#[test]
fn symbols_are_drawn_by_file_and_container() {
    let outcome = call(&session(whole()), "get_codebase_map", json!({}));
    let expected = "\
src/reader.rs
  pub struct Reader
    pub fn parse(&self) -> Result<Page, Error>
src/main.rs
  fn main()
secret/keys.rs
  pub fn parse_key()
";
    assert_eq!(shown(&outcome), expected);
    assert_eq!(data(&outcome)["truncated"], false);
}

#[test]
fn what_is_in_focus_comes_first() {
    let outcome = call(&session(whole()), "get_codebase_map", json!({"focus": ["src/main.rs"]}));
    assert!(shown(&outcome).starts_with("src/main.rs\n"), "{}", shown(&outcome));
}

#[test]
fn the_text_stays_within_its_tokens() {
    let outcome = call(&session(whole()), "get_codebase_map", json!({"maxTokens": 100}));
    assert!(data(&outcome)["tokens"].as_u64().unwrap() <= 100);
    let refused = call(&session(whole()), "get_codebase_map", json!({"maxTokens": 5}));
    assert!(shown(&refused).contains("expected at least 100"), "{}", shown(&refused));
}
