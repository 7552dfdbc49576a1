//! What a request to a server looks like: its headers in the revision that the server knows.

use super::Http;
use crate::running::Running;
use serde_json::{Map, Value};
use toolpost_http::header::{ACCEPT, CONTENT_TYPE};
use toolpost_http::{HeaderName, HeaderValue, Method, Request};
use toolpost_mcp::Revision;
use toolpost_mcp::header::{METHOD, NAME, SESSION, VERSION, encoded};

impl Http {
    /// A message to the server.
    pub(super) fn post(
        &self,
        method: &str,
        params: &Map<String, Value>,
        running: Option<&Running>,
        message: String,
    ) -> Request {
        let mut request = self.basic(Method::POST);
        request.body = message.into();
        let headers = &mut request.headers;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let is_modern = method == "server/discover" || self.lock().revision.is_some_and(Revision::is_modern);
        if !is_modern || method.is_empty() {
            return request;
        }
        headers.insert(VERSION, HeaderValue::from_static(Revision::MODERN.name()));
        let mut mirror = vec![(METHOD.to_owned(), method.to_owned())];
        if method == "tools/call"
            && let Some(name) = params.get("name").and_then(Value::as_str)
        {
            mirror.push((NAME.to_owned(), encoded(name)));
        }
        mirror.extend(running.into_iter().flat_map(|running| running.headers().iter().cloned()));
        for (name, value) in mirror {
            // Both were checked or encoded where they were made.
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        }
        request
    }

    /// A request with all that every request has.
    pub(super) fn basic(&self, method: Method) -> Request {
        let mut request = Request::new(method, self.url.clone()).headers(self.headers.clone());
        let state = self.lock();
        if let Some(revision) = state.revision {
            request.headers.insert(VERSION, HeaderValue::from_static(revision.name()));
        }
        if let Some(session) = &state.session {
            request.headers.insert(SESSION, session.clone());
        }
        request
    }
}
