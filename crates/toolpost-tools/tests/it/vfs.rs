//! The tools on virtual files, and the file tools on a workspace of them.

use crate::fixed::Fixed as Executor;
use crate::run;
use serde_json::{Value, json};
use std::sync::Arc;
use toolpost_core::host::Services;
use toolpost_core::policy::{Effect, Layer, Origin, Profile, Rule};
use toolpost_core::store::Store;
use toolpost_core::{Call, Code, Context, Memory, Outcome, Policy, Registry, Workspace};
use toolpost_store::{StoreUrl, StoredWorkspace};
use toolpost_tools::Settings;

/// A session with a store of its own.
pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) executor: Executor,
    pub(crate) context: Context,
}

impl World {
    pub(crate) fn new() -> World {
        World::under(Policy::profile(Profile::Standard), &Settings::default())
    }

    fn under(policy: Policy, settings: &Settings) -> World {
        World::over(policy, settings, |_| Arc::new(Memory::new()))
    }

    fn over(
        policy: Policy,
        settings: &Settings,
        workspace: impl FnOnce(&Arc<dyn Store>) -> Arc<dyn Workspace>,
    ) -> World {
        let store = toolpost_store::open(&StoreUrl::Memory).unwrap();
        let services = Services { store: Some(Arc::clone(&store)), ..Services::default() };
        let registry = Arc::new(Registry::new());
        toolpost_tools::register_default(&registry, &services, settings).unwrap();
        let context = Context::builder(workspace(&store)).session("s").services(services).build();
        World { store, executor: Executor::new(registry, policy), context }
    }

    /// With rules of the user's, such as `deny write: *.md`.
    fn ruled(rules: &[&str]) -> World {
        let rule = |text: &&str| {
            let (effect, rule) = text.split_once(' ').unwrap();
            let effect = match effect {
                "allow" => Effect::Allow,
                "ask" => Effect::Ask,
                _ => Effect::Deny,
            };
            Rule::parse_short(effect, rule, Origin::new(Layer::User, "rules", 1)).unwrap()
        };
        let policy =
            Policy::profile(Profile::Standard).with_rules(Layer::User, rules.iter().map(rule).collect());
        World::under(policy, &Settings::default())
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Outcome {
        run(self.executor.call(&self.context, tool, arguments))
    }

    #[track_caller]
    pub(crate) fn text(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).result.expect("it works").text
    }

    #[track_caller]
    pub(crate) fn refused(&self, tool: &str, arguments: Value) -> (Code, String) {
        let error = self.call(tool, arguments).result.expect_err("it is refused");
        (error.code(), error.message().to_owned())
    }
}

#[test]
fn rules_that_name_the_tool_hold_and_those_about_files_do_not() {
    let write = |world: &World, path: &str| {
        let outcome = world.call("vfs_write", json!({"path": path, "content": "x"}));
        outcome.result.err().map(|error| (error.code(), error.message().to_owned()))
    };
    // The user's rules about files of the workspace are not about these.
    let world =
        World::ruled(&["deny write: *.md", "deny write: /notes/**", "deny read: secret", "ask *: keys"]);
    for path in ["notes/a.md", "keys/a"] {
        assert_eq!(write(&world, path), None, "{path}");
    }
    // A protected name asks, however it is spelled: it may become a file that something runs.
    for path in [".git/hooks/pre-commit", "/.git/hooks/pre-commit", "./.bashrc", "deep/.mcp.json"] {
        let (code, message) = write(&world, path).unwrap_or_else(|| panic!("{path} is written"));
        assert_eq!(code, Code::ProtectedFile, "{path}: {message}");
        let (code, message) = world.refused("vfs_delete", json!({"path": path}));
        assert_eq!(code, Code::ProtectedFile, "{path}: {message}");
    }
    for path in [".env", "/id_rsa"] {
        assert_eq!(write(&world, path), None, "{path}");
        let (code, message) = world.refused("vfs_read", json!({"path": path}));
        assert_eq!(code, Code::ProtectedFile, "{path}: {message}");
    }
    let allowed = World::ruled(&["allow vfs_write: .git/hooks/pre-commit"]);
    assert_eq!(write(&allowed, ".git/hooks/pre-commit"), None);
    world.text("vfs_write", json!({"path": "secret", "content": "x"}));
    assert!(world.text("vfs_read", json!({"path": "secret"})).starts_with("1: x"));
    // Those that name the tool are, however the path is spelled.
    let world = World::ruled(&["deny vfs_write: notes/*", "deny vfs_*: /secret", "ask vfs_read: *.list"]);
    for path in ["notes/a.md", "./notes/a.md", "/notes/a.md", "secret", "/secret", "secret/below"] {
        let (code, message) = write(&world, path).unwrap_or_else(|| panic!("{path} is written"));
        assert_eq!(code, Code::PermissionDenied, "{path}");
        assert!(message.contains("would write the virtual file `"), "{message}");
    }
    assert_eq!(write(&world, "notes/deep/a.md"), None);
    assert_eq!(write(&world, "a.list"), None);
    let (code, message) = world.refused("vfs_read", json!({"path": "a.list"}));
    assert_eq!(code, Code::PermissionDenied);
    assert!(message.contains("vfs_read: /a.list"), "it says which rule would allow it: {message}");
    let (code, _) = world.refused("vfs_list", json!({"prefix": "secret"}));
    assert_eq!(code, Code::PermissionDenied);
    // A rule about everything is about them too.
    for rule in ["deny write: *", "deny *: *"] {
        assert_eq!(write(&World::ruled(&[rule]), "a").unwrap().0, Code::PermissionDenied, "{rule}");
    }
    let world = World::under(Policy::profile(Profile::ReadOnly), &Settings::default());
    assert_eq!(write(&world, "a").unwrap().0, Code::PermissionDenied);
}

fn listed(world: &World) -> (Vec<String>, Vec<String>) {
    let listing = world.executor.listing(&world.context);
    let names = |entries: &[Arc<toolpost_core::registry::Entry>]| -> Vec<String> {
        entries.iter().map(|entry| entry.name().to_owned()).collect()
    };
    (names(&listing.listed), names(&listing.held_back))
}

#[test]
fn the_pack_is_held_back_found_and_called() {
    let world = World::new();
    let (listed, held_back) = listed(&world);
    assert!(listed.contains(&"read".to_owned()) && listed.contains(&"tool_search".to_owned()), "{listed:?}");
    let of_projects = ["detect_project_type", "extract_conventions", "get_project_overview"];
    assert_eq!(held_back[..3], of_projects);
    assert_eq!(held_back[3..], ["vfs_read", "vfs_write", "vfs_list", "vfs_delete"]);
    let found = world.text("tool_search", json!({"query": "virtual file shared with other agents"}));
    assert!(found.starts_with(r#"{"name":"vfs_write""#), "{found}");
    world.text("batch", json!({"calls": [{"tool": "vfs_write", "args": {"path": "a", "content": "x"}}]}));
    assert_eq!(world.store.files("s", "").unwrap().len(), 1);
}

#[test]
fn packs_that_are_chosen_are_listed() {
    let standard = || Policy::profile(Profile::Standard);
    let choose = |names: &[&str]| {
        let listed = Some(names.iter().map(|name| (*name).to_owned()).collect());
        self::listed(&World::under(standard(), &Settings { listed, ..Settings::default() }))
    };
    let (listed, held_back) = choose(&["vfs", "search"]);
    assert_eq!(listed, ["glob", "grep", "vfs_read", "vfs_write", "vfs_list", "vfs_delete"]);
    assert!(
        held_back.contains(&"read".to_owned()) && held_back.contains(&"tool_search".to_owned()),
        "{held_back:?}"
    );
    let (listed, _) = choose(&["meta"]);
    assert_eq!(listed, ["batch", "tool_search"]);
    assert!(toolpost_tools::check_pack("vfs").is_ok());
    let refused = toolpost_tools::check_pack("vsf").unwrap_err();
    assert_eq!(refused.message(), "no pack `vsf`; nearest: `vfs`");
}

#[test]
fn without_a_store_the_tools_say_so() {
    let registry = Arc::new(Registry::new());
    toolpost_tools::register_default(&registry, &Services::default(), &Settings::default()).unwrap();
    let executor = Executor::new(registry, Policy::profile(Profile::Standard));
    let outcome = run(executor.call(&Context::in_memory(), "vfs_list", json!({})));
    assert_eq!(outcome.result.unwrap_err().code(), Code::StoreNotAvailable);
}

#[test]
fn file_tools_act_on_virtual_files() {
    let policy = Policy::profile(Profile::Privileged);
    let world = World::over(policy, &Settings::default(), |store| {
        Arc::new(StoredWorkspace::new(Arc::clone(store), "shared"))
    });
    let content = |name: &str| {
        let file = world.store.file("shared", name, None).unwrap();
        file.map(|file| String::from_utf8(file.content).unwrap())
    };
    world.text("write", json!({"filePath": "src/main.rs", "content": "fn main() {\r\n    one();\r\n}\r\n"}));
    world.text("write", json!({"filePath": "src/deep/lib.rs", "content": "pub fn one() {}\n"}));
    world.text(
        "edit",
        json!({"filePath": "src/main.rs", "oldString": "    one();", "newString": "    two();"}),
    );
    assert_eq!(content("src/main.rs").as_deref(), Some("fn main() {\r\n    two();\r\n}\r\n"));
    assert!(world.text("read", json!({"filePath": "/vfs/src/main.rs"})).contains("2:     two();"));
    let patch = "*** Begin Patch\n*** Update File: src/deep/lib.rs\n*** Move to: src/lib.rs\n@@\n-pub fn one() {}\n+pub fn two() {}\n*** Add File: docs/a.md\n+# A\n*** Delete File: src/main.rs\n*** End Patch";
    world.text("apply_patch", json!({"patch": patch}));
    assert_eq!(content("src/lib.rs").as_deref(), Some("pub fn two() {}\n"));
    assert_eq!(content("docs/a.md").as_deref(), Some("# A\n"));
    assert_eq!((content("src/main.rs"), content("src/deep/lib.rs")), (None, None));
    let tree = world.text("list", json!({}));
    assert!(tree.contains("docs/") && tree.contains("a.md") && tree.contains("lib.rs"), "{tree}");
    assert_eq!(world.text("glob", json!({"pattern": "**/*.rs"})).lines().next(), Some("src/lib.rs"));
    let found = world.text("grep", json!({"pattern": "two"}));
    assert!(found.contains("src/lib.rs"), "{found}");
    // One hunk that does not fit, and no file is changed.
    let before = world.store.last_position().unwrap();
    let patch =
        "*** Begin Patch\n*** Add File: b.md\n+b\n*** Update File: docs/a.md\n@@\n-# B\n+# C\n*** End Patch";
    assert_eq!(world.refused("apply_patch", json!({"patch": patch})).0, Code::NoMatch);
    assert_eq!(world.store.last_position().unwrap(), before);
    let call = Call::new("write", json!({"filePath": "docs/a.md", "content": "new\n"})).dry_run();
    assert!(run(world.executor.run(&world.context, call)).result.is_ok());
    assert_eq!(world.store.last_position().unwrap(), before);
    world.text("delete", json!({"filePath": "docs/a.md"}));
    assert_eq!(content("docs/a.md"), None);
    let (_, message) = world.refused("read", json!({"filePath": "src/libs.rs"}));
    assert!(message.contains("nearest: `src/lib.rs`"), "{message}");
    let (_, message) = world.refused("read", json!({"filePath": "/etc/passwd"}));
    assert!(message.contains("leads out of the workspace `/vfs`"), "{message}");
    let (_, message) = world.refused("bash", json!({"command": "ls"}));
    assert!(message.contains("commands need a workspace on disk"), "{message}");
    // The protected list holds in it, as in every workspace.
    let (code, _) = world.refused("write", json!({"filePath": ".git/hooks/pre-commit", "content": "x"}));
    assert_eq!(code, Code::ProtectedFile);
}
