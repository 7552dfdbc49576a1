//! Where a store is and how long it keeps what it has, as the configuration says it.

use super::key::{Form, Kind, Schema, Text};
use super::kinds::WORD;
use serde_json::json;
use std::path::{Path, PathBuf};
use toolpost_core::store::Retention;
use toolpost_store::StoreUrl;

/// Where a store is.
pub(super) const STORE: Kind<StoreUrl> = Kind {
    form: Form::Text(Text {
        parse: |text| text.parse::<StoreUrl>().map_err(|error| error.message().to_owned()),
        longest: None,
    }),
    schema: Schema::Is(|| json!({"type": "string", "pattern": "^(memory|sqlite:.+|postgres(ql)?://.+)$"})),
    show: |store| store.to_string().trim_matches('`').into(),
};

/// How long, and how much.
pub(super) const KEEP: Kind<Retention> = Kind {
    form: Form::Text(Text { parse: parse_keep, longest: WORD }),
    schema: Schema::Is(|| {
        let part = "[0-9]+ (days?|MiB|GiB)";
        json!({"type": "string", "pattern": format!("^(all|{part}(, *{part})?)$")})
    }),
    show: |keep| shown(keep).into(),
};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const MIB: u64 = 1 << 20;

fn parse_keep(text: &str) -> Result<Retention, String> {
    if text.trim() == "all" {
        return Ok(Retention { age_ms: u64::MAX, bytes: u64::MAX });
    }
    let mut keep = Retention::default();
    for part in text.split(',') {
        let (number, unit) = part.trim().split_once(' ').unwrap_or_default();
        let times = |one: u64| number.parse::<u64>().ok().and_then(|number| number.checked_mul(one));
        match (unit.trim(), times(DAY_MS), times(MIB), times(MIB * 1024)) {
            ("day" | "days", Some(age), ..) => keep.age_ms = age,
            ("MiB", _, Some(bytes), _) | ("GiB", _, _, Some(bytes)) => keep.bytes = bytes,
            _ => {
                return Err(format!(
                    "`{text}` does not say what is kept; write `30 days, 1 GiB`, one of the two, or `all`"
                ));
            }
        }
    }
    Ok(keep)
}

/// As it is written in a file.
fn shown(keep: &Retention) -> String {
    let size = match keep.bytes {
        bytes if bytes % (MIB * 1024) == 0 => format!("{} GiB", bytes / (MIB * 1024)),
        bytes => format!("{} MiB", bytes / MIB),
    };
    match (keep.age_ms, keep.bytes) {
        (u64::MAX, u64::MAX) => "all".to_owned(),
        (age, _) => format!("{} days, {size}", age / DAY_MS),
    }
}

/// The store that is meant: the one that was named, else the workspace's own. None where there is no place for one.
pub(super) fn store(
    named: Option<&StoreUrl>,
    home: Option<&Path>,
    cwd: &Path,
    data: Option<&Path>,
    workspace: &str,
) -> Option<StoreUrl> {
    match named {
        Some(StoreUrl::Sqlite(path)) => Some(StoreUrl::Sqlite(cwd.join(from_home(path, home)))),
        Some(other) => Some(other.clone()),
        None => Some(StoreUrl::Sqlite(super::stores::folder(data?).join(format!("{workspace}.db")))),
    }
}

fn from_home(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_and_shown_alike() {
        for text in ["30 days, 1 GiB", "7 days, 200 MiB", "all"] {
            assert_eq!(parse_keep(text).map(|keep| shown(&keep)).as_deref(), Ok(text));
        }
        assert_eq!(parse_keep("2 GiB").map(|keep| shown(&keep)).as_deref(), Ok("30 days, 2 GiB"));
        for text in ["", "30", "30 apples", "days 30", "-1 days", "99999999999999999999 days"] {
            assert!(parse_keep(text).is_err_and(|why| why.contains("30 days, 1 GiB")), "{text}");
        }
    }

    #[test]
    fn a_store_is_the_named_one_or_the_workspace_s_own() {
        let (home, data) = (Some(Path::new("/home/me")), Some(Path::new("/data")));
        let named = |text: &str| {
            store(text.parse().ok().as_ref(), home, Path::new("/cwd"), data, "w").map(|url| url.to_string())
        };
        assert_eq!(named("sqlite:~/a.db").as_deref(), Some("`sqlite:/home/me/a.db`"));
        assert_eq!(named("nonsense").as_deref(), Some("`sqlite:/data/stores/w.db`"));
        assert_eq!(named("memory").as_deref(), Some("`memory`"));
        assert_eq!(named("sqlite:a.db").as_deref(), Some("`sqlite:/cwd/a.db`"));
        assert_eq!(store(None, home, Path::new("/cwd"), None, "w"), None);
    }
}
