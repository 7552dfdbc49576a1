//! `read`: pages, encodings, attachments, folders, handles, and files that change while they are read.

use super::{call, code, data, disk, executor, folder, memory, numbers, one_file, run, shown};
use crate::fixed::Fixed as Executor;
use crate::load::stretched;
use base64::Engine as _;
use serde_json::{Value, json};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use toolpost_core::host::{Redactor, Seen};
use toolpost_core::outcome::AttachmentContent;
use toolpost_core::workspace::{Entries, File, LockRequest, Stat, Written};
use toolpost_core::{Call, Context, Memory, Policy, Registry, ToolError, Workspace, WorkspacePath};
use toolpost_disk::Disk;
use toolpost_disk::{SpillFolder, SpillLimits};
use toolpost_tools::Settings;
use toolpost_tools::filesystem::{self, Helper};

const FIXTURE: &str = "\
//- src/main.rs
fn main() {
    run();
}
//- src/lib.rs
one
two
three
four
//- README.md
hello
//- empty.txt
//- docs/
";

fn check(args: Value, expected: &str) {
    assert_eq!(shown(&call(&memory(FIXTURE), "read", args.clone())), expected, "{args}");
}

#[test]
fn lines_are_numbered_and_paged() {
    check(json!({"filePath": "src/main.rs"}), "1: fn main() {\n2:     run();\n3: }\n");
    check(json!({"filePath": "/workspace/src/main.rs", "limit": 1, "offset": 3}), "3: }\n");
    check(
        json!({"filePath": "./src/../README.md", "offset": 0}),
        "1: hello\n(offset=0 was read as offset=1, the first)",
    );
    check(
        json!({"filePath": "src/lib.rs", "offset": 2, "limit": 2}),
        "2: two\n3: three\n(lines 2–3 of 4; go on with offset=4)",
    );
    check(json!({"filePath": "src/lib.rs", "offset": 4}), "4: four\n");
    check(
        json!({"filePath": "src/lib.rs", "offset": 5}),
        "READ_ERROR: `src/lib.rs` has 4 lines; offset=5 is past its end",
    );
    check(
        json!({"filePath": "src/lib.rs", "offset": u64::MAX, "limit": u64::MAX}),
        "READ_ERROR: `src/lib.rs` has 4 lines; offset=18446744073709551615 is past its end",
    );
    check(json!({"filePath": "empty.txt"}), "(the file is empty)");
    check(
        json!({"filePath": "empty.txt", "offset": 2}),
        "READ_ERROR: `empty.txt` has 0 lines; offset=2 is past its end",
    );
}

#[test]
fn wrong_arguments_and_names_are_explained() {
    check(
        json!({"filePath": "src/mian.rs"}),
        "FILE_NOT_FOUND: no file `src/mian.rs`; nearest: `src/main.rs`",
    );
    check(
        json!({"filePath": "scr/main.rs"}),
        "FILE_NOT_FOUND: no file `scr/main.rs`; nearest: `src/main.rs`",
    );
    for (args, part) in [
        (json!({}), "`filePath`: expected a string"),
        (json!({"filePath": true}), "`filePath`: expected a string, got true"),
        (json!({"filePath": "a", "limit": 0}), "`limit`: expected at least 1, got 0"),
        (json!({"filePath": "a", "offset": -1}), "`offset`: expected at least 0"),
        (json!({"filePath": "a", "lines": 1}), "`lines`: expected only"),
        (
            json!({"filePath": ""}),
            "VALIDATION_ERROR: the arguments of `read` do not fit: `filePath`: expected a path, got \"\"",
        ),
        (json!({"path": ""}), "`filePath`: expected a path, got \"\""),
        (json!({"filePath": "src/main.rs/x"}), "NOT_A_FILE"),
        (json!({"filePath": "spill:none"}), "no outputs are kept here"),
    ] {
        let shown = shown(&call(&memory(FIXTURE), "read", args.clone()));
        assert!(shown.contains(part), "{args}: {shown}");
    }
}

#[test]
fn raw_lines_are_those_of_the_file() {
    let check = |bytes: &[u8], args: Value, expected: &str| {
        let mut all = json!({"filePath": "a.txt", "lineNumbers": false});
        all.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
        assert_eq!(shown(&call(&one_file("a.txt", bytes), "read", all)), expected, "{args}");
    };
    check(b"a\nb\nc", json!({}), "a\nb\nc");
    check(b"a\r\nb\rc\r\n", json!({}), "a\r\nb\rc\r\n");
    check(b"a\nb\nc\n", json!({"limit": 2}), "a\nb");
    check(b"a\nb\nc\n", json!({"limit": 3}), "a\nb\nc\n");
    check(b"a\nb\nc", json!({"offset": 3}), "c");
    check(b"", json!({}), "(the file is empty)");
    check(b"\n\n", json!({"limit": 1}), "\n");
    check(b"a\n\n\n", json!({"limit": 2}), "a\n");
    check(b"7: a\n", json!({}), "7: a\n");
    // What is left out is said, except where the caller has asked for so many lines.
    let long = format!("{}\nend", "x".repeat(2_001));
    let cut = "x".repeat(2_000);
    check(
        long.as_bytes(),
        json!({}),
        &format!("{cut}…\nend\n(1 long lines cut at 2000 characters, marked …)"),
    );
    let many: String = (0..2_001).map(|line| format!("{line}\n")).collect();
    let outcome =
        call(&one_file("a.txt", many.as_bytes()), "read", json!({"filePath": "a.txt", "lineNumbers": false}));
    assert!(shown(&outcome).ends_with("\n1999\n(lines 1–2000 of 2001; go on with offset=2001)"));
    assert_eq!(data(&outcome)["nextOffset"], 2001);
}

#[test]
fn other_names_have_their_own_arguments() {
    for (tool, args) in [
        ("read_file", json!({"path": "src/lib.rs", "offset": 1, "limit": 1})),
        ("read_file", json!({"absolute_path": "/workspace/src/lib.rs", "offset": "1", "limit": 1})),
        ("Read", json!({"file_path": "src/lib.rs", "offset": 2, "limit": 1})),
        ("view", json!({"path": "src/lib.rs", "offset": 2, "limit": 1})),
    ] {
        let outcome = call(&memory(FIXTURE), tool, args);
        assert_eq!(outcome.tool, "read");
        assert!(shown(&outcome).starts_with("2: two\n("), "{tool}: {}", shown(&outcome));
    }
}

#[test]
fn pages_by_the_byte_budget_join_to_the_whole_file() {
    let text: String = (0..9_000).map(|line| format!("{line} {}\n", "ü".repeat(line % 60))).collect();
    let ctx = one_file("long.txt", text.as_bytes());
    let (mut joined, mut offset, mut pages) = (String::new(), 1, 0);
    loop {
        let outcome = call(&ctx, "read", json!({"filePath": "long.txt", "offset": offset, "limit": 100_000}));
        let page = shown(&outcome);
        assert!(page.len() <= 50_000 && outcome.metadata.truncated.is_none());
        for line in page.lines().filter(|line| !line.starts_with('(')) {
            joined.push_str(line.split_once(": ").unwrap().1);
            joined.push('\n');
        }
        pages += 1;
        match data(&outcome).get("nextOffset") {
            Some(next) => offset = next.as_u64().unwrap(),
            None => break,
        }
    }
    assert!(joined == text && pages > 5, "{pages} pages");
}

#[test]
fn long_lines_are_cut_and_marked() {
    let text = format!("{}\n{}\nend", "x".repeat(2_000), "ä".repeat(2_001));
    let outcome = call(&one_file("long.txt", text.as_bytes()), "read", json!({"filePath": "long.txt"}));
    let expected = format!(
        "1: {}\n2: {}…\n3: end\n(1 long lines cut at 2000 characters, marked …; no newline at the end of the file)",
        "x".repeat(2_000),
        "ä".repeat(2_000)
    );
    assert_eq!(shown(&outcome), expected);
    assert_eq!(data(&outcome)["cutLines"], 1);
}

#[test]
fn a_cut_shows_no_part_of_a_secret() {
    let secret = "sk-0123456789abcdef";
    let redactor = Redactor::new([("KEY", secret)]);
    for at in [1_980, 1_981, 1_982, 1_990, 1_999, 2_000] {
        for (before, behind) in [("x".repeat(at), String::new()), ("😀".repeat(at), "z".repeat(9_000))] {
            let memory = Memory::new();
            let text = format!("{before}{secret}{behind}\n");
            memory.write(&WorkspacePath::new("a.txt"), text.as_bytes()).unwrap();
            let ctx = Context::builder(Arc::new(memory)).redactor(redactor.clone()).build();
            let shown = shown(&call(&ctx, "read", json!({"filePath": "a.txt"})));
            assert!(!shown.contains("sk"), "{at} characters before it");
        }
    }
}

fn utf16(text: &str, is_big_endian: bool) -> Vec<u8> {
    text.encode_utf16()
        .flat_map(|unit| if is_big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() })
        .collect()
}

fn check_bytes(content: &[u8], expected: &str, encoding: &str) {
    let outcome = call(&one_file("a.txt", content), "read", json!({"filePath": "a.txt"}));
    let text = shown(&outcome);
    let shown = text.strip_suffix("(no newline at the end of the file)").unwrap_or(&text);
    assert_eq!(shown, expected);
    assert_eq!(data(&outcome)["encoding"], encoding, "{expected:?}");
    assert_eq!(data(&outcome)["size"], content.len());
}

#[test]
fn encodings_and_line_endings_are_read() {
    check_bytes(b"a\r\nb\r\n", "1: a\n2: b\n", "utf-8");
    check_bytes(b"a\r\n\r\nb", "1: a\n2: \n3: b\n", "utf-8");
    check_bytes(b"no end", "1: no end\n", "utf-8");
    check_bytes(b"\n", "1: \n", "utf-8");
    check_bytes("\u{feff}grün\nb".as_bytes(), "1: grün\n2: b\n", "utf-8");
    check_bytes(b"gr\xfcn\n\xe4\n", "1: grün\n2: ä\n", "latin-1");
    for (is_big_endian, name) in [(false, "utf-16le"), (true, "utf-16be")] {
        check_bytes(&utf16("\u{feff}grün 😀\r\nb\n", is_big_endian), "1: grün 😀\n2: b\n", name);
        check_bytes(
            &utf16("plain text\nwithout a mark\n", is_big_endian),
            "1: plain text\n2: without a mark\n",
            name,
        );
    }
}

#[test]
fn binary_files_are_refused_with_a_hint() {
    for (content, hint) in [
        (b"\x7fELF\x02\x01\x01\0\0\0".to_vec(), "ELF executable"),
        (b"PK\x03\x04\x14\0\0\0".to_vec(), "ZIP archive"),
        (b"\x1f\x8b\x08\0\0\0\0\0".to_vec(), "gzip"),
        (b"SQLite format 3\0\x10\0".to_vec(), "SQLite"),
        (vec![0; 9_000], "nothing but zeros"),
        (b"text\0and more".to_vec(), "is not text: 13 bytes"),
        ((0..=255).collect(), "is not text: 256 bytes"),
    ] {
        let outcome = call(&one_file("a.bin", &content), "read", json!({"filePath": "a.bin"}));
        assert_eq!(code(&outcome), "IS_BINARY");
        let shown = shown(&outcome);
        assert!(shown.contains(hint) && shown.contains("look at it with"), "{shown}");
    }
}

#[test]
fn images_and_pdfs_are_attached() {
    for (head, media_type, kind) in [
        (&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0"[..], "image/png", "image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0", "image/jpeg", "image"),
        (b"GIF89a\x01\0\x01\0\x80\0\0", "image/gif", "image"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp", "image"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "application/pdf", "pdf"),
    ] {
        // Longer than the sample by which it is known.
        let content = [head, &[7; 100_000]].concat();
        let outcome = call(&one_file("art/a.bin", &content), "read", json!({"filePath": "art/a.bin"}));
        let output = outcome.result.as_ref().unwrap();
        let [attachment] = output.attachments.as_slice() else { panic!("{output:?}") };
        let AttachmentContent::Data(encoded) = &attachment.content else { panic!("{attachment:?}") };
        assert!(base64::engine::general_purpose::STANDARD.decode(encoded).unwrap() == content);
        assert_eq!((attachment.media_type.as_str(), attachment.filename.as_str()), (media_type, "a.bin"));
        assert_eq!((&data(&outcome)["kind"], &data(&outcome)["size"]), (&json!(kind), &json!(content.len())));
        assert!(output.text.contains("is attached as"), "{}", output.text);
    }
}

#[test]
fn an_attachment_that_is_too_large_is_refused() {
    let folder = folder();
    std::fs::write(folder.path().join("a.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    std::fs::OpenOptions::new()
        .write(true)
        .open(folder.path().join("a.png"))
        .unwrap()
        .set_len(21 << 20)
        .unwrap();
    let outcome = call(&disk(folder.path()), "read", json!({"filePath": "a.png"}));
    assert_eq!(code(&outcome), "TOO_LARGE");
    assert!(shown(&outcome).contains("make it smaller first"));
}

#[test]
fn a_folder_is_listed_by_pages() {
    check(json!({"filePath": "src"}), "src is a folder of 2 entries:\nlib.rs\nmain.rs\n");
    check(json!({"filePath": "docs"}), "docs is a folder of 0 entries:\n");
    check(
        json!({"filePath": ".", "limit": 2, "offset": 2}),
        ". is a folder of 4 entries:\ndocs/\nempty.txt\n(1 more; go on with offset=4)",
    );
    check(
        json!({"filePath": "src", "offset": 3}),
        "READ_ERROR: `src` has 2 entries; offset=3 is past its end",
    );
}

#[test]
fn the_names_of_a_folder_cannot_deceive_and_fit_the_budget() {
    let folder = folder();
    std::fs::write(folder.path().join("a\nb\u{1b}[2J"), "").unwrap();
    let shown_names = shown(&call(&disk(folder.path()), "read", json!({"filePath": "."})));
    assert_eq!(shown_names, ". is a folder of 1 entries:\na\\nb\\u{1b}[2J\n");
    for index in 0..600 {
        std::fs::write(folder.path().join(format!("{index:03}-{}", "x".repeat(200))), "").unwrap();
    }
    let (mut offset, mut names) = (1, 0);
    loop {
        let outcome = call(&disk(folder.path()), "read", json!({"filePath": ".", "offset": offset}));
        assert!(outcome.metadata.truncated.is_none(), "a page that the executor cuts cannot be gone on from");
        names += data(&outcome)["lines"].as_u64().unwrap();
        match data(&outcome).get("nextOffset") {
            Some(next) => offset = next.as_u64().unwrap(),
            None => break,
        }
    }
    assert_eq!(names, 601);
}

#[test]
fn a_spilled_output_is_read_by_its_handle_in_its_session() {
    let kept = folder();
    let spill = Arc::new(SpillFolder::new(kept.path(), SpillLimits::default()));
    let session =
        |id: &str| Context::builder(Arc::new(Memory::new())).spill(spill.clone()).session(id).build();
    let flooded = call(&session("one"), "flood", json!({}));
    let handle = flooded.metadata.truncated.clone().unwrap().handle.unwrap();
    assert!(shown(&flooded).contains(&format!("`read` with filePath={handle} shows it by pages")));
    let page = call(&session("one"), "read", json!({"filePath": handle, "offset": 4_999}));
    assert_eq!(shown(&page), "4999: 4999\n5000: 5000\n");
    assert_eq!(data(&page)["path"], handle.as_str());
    let elsewhere = call(&session("two"), "read", json!({"filePath": handle}));
    assert_eq!(code(&elsewhere), "FILE_NOT_FOUND");
    assert!(shown(&elsewhere).contains("do not cross sessions"));
    for odd in ["spill:", "spill:../one", "spill:/etc/passwd", "spill:\0"] {
        assert_eq!(
            code(&call(&session("one"), "read", json!({"filePath": odd}))),
            "FILE_NOT_FOUND",
            "{odd:?}"
        );
    }
}

#[test]
fn what_the_model_has_seen_is_not_shown_again_unless_forced() {
    let files = Arc::new(Memory::from_fixture(FIXTURE));
    let ctx = Context::builder(files.clone()).extra(Seen::new()).build();
    let read = |args: Value| shown(&call(&ctx, "read", args));
    let lines = json!({"filePath": "src/lib.rs", "limit": 2});
    let whole = read(lines.clone());
    assert!(whole.starts_with("1: one"));
    assert_eq!(read(lines.clone()), "unchanged since it was last shown: lines 1–2");
    // Another spelling is the same file; another range is not the same text.
    assert_eq!(
        read(json!({"filePath": "./src//lib.rs", "limit": 2})),
        "unchanged since it was last shown: lines 1–2"
    );
    assert!(read(json!({"filePath": "src/lib.rs", "limit": 3})).starts_with("1: one"));
    assert_eq!(read(json!({"filePath": "src/lib.rs", "limit": 2, "force": true})), whole);
    files.write(&WorkspacePath::new("src/lib.rs"), b"new\n").unwrap();
    assert_eq!(read(lines), "1: new\n");
    // Without a transcript nobody has seen anything.
    check(json!({"filePath": "README.md"}), "1: hello\n");
}

#[test]
fn a_read_in_the_middle_of_a_huge_file_is_cancelled() {
    let folder = folder();
    let path = folder.path().join("huge.txt");
    std::fs::write(&path, numbers(20_000)).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(64 << 30).unwrap();
    let cancel = CancellationToken::new();
    let ctx = Context::builder(Arc::new(Disk::open([folder.path()]).unwrap())).cancel(cancel.clone()).build();
    let (outcome, took) = run(async {
        let executor = executor();
        let call = Call::new("read", json!({"filePath": "huge.txt", "offset": 30_000}));
        let running = executor.run(&ctx, call);
        tokio::pin!(running);
        assert!(tokio::time::timeout(Duration::from_millis(300), &mut running).await.is_err());
        let start = Instant::now();
        cancel.cancel();
        (running.await, start.elapsed())
    });
    assert_eq!(code(&outcome), "CANCELLED");
    assert!(took < stretched(Duration::from_secs(1)), "{took:?}");
}

/// What happens to the file at a path.
type Disturb = fn(&Path);

/// A workspace in which something happens to each file after its first bytes were read.
struct Disturbed {
    inner: Disk,
    disturb: Disturb,
}

struct Disturbing {
    inner: Box<dyn toolpost_core::workspace::ReadSeek>,
    disturb: Option<(Disturb, PathBuf)>,
}

impl Read for Disturbing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if let Some((disturb, path)) = self.disturb.take() {
            disturb(&path);
        }
        Ok(count)
    }
}

impl Seek for Disturbing {
    fn seek(&mut self, position: SeekFrom) -> std::io::Result<u64> {
        self.inner.seek(position)
    }
}

impl Workspace for Disturbed {
    fn root(&self) -> &str {
        self.inner.root()
    }
    fn name(&self, path: &WorkspacePath) -> Result<String, ToolError> {
        self.inner.name(path)
    }
    fn stat(&self, path: &WorkspacePath) -> Result<Stat, ToolError> {
        self.inner.stat(path)
    }
    fn open(&self, path: &WorkspacePath) -> Result<File, ToolError> {
        let File { stat, reader } = self.inner.open(path)?;
        let disturb = Some((self.disturb, PathBuf::from(self.root()).join(path.as_str())));
        Ok(File { stat, reader: Box::new(Disturbing { inner: reader, disturb }) })
    }
    fn entries(&self, path: &WorkspacePath) -> Result<Entries, ToolError> {
        self.inner.entries(path)
    }
    fn write(&self, path: &WorkspacePath, content: &[u8]) -> Result<Written, ToolError> {
        self.inner.write(path, content)
    }
    fn remove(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.inner.remove(path)
    }
    fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), ToolError> {
        self.inner.rename(from, to)
    }
    fn create_folder(&self, path: &WorkspacePath) -> Result<(), ToolError> {
        self.inner.create_folder(path)
    }
    fn lock(&self, path: &WorkspacePath) -> Result<LockRequest, ToolError> {
        self.inner.lock(path)
    }
}

/// Reads a file of 100,000 lines to which something happens; gives what is shown of its end.
fn disturbed(disturb: Disturb, args: Value) -> String {
    let folder = folder();
    std::fs::write(folder.path().join("file.txt"), numbers(100_000)).unwrap();
    let inner = Disk::open([folder.path()]).unwrap();
    let outcome = call(&Context::builder(Arc::new(Disturbed { inner, disturb })).build(), "read", args);
    let text = shown(&outcome);
    text.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn a_file_that_changes_while_it_is_read_does_no_harm() {
    let end = || json!({"filePath": "file.txt", "offset": 99_999});
    let swap = |path: &Path| {
        std::fs::rename(path, path.with_extension("old")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", path).unwrap();
    };
    assert_eq!(disturbed(swap, end()), "100000: 100000");
    let truncate =
        |path: &Path| std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(10).unwrap();
    assert!(disturbed(truncate, end()).contains("is past its end"));
    let remove = |path: &Path| std::fs::remove_file(path).unwrap();
    assert_eq!(disturbed(remove, end()), "100000: 100000");
    // It grows without end, as far as one call can tell.
    let grow = |path: &Path| {
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(64 << 30).unwrap();
    };
    let start = Instant::now();
    let shown = disturbed(grow, json!({"filePath": "file.txt", "limit": 5}));
    assert_eq!(shown, "(lines 1–5; go on with offset=6)");
    assert!(start.elapsed() < stretched(Duration::from_secs(5)), "{:?}", start.elapsed());
}

#[test]
fn an_attachment_that_grows_while_it_is_read_is_refused() {
    let folder = folder();
    std::fs::write(folder.path().join("a.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let grow = |path: &Path| {
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(64 << 30).unwrap();
    };
    let inner = Disk::open([folder.path()]).unwrap();
    let ctx = Context::builder(Arc::new(Disturbed { inner, disturb: grow })).build();
    assert_eq!(code(&call(&ctx, "read", json!({"filePath": "a.png"}))), "TOO_LARGE");
}

/// `read` with this line of a shell in place of what reads PDFs.
fn read_pdf_with(line: &str, args: Value) -> Value {
    let folder = folder();
    let root = folder.path().display().to_string();
    std::fs::write(folder.path().join("a.pdf"), "%PDF-1.4 given\n").unwrap();
    std::fs::write(folder.path().join("secret"), "canary").unwrap();
    let line = format!("given=$(cat); {}", line.replace("ROOT", &root));
    let pdf = Helper { program: "/bin/sh".into(), args: vec!["-c".into(), line], ..Helper::default() };
    let settings = Settings {
        filesystem: filesystem::Settings { pdf: Some(pdf), ..Default::default() },
        ..Settings::default()
    };
    let registry = Arc::new(Registry::new());
    toolpost_tools::register_all(&registry, &settings).unwrap();
    let executor = Executor::new(registry, Policy::default());
    let context = Context::builder(Arc::new(Disk::open([folder.path()]).unwrap())).build();
    let call = executor.call(&context, "read", args);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(call).to_json()
}

#[test]
fn the_text_of_a_pdf_is_taken_from_a_confined_helper() {
    for (line, expected) in [
        (r"printf 'one\ntwo\ftwo'", "1: == page 1 of 2 ==\n2: one\n3: two\n4: == page 2 of 2 ==\n5: two\n("),
        (r#"printf '%s' "$given""#, "1: == page 1 of 1 ==\n2: %PDF-1.4 given\n("),
        // It sees no file of the user's, and changes none.
        ("cat ROOT/secret || echo none", "1: == page 1 of 1 ==\n2: none\n("),
        ("echo x > ROOT/a.pdf || echo none", "1: == page 1 of 1 ==\n2: none\n("),
        (
            "echo why >&2; exit 3",
            "a.pdf is attached as a PDF (15 bytes); its text cannot be had: it ended with code 3: why",
        ),
        (
            "kill -9 $$",
            "a.pdf is attached as a PDF (15 bytes); its text cannot be had: it was ended by signal 9",
        ),
        ("true", "a.pdf is attached as a PDF (15 bytes); no text on its 1 pages; they may be pictures"),
    ] {
        let envelope = read_pdf_with(line, json!({"filePath": "a.pdf"}));
        let text = envelope["output"].as_str().unwrap();
        assert!(text.starts_with(expected), "{line}: {envelope}");
        assert_eq!(envelope["attachments"].as_array().unwrap().len(), 1, "{line}: {envelope}");
    }
    // One that says too much is cut, one that grows is stopped.
    let started = Instant::now();
    let envelope = read_pdf_with("yes", json!({"filePath": "a.pdf", "limit": 2}));
    assert!(envelope["output"].as_str().unwrap().contains("goes on beyond what is taken"), "{envelope}");
    assert_eq!(envelope["data"]["nextOffset"], 3);
    let envelope =
        read_pdf_with("head -c 3000000000 /dev/zero | tail -c 2999999999", json!({"filePath": "a.pdf"}));
    assert!(envelope["output"].as_str().unwrap().contains("attached as a PDF"), "{envelope}");
    assert!(started.elapsed() < stretched(Duration::from_secs(19)), "{:?}", started.elapsed());
}

#[test]
fn a_notebook_is_its_cells_with_their_outputs() {
    let notebook = json!({
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "text"]},
            {"cell_type": "code", "execution_count": 2, "metadata": {}, "source": "print(1)\nplot()", "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "cGl4\nZWxz", "text/plain": ["<Figure>"]}},
                {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u{1b}[31mE\u{1b}[0m: v"]},
            ]},
            {"cell_type": "code", "execution_count": null, "source": [], "outputs": []},
        ],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    });
    let ctx = one_file("a.ipynb", notebook.to_string().as_bytes());
    let outcome = call(&ctx, "read", json!({"filePath": "a.ipynb"}));
    assert_eq!(
        shown(&outcome),
        "1: == cell 1: markdown ==\n2: # Title\n3: text\n4: == cell 2: code [2] ==\n5: print(1)\n6: plot()\n7: -- output of \
         cell 2: stream --\n8: 1\n9: -- output of cell 2: display_data --\n10: [picture 1 (image/png), attached]\n11: \
         <Figure>\n12: -- output of cell 2: error --\n13: E: v\n14: == cell 3: code ==\n(a notebook of 3 cells; the lines \
         are those of this view, not of the file)"
    );
    let output = outcome.result.unwrap();
    assert_eq!(output.data["kind"], "notebook");
    assert_eq!(output.attachments[0].content, AttachmentContent::Data("cGl4ZWxz".to_owned()));
    let page = call(&ctx, "read", json!({"filePath": "a.ipynb", "offset": 2, "limit": 1}));
    assert!(
        shown(&page).starts_with("2: # Title\n(lines 2–2 of 14; go on with offset=3)"),
        "{}",
        shown(&page)
    );
    assert!(page.result.unwrap().attachments.is_empty());
    // What is none is shown as it is, also where it is long.
    let ctx = one_file("b.ipynb", b"{\"cells\": 1}\n");
    assert_eq!(shown(&call(&ctx, "read", json!({"filePath": "b.ipynb"}))), "1: {\"cells\": 1}\n");
    let long = numbers(40_000);
    let ctx = one_file("c.ipynb", long.as_bytes());
    let last = call(&ctx, "read", json!({"filePath": "c.ipynb", "offset": 40_000}));
    assert_eq!(shown(&last), "40000: 40000\n");
}
