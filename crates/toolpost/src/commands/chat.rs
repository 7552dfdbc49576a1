//! `toolpost chat`: a conversation with an agent, on a terminal or line by line.

mod asking;
mod attach;
mod conversation;
mod past;
mod person;
mod piped;
mod slash;

use super::run::{MOST_BACKGROUND, agent, from, is_path, refuse, servers_ready, shut_down};
use crate::cli::{Chat, Flags, RunOutput};
use crate::config::env::Environment;
use crate::output::{Beginning, Printer, RawMode, Screen, Show, Stage, Tone, on_terminal};
use crate::runtime::{AgentTools, Audience, Frontend, Runtime, threads};
use asking::Asking;
use attach::Attached;
use conversation::Conversation;
use slash::Slash;
use std::sync::Arc;
use std::time::Duration;
use toolpost_agent::AgentFile;
use toolpost_agent::agent_file::read;
use toolpost_core::host::{Confirm, NobodyThere};
use toolpost_core::{Code, ToolError};

/// The file of the agent that is talked to where none is named.
const OWN_FILE: &str = "toolpost:chat.md";

/// The agent that is talked to where none is named; none where the file is another's.
pub(crate) fn own_agent(file: &str) -> Option<AgentFile> {
    let agent =
        (file == OWN_FILE).then(|| read(OWN_FILE, include_bytes!("chat/agent.md")).agent).flatten()?;
    // It reads the instructions of a workspace where there are some.
    Some(AgentFile { instructions_at: None, ..agent })
}

pub(crate) fn run(printer: &Printer, flags: &Flags, environment: Environment, chat: &Chat) -> u8 {
    let output = if printer.is_json() { RunOutput::Json } else { chat.output };
    let printer = &Printer::new(output != RunOutput::Text, &environment);
    let show = match output {
        RunOutput::Text => Show::Text,
        RunOutput::Json => Show::Nothing,
        RunOutput::StreamJson => Show::Json,
    };
    let has_person = output == RunOutput::Text && printer.can_ask() && printer.can_move();
    let screen = Screen { has_color: printer.has_color(), can_move: printer.can_move() };
    let stage = Arc::new(Stage::new(show, screen));
    let (asking, questions) = Asking::new(flags.yes);
    let confirm: Arc<dyn Confirm> = match (has_person, flags.yes) {
        (true, _) => Arc::new(asking),
        (false, true) => Arc::new(crate::confirm::Terminal::new(true, printer)),
        (false, false) => Arc::new(NobodyThere),
    };
    let frontend = Frontend {
        events: Arc::clone(&stage) as _,
        confirm,
        background: MOST_BACKGROUND,
        records: true,
        agents: AgentTools::Always,
        ..crate::this_program()
    };
    let opened = crate::open(flags, environment, printer, frontend)
        .and_then(|runtime| Ok((Arc::new(runtime), threads()?)));
    let (runtime, threads) = match opened {
        Ok(opened) => opened,
        Err(error) => return refuse(printer, output, &error),
    };
    runtime.host.attach(&runtime, Audience { listener: Arc::clone(&stage) as _, has_person });
    let status = threads.block_on(async {
        let status = match open(&runtime, printer, &stage, chat, has_person).await {
            Ok((conversation, past)) => {
                begin(printer, &stage, &conversation, output);
                match has_person.then(RawMode::enter).flatten() {
                    Some(mode) => Box::pin(person::talk(&stage, mode, questions, conversation, past)).await,
                    None => Box::pin(piped::talk(printer, output, conversation)).await,
                }
            }
            Err(error) => refuse(printer, output, &error),
        };
        stage.end();
        if shut_down(&runtime, printer).await { status } else { status.max(1) }
    });
    // A tool that blocks its thread must not keep us here.
    threads.shutdown_timeout(Duration::from_millis(50));
    match printer.has_lost_data() || printer.has_lost_reader() {
        true => status.max(1),
        false => status,
    }
}

/// The conversation that is asked for, and what was said in it before.
async fn open(
    runtime: &Arc<Runtime>,
    printer: &Printer,
    stage: &Arc<Stage>,
    chat: &Chat,
    has_person: bool,
) -> Result<(Conversation, Vec<String>), ToolError> {
    if let Some(session) = &chat.resume {
        servers_ready(runtime, printer).await;
        let from = from(chat.take_over);
        return Conversation::resume(runtime, stage, (session, from), has_person).await;
    }
    let agent = match &chat.agent {
        Some(word) => {
            let agent = agent(runtime, printer, word)?;
            if is_path(word) {
                runtime.host.known().consent(runtime, &agent)?;
            }
            agent
        }
        None => own_agent(OWN_FILE).ok_or_else(|| ToolError::execution("the chat's own agent is broken"))?,
    };
    servers_ready(runtime, printer).await;
    Ok((Conversation::begin(runtime, stage, agent, has_person).await?, Vec::new()))
}

fn begin(printer: &Printer, stage: &Arc<Stage>, conversation: &Conversation, output: RunOutput) {
    let model = conversation.model_name();
    printer.begin_run(conversation.agent_name(), &conversation.id);
    let beginning = Beginning {
        agent: conversation.agent_name(),
        activation: &conversation.id,
        model: &model,
        session: &conversation.session,
        notes: &conversation.notes,
    };
    stage.begin(&beginning, conversation.redactor());
    conversation.notes.iter().for_each(|note| stage.note(&on_terminal(note)));
    conversation.past.show(printer, stage);
    if !printer.is_on_terminal() && output != RunOutput::StreamJson {
        // The first says which model it is, which is no problem.
        let notes = conversation.notes.iter().skip(1);
        notes.for_each(|note| printer.say(Tone::Note, &format!("note: {}", on_terminal(note))));
    }
}

/// How it goes on after a word for the chat itself.
enum Heading {
    /// With this said.
    On(String),
    Quit,
}

/// Does what a word for the chat itself asks for.
async fn act(
    slash: Slash,
    conversation: &mut Conversation,
    attached: &mut Vec<Attached>,
) -> Result<Heading, ToolError> {
    let said = match slash {
        Slash::Help => Slash::help(),
        Slash::Tools => conversation.tools(),
        Slash::Policy => conversation.policy(),
        Slash::Undo => conversation.undo().await?,
        Slash::Model(None) => conversation.model_name(),
        Slash::Model(Some(name)) => {
            format!("from the next message on: {}", conversation.change_model(&name).await?)
        }
        Slash::Cost => conversation.spent(),
        Slash::Attach(path) => {
            let file = fitting(conversation, vec![attach::open(conversation.context(), &path)?])?;
            let shown: Vec<String> = file.iter().map(Attached::shown).collect();
            attached.extend(file);
            format!("goes with the next message: {}", shown.join(", "))
        }
        Slash::Quit => return Ok(Heading::Quit),
        Slash::Unknown(said) => return Err(ToolError::new(Code::ValidationError, said)),
    };
    Ok(Heading::On(said))
}

/// Refuses images that the model cannot see.
fn fitting(conversation: &Conversation, files: Vec<Attached>) -> Result<Vec<Attached>, ToolError> {
    let image = files.iter().find_map(|file| match file {
        Attached::Image(image) => Some(&image.filename),
        Attached::Text { .. } => None,
    });
    match image.filter(|_| !conversation.takes_images()) {
        None => Ok(files),
        Some(name) => {
            let message = format!(
                "`{name}` is not attached: {} takes no images; `/model NAME` chooses another model",
                conversation.model_name()
            );
            Err(ToolError::new(Code::ValidationError, message))
        }
    }
}
