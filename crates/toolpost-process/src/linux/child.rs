//! The last steps before the program itself: descriptors, folder, limits, signals, and `exec`.

use super::sys;
use super::wire::{Reply, Request};
use rustix::net::{SendFlags, send};
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

/// What the program reads and writes.
pub(super) struct Streams {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Becomes the program. If that fails, the reason goes over `link` and the process ends.
///
/// `confine` runs last, when only the `exec` is left.
pub(super) fn become_program(
    request: &Request,
    streams: &Streams,
    link: &OwnedFd,
    confine: impl FnOnce() -> Result<(), Reply>,
) -> ! {
    let reply = match prepare(request, streams).and_then(|()| confine()) {
        Ok(()) => {
            // The listener of the filter must not reach the program.
            sys::close_from_at_exec(3);
            run(request)
        }
        Err(reply) => reply,
    };
    let _ = send(link, &reply.encode(), SendFlags::NOSIGNAL);
    sys::exit(127)
}

fn prepare(request: &Request, streams: &Streams) -> Result<(), Reply> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| Reply::NotRun { what, errno: error.raw_os_error().unwrap_or(0) }
    };
    // A session of its own has no terminal.
    rustix::process::setsid().map_err(|error| failed("a session could not be made")(error.into()))?;
    let folder = OsStr::from_bytes(&request.folder);
    rustix::process::chdir(folder).map_err(|error| {
        failed(&format!("the folder `{}` cannot be entered", folder.to_string_lossy()))(error.into())
    })?;
    sys::put_at(&streams.stdin, 0)
        .and_then(|()| sys::put_at(&streams.stdout, 1))
        .and_then(|()| sys::put_at(&streams.stderr, 2))
        .map_err(failed("the pipes could not be laid"))?;
    if request.cpu_s > 0 {
        sys::limit(libc::RLIMIT_CPU, request.cpu_s).map_err(failed("processor time cannot be limited"))?;
    }
    if request.processes > 0 {
        sys::limit(libc::RLIMIT_NPROC, request.processes).map_err(failed("processes cannot be limited"))?;
    }
    if request.memory > 0 {
        sys::limit(libc::RLIMIT_AS, request.memory).map_err(failed("memory cannot be limited"))?;
    }
    // A core file would put the memory of a command into the workspace.
    sys::limit(libc::RLIMIT_CORE, 0).map_err(failed("core files cannot be switched off"))?;
    sys::default_signals();
    Ok(())
}

/// Runs the program, looked for along the command's own `PATH`; what comes back is why it could not be.
fn run(request: &Request) -> Reply {
    let texts = |list: &[Vec<u8>]| -> Vec<CString> {
        list.iter().filter_map(|text| CString::new(text.as_slice()).ok()).collect()
    };
    let (argv, environment) = (texts(&request.argv), texts(&request.environment));
    let name = request.argv.first().map_or(&[][..], Vec::as_slice);
    let mut worst = io::Error::from_raw_os_error(libc::ENOENT);
    for place in places(name, &request.environment) {
        let Ok(place) = CString::new(place) else { continue };
        let error = sys::exec(&place, &argv, &environment);
        // As shells do: not being allowed to run what is there outweighs not being there.
        if !matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR)) {
            worst = error;
        }
    }
    let name = String::from_utf8_lossy(name);
    Reply::NotRun { what: format!("`{name}` cannot be run"), errno: worst.raw_os_error().unwrap_or(0) }
}

fn places(name: &[u8], environment: &[Vec<u8>]) -> Vec<Vec<u8>> {
    if name.contains(&b'/') {
        return vec![name.to_vec()];
    }
    let path = environment.iter().find_map(|variable| variable.strip_prefix(b"PATH="));
    path.unwrap_or(b"/usr/local/bin:/usr/bin:/bin")
        .split(|byte| *byte == b':')
        .filter(|folder| folder.starts_with(b"/"))
        .map(|folder| [folder, b"/", name].concat())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_looked_for_in_absolute_folders_only() {
        let environment = [b"A=1".to_vec(), b"PATH=/a:.::/b c".to_vec()];
        assert_eq!(places(b"x", &environment), [b"/a/x".to_vec(), b"/b c/x".to_vec()]);
        assert_eq!(places(b"./x", &environment), [b"./x".to_vec()]);
    }
}
