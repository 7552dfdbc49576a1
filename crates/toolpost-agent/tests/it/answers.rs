//! Answers that a run cannot end with, calls that are too many, and where the time of a run went.

use crate::driver::{Answers, activation, call, run, says, world};
use crate::kernel::response;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolpost_agent::driver::LocalDriver;
use toolpost_core::activation::{Limits, Reason};
use toolpost_core::model::{
    Arguments, Delta, Finish, Model, ModelError, ModelErrorKind, Part, Profile, Request, Response, Usage,
};

/// An answer without calls that ended so, in these words of its provider.
fn ended(text: &str, finish: Finish, raw: &str) -> Response {
    let raw = (!raw.is_empty()).then(|| raw.to_owned());
    Response { finish_raw: raw, ..response(text, &[], finish, Usage::default()) }
}

/// A run whose model gives these answers: why it ended, its text, how often the model was asked, and a part of the error.
async fn check(answers: Vec<Response>, expected: (Reason, &str, usize), part: &str) {
    let world = world();
    let model = Answers::new(Profile::default(), answers.into_iter().map(Ok).collect());
    let ended = run(&world, &model, Limits::default()).await;
    let asked = model.asked.lock().unwrap().len();
    let error = ended.error.clone().unwrap_or_default();
    assert_eq!((ended.reason, ended.text.as_str(), asked), expected, "{error}");
    assert!(error.contains(part) && part.is_empty() == error.is_empty(), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_says_nothing_is_asked_for_once_more() {
    let empty = || ended("", Finish::Stop, "stop");
    let spaces = || ended(" \n", Finish::Stop, "stop");
    let thinks = || {
        let thought = Part::Thinking { text: "hm".to_owned(), opaque: None };
        Response { parts: vec![thought], ..empty() }
    };
    check(vec![empty(), says("fine")], (Reason::Done, "fine", 2), "").await;
    check(
        vec![spaces(), thinks()],
        (Reason::Model, "", 2),
        "was empty, without a text and without a call: `stop` (2 times in a row)",
    )
    .await;
    // Another turn between them begins the count anew.
    let add = || call("add", json!({"n": 1}));
    check(vec![empty(), add(), thinks(), says("fine")], (Reason::Done, "fine", 4), "").await;
}

#[tokio::test]
async fn an_answer_that_was_withheld_or_ended_strangely_is_asked_for_once_more() {
    let blocked = |raw| ended("Half", Finish::Blocked, raw);
    check(vec![blocked("SAFETY"), says("fine")], (Reason::Done, "fine", 2), "").await;
    check(
        vec![blocked("SAFETY"), blocked("RECITATION")],
        (Reason::Refused, "Half", 2),
        "the provider blocked the answer: `RECITATION` (2 times in a row)",
    )
    .await;
    let strange = || ended("Half of it", Finish::Other, "quota_of_the_moon");
    check(vec![strange(), says("fine")], (Reason::Done, "fine", 2), "").await;
    check(vec![strange(), strange()], (Reason::Model, "Half of it", 2), "`quota_of_the_moon`").await;
    // A refusal of the model itself is its answer.
    check(
        vec![Response { note: Some("no".to_owned()), ..ended("", Finish::Refusal, "refusal") }],
        (Reason::Refused, "", 1),
        "the model refused: no",
    )
    .await;
    // The calls of a blocked answer are not run, and it is not asked for again and again.
    let with_call = || Response { finish: Finish::Blocked, ..call("add", json!({})) };
    check(vec![with_call(), with_call()], (Reason::Refused, "", 2), "blocked").await;
}

#[tokio::test]
async fn an_unusable_answer_is_not_sent_back() {
    let world = world();
    let thought = Part::Thinking { text: "hm".to_owned(), opaque: None };
    let empty = Response { parts: vec![thought], ..ended("", Finish::Stop, "stop") };
    let answers = vec![Ok(empty), Ok(ended("Half", Finish::Other, "strange"))];
    let model = Answers::new(Profile::default(), answers);
    let limits = Limits { turns: Some(2), ..Limits::default() };
    let end = run(&world, &model, limits).await;
    // Nothing is left for another try, so that the reason is that of the answer.
    assert_eq!(end.reason, Reason::Model, "{:?}", end.error);
    let asked = model.asked.lock().unwrap();
    let shown = format!("{:?}", asked[1].messages);
    assert!(shown.contains("Your last answer was empty") && !shown.contains("hm"), "{shown}");
}

#[tokio::test]
async fn of_too_many_calls_the_surplus_is_refused_and_the_run_goes_on() {
    let world = world();
    let calls: Vec<(&str, Arguments)> =
        (0..128).map(|number| ("add", Arguments::Json(json!({"n": number})))).collect();
    let many = response("", &calls, Finish::ToolCalls, Usage::default());
    let many = Response { surplus_calls: 72, ..many };
    let model = Answers::new(Profile::default(), vec![Ok(many), Ok(says("done"))]);
    let end = run(&world, &model, Limits::default()).await;
    assert_eq!((end.reason, end.text.as_str()), (Reason::Done, "done"));
    assert_eq!(world.counter.load(Ordering::SeqCst), 64);
    let asked = model.asked.lock().unwrap();
    let results = asked[1].messages.last().unwrap();
    let refused =
        results.parts.iter().filter(|part| matches!(part, Part::ToolResult(result) if result.is_error));
    assert_eq!((refused.count(), results.parts.len()), (64, 129));
    assert!(format!("{results:?}").contains("72 more calls of your last answer were not run"), "{results:?}");
}

/// A model whose provider wants to be asked again later, for ever.
struct Busy(Profile);

impl Model for Busy {
    fn profile(&self) -> &Profile {
        &self.0
    }

    fn stream(&self, _: Request, _: CancellationToken) -> BoxStream<'static, Result<Delta, ModelError>> {
        let error = ModelError {
            status: Some(429),
            ..ModelError::new(ModelErrorKind::RateLimited, "too many requests")
        };
        let retry = |attempt| Ok(Delta::Retry { attempt, delay_ms: 100, error: error.clone() });
        let first = stream::iter([retry(1)]);
        let second = stream::iter([retry(2)]).then(|delta| async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            delta
        });
        first.chain(second).chain(stream::pending()).boxed()
    }
}

#[tokio::test]
async fn a_run_that_ends_by_time_says_where_it_went() {
    let world = world();
    let script = Answers::new(Profile::default(), Vec::new());
    let limits = Limits { time_ms: Some(400), ..Limits::default() };
    let mut made = activation(&world, &script, limits.clone());
    made.model = Arc::new(Busy(Profile::default()));
    let end = LocalDriver::new().run(made).await.unwrap();
    let error = end.error.unwrap_or_default();
    assert_eq!(end.reason, Reason::Time, "{error}");
    assert!(
        error.contains("in 2 pauses before the model was asked again (last after status 429)"),
        "{error}"
    );
    let model = Answers::new(Profile::default(), vec![Ok(call("slow", json!({"ms": 5_000})))]);
    let end = run(&crate::driver::world(), &model, limits).await;
    let error = end.error.unwrap_or_default();
    assert!(end.reason == Reason::Time && error.contains("ms in calls"), "{:?} {error}", end.reason);
}
