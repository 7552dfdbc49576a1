//! What a tool adds to the question about it: facts, rules that last, and a dry run that executes on demand.

use crate::stage::{Stage, code, spec};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use toolpost_core::host::{BoxFuture, Confirm, Scope};
use toolpost_core::outcome::PlannedChange;
use toolpost_core::policy::Profile;
use toolpost_core::{
    Access, Answer, Call, Capability, Context, Output, Policy, Question, Spec, Tool, ToolError,
};

/// Runs what it is told, in two words.
struct Runner {
    commands: Vec<Access>,
    rules: Vec<&'static str>,
    ran: Arc<AtomicUsize>,
}

impl Tool for Runner {
    type Args = serde_json::Map<String, serde_json::Value>;
    type Data = ();

    fn spec(&self) -> Spec {
        spec("runner").requires(Capability::Exec).may_use(Capability::Write).own_dry_run()
    }

    fn accesses(&self, _: &Self::Args, _: Vec<Access>) -> Vec<Access> {
        self.commands.clone()
    }

    fn facts(&self, ctx: &Context, _: &Self::Args) -> Vec<String> {
        vec![format!("exec {}, write {}", ctx.granted(Capability::Exec), ctx.granted(Capability::Write))]
    }

    fn rules(&self, access: &Access, usual: Vec<String>) -> Vec<String> {
        match self.rules.as_slice() {
            ["usual"] => usual,
            // One rule of the list for each access.
            rules => {
                let at = self.commands.iter().position(|one| one == access).unwrap();
                rules
                    .get(at)
                    .filter(|rule| !rule.is_empty())
                    .map(|rule| (*rule).to_owned())
                    .into_iter()
                    .collect()
            }
        }
    }

    async fn call(&self, _: &Context, _: Self::Args) -> Result<Output<()>, ToolError> {
        self.ran.fetch_add(1, Ordering::SeqCst);
        Ok(Output::text("ran"))
    }

    async fn dry_run(&self, ctx: &Context, _: Self::Args) -> Result<Output<()>, ToolError> {
        assert!(ctx.is_dry_run() && ctx.granted(Capability::Write), "as the call would be");
        ctx.would_change(PlannedChange {
            path: "made".to_owned(),
            kind: "create".to_owned(),
            bytes_before: None,
            bytes_after: Some(3),
        });
        Ok(Output::text("would run"))
    }
}

/// Gives one answer after another, and keeps the questions.
struct Person {
    answers: Mutex<Vec<Answer>>,
    asked: Mutex<Vec<Question>>,
}

impl Confirm for Person {
    fn confirm<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        self.asked.lock().unwrap().push(question.clone());
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.is_empty() { Answer::Nobody } else { answers.remove(0) };
        Box::pin(std::future::ready(answer))
    }
}

fn careful() -> Policy {
    Policy::profile(Profile::Standard).ask(Capability::Exec)
}

/// The questions that a call leads to, its outcome, and how often the tool ran.
async fn asked(
    commands: &[&str],
    rules: &[&'static str],
    answers: &[Answer],
) -> (Vec<Question>, String, usize) {
    let ran = Arc::new(AtomicUsize::new(0));
    let commands = commands
        .iter()
        .map(|command| match *command {
            "*" => Access::any(Capability::Exec),
            command => Access::command(command),
        })
        .collect();
    let stage = Stage::new().tool(Runner { commands, rules: rules.to_vec(), ran: ran.clone() });
    let person = Arc::new(Person { answers: Mutex::new(answers.to_vec()), asked: Mutex::default() });
    let ctx = stage.ctx().confirm(person.clone()).build();
    let executor = stage.builder(careful()).build();
    let outcome = executor.call(&ctx, "runner", json!({})).await;
    if answers.last() == Some(&Answer::Yes(Scope::Session)) {
        executor.call(&ctx, "runner", json!({})).await;
    }
    let questions = person.asked.lock().unwrap().clone();
    (questions, code(&outcome).to_owned(), ran.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_dry_run_that_executes_is_run_when_it_is_asked_for() {
    let once = Answer::Yes(Scope::Once);
    let (questions, outcome, ran) = asked(&["x y"], &["usual"], &[Answer::DryRun, once.clone()]).await;
    assert_eq!((outcome.as_str(), ran, questions.len()), ("ran", 1, 2));
    assert_eq!((questions[0].preview.as_deref(), questions[0].has_dry_run), (None, true));
    assert_eq!((questions[1].preview.as_deref(), questions[1].has_dry_run), (Some("would run"), false));
    assert_eq!(questions[0].facts, ["exec true, write true"]);
    let (questions, outcome, ran) = asked(&["x y"], &["usual"], &[once]).await;
    assert_eq!(
        (outcome.as_str(), ran, questions[0].preview.as_deref()),
        ("ran", 1, None),
        "not unless asked for"
    );
    let (_, outcome, ran) = asked(&["x y"], &["usual"], &[Answer::DryRun, Answer::DryRun]).await;
    assert_eq!((outcome.as_str(), ran), ("PERMISSION_DENIED", 0), "it is no yes, however often");
}

#[tokio::test]
async fn the_rules_that_last_are_the_tools_where_they_cover_what_is_asked() {
    let session = [Answer::Yes(Scope::Session)];
    for (commands, rules, expected) in [
        (&["a b"][..], &["usual"][..], Some(vec!["runner: a b"])),
        (&["a b"], &["runner: a *"], Some(vec!["runner: a *"])),
        (&["a b", "c d"], &["runner: a *", "runner: c d"], Some(vec!["runner: a *", "runner: c d"])),
        (&["a b", "a c"], &["runner: a *", "runner: a *"], Some(vec!["runner: a *"])),
        (&["a b"], &["runner: z *"], Some(vec!["runner: a b"])),
        (&["a b", "*"], &["runner: a *", ""], None),
    ] {
        let (questions, _, ran) = asked(commands, rules, &session).await;
        let remembered = questions[0].remember.as_ref().map(|remember| remember.rules.clone());
        assert_eq!(
            remembered,
            expected.as_ref().map(|rules| rules.iter().map(ToString::to_string).collect())
        );
        // What was said for the session holds for the next call; what cannot be kept is asked again.
        let counts = if expected.is_some() { (1, 2) } else { (2, 1) };
        assert_eq!((questions.len(), ran), counts, "{commands:?}");
    }
}

#[tokio::test]
async fn what_a_dry_run_says_it_would_change_is_reported() {
    let stage = Stage::new().tool(Runner { commands: Vec::new(), rules: vec!["usual"], ran: Arc::default() });
    let executor = stage.builder(Policy::profile(Profile::Privileged)).build();
    let outcome = executor.run(&stage.ctx().build(), Call::new("runner", json!({})).dry_run()).await;
    let changes = outcome.metadata.dry_run.unwrap().changes;
    assert_eq!((changes.len(), changes[0].path.as_str(), changes[0].bytes_after), (1, "made", Some(3)));
}
