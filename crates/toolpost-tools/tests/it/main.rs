//! The built-in tools as a user meets them: through an executor, over a workspace.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    unsafe_code,
    reason = "tests set up the world around the tools by hand, and say what they measured"
)]

mod analyze_image_ui_qa;
mod answering;
mod apply_patch;
mod bash;
mod bash_dry_run;
mod bash_kept;
mod bash_kill;
mod bash_line;
mod bash_output;
mod batch;
mod border;
mod bounds;
mod build_dependency_graph;
mod capture_screenshot;
mod changes;
mod code_pack;
mod complete_task;
mod confined;
mod core_names;
mod create_task;
mod declarations;
mod delete;
mod descriptions;
mod detect_project_type;
mod diagnostics;
mod dialect;
mod edit;
mod empty;
mod explained;
mod extract_conventions;
mod fake_engine;
mod fake_host;
mod find_references;
#[path = "../../../toolpost-core/tests/it/fixed.rs"]
mod fixed;
mod get_codebase_map;
mod get_imports_exports;
mod get_project_overview;
mod get_symbol_info;
mod get_task;
mod glob;
mod grep;
mod huge;
mod journal;
mod layouts;
mod list;
mod list_tasks;
#[path = "../../../toolpost-plugins/tests/it/load.rs"]
mod load;
mod meant;
mod mutations;
mod parsed;
mod race;
mod read;
mod redacted;
mod reject_task;
mod resolve_symbol;
mod roles;
mod search_code;
mod signal_parent;
mod spawn_agent;
mod stored;
mod submit_result;
mod task;
mod todoread;
mod todowrite;
mod tool_search;
mod vfs;
mod vfs_delete;
mod vfs_list;
mod vfs_read;
mod vfs_write;
mod webfetch;
mod websearch;
mod withheld;
mod write;

use crate::fixed::Fixed as Executor;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use toolpost_core::outcome::{Attachment, AttachmentContent};
use toolpost_core::policy::Profile;
use toolpost_core::tool::OutputBudget;
use toolpost_core::{
    Call, Capability, Context, Memory, Outcome, Output, Policy, Registry, Spec, ToolError, Workspace,
    WorkspacePath, dynamic,
};
use toolpost_disk::Disk;

/// This test program starts commands as a program does that calls this first in `main`.
#[unsafe(link_section = ".init_array")]
#[used]
static LAUNCHER: extern "C" fn() = {
    extern "C" fn hook() {
        toolpost_process::launcher::run_if_asked();
    }
    hook
};

/// Runs a test on several threads, as the runtime does.
fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(test)
}

/// The built-in tools, and some that misbehave.
fn executor() -> Executor {
    let registry = Arc::new(Registry::new());
    toolpost_tools::register_all(&registry, &toolpost_tools::Settings::default()).unwrap();
    let any = || json!({"type": "object"});
    let flood = Spec::new("flood", "1.0.0", "Floods.").budget(OutputBudget { bytes: 1_000, lines: 20 });
    registry.register(dynamic(flood, any(), |_, _| async { Ok(output(&numbers(5_000))) })).unwrap();
    let sleep = Spec::new("sleep", "1.0.0", "Sleeps.").parallel_safe();
    registry
        .register(dynamic(sleep, any(), |ctx, args| async move {
            let time = Duration::from_millis(args["ms"].as_u64().unwrap_or(60_000));
            tokio::select! {
                () = tokio::time::sleep(time) => Ok(output("slept")),
                () = ctx.cancel().cancelled() => {
                    ctx.progress("cancelled", Value::Null);
                    Err(ToolError::execution("woken up"))
                }
            }
        }))
        .unwrap();
    let put = Spec::new("put", "1.0.0", "Writes a file.").requires(Capability::Write);
    registry
        .register(dynamic(put, any(), |ctx, args| async move {
            let path = WorkspacePath::new(args["path"].as_str().unwrap());
            let written = ctx.blocking_in_pool(move |ctx| ctx.workspace().write(&path, b"put")).await?;
            Ok(output(&written.name))
        }))
        .unwrap();
    let picture = Spec::new("picture", "1.0.0", "Attaches something.").parallel_safe();
    registry
        .register(dynamic(picture, any(), |_, args| async move {
            Ok(output("a picture").attach(Attachment {
                media_type: "image/png".to_owned(),
                filename: args["name"].as_str().unwrap().to_owned(),
                content: AttachmentContent::Data("cGl4ZWxz".to_owned()),
            }))
        }))
        .unwrap();
    let panics = Spec::new("panics", "1.0.0", "Crashes.").parallel_safe();
    registry
        .register(dynamic(panics, any(), |_, _| async {
            if true { panic!("as it does") } else { Ok(output("")) }
        }))
        .unwrap();
    Executor::new(registry, Policy::profile(Profile::Standard))
}

fn output(text: &str) -> Output<Value> {
    Output::new("", text, Value::Null)
}

/// `1`, `2`, `3` … each on its line.
fn numbers(lines: usize) -> String {
    (1..=lines).map(|number| format!("{number}\n")).collect()
}

/// A session over files written as one text.
fn memory(fixture: &str) -> Context {
    Context::builder(Arc::new(Memory::from_fixture(fixture))).build()
}

/// A session over one file of any bytes.
fn one_file(name: &str, content: &[u8]) -> Context {
    let memory = Memory::new();
    memory.write(&WorkspacePath::new(name), content).unwrap();
    Context::builder(Arc::new(memory)).build()
}

/// A session over a folder on disk.
fn disk(root: &Path) -> Context {
    Context::builder(Arc::new(Disk::open([root]).unwrap())).build()
}

/// A folder for this test alone, in memory where the machine has that.
fn folder() -> TempDir {
    match Path::new("/dev/shm").is_dir() {
        true => tempfile::tempdir_in("/dev/shm").unwrap(),
        false => tempfile::tempdir().unwrap(),
    }
}

/// One call.
fn call(ctx: &Context, tool: &str, args: Value) -> Outcome {
    run(executor().run(ctx, Call::new(tool, args)))
}

/// What a model sees: the text, or `CODE: message`.
fn shown(outcome: &Outcome) -> String {
    match &outcome.result {
        Ok(output) => output.text.clone(),
        Err(error) => error.to_string(),
    }
}

/// The data of a call that worked.
fn data(outcome: &Outcome) -> &Value {
    &outcome.result.as_ref().unwrap().data
}

/// The code of a call that failed.
fn code(outcome: &Outcome) -> &'static str {
    outcome.result.as_ref().unwrap_err().code().as_str()
}

/// The small number of tries, or the full one in a soak.
fn count(normal: usize, soak: usize) -> usize {
    if std::env::var_os("TOOLPOST_SOAK").is_some_and(|value| value == "1") { soak } else { normal }
}

/// Where the numbers of a generated test begin: the same on every run, another on every soak. `TOOLPOST_SEED` chooses
/// one; it is printed, so that what was found can be found again.
fn seed(test: &str) -> u64 {
    let named = std::env::var("TOOLPOST_SEED").ok().map(|seed| seed.parse().unwrap());
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let seed: u64 = named.unwrap_or_else(|| match count(0, 1) {
        0 => 0,
        _ => now(),
    });
    println!("{test}: TOOLPOST_SEED={seed}");
    // Seeds next to each other are to have nothing in common.
    let mut mixed = test.bytes().fold(seed, |mixed, byte| mixed.rotate_left(9) ^ u64::from(byte));
    for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        mixed = (mixed ^ (mixed >> 30) ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(factor);
    }
    (mixed ^ (mixed >> 31)).max(1)
}

/// The most memory this process ever had, in MiB.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
}

/// What the names of the built-in tools mean in rules.
fn names() -> toolpost_core::policy::Names {
    executor().registry().snapshot().names().clone()
}
