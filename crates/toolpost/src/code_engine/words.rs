//! The words for kinds and languages that a question may use.

use toolpost_code::languages;
use toolpost_core::code::SymbolQuery;
use toolpost_core::text::nearest;
use toolpost_core::{Code, ToolError};

/// The kinds that symbols have.
const KINDS: [&str; 16] = [
    "function",
    "method",
    "class",
    "struct",
    "enum",
    "union",
    "interface",
    "trait",
    "type",
    "variable",
    "constant",
    "field",
    "variant",
    "module",
    "macro",
    "parameter",
];
/// Other words for some of them.
const OTHER_KINDS: [&str; 6] = ["func", "fn", "const", "var", "property", "namespace"];

/// An error for a kind or a language that nothing can have.
pub(super) fn check(query: &SymbolQuery) -> Result<(), ToolError> {
    if let Some(kind) = &query.kind {
        let known = KINDS.iter().chain(&OTHER_KINDS);
        if !known.clone().any(|word| word.eq_ignore_ascii_case(kind)) {
            return Err(unknown("kind", kind, &KINDS));
        }
    }
    if let Some(language) = &query.language {
        let known: Vec<&str> = languages::all().iter().map(|one| one.name()).collect();
        if !known.iter().any(|name| is_language(language, name)) {
            return Err(unknown("language", language, &known));
        }
    }
    Ok(())
}

fn unknown(what: &str, given: &str, known: &[&str]) -> ToolError {
    let near = nearest(given, known.iter().copied(), 1);
    let advice = match near.first() {
        Some(near) => format!("nearest: `{near}`; known: {}", known.join(", ")),
        None => format!("known: {}", known.join(", ")),
    };
    let message = format!("no {what} `{given}` is known; {advice}");
    ToolError::new(Code::ValidationError, message).with(what, given)
}

/// Whether a kind is meant by a word: `class` means every type, `function` methods too.
pub(super) fn is_kind(wanted: &str, kind: &str) -> bool {
    let wanted = wanted.to_lowercase();
    match wanted.as_str() {
        "function" | "func" | "fn" => matches!(kind, "function" | "method"),
        "type" | "class" => {
            matches!(kind, "class" | "struct" | "enum" | "union" | "interface" | "trait" | "type")
        }
        "const" => kind == "constant",
        "var" => kind == "variable",
        "property" => kind == "field",
        "namespace" => kind == "module",
        other => other == kind,
    }
}

/// Whether a language is meant by a word.
pub(super) fn is_language(wanted: &str, language: &str) -> bool {
    let wanted = wanted.to_lowercase();
    let usual = match wanted.as_str() {
        "ts" | "tsx" | "javascript" | "js" | "jsx" => "typescript",
        "py" => "python",
        "rs" => "rust",
        "golang" => "go",
        other => other,
    };
    usual == language || wanted == language
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_nothing_can_have_are_refused() {
        let query = |kind: Option<&str>, language: Option<&str>| SymbolQuery {
            kind: kind.map(str::to_owned),
            language: language.map(str::to_owned),
            ..SymbolQuery::default()
        };
        for (kind, language, expected) in [
            (None, None, ""),
            (Some("Function"), Some("JS"), ""),
            (Some("fn"), Some("golang"), ""),
            (Some("functoin"), None, "no kind `functoin` is known; nearest: `function`; known: function, "),
            (None, Some("cobol"), "no language `cobol` is known; known: go, rust, python, typescript"),
        ] {
            let told = check(&query(kind, language)).err().map(|error| error.message().to_owned());
            let told = told.unwrap_or_default();
            assert!(told.starts_with(expected) && told.is_empty() == expected.is_empty(), "{told}");
        }
    }
}
