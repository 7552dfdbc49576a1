//! Questions to the person.

use crate::stage::{Stage, any, code, message, said, spec, writer};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolpost_core::host::{Always, BoxFuture, Confirm};
use toolpost_core::policy::Profile;
use toolpost_core::tool::OutputBudget;
use toolpost_core::{Answer, Call, Capability, Policy, Question, dynamic};

/// A person who takes a minute, and wants to see what would change or does not.
struct Person {
    wants_preview: bool,
    asked: Mutex<Vec<Question>>,
}

impl Person {
    fn new(wants_preview: bool) -> Arc<Person> {
        Arc::new(Person { wants_preview, asked: Mutex::default() })
    }
}

impl Confirm for Person {
    fn confirm<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        self.asked.lock().unwrap().push(question.clone());
        Box::pin(async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Answer::Yes(toolpost_core::host::Scope::Once)
        })
    }

    fn wants_preview(&self) -> bool {
        self.wants_preview
    }
}

/// Somebody who crashes instead of asking.
struct Broken;

impl Confirm for Broken {
    fn confirm<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        panic!("no terminal");
    }
}

fn careful() -> Policy {
    Policy::profile(Profile::ReadOnly).ask(Capability::Write)
}

async fn check(confirm: Arc<dyn Confirm>, expected: &str, trace: &str) {
    let stage = Stage::new().tool(writer(spec("write")));
    let ctx = stage.ctx().confirm(confirm).build();
    let outcome = stage.builder(careful()).build().call(&ctx, "write", json!({"path": "a"})).await;
    assert_eq!(outcome.to_text(), expected);
    assert_eq!(stage.memory.text("a").is_some(), outcome.is_success());
    stage.check(&format!("requested write · initialized write · ask · asked · {trace}"));
}

#[tokio::test]
async fn a_yes_goes_on_and_anything_else_does_not() {
    check(
        Arc::new(Always(Answer::Yes(toolpost_core::host::Scope::Once))),
        "written",
        "yes · started 1 · finished",
    )
    .await;
    check(
        Arc::new(Always(Answer::No("use b".to_owned()))),
        "Error: the user said no to `write`: use b",
        "no (use b) · finished PERMISSION_DENIED",
    )
    .await;
    let nobody = "Error: `write` would write `a`, and write needs a person's consent, and no person can be asked; \
                  add the allow rule `write: /a`, or allow write in the policy";
    check(Arc::new(Always(Answer::Nobody)), nobody, "nobody · finished PERMISSION_DENIED").await;
    check(Arc::new(Broken), nobody, "nobody · finished PERMISSION_DENIED").await;
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_person_does_not_count() {
    let second = Duration::from_secs(1);
    let stage = Stage::new()
        .tool(any(spec("asks").timeout(second, second).requires(Capability::Write), |ctx, _| async move {
            assert_eq!(ctx.confirm("Really?").await, Answer::Yes(toolpost_core::host::Scope::Once));
            said(format!("{} ms left", ctx.time_left().unwrap().as_millis()))
        }))
        .tool(any(spec("parent").timeout(2 * second, 2 * second), |ctx, _| async move {
            let inner = ctx.call(Call::new("asks", json!({}))).await.unwrap();
            said(format!("{}, {} ms above", code(&inner), ctx.time_left().unwrap().as_millis()))
        }));
    let ctx = stage.ctx().confirm(Person::new(false)).build();
    let executor = stage.builder(careful()).build();
    assert_eq!(code(&executor.call(&ctx, "asks", json!({})).await), "1000 ms left");
    let outcome = executor.call(&ctx, "parent", json!({})).await;
    assert_eq!(code(&outcome), "1000 ms left, 2000 ms above", "nor against the calls above");
    assert!(outcome.metadata.execution_time_ms < 1_000.0);
    assert_eq!(
        stage.trace()[..8].join(" · "),
        "requested asks · initialized asks · ask · asked · yes · started 1 · asked · yes"
    );
}

/// The preview that a person was shown, and how often the tool ran.
async fn preview(wants_preview: bool, capability: Capability) -> (Option<String>, usize) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let stage = Stage::new().tool(any(spec("write").requires(capability), move |ctx, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            ctx.progress("working", json!(null));
            if ctx.is_dry_run() {
                assert_eq!(ctx.confirm("In a preview?").await, Answer::Nobody);
                ctx.workspace().write(&"a".into(), b"new")?;
            }
            said("one line changes")
        }
    }));
    let person = Person::new(wants_preview);
    let ctx = stage.ctx().confirm(person.clone()).build();
    let policy = careful().ask(Capability::Exec);
    let outcome = stage.builder(policy).build().call(&ctx, "write", json!({})).await;
    assert_eq!((code(&outcome), stage.memory.text("a")), ("one line changes", None));
    stage.check(
        "requested write · initialized write · ask · asked · yes · started 1 · progress working · finished",
    );
    let question = person.asked.lock().unwrap()[0].clone();
    (question.preview, runs.load(Ordering::SeqCst))
}

#[tokio::test(start_paused = true)]
async fn a_preview_is_computed_where_it_is_wanted_and_executes_nothing() {
    assert_eq!(preview(true, Capability::Write).await, (Some("one line changes".to_owned()), 2));
    assert_eq!(preview(false, Capability::Write).await, (None, 1));
    assert_eq!(preview(true, Capability::Exec).await, (None, 1));
}

#[tokio::test(start_paused = true)]
async fn a_preview_is_bounded_like_an_output() {
    let spec = spec("write").requires(Capability::Write).budget(OutputBudget { bytes: 100, lines: 9 });
    let stage = Stage::new().tool(any(spec, |_, _| async { said("x".repeat(9_000)) }));
    let person = Person::new(true);
    let ctx = stage.ctx().confirm(person.clone()).build();
    stage.builder(careful()).build().call(&ctx, "write", json!({})).await;
    let preview = person.asked.lock().unwrap()[0].preview.clone().unwrap();
    assert!(preview.len() < 300 && preview.contains("8900 of 9000 bytes"), "{preview}");
}

#[tokio::test]
async fn the_question_says_what_would_be_touched() {
    let schema = crate::stage::path_schema();
    let stage = Stage::new().tool(dynamic(
        spec("write").requires(Capability::Write).requires(Capability::Read),
        schema,
        |_, _| async { said("") },
    ));
    let ctx = stage.ctx().confirm(Arc::new(Always(Answer::No(String::new())))).build();
    let outcome = stage.builder(careful()).build().call(&ctx, "write", json!({"paths": ["a", "b"]})).await;
    assert_eq!(message(&outcome), "the user said no to `write`");
    let asked = stage.log.events().into_iter().find_map(|event| match event.kind {
        toolpost_core::event::EventKind::Asked { question } => Some(question),
        _ => None,
    });
    let asked = asked.unwrap();
    assert_eq!(asked.text, "`write` would write `a`, and write needs a person's consent");
    let listed: Vec<String> = asked.accesses.iter().map(ToString::to_string).collect();
    assert_eq!(listed, ["write `a`", "write `b`"]);
}
