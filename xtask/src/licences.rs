//! `licences`: whether every dependency in the lock file may be used under a licence that we accept.

mod expression;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};

use crate::metadata::{Metadata, Package, Scope};
use expression::Expression;

/// The licences that every dependency may have. `BSL-1.0` is left out until something needs it.
const ACCEPTED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// One more licence, for one package only, and why.
struct Exception {
    package: &'static str,
    licence: &'static str,
    reason: &'static str,
}

const EXCEPTIONS: [Exception; 1] = [Exception {
    package: "borrow-or-share",
    licence: "MIT-0",
    reason: "MIT without its one condition; see docs/decisions/licences.md",
}];

/// Prints how many packages have which licence; an error that names each package we may not use.
pub(crate) fn run(root: &Path) -> Result<()> {
    let metadata = Metadata::load(root, Scope::Everything)?;
    let audit = Audit::of(&metadata.packages);
    let mut counts: Vec<_> = audit.counts.into_iter().collect();
    counts.sort_by(|(one, many), (other, more)| more.cmp(many).then(one.cmp(other)));
    for (licence, count) in counts {
        println!("{count:>5}  {licence}");
    }
    for note in audit.notes {
        println!("note: {note}");
    }
    if !audit.findings.is_empty() {
        bail!("{}", audit.findings.join("\nerror: "));
    }
    Ok(())
}

#[derive(Default)]
struct Audit {
    counts: BTreeMap<String, usize>,
    notes: Vec<String>,
    findings: Vec<String>,
}

impl Audit {
    fn of(packages: &[Package]) -> Audit {
        let mut audit = Audit::default();
        for package in packages {
            audit.add(&package.name, &package.version, package.license.as_deref());
        }
        audit
    }

    fn add(&mut self, name: &str, version: &str, licence: Option<&str>) {
        let Some(licence) = licence else {
            self.findings
                .push(format!("{name} {version} states no licence; read its licence file, or drop it"));
            return;
        };
        let expression = match Expression::parse(licence) {
            Ok(expression) => expression,
            Err(error) => {
                self.findings
                    .push(format!("{name} {version} has the unreadable licence `{licence}`: {error}"));
                return;
            }
        };
        *self.counts.entry(expression.to_string()).or_default() += 1;
        if expression.is_met(&|licence| ACCEPTED.contains(&licence)) {
            return;
        }
        let exception = EXCEPTIONS.iter().find(|exception| {
            exception.package == name
                && expression.is_met(&|licence| ACCEPTED.contains(&licence) || licence == exception.licence)
        });
        match exception {
            Some(exception) => {
                self.notes.push(format!("{name} {version} is {licence}: {}", exception.reason));
            }
            None => {
                self.findings.push(format!("{name} {version} is {licence}, which is not accepted; drop it"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, licence: Option<&str>) -> Vec<String> {
        let mut audit = Audit::default();
        audit.add(name, "1.0.0", licence);
        audit.findings
    }

    #[test]
    fn accepted_licences_pass() {
        for licence in ["MIT", "MIT/Apache-2.0", "Apache-2.0 WITH LLVM-exception", "GPL-3.0-only OR MIT"] {
            assert!(findings("one", Some(licence)).is_empty(), "{licence}");
        }
    }

    #[test]
    fn the_rest_is_named() {
        let cases = [Some("GPL-3.0-only"), Some("MIT AND GPL-2.0+"), Some("BSL-1.0"), Some("MIT OR"), None];
        for licence in cases {
            let findings = findings("culprit", licence);
            assert_eq!(findings.len(), 1, "{licence:?}");
            assert!(findings[0].contains("culprit 1.0.0"), "{licence:?}");
        }
    }

    #[test]
    fn an_exception_holds_for_one_package() {
        assert!(findings("borrow-or-share", Some("MIT-0")).is_empty());
        assert!(!findings("another", Some("MIT-0")).is_empty());
        assert!(!findings("borrow-or-share", Some("GPL-3.0-only")).is_empty());
    }
}
