//! Failures on disk in words that help: which path, what is wrong with it, what to do next.

use super::roots::{Failure, Roots};
use rustix::fs::{Dir, OFlags};
use rustix::io::Errno;
use toolpost_core::text::nearest;
use toolpost_core::workspace::implement::place::{Place, escape};
use toolpost_core::workspace::implement::refusal;
use toolpost_core::{Code, ToolError};

/// How many names of a folder are looked at for a near one.
const LOOKED_AT: usize = 2000;

/// What was being done when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Reading,
    Writing,
}

/// Puts a failure into words.
pub(super) fn explain(roots: &Roots, place: &Place, failure: Failure, doing: Doing) -> ToolError {
    let name = place.display(&roots.names);
    let code = match doing {
        Doing::Reading => Code::ReadError,
        Doing::Writing => Code::WriteError,
    };
    match failure {
        Failure::Escape => escape(&name, &roots.names),
        Failure::Dangling(link) => dangling(&name, &link),
        Failure::Loop => ToolError::new(
            code,
            format!(
                "the links on the way to `{name}` lead in a circle, or through `/proc`; name the file itself"
            ),
        )
        .with("path", name),
        Failure::Changed => ToolError::new(
            code,
            format!("the folders of `{name}` kept changing while it was opened; try again"),
        )
        .with("path", name)
        .retryable(),
        Failure::NotAFile(what) => refusal::not_a_file(&name, what),
        Failure::NotAFolder => refusal::not_a_folder(&name),
        Failure::Refused(reason) => {
            ToolError::new(code, format!("`{name}` is left as it is: {reason}")).with("path", name)
        }
        Failure::System(Errno::NOENT | Errno::STALE) if let Some(why) = roots.is_gone(place.root) => {
            let root = &roots.names[place.root].path;
            ToolError::new(Code::FileNotFound, format!("the folder `{root}` of the workspace {why}"))
                .with("path", name)
        }
        Failure::System(Errno::NOENT) => missing(roots, place, &name),
        Failure::System(Errno::NOTDIR) => refusal::not_a_folder(&name),
        Failure::System(errno) => system(code, &name, errno),
    }
}

fn system(code: Code, name: &str, errno: Errno) -> ToolError {
    let reason = match errno {
        Errno::BUSY => return refusal::is_root(name),
        Errno::NOTEMPTY | Errno::EXIST => return refusal::not_empty(name),
        Errno::ISDIR => return refusal::onto_folder(name),
        Errno::ACCESS | Errno::PERM => "the operating system does not permit it; check its owner and mode",
        Errno::NOSPC | Errno::DQUOT => "the disk is full; free some space",
        Errno::FBIG => "it would be larger than files may be here; write less",
        Errno::ROFS => "the filesystem is read-only; write elsewhere",
        Errno::NAMETOOLONG => "the path is too long; use a shorter one",
        Errno::MFILE | Errno::NFILE => "too many files are open; try again in a moment",
        other => {
            return ToolError::new(code, format!("`{name}`: {other}; check the file and try again"))
                .with("path", name);
        }
    };
    ToolError::new(code, format!("`{name}`: {reason}")).with("path", name).with("errno", errno.raw_os_error())
}

fn dangling(name: &str, link: &str) -> ToolError {
    let message = match name == link {
        true => format!("`{name}` is a link to nothing; remove the link or make its target first"),
        false => {
            format!("no file `{name}`: the link `{link}` on its way leads to nothing; name the file itself")
        }
    };
    ToolError::new(Code::FileNotFound, message).with("path", name).with("link", link)
}

/// Nothing there: a link to nothing, or a name that is not there, with the nearest that are.
fn missing(roots: &Roots, place: &Place, name: &str) -> ToolError {
    if let Err(Failure::Dangling(link)) = roots.resolve(place) {
        return dangling(name, &link);
    }
    // The first missing name from the left is the one to look for.
    for known in (0..place.parts.len()).rev() {
        let above = Place { root: place.root, parts: place.parts[..known].to_vec() };
        let Ok(folder) = roots.open(&above, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK) else {
            continue;
        };
        let Ok(folder) = Dir::new(folder) else { break };
        let names: Vec<String> = folder
            .take(LOOKED_AT)
            .filter_map(|entry| Some(entry.ok()?.file_name().to_str().ok()?.to_owned()))
            .filter(|name| name != "." && name != "..")
            .collect();
        let near = nearest(&place.parts[known], names.iter().map(String::as_str), refusal::NEAREST);
        let near: Vec<String> = near
            .into_iter()
            .map(|part| {
                let mut near = above.clone();
                near.parts.push(part);
                let mut whole = near.clone();
                whole.parts.extend_from_slice(&place.parts[known + 1..]);
                let exists = roots.open(&whole, OFlags::PATH).is_ok();
                if exists { whole.display(&roots.names) } else { near.display(&roots.names) }
            })
            .collect();
        return refusal::missing(name, &near);
    }
    refusal::missing(name, &[])
}
