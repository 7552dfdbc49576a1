//! An endpoint that answers with JSON in SearXNG's format: `{"results": [{"title", "url", "content"}]}`.

use super::{Found, Results, Search, Searching};
use crate::web::{USER_AGENT, fetch_failed};
use serde_json::Value;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;
use tokio::time::Instant;
use toolpost_core::{Code, Context, ToolError};
use toolpost_web::{Fetch, Fetched, Fetcher, Gate, Hop, NotPublic, PageUrl, Roots};

/// Maximum number of bytes of an answer.
const MAX_BYTES: usize = 2 << 20;

/// A search endpoint, at an address of the user's choice.
#[derive(Clone)]
pub struct Endpoint {
    url: PageUrl,
    fetcher: Fetcher,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({})", self.url)
    }
}

impl Endpoint {
    /// The endpoint at an address, such as `https://searx.example/search`; the error says what is wrong with it.
    pub fn new(url: &str) -> Result<Endpoint, String> {
        let url = PageUrl::parse(url).map_err(|error| error.to_string())?;
        Ok(Endpoint { url, fetcher: Fetcher::new(USER_AGENT, Roots::Machine) })
    }

    /// The host with its port.
    pub fn place(&self) -> String {
        self.url.place()
    }

    async fn ask(&self, ctx: &Context, query: &str, max: usize) -> Result<Results, ToolError> {
        let separator = if self.url.path().contains('?') { '&' } else { '?' };
        let address = format!("{}{separator}q={}&format=json", self.url, encoded(query));
        let url = PageUrl::parse(&address).map_err(|error| self.failed(&error.to_string()))?;
        let fetch = Fetch {
            url: url.clone(),
            deadline: Instant::now() + Duration::from_secs(25),
            max_bytes: MAX_BYTES,
            gate: &Configured { place: self.url.place() },
            validators: None,
            cancel: ctx.cancel().clone(),
        };
        let page = self.fetcher.fetch(fetch).await.map_err(|error| fetch_failed(&url, &error))?;
        if page.status != 200 {
            return Err(self.refused(&page));
        }
        let value: Value = serde_json::from_slice(&page.body)
            .map_err(|error| self.failed(&format!("its answer is not JSON ({error})")))?;
        let results =
            value["results"].as_array().ok_or_else(|| self.failed("its answer has no `results`"))?;
        let text = |value: &Value| value.as_str().unwrap_or_default().trim().to_owned();
        let found = results.iter().map(|result| Found {
            title: text(&result["title"]),
            url: text(&result["url"]),
            snippet: text(&result["content"]),
        });
        let found = found.filter(|found| PageUrl::parse(&found.url).is_ok()).take(max).collect();
        Ok(Results { found, answer: String::new() })
    }

    /// A status that is no success: what it means, and when to ask again.
    fn refused(&self, page: &Fetched) -> ToolError {
        let hint = if page.status == 403 { "; it may not be set up to answer in JSON" } else { "" };
        let failed =
            |more: &str| self.failed(&format!("it answered with status {}{hint}{more}", page.status));
        let again = |pause: &str| failed(&format!("; it wants to be asked again after {pause:.40}"));
        match &page.retry_after {
            Some(pause) => match pause.trim().parse::<u32>() {
                Ok(seconds) => {
                    let pause = Duration::from_secs(seconds.into());
                    again(&format!("{seconds} s")).retryable_after(pause)
                }
                Err(_) => again(pause).retryable(),
            },
            None if matches!(page.status, 408 | 425 | 429 | 500 | 502..=504) => failed("").retryable(),
            None => failed(""),
        }
    }

    fn failed(&self, why: &str) -> ToolError {
        ToolError::new(Code::FetchError, format!("the search endpoint at {} failed: {why}", self.url))
    }
}

impl Search for Endpoint {
    fn name(&self) -> String {
        self.url.place()
    }

    fn search<'a>(&'a self, ctx: &'a Context, query: &'a str, max: usize) -> Searching<'a> {
        Box::pin(self.ask(ctx, query, max))
    }
}

/// The place that the user has configured may be anywhere; it leads nowhere else.
struct Configured {
    place: String,
}

impl Gate for Configured {
    fn host(&self, url: &PageUrl, _: Hop) -> Result<(), String> {
        match url.place() == self.place {
            true => Ok(()),
            false => Err(format!(
                "the search endpoint redirects to {url}, which is another place; configure that one"
            )),
        }
    }

    fn address(&self, _: &PageUrl, _: IpAddr, _: Option<NotPublic>) -> Result<(), String> {
        Ok(())
    }
}

fn encoded(query: &str) -> String {
    let mut text = String::new();
    for byte in query.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte))
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}
