//! `toolpost log`: its arguments, and which events are meant.

use clap::Args;
use std::time::Duration;

/// Shows what has happened.
#[derive(Debug, Args)]
pub struct Log {
    /// Which events.
    #[command(flatten)]
    pub which: Which,
    /// Only of this call: its id, or the ending of it that a line of the log shows.
    #[arg(long, value_name = "ID")]
    pub call: Option<String>,
    /// Only ends of calls with this outcome: ok, failed, or a code such as TIMEOUT.
    #[arg(long, value_name = "OUTCOME")]
    pub outcome: Option<String>,
    /// Only with all of these words, in whatever order: whole words, not parts of them.
    #[arg(long, value_name = "WORDS")]
    pub grep: Option<String>,
    /// Maximum number of events; of more, the last ones are shown.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,
    /// Go on with what happens from now on, until interrupted.
    #[arg(long, short)]
    pub follow: bool,
}

/// Which events of the log are meant.
#[derive(Debug, Clone, Default, Args)]
pub struct Which {
    /// Only of calls of this tool, by its own name.
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Only of this agent.
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Only what is not older than this: 10m, 2h, 3d.
    #[arg(long, value_name = "TIME", value_parser = parse_age)]
    pub since: Option<Duration>,
    /// Only what is older than this.
    #[arg(long, value_name = "TIME", value_parser = parse_age)]
    pub until: Option<Duration>,
}

/// Reads how long ago something was, where days count too.
fn parse_age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a time; write 30s, 10m, 2h or 3d");
    let (digits, unit) = text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    let scale = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(scale).map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_parse() {
        for (text, seconds) in [("30s", 30), ("10m", 600), ("2h", 7_200), ("3d", 259_200)] {
            assert_eq!(parse_age(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["", "d", "3", "3w", "-1d", "1.5h", "99999999999999999999d", "3é"] {
            assert!(parse_age(text).is_err(), "{text}");
        }
    }
}
