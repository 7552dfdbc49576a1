//! Guarantee 14: where a layer of the sandbox cannot be had, commands are refused by its name and none is run.
//!
//! The layers are taken away for real: by the kernel's own limit on namespaces, and by a filter that makes this kernel
//! answer as one that does not know the call.

#![allow(unsafe_code, reason = "a filter is installed between fork and exec")]

use crate::{Home, Ran};
use std::os::unix::process::CommandExt;
use std::process::Command;

const BASH: [&str; 5] = ["call", "bash", "command=touch ran-all-the-same", "--allow", "exec"];

/// As an ordinary user of a machine that lets nobody make user namespaces.
pub(crate) fn without_user_namespaces(command: &Command) -> Command {
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && \
                  exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"";
    let mut wrapped = Command::new("unshare");
    wrapped.args(["-U", "--map-current-user", "sh", "-c", script, "sh"]);
    same_world(&mut wrapped, command);
    wrapped
}

fn same_world(wrapped: &mut Command, command: &Command) {
    wrapped.arg(command.get_program()).args(command.get_args()).env_clear();
    wrapped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    wrapped.current_dir(command.get_current_dir().unwrap());
}

/// With a kernel that answers this call with an error.
fn without_call(command: &mut Command, number: i64, errno: i32) {
    let step = |code: u16, yes: u8, no: u8, value: u32| libc::sock_filter { code, jt: yes, jf: no, k: value };
    let filter = [
        step(0x20, 0, 0, 0),
        step(0x15, 0, 1, u32::try_from(number).unwrap()),
        step(0x06, 0, 0, 0x0005_0000 | errno.unsigned_abs()),
        step(0x06, 0, 0, 0x7fff_0000),
    ];
    let install = move || {
        let mut filter = filter;
        let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
        // SAFETY: the program points to as many instructions as it says, and outlives the call.
        let results = unsafe {
            [
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program),
            ]
        };
        if results == [0, 0] { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: the closure makes two system calls and takes no memory.
    unsafe { command.pre_exec(install) };
}

/// The command is refused by the name of the layer, and nothing ran.
fn is_refused(home: &Home, mut command: Command, layer: &str) {
    let (status, envelope) = Ran::of(command.output().unwrap()).json();
    let error = &envelope["error"];
    assert_eq!((status, error["code"].as_str()), (1, Some("SANDBOX_UNAVAILABLE")), "{layer}: {envelope}");
    let message = error["message"].as_str().unwrap();
    for words in ["none is run", layer, "`toolpost doctor`", "`--sandbox none`"] {
        assert!(message.contains(words), "{words}: {message}");
    }
    assert!(error["details"]["layer"].as_str().unwrap().contains(layer), "{error}");
    assert!(!home.path("repo/ran-all-the-same").exists(), "{layer}");
}

/// `doctor` names the layer with its reason, is not well, and says what to do.
fn is_named(home: &Home, mut command: Command, layer: &str, reason: &str) {
    // What `call` has recorded is there already; `doctor` writes nothing.
    let had_data = home.path("data").exists();
    let (status, report) = Ran::of(command.output().unwrap()).json();
    assert_eq!((status, report["ok"].as_bool()), (1, Some(false)), "{report}");
    let layers = report["sandbox"].as_array().unwrap();
    let found = layers.iter().find(|one| one["name"] == layer).unwrap();
    assert!(found["found"].is_null() && found["missing"].as_str().unwrap().contains(reason), "{found}");
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|one| one["what"].as_str().unwrap().contains(layer)).unwrap();
    assert_eq!(finding["broken"], true);
    assert!(finding["fix"].as_str().unwrap().contains("`--sandbox none`"), "{finding}");
    assert_eq!(home.path("data").exists(), had_data);
}

#[test]
fn on_this_machine_every_layer_is_there() {
    let home = Home::new();
    let (_, report) = home.json(&["doctor"]);
    let layers = report["sandbox"].as_array().unwrap();
    assert_eq!(layers.len(), 9);
    for layer in layers {
        assert!(layer["found"].is_string() && layer["missing"].is_null(), "{layer}");
    }
    let page = home.run(&["doctor", "--all"]).stdout;
    for layer in layers {
        let line = format!("ok     {}: {}", layer["name"].as_str().unwrap(), layer["does"].as_str().unwrap());
        assert!(page.contains(&line), "{line}: {page}");
    }
    assert!(page.contains("sandbox       strict        built-in"), "{page}");
    let page = home.run(&["doctor", "--all", "--sandbox", "none"]).stdout;
    assert!(page.contains("sandbox       none          --sandbox"), "{page}");
}

#[test]
fn without_user_namespaces_commands_are_refused() {
    let home = Home::new();
    let json = [&BASH[..], &["--json"]].concat();
    is_refused(&home, without_user_namespaces(&home.command(&json)), "user namespace");
    let doctor = home.command(["doctor", "--json"]);
    is_named(&home, without_user_namespaces(&doctor), "user namespace", "`user.max_user_namespaces`");
    let text = Ran::of(without_user_namespaces(&home.command(["doctor", "--all"])).output().unwrap());
    for words in ["broken user namespace: ", "network namespace: ", "missing: it needs the user namespace"] {
        assert!(text.stdout.contains(words), "{words}: {}", text.stdout);
    }
    // Who says so gets them without.
    let mut args = json;
    args.extend(["--sandbox", "none"]);
    let (status, envelope) = Ran::of(without_user_namespaces(&home.command(&args)).output().unwrap()).json();
    assert_eq!((status, &envelope["success"]), (0, &true.into()), "{envelope}");
    assert!(home.path("repo/ran-all-the-same").exists());
}

#[test]
fn without_a_layer_of_the_kernel_commands_are_refused() {
    for (number, errno, layer, refused_as) in [
        (libc::SYS_landlock_create_ruleset, libc::ENOSYS, "landlock", "landlock"),
        // Switched off at boot.
        (libc::SYS_landlock_create_ruleset, libc::EOPNOTSUPP, "landlock", "landlock"),
        (libc::SYS_seccomp, libc::EINVAL, "system call filter", "system call filter"),
        (libc::SYS_mount, libc::EPERM, "process and mount namespaces", "mount namespace"),
        (libc::SYS_setns, libc::EPERM, "", "namespace"),
    ] {
        let home = Home::new();
        let mut command = home.command([&BASH[..], &["--json"]].concat());
        without_call(&mut command, number, errno);
        is_refused(&home, command, refused_as);
        if !layer.is_empty() {
            let mut doctor = home.command(["doctor", "--json"]);
            without_call(&mut doctor, number, errno);
            is_named(&home, doctor, layer, "(os error ");
        }
    }
}
