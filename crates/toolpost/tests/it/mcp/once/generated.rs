//! Generated calls with questions, over both eras, pipes and HTTP, by clients that decline, repeat, hang up and kill.

use super::wires::{Client, Sent};
use super::{home, lines};
use crate::Home;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::time::Instant;

/// Calls of each of the four kinds of client.
const EACH: usize = 250;
const EACH_IN_SOAK: usize = 12_500;

/// Maximum number of questions of a call.
const MOST_QUESTIONS: usize = 5;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).unwrap()
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// A part of a call, and what it does if nothing is declined.
struct Part {
    token: String,
    tool: &'static str,
    arguments: Value,
    /// Questions before anything runs, and those midway.
    asks_first: usize,
    asks_midway: usize,
    /// The question that is declined, counted over both.
    declined: Option<usize>,
    asked: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Append,
    AskedAppend,
    Write,
    Delete,
    Read,
    Pay,
    Later,
}

const KINDS: [Kind; 12] = [
    Kind::Append,
    Kind::AskedAppend,
    Kind::Write,
    Kind::Write,
    Kind::Delete,
    Kind::Delete,
    Kind::Read,
    Kind::Pay,
    Kind::Pay,
    Kind::Pay,
    Kind::Later,
    Kind::Later,
];

impl Part {
    fn new(home: &Home, random: &mut Random, token: String, room: usize) -> Part {
        let kind = KINDS[random.below(KINDS.len())];
        let kind = if room == 0 && kind != Kind::Append { Kind::Read } else { kind };
        let midway = random.below(room.min(3) + 1);
        let charge = || json!({"id": token, "questions": midway, "named": true});
        let (tool, arguments, first, midway) = match kind {
            Kind::Append => ("bash", json!({"command": format!("echo {token} >> log")}), 0, 0),
            Kind::AskedAppend => ("bash", json!({"command": format!("echo asked-{token} >> log")}), 1, 0),
            Kind::Write => ("write", json!({"filePath": format!("asked/{token}"), "content": token}), 1, 0),
            Kind::Delete => {
                home.write(&format!("repo/gone/{token}"), "x");
                ("delete", json!({"filePath": format!("gone/{token}")}), 1, 0)
            }
            Kind::Read => ("read", json!({"filePath": "README.md"}), 0, 0),
            Kind::Pay => ("mcp__pay__charge", charge(), 0, midway),
            Kind::Later => ("mcp__later__charge", charge(), 0, midway),
        };
        let all = first + midway;
        let declined = (all > 0 && random.one_in(7)).then(|| random.below(all));
        Part { token, tool, arguments, asks_first: first, asks_midway: midway, declined, asked: 0 }
    }

    /// The answer to its next question.
    fn answer(&mut self, random: &mut Random) -> Value {
        let is_declined = self.declined == Some(self.asked);
        self.asked += 1;
        match (is_declined, random.below(3)) {
            (false, _) => json!({"action": "accept", "content": {"answer": "once"}}),
            (true, 0) => json!({"action": "decline"}),
            (true, 1) => json!({"action": "cancel"}),
            (true, _) => json!({"action": "accept", "content": {"answer": "no"}}),
        }
    }

    /// How often it took effect, if that can be counted.
    fn effects(&self, seen: &Seen) -> usize {
        let count = |counts: &HashMap<String, usize>, line: &str| counts.get(line).copied().unwrap_or(0);
        match self.tool {
            "bash" => count(&seen.log, &self.token) + count(&seen.log, &format!("asked-{}", self.token)),
            "write" => usize::from(seen.home.path(&format!("repo/asked/{}", self.token)).exists()),
            "delete" => usize::from(!seen.home.path(&format!("repo/gone/{}", self.token)).exists()),
            "read" => 1,
            _ => {
                let begun = count(&seen.ledger, &format!("begin {}", self.token));
                assert!(begun <= 1, "{} was begun {begun} times", self.token);
                count(&seen.ledger, &self.token)
            }
        }
    }
}

/// A call, and what became of it.
struct Made {
    parts: Vec<Part>,
    /// The last answer; none where the client did not get one.
    result: Option<Value>,
    /// Whether client and process lived.
    has_lived: bool,
}

impl Made {
    fn call(&self) -> Value {
        match self.parts.as_slice() {
            [only] => json!({"name": only.tool, "arguments": only.arguments}),
            parts => {
                let calls: Vec<Value> =
                    parts.iter().map(|part| json!({"tool": part.tool, "args": part.arguments})).collect();
                json!({"name": "batch", "arguments": {"calls": calls}})
            }
        }
    }

    /// The part that a question is about.
    fn part(&mut self, message: &str) -> &mut Part {
        let asked = |part: &&mut Part| message.contains(&part.token);
        self.parts.iter_mut().find(asked).unwrap_or_else(|| panic!("about no part: {message}"))
    }

    fn asks_first(&self) -> usize {
        self.parts.iter().map(|part| part.asks_first).sum()
    }
}

/// What has happened in a home.
struct Seen<'h> {
    home: &'h Home,
    log: HashMap<String, usize>,
    ledger: HashMap<String, usize>,
}

fn counted(lines: Vec<String>) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    lines.into_iter().for_each(|line| *counts.entry(line).or_insert(0) += 1);
    counts
}

/// A client without a handshake, and a call that it makes.
struct Modern<'c, 'h> {
    client: &'c mut Client<'h>,
    random: &'c mut Random,
    made: &'c mut Made,
}

impl Modern<'_, '_> {
    fn run(mut self) {
        let call = self.made.call();
        let mut params = call.clone();
        let mut before: Option<Value> = None;
        let mut rounds = 0;
        loop {
            let sent = self.client.send("tools/call", params.clone());
            let Some(answer) = self.answer(sent, &params) else { return };
            if answer["result"]["resultType"] != "input_required" {
                if rounds > 0 && self.random.one_in(8) {
                    let again = self.ask(&params);
                    assert_eq!(again["result"], answer["result"], "the same answer, the same result");
                }
                self.made.result = Some(answer);
                return;
            }
            let questions = answer["result"]["inputRequests"].as_object().unwrap().clone();
            if rounds == 0 && self.made.asks_first() > 0 {
                assert_eq!(questions.len(), self.made.asks_first(), "{answer}");
            }
            rounds += 1;
            if self.random.one_in(40) {
                // It never comes back.
                self.made.has_lived = false;
                return;
            }
            if let (true, Some(before)) = (self.random.one_in(10), &before) {
                // A late answer says nothing, and is told what is asked now.
                let late = self.ask(before);
                assert_eq!(late["result"]["inputRequests"], answer["result"]["inputRequests"], "{late}");
            }
            let state = answer["result"]["requestState"].clone();
            let with = |responses: Value| {
                let mut params = call.clone();
                params["requestState"] = state.clone();
                params["inputResponses"] = responses;
                params
            };
            if self.random.one_in(12) {
                self.wrong(&questions, &with, &state);
            }
            let mut keys: Vec<&String> = questions.keys().collect();
            self.random.shuffle(&mut keys);
            let some = match self.random.one_in(4) {
                true => 1 + self.random.below(keys.len()),
                false => keys.len(),
            };
            let mut responses = Map::new();
            for key in keys.into_iter().take(some) {
                let message = questions[key]["params"]["message"].as_str().unwrap();
                responses.insert(key.clone(), self.made.part(message).answer(self.random));
            }
            before = Some(params);
            params = with(Value::Object(responses));
            if before.as_ref().is_some_and(|before| before.get("requestState").is_none()) {
                before = None;
            }
        }
    }

    /// What answers nothing: words that are no answer, keys of no question, a state that was changed.
    fn wrong(&mut self, questions: &Map<String, Value>, with: &dyn Fn(Value) -> Value, state: &Value) {
        let key = questions.keys().next().unwrap();
        let yes = json!({"action": "accept", "content": {"answer": "once"}});
        for responses in [json!({key: {"action": "perhaps"}}), json!({"confirm-0": yes}), json!([])] {
            let again = self.ask(&with(responses));
            assert_eq!(&again["result"]["inputRequests"], &Value::Object(questions.clone()), "{again}");
        }
        let mut changed = with(json!({key: yes}));
        changed["requestState"] = format!("{}A", state.as_str().unwrap()).into();
        assert_eq!(self.ask(&changed)["error"]["code"], -32602);
    }

    fn ask(&mut self, params: &Value) -> Value {
        let mut sent = self.client.send("tools/call", params.clone());
        self.client.next_message(&mut sent).expect("an answer")
    }

    /// The answer to a request, with what may happen to it on the way. None where the call is lost with its server.
    fn answer(&mut self, mut sent: Sent, params: &Value) -> Option<Value> {
        let is_answer = params.get("requestState").is_some();
        match self.random.below(100) {
            0 | 1 if is_answer => {
                self.client.kill();
                self.made.has_lived = false;
                let told = self.ask(params);
                assert!(told.to_string().contains("Nothing was run again"), "{told}");
                self.made.result = Some(told);
                None
            }
            // The same answer twice at a time.
            2..8 if is_answer => {
                let mut twin = self.client.send("tools/call", params.clone());
                let first = self.client.next_message(&mut sent).expect("an answer");
                let second = self.client.next_message(&mut twin).expect("an answer");
                let is_question = |answer: &Value| answer["result"]["resultType"] == "input_required";
                if !is_question(&first) && !is_question(&second) {
                    assert_eq!(first["result"], second["result"]);
                }
                Some(if is_question(&first) { second } else { first })
            }
            // The connection is lost, and the answer is sent again.
            8..14 if is_answer && self.client.is_http() => {
                drop(sent);
                Some(self.ask(params))
            }
            _ => Some(self.client.next_message(&mut sent).expect("an answer")),
        }
    }
}

/// A call of a client with a handshake.
fn legacy(client: &mut Client<'_>, random: &mut Random, made: &mut Made) {
    let mut sent = client.send("tools/call", made.call());
    let mut questions = Vec::new();
    let mut wanted = made.asks_first();
    loop {
        let Some(message) = client.next_message(&mut sent) else { panic!("no answer") };
        if message.get("method").is_none() {
            made.result = Some(message);
            return;
        }
        // Lists of tools may change meanwhile.
        if message["method"] != "elicitation/create" {
            continue;
        }
        questions.push(message);
        if questions.len() < wanted {
            continue;
        }
        match random.below(60) {
            0 => {
                client.kill();
                made.has_lived = false;
                return;
            }
            // It is given up, or its client is gone and does not say so.
            1 => {
                let cancelled = json!({"requestId": sent.id});
                client.tell(
                    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}),
                );
                made.has_lived = false;
                return;
            }
            _ => {}
        }
        wanted = 1;
        random.shuffle(&mut questions);
        for question in questions.drain(..) {
            let part = made.part(question["params"]["message"].as_str().unwrap());
            let answer = part.answer(random);
            let answer = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": answer});
            if random.one_in(10) {
                client.tell(answer(&json!(1_000_000)));
            }
            client.tell(answer(&question["id"]));
            if random.one_in(10) {
                client.tell(answer(&question["id"]));
            }
        }
    }
}

/// What a report says of a part that is not done, or is.
fn check_report(part: &Part, effects: usize, report: &str) {
    let line = report.lines().find(|line| line.starts_with("- `") && line.contains(&part.token));
    let (not_done, done) = match line {
        Some(line) => (line.ends_with(": not done"), line.ends_with(": done")),
        None => (report.contains("nothing of it was done"), report.contains("By the log it was done")),
    };
    assert!(!(not_done && effects > 0), "reported as not done: {} {report}", part.token);
    assert!(!(done && effects == 0), "reported as done: {} {report}", part.token);
}

#[derive(Default)]
struct Tally {
    calls: usize,
    questions: usize,
    lived: usize,
    done: usize,
    twice: usize,
}

fn run(seed: u64, each: usize, is_http: bool, is_modern: bool) -> Tally {
    let home = home();
    let mut random = Random(seed);
    let mut client = Client::new(&home, is_http, is_modern);
    let mut all = Vec::new();
    for number in 0..each {
        let mut parts = Vec::new();
        let mut room = MOST_QUESTIONS;
        let count = if random.one_in(2) { 1 } else { 2 + random.below(4) };
        for part in 0..count {
            let part = Part::new(&home, &mut random, format!("t{seed}x{number}p{part}e"), room);
            room -= part.asks_first + part.asks_midway;
            parts.push(part);
        }
        let mut made = Made { parts, result: None, has_lived: true };
        match is_modern {
            true => Modern { client: &mut client, random: &mut random, made: &mut made }.run(),
            false => legacy(&mut client, &mut random, &mut made),
        }
        all.push(made);
    }
    drop(client);
    let seen =
        Seen { home: &home, log: counted(lines(&home, "repo/log")), ledger: counted(lines(&home, "ledger")) };
    let mut tally = Tally::default();
    for made in &all {
        tally.calls += 1;
        let mut is_done = true;
        for part in &made.parts {
            let effects = part.effects(&seen);
            tally.questions += part.asked;
            tally.twice += usize::from(effects > 1);
            assert!(part.declined.is_none() || effects == 0, "declined, and done: {}", part.token);
            is_done &= effects == usize::from(part.declined.is_none());
            if let (false, Some(result)) = (made.has_lived, &made.result) {
                check_report(
                    part,
                    effects,
                    result["result"]["content"][0]["text"].as_str().unwrap_or_default(),
                );
            }
        }
        tally.lived += usize::from(made.has_lived);
        tally.done += usize::from(made.has_lived && is_done);
    }
    tally
}

#[test]
fn guarantee_44_a_call_that_asks_takes_effect_once() {
    let is_soak = std::env::var_os("TOOLPOST_SOAK").is_some_and(|value| value == "1");
    let each = if is_soak { EACH_IN_SOAK } else { EACH };
    let began = Instant::now();
    let runs: Vec<_> = [(false, true), (true, true), (false, false), (true, false)]
        .into_iter()
        .zip(1_u64..)
        .map(|((is_http, is_modern), seed)| {
            std::thread::spawn(move || run(seed * 7_919, each, is_http, is_modern))
        })
        .collect();
    let mut all = Tally::default();
    for run in runs {
        let one = run.join().unwrap();
        all.calls += one.calls;
        all.questions += one.questions;
        all.lived += one.lived;
        all.done += one.done;
        all.twice += one.twice;
    }
    let Tally { calls, questions, lived, done, twice } = all;
    println!(
        "measure: guarantee 44: {calls} calls with {questions} answers over pipes and HTTP in both eras, {twice} effects \
         twice; {done} of {lived} calls whose client and process lived are done, in {} s",
        began.elapsed().as_secs()
    );
    assert_eq!(twice, 0);
    assert!(done * 100 >= lived * 99, "{done} of {lived}");
}
