//! Where the keys of models come from: the environment, files, and commands.

use super::private;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use toolpost_agent::model::Keys;
use toolpost_core::host::blocking;
use toolpost_http::BoxFuture;
use toolpost_process::{Capture, Command, Exit, Limits, Output, PipeReceiver};

/// How long a command that prints a key may take.
const LONGEST: Duration = Duration::from_secs(30);
/// Maximum number of bytes of a key.
const MOST_BYTES: usize = 16 << 10;

/// Reads keys for this process.
pub(crate) struct ModelKeys {
    pub(super) variables: BTreeMap<String, String>,
    pub(super) home: Option<PathBuf>,
    pub(super) cwd: PathBuf,
    /// What a command gets.
    pub(super) environment: Vec<(String, String)>,
}

impl ModelKeys {
    fn path(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.cwd.join(path),
        }
    }
}

impl Keys for ModelKeys {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn file<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<String, String>> {
        let path = self.path(path);
        Box::pin(async move {
            let read = blocking(move || match private::read(&path, MOST_BYTES)? {
                None => Err("it does not exist".to_owned()),
                Some(file) if file.is_open_to_others => {
                    Err("others can change it; run `chmod 600` on it".to_owned())
                }
                Some(file) => String::from_utf8(file.bytes).map_err(|_| "it is not text".to_owned()),
            });
            read.await.unwrap_or_else(|_| Err("it could not be read".to_owned()))
        })
    }

    fn command<'a>(&'a self, command: &'a [String]) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let Some((program, args)) = command.split_first() else { return Err("it is empty".to_owned()) };
            let limits = Limits { wall: Some(LONGEST), ..Limits::default() };
            let command = Command::new(program, &self.cwd).args(args).output(Output::Apart).limits(limits);
            let command =
                self.environment.iter().fold(command, |command, (name, value)| command.variable(name, value));
            let mut running = command.start().map_err(|error| error.to_string())?;
            let stdout = running.take_stdout();
            let mut errors = Capture::new(0, 0);
            let (bytes, ended) = tokio::join!(read(stdout), running.collect(&mut errors, |_| ()));
            match ended.map_err(|error| error.to_string())?.exit {
                Exit::Code(0) => {}
                Exit::Code(code) => return Err(format!("it ended with code {code}")),
                Exit::Signal(signal) => return Err(format!("it was ended by signal {signal}")),
            }
            String::from_utf8(bytes).map_err(|_| "it printed what is not text".to_owned())
        })
    }
}

/// What a command prints, as far as a key can be long.
async fn read(stdout: Option<PipeReceiver>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stdout) = stdout {
        // What cannot be read has ended.
        let _ = stdout.take(MOST_BYTES as u64).read_to_end(&mut bytes).await;
    }
    bytes
}
