//! Resources of rules that no call can have, or that mean something else than they seem to. Whether the action is known is
//! not judged here.

mod host;
mod notation;

use notation::{Subject, notation};
use toolpost_core::policy::{Names, Rule};

/// What is odd about a resource.
pub(crate) struct OddResource {
    pub(crate) message: String,
    /// Whether no call can match it.
    pub(crate) matches_nothing: bool,
}

impl OddResource {
    fn useless(message: String) -> Option<OddResource> {
        Some(OddResource { message, matches_nothing: true })
    }

    fn doubtful(message: String) -> Option<OddResource> {
        Some(OddResource { message, matches_nothing: false })
    }
}

/// What is odd about the resource of this rule. `root` is the absolute path of the workspace, if it has one.
pub(crate) fn odd_resource(rule: &Rule, names: &Names, root: Option<&str>) -> Option<OddResource> {
    if rule.resource().is_everything() || rule.is_protected() {
        return None;
    }
    let text = rule.resource().as_str();
    let kinds = names.kinds(rule.action());
    match (kinds.path, kinds.command, kinds.host) {
        (false, true, false) => odd_command(rule, text),
        (false, false, true) => odd_host(rule, text),
        (true, false, _) => odd_path(text, root),
        _ => None,
    }
}

fn odd_command(rule: &Rule, text: &str) -> Option<OddResource> {
    if let Some((tool, line)) = text.strip_suffix(')').and_then(|text| text.split_once('('))
        && !tool.is_empty()
        && tool.chars().all(char::is_alphanumeric)
    {
        return OddResource::useless(format!(
            "`{text}` has the name of a tool in the resource, where only the command belongs; write `{line}`"
        ));
    }
    if let Some(operator) = operator(text) {
        return OddResource::useless(format!(
            "`{text}` has `{operator}`, but each command of a line is judged by itself, without what joins or redirects it; \
             write a rule for each command, and one about files for what is redirected. Within an argument, quote it"
        ));
    }
    if let Some(odd) = notation(text, Subject::Command) {
        return Some(odd);
    }
    if text.contains("**") || text.ends_with('/') {
        return OddResource::doubtful(format!(
            "`{text}` looks like a path, but `{}` rules match command lines; write a command such as `cargo test *`, \
             or use the actions read and write for paths",
            rule.action()
        ));
    }
    if let Some(words) = text.strip_suffix(":*") {
        let message = format!(
            "`{text}` matches only what begins with `{words}:`; for `{words}` with any arguments write `{words} *`"
        );
        return match words.contains(' ') {
            // Scripts of packages have such names: `npm run test:unit`.
            true => OddResource::doubtful(message),
            false => OddResource::useless(message),
        };
    }
    None
}

/// An operator of the shell that is outside of quotes.
fn operator(text: &str) -> Option<&'static str> {
    const OPERATORS: [&str; 11] = ["&&", "||", "|", ";", "&", ">", "<", "$(", "`", "<(", ">("];
    let mut quote = None;
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, _) => {
                let rest = &text[at..];
                if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
                    return Some(operator);
                }
                if rest.starts_with(" #") {
                    return Some("#");
                }
            }
        }
    }
    None
}

fn odd_host(rule: &Rule, text: &str) -> Option<OddResource> {
    let bare = text.strip_prefix("domain:").unwrap_or(text).trim_end_matches('.');
    let bare = bare.rsplit('@').next().unwrap_or(bare);
    if text.contains('/') {
        return OddResource::useless(format!(
            "`{text}` has a `/`, but `{}` rules match host names only; write the host, such as `*.example.com`",
            rule.action()
        ));
    }
    if bare != text {
        return OddResource::useless(format!("`{text}` is more than the name of a host; write `{bare}`"));
    }
    host::unlike_a_host(text).and_then(OddResource::useless)
}

fn odd_path(text: &str, root: Option<&str>) -> Option<OddResource> {
    if let Some(odd) = notation(text, Subject::Path) {
        return Some(odd);
    }
    let from_root = text.trim_start_matches("./").trim_start_matches('/');
    let mut parts = from_root.split('/');
    if parts.clone().any(|part| part == "." || part == "..") {
        return OddResource::useless(format!(
            "`{text}` has a `.` or `..` part, which no path has when it is judged; write it without"
        ));
    }
    if text.starts_with('~') {
        return OddResource::useless(format!(
            "`{text}` begins with `~`, which is not expanded; write `//` and the absolute path"
        ));
    }
    if from_root.starts_with("$PWD") || from_root.starts_with("$HOME") || from_root.starts_with("${") {
        return OddResource::useless(format!(
            "`{text}` begins with a variable, which is not expanded; write the path from the workspace root, or `//` and \
             the absolute path"
        ));
    }
    if from_root.is_empty() {
        return OddResource::useless(format!(
            "`{text}` names only the root itself; write `*` for everything, or `/*` for what is directly in the root"
        ));
    }
    if from_root.contains("//") {
        return OddResource::useless(format!("`{text}` has an empty part, which no path has; write one `/`"));
    }
    let is_from_root = text.starts_with('/') && !text.starts_with("//");
    let root = root.map(|root| root.trim_matches('/')).filter(|root| !root.is_empty());
    if let Some(inside) = root.and_then(|root| from_root.strip_prefix(root)).filter(|_| is_from_root)
        && (inside.is_empty() || inside.starts_with('/'))
    {
        let inside = if inside.len() > 1 { inside } else { "*" };
        return OddResource::useless(format!(
            "`{text}` begins at the workspace root, and not at that of the machine; write `{inside}`, or `/{text}`"
        ));
    }
    let system = ["etc", "usr", "home", "root", "var", "tmp", "opt", "proc", "Users", "private"];
    let first = parts.next().unwrap_or_default();
    if is_from_root && system.contains(&first) {
        return OddResource::doubtful(format!(
            "`{text}` means the folder `{first}` of the workspace; write `/{text}` for the absolute path"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::operator;

    #[test]
    fn operators_are_found_outside_of_quotes() {
        for (text, expected) in [
            ("curl * | sh", Some("|")),
            ("a && b", Some("&&")),
            ("touch q; *", Some(";")),
            ("touch q > x", Some(">")),
            ("$(touch q)", Some("$(")),
            ("touch q #*", Some("#")),
            ("git commit -m 'a; b | c'", None),
            ("grep \"a|b\" *", None),
            ("find . -exec rm {} \\;", None),
            ("echo a#b", None),
            ("cargo test *", None),
        ] {
            assert_eq!(operator(text), expected, "{text}");
        }
    }
}
