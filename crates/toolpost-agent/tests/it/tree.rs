//! Trees of agents: no limit is ever exceeded, nobody waits for ever, and what a kernel does with signals and results.

use crate::driver::Answers;
use crate::kernel::{Random, response};
use serde_json::json;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;
use toolpost_agent::agent_file::read;
use toolpost_agent::driver::{Activation, LocalDriver, NoListener};
use toolpost_agent::kernel::{State, decide};
use toolpost_agent::tree::{Amount, Branch, Draw, Ledger, Refusal, Wanted, child_id};
use toolpost_core::activation::{BeyondFanOut, Fact, Limits, Reason, Start, Todo};
use toolpost_core::host::Ids;
use toolpost_core::model::{
    Finish, Model, ModelError, ModelErrorKind, Part, Price, Profile, Response, Usage,
};
use toolpost_core::policy::{Access, Effect, Profile as Risk, Request};
use toolpost_core::{Capability, Code, Context, Executor, Memory, Policy, Registry};

/// What a test knows of an agent, beside what the ledger says.
struct Agent {
    parent: Option<usize>,
    depth: u64,
    limits: Limits,
    is_running: bool,
    spent: u64,
    cost: f64,
    policy: Policy,
}

fn limits(random: &mut Random) -> Limits {
    let some = |random: &mut Random, most: u64| random.is(40).then(|| random.below(most));
    Limits {
        depth: some(random, 5),
        fan_out: some(random, 4).map(|most| most + 1),
        tokens: some(random, 2_000),
        cost: some(random, 100).map(|cents| cents as f64 / 100.0),
        ..Limits::default()
    }
}

/// All that could be asked of a policy, as far as these rules tell cases apart.
fn decisions(policy: &Policy) -> Vec<Effect> {
    let mut decisions = Vec::new();
    for capability in Capability::ALL {
        for path in ["a.txt", "secret/b.txt"] {
            let accesses = [Access::path(capability, path)];
            let request = Request { tool: "tool", accesses: &accesses };
            decisions.push(policy.decide(&request).effect());
        }
    }
    decisions
}

fn strictness(effect: Effect) -> u8 {
    match effect {
        Effect::Allow => 0,
        Effect::Ask => 1,
        Effect::Deny => 2,
    }
}

const POLICIES: [&str; 5] = [
    "read-only",
    "standard",
    "privileged",
    "{ profile: privileged, rules: [ { deny: \"read: secret/**\" } ] }",
    "{ profile: read-only, allow: [exec], rules: [ { allow: \"write: a.txt\" } ] }",
];

/// One tree: agents are started, spend and end at random, and whatever the ledger allows is within every limit.
fn grow(seed: u64) -> (usize, usize) {
    let random = &mut Random(seed);
    let mut ledger = Ledger::default();
    let root = limits(random);
    ledger.root("0", &root);
    let policy = Policy::profile(if random.is(50) { Risk::Standard } else { Risk::Privileged });
    let mut agents =
        vec![Agent { parent: None, depth: 0, limits: root, is_running: true, spent: 0, cost: 0.0, policy }];
    let mut held: Vec<(usize, Amount)> = Vec::new();
    let (mut refused, mut spent) = (0, 0);
    for step in 0..60 {
        let one = random.below(agents.len() as u64) as usize;
        match random.below(10) {
            0..4 => {
                let own = limits(random);
                let id = agents.len().to_string();
                match ledger.spawn(&one.to_string(), &id, &own) {
                    Ok((depth, limits)) => {
                        assert!(agents[one].is_running);
                        let file = POLICIES[random.below(POLICIES.len() as u64) as usize];
                        let text = format!("---\nname: a\ndescription: d\npolicy: {file}\n---\nx\n");
                        let agent = read("a.md", text.as_bytes()).agent.unwrap();
                        let policy = agent.policy_within(&agents[one].policy);
                        let (below, above) = (decisions(&policy), decisions(&agents[one].policy));
                        for (below, above) in below.into_iter().zip(above) {
                            assert!(strictness(below) >= strictness(above), "seed {seed}: wider than above");
                        }
                        assert_eq!(depth, agents[one].depth + 1);
                        let parent = Some(one);
                        let (is_running, spent, cost) = (true, 0, 0.0);
                        agents.push(Agent { parent, depth, limits, is_running, spent, cost, policy });
                        let mut level = Some(one);
                        while let Some(above) = level {
                            let most = agents[above].limits.depth;
                            let below = depth - agents[above].depth;
                            assert!(most.is_none_or(|most| below <= most), "seed {seed}: too deep");
                            level = agents[above].parent;
                        }
                        let children =
                            agents.iter().filter(|a| a.parent == Some(one) && a.is_running).count();
                        let most = agents[one].limits.fan_out;
                        assert!(most.is_none_or(|most| children as u64 <= most), "seed {seed}: too many");
                    }
                    Err(Refusal::Gone) => assert!(!agents[one].is_running),
                    Err(_) => refused += 1,
                }
            }
            4..6 => {
                if one > 0 {
                    ledger.end(&one.to_string());
                    agents[one].is_running = false;
                }
            }
            6..9 => {
                let price = Price { input: 10.0, output: 1_000.0, ..Price::default() };
                let wanted =
                    Wanted { input: random.below(50), output: random.below(400) + 1, price: Some(price) };
                match ledger.draw(&one.to_string(), &wanted) {
                    Draw::Granted { amount, .. } => held.push((one, amount)),
                    Draw::Wait => assert!(!held.is_empty(), "seed {seed}: waits for nobody"),
                    Draw::Spent(_) => spent += 1,
                    Draw::Unpriced => panic!("seed {seed}: all prices are known"),
                }
            }
            _ => {
                if let Some((one, amount)) = held.pop() {
                    let part = random.below(101);
                    let used = Amount {
                        tokens: amount.tokens * part / 100,
                        cost: amount.cost * part / 100,
                        unpriced: 0,
                    };
                    ledger.settle(&one.to_string(), amount, used);
                    let mut level = Some(one);
                    while let Some(above) = level {
                        agents[above].spent += used.tokens;
                        agents[above].cost += used.cost as f64 / 1e9;
                        level = agents[above].parent;
                    }
                }
            }
        }
        for (number, agent) in agents.iter().enumerate() {
            let is_within = agent.limits.tokens.is_none_or(|most| agent.spent <= most)
                && agent.limits.cost.is_none_or(|most| agent.cost <= most + 1e-6);
            assert!(is_within, "seed {seed}, step {step}, agent {number}: {} {}", agent.spent, agent.cost);
            assert_eq!(ledger.spent(&number.to_string()).tokens, agent.spent, "seed {seed}");
        }
    }
    (refused, spent)
}

#[test]
fn ten_thousand_trees_exceed_no_limit_and_widen_no_policy() {
    let (mut refused, mut spent) = (0, 0);
    for seed in 0..10_000 {
        let (more_refused, more_spent) = grow(seed);
        refused += more_refused;
        spent += more_spent;
    }
    assert!(refused > 1_000 && spent > 1_000, "{refused} {spent}: the limits were reached");
}

fn profile() -> Profile {
    let price = Price { input: 1.0, output: 1.0, ..Price::default() };
    let (vendor, provider) = ("mock".to_owned(), "mock".to_owned());
    Profile { vendor, provider, price: Some(price), output_tokens: Some(100), ..Profile::default() }
}

fn says(text: &str, input: u64, output: u64) -> Response {
    response(text, &[], Finish::Stop, Usage { input, output, ..Usage::default() })
}

fn activation(id: &str, model: &Arc<Answers>, branch: Branch, start: Start) -> Activation {
    let ids = Ids {
        session: "s".to_owned(),
        agent: Some("a".to_owned()),
        activation: Some(id.to_owned()),
        ..Ids::default()
    };
    let context = Context::builder(Arc::new(Memory::new())).ids(ids).tools(Arc::new(Registry::new())).build();
    Activation {
        id: id.to_owned(),
        start: Start { task: "go".to_owned(), model: model.profile().clone(), ..start },
        model: Arc::clone(model) as _,
        context,
        executor: Executor::new(),
        offers_all: false,
        temperature: None,
        thinking: None,
        listener: Arc::new(NoListener),
        branch,
        state: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_agents_at_once_spend_no_more_than_their_tree_may() {
    let most = Limits { tokens: Some(2_000), fan_out: None, ..Limits::default() };
    let root = Branch::root("root", &most, CancellationToken::new());
    let driver = Arc::new(LocalDriver::new());
    let mut running = Vec::new();
    for number in 0..100 {
        let id = child_id("call", number);
        let place = root.child(&id, &Limits { fan_out: None, ..Limits::default() }).unwrap();
        let model = Answers::new(profile(), vec![Ok(says("done", 20, 60))]);
        let activation = activation(&id, &model, place.branch().clone(), Start::default());
        let driver = Arc::clone(&driver);
        running.push(tokio::spawn(async move {
            let ended = driver.run(activation).await.unwrap();
            drop(place);
            (ended.reason, model.asked.lock().unwrap().len())
        }));
    }
    let mut reasons: HashMap<Reason, usize> = HashMap::new();
    for one in running {
        let (reason, asked) = one.await.unwrap();
        assert_eq!(asked, usize::from(reason == Reason::Done), "who has no budget asks nobody");
        *reasons.entry(reason).or_default() += 1;
    }
    let spent = root.spent().tokens;
    assert!(spent <= 2_000, "{spent}");
    assert_eq!(reasons.get(&Reason::Done), Some(&((spent / 80) as usize)), "{reasons:?}");
    assert!(reasons[&Reason::Done] >= 20 && reasons[&Reason::Tokens] > 0, "{reasons:?}");
}

#[test]
fn a_hundred_threads_start_no_more_than_may_run_at_once() {
    let beyond_fan_out = Some(BeyondFanOut::Refuse);
    let most = Limits { fan_out: Some(8), beyond_fan_out, depth: Some(2), ..Limits::default() };
    let root = Branch::root("root", &most, CancellationToken::new());
    let started = std::sync::Barrier::new(100);
    let counts: Vec<Result<(), Code>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..100)
            .map(|number| {
                let (root, started) = (&root, &started);
                scope.spawn(move || {
                    let place = root.child(&child_id("call", number), &Limits::default());
                    // All hold what they have until everybody has tried.
                    started.wait();
                    let place = place.map_err(|error| error.code())?;
                    let below = place.branch().child(&child_id("below", number), &Limits::default()).unwrap();
                    let deeper = below.branch().child(&child_id("deeper", number), &Limits::default());
                    assert_eq!(deeper.err().map(|error| error.code()), Some(Code::DepthExceeded));
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(counts.iter().filter(|count| count.is_ok()).count(), 8);
    assert_eq!(counts.iter().filter(|count| **count == Err(Code::FanoutExceeded)).count(), 92);
    assert!(root.child("one more", &Limits::default()).is_ok(), "the places are free again");
}

#[test]
fn children_are_counted_in_all_and_one_that_goes_on_is_not_one_more() {
    let most = Limits { children: Some(2), ..Limits::default() };
    let root = Branch::root("root", &most, CancellationToken::new());
    let own = Limits::default();
    // Of another process.
    root.restore(Some("root"), "first", Amount::default());
    drop(root.child("first", &own).unwrap());
    let place = root.child("second", &own).unwrap();
    let error = root.child("third", &own).err().unwrap();
    assert_eq!(error.code(), Code::FanoutExceeded);
    assert!(error.message().contains("2 children in all (`limits.children`"), "{error:?}");
    assert!(root.child("first", &own).is_ok(), "one that has ended goes on");
    // What is below has the same limit, and a count of its own.
    let below = place.branch();
    drop((below.child("a", &own).unwrap(), below.child("b", &own).unwrap()));
    assert_eq!(below.child("c", &own).err().unwrap().code(), Code::FanoutExceeded);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn those_beyond_fan_out_wait_their_turn() {
    let most = Limits { fan_out: Some(3), ..Limits::default() };
    let root = Branch::root("root", &most, CancellationToken::new());
    let (working, order) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let mut running = Vec::new();
    for number in 0..40_u64 {
        let (root, working, order) = (root.clone(), Arc::clone(&working), Arc::clone(&order));
        let (begin, begun) = tokio::sync::oneshot::channel();
        running.push(tokio::spawn(async move {
            let id = child_id("call", number);
            let (limits, cancel) = (Limits::default(), CancellationToken::new());
            let mut place = Box::pin(root.child_in_turn(&id, &limits, &cancel));
            // In the queue, or at work.
            let first = futures_util::poll!(&mut place);
            begin.send(()).unwrap();
            let place = match first {
                std::task::Poll::Ready(place) => place.unwrap(),
                std::task::Poll::Pending => place.await.unwrap(),
            };
            order.lock().unwrap().push(number);
            assert!(working.fetch_add(1, Ordering::SeqCst) < 3, "no more than three at once");
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            working.fetch_sub(1, Ordering::SeqCst);
            drop(place);
        }));
        begun.await.unwrap();
    }
    for one in running {
        one.await.unwrap();
    }
    let order = order.lock().unwrap();
    let late = order.iter().enumerate().filter(|(place, number)| place.abs_diff(**number as usize) > 3);
    assert_eq!(late.count(), 0, "in the order in which they came: {order:?}");
}

#[tokio::test]
async fn whoever_waits_for_a_place_gives_up_with_its_call_or_its_agent() {
    let most = Limits { fan_out: Some(1), ..Limits::default() };
    let stop = CancellationToken::new();
    let root = Branch::root("root", &most, stop.clone());
    let _place = root.child("first", &Limits::default()).unwrap();
    let call = CancellationToken::new();
    call.cancel();
    let refused = root.child_in_turn("second", &Limits::default(), &call).await.err().unwrap();
    assert_eq!(refused.code(), Code::Cancelled);
    stop.cancel();
    let refused = root.child_in_turn("third", &Limits::default(), &CancellationToken::new()).await;
    assert_eq!(refused.err().unwrap().code(), Code::Cancelled);
    let none = Limits { fan_out: Some(0), ..Limits::default() };
    let root = Branch::root("root", &none, CancellationToken::new());
    let refused = root.child_in_turn("never", &Limits::default(), &CancellationToken::new()).await;
    assert_eq!(refused.err().unwrap().code(), Code::FanoutExceeded, "nobody waits for what never comes");
}

#[tokio::test]
async fn a_limit_of_cost_holds_for_what_has_no_price() {
    let most = Limits { cost: Some(1.0), ..Limits::default() };
    let root = Branch::root("root", &most, CancellationToken::new());
    let place = root.child("child", &Limits::default()).unwrap();
    let model = Answers::new(Profile { price: None, ..profile() }, vec![Ok(says("never", 20, 60))]);
    let run = activation("child", &model, place.branch().clone(), Start::default());
    let ended = LocalDriver::new().run(run).await.unwrap();
    assert_eq!(ended.reason, Reason::Model);
    assert!(ended.error.as_ref().is_some_and(|error| error.contains("`limits.cost`")), "{:?}", ended.error);
    assert_eq!((model.asked.lock().unwrap().len(), root.spent()), (0, Amount::default()));
}

#[tokio::test]
async fn a_price_that_is_not_known_is_not_hidden_in_a_sum() {
    let root = Branch::root("root", &Limits::default(), CancellationToken::new());
    let known = Answers::new(profile(), vec![Ok(says("known", 20, 60))]);
    let unknown = Answers::new(Profile { price: None, ..profile() }, vec![Ok(says("unknown", 1_000, 2_000))]);
    for (id, model) in [("one", &known), ("two", &unknown)] {
        let place = root.child(id, &Limits::default()).unwrap();
        let run = activation(id, model, place.branch().clone(), Start::default());
        let ended = LocalDriver::new().run(run).await.unwrap();
        let expected = (id == "one").then_some(80e-6);
        assert_eq!((ended.whole_cost(), ended.unpriced), (expected, if id == "one" { 0 } else { 3_000 }));
    }
    let spent = root.spent();
    assert_eq!((spent.tokens, spent.unpriced, spent.whole_cost()), (3_080, 3_000, None));
    assert!(spent.dollars() > 0.0, "what is known stays known");
}

/// What an agent with a schema gives, and how often its model was asked.
async fn result(answers: &[&str]) -> (String, usize) {
    let schema = json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]});
    let answers = answers.iter().map(|text| Ok(says(text, 1, 1))).collect();
    let model = Answers::new(profile(), answers);
    let branch = Branch::root("run", &Limits::default(), CancellationToken::new());
    let start = Start { result_schema: Some(schema), ..Start::default() };
    let ended = LocalDriver::new().run(activation("run", &model, branch, start)).await.unwrap();
    assert_eq!(ended.reason, Reason::Done);
    let asked = model.asked.lock().unwrap();
    assert!(asked.iter().all(|request| request.schema.is_some()));
    if asked.len() > 1 {
        let told = format!("{:?}", asked[1].messages);
        assert!(told.contains("does not fit the schema") && told.contains('n'), "{told}");
    }
    (ended.text, asked.len())
}

#[tokio::test]
async fn a_result_that_does_not_fit_is_asked_for_once_more() {
    assert_eq!(result(&[r#"{"n": 1}"#]).await, (r#"{"n": 1}"#.to_owned(), 1));
    assert_eq!(result(&["```json\n{\"n\": 1}\n```"]).await.1, 1);
    assert_eq!(result(&[r#"{"n": "one"}"#, r#"{"n": 1}"#]).await, (r#"{"n": 1}"#.to_owned(), 2));
    assert_eq!(result(&["wrong", "wrong again", "never asked"]).await, ("wrong again".to_owned(), 2));
}

fn begun() -> State {
    let mut state = State::new("run");
    state.apply_fact(&Fact::Started { start: Box::default() }, 1);
    state
}

fn answer(state: &mut State, text: &str) {
    let seq = state.next_seq();
    assert_eq!(decide(state), [Todo::Ask]);
    state.apply_fact(&Fact::Decided { seq, todos: vec![Todo::Ask] }, 2);
    state.apply_fact(&Fact::Answered { seq, response: Box::new(says(text, 0, 0)), cost: None }, 2);
}

#[test]
fn an_agent_waits_for_those_it_has_left_at_work() {
    let mut state = begun();
    state.apply_fact(&Fact::Spawned { child: "c".to_owned(), agent: "worker".to_owned() }, 1);
    answer(&mut state, "started it");
    assert_eq!(decide(&state), [Todo::Wait]);
    let end = Fact::Signalled {
        from: "worker".to_owned(),
        text: "has ended".to_owned(),
        id: Some("end of c".to_owned()),
        ended: Some("c".to_owned()),
    };
    state.apply_fact(&end, 3);
    let turns = state.messages(&|_, _| Default::default()).len();
    state.apply_fact(&end, 3);
    assert_eq!(state.messages(&|_, _| Default::default()).len(), turns, "a signal is heard once");
    answer(&mut state, "done");
    assert_eq!(decide(&state), [Todo::Finish { reason: Reason::Done }]);
}

#[test]
fn what_was_broken_off_stays_in_the_conversation() {
    let check = |reason: Reason, said: &str, expected: &str| {
        let mut state = begun();
        state.apply_fact(&Fact::Decided { seq: 0, todos: vec![Todo::Ask] }, 2);
        let error = ModelError::new(ModelErrorKind::Cancelled, "the run was stopped");
        let (text, usage) = (said.to_owned(), Usage::default());
        state.apply_fact(&Fact::ModelFailed { seq: 0, error, text, usage, cost: None }, 3);
        let (text, error, code, cost) = (String::new(), None, None, None);
        state.apply_fact(&Fact::Ended { seq: 1, reason, text, error, code, usage, cost, unpriced: 0 }, 4);
        let (id, text, attachments, model) = ("m".to_owned(), "go on".to_owned(), Vec::new(), None);
        state.apply_fact(&Fact::Continued { id, text, attachments, model }, 5);
        let messages = state.messages(&|_, _| Default::default());
        let texts: Vec<String> = messages
            .iter()
            .flat_map(|message| &message.parts)
            .map(|part| match part {
                Part::Text { text, .. } => text.clone(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(texts, ["", expected, "go on"]);
        assert_eq!(decide(&state), [Todo::Ask]);
    };
    check(Reason::Stopped, "Half of it", "Half of it\n[the user stopped this answer]");
    check(Reason::Stopped, "", "[the user stopped this answer]");
    check(Reason::Time, "Half", "Half\n[this answer ended at a limit]");
    check(Reason::Model, "", "[there was no answer]");
}

#[test]
fn an_agent_goes_on_after_its_end() {
    let mut state = begun();
    answer(&mut state, "done");
    let end = |state: &mut State| {
        let ended = state.ending(Reason::Done);
        let (usage, text) = (ended.usage, ended.text);
        let fact = Fact::Ended {
            seq: 9,
            reason: Reason::Done,
            text,
            error: None,
            code: None,
            usage,
            cost: None,
            unpriced: 0,
        };
        state.apply_fact(&fact, 4);
    };
    end(&mut state);
    assert!(decide(&state).is_empty());
    let more = Fact::Continued {
        id: "call".to_owned(),
        text: "and now this".to_owned(),
        attachments: Vec::new(),
        model: None,
    };
    state.apply_fact(&more, 5);
    answer(&mut state, "also done");
    assert_eq!(state.ending(Reason::Done).text, "also done");
    end(&mut state);
    state.apply_fact(&more, 6);
    assert!(state.ended().is_some(), "the same continuation changes nothing");
}
