//! The local driver with real tools' executor: answers are durable before calls, results are in order, and a run ends.

use crate::kernel::response;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolpost_agent::driver::{Activation, Driver, LocalDriver, NoListener, Signal};
use toolpost_agent::kernel::{Ended, Extra, Fork, State, decide, replay};
use toolpost_agent::tree::Branch;
use toolpost_core::activation::{Fact, Limits, Reason, Start};
use toolpost_core::event::{EventKind, EventSink, MemoryLog};
use toolpost_core::host::{BoxFuture, Ids};
use toolpost_core::model::{
    Arguments, Delta, Finish, Model, ModelError, ModelErrorKind, Part, Price, Profile, Request, Response,
    Usage,
};
use toolpost_core::outcome::{Attachment, AttachmentContent};
use toolpost_core::text::tokens;
use toolpost_core::{
    Capability, Context, Event, Executor, Memory, Output, Registry, Spec, ToolError, dynamic,
};

/// Answers one after another with what it is given, and keeps what it was asked.
pub(crate) struct Answers {
    profile: Profile,
    answers: Mutex<Vec<Result<Response, ModelError>>>,
    pub(crate) asked: Mutex<Vec<Request>>,
}

impl Answers {
    pub(crate) fn new(profile: Profile, mut answers: Vec<Result<Response, ModelError>>) -> Arc<Answers> {
        answers.reverse();
        Arc::new(Answers { profile, answers: Mutex::new(answers), asked: Mutex::default() })
    }
}

impl Model for Answers {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn stream(
        &self,
        request: Request,
        _: CancellationToken,
    ) -> BoxStream<'static, Result<Delta, ModelError>> {
        let is_summary = format!("{:?}", request.messages.last()).contains("about to be shortened");
        self.asked.lock().unwrap().push(request);
        if is_summary {
            return stream::iter([Ok(Delta::Done(Box::new(says("SUMMARY"))))]).boxed();
        }
        match self.answers.lock().unwrap().pop() {
            Some(Ok(response)) => {
                let deltas = vec![Ok(Delta::Text(response.text())), Ok(Delta::Done(Box::new(response)))];
                stream::iter(deltas).boxed()
            }
            Some(Err(error)) => stream::iter([Err(error)]).boxed(),
            None => stream::pending().boxed(),
        }
    }
}

/// A log that tells what was durable when.
#[derive(Default)]
struct Durable {
    log: MemoryLog,
    committed: AtomicUsize,
}

impl EventSink for Durable {
    fn record(&self, event: &Arc<Event>) {
        self.log.record(event);
    }

    fn commit(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        self.committed.store(self.log.events().len(), Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(())))
    }
}

pub(crate) struct World {
    sink: Arc<Durable>,
    pub(crate) counter: Arc<AtomicUsize>,
    context: Context,
}

pub(crate) fn world() -> World {
    let (sink, counter) = (Arc::new(Durable::default()), Arc::new(AtomicUsize::new(0)));
    let tools = Arc::new(Registry::new());
    let seen = (Arc::clone(&sink), Arc::clone(&counter));
    tools
        .register(dynamic(
            Spec::new("add", "1.0.0", "Counts.").requires(Capability::Write),
            json!({"type": "object"}),
            move |_, args: Value| {
                let (sink, counter) = (Arc::clone(&seen.0), Arc::clone(&seen.1));
                async move {
                    // The answer that asked for this is durable by now.
                    let committed = sink.committed.load(Ordering::SeqCst);
                    let events = sink.log.events();
                    let answered = events.iter().rposition(|event| {
                        matches!(&event.kind, EventKind::Activation { fact: Fact::Answered { .. } })
                    });
                    assert!(answered.is_some_and(|place| place < committed), "{answered:?} {committed}");
                    counter.fetch_add(1, Ordering::SeqCst);
                    Ok(Output::new("add", format!("added {}", args["n"]), Value::Null))
                }
            },
        ))
        .unwrap();
    tools
        .register(dynamic(
            Spec::new("slow", "1.0.0", "Waits.").requires(Capability::Read).idempotent().parallel_safe(),
            json!({"type": "object"}),
            |_, args: Value| async move {
                tokio::time::sleep(Duration::from_millis(args["ms"].as_u64().unwrap_or(0))).await;
                Ok(Output::new("slow", format!("waited {}", args["ms"]), Value::Null))
            },
        ))
        .unwrap();
    let ids = Ids {
        session: "s".to_owned(),
        agent: Some("a".to_owned()),
        activation: Some("run".to_owned()),
        ..Ids::default()
    };
    let context = Context::builder(Arc::new(Memory::new()))
        .ids(ids)
        .tools(tools)
        .events(Arc::clone(&sink) as _)
        .build();
    World { sink, counter, context }
}

pub(crate) fn activation(world: &World, model: &Arc<Answers>, limits: Limits) -> Activation {
    let branch = Branch::root("run", &limits, world.context.cancel().child_token());
    Activation {
        id: "run".to_owned(),
        start: Start {
            agent: "a".to_owned(),
            task: "go".to_owned(),
            model: model.profile.clone(),
            limits,
            ..Start::default()
        },
        model: Arc::clone(model) as _,
        context: world.context.clone(),
        executor: Executor::new(),
        offers_all: false,
        temperature: None,
        thinking: None,
        listener: Arc::new(NoListener),
        branch,
        state: None,
    }
}

pub(crate) fn call(name: &str, arguments: Value) -> Response {
    response("", &[(name, Arguments::Json(arguments))], Finish::ToolCalls, Usage::default())
}

pub(crate) fn says(text: &str) -> Response {
    response(text, &[], Finish::Stop, Usage { input: 10, output: 5, ..Usage::default() })
}

pub(crate) async fn run(world: &World, model: &Arc<Answers>, limits: Limits) -> Ended {
    LocalDriver::new().run(activation(world, model, limits)).await.unwrap()
}

#[tokio::test]
async fn a_run_calls_and_ends_and_its_log_tells_it_again() {
    let world = world();
    let model = Answers::new(
        Profile::default(),
        vec![Ok(call("add", json!({"n": 1}))), Ok(call("add", json!({"n": 2}))), Ok(says("two added"))],
    );
    let ended = run(&world, &model, Limits::default()).await;
    assert_eq!((ended.reason, ended.text.as_str(), ended.turns), (Reason::Done, "two added", 3));
    assert_eq!(world.counter.load(Ordering::SeqCst), 2);
    let events = world.sink.log.events();
    let state = State::of("run", &events);
    assert_eq!(state.ended(), Some(&ended));
    let last = model.asked.lock().unwrap().pop().unwrap();
    let told = State::of("run", &events[..events.len() - 2]).messages(&|_, _| Extra::default());
    assert_eq!(told[..last.messages.len()], last.messages[..], "the log alone gives the same conversation");
    assert_eq!(last.tools.len(), 2);
}

#[tokio::test]
async fn a_recorded_run_replays_and_one_that_was_changed_is_named() {
    let world = world();
    let answers = vec![Ok(call("add", json!({"n": 1}))), Ok(says("one added"))];
    let model = Answers::new(Profile::default(), answers);
    let ended = run(&world, &model, Limits::default()).await;
    let mut events = world.sink.log.events();
    let again = replay("run", &events).unwrap();
    assert_eq!(again.ended(), Some(&ended));
    let last = model.asked.lock().unwrap().pop().unwrap();
    let told = again.messages(&|_, _| Extra::default());
    assert_eq!(told[..last.messages.len()], last.messages[..], "what the model was sent, to the byte");
    assert_eq!(State::of("run", &events).transcript(), again.transcript());
    assert!(again.transcript().ends_with("## said\n\none added\n"), "{}", again.transcript());
    let answered = events
        .iter()
        .position(|event| matches!(&event.kind, EventKind::Activation { fact: Fact::Answered { .. } }));
    // Without its call, the answer would have been the end.
    if let EventKind::Activation { fact: Fact::Answered { response, .. } } =
        &mut events[answered.unwrap()].kind
    {
        response.parts = vec![Part::text("over")];
    }
    let difference = replay("run", &events).unwrap_err();
    assert!(difference.place > answered.unwrap(), "{difference}");
    let named = &events[difference.place].kind;
    assert!(matches!(named, EventKind::Activation { fact: Fact::Decided { seq: 1, .. } }), "{difference}");
    assert!(difference.replayed.contains("finish"), "{difference}");
}

#[tokio::test]
async fn a_fork_has_the_same_past_under_other_ids() {
    let world = world();
    let answers = vec![Ok(call("add", json!({"n": 1}))), Ok(call("add", json!({"n": 2}))), Ok(says("done"))];
    let model = Answers::new(Profile::default(), answers);
    run(&world, &model, Limits::default()).await;
    let events = world.sink.log.events();
    let start = |start: Start| Start { task: "something else".to_owned(), ..start };
    let fork = Fork { from: "run", at: Some(3), activation: "other", session: "t", start: &start };
    let copied: Vec<Event> = fork.events(&events).iter().map(|event| (**event).clone()).collect();
    assert!(copied.iter().all(|event| event.session == "t" && event.activation.as_deref() == Some("other")));
    let state = State::of("other", &copied);
    assert_eq!((state.next_seq(), state.answers()), (3, 2), "{:?}", decide(&state));
    assert_eq!(state.start().map(|start| start.task.as_str()), Some("something else"));
    let call = toolpost_agent::kernel::call_id("other", 2, 0);
    assert_eq!(decide(&state), [toolpost_core::activation::Todo::Call { index: 0, call }]);
    assert!(replay("other", &copied).is_ok());
}

#[tokio::test]
async fn parallel_calls_are_answered_in_order() {
    let world = world();
    let calls: Vec<(&str, Arguments)> =
        [30, 1, 15].into_iter().map(|ms| ("slow", Arguments::Json(json!({"ms": ms})))).collect();
    let first = response("", &calls, Finish::ToolCalls, Usage::default());
    let model = Answers::new(Profile::default(), vec![Ok(first), Ok(says("done"))]);
    run(&world, &model, Limits::default()).await;
    let asked = model.asked.lock().unwrap();
    let results: Vec<&str> = asked[1].messages[2]
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolResult(result) => Some(result.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(results, ["waited 30", "waited 1", "waited 15"]);
}

#[tokio::test]
async fn what_is_not_offered_or_cannot_be_read_is_answered() {
    let world = world();
    let cut = response(
        "",
        &[("add", Arguments::Unparsable("{\"n\":".to_owned()))],
        Finish::Length,
        Usage::default(),
    );
    let model = Answers::new(Profile::default(), vec![Ok(call("rm", json!({}))), Ok(cut), Ok(says("sorry"))]);
    let ended = run(&world, &model, Limits::default()).await;
    assert_eq!((ended.reason, world.counter.load(Ordering::SeqCst)), (Reason::Done, 0));
    let asked = model.asked.lock().unwrap();
    let text = format!("{:?}", asked[2].messages);
    assert!(text.contains("no tool `rm`") && text.contains("cut off"), "{text}");
}

#[tokio::test]
async fn a_tool_of_one_provider_is_offered_to_its_models_alone() {
    for (provider, is_offered) in
        [("gemini", true), ("Gemini", true), ("anthropic", false), ("script", false)]
    {
        let world = world();
        let spec = Spec::new("grounded", "1.0.0", "Searches.").for_provider("gemini");
        let made = dynamic(spec, json!({"type": "object"}), |_, _| async {
            Ok(Output::new("", "found it", Value::Null))
        });
        world.context.tools().register(made).unwrap();
        let profile = Profile { provider: provider.to_owned(), ..Profile::default() };
        let model = Answers::new(profile, vec![Ok(call("grounded", json!({}))), Ok(says("done"))]);
        run(&world, &model, Limits::default()).await;
        let asked = model.asked.lock().unwrap();
        let has_it = asked[0].tools.iter().any(|tool| tool.name == "grounded");
        assert_eq!(has_it, is_offered, "{provider}");
        let text = format!("{:?}", asked[1].messages);
        let expected = if is_offered { "found it" } else { "made for models of gemini" };
        assert!(text.contains(expected), "{provider}: {text}");
    }
}

#[tokio::test]
async fn a_model_that_fails_ends_the_run_with_its_reason() {
    let world = world();
    let error = ModelError::new(ModelErrorKind::Authentication, "the key was not accepted");
    let model = Answers::new(Profile::default(), vec![Ok(call("add", json!({"n": 1}))), Err(error)]);
    let ended = run(&world, &model, Limits::default()).await;
    assert_eq!((ended.reason, ended.error.as_deref()), (Reason::Model, Some("the key was not accepted")));
    assert_eq!(world.counter.load(Ordering::SeqCst), 1);
}

/// Eight answers of about 300 tokens with a call each, and a last one.
fn long_answers() -> Vec<Result<Response, ModelError>> {
    let long = |n: u64| {
        Ok(response(
            &format!("step {n} {}", "word ".repeat(300)),
            &[("add", Arguments::Json(json!({"n": n})))],
            Finish::ToolCalls,
            Usage::default(),
        ))
    };
    (0..8).map(long).chain([Ok(says("done"))]).collect()
}

#[tokio::test]
async fn a_conversation_that_grows_too_long_is_shortened() {
    let world = world();
    let profile = Profile { context_tokens: Some(2_000), ..Profile::default() };
    let model = Answers::new(profile, long_answers());
    let ended = run(&world, &model, Limits::default()).await;
    assert_eq!(ended.text, "done");
    let asked = model.asked.lock().unwrap();
    let last = format!("{:?}", asked.last().unwrap().messages);
    assert!(last.contains("SUMMARY") && !last.contains("step 0"), "{last}");
    let events = world.sink.log.events();
    assert!(
        events
            .iter()
            .any(|event| matches!(event.kind, EventKind::Activation { fact: Fact::Compacted { .. } }))
    );
    assert!(decide(&State::of("run", &events)).is_empty());
}

/// Breaks off twice before it answers.
struct Breaks(Profile);

impl Model for Breaks {
    fn profile(&self) -> &Profile {
        &self.0
    }

    fn stream(&self, _: Request, _: CancellationToken) -> BoxStream<'static, Result<Delta, ModelError>> {
        let text = || Ok(Delta::Text("some words that are lost ".repeat(20)));
        let retry = |attempt| {
            let error = ModelError::new(ModelErrorKind::Network, "cut");
            Ok(Delta::Retry { attempt, delay_ms: 0, error })
        };
        let answer = Response { usage: Usage { input: 10, output: 2, ..Usage::default() }, ..says("done") };
        let deltas = vec![text(), retry(1), text(), retry(2), Ok(Delta::Done(Box::new(answer)))];
        stream::iter(deltas).boxed()
    }
}

#[tokio::test]
async fn attempts_that_broke_off_count() {
    let world = world();
    let driver = LocalDriver::new();
    let plain = Answers::new(Profile::default(), Vec::new());
    let mut activation = activation(&world, &plain, Limits::default());
    activation.model = Arc::new(Breaks(Profile::default()));
    driver.add(activation).unwrap();
    driver.start("run");
    let ended = driver.wait("run").await.unwrap();
    assert_eq!((ended.reason, ended.text.as_str()), (Reason::Done, "done"));
    assert!(ended.usage.output > 150 && ended.usage.estimated, "{:?}", ended.usage);
}

/// A run whose conversation is shortened: its requests for a summary, and how it ended.
async fn shortened(output: Option<u64>, limits: Limits) -> (Vec<Request>, Ended) {
    let world = world();
    let profile = Profile { context_tokens: Some(2_000), output_tokens: output, ..Profile::default() };
    let model = Answers::new(profile, long_answers());
    let ended = run(&world, &model, limits).await;
    let asked = model.asked.lock().unwrap().clone();
    let is_summary = |request: &Request| format!("{:?}", request.messages.last()).contains("be shortened");
    (asked.into_iter().filter(is_summary).collect(), ended)
}

#[tokio::test]
async fn a_summary_keeps_to_the_limit_of_the_model_and_to_the_budget() {
    let (summaries, ended) = shortened(Some(300), Limits::default()).await;
    assert_eq!(ended.text, "done");
    assert!(!summaries.is_empty());
    assert!(summaries.iter().all(|request| request.max_output_tokens == Some(300)), "{summaries:?}");
    // What is left of a budget is less than a summary may have.
    let mut lowest = u64::MAX;
    for tokens in (6_000..16_000).step_by(250) {
        let (summaries, _) = shortened(None, Limits { tokens: Some(tokens), ..Limits::default() }).await;
        lowest = summaries.iter().filter_map(|request| request.max_output_tokens).fold(lowest, u64::min);
    }
    assert!(lowest < 2_000, "{lowest}");
}

#[tokio::test]
async fn a_conversation_that_the_provider_finds_too_long_is_shortened_once() {
    let world = world();
    let too_long = || Err(ModelError::new(ModelErrorKind::TooLong, "too long"));
    let model = Answers::new(
        Profile::default(),
        vec![
            Ok(call("add", json!({"n": 1}))),
            Ok(call("add", json!({"n": 2}))),
            Ok(call("add", json!({"n": 3}))),
            too_long(),
            too_long(),
        ],
    );
    let ended = run(&world, &model, Limits::default()).await;
    assert_eq!((ended.reason, ended.error.as_deref()), (Reason::Model, Some("too long")));
}

#[tokio::test]
async fn a_run_that_is_stopped_ends_with_what_there_is() {
    let world = world();
    let first = response(
        "found a",
        &[("add", Arguments::Json(json!({"n": 1})))],
        Finish::ToolCalls,
        Usage::default(),
    );
    let model = Answers::new(Profile::default(), vec![Ok(first)]);
    let driver = LocalDriver::new();
    driver.add(activation(&world, &model, Limits::default())).unwrap();
    driver.start("run");
    while model.asked.lock().unwrap().len() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    driver.cancel("run");
    let ended = driver.wait("run").await.unwrap();
    assert_eq!((ended.reason, ended.text.as_str()), (Reason::Stopped, "found a"));
}

#[tokio::test]
async fn time_ends_a_run_whose_model_hangs() {
    let world = world();
    let model = Answers::new(Profile::default(), vec![]);
    let ended = run(&world, &model, Limits { time_ms: Some(30), ..Limits::default() }).await;
    assert_eq!(ended.reason, Reason::Time);
}

#[tokio::test]
async fn what_is_signalled_is_heard_before_the_next_turn() {
    let world = world();
    let model = Answers::new(Profile::default(), vec![Ok(call("slow", json!({"ms": 30}))), Ok(says("ok"))]);
    let driver = LocalDriver::new();
    driver.add(activation(&world, &model, Limits::default())).unwrap();
    driver.start("run");
    while model.asked.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let (from, text) = ("child".to_owned(), "found it".to_owned());
    driver.signal("run", Signal { from, text, ..Signal::default() }).await.unwrap();
    assert_eq!(driver.wait("run").await.unwrap().text, "ok");
    let asked = model.asked.lock().unwrap();
    let text = format!("{:?}", asked[1].messages);
    assert!(text.contains("[from child] found it"), "{text}");
}

/// Breaks off in each attempt, however often it is asked, and keeps what it was asked.
#[derive(Default)]
struct Broken(Profile, Mutex<Vec<Option<u64>>>);

impl Model for Broken {
    fn profile(&self) -> &Profile {
        &self.0
    }

    fn stream(
        &self,
        request: Request,
        _: CancellationToken,
    ) -> BoxStream<'static, Result<Delta, ModelError>> {
        self.1.lock().unwrap().push(request.max_output_tokens);
        let most = request.max_output_tokens.unwrap_or(100).min(100);
        let words = (1..200).map(|count| "lost ".repeat(count));
        let text = words.take_while(|text| tokens(text) as u64 <= most).last().unwrap_or_default();
        let attempt = move |attempt| {
            let error = ModelError::new(ModelErrorKind::Network, "cut");
            [Ok(Delta::Text(text.clone())), Ok(Delta::Retry { attempt, delay_ms: 0, error })]
        };
        let last = Err(ModelError::new(ModelErrorKind::Network, "cut for good"));
        stream::iter((1..=4).flat_map(attempt).chain([last])).boxed()
    }
}

#[tokio::test]
async fn attempts_that_broke_off_never_exceed_the_budget() {
    let mut is_used_up = 0;
    for tokens in (150..2_500).step_by(50) {
        let world = world();
        let driver = LocalDriver::new();
        let plain = Answers::new(Profile::default(), Vec::new());
        let limits = Limits { tokens: Some(tokens), ..Limits::default() };
        let mut activation = activation(&world, &plain, limits);
        let model = Arc::new(Broken {
            0: Profile { output_tokens: Some(400), ..Profile::default() },
            ..Broken::default()
        });
        activation.model = Arc::clone(&model) as _;
        let branch = activation.branch.clone();
        driver.add(activation).unwrap();
        driver.start("run");
        let ended = driver.wait("run").await.unwrap();
        let used = ended.usage.input + ended.usage.output;
        assert!(used <= tokens, "{used} of {tokens}: {ended:?}");
        assert_eq!(branch.spent().tokens, used, "the ledger has what the run has: {ended:?}");
        let asked = model.1.lock().unwrap().clone();
        assert!(asked.iter().flatten().is_sorted_by(|one, next| one >= next), "{asked:?}");
        match ended.reason {
            Reason::Tokens => is_used_up += 1,
            reason => assert_eq!(reason, Reason::Model, "{ended:?}"),
        }
        assert_eq!(State::of("run", &world.sink.log.events()).usage(), ended.usage);
    }
    assert!((5..45).contains(&is_used_up), "{is_used_up}");
}

/// A price of a dollar for each token.
fn dear() -> Profile {
    let price = toolpost_core::model::Price { input: 1e6, output: 1e6, ..Default::default() };
    Profile { price: Some(price), ..Profile::default() }
}

#[tokio::test]
async fn limits_hold_where_a_server_counts_nothing() {
    let uncounted = || Response { usage: Usage::default(), ..call("add", json!({"n": "x".repeat(400)})) };
    for (limits, reason) in [
        (Limits { tokens: Some(500), ..Limits::default() }, Reason::Tokens),
        (Limits { cost: Some(500.0), ..Limits::default() }, Reason::Cost),
    ] {
        let world = world();
        let model = Answers::new(dear(), (0..100).map(|_| Ok(uncounted())).collect());
        let ended = run(&world, &model, limits).await;
        assert_eq!(ended.reason, reason, "{ended:?}");
        assert!(ended.usage.estimated && ended.turns < 20, "{ended:?}");
        assert!(ended.cost.is_some_and(|cost| cost > 100.0), "{ended:?}");
    }
    // What was counted is not estimated, and where there is no price the cost is not known.
    let model = Answers::new(Profile::default(), vec![Ok(says("done"))]);
    let ended = run(&world(), &model, Limits::default()).await;
    assert_eq!((ended.usage.estimated, ended.usage.input, ended.cost), (false, 10, None));
}

/// Streams a text and then nothing more.
struct Halting(Profile);

impl Model for Halting {
    fn profile(&self) -> &Profile {
        &self.0
    }

    fn stream(&self, _: Request, _: CancellationToken) -> BoxStream<'static, Result<Delta, ModelError>> {
        stream::iter([Ok(Delta::Text("half of ".into())), Ok(Delta::Text("it".into()))])
            .chain(stream::pending())
            .boxed()
    }
}

#[tokio::test]
async fn what_was_said_before_a_run_is_stopped_is_its_text() {
    let world = world();
    let unused = Answers::new(Profile::default(), vec![]);
    let limits = Limits { time_ms: Some(50), ..Limits::default() };
    let halting =
        Activation { model: Arc::new(Halting(Profile::default())), ..activation(&world, &unused, limits) };
    let ended = LocalDriver::new().run(halting).await.unwrap();
    assert_eq!((ended.reason, ended.text.as_str()), (Reason::Time, "half of it"));
    // It is billed, though nobody has counted it.
    let Usage { input, output, estimated, .. } = ended.usage;
    assert!(input > 0 && output > 0 && estimated, "{ended:?}");
    let state = State::of("run", &world.sink.log.events());
    assert_eq!(state.ended(), Some(&ended), "the log tells the same");
}

#[tokio::test]
async fn secrets_in_names_and_ids_of_calls_are_not_recorded() {
    const SECRET: &str = "canary-4711-canary";
    let world = world();
    let redactor = toolpost_core::host::Redactor::new([("KEY", SECRET)]);
    let context = world.context.rebuild().redactor(redactor).build();
    let mut first = call(&format!("tool_{SECRET}"), json!({SECRET: SECRET}));
    for part in &mut first.parts {
        if let Part::ToolCall(call) = part {
            call.id = format!("id_{SECRET}");
            let value = json!({"signature": SECRET});
            call.opaque = Some(toolpost_core::model::Opaque { format: "x".into(), value });
        }
    }
    (first.note, first.finish_raw, first.model) =
        (Some(SECRET.into()), Some(SECRET.into()), Some(SECRET.into()));
    first.queries = vec![SECRET.into()];
    first.sources = vec![toolpost_core::model::SearchSource {
        title: SECRET.into(),
        url: format!("https://{SECRET}"),
        snippet: SECRET.into(),
    }];
    let mut error = ModelError::new(ModelErrorKind::Server, SECRET);
    error.code = Some(SECRET.into());
    let model = Answers::new(Profile::default(), vec![Ok(first), Err(error)]);
    let activation = Activation { context, ..activation(&world, &model, Limits::default()) };
    LocalDriver::new().run(activation).await.unwrap();
    let log = serde_json::to_string(&world.sink.log.events()).unwrap();
    assert!(log.contains("[redacted:KEY]") && !log.contains(SECRET), "{log}");
}

/// What a run of a tool leaves in the log that returns a picture of so many letters and data of so many.
async fn returned(folder: &Kept, picture: usize, data: usize) -> Extra {
    let world = world();
    let context = world.context.rebuild().spill(Arc::new(folder.clone())).build();
    let look = move |_: Context, _: Value| async move {
        let picture = Attachment {
            media_type: "image/png".into(),
            filename: "a.png".into(),
            content: AttachmentContent::Data("A".repeat(picture)),
        };
        Ok(Output::new("look", "seen", json!({"text": "d".repeat(data)})).attach(picture))
    };
    let spec = Spec::new("look", "1.0.0", "Looks.").requires(Capability::Read);
    context.tools().register(dynamic(spec, json!({"type": "object"}), look)).unwrap();
    let profile = Profile { images: true, reads_data: true, ..Profile::default() };
    let model = Answers::new(profile, vec![Ok(call("look", json!({}))), Ok(says("done"))]);
    let run = Activation { context, ..activation(&world, &model, Limits::default()) };
    LocalDriver::new().run(run).await.unwrap();
    let state = State::of("run", &world.sink.log.events());
    let (place, extra) = state.returned().iter().next().unwrap();
    assert_eq!(place.1, 0);
    extra.clone()
}

/// Another machine has the log, and not the folder of long outputs.
#[tokio::test]
async fn images_and_data_of_results_are_in_the_log() {
    let folder = Kept::default();
    let extra = returned(&folder, 1 << 20, 100_000).await;
    assert_eq!(extra.attachments[0].content, AttachmentContent::Data("A".repeat(1 << 20)));
    assert_eq!((extra.data["text"].as_str().unwrap().len(), extra.data_handle), (100_000, None));
    assert!(folder.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_is_too_long_for_the_log_is_under_handles() {
    let kept = |folder: &Kept, handle: &str| folder.0.lock().unwrap().get(handle).map(String::len);
    let folder = Kept::default();
    let extra = returned(&folder, 9 << 20, 3).await;
    let AttachmentContent::Handle(handle) = &extra.attachments[0].content else { panic!() };
    assert_eq!((kept(&folder, handle), &extra.data), (Some(9 << 20), &json!({"text": "ddd"})));
    let folder = Kept::default();
    let extra = returned(&folder, 3, 9 << 20).await;
    assert_eq!(extra.attachments[0].content, AttachmentContent::Data("AAA".into()));
    assert!(extra.data.is_null());
    assert!(kept(&folder, &extra.data_handle.unwrap()) > Some(9 << 20));
}

/// Keeps texts in memory.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<std::collections::HashMap<String, String>>>);

impl toolpost_core::host::Spill for Kept {
    fn keep(
        &self,
        _: &str,
        call: &str,
        text: &str,
        _: &toolpost_core::host::Redactor,
    ) -> std::io::Result<(String, u64)> {
        let handle = format!("spill:{call}");
        self.0.lock().unwrap().insert(handle.clone(), text.to_owned());
        Ok((handle, text.len() as u64))
    }

    fn file(&self, _: &str, _: &str, _: usize) -> std::io::Result<Box<dyn toolpost_core::host::SpillFile>> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    fn open(&self, _: &str, handle: &str) -> Result<toolpost_core::workspace::File, ToolError> {
        Err(ToolError::execution(handle))
    }
}

/// The events as the log gives them back.
fn reread(events: &[Event]) -> Vec<Event> {
    let lines = events.iter().map(|event| serde_json::to_string(event).unwrap());
    lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
}

/// A run with long answers that is told a lot meanwhile, and whose conversation is shortened.
async fn told_while_it_runs(seed: u64) {
    let world = world();
    let price = Price { input: 0.1 + seed as f64 / 7.0, output: 1.0 / 3.0, ..Price::default() };
    let profile = Profile { context_tokens: Some(2_000), price: Some(price), ..Profile::default() };
    let answer = |n: u64| {
        let calls = [
            ("slow", Arguments::Json(json!({"ms": n % 3, "n": n}))),
            ("slow", Arguments::Json(json!({"ms": 1, "n": n}))),
        ];
        let text = format!("step {n} {}", "word ".repeat(60));
        Ok(response(&text, &calls, Finish::ToolCalls, Usage::default()))
    };
    // What it is told behind its last answer is answered again.
    let answers = (0..14).map(answer).chain((0..1_000).map(|_| Ok(says("done")))).collect();
    let model = Answers::new(profile, answers);
    let driver = Arc::new(LocalDriver::new());
    driver.add(activation(&world, &model, Limits::default())).unwrap();
    driver.start("run");
    let tells = (0..4).map(|who| {
        let driver = Arc::clone(&driver);
        tokio::spawn(async move {
            for number in 0..200 {
                let text = format!("{number} {}", "news ".repeat((number * 7 % 40) as usize));
                let signal = Signal { from: format!("child {who}"), text, ..Signal::default() };
                let _ = driver.signal("run", signal).await;
                tokio::time::sleep(Duration::from_micros(seed * 37 % 900)).await;
            }
        })
    });
    let tells: Vec<_> = tells.collect();
    let ended = driver.wait("run").await.unwrap();
    tells.into_iter().for_each(|task| task.abort());
    assert_eq!(ended.reason, Reason::Done, "{ended:?}");
    let events = reread(&world.sink.log.events());
    let is_shortened =
        |event: &Event| matches!(&event.kind, EventKind::Activation { fact: Fact::Compacted { .. } });
    assert!(events.iter().any(is_shortened));
    if let Err(difference) = replay("run", &events) {
        panic!("seed {seed}: {difference}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn guarantee_47_a_run_that_is_told_a_lot_is_replayed_equally() {
    for seed in 0..12 {
        told_while_it_runs(seed).await;
    }
}

#[tokio::test]
async fn guarantee_47_a_run_with_secrets_is_replayed_equally() {
    // In the log it has another length, so that the conversation there has too.
    let secret = "word-".repeat(120);
    let redactor = toolpost_core::host::Redactor::new([("SECRET", &secret)]);
    let mut differs = false;
    for window in (600..3_000).step_by(100) {
        let mut world = world();
        world.context = world.context.rebuild().redactor(redactor.clone()).build();
        let profile = Profile { context_tokens: Some(window), ..Profile::default() };
        let answer = |n: u64| {
            let call = [("slow", Arguments::Json(json!({"ms": 0, "n": n, "note": secret})))];
            Ok(response(&format!("step {n} {secret}"), &call, Finish::ToolCalls, Usage::default()))
        };
        let model = Answers::new(profile, (0..9).map(answer).chain([Ok(says("done"))]).collect());
        let driver = LocalDriver::new();
        driver.add(activation(&world, &model, Limits::default())).unwrap();
        driver.start("run");
        let signal =
            Signal { from: "child".to_owned(), text: format!("it is {secret}"), ..Signal::default() };
        let _ = driver.signal("run", signal).await;
        driver.wait("run").await.unwrap();
        let events = reread(&world.sink.log.events());
        assert!(!format!("{events:?}").contains(&secret), "no secret is in the log");
        let sent = format!("{:?}", model.asked.lock().unwrap());
        differs |= sent.contains(&secret);
        if let Err(difference) = replay("run", &events) {
            panic!("window {window}: {difference}");
        }
    }
    assert!(differs, "the model has what the log has not");
}
