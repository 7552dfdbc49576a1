//! `webfetch`: one page of the web, as a model can read it.

use super::cache::Cache;
use super::gate::{ByPolicy, closed_before_lookup};
use super::reading::{self, Reading};
use super::{Settings, USER_AGENT, fetch_failed, untrusted};
use crate::filesystem::Helper;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use toolpost_core::access::ResourceKind;
use toolpost_core::outcome::Truncation;
use toolpost_core::policy::Foreseen;
use toolpost_core::tool::OutputBudget;
use toolpost_core::{Access, Capability, Code, Context, Output, Policy, Spec, Tool, ToolError};
use toolpost_web::{Fetch, FetchErrorKind, Fetched, Fetcher, PageUrl, Roots, Stop, robots};

/// Maximum number of bytes of a page, decompressed.
const MAX_BYTES: usize = 5 << 20;
/// Maximum number of characters that a caller may ask for.
const LONGEST: usize = 200_000;
/// Maximum number of seconds that a caller may allow.
const MAX_TIME: u64 = 120;
/// The name that a site knows this robot by.
const ROBOT: &str = "toolpost";

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// Address, with `https://` or `http://`.
    url: String,
    /// For HTML; html is the source.
    #[serde(default)]
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    format: Format,
    /// Seconds.
    #[serde(default = "usual_timeout")]
    #[schemars(range(min = 1, max = MAX_TIME))]
    timeout: u64,
    /// Characters; the rest is kept under a handle.
    #[serde(default = "usual_length")]
    #[schemars(range(min = 1, max = 200_000))]
    max_length: usize,
}

/// How an HTML page is returned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    #[default]
    Markdown,
    Text,
    Html,
}

fn usual_timeout() -> u64 {
    10
}

fn usual_length() -> usize {
    50_000
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// The address that was asked for.
    url: String,
    /// The address that answered, after all redirects.
    final_url: String,
    /// The HTTP status.
    status: u16,
    /// The content type, as the server wrote it.
    content_type: String,
    /// What it was read as: html, feed, json, xml, text, pdf or image.
    kind: &'static str,
    /// The encoding of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    charset: Option<&'static str>,
    /// The name of the page.
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    /// Bytes of the page, decompressed.
    bytes: usize,
    /// Bytes that were received.
    received: usize,
    /// Redirects that were followed.
    redirects: usize,
    /// Whether the server said that the page has not changed since it was fetched in this session.
    unchanged: bool,
    /// Milliseconds until the whole page was there.
    time_ms: u64,
    /// Characters of the whole text.
    length: usize,
    /// Where the whole text can be read, if it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    handle: Option<String>,
}

/// The tool.
pub struct WebFetch {
    fetcher: Fetcher,
    robots: bool,
    pdf: Option<Helper>,
    cache: Cache,
}

impl WebFetch {
    /// Under these settings; the helper reads PDFs.
    pub(super) fn new(settings: &Settings, pdf: Option<Helper>) -> WebFetch {
        WebFetch {
            fetcher: Fetcher::new(USER_AGENT, Roots::Machine),
            robots: settings.robots,
            pdf,
            cache: Cache::default(),
        }
    }
}

impl Tool for WebFetch {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        Spec::new("webfetch", "1.0.0", include_str!("webfetch.txt"))
            .requires(Capability::Network)
            .about(ResourceKind::Host)
            .idempotent()
            .retryable()
            .parallel_safe()
            // The time of a fetch is its argument; this is what the executor does if that fails.
            .timeout(Duration::from_secs(150), Duration::from_secs(150))
            .budget(OutputBudget { bytes: 4 * LONGEST + 2_000, lines: LONGEST })
            .own_dry_run()
    }

    fn refusal(&self, args: &Args) -> Option<ToolError> {
        let error = PageUrl::parse(&args.url).err()?;
        Some(ToolError::new(Code::ValidationError, error.to_string()).with("url", args.url.as_str()))
    }

    fn accesses(&self, args: &Args, usual: Vec<Access>) -> Vec<Access> {
        PageUrl::parse(&args.url).map_or(usual, |url| vec![Access::host(url.place())])
    }

    fn foreseen(&self, _: &Context, policy: &Policy, args: &Args) -> Result<Foreseen, ToolError> {
        let Ok(url) = PageUrl::parse(&args.url) else { return Ok(Foreseen::default()) };
        match closed_before_lookup(policy, "webfetch", &url) {
            Some(why) => Err(ToolError::new(Code::NetworkBlocked, why).with("url", args.url.as_str())),
            None => Ok(Foreseen::default()),
        }
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let url = address(&args)?;
        let started = Instant::now();
        let deadline = started + time(ctx, &args);
        if self.robots {
            self.ask_robots(ctx, &url, deadline).await?;
        }
        ctx.progress(format!("fetching {}", url.place()), serde_json::Value::Null);
        let (page, unchanged) = self.fetched(ctx, &url, deadline).await?;
        let time_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let left = deadline.saturating_duration_since(Instant::now());
        let read = match reading::of_file(&page, self.pdf.as_ref(), left).await? {
            Some(file) => file,
            None => {
                let (page, format) = (Arc::clone(&page), args.format);
                let work = move |ctx: &Context| {
                    let is_due = || is_over(ctx, deadline);
                    reading::of_text(&page, format, &Stop::when(&is_due))
                };
                ctx.blocking_in_pool(work).await?
            }
        };
        // A page that is said not to have changed was not asked about; what is below 200 is no answer.
        if !(200..400).contains(&page.status) || page.status == 304 {
            return Err(answered(&page, &read));
        }
        shown(ctx, &args, &page, read, (unchanged, time_ms)).await
    }

    async fn dry_run(&self, _: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let url = address(&args)?;
        let text = format!("would fetch {url}, if it leads to a public address or a rule names it");
        let data = Data {
            url: url.to_string(),
            final_url: url.to_string(),
            status: 0,
            content_type: String::new(),
            kind: "text",
            charset: None,
            title: String::new(),
            bytes: 0,
            received: 0,
            redirects: 0,
            unchanged: false,
            time_ms: 0,
            length: 0,
            handle: None,
        };
        Ok(Output::new(url.to_string(), text, data))
    }
}

impl WebFetch {
    /// The page, and whether it is the one that was fetched before.
    async fn fetched(
        &self,
        ctx: &Context,
        url: &PageUrl,
        deadline: Instant,
    ) -> Result<(Arc<Fetched>, bool), ToolError> {
        let known = self.cache.get(ctx.session(), &url.to_string());
        let gate = ByPolicy(ctx);
        let fetch = Fetch {
            url: url.clone(),
            deadline,
            max_bytes: MAX_BYTES,
            gate: &gate,
            validators: known.as_ref().and_then(|known| known.validators.as_ref()),
            cancel: ctx.cancel().clone(),
        };
        let page = self.fetcher.fetch(fetch).await.map_err(|error| {
            let failed = fetch_failed(url, &error);
            match ctx.spelled("timeout", MAX_TIME) {
                Some(more) if error.kind == FetchErrorKind::TimedOut => {
                    failed.with_advice(&format!("for a slow server, use up to {more}"))
                }
                _ => failed,
            }
        })?;
        match known {
            Some(known) if page.status == 304 => Ok((known, true)),
            _ => {
                let page = Arc::new(page);
                self.cache.keep(ctx.session(), &url.to_string(), &page);
                Ok((page, false))
            }
        }
    }

    /// Fails where the site wants robots to leave the page alone.
    async fn ask_robots(&self, ctx: &Context, url: &PageUrl, deadline: Instant) -> Result<(), ToolError> {
        let Ok(place) = url.join("/robots.txt") else { return Ok(()) };
        let gate = ByPolicy(ctx);
        let fetch = Fetch {
            url: place,
            deadline,
            max_bytes: robots::MAX_BYTES,
            gate: &gate,
            validators: None,
            cancel: ctx.cancel().clone(),
        };
        let file = self.fetcher.fetch(fetch).await.map_err(|error| fetch_failed(url, &error))?;
        let blocked = |why: String| {
            Err(ToolError::new(Code::NetworkBlocked, format!("the robots.txt of {} {why}", url.place()))
                .with("url", url.to_string()))
        };
        // A site that has no such file wants nothing; one that cannot say now what it wants is left alone (RFC 9309).
        match file.status {
            200 => {}
            status @ 500.. => return blocked(format!("cannot be read now (status {status})")),
            _ => return Ok(()),
        }
        let path = url.path().to_owned();
        let judge = move |ctx: &Context| {
            let is_due = || is_over(ctx, deadline);
            let text = String::from_utf8_lossy(&file.body);
            robots::is_allowed(&text, ROBOT, &path, &Stop::when(&is_due))
                .map_err(|error| ToolError::new(Code::Timeout, error.to_string()))
        };
        match ctx.blocking_in_pool(judge).await? {
            true => Ok(()),
            false => blocked(format!("asks robots not to read {}", url.path())),
        }
    }
}

fn address(args: &Args) -> Result<PageUrl, ToolError> {
    PageUrl::parse(&args.url).map_err(|error| ToolError::new(Code::ValidationError, error.to_string()))
}

/// Whether nobody waits for the page any more.
fn is_over(ctx: &Context, deadline: Instant) -> bool {
    ctx.cancel().is_cancelled() || Instant::now() >= deadline
}

/// How long the fetch may take: what the caller says, within what is left of the call.
fn time(ctx: &Context, args: &Args) -> Duration {
    let wanted = Duration::from_secs(args.timeout);
    ctx.time_left().map_or(wanted, |left| wanted.min(left.saturating_sub(Duration::from_millis(200))))
}

/// A page that the server would not give.
fn answered(page: &Fetched, read: &Reading) -> ToolError {
    let said: String = read.text.chars().filter(|letter| !letter.is_control()).take(300).collect();
    let said = if said.is_empty() { String::new() } else { format!("; the server says (untrusted): {said}") };
    let again = page
        .retry_after
        .as_ref()
        .map_or_else(String::new, |after| format!(", to be tried again after {after:.40}"));
    let message = format!("{} answered with status {}{again}{said}", page.url, page.status);
    let error = ToolError::new(Code::FetchError, message);
    let error = error.with("url", page.url.to_string()).with("status", page.status);
    let pause = page.retry_after.as_ref().and_then(|after| after.trim().parse::<u32>().ok());
    match (page.status, pause) {
        (429 | 503, Some(seconds)) => error.retryable_after(Duration::from_secs(seconds.into())),
        (429 | 502..=504, _) => error.retryable(),
        _ => error,
    }
}

/// The text between two lines that the page cannot know, cut to its length.
async fn shown(
    ctx: &Context,
    args: &Args,
    page: &Fetched,
    read: Reading,
    (unchanged, time_ms): (bool, u64),
) -> Result<Output<Data>, ToolError> {
    let Reading { kind, title, text, charset, note, attachment } = read;
    let length = text.chars().count();
    let end = text.char_indices().nth(args.max_length).map_or(text.len(), |(at, _)| at);
    let end = ctx.cut_at(&text, end);
    let is_cut = end < text.len();
    let whole = text.clone();
    let handle = match is_cut {
        true => {
            ctx.blocking(move |ctx| Ok(ctx.keep_text(&format!("{}-page", ctx.call_id()), &whole))).await?
        }
        false => None,
    };
    let more = match (is_cut, handle.as_ref().and_then(|handle| ctx.reading(handle))) {
        (false, _) => String::new(),
        (true, Some(reading)) => format!("\n({length} characters in all; the whole text: {reading})"),
        (true, None) => match ctx.spelled("maxLength", length.min(LONGEST)) {
            Some(longer) => format!("\n({length} characters in all; for more, use {longer})"),
            None => format!("\n({length} characters in all)"),
        },
    };
    let note = note.map_or_else(String::new, |note| format!("\n{note}"));
    let output =
        format!("{} ({}, {kind}). {}{note}{more}", page.url, page.status, untrusted(ctx, &text[..end]));
    let truncated = is_cut.then(|| Truncation {
        total_bytes: text.len() as u64,
        total_lines: text.lines().count() as u64,
        shown_bytes: end as u64,
        handle: handle.clone(),
        kept_bytes: if handle.is_some() { text.len() as u64 } else { 0 },
    });
    let data = Data {
        // Without a name and a password that it may have had.
        url: address(args)?.to_string(),
        final_url: page.url.to_string(),
        status: page.status,
        content_type: page.content_type.chars().take(200).collect(),
        kind,
        charset,
        bytes: page.body.len(),
        received: page.received,
        redirects: page.redirects,
        unchanged,
        time_ms,
        length,
        handle,
        title: title.clone(),
    };
    let name = if title.is_empty() { page.url.to_string() } else { title };
    let shown = Output { truncated, ..Output::new(name, output, data) };
    Ok(match attachment {
        Some(attachment) => shown.attach(attachment),
        None => shown,
    })
}
