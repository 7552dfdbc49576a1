//! How long something may take, as people write it: `30s`, `2m`.

use std::time::Duration;

/// Reads a time-out; a number alone is seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        unit => return Err(format!("no unit `{unit}`; write 500ms, 30s, 2m or 1h")),
    };
    match digits.parse::<f64>() {
        Ok(number) if number > 0.0 && number * scale <= 86_400.0 => {
            Ok(Duration::from_secs_f64(number * scale))
        }
        Ok(_) => Err("a time-out is more than 0 and at most one day".to_owned()),
        Err(_) => Err(format!("`{digits}` is not a number; write 500ms, 30s, 2m or 1h")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_parse() {
        for (text, millis) in [("30s", 30_000), ("500ms", 500), ("2m", 120_000), ("7", 7_000), ("0.5", 500)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)));
        }
        for text in ["", "0", "-1", "5x", "s", "inf", "1e99", "NaN"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
