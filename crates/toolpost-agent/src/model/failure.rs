//! What a provider's errors mean: which kind, whether to ask again, and when. Pure.

use super::draft::{items, text};
use serde_json::Value;
use toolpost_core::model::{ModelError, ModelErrorKind};

/// How much of a provider's message is passed on.
const MAX_MESSAGE: usize = 600;
/// A pause longer than this is not believed.
const MAX_PAUSE_MS: u64 = 24 * 3_600_000;

/// What the headers of a response say about asking again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    /// `retry-after-ms`, or `retry-after`, which is a number of seconds or a date.
    pub retry_after_ms: Option<u64>,
    /// `x-should-retry`.
    pub should_retry: Option<bool>,
}

impl Hints {
    /// Reads them. `header` gives a header by its name in lower case.
    pub fn read<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Hints {
        let milliseconds = header("retry-after-ms").and_then(|value| value.trim().parse::<f64>().ok());
        let seconds = header("retry-after").map(str::trim).and_then(|value| {
            let until = || Some(date(value)?.saturating_sub(now_seconds()) as f64);
            value.parse::<f64>().ok().or_else(until)
        });
        let pause = milliseconds.or(seconds.map(|seconds| seconds * 1e3));
        let should_retry = header("x-should-retry").and_then(|value| value.trim().parse().ok());
        Hints { retry_after_ms: pause.and_then(pause_ms), should_retry }
    }
}

/// Seconds since 1970.
fn now_seconds() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}

/// The seconds since 1970 of a date as HTTP writes it, such as `Wed, 18 Nov 2026 08:49:37 GMT`.
fn date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split([' ', ',', '-']).filter(|word| !word.is_empty()).collect();
    let [_, day, month, year, time, "GMT" | "UTC"] = words[..] else { return None };
    let day: u64 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = MONTHS.iter().position(|known| known.eq_ignore_ascii_case(month))? as u64 + 1;
    let year: u64 = year.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut parts = time.split(':').map(|part| part.parse::<u64>().ok().filter(|part| *part < 61));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    // Days since 1970, with years that begin in March.
    let (shifted_year, shifted_month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let days = (365 * shifted_year + shifted_year / 4 - shifted_year / 100 + shifted_year / 400 + of_year)
        .checked_sub(719_468)?;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

fn pause_ms(milliseconds: f64) -> Option<u64> {
    (milliseconds.is_finite() && milliseconds >= 0.0).then(|| (milliseconds.ceil() as u64).min(MAX_PAUSE_MS))
}

/// A response whose status is not a success.
pub fn from_http(status: u16, hints: &Hints, body: &[u8]) -> ModelError {
    let value: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let mut error = match &value {
        Value::Null => {
            let message = plain(&String::from_utf8_lossy(&body[..body.len().min(4 * MAX_MESSAGE)]));
            ModelError::new(ModelErrorKind::Server, message)
        }
        // Some endpoints answer with an array of one error.
        Value::Array(list) => read(list.first().unwrap_or(&Value::Null)),
        other => read(other),
    };
    if error.message.is_empty() {
        error.message = format!("status {status} and no message");
    }
    error.status = Some(status);
    (error.kind, error.retryable) = by_status(status, &error);
    if is_too_long(&error) {
        (error.kind, error.retryable) = (ModelErrorKind::TooLong, false);
    }
    if names_key(&value, &error) {
        (error.kind, error.retryable) = (ModelErrorKind::Authentication, false);
    }
    if is_exhausted(&value, &error) {
        error.retryable = false;
    }
    error.retry_after_ms = hints.retry_after_ms.or(error.retry_after_ms);
    if let Some(should_retry) = hints.should_retry {
        error.retryable = should_retry;
    }
    error
}

/// An error that came within a stream.
pub(super) fn in_stream(value: &Value) -> ModelError {
    let mut error = read(value);
    let inner = inner(value);
    let status =
        inner["code"].as_u64().or(inner["status_code"].as_u64()).and_then(|code| code.try_into().ok());
    let status = status.or(match error.code.as_deref() {
        Some("overloaded_error") => Some(529),
        Some("rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED") => Some(429),
        Some("authentication_error" | "permission_error" | "invalid_api_key") => Some(401),
        Some("invalid_request_error" | "invalid_prompt" | "INVALID_ARGUMENT") => Some(400),
        Some("not_found_error" | "model_not_found") => Some(404),
        _ => None,
    });
    (error.kind, error.retryable) = by_status(status.unwrap_or(500), &error);
    error.status = status;
    if is_too_long(&error) {
        (error.kind, error.retryable) = (ModelErrorKind::TooLong, false);
    }
    if error.message.is_empty() {
        error.message = "the provider ended the stream with an error and no message".to_owned();
    }
    error
}

/// Whether a value of a stream is an error.
pub(super) fn is_error(value: &Value) -> bool {
    value["type"] == "error"
        || match &value["error"] {
            Value::Object(_) => true,
            Value::String(message) => !message.is_empty(),
            _ => false,
        }
}

fn inner(value: &Value) -> &Value {
    match &value["error"] {
        Value::Null => value,
        error => error,
    }
}

/// Message, code and pause, wherever the provider writes them.
fn read(value: &Value) -> ModelError {
    let inner = inner(value);
    let first_detail = &value["detail"][0]["msg"];
    let candidates = [
        &inner["message"],
        inner,
        &value["message"],
        &value["detail"],
        first_detail,
        &value["error_description"],
    ];
    let message = candidates.iter().find_map(|value| value.as_str()).unwrap_or_default();
    let mut message = plain(message);
    // A router names the cause apart.
    let cause = plain(text(&inner["metadata"]["raw"]));
    if !cause.is_empty() {
        message = format!("{message} ({cause})");
    }
    let codes = [&inner["code"], &inner["status"], &inner["type"], &value["code"]];
    let code =
        codes.iter().find_map(|value| value.as_str()).filter(|code| !code.is_empty() && code.len() <= 100);
    let pause = items(&inner["details"]).iter().find_map(|detail| {
        let seconds = text(&detail["retryDelay"]).strip_suffix('s')?.parse::<f64>().ok()?;
        pause_ms(seconds * 1e3)
    });
    let mut error = ModelError::new(ModelErrorKind::Server, message);
    error.code = code.map(str::to_owned);
    error.retry_after_ms = pause;
    error
}

fn by_status(status: u16, error: &ModelError) -> (ModelErrorKind, bool) {
    match status {
        300..=399 => (ModelErrorKind::Network, false),
        401 | 403 => (ModelErrorKind::Authentication, false),
        402 => (ModelErrorKind::RateLimited, false),
        404 => (ModelErrorKind::NotFound, false),
        408 | 504 => (ModelErrorKind::TimedOut, true),
        409 | 425 => (ModelErrorKind::Server, true),
        413 => (ModelErrorKind::TooLong, false),
        429 => (ModelErrorKind::RateLimited, true),
        // A local server that was started without support for tools will not have it a second later.
        500 if error.message.contains("--jinja") => (ModelErrorKind::Invalid, false),
        501 | 505 => (ModelErrorKind::Invalid, false),
        500.. => (ModelErrorKind::Server, true),
        _ => (ModelErrorKind::Invalid, false),
    }
}

fn is_too_long(error: &ModelError) -> bool {
    let code = error.code.as_deref().unwrap_or_default();
    let message = error.message.to_lowercase();
    let is_refused = error.status.is_none_or(|status| matches!(status, 400 | 413 | 422 | 500));
    let says_so = [
        "context_length_exceeded",
        "prompt is too long",
        "maximum context length",
        "exceeds the maximum number of tokens",
        "exceeds the available context size",
        "exceed context window",
        "context window exceeded",
    ];
    is_refused
        && (matches!(code, "context_length_exceeded" | "exceed_context_size_error")
            || says_so.iter().any(|part| message.contains(part)))
}

/// A key that is not accepted, from providers that answer 400 to it.
fn names_key(value: &Value, error: &ModelError) -> bool {
    let reasons = items(&inner(value)["details"]).iter().map(|detail| text(&detail["reason"]));
    let message = error.message.to_lowercase();
    error.status == Some(400)
        && (reasons.into_iter().any(|reason| reason.starts_with("API_KEY_"))
            || message.contains("incorrect api key")
            || message.contains("invalid api key"))
}

/// No credit, or a limit by the day: waiting some seconds does not help.
fn is_exhausted(value: &Value, error: &ModelError) -> bool {
    let violations = items(&inner(value)["details"]).iter().flat_map(|detail| items(&detail["violations"]));
    let by_day = violations.into_iter().any(|violation| text(&violation["quotaId"]).contains("PerDay"));
    by_day || matches!(error.code.as_deref(), Some("insufficient_quota" | "billing_not_active"))
}

/// A text of a provider as one line without control characters, of bounded length.
pub(super) fn plain(message: &str) -> String {
    let mut line = String::new();
    for word in message.split(|character: char| character.is_whitespace() || character.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > MAX_MESSAGE {
            let end = line.floor_char_boundary(MAX_MESSAGE);
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Status, headers and body; kind, whether to ask again, the pause, and a part of the message.
    fn check(
        status: u16,
        headers: &[(&str, &str)],
        body: &str,
        expected: (ModelErrorKind, bool, Option<u64>),
        part: &str,
    ) {
        let header = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let error = from_http(status, &Hints::read(header), body.as_bytes());
        assert_eq!((error.kind, error.retryable, error.retry_after_ms), expected, "{body}");
        assert!(error.message.contains(part), "{error:?}");
    }

    #[test]
    fn errors_are_read_wherever_they_are_written() {
        use ModelErrorKind::*;
        check(401, &[], r#"{"detail":"Invalid API Key"}"#, (Authentication, false, None), "Invalid API Key");
        check(
            400,
            &[],
            r#"{"code":"x","error":"Incorrect API key provided"}"#,
            (Authentication, false, None),
            "Incorrect API",
        );
        check(
            503,
            &[],
            r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#,
            (Server, true, None),
            "Loading",
        );
        check(422, &[], r#"{"detail":[{"msg":"field required"}]}"#, (Invalid, false, None), "field required");
        check(400, &[], r#"[{"error":{"code":400,"message":"bad"}}]"#, (Invalid, false, None), "bad");
        check(502, &[], "<html>\n<b>Bad Gateway</b>", (Server, true, None), "<html> <b>Bad Gateway</b>");
        check(500, &[], "", (Server, true, None), "status 500");
        check(302, &[], "", (Network, false, None), "status 302");
        check(
            400,
            &[],
            r#"{"error":{"type":"exceed_context_size_error","message":"too big","code":400}}"#,
            (TooLong, false, None),
            "too big",
        );
        check(
            400,
            &[],
            r#"{"error":{"message":"This model's maximum context length is 8 tokens","code":null}}"#,
            (TooLong, false, None),
            "maximum",
        );
        check(
            429,
            &[],
            r#"{"error":{"code":"insufficient_quota","message":"no credit"}}"#,
            (RateLimited, false, None),
            "credit",
        );
    }

    #[test]
    fn the_servers_hints_decide() {
        use ModelErrorKind::*;
        let over = r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        check(529, &[], over, (Server, true, None), "Overloaded");
        check(529, &[("x-should-retry", "false")], over, (Server, false, None), "Overloaded");
        check(400, &[("x-should-retry", "true")], over, (Invalid, true, None), "Overloaded");
        check(
            429,
            &[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")],
            "{}",
            (RateLimited, true, Some(0)),
            "",
        );
        check(
            429,
            &[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")],
            "{}",
            (RateLimited, true, Some(MAX_PAUSE_MS)),
            "",
        );
        assert_eq!(date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(date("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
        assert_eq!((date("soon"), date("Sun, 32 Nov 1994 08:49:37 GMT")), (None, None));
        check(429, &[("retry-after", "3")], "{}", (RateLimited, true, Some(3_000)), "");
        check(
            429,
            &[("retry-after", "3"), ("retry-after-ms", "250")],
            "{}",
            (RateLimited, true, Some(250)),
            "",
        );
        check(429, &[("retry-after", "1e300")], "{}", (RateLimited, true, Some(MAX_PAUSE_MS)), "");
        check(429, &[("retry-after", "-1")], "{}", (RateLimited, true, None), "");
        let daily = r#"{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[
            {"violations":[{"quotaId":"GenerateRequestsPerDay"}]},{"retryDelay":"48.5s"}]}}"#;
        check(429, &[], daily, (RateLimited, false, Some(48_500)), "quota");
    }
}
