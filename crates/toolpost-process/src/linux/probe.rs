//! Which layers of the sandbox this machine has: a process of its own tries out each and says what it found.

mod tries;

use crate::launcher;
use crate::sandbox::{Layer, Need};
use std::os::unix::process::CommandExt;
use std::process::Stdio;

pub(super) use tries::run;

/// What the launcher is told in order to try out the layers instead of serving commands.
pub(super) const WORD: &str = "probe";

/// Name, what it does, what for.
const LAYERS: [(&str, &str, Need); 9] = [
    ("launcher", "starts commands, and outlives none", Need::Commands),
    ("subreaper", "ends all that a command started, where it has no namespace", Need::Commands),
    ("user namespace", "the right to confine, without being administrator", Need::Sandbox),
    ("process and mount namespaces", "a command sees its own processes and the files it may", Need::Sandbox),
    ("network namespace", "a loopback and no way out", Need::Sandbox),
    ("landlock", "a second wall around what may be changed", Need::Sandbox),
    ("system call filter", "no way into the kernel that commands do not need", Need::Sandbox),
    ("watched calls", "names that may not come to be are refused", Need::Sandbox),
    ("overlay", "changes of a dry run go to a folder that is thrown away", Need::DryRun),
];

/// The layers, each tried out.
pub(crate) fn layers() -> Vec<Layer> {
    let found = ask();
    let state = |name: &str| match &found {
        Ok(found) => found
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('\t')?.split_once('\t'))
            .map_or(Err("the launcher did not say".to_owned()), |(is_there, text)| match is_there {
                "yes" => Ok(text.to_owned()),
                _ => Err(text.to_owned()),
            }),
        Err(why) if name == "launcher" => Err(why.clone()),
        Err(_) => Err("not tried out: there is no launcher".to_owned()),
    };
    LAYERS.into_iter().map(|(name, does, need)| Layer { name, does, need, state: state(name) }).collect()
}

/// What the trying process says: a line for each layer.
fn ask() -> Result<String, String> {
    let Some(program) = launcher::program() else { return Err(launcher::MISSING.to_owned()) };
    let output = std::process::Command::new(&program)
        .arg0(launcher::NAME)
        .arg(WORD)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|error| format!("`{}` could not be started: {error}", program.display()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("`{}` ended with {}", program.display(), output.status)),
    }
}
