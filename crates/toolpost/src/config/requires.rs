//! The key `requires`: the version of toolpost that a file is written for.
//!
//! A program that is older says so before it looks at anything else: to it, the keys of a newer one would look misspelt.

use super::key::{File, Form, Kind, Schema, Text};
use super::kinds::WORD;
use super::origin::Problem;
use serde_json::json;

/// The name of the key.
pub(super) const NAME: &str = "requires";
/// The version of this program.
const OWN: &str = env!("CARGO_PKG_VERSION");

/// A version as far as it is named: `0.2` is any of 0.2 and later.
pub(super) const VERSION: Kind<String> = Kind {
    form: Form::Text(Text { parse: check, longest: WORD }),
    schema: Schema::Is(|| json!({"type": "string", "pattern": r"^[0-9]+(\.[0-9]+){0,2}$"})),
    show: |version| version.as_str().into(),
};

/// What is wrong with `requires` of a file, if it has one.
pub(super) fn problem(file: &File<'_, '_>) -> Option<Problem> {
    let value = file.table.get(NAME)?;
    let message = check(value.get_ref().as_str()?).err()?;
    Some(file.source.located(value.span().start, message).into())
}

fn check(text: &str) -> Result<String, String> {
    let Some(wanted) = numbers(text) else {
        return Err(format!(
            "`{text}` is not a version; write the oldest that will do, such as `requires = \"{OWN}\"`"
        ));
    };
    match numbers(OWN).is_some_and(|own| own < wanted) {
        true => {
            Err(format!("this file requires toolpost {text} or newer, and this is {OWN}; update toolpost"))
        }
        false => Ok(text.to_owned()),
    }
}

/// Up to three numbers; those that are not named are 0.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    let mut parts = version.trim().split('.');
    for number in &mut numbers {
        let Some(part) = parts.next() else { break };
        *number = part.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit()))?;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_number_by_number() {
        for (text, expected) in [
            ("0.2", Some([0, 2, 0])),
            ("1", Some([1, 0, 0])),
            ("0.10.3", Some([0, 10, 3])),
            ("", None),
            ("0.2.1.4", None),
            ("v0.2", None),
            ("+1", None),
            ("latest", None),
        ] {
            assert_eq!(numbers(text), expected, "{text}");
        }
        assert!(check(OWN).is_ok() && check("0.0.1").is_ok());
        assert!(check("99").unwrap_err().contains("requires toolpost 99 or newer"));
    }
}
