//! The address of a vendor: a base URL, which may have a query, and the path of a request below it. Pure.

use std::borrow::Cow;

/// The URL of a path below a base URL. Both may have a query: the request gets both, that of the base first.
pub(super) fn below(base: &str, path: &str) -> String {
    let (base, base_query) = parts(base);
    let (path, path_query) = parts(path);
    let queries = [base_query, path_query].into_iter().flatten().filter(|query| !query.is_empty());
    let query = queries.collect::<Vec<_>>().join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{}{path}{mark}{query}", base.trim_end_matches('/'))
}

/// What is wrong with a base URL: a user in front of the host, or a fragment. An `@` further behind is a letter of the path.
pub(super) fn wrong(base: &str) -> Option<&'static str> {
    let rest = base.split_once("://").map_or(base, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match () {
        () if authority.contains('@') => {
            Some("the base URL holds no user and no password; a key is found by `key`")
        }
        () if base.contains('#') => Some("the base URL holds no fragment; remove the `#` and what follows"),
        () => None,
    }
}

/// The base URL for messages and lists. A query may hold what only its owner should see.
pub(super) fn shown(base: &str) -> Cow<'_, str> {
    match parts(base) {
        (_, None) => Cow::Borrowed(base),
        (base, Some(_)) => Cow::Owned(format!("{base}?…")),
    }
}

fn parts(url: &str) -> (&str, Option<&str>) {
    url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_stays_behind_the_path() {
        for (base, path, expected) in [
            ("https://a.test/v1", "/chat/completions", "https://a.test/v1/chat/completions"),
            ("https://a.test/v1/", "/chat", "https://a.test/v1/chat"),
            (
                "https://a.test/openai/deployments/d?api-version=2026-01-01",
                "/chat/completions",
                "https://a.test/openai/deployments/d/chat/completions?api-version=2026-01-01",
            ),
            ("https://a.test/v1/?x=1&y=2", "/m:stream?alt=sse", "https://a.test/v1/m:stream?x=1&y=2&alt=sse"),
            ("https://a.test/v1?", "/chat", "https://a.test/v1/chat"),
            ("https://a.test/@cf/v1", "/chat", "https://a.test/@cf/v1/chat"),
            ("https://a.test?x=1", "", "https://a.test?x=1"),
        ] {
            assert_eq!(below(base, path), expected);
        }
    }

    #[test]
    fn only_a_user_and_a_fragment_are_wrong() {
        for fine in ["https://a.test/@team/v1?k=a@b", "http://127.0.0.1:1/v1", "https://a.test?user=@x"] {
            assert_eq!(wrong(fine), None, "{fine}");
        }
        for refused in ["https://u:p@a.test/v1", "https://u@a.test?x", "https://a.test/v1#x"] {
            assert!(wrong(refused).is_some(), "{refused}");
        }
        assert_eq!(shown("https://a.test/v1?key=secret"), "https://a.test/v1?…");
    }
}
