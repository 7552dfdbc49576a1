//! A model that gives one answer, and remembers what it was asked.

use futures_util::StreamExt;
use futures_util::stream::{BoxStream, once};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;
use toolpost_core::host::Services;
use toolpost_core::model::{
    Delta, Finish, Model, ModelError, Part, Profile, Request, Response, SearchSource, Usage,
};

pub(crate) struct Answering {
    profile: Profile,
    answer: Result<Response, ModelError>,
    pub(crate) asked: Mutex<Vec<Request>>,
}

impl Answering {
    pub(crate) fn new(answer: Result<Response, ModelError>) -> Arc<Answering> {
        let (vendor, model) = ("lab".to_owned(), "m-1".to_owned());
        let profile = Profile { vendor, model, images: true, search: true, ..Profile::default() };
        Arc::new(Answering { profile, answer, asked: Mutex::default() })
    }

    pub(crate) fn services(self: &Arc<Self>) -> Services {
        Services { model: Some(Arc::clone(self) as _), ..Services::default() }
    }
}

pub(crate) fn saying(text: &str, sources: Vec<SearchSource>) -> Response {
    Response {
        parts: vec![Part::text(text)],
        finish: Finish::Stop,
        finish_raw: None,
        note: None,
        usage: Usage::default(),
        queries: Vec::new(),
        sources,
        model: None,
        surplus_calls: 0,
    }
}

impl Model for Answering {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn stream(
        &self,
        request: Request,
        _: CancellationToken,
    ) -> BoxStream<'static, Result<Delta, ModelError>> {
        self.asked.lock().unwrap().push(request);
        let answer = self.answer.clone().map(|response| Delta::Done(Box::new(response)));
        once(async { answer }).boxed()
    }
}
