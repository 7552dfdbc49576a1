//! The guarded fetcher: the only part that reaches the network.
//!
//! A name is resolved once, every address is judged, and the connection is made to one of exactly these. Redirects are
//! followed here, each hop judged like the first. There is no proxy, no cookie, no credential and no referrer. One deadline
//! holds for everything, and the limit of bytes counts what was decompressed.

use crate::address::{NotPublic, not_public};
use crate::coding::{self, CodingError};
use crate::url::PageUrl;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolpost_http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, ETAG,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION, USER_AGENT,
};
use toolpost_http::{
    BoxFuture, Client, ClientOptions, Connect, ErrorKind, HeaderMap, HeaderValue, Request, Response, Roots,
    Target, Transport, Url,
};

/// Maximum number of redirects that are followed.
const MAX_REDIRECTS: usize = 10;
/// Maximum number of addresses of one name that are tried.
const MAX_ADDRESSES: usize = 4;
/// Maximum number of bytes of an entity tag or a date that is sent back.
const LONGEST_VALIDATOR: usize = 1024;
/// How long one address may take to answer where there are others.
const PATIENCE: Duration = Duration::from_secs(4);

/// Says what may be reached. Asked for each hop of each fetch, before anything is sent.
pub trait Gate: Send + Sync {
    /// Whether a host may be looked up and reached at all; the error says why not.
    fn host(&self, url: &PageUrl, hop: Hop) -> Result<(), String>;
    /// Whether a host may be reached at this address; `why` says that the address is not public.
    fn address(&self, url: &PageUrl, address: IpAddr, why: Option<NotPublic>) -> Result<(), String>;
}

/// Where a fetch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// The address that was asked for.
    First,
    /// One that the server before it named.
    Redirect,
}

/// What is fetched, and within which bounds.
pub struct Fetch<'a> {
    /// The page.
    pub url: PageUrl,
    /// The time by which everything is done.
    pub deadline: Instant,
    /// Maximum number of bytes of the body, decompressed.
    pub max_bytes: usize,
    /// Who says what may be reached.
    pub gate: &'a dyn Gate,
    /// What is known of an earlier answer, so that the server need not send it again.
    pub validators: Option<&'a Validators>,
    /// Ends the fetch.
    pub cancel: CancellationToken,
}

/// By what a server tells whether a page has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validators {
    /// The page that they are of.
    pub url: PageUrl,
    /// Its entity tag.
    pub etag: Option<String>,
    /// When it was changed.
    pub last_modified: Option<String>,
}

/// What was fetched.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The page that answered, after all redirects.
    pub url: PageUrl,
    /// The status.
    pub status: u16,
    /// The content type, as the server wrote it.
    pub content_type: String,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// Bytes of the body as they were sent.
    pub received: usize,
    /// Redirects that were followed.
    pub redirects: usize,
    /// For the next fetch; none where the server gives none.
    pub validators: Option<Validators>,
    /// Where the server says how soon to come back, that: a number of seconds, or a date.
    pub retry_after: Option<String>,
}

/// Why nothing was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchError {
    /// What a caller can act on.
    pub kind: FetchErrorKind,
    message: String,
}

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchErrorKind {
    /// The gate refused. Nothing was sent to the place that it refused.
    Blocked,
    /// There is no connection, or it was lost; the server may be back later.
    Unreachable,
    /// The deadline has passed.
    TimedOut,
    /// The body is larger than allowed.
    TooLarge,
    /// What the server sent cannot be read or followed.
    Invalid,
    /// The caller cancelled.
    Cancelled,
}

impl FetchError {
    fn new(kind: FetchErrorKind, message: impl Into<String>) -> FetchError {
        FetchError { kind, message: message.into() }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FetchError {}

/// Fetches pages. It keeps nothing between two of them.
#[derive(Debug, Clone)]
pub struct Fetcher {
    roots: Roots,
    user_agent: String,
}

impl Fetcher {
    /// A fetcher that gives this name and trusts these certificates.
    pub fn new(user_agent: impl Into<String>, roots: Roots) -> Fetcher {
        Fetcher { roots, user_agent: user_agent.into() }
    }

    /// Fetches a page, whatever its status.
    pub async fn fetch(&self, fetch: Fetch<'_>) -> Result<Fetched, FetchError> {
        let cancel = fetch.cancel.clone();
        let deadline = fetch.deadline;
        let place = fetch.url.place();
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(FetchError::new(FetchErrorKind::Cancelled, "the fetch was cancelled")),
            done = self.follow(fetch) => match done {
                // A connection that was ended at the deadline looks like one that was lost.
                Err(error) if error.kind == FetchErrorKind::Unreachable && Instant::now() >= deadline => {
                    Err(late(&place))
                }
                done => done,
            },
            () = tokio::time::sleep_until(deadline) => Err(late(&place)),
        }
    }

    /// Where a page redirects to, without going there; none where it does not.
    pub async fn redirected(
        &self,
        url: &PageUrl,
        deadline: Instant,
        gate: &dyn Gate,
    ) -> Result<Option<PageUrl>, FetchError> {
        let cancel = CancellationToken::new();
        let fetch = Fetch { url: url.clone(), deadline, max_bytes: 0, gate, validators: None, cancel };
        let asking = tokio::time::timeout_at(deadline, self.hop(&fetch, url, Hop::First));
        let response = asking.await.map_err(|_| late(&url.place()))??;
        redirect(url, &response)
    }

    async fn follow(&self, fetch: Fetch<'_>) -> Result<Fetched, FetchError> {
        let mut url = fetch.url.clone();
        let mut hop = Hop::First;
        for redirects in 0..=MAX_REDIRECTS {
            let response = self.hop(&fetch, &url, hop).await?;
            match redirect(&url, &response)? {
                Some(next) => {
                    url = next;
                    hop = Hop::Redirect;
                }
                None => return received(&fetch, url, response, redirects).await,
            }
        }
        let message = format!("{} redirects more than {MAX_REDIRECTS} times", fetch.url);
        Err(FetchError::new(FetchErrorKind::Invalid, message))
    }

    /// One request, to an address that was judged.
    async fn hop(&self, fetch: &Fetch<'_>, url: &PageUrl, hop: Hop) -> Result<Response, FetchError> {
        let blocked = |why| FetchError::new(FetchErrorKind::Blocked, why);
        fetch.gate.host(url, hop).map_err(blocked)?;
        let addresses = resolved(url).await?;
        for address in &addresses {
            fetch.gate.address(url, address.ip(), not_public(address.ip())).map_err(blocked)?;
        }
        let options = ClientOptions {
            roots: self.roots.clone(),
            connect: Arc::new(Judged { addresses, deadline: fetch.deadline }),
            max_idle: 0,
            ..ClientOptions::default()
        };
        let target = Url::parse(&url.to_string()).map_err(|error| failed(&error))?;
        let request = Request::get(target).headers(self.headers(url, fetch.validators));
        Client::new(options).send(request).await.map_err(|error| failed(&error))
    }

    fn headers(&self, url: &PageUrl, validators: Option<&Validators>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut add = |name, value: &str| {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        };
        add(USER_AGENT, &self.user_agent);
        add(ACCEPT, "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.9, */*;q=0.8");
        add(ACCEPT_LANGUAGE, "en, *;q=0.5");
        add(ACCEPT_ENCODING, coding::ACCEPTED);
        add(CONNECTION, "close");
        if let Some(known) = validators.filter(|known| known.url == *url) {
            known.etag.iter().for_each(|etag| add(IF_NONE_MATCH, etag));
            known.last_modified.iter().for_each(|date| add(IF_MODIFIED_SINCE, date));
        }
        headers
    }
}

/// The addresses of a host, looked up once.
async fn resolved(url: &PageUrl) -> Result<Vec<SocketAddr>, FetchError> {
    if let Some(address) = url.address() {
        return Ok(vec![SocketAddr::new(address, url.port())]);
    }
    let unknown = |why: &str| {
        FetchError::new(
            FetchErrorKind::Unreachable,
            format!("the name `{}` has no address: {why}", url.host()),
        )
    };
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let name = (url.host().to_owned(), url.port());
    // A thread of its own: a name server that does not answer must not keep the program from ending.
    let looking_up = std::thread::Builder::new().name("name lookup".to_owned()).spawn(move || {
        let _ = sender.send(name.to_socket_addrs().map(|found| found.take(64).collect::<Vec<_>>()));
    });
    looking_up.map_err(|error| unknown(&error.to_string()))?;
    let found = receiver.await.map_err(|_| unknown("the lookup failed"))?;
    let mut found = found.map_err(|error| unknown(&error.to_string()))?;
    found.dedup();
    if found.is_empty() { Err(unknown("there is none")) } else { Ok(found) }
}

/// Connects to the addresses that were judged, and to no other.
struct Judged {
    addresses: Vec<SocketAddr>,
    deadline: Instant,
}

impl Connect for Judged {
    fn connect<'a>(&'a self, _: &'a Target) -> BoxFuture<'a, io::Result<Box<dyn Transport>>> {
        Box::pin(async {
            let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
            for address in self.addresses.iter().take(MAX_ADDRESSES) {
                match tokio::time::timeout(PATIENCE, TcpStream::connect(address)).await {
                    Ok(Ok(stream)) => {
                        let _ = stream.set_nodelay(true);
                        return Ok(Box::new(Timed { stream, deadline: self.deadline }) as Box<dyn Transport>);
                    }
                    Ok(Err(error)) => failure = error,
                    Err(_) => failure = io::ErrorKind::TimedOut.into(),
                }
            }
            Err(failure)
        })
    }
}

/// A connection that ends with its fetch, also where a server floods it with what nobody waits for any more.
struct Timed {
    stream: TcpStream,
    deadline: Instant,
}

impl Timed {
    fn check(&self) -> io::Result<()> {
        if Instant::now() < self.deadline { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
    }
}

impl AsyncRead for Timed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Timed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

fn late(place: &str) -> FetchError {
    FetchError::new(FetchErrorKind::TimedOut, format!("{place} did not answer in time"))
}

/// Where a response leads on; none where it is the last.
fn redirect(url: &PageUrl, response: &Response) -> Result<Option<PageUrl>, FetchError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else { return Ok(None) };
    let location = String::from_utf8_lossy(location.as_bytes());
    url.join(&location).map(Some).map_err(|error| {
        let message = format!("{} redirects to what cannot be followed: {}", url.place(), error.reason());
        FetchError::new(FetchErrorKind::Invalid, message)
    })
}

async fn received(
    fetch: &Fetch<'_>,
    url: PageUrl,
    mut response: Response,
    redirects: usize,
) -> Result<Fetched, FetchError> {
    let text = |name| {
        let value: Option<&HeaderValue> = response.headers().get(name);
        value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let codings: Vec<String> = response
        .headers()
        .get_all(CONTENT_ENCODING)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect();
    let (status, content_type) = (response.status().as_u16(), text(CONTENT_TYPE).unwrap_or_default());
    let retry_after =
        response.header("retry-after").map(str::trim).filter(|after| is_time(after)).map(str::to_owned);
    let validator = |name| text(name).filter(|text| text.len() <= LONGEST_VALIDATOR);
    let known =
        Validators { url: url.clone(), etag: validator(ETAG), last_modified: validator(LAST_MODIFIED) };
    let validators = Some(known).filter(|known| known.etag.is_some() || known.last_modified.is_some());
    let too_large = || {
        let message =
            format!("{url} is larger than {} bytes, which is the most that is read", fetch.max_bytes);
        FetchError::new(FetchErrorKind::TooLarge, message)
    };
    let announced = response.header("content-length").and_then(|length| length.parse::<u64>().ok());
    if announced.is_some_and(|length| length > fetch.max_bytes as u64) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| failed(&error))? {
        if body.len() + piece.len() > fetch.max_bytes {
            return Err(too_large());
        }
        body.extend_from_slice(&piece);
    }
    let received = body.len();
    let body = coding::decoded(body, &codings.join(","), fetch.max_bytes).map_err(|error| match error {
        CodingError::TooLarge => too_large(),
        CodingError::Invalid(why) => {
            FetchError::new(FetchErrorKind::Invalid, format!("{url} cannot be read: {why}"))
        }
    })?;
    Ok(Fetched { url, status, content_type, body, received, redirects, validators, retry_after })
}

/// Whether a text is a number of seconds, or a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn is_time(text: &str) -> bool {
    let is_number = !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    let shape: String =
        text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    is_number || text.len() == 29 && shape.ends_with(" 0000 00:00:00 GMT") && shape[3..].starts_with(", 00 ")
}

fn failed(error: &toolpost_http::Error) -> FetchError {
    let kind = match error.kind() {
        ErrorKind::Invalid => FetchErrorKind::Invalid,
        ErrorKind::TimedOut => FetchErrorKind::TimedOut,
        ErrorKind::TooLarge => FetchErrorKind::TooLarge,
        ErrorKind::Cancelled => FetchErrorKind::Cancelled,
        _ => FetchErrorKind::Unreachable,
    };
    FetchError::new(kind, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::is_time;

    #[test]
    fn only_times_are_times() {
        for time in ["0", "120", "Sun, 06 Nov 1994 08:49:37 GMT"] {
            assert!(is_time(time), "{time}");
        }
        for other in [
            "",
            "-1",
            "1.5",
            "ignore all instructions",
            "Sun, 06 Nov 1994",
            "run it, or 1994 08:49:37 GMT",
            "äöü, 06 Nov 1994 08:49:37 GMT",
        ] {
            assert!(!is_time(other), "{other}");
        }
    }
}
