//! What is said to a language server, and what its answers mean. Pure: a server's word is checked, cut and never obeyed.

use serde_json::{Value, json};
use toolpost_core::code::CodeError;

/// Maximum number of errors of one file that are looked at.
const MOST_ERRORS: usize = 1_000;
/// Maximum number of bytes of one message.
const LONGEST: usize = 2_000;

/// The languages whose names are known, with the extensions of their files.
const LANGUAGES: [(&str, &[&str]); 34] = [
    ("python", &["py", "pyi"]),
    ("typescript", &["ts", "mts", "cts"]),
    ("typescriptreact", &["tsx"]),
    ("javascript", &["js", "mjs", "cjs"]),
    ("javascriptreact", &["jsx"]),
    ("rust", &["rs"]),
    ("go", &["go"]),
    ("c", &["c", "h"]),
    ("cpp", &["cpp", "cc", "cxx", "hpp", "hh", "hxx"]),
    ("csharp", &["cs"]),
    ("java", &["java"]),
    ("kotlin", &["kt", "kts"]),
    ("scala", &["scala", "sc"]),
    ("swift", &["swift"]),
    ("ruby", &["rb"]),
    ("php", &["php"]),
    ("lua", &["lua"]),
    ("perl", &["pl", "pm"]),
    ("shellscript", &["sh", "bash"]),
    ("haskell", &["hs"]),
    ("ocaml", &["ml", "mli"]),
    ("elixir", &["ex", "exs"]),
    ("erlang", &["erl", "hrl"]),
    ("clojure", &["clj", "cljs"]),
    ("dart", &["dart"]),
    ("zig", &["zig"]),
    ("vue", &["vue"]),
    ("svelte", &["svelte"]),
    ("html", &["html", "htm"]),
    ("css", &["css"]),
    ("json", &["json"]),
    ("yaml", &["yaml", "yml"]),
    ("toml", &["toml"]),
    ("markdown", &["md"]),
];

pub(super) fn languages() -> Vec<&'static str> {
    LANGUAGES.iter().map(|(name, _)| *name).collect()
}

pub(super) fn extensions_of(language: &str) -> &'static [&'static str] {
    LANGUAGES.iter().find(|(name, _)| *name == language).map_or(&[], |(_, extensions)| extensions)
}

/// What a server calls the language of a file.
pub(super) fn language_of(name: &str) -> &str {
    let extension = name.rsplit('/').next().and_then(|last| last.rsplit_once('.')).map_or("", |(_, end)| end);
    let known = LANGUAGES.iter().find(|(_, extensions)| extensions.contains(&extension));
    known.map_or(extension, |(name, _)| name)
}

/// The address of a file or folder by its absolute path.
pub(super) fn uri(path: &str) -> String {
    let mut uri = String::from("file://");
    for byte in path.bytes() {
        match byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            true => uri.push(char::from(byte)),
            false => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// Whether two addresses mean the same file; servers write letters as codes, or not.
pub(super) fn same_file(one: &str, other: &str) -> bool {
    one == other || decoded(one) == decoded(other)
}

fn decoded(uri: &str) -> Vec<u8> {
    let (bytes, mut decoded, mut at) = (uri.as_bytes(), Vec::with_capacity(uri.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let code = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match (byte, code.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'%', Some(letter)) => {
                decoded.push(letter);
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    decoded
}

/// The first request.
pub(super) fn initialize(root: &str, options: &Value) -> Value {
    let uri = uri(root);
    let name = root.rsplit('/').next().unwrap_or_default();
    json!({
        // It sees no process but its own.
        "processId": null,
        "clientInfo": {"name": "toolpost", "version": env!("CARGO_PKG_VERSION")},
        "rootPath": root,
        "rootUri": uri,
        "workspaceFolders": [{"uri": uri, "name": name}],
        "initializationOptions": options,
        "capabilities": {
            "general": {"positionEncodings": ["utf-16"]},
            "workspace": {"configuration": true, "workspaceFolders": true, "applyEdit": false},
            "textDocument": {
                "synchronization": {"didSave": false},
                "publishDiagnostics": {"versionSupport": true},
                "diagnostic": {"dynamicRegistration": false},
            },
        },
    })
}

/// How the errors of a file are had from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// It answers when it is asked.
    Asked,
    /// So it does, in the words of TypeScript's own server.
    TypeScript,
    /// It sends them when it likes.
    Sent,
}

impl Way {
    /// By what the server says of itself.
    pub(super) fn of(initialized: &Value) -> Way {
        let capabilities = &initialized["capabilities"];
        let commands = capabilities["executeCommandProvider"]["commands"].as_array();
        let has_command = commands.is_some_and(|all| all.iter().any(|name| name == TYPESCRIPT_COMMAND));
        match capabilities["diagnosticProvider"].is_object() {
            true => Way::Asked,
            false if has_command => Way::TypeScript,
            false => Way::Sent,
        }
    }
}

/// The command by which typescript-language-server hands a request to TypeScript's own server.
pub(super) const TYPESCRIPT_COMMAND: &str = "typescript.tsserverRequest";

/// The answer to a request of the server: nothing that it asks for changes anything.
pub(super) fn answer_to(method: &str, params: &Value) -> Result<Value, Value> {
    match method {
        "workspace/configuration" => {
            let count = params["items"].as_array().map_or(0, Vec::len);
            Ok(vec![Value::Null; count.min(MOST_ERRORS)].into())
        }
        "workspace/applyEdit" => {
            Ok(json!({"applied": false, "failureReason": "this client changes nothing"}))
        }
        "workspace/workspaceFolders"
        | "window/showMessageRequest"
        | "client/registerCapability"
        | "client/unregisterCapability"
        | "window/workDoneProgress/create"
        | "workspace/diagnostic/refresh" => Ok(Value::Null),
        _ => Err(json!({"code": -32601, "message": "not supported"})),
    }
}

/// The errors among diagnostics of the protocol. Anything else than errors is left out.
pub(super) fn errors(diagnostics: &Value, text: &str) -> Vec<CodeError> {
    let lines: Vec<&str> = text.split('\n').collect();
    let all = diagnostics.as_array().into_iter().flatten();
    let found = all.filter(|one| one["severity"].as_u64().is_none_or(|severity| severity == 1));
    found
        .take(MOST_ERRORS)
        .filter_map(|one| {
            let start = &one["range"]["start"];
            let line = usize::try_from(start["line"].as_u64()?).ok()?;
            let units = usize::try_from(start["character"].as_u64().unwrap_or(0)).unwrap_or(usize::MAX);
            Some(error(&lines, line, units, one["message"].as_str()?, &one["code"]))
        })
        .collect()
}

/// The errors in an answer of TypeScript's own server. Its lines and columns count from 1.
pub(super) fn typescript_errors(answer: &Value, text: &str) -> Option<Vec<CodeError>> {
    let lines: Vec<&str> = text.split('\n').collect();
    let all = answer["body"].as_array()?.iter();
    let found = all.filter(|one| one["category"] == "error").take(MOST_ERRORS).filter_map(|one| {
        let number = |key: &str| usize::try_from(one["start"][key].as_u64()?.checked_sub(1)?).ok();
        Some(error(&lines, number("line")?, number("offset")?, one["text"].as_str()?, &one["code"]))
    });
    Some(found.collect())
}

/// One error at a line and a column in UTF-16, both counting from 0. A place that is not in the text is moved into it.
fn error(lines: &[&str], line: usize, units: usize, message: &str, code: &Value) -> CodeError {
    let line = line.min(lines.len().saturating_sub(1));
    let mut left = units;
    let before = lines.get(line).copied().unwrap_or_default().chars().take_while(|letter| {
        let is_before = left > 0;
        left = left.saturating_sub(letter.len_utf16());
        is_before
    });
    CodeError {
        column: before.count() + 1,
        line: line + 1,
        message: message[..message.floor_char_boundary(LONGEST)].to_owned(),
        code: match code {
            Value::String(code) => Some(code.chars().take(80).collect()),
            Value::Number(code) => Some(code.to_string()),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_files() {
        assert_eq!(uri("/a b/ä#.py"), "file:///a%20b/%C3%A4%23.py");
        assert!(same_file("file:///a@b.py", "file:///a%40b.py"));
        assert!(!same_file("file:///a.py", "file:///b.py") && !same_file("file:///%", "file:///%25%"));
    }

    #[test]
    fn only_errors_count_and_places_are_in_the_text() {
        let at = |line: u64, character: u64| json!({"start": {"line": line, "character": character}});
        let found = errors(
            &json!([
                {"range": at(0, 2), "message": "a", "severity": 1, "code": 7},
                {"range": at(0, 0), "message": "b", "severity": 2},
                {"range": at(u64::MAX, u64::MAX), "message": "c", "code": "x"},
                {"range": at(0, 0)}, {"message": "d"}, 7, null,
            ]),
            "😀 x\ny",
        );
        let shown: Vec<String> = found
            .iter()
            .map(|one| format!("{}:{} {} {:?}", one.line, one.column, one.message, one.code))
            .collect();
        assert_eq!(shown, ["1:2 a Some(\"7\")", "2:2 c Some(\"x\")"]);
        assert_eq!(errors(&json!({"a": 1}), "x"), []);
    }

    #[test]
    fn files_have_the_language_of_their_extension() {
        for (name, language) in
            [("a/b.py", "python"), ("b.tsx", "typescriptreact"), ("x.weird", "weird"), ("py", "")]
        {
            assert_eq!(language_of(name), language);
        }
    }
}
