//! What a command gets of the disk: the policy, in values that a sandbox is made from.

use crate::fixed::Fixed as Executor;
use crate::stage::{path_schema, said, spec};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolpost_core::host::{Ground, Reach};
use toolpost_core::policy::{Effect, FilePattern, Layer, Origin, Policy, Profile, Rule};
use toolpost_core::workspace::Mark;
use toolpost_core::{Capability, Context, Registry, dynamic};
use toolpost_disk::Disk;

/// The ground of a call, or why a command may not write `path`.
async fn ask(root: &Path, policy: Policy, path: &str) -> (Ground, String) {
    let kept = Arc::new(std::sync::Mutex::new(None));
    let registry = Registry::new();
    let (keep, wanted) = (Arc::clone(&kept), root.join(path));
    let tool = spec("look").requires(Capability::Exec).may_use(Capability::Write);
    registry
        .register(dynamic(tool, path_schema(), move |ctx, _| {
            let (keep, wanted) = (Arc::clone(&keep), wanted.clone());
            async move {
                *keep.lock().unwrap() = Some(ctx.ground(Reach::Confined).await?);
                let (name, closed) = ctx.closed_to_commands(&wanted);
                said(format!("{name}: {}; {}", closed.why, closed.remedy))
            }
        }))
        .unwrap();
    let ctx = Context::builder(Arc::new(Disk::open([root]).unwrap())).build();
    let outcome = Executor::new(Arc::new(registry), policy).call(&ctx, "look", json!({"path": "x"})).await;
    let text = outcome.result.unwrap().text;
    let ground = kept.lock().unwrap().take().unwrap();
    (ground, text)
}

fn standard(rules: &[(Effect, &str)]) -> Policy {
    let policy = Policy::profile(Profile::Standard).allow(Capability::Exec);
    let rules = rules.iter().enumerate().map(|(index, (effect, text))| {
        Rule::parse_short(*effect, text, Origin::new(Layer::User, "user.toml", index + 1)).unwrap()
    });
    policy.with_rules(Layer::User, rules.collect())
}

#[tokio::test]
async fn rules_marks_and_reserved_names_reach_the_ground() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for (name, text) in [
        (".env", "KEY=1"),
        (".git/HEAD", ""),
        (".git/config", "[core]\n\tpager = ./pager.sh\n\teditor = ./missing.sh\n"),
        ("pager.sh", ""),
        ("sub/.git", "gitdir: ../.git/modules/sub"),
        ("migrations/1.sql", ""),
    ] {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), text).unwrap();
    }
    let rules = [(Effect::Deny, "write: /migrations/**"), (Effect::Allow, "write: .envrc")];
    let (ground, why) = ask(&root, standard(&rules), "migrations/2.sql").await;
    assert!(ground.is_writable && !ground.has_network);
    let marked: Vec<(PathBuf, Mark)> =
        ground.marked.into_iter().map(|marked| (marked.path, marked.mark)).collect();
    let expected = [
        (".env", Mark::Hidden),
        (".git/config", Mark::Locked),
        ("migrations/1.sql", Mark::Locked),
        ("pager.sh", Mark::Locked),
        ("sub/.git", Mark::Locked),
    ];
    assert_eq!(marked, expected.map(|(name, mark)| (root.join(name), mark)));
    // The protected list goes whole: a rule that opens one of its names comes before it.
    for name in [".envrc", ".git/hooks", ".git/modules/**/config"] {
        assert!(ground.reserved.iter().any(|pattern| pattern == name), "{name}");
    }
    assert!(!ground.reserved.iter().any(|pattern| pattern == ".git"));
    assert_eq!(ground.rules.len(), 1);
    let layers = &ground.rules[0].layers;
    assert_eq!(layers.len(), 2);
    assert_eq!(layers[0][0].pattern, FilePattern::Inside("migrations".into()));
    assert_eq!(
        (layers[1][0].effect, &layers[1][0].pattern),
        (Effect::Ask, &FilePattern::Exact("missing.sh".into()))
    );
    assert_eq!(
        why,
        "migrations/2.sql: the user rule `write: /migrations/**` (user.toml:1) denies it; nothing overrides a deny: change \
         or remove the user rule at user.toml:1"
    );
    for (path, beginning, advice) in [
        (
            ".bashrc",
            ".bashrc: it is protected (`.bashrc`): a shell runs it when it starts; ",
            "add the allow rule `write: /.bashrc`",
        ),
        (
            "missing.sh",
            "missing.sh: a protected link, a git hook or git's configuration names it, or ",
            "add the allow rule `write: /missing.sh`; what a protected link",
        ),
    ] {
        let (_, why) = ask(&root, standard(&[]), path).await;
        assert!(why.starts_with(beginning) && why.contains(advice), "{why}");
    }
    // Whoever may not write has no use for rules, and gets the same marks.
    let policy = Policy::profile(Profile::ReadOnly).allow(Capability::Exec);
    assert!(!ask(&root, policy, "x").await.0.is_writable);
    // A rule of the user's opens what git names.
    let (ground, _) = ask(&root, standard(&[(Effect::Allow, "write: pager.sh")]), "x").await;
    assert!(!ground.marked.iter().any(|marked| marked.path == root.join("pager.sh")));
}
