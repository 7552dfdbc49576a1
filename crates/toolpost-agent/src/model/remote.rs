//! A model behind HTTP: sends a request, reads its stream, asks again where that helps, and gives up where it does not.
//!
//! The key goes into a request to the host of its row, and into nothing else: redirects are not followed, and errors are
//! written without it. Nothing is acted on before a response is complete, so a request may be made again at any time
//! before that; whoever watches is told that what was streamed is void.

use super::address;
use super::catalog::ImageLimits;
use super::catalog::is_on_this_machine;
use super::decoder::{Decoder, Limits};
use super::failure::{Hints, from_http, plain};
use super::format::{Encoded, Target, encode};
use super::image;
use super::key::Key;
use futures_util::stream::{self, BoxStream, StreamExt};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolpost_core::model::{Delta, Model, ModelError, ModelErrorKind, Profile, Request};
use toolpost_http::{
    Client, ClientOptions, Connect, ErrorKind, HeaderMap, HeaderName, HeaderValue, Response, Url,
};

/// Maximum size of the body of an error.
const MAX_ERROR: usize = 1 << 20;

/// How long each step of a request may take.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// Until there is a connection.
    pub connect: Duration,
    /// From there to the first byte of the response. Local models read the whole request before they say a word.
    pub first_byte: Duration,
    /// Between two pieces of the response.
    pub idle: Duration,
    /// For one attempt in all.
    pub total: Duration,
}

impl Default for Timeouts {
    /// 10 s to connect, 5 minutes of silence, one hour in all.
    fn default() -> Timeouts {
        Timeouts {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(300),
            total: Duration::from_secs(3_600),
        }
    }
}

/// When a request is made again.
#[derive(Debug, Clone, Copy)]
pub struct RetryPolicy {
    /// Maximum number of attempts.
    pub attempts: u32,
    /// The first pause; each is twice as long as the one before, give or take a quarter.
    pub pause: Duration,
    /// The longest pause. A provider that asks for a longer one is not asked again.
    pub max_pause: Duration,
    /// Whether a response that broke off is asked for again.
    pub after_deltas: bool,
}

impl Default for RetryPolicy {
    /// Five attempts, pauses from 1 s to 60 s.
    fn default() -> RetryPolicy {
        RetryPolicy {
            attempts: 5,
            pause: Duration::from_secs(1),
            max_pause: Duration::from_secs(60),
            after_deltas: true,
        }
    }
}

impl RetryPolicy {
    /// How long to wait after an attempt that failed; none if it was the last one.
    fn pause(&self, attempt: u32, error: &ModelError, has_deltas: bool, chance: u64) -> Option<Duration> {
        if !error.retryable || attempt >= self.attempts || (has_deltas && !self.after_deltas) {
            return None;
        }
        if let Some(asked) = error.retry_after_ms.map(Duration::from_millis) {
            return (asked <= self.max_pause).then_some(asked);
        }
        let doubled = self.pause.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(self.max_pause);
        Some(doubled.mul_f64(0.75 + (chance % 1_000) as f64 / 2_000.0))
    }
}

impl RetryPolicy {
    /// What to do about a pause that is longer than a run waits.
    fn too_long(&self, error: &ModelError) -> Option<String> {
        let asked = error.retry_after_ms.map(Duration::from_millis)?;
        let is_too_long = error.retryable && asked > self.max_pause;
        is_too_long.then(|| {
            format!(
                "; it wants to be asked again in {}, and a run waits {} at most: run it again then, or with another `--model`",
                spoken(asked),
                spoken(self.max_pause)
            )
        })
    }
}

/// A time in the two largest of its units: `1 h 5 min`.
fn spoken(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_millis() > 0);
    let parts = [(seconds / 3_600, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let parts = parts.iter().filter(|(count, _)| *count > 0).take(2);
    parts.map(|(count, unit)| format!("{count} {unit}")).collect::<Vec<_>>().join(" ")
}

/// A client for model calls; through a proxy, if one is given.
pub fn client(timeouts: &Timeouts, connect: Option<Arc<dyn Connect>>) -> Client {
    let mut options = ClientOptions { connect_timeout: timeouts.connect, ..ClientOptions::default() };
    if let Some(connect) = connect {
        options.connect = connect;
    }
    Client::new(options)
}

/// A model behind HTTP.
#[derive(Clone)]
pub struct Remote(Arc<Shared>);

struct Shared {
    profile: Profile,
    target: Target,
    base_url: String,
    key: Option<Key>,
    /// The header that carries the key, and what stands before the key in it.
    key_header: (String, &'static str),
    client: Client,
    image_limits: ImageLimits,
    timeouts: Timeouts,
    retry: RetryPolicy,
    limits: Limits,
    scaled: Arc<image::Scaled>,
}

impl Remote {
    /// A model at the base URL of its vendor, with the key of the same vendor.
    pub fn new(profile: Profile, target: Target, base_url: &str, key: Option<Key>, client: Client) -> Remote {
        let base_url = base_url.to_owned();
        let (name, begin) = target.format.key_header();
        let key_header = (name.to_owned(), begin);
        let (timeouts, retry, limits) = (Timeouts::default(), RetryPolicy::default(), Limits::default());
        let image_limits = ImageLimits::default();
        Remote(Arc::new(Shared {
            profile,
            target,
            base_url,
            key,
            key_header,
            client,
            image_limits,
            timeouts,
            retry,
            limits,
            scaled: Arc::default(),
        }))
    }

    /// The same model with other time-outs, retries and limits.
    #[must_use]
    pub fn within(self, timeouts: Timeouts, retry: RetryPolicy, limits: Limits) -> Remote {
        self.changed(|shared| (shared.timeouts, shared.retry, shared.limits) = (timeouts, retry, limits))
    }

    /// The same model, which may be silent for so long: before its answer, and within it.
    #[must_use]
    pub fn with_silence(self, longest: Duration) -> Remote {
        self.changed(|shared| (shared.timeouts.first_byte, shared.timeouts.idle) = (longest, longest))
    }

    /// The same model with other limits of images.
    #[must_use]
    pub fn with_image_limits(self, image_limits: ImageLimits) -> Remote {
        self.changed(|shared| shared.image_limits = image_limits)
    }

    /// The same model, whose key goes into this header behind this text.
    #[must_use]
    pub(super) fn with_key_header(self, key_header: (String, &'static str)) -> Remote {
        self.changed(|shared| shared.key_header = key_header)
    }

    fn changed(self, change: impl FnOnce(&mut Shared)) -> Remote {
        let Shared {
            profile,
            target,
            base_url,
            key,
            key_header,
            client,
            image_limits,
            timeouts,
            retry,
            limits,
            scaled,
        } = &*self.0;
        let mut shared = Shared {
            profile: profile.clone(),
            target: target.clone(),
            base_url: base_url.clone(),
            key: key.clone(),
            key_header: key_header.clone(),
            client: client.clone(),
            image_limits: *image_limits,
            timeouts: *timeouts,
            retry: *retry,
            limits: *limits,
            scaled: Arc::clone(scaled),
        };
        change(&mut shared);
        Remote(Arc::new(shared))
    }
}

impl Model for Remote {
    fn profile(&self) -> &Profile {
        &self.0.profile
    }

    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<Delta, ModelError>> {
        let exchange = Exchange {
            shared: Arc::clone(&self.0),
            turn: request.messages.len(),
            request: Some(request),
            encoded: None,
            cancel,
            attempt: 1,
            state: State::Waiting(Duration::ZERO),
            ready: VecDeque::new(),
            has_deltas: false,
            failure: None,
        };
        stream::unfold(exchange, |mut exchange| async move {
            let next = exchange.next().await?;
            Some((next, exchange))
        })
        .boxed()
    }
}

/// One question to a model, with all its attempts.
struct Exchange {
    shared: Arc<Shared>,
    /// Messages of the request.
    turn: usize,
    /// Until it is written.
    request: Option<Request>,
    encoded: Option<Encoded>,
    cancel: CancellationToken,
    attempt: u32,
    state: State,
    ready: VecDeque<Delta>,
    has_deltas: bool,
    /// Why there is no response.
    failure: Option<ModelError>,
}

enum State {
    /// So long until the next attempt.
    Waiting(Duration),
    Reading(Box<(Response, Decoder)>),
    Over,
}

impl Exchange {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                self.has_deltas = true;
                return Some(Ok(delta));
            }
            if let Some(error) = self.failure.take() {
                self.state = State::Over;
                return Some(Err(error));
            }
            if let State::Over = self.state {
                return None;
            }
            if let Err(error) = self.step().await {
                let mut error = self.told(error);
                let has_deltas = self.has_deltas || !self.ready.is_empty();
                match self.shared.retry.pause(self.attempt, &error, has_deltas, chance()) {
                    Some(pause) => {
                        let delay_ms = pause.as_millis() as u64;
                        self.ready.push_back(Delta::Retry { attempt: self.attempt, delay_ms, error });
                        self.attempt += 1;
                        self.state = State::Waiting(pause);
                    }
                    // What came before the error is handed out before it.
                    None => {
                        error.message.extend(self.shared.retry.too_long(&error));
                        self.failure = Some(error);
                    }
                }
            }
        }
    }

    async fn step(&mut self) -> Result<(), ModelError> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Waiting(pause) => {
                if !pause.is_zero() {
                    tokio::select! {
                        biased;
                        () = self.cancel.cancelled() => return Err(cancelled()),
                        () = tokio::time::sleep(pause) => {}
                    }
                }
                if let Some(request) = self.request.take() {
                    self.encoded = Some(self.encode(request).await?);
                }
                let response = Box::pin(self.send()).await?;
                let decoder = Decoder::new(self.shared.target.format, self.turn, self.shared.limits);
                self.state = State::Reading(Box::new((response, decoder)));
                Ok(())
            }
            State::Reading(mut reading) => {
                let (response, decoder) = &mut *reading;
                let bytes = response.chunk().await.map_err(failed)?;
                let is_end = bytes.is_none();
                if let Some(bytes) = bytes {
                    let (deltas, result) = decoder.push(&bytes);
                    self.ready.extend(deltas);
                    result?;
                }
                match is_end || decoder.is_done() {
                    true => self.finish(*reading),
                    false => {
                        self.state = State::Reading(reading);
                        Ok(())
                    }
                }
            }
            State::Over => Ok(()),
        }
    }

    fn finish(&mut self, (response, decoder): (Response, Decoder)) -> Result<(), ModelError> {
        let (deltas, finished) = decoder.finish();
        self.ready.extend(deltas);
        let finished = finished?;
        // The rest is read in the background, so that the connection can be used again.
        response.drain(Duration::from_secs(1));
        self.ready.push_back(Delta::Done(Box::new(finished)));
        Ok(())
    }

    /// Writes the request. Images are scaled by another thread.
    async fn encode(&self, mut request: Request) -> Result<Encoded, ModelError> {
        let shared = Arc::clone(&self.shared);
        if !image::has_images(&request.messages) {
            return encode(&shared.target, &request);
        }
        let written = tokio::task::spawn_blocking(move || {
            shared.scaled.fit_all(&mut request.messages, &shared.image_limits);
            encode(&shared.target, &request)
        });
        written.await.map_err(|error| ModelError::new(ModelErrorKind::Invalid, error.to_string()))?
    }

    async fn send(&self) -> Result<Response, ModelError> {
        let Shared { base_url, timeouts, client, key, key_header, .. } = &*self.shared;
        let Some(encoded) = &self.encoded else { return Err(cancelled()) };
        let url = Url::parse(&address::below(base_url, &encoded.path)).map_err(failed)?;
        let is_local = is_on_this_machine(&url);
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("accept", HeaderValue::from_static("text/event-stream, application/json"));
        headers
            .insert("user-agent", HeaderValue::from_static(concat!("toolpost/", env!("CARGO_PKG_VERSION"))));
        for (name, value) in &encoded.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        if let Some(key) = key {
            let (name, begin) = key_header;
            let invalid = || ModelError::new(ModelErrorKind::Authentication, "the key cannot be sent");
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
            let text = format!("{begin}{}", key.expose());
            let mut value = HeaderValue::from_str(&text).map_err(|_| invalid())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let mut request = toolpost_http::Request::post(url, encoded.body.to_string()).headers(headers);
        request = request.timeout(timeouts.total).idle_timeout(timeouts.idle).cancel(self.cancel.clone());
        let sent = tokio::time::timeout(timeouts.first_byte, client.send(request)).await;
        let response = sent.map_err(|_| silent(timeouts.first_byte))?.map_err(|error| {
            let is_not_running = is_local && error.kind() == ErrorKind::Unreachable;
            let mut error = failed(error);
            if is_not_running {
                error.message.push_str("; start the server, or choose another model with `--model`");
                // It may just have been started anew; longer waits help only servers with many clients.
                error.retryable = self.attempt == 1;
            }
            error
        })?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let hints = Hints::read(|name| response.header(name));
        let place = response.header("location").map(plain);
        let body = response.bytes(MAX_ERROR).await.unwrap_or_default();
        let mut error = from_http(status.as_u16(), &hints, &body);
        if status.is_redirection() {
            let place = place.unwrap_or_else(|| "nowhere".to_owned());
            error.message =
                format!("redirected to {place}, which is not followed; set the base URL to where it is");
        }
        Err(error)
    }

    /// The error as it leaves: with the vendor's name, and without the key.
    fn told(&self, mut error: ModelError) -> ModelError {
        if self.cancel.is_cancelled() {
            error = cancelled();
        }
        let Shared { profile, key, .. } = &*self.shared;
        let status = error.status.map(|status| format!(" ({status})")).unwrap_or_default();
        let begin = format!("{}/{}", profile.vendor, profile.model);
        if !error.message.starts_with(&begin) {
            error.message = format!("{begin}{status}: {}", error.message);
        }
        if let Some(key) = key {
            error.message = key.scrub(&error.message);
            error.code = error.code.map(|code| key.scrub(&code));
            if error.kind == ModelErrorKind::Authentication && !error.message.contains(key.source()) {
                error.message = format!("{}; the key is from {}", error.message, key.source());
            }
        } else if error.kind == ModelErrorKind::Authentication && !error.message.contains("no key") {
            error.message = format!("{}; no key was sent", error.message);
        }
        error
    }
}

fn cancelled() -> ModelError {
    ModelError::new(ModelErrorKind::Cancelled, "the request was cancelled")
}

fn silent(limit: Duration) -> ModelError {
    let message = format!("no answer after {} s", limit.as_secs_f64());
    ModelError { retryable: true, ..ModelError::new(ModelErrorKind::TimedOut, message) }
}

/// An error of the connection. A request may be made again even if it was received: nothing was acted on.
fn failed(error: toolpost_http::Error) -> ModelError {
    let (kind, retryable) = match error.kind() {
        ErrorKind::Invalid => (ModelErrorKind::Invalid, false),
        ErrorKind::TimedOut => (ModelErrorKind::TimedOut, true),
        ErrorKind::TooLarge => (ModelErrorKind::Protocol, false),
        ErrorKind::Cancelled => (ModelErrorKind::Cancelled, false),
        _ => (ModelErrorKind::Network, true),
    };
    ModelError { retryable, ..ModelError::new(kind, plain(&error.to_string())) }
}

/// Some number, so that many clients do not come back at the same moment.
fn chance() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0_u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_the_providers_word_counts() {
        let policy = RetryPolicy { attempts: 4, ..RetryPolicy::default() };
        let mut error = ModelError { retryable: true, ..ModelError::new(ModelErrorKind::Server, "") };
        let pause = |attempt, error: &ModelError, has_deltas| policy.pause(attempt, error, has_deltas, 500);
        assert_eq!(pause(1, &error, false), Some(Duration::from_secs(1)));
        assert_eq!(pause(3, &error, true), Some(Duration::from_secs(4)));
        assert_eq!(pause(4, &error, false), None);
        let never_after = RetryPolicy { after_deltas: false, ..policy };
        assert_eq!(never_after.pause(1, &error, true, 500), None);
        error.retry_after_ms = Some(48_000);
        assert_eq!(pause(1, &error, false), Some(Duration::from_secs(48)));
        error.retry_after_ms = Some(120_000);
        assert_eq!(pause(1, &error, false), None);
        error.retryable = false;
        assert_eq!(pause(1, &error, false), None);
    }

    #[test]
    fn a_pause_that_is_too_long_is_told() {
        let check = |asked_ms, expected: Option<&str>| {
            let mut error = ModelError::new(ModelErrorKind::RateLimited, "");
            (error.retryable, error.retry_after_ms) = (true, Some(asked_ms));
            let told = RetryPolicy::default().too_long(&error);
            let begin = told.as_deref().map(|told| &told[..told.find(',').unwrap()]);
            assert_eq!(begin, expected);
        };
        check(60_000, None);
        check(60_001, Some("; it wants to be asked again in 1 min 1 s"));
        check(3_905_000, Some("; it wants to be asked again in 1 h 5 min"));
        check(7_200_000, Some("; it wants to be asked again in 2 h"));
    }
}
