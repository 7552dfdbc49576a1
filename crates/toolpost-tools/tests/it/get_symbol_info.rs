//! `get_symbol_info`: all that is known of a symbol, and what is near a wrong name.

use super::{call, code, shown};
use crate::fake_engine::{session, whole};
use serde_json::json;

#[test]
fn a_symbol_is_described() {
    let outcome = call(&session(whole()), "get_symbol_info", json!({"symbol": "Reader"}));
    let expected = "\
struct Reader, src/reader.rs:2-4, public
  pub struct Reader
  | Parses a page.
  |
  | Slowly.
  members:
    3: pub fn parse(&self) -> Result<Page, Error>
  used 3 times: src/main.rs (2), secret/keys.rs (1)
";
    assert_eq!(shown(&outcome), expected);
}

#[test]
fn a_wrong_name_has_its_nearest() {
    let outcome = call(&session(whole()), "get_symbol_info", json!({"symbol": "Raeder.pares"}));
    assert_eq!(code(&outcome), "NO_MATCH");
    let outcome = call(&session(whole()), "get_symbol_info", json!({"symbol": "parse_kex"}));
    assert_eq!(
        shown(&outcome),
        "NO_MATCH: no symbol `parse_kex`; nearest: `parse_key` (secret/keys.rs:1), `parse` (src/reader.rs:3)"
    );
}
