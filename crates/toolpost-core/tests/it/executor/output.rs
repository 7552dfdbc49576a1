//! Outputs longer than a model may see.

use crate::stage::{Stage, any, code, message, said, spec};
use serde_json::json;
use std::io::Read;
use std::sync::Arc;
use toolpost_core::tool::OutputBudget;
use toolpost_core::{Context, ToolError, dynamic};
use toolpost_disk::{SpillFolder, SpillLimits};

/// A context whose long outputs are kept in `directory`, at most `most` bytes of each.
fn spilling(stage: &Stage, directory: &tempfile::TempDir, most: u64, session: &str) -> Context {
    let limits = SpillLimits { per_call: most, ..SpillLimits::default() };
    stage.ctx().session(session).spill(Arc::new(SpillFolder::new(directory.path(), limits))).build()
}

/// Opens a handle the way `read` does.
fn opener() -> toolpost_core::tool::DynamicTool {
    dynamic(spec("open"), json!({"type": "object"}), |ctx, args| async move {
        let mut file = ctx.open(&args["filePath"].as_str().unwrap().into())?;
        let mut start = [0; 10];
        file.reader.read_exact(&mut start).unwrap();
        said(format!("{} bytes from {}", file.stat.size, String::from_utf8_lossy(&start)))
    })
}

#[tokio::test]
async fn a_flood_is_cut_and_kept_up_to_a_bound() {
    #[expect(clippy::disallowed_methods, reason = "a soak is asked for by hand")]
    let is_soak = std::env::var_os("TOOLPOST_SOAK").is_some();
    let size: usize = if is_soak { 1 << 30 } else { 100 << 20 };
    let directory = tempfile::tempdir().unwrap();
    let stage = Stage::new()
        .tool(opener())
        .tool(any(spec("flood"), move |_, _| async move { said("0123456789abcde\n".repeat(size / 16)) }));
    let (executor, kept) = (stage.executor(), 1 << 20);
    let ctx = spilling(&stage, &directory, kept, "mine");
    let outcome = executor.call(&ctx, "flood", json!({})).await;
    let cut = outcome.metadata.truncated.clone().unwrap();
    assert_eq!((cut.total_bytes, cut.total_lines), (size as u64, size as u64 / 16));
    assert_eq!(cut.kept_bytes, kept);
    let text = outcome.to_text();
    assert!(cut.shown_bytes <= 50_000 && text.len() < 51_000, "{}", text.len());
    let handle = format!("spill:{}", outcome.call_id);
    assert!(text.starts_with("0123456789abcde\n") && text.ends_with("0123456789abcde\n"));
    let told = format!("of {size} bytes");
    let where_from = format!("the first {kept} bytes are kept as {handle} …]");
    assert!(text.contains(&told) && text.contains(&where_from), "{}", &text[29_000..31_000]);
    stage.check("requested flood · initialized flood · allow · started 1 · spilled · finished");

    let opened = executor.call(&ctx, "open", json!({"filePath": handle})).await;
    assert_eq!(code(&opened), "1048576 bytes from 0123456789");
    let other = spilling(&stage, &directory, kept, "theirs");
    assert_eq!(code(&executor.call(&other, "open", json!({"filePath": handle})).await), "FILE_NOT_FOUND");
}

#[tokio::test]
async fn too_many_lines_are_cut_too_and_a_fitting_text_is_left_alone() {
    let budget = OutputBudget { bytes: 1_000, lines: 4 };
    let stage = Stage::new().tool(any(spec("lines").budget(budget), |ctx, args| async move {
        assert_eq!(ctx.output_budget().lines, 4);
        said("line\n".repeat(args["count"].as_u64().unwrap() as usize))
    }));
    let directory = tempfile::tempdir().unwrap();
    let ctx = spilling(&stage, &directory, 1_000, "s");
    let fitting = stage.executor().call(&ctx, "lines", json!({"count": 4})).await;
    assert_eq!((fitting.to_text().lines().count(), fitting.metadata.truncated), (4, None));
    let cut = stage.executor().call(&ctx, "lines", json!({"count": 9})).await;
    let handle = format!("spill:{}", cut.call_id);
    assert_eq!(
        cut.to_text(),
        format!(
            "line\nline\n\n[… 26 of 45 bytes (5 of 9 lines) left out here; the whole is kept \
             as {handle} …]\n\nline\nline\n"
        )
    );
}

#[tokio::test]
async fn without_a_place_to_keep_it_the_rest_is_said_to_be_lost() {
    let stage = Stage::new()
        .tool(any(spec("flood"), |_, _| async { said("x".repeat(60_000)) }))
        .tool(any(spec("failing"), |_, _| async { Err(ToolError::execution("y".repeat(60_000))) }));
    let outcome = stage.call("flood").await;
    assert!(outcome.to_text().contains("left out here; the whole was not kept …]"));
    let outcome = stage.call("failing").await;
    assert!(message(&outcome).len() < 51_000, "a message is bounded like a text");
    assert_eq!(outcome.metadata.truncated.unwrap().total_bytes, 60_000);
}

#[tokio::test]
async fn a_spill_that_cannot_be_written_is_a_warning() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let stage = Stage::new().tool(any(spec("flood"), |_, _| async { said("x".repeat(60_000)) }));
    let ctx = stage.ctx().spill(Arc::new(SpillFolder::new(file.path(), SpillLimits::default()))).build();
    let outcome = stage.executor().call(&ctx, "flood", json!({})).await;
    assert!(outcome.to_text().contains("the whole was not kept"));
    assert!(stage.trace()[4].starts_with("warning the whole output could not be kept: "));
}
