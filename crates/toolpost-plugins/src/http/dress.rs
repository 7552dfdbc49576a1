//! What a request to a server looks like: its headers in the era that the server knows.

use super::{Http, SESSION, mirror};
use crate::era::{Era, MODERN};
use crate::rpc::Fault;
use crate::running::Running;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::{Method, Request};
use serde_json::{Map, Value};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

impl Http {
    /// A message to the server.
    pub(super) fn post(
        &self,
        method: &str,
        params: &Map<String, Value>,
        running: Option<&Running>,
        message: String,
    ) -> Result<Request<Full<Bytes>>, Fault> {
        let mut request = self.dressed(Method::POST, message.into())?;
        let is_modern = method == "server/discover" || self.lock().era == Some(Era::Modern);
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if !is_modern || method.is_empty() {
            return Ok(request);
        }
        headers.insert(VERSION, HeaderValue::from_static(MODERN));
        let mut mirror = vec![("mcp-method".to_owned(), method.to_owned())];
        if method == "tools/call"
            && let Some(name) = params.get("name").and_then(Value::as_str)
        {
            mirror.push(("mcp-name".to_owned(), mirror::encoded(name)));
        }
        mirror.extend(running.into_iter().flat_map(|running| running.headers().iter().cloned()));
        for (name, value) in mirror {
            // Both were checked or encoded where they were made.
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        }
        Ok(request)
    }

    /// A request with all that every request has.
    pub(super) fn dressed(&self, method: Method, body: Bytes) -> Result<Request<Full<Bytes>>, Fault> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() =
            self.door.path().parse().map_err(|_| Fault::Gone("its path cannot be sent".to_owned()))?;
        let headers = request.headers_mut();
        headers.extend(self.headers.clone());
        if let Ok(host) = HeaderValue::from_str(self.door.authority()) {
            headers.insert(HOST, host);
        }
        let state = self.lock();
        if let Some(era) = state.era {
            headers.insert(VERSION, HeaderValue::from_static(era.version()));
        }
        if let Some(session) = &state.session {
            headers.insert(SESSION, session.clone());
        }
        Ok(request)
    }
}
