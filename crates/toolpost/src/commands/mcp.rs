//! `toolpost mcp`: the tools for an agent, on standard input and output or over HTTP.
//!
//! Standard output belongs to the protocol; whatever there is to say goes to standard error.

mod install;
mod prompts;
mod refusal;
mod uninstall;

use super::call::interrupted;
use crate::cli::{Flags, Mcp, McpCommand};
use crate::config::env::Environment;
use crate::config::{self, Config};
use crate::output::{Printer, Tone, on_terminal};
use crate::runtime::{Audience, Frontend, threads};
use prompts::AgentPrompts;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use toolpost_core::host::HANDLE_PREFIX;
use toolpost_core::text::visible;
use toolpost_core::{Code, Context, ToolError};
use toolpost_http::{Admission, Listener, Routes};
use toolpost_plugins::Plugins;
use toolpost_server::{Extension, Options, Server, StateKey};

/// Maximum number of commands in the background of a server.
const MOST_BACKGROUND: usize = 8;

/// For whoever starts the server by hand, and would see nothing.
const BY_HAND: &str = "note: waiting for messages of an MCP client on standard input; `toolpost mcp install` enters this server in \
                       a client's configuration, --http serves at an address, and Ctrl-C ends it";

/// At the end, each tool gets so long to clean up.
const CLEANUP: Duration = Duration::from_secs(5);

pub(crate) fn run(
    printer: &Printer,
    flags: &Flags,
    environment: Environment,
    mcp: &Mcp,
    extension: Option<Arc<dyn Extension>>,
) -> u8 {
    match &mcp.command {
        Some(McpCommand::Install(install)) => return install::run(printer, flags, &environment, install),
        Some(McpCommand::Uninstall(uninstall)) => {
            return uninstall::run(printer, flags, &environment, uninstall);
        }
        None => {}
    }
    match serve(printer, flags, environment, mcp, extension) {
        Ok(()) => 0,
        Err(error) => {
            printer.error(&error);
            if mcp.http.is_none() {
                refusal::serve(printer, &error);
            }
            2
        }
    }
}

fn serve(
    printer: &Printer,
    flags: &Flags,
    environment: Environment,
    mcp: &Mcp,
    extension: Option<Arc<dyn Extension>>,
) -> Result<(), ToolError> {
    let frontend = Frontend { background: MOST_BACKGROUND, records: true, ..crate::this_program() };
    let runtime = Arc::new(crate::open(flags, environment, printer, frontend)?);
    runtime.host.attach(&runtime, Audience::default());
    let agents = runtime.host.known().all(&runtime);
    let notes = runtime.offer_agents_tools().into_iter().chain(runtime.notes_of_packs(&runtime.policy()));
    notes.for_each(|note| printer.say(Tone::Note, &format!("note: {}", on_terminal(&note))));
    // Agents are prompts; a program that brings prompts of its own is asked for those instead.
    let extension = extension.or_else(|| AgentPrompts::of(agents).map(|prompts| Arc::new(prompts) as _));
    let config = &runtime.config;
    let admission = mcp.http.map(|address| admission(printer, config, mcp, address)).transpose()?;
    let notes = runtime.servers.notes();
    notes.iter().for_each(|note| printer.say(Tone::Note, &format!("note: {}", on_terminal(note))));
    let plugins = runtime.plugins.as_ref();
    plugins.inspect(|plugins| plugins.recall());
    let of_servers = plugins.map(Plugins::instructed);
    let told = instructions(config, &runtime.context);
    let options = Options {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instructions: Arc::new(move || match &of_servers {
            None => told.clone(),
            Some(of_servers) => told.clone() + &said_by(&of_servers()),
        }),
        page_size: usize::from(mcp.page_size),
        says_yes: flags.yes,
        timeout: config.timeout,
        structured: config.structured,
        session: config.is_session_named.then(|| config.session.clone()),
        list_wait: config.list_wait,
        answer_wait: config.answer_wait,
        state_key: state_key(config.data_directory.clone()),
    };
    let (executor, context) = (runtime.executor.clone(), runtime.context.clone());
    let server = match extension {
        Some(extension) => Server::extended(executor, context, options, extension)?,
        None => Server::new(executor, context, options),
    };
    let threads = threads()?;
    let served = threads.block_on(async {
        let cancel = runtime.cancel.clone();
        tokio::spawn(async move {
            interrupted().await;
            cancel.cancel();
        });
        for note in runtime.know_agents().await {
            printer.say(Tone::Note, &format!("note: {}", on_terminal(&note)));
        }
        match admission {
            // On one of the threads that calls run on, so that none need be woken for them.
            None => {
                if std::io::stdin().is_terminal() {
                    printer.say(Tone::Note, BY_HAND);
                }
                let server = Arc::clone(&server);
                tokio::spawn(async move { server.serve_stdio().await }).await.map_err(stopped)?;
            }
            Some((address, admission)) => {
                let listener = listen(printer, address).await?;
                server.serve_http(listener, admission, Routes::new()).await;
            }
        }
        for (id, command) in runtime.background.running() {
            printer.say(Tone::Note, &format!("note: {id} is ended with the server: {command}"));
        }
        runtime.context.tools().shutdown_all(CLEANUP).await;
        if let Some(plugins) = &runtime.plugins {
            plugins.shutdown().await;
        }
        if let Err(error) = runtime.recorded().await {
            printer.say(Tone::Note, &format!("note: not everything is in the log: {}", error.message()));
        }
        Ok(())
    });
    // A tool that blocks its thread must not keep us here.
    threads.shutdown_timeout(Duration::from_millis(50));
    served
}

/// The secret that the state of waiting calls is sealed with. Where it cannot be kept, each process has one of its own.
fn state_key(data: Option<PathBuf>) -> StateKey {
    Arc::new(move || config::state_key(data.as_deref()).ok())
}

fn stopped(error: tokio::task::JoinError) -> ToolError {
    ToolError::new(Code::Panic, format!("serving stopped: {error}"))
}

async fn listen(printer: &Printer, address: SocketAddr) -> Result<Listener, ToolError> {
    let broken = |error: std::io::Error| {
        let message = format!("nothing can listen at {address}: {error}; choose another with --http");
        ToolError::new(Code::ExecutionError, message)
    };
    let listener = Listener::bind(address).await.map_err(broken)?;
    let at = listener.address().map_err(broken)?;
    printer.say(Tone::Plain, &format!("serving MCP at http://{at}/mcp"));
    Ok(listener)
}

/// Who is admitted at this address.
fn admission(
    printer: &Printer,
    config: &Config,
    mcp: &Mcp,
    address: SocketAddr,
) -> Result<(SocketAddr, Admission), ToolError> {
    let is_loopback = address.ip().is_loopback();
    if mcp.no_token && !is_loopback {
        return Err(ToolError::new(
            Code::ValidationError,
            format!(
                "--no-token at {address} would let in everybody who can reach it; it is for 127.0.0.1 and [::1]"
            ),
        ));
    }
    let token = match mcp.no_token {
        true => None,
        false => {
            let (token, path) = config::token(config.data_directory.as_deref())?;
            printer.say(Tone::Plain, &format!("clients show the token in {}", path.display()));
            Some(token)
        }
    };
    let admission = Admission::new(address, token, &mcp.allow_host)
        .advice("start the server with --allow-host to add a name");
    Ok((address, admission))
}

/// What a model should know before its first call.
fn instructions(config: &Config, context: &Context) -> String {
    let shown =
        |root: &PathBuf| format!("`{}`", root.canonicalize().unwrap_or_else(|_| root.clone()).display());
    let roots: Vec<String> = match &config.virtual_session {
        Some(session) => {
            vec![format!("`{}`, the virtual files of the session `{session}`", context.workspace().root())]
        }
        None => config.roots.iter().map(shown).collect(),
    };
    let rest = context.reading(&format!("{HANDLE_PREFIX}…"));
    let rest = rest.map_or_else(String::new, |reading| format!(": {reading} shows the whole by pages"));
    format!(
        "These tools act in the workspace {}. Paths are absolute or from its root. Prefer them to other ways of reading, \
         searching and changing files and of running commands: their results are bounded and leave out what git ignores, \
         a change is made whole or not at all, and a refusal says by which rule and what would allow it. A result that \
         is too long is cut in the middle and names a handle{rest}.",
        roots.join(", ")
    )
}

/// What servers say of their tools.
fn said_by(of_servers: &[(String, String)]) -> String {
    let one = |(part, text): &(String, String)| {
        format!("\n\nThe server of the tools mcp__{part}__* says of them: {}", visible(text))
    };
    of_servers.iter().map(one).collect()
}
