//! The first word of an answer, at a plain socket, at our model, and at whoever watches a run.

use super::server::{END, Server, WORD};
use super::subject::World;
use crate::report::{Table, Unit};
use crate::samples::Samples;
use anyhow::{Context as _, Result, bail, ensure};
use futures_util::StreamExt as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use toolpost_agent::driver::{Heard, Listener, LocalDriver};
use toolpost_agent::model::{Format, Remote, Target, Timeouts, client, encode};
use toolpost_core::Registry;
use toolpost_core::activation::Reason;
use toolpost_core::model::{Delta, Message, Model as _, Profile, Request, Role};
use toolpost_store::StoreUrl;

const ROUNDS: usize = 300;
const WARM_UP: usize = 20;
/// How long the server that pauses does so: everybody waits for it by then.
const PAUSE: Duration = Duration::from_millis(5);
/// Messages of the conversation so far, and bytes of each.
const MESSAGES: usize = 41;
const BYTES: usize = 1024;

const SOCKET: &str = "a plain socket, request ready";
const MODEL: &str = "our model";
const RUN: &str = "whoever watches a run";

pub(super) fn measure(hand_on: &mut dyn FnMut(Table)) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    for pause in [PAUSE, Duration::ZERO] {
        let subjects = Subjects::new(pause)?;
        let [socket, model, run] = runtime.block_on(async { tokio::spawn(rounds(subjects)).await })??;
        let title = match pause.is_zero() {
            true => "kernel: from the question to the first word of an answer that comes at once",
            false => "kernel: from the moment the server sends its first word",
        };
        let mut table = Table::new(title, Unit::Micros);
        table.add(SOCKET, socket, None);
        table.add(MODEL, model, None);
        table.add(RUN, run, None);
        for name in [MODEL, RUN] {
            table.goal(name, "under 1 ms over the socket", |row| row.over_first < 1_000.0);
        }
        table.note(format!(
            "{ROUNDS} each, in turn, over connections that are kept; {MESSAGES} messages of {BYTES} bytes and all our tools. Only the"
        ));
        table.note("socket has its request written beforehand; a run has one message, and its beginning is recorded within.");
        hand_on(table);
    }
    Ok(())
}

struct Subjects {
    server: Server,
    /// Whether times count from the question, or from when the server sent something.
    is_from_question: bool,
    socket: TcpStream,
    request: Request,
    /// The same, as it is written.
    written: Vec<u8>,
    model: Remote,
    world: World,
}

impl Subjects {
    fn new(pause: Duration) -> Result<Subjects> {
        let server = Server::start(pause)?;
        let tools = Arc::new(Registry::new());
        toolpost_tools::register_all(&tools, &toolpost_tools::Settings::default())?;
        let world = World::new(&StoreUrl::Memory, Arc::clone(&tools))?;
        let snapshot = tools.snapshot();
        let mut definitions = Vec::new();
        for entry in snapshot.all() {
            definitions.extend(snapshot.offer(entry, world.context.dialect())?);
        }
        let message = |number: usize| {
            let text = "word ".repeat(BYTES / 5);
            match number % 2 {
                0 => Message::user(text),
                _ => Message { role: Role::Assistant, ..Message::user(text) },
            }
        };
        let request = Request {
            system: "You are measured.".to_owned(),
            messages: (0..MESSAGES).map(message).collect(),
            tools: definitions.into(),
            ..Request::default()
        };
        let target = Target::new(Format::OpenaiChat, "m");
        let encoded = encode(&target, &request)?;
        let (path, body) = (encoded.path, encoded.body.to_string());
        let address = server.address;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let profile = Profile { vendor: "bench".to_owned(), model: "m".to_owned(), ..Profile::default() };
        let client = client(&Timeouts::default(), None);
        let model = Remote::new(profile, target, &format!("http://{address}"), None, client);
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        Ok(Subjects {
            server,
            is_from_question: pause.is_zero(),
            socket,
            request,
            written: [head.into_bytes(), body.into_bytes()].concat(),
            model,
            world,
        })
    }

    fn took(&self, asked: Instant, came: Instant) -> Result<Duration> {
        let sent = self.server.sent()?;
        Ok(came - if self.is_from_question { asked } else { sent })
    }

    fn by_socket(&self) -> Result<Duration> {
        let (mut socket, mut came, mut received) = (&self.socket, None, Vec::new());
        let mut piece = [0; 4096];
        let asked = Instant::now();
        socket.write_all(&self.written)?;
        while !received.ends_with(END) {
            let count = socket.read(&mut piece)?;
            ensure!(count > 0, "the server left");
            received.extend_from_slice(&piece[..count]);
            if came.is_none() && received.windows(WORD.len()).any(|part| part == WORD.as_bytes()) {
                came = Some(Instant::now());
            }
        }
        self.took(asked, came.context("no word came")?)
    }

    async fn by_model(&self) -> Result<Duration> {
        let request = self.request.clone();
        let asked = Instant::now();
        let mut stream = self.model.stream(request, CancellationToken::new());
        let mut came = None;
        while let Some(delta) = stream.next().await {
            match delta? {
                Delta::Text(text) if came.is_none() => {
                    came = Some(Instant::now());
                    ensure!(text == WORD, "the first word is {text:?}");
                }
                Delta::Retry { error, .. } => bail!("{error:?}"),
                _ => {}
            }
        }
        self.took(asked, came.context("no word came")?)
    }

    async fn by_run(&self, round: usize) -> Result<Duration> {
        let watch = Arc::new(Watch::default());
        let activation =
            self.world.run(format!("run-{round}"), Arc::new(self.model.clone()), Arc::clone(&watch) as _);
        let asked = Instant::now();
        let ended = LocalDriver::new().run(activation).await?;
        ensure!(ended.reason == Reason::Done, "{ended:?}");
        let came = *watch.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.took(asked, came.context("no word came")?)
    }
}

/// Keeps when the first text came.
#[derive(Default)]
struct Watch(Mutex<Option<Instant>>);

impl Listener for Watch {
    fn heard(&self, _: &str, heard: Heard<'_>) {
        if let Heard::Text(_) = heard {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
        }
    }
}

async fn rounds(subjects: Subjects) -> Result<[Samples; 3]> {
    let mut samples: [Samples; 3] = Default::default();
    for round in 0..WARM_UP + ROUNDS {
        if round == WARM_UP {
            samples = Default::default();
        }
        let [socket, model, run] = &mut samples;
        socket.add(subjects.by_socket()?);
        model.add(subjects.by_model().await?);
        run.add(subjects.by_run(round).await?);
    }
    Ok(samples)
}
