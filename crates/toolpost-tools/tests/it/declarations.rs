//! Every built-in tool, as every provider takes it, under every dialect.

use std::sync::Arc;
use toolpost_core::tool::Definition;
use toolpost_core::{Dialect, Registry};
use toolpost_declaration::{Finding, Format, Source, conforms, declare, export, lint};

/// The tools as a dialect offers them.
fn offered(dialect: &Dialect) -> Vec<Definition> {
    let registry = Arc::new(Registry::new());
    toolpost_tools::register_all(&registry, &toolpost_tools::Settings::default()).unwrap();
    let snapshot = registry.snapshot();
    snapshot.all().filter_map(|entry| snapshot.offer(entry, dialect).unwrap()).collect()
}

#[test]
fn every_declaration_conforms() {
    let mut checked = 0;
    for dialect in toolpost_tools::dialects().all() {
        for definition in offered(dialect) {
            for format in Format::ALL {
                let what = format!("{} as {format} in {}", definition.name, dialect.name());
                let declaration = declare(&Source::of(&definition), format)
                    .unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
                conforms(format, &declaration.value).unwrap_or_else(|broken| panic!("{what}: {broken:?}"));
                assert!(!declaration.value.to_string().contains("x-toolpost"), "{what}");
                checked += 1;
            }
        }
        for format in Format::ALL {
            let definitions = offered(dialect);
            let (_, refused) = export(definitions.iter().map(Source::of), format);
            assert!(refused.is_empty(), "{refused:?}");
        }
    }
    assert!(checked >= 3 * 5 * 8 / 2, "{checked}");
}

#[test]
fn nothing_about_our_own_tools_needs_mending() {
    for definition in offered(&Dialect::canonical()) {
        let findings: Vec<String> = lint(&Source::of(&definition))
            .iter()
            .filter(|one| Finding::needs_mending(one))
            .map(ToString::to_string)
            .collect();
        assert!(findings.is_empty(), "{}: {findings:?}", definition.name);
    }
}
