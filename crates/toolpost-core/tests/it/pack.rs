//! Packs: each rule of a manifest with its located message, what is refused and what that says, and bombs.

use crate::load::stretched;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use toolpost_core::pack::{Manifest, RiskProfile, assert_allowed, resolve_packs};
use toolpost_core::policy::Profile;
use toolpost_core::text::LARGEST;
use toolpost_core::tool::AnyTool;
use toolpost_core::{Capability, Code, Output, Pack, Policy, Registry, Spec, dynamic};

const GOOD: &str = "{\n \"schemaVersion\": 1,\n \"name\": \"shell\",\n \"description\": \"Runs commands.\",\n \
                    \"tools\": [\"bash\", \"look\"],\n \"riskProfile\": \"privileged\"\n}\n";

fn manifest(text: &str) -> Manifest {
    Manifest::parse("pack.json", text.as_bytes()).unwrap_or_else(|errors| panic!("{errors}")).manifest
}

/// A good manifest in which one piece of text is replaced by another, and what is said of it.
fn check(piece: &str, other: &str, expected: &str) {
    assert!(GOOD.contains(piece), "{piece}");
    let text = GOOD.replacen(piece, other, 1);
    match Manifest::parse("pack.json", text.as_bytes()) {
        Ok(file) => panic!("{text} was read: {:?}", file.manifest),
        Err(errors) => assert_eq!(errors.to_string(), expected, "{text}"),
    }
}

#[test]
fn a_good_manifest_is_read_trimmed_and_without_duplicates() {
    let text = "\u{feff}{\"schemaVersion\": 1.0, \"name\": \" shell \", \"description\": \"\\tRuns.\\n\",\
                \"tools\": [\"bash\", \" bash\", \"look\"], \"riskProfile\": \"dynamic\", \"tags\": [\"a\", \"b\", \"a \"]}";
    let manifest = manifest(text);
    assert_eq!((manifest.name(), manifest.description()), ("shell", "Runs."));
    assert_eq!(
        (manifest.tools(), manifest.tags()),
        (&["bash", "look"].map(str::to_owned)[..], &["a", "b"].map(str::to_owned)[..])
    );
    assert_eq!(manifest.risk_profile(), RiskProfile::Dynamic);
    assert!(manifest.requirements().is_empty());
    let printed = serde_json::to_string(&manifest).unwrap();
    assert_eq!(self::manifest(&printed), manifest);
}

#[test]
fn every_mistake_is_located_and_says_what_to_do() {
    check(
        " \"schemaVersion\": 1,\n",
        "",
        "pack.json:1:1: the manifest has no `schemaVersion`; add one, such as `\"schemaVersion\": 1`",
    );
    check(
        " \"name\": \"shell\",\n",
        "",
        "pack.json:1:1: the manifest has no `name`; add one, such as `\"name\": \"my-pack\"`",
    );
    check(
        " \"description\": \"Runs commands.\",\n",
        "",
        "pack.json:1:1: the manifest has no `description`; add one, such as `\"description\": \"What it is for.\"`",
    );
    check(
        " \"tools\": [\"bash\", \"look\"],\n",
        "",
        "pack.json:1:1: the manifest has no `tools`; add one, such as `\"tools\": [\"read\"]`",
    );
    check(
        ",\n \"riskProfile\": \"privileged\"",
        "",
        "pack.json:1:1: the manifest has no `riskProfile`; add one, such as `\"riskProfile\": \"read-only\"`",
    );
    check(": 1,", ": 2,", "pack.json:2:19: `schemaVersion` 2 is not known here; write 1, or update toolpost");
    check(": 1,", ": \"1\",", "pack.json:2:19: `schemaVersion` is a text; write the number 1");
    check("\"shell\"", "\"  \"", "pack.json:3:10: `name` is empty; write something, or take it out");
    check("\"shell\"", "null", "pack.json:3:10: `name` is null; write a text");
    check(
        "\"shell\"",
        "\"my shell\"",
        "pack.json:3:10: `my shell` is not a valid name; write 1 to 64 letters, digits, `_` and `-`",
    );
    check("\"Runs commands.\"", "true", "pack.json:4:17: `description` is true or false; write a text");
    check(
        "\"Runs commands.\"",
        "\"a\\u001bb\"",
        "pack.json:4:17: `description` has the control character `\\u{1b}`; take it out",
    );
    check(
        "[\"bash\", \"look\"]",
        "[]",
        "pack.json:5:11: `tools` is empty; name at least one tool, or delete the pack",
    );
    check("[\"bash\", \"look\"]", "\"bash\"", "pack.json:5:11: `tools` is a text; write a list of texts");
    check("\"look\"]", "7]", "pack.json:5:20: an entry of `tools` is a number; write a text");
    check(
        "\"look\"]",
        "\" \"]",
        "pack.json:5:20: an entry of `tools` is empty; write something, or take it out",
    );
    check(
        "\"look\"]",
        "\"a b\"]",
        "pack.json:5:20: `a b` is not a valid tool name; write 1 to 128 letters, digits, `_`, `-`, `.` and `/`",
    );
    check(
        "\"privileged\"",
        "\"root\"",
        "pack.json:6:17: no risk profile `root`; there are read-only, standard, privileged and dynamic",
    );
    check(
        "\"privileged\"",
        "\"standard\", \"tags\": {}",
        "pack.json:6:37: `tags` is an object; write a list of texts",
    );
    check(
        "\"privileged\"",
        "\"standard\",\n \"name\": \"other\"",
        "pack.json:7:2: the key `name` stands here twice; keep one of them",
    );
    check("\"privileged\"\n", "\"privileged\",\n", "pack.json:6:29: there is a `,` before `}`; take it out");
    check("{\n", "{ // shell\n", "pack.json:1:3: JSON has no comments; take this one out");
    check(
        ": 1,",
        ": NaN,",
        "pack.json:2:19: a value is missing here; write a text in double quotes, a list or an object",
    );
    check("}\n", "} x", "pack.json:7:3: there is more after the end; take it out");
    let errors = Manifest::parse("pack.json", b"[]").unwrap_err();
    assert_eq!(errors.to_string(), "pack.json:1:1: a manifest is an object, not a list; begin it with `{`");
    let errors = Manifest::parse("pack.json", b"{}").unwrap_err();
    assert_eq!(errors.all().len(), 5);
}

#[test]
fn guarantee_45_unknown_keys_are_errors_with_the_nearest() {
    let text = GOOD.replace("\n}", ",\n \"tag\": [], \"colours\": 1}");
    let errors = Manifest::parse("pack.json", text.as_bytes()).unwrap_err();
    let found: Vec<String> = errors.all().iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "pack.json:7:2: `tag` means nothing in a manifest; did you mean `tags`",
            "pack.json:7:13: `colours` means nothing in a manifest; known are schemaVersion, name, description, tools, \
             riskProfile, tags",
        ]
    );
}

#[test]
fn wrong_encodings_are_located() {
    for (bytes, expected) in [
        (&b"\xff\xfe{\0"[..], "pack.json:1:1: the file is UTF-16; save it as UTF-8"),
        (&b"{\n\"caf\xe9\""[..], "pack.json:2:5: the byte 0xe9 is not valid UTF-8; save the file as UTF-8"),
        (
            &b""[..],
            "pack.json:1:1: a value is missing here; write a text in double quotes, a list or an object",
        ),
    ] {
        assert_eq!(Manifest::parse("pack.json", bytes).unwrap_err().to_string(), expected);
    }
}

#[test]
fn guarantee_23_bombs_are_bounded() {
    let many = |unit: &str| unit.repeat(LARGEST / unit.len() - 20);
    let bombs = [
        ("too large", "a".repeat(100 << 20)),
        ("lists", "[".repeat(LARGEST)),
        ("objects", many("{\"a\":")),
        ("tools", GOOD.replace("\"look\"", many("\"look\",").trim_end_matches(','))),
        (
            "different tools",
            GOOD.replace(
                "\"look\"",
                &(0..80_000).map(|at| format!("\"t{at}\"")).collect::<Vec<_>>().join(","),
            ),
        ),
        (
            "keys",
            format!("{{{}}}", (0..60_000).map(|at| format!("\"k{at}\":1")).collect::<Vec<_>>().join(",")),
        ),
        ("same keys", format!("{{{}", many("\"k\":1,"))),
        ("wrong entries", GOOD.replace("[\"bash\", \"look\"]", &format!("[{}]", vec!["1"; 1_000].join(",")))),
        ("a long name", GOOD.replace("shell", &"x".repeat(900_000))),
        ("a long description", GOOD.replace("Runs", &"x".repeat(900_000))),
        ("an open text", format!("{{\"{}", "\\\"".repeat(500_000))),
        ("blanks", " ".repeat(LARGEST)),
    ];
    let mut slowest = std::time::Duration::ZERO;
    for (name, bomb) in &bombs {
        let started = Instant::now();
        let errors = Manifest::parse("pack.json", bomb.as_bytes());
        let took = started.elapsed();
        slowest = slowest.max(took);
        assert!(took < stretched(std::time::Duration::from_secs(2)), "{name} took {took:?}");
        match errors {
            Err(errors) => {
                assert!(errors.to_string().starts_with("pack.json:"), "{name}");
                assert!(errors.to_string().len() < 10_000, "{name}");
            }
            Ok(file) => panic!("{name}: {:?}", file.manifest.name()),
        }
    }
    println!("measure: guarantee 23: {} manifest bombs, slowest {slowest:.0?}", bombs.len());
}

fn tool(name: &str, capability: Capability) -> impl AnyTool + use<> {
    let spec = Spec::new(name, "1.0.0", "Does something.").requires(capability);
    dynamic(spec, json!({"type": "object"}), |_, args| async { Ok(Output::new("echo", "", args)) })
}

fn shell() -> Pack {
    Pack::new(manifest(GOOD)).with(tool("bash", Capability::Exec)).with(tool("look", Capability::Read))
}

#[test]
fn a_pack_that_needs_more_is_refused_with_the_flag_and_what_would_remain() {
    let standard = Policy::profile(Profile::Standard);
    let error = shell().assert_allowed(&standard).unwrap_err();
    assert_eq!(error.code(), Code::PermissionDenied);
    assert_eq!(
        error.message(),
        "the pack `shell` is privileged and needs exec, network, which is not granted; the policy must \
         allow exec, network; without it of its tools `look` would remain"
    );
    assert_eq!(error.details()["missing"], json!(["exec", "network"]));
    assert_eq!(error.details()["remaining"], json!(["look"]));
    // The manifest alone knows no tool; an allow rule does.
    let error = assert_allowed(&manifest(GOOD), &standard).unwrap_err();
    assert!(error.message().ends_with("without it none of its tools would remain"), "{error}");
    let half = standard.allow(Capability::Exec);
    let error = shell().assert_allowed(&half).unwrap_err();
    assert_eq!(error.details()["missing"], json!(["network"]));
    assert!(error.message().contains("each of its tools is offered by itself: `bash`, `look`"), "{error}");
    // What is asked for counts as allowed.
    let asking = standard.ask(Capability::Exec).ask(Capability::Network);
    shell().assert_allowed(&asking).unwrap();
    assert_allowed(&manifest(GOOD), &asking).unwrap();
    assert_allowed(&manifest(&GOOD.replace("privileged", "dynamic")), &Policy::profile(Profile::ReadOnly))
        .unwrap();
}

#[test]
fn a_refused_pack_builds_no_tool() {
    static BUILT: AtomicUsize = AtomicUsize::new(0);
    let one = GOOD.replace(", \"look\"", "");
    let spec = Spec::new("bash", "1.0.0", "Runs.").requires(Capability::Exec);
    let pack = Pack::new(manifest(&one)).with_made(spec, || {
        BUILT.fetch_add(1, Ordering::SeqCst);
        Ok(Arc::new(tool("bash", Capability::Exec)))
    });
    assert!(pack.assert_allowed(&Policy::default()).is_err());
    let pack = [pack];
    let resolved = resolve_packs(&pack, &["shell"]).unwrap();
    assert_eq!(BUILT.load(Ordering::SeqCst), 0);
    resolved[0].build().unwrap();
    assert_eq!(BUILT.load(Ordering::SeqCst), 1);
}

#[test]
fn what_is_added_is_what_was_announced() {
    let added = |pack: Pack| {
        Registry::new().change(|draft| pack.register(draft)).map_err(|error| error.message().to_owned())
    };
    added(shell()).unwrap();
    assert_eq!(
        added(Pack::new(manifest(GOOD)).with(tool("bash", Capability::Exec))).unwrap_err(),
        "the pack `shell` names the tool `look` and does not have it; correct its manifest"
    );
    assert_eq!(
        added(shell().with(tool("extra", Capability::Read))).unwrap_err(),
        "the pack `shell` has the tool `extra` and does not name it; add it to its manifest"
    );
    for profile in ["standard", "dynamic"] {
        let text = GOOD.replace("privileged", profile);
        let pack = Pack::new(manifest(&text))
            .with(tool("bash", Capability::Exec))
            .with(tool("look", Capability::Read));
        let error = added(pack).unwrap_err();
        assert_eq!(
            error,
            format!(
                "the pack `shell` is {profile}, but its tool `bash` requires exec; raise its risk profile"
            )
        );
    }
    let one = GOOD.replace(", \"look\"", "");
    let spec = Spec::new("bash", "1.0.0", "Runs.").requires(Capability::Read);
    let pack = Pack::new(manifest(&one)).with_made(spec, || Ok(Arc::new(tool("bash", Capability::Exec))));
    assert_eq!(
        added(pack).unwrap_err(),
        "the tool `bash` was announced with read; made, it is `bash` with exec"
    );
}

#[test]
fn packs_are_flattened_and_the_last_tool_of_a_name_wins() {
    let other = GOOD.replace("\"shell\"", "\"other\"").replace("\"bash\"", "\"find\"");
    let other = Pack::new(manifest(&other))
        .with(tool("find", Capability::Read))
        .with(tool("look", Capability::Network));
    let packs = [shell(), other];
    let found = |names: &[&str]| -> Vec<String> {
        let tools = resolve_packs(&packs, names).unwrap();
        tools.iter().map(|tool| format!("{} {}", tool.name(), tool.spec().required)).collect()
    };
    assert_eq!(found(&["shell", "other"]), ["bash exec", "look network", "find read"]);
    assert_eq!(found(&["other", "shell"]), ["find read", "look read", "bash exec"]);
    assert_eq!(found(&["shell", "shell"]), ["bash exec", "look read"]);
    assert_eq!(found(&[]), [""; 0]);
    let error = resolve_packs(&packs, &["shell", "othr"]).unwrap_err();
    assert_eq!(error.message(), "no pack `othr`; nearest: `other`");
    let error = resolve_packs(&packs, &["zzz"]).unwrap_err();
    assert_eq!(error.message(), "no pack `zzz`; there are shell, other");
}
