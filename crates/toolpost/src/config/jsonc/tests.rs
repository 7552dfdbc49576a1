//! The reader against the standard one, and the editor on texts of every kind.

use super::edit::{self, Edited, get, to_json};
use super::{Wrong, parse};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Sets a value whatever stands there.
fn set(text: &str, path: &[&str], value: &Value) -> Result<Edited, Wrong> {
    edit::set(text, path, |_| value.clone())
}

/// The text after setting `mcpServers.toolpost` to `{"command": "t"}`.
fn check(text: &str, expected: &str) {
    let edited = set(text, &["mcpServers", "toolpost"], &json!({"command": "t"})).unwrap();
    let (Edited::Added(new) | Edited::Replaced(new)) = edited else { panic!("{text:?}: {edited:?}") };
    assert_eq!(new, expected, "{text:?}");
    assert_eq!(set(&new, &["mcpServers", "toolpost"], &json!({"command": "t"})), Ok(Edited::Same));
}

#[test]
fn an_entry_is_written_in_the_manner_of_its_file() {
    let new = "{\n  \"mcpServers\": {\n    \"toolpost\": {\n      \"command\": \"t\"\n    }\n  }\n}\n";
    check("", new);
    check("\n", &format!("\n{new}"));
    check("// mine", &format!("// mine\n{new}"));
    check("{}", new.trim_end());
    check("{}\n", new);
    check(
        "{\n\t\"a\": 1\n}\n",
        "{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t\"toolpost\": {\n\t\t\t\"command\": \"t\"\n\t\t}\n\t}\n}\n",
    );
    check(
        "{\r\n    \"mcpServers\": {}\r\n}",
        "{\r\n    \"mcpServers\": {\r\n        \"toolpost\": {\r\n            \"command\": \"t\"\r\n        }\r\n    }\r\n}",
    );
    // One line stays one line.
    check("{\"mcpServers\":{}}", "{\"mcpServers\":{\"toolpost\": {\"command\": \"t\"}}}");
    check("{\"mcpServers\":{\"a\":1}}", "{\"mcpServers\":{\"a\":1, \"toolpost\": {\"command\": \"t\"}}}");
    check("{\"mcpServers\":{\"a\":1,}}", "{\"mcpServers\":{\"a\":1, \"toolpost\": {\"command\": \"t\"},}}");
    // A comment stays with what it is about, and so does the comma after the last item.
    check(
        "{\n  \"mcpServers\": {\n    \"a\": 1 // one\n    // none\n  }\n}\n",
        "{\n  \"mcpServers\": {\n    \"a\": 1, // one\n    \"toolpost\": {\n      \"command\": \"t\"\n    }\n    // none\n  }\n}\n",
    );
    check(
        "{\n  \"mcpServers\": {\n    \"a\": 1, /* one */\n  },\n}\n",
        "{\n  \"mcpServers\": {\n    \"a\": 1, /* one */\n    \"toolpost\": {\n      \"command\": \"t\"\n    },\n  },\n}\n",
    );
    check(
        "{\n  \"mcpServers\": { // none yet\n  }\n}\n",
        "{\n  \"mcpServers\": { // none yet\n    \"toolpost\": {\n      \"command\": \"t\"\n    }\n  }\n}\n",
    );
    // What stands there is replaced in its place; of two the last, which is the one that holds.
    check(
        "{\n  \"mcpServers\": {\n    \"toolpost\": 5, // mine\n    \"b\": 2\n  }\n}\n",
        "{\n  \"mcpServers\": {\n    \"toolpost\": {\n      \"command\": \"t\"\n    }, // mine\n    \"b\": 2\n  }\n}\n",
    );
    check(
        "{\"mcpServers\": {\"toolpost\": 1, \"toolpost\": 2}}",
        "{\"mcpServers\": {\"toolpost\": 1, \"toolpost\": {\"command\": \"t\"}}}",
    );
}

#[test]
fn what_is_wrong_is_found_at_its_byte() {
    for (text, at, part) in [
        ("{\"a\" 1}", 5, "`:` is missing after the key; here is `1`"),
        ("{\"a\": 1", 7, "`,` or `}` is missing; the file ends here"),
        ("{\"a\": }", 6, "a value is missing"),
        ("{a: 1}", 1, "a key in double quotes"),
        ("{'a': 1}", 1, "a key in double quotes"),
        ("[1 2]", 3, "`,` or `]`"),
        ("{\"a\": tru}", 6, "not a value"),
        ("{\"a\": 01}", 6, "not a JSON number"),
        ("{\"a\": \"x\ny\"}", 8, "line break"),
        ("{\"a\": \"x", 6, "not closed"),
        ("{\"a\": \"\\q\"}", 6, "escape"),
        ("{} {}", 3, "something follows"),
        ("/* x", 0, "does not end"),
        ("{,}", 1, "a key"),
        ("\u{1}", 0, "control character U+0001"),
    ] {
        let wrong = parse(text).unwrap_err();
        assert_eq!(wrong.at, at, "{text}: {wrong:?}");
        assert!(wrong.message.contains(part), "{text}: {wrong:?}");
    }
    let deep = "[".repeat(100_000);
    assert!(parse(&deep).unwrap_err().message.contains("nest less deeply"));
    for (text, part) in [("[]", "`the file` is a list"), ("{\"mcpServers\": null}", "`mcpServers` is null")] {
        let wrong = set(text, &["mcpServers", "toolpost"], &json!(1)).unwrap_err();
        assert!(wrong.message.contains(part), "{wrong:?}");
    }
}

/// A value, and the same written with other blanks, comments and commas.
#[derive(Debug, Clone)]
struct Written {
    value: Value,
    text: String,
}

fn blank() -> impl Strategy<Value = String> {
    let one = prop_oneof![
        4 => Just(""),
        2 => Just(" "),
        2 => Just("\n  "),
        1 => Just("\r\n\t"),
        1 => Just("/* } \" , */"),
        1 => Just("/* two\nlines */"),
        1 => Just(" // { \" ,\n"),
    ];
    proptest::collection::vec(one, 0..3).prop_map(|all| all.concat())
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z \"\\\\/\u{1f600}\n\u{7}]{0,8}".prop_map(Value::from),
    ]
}

fn written(value: Value) -> BoxedStrategy<Written> {
    let pieces = match &value {
        Value::Array(items) => {
            let items = items.iter().cloned().map(|item| written(item).prop_map(|one| one.text).boxed());
            bracketed('[', items.collect(), ']')
        }
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| {
                let key = Value::from(key.as_str()).to_string();
                (blank(), blank(), written(value.clone()))
                    .prop_map(move |(before, after, one)| format!("{key}{before}:{after}{}", one.text))
                    .boxed()
            });
            bracketed('{', members.collect(), '}')
        }
        other => Just(other.to_string()).boxed(),
    };
    pieces.prop_map(move |text| Written { value: value.clone(), text }).boxed()
}

fn bracketed(open: char, items: Vec<BoxedStrategy<String>>, close: char) -> BoxedStrategy<String> {
    let count = items.len();
    let blanks = proptest::collection::vec((blank(), blank()), count);
    (items, blanks, blank(), any::<bool>())
        .prop_map(move |(items, blanks, last, has_comma)| {
            let mut text = String::from(open);
            for (index, (item, (before, after))) in items.iter().zip(&blanks).enumerate() {
                let comma = if index + 1 < count || has_comma { "," } else { "" };
                text.push_str(&format!("{before}{item}{after}{comma}"));
            }
            format!("{text}{last}{close}")
        })
        .boxed()
}

fn tree() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(("[a-c]{1,2}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A table that has, or has not, the tables on the way to `m.t`.
fn table() -> impl Strategy<Value = Value> {
    let members = || proptest::collection::vec(("[a-c]{1,2}", tree()), 0..4);
    let inner = prop_oneof![
        Just(None),
        (members(), proptest::option::of(tree())).prop_map(|(members, old)| {
            let mut table: Map<String, Value> = members.into_iter().collect();
            table.extend(old.map(|old| ("t".to_owned(), old)));
            Some(Value::Object(table))
        }),
    ];
    (members(), inner, members()).prop_map(|(before, inner, after)| {
        let mut table: Map<String, Value> = before.into_iter().collect();
        table.extend(inner.map(|inner| ("m".to_owned(), inner)));
        table.extend(after);
        Value::Object(table)
    })
}

/// The part of `text` between its longest common beginning and its longest common end with `longer`.
fn between<'a>(text: &'a str, longer: &str) -> &'a str {
    let same = |(one, other): &(u8, u8)| one == other;
    let start = text.bytes().zip(longer.bytes()).take_while(same).count();
    let rest = text.len() - start;
    let end = text.bytes().rev().zip(longer.bytes().rev()).take(rest).take_while(same).count();
    text.get(start..text.len() - end).unwrap_or("no boundary")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_is_what_was_written(written in tree().prop_flat_map(written)) {
        let node = parse(&written.text).unwrap().unwrap();
        prop_assert_eq!(to_json(&node), written.value);
    }

    #[test]
    fn plain_json_is_read_as_the_standard_reader_does(text in "[\\[\\]{}:,\"a1\\-. e\\\\nu0tr]{0,24}") {
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            prop_assert_eq!(to_json(&parse(&text).unwrap().unwrap()), value);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(\\PC|[\\[\\]{}:,\"\\\\/* \n]){0,40}") {
        let _ = parse(&text);
        let _ = set(&text, &["m", "t"], &json!({}));
    }

    #[test]
    fn one_value_changes_and_nothing_else(
        (written, around) in (table().prop_flat_map(written), (blank(), blank())),
        new in tree(),
    ) {
        let text = format!("{}{}{}", around.0, written.text, around.1);
        let path = ["m", "t"];
        let mut expected = written.value.clone();
        expected.as_object_mut().unwrap().entry("m").or_insert(json!({}))["t"] = new.clone();
        let result = match set(&text, &path, &new).unwrap() {
            Edited::Same => text.clone(),
            Edited::Added(result) => {
                // Two things are new, a comma and the value; between them stand blanks and comments, if anything.
                let kept = between(&text, &result);
                prop_assert!(result.contains(kept) && result.len() > text.len(), "{} → {}", text, result);
                prop_assert_eq!(super::after_blanks(kept, 0), kept.len(), "{} → {}", text, result);
                result
            }
            Edited::Replaced(result) => {
                let root = parse(&text).unwrap().unwrap();
                let span = root.get("m").unwrap().get("t").unwrap().span.clone();
                prop_assert!(result.starts_with(&text[..span.start]) && result.ends_with(&text[span.end..]));
                result
            }
        };
        prop_assert_eq!(get(&result, &[]).unwrap(), Some(expected), "{} → {}", text, result);
        prop_assert_eq!(get(&result, &path).unwrap(), Some(new.clone()));
        prop_assert_eq!(set(&result, &path, &new).unwrap(), Edited::Same);
    }
}
