//! The revisions of the protocol, and its two eras: up to 2025-11-25 client and server begin with a handshake, since
//! 2026-07-28 ("modern") every request stands for itself.

/// A revision, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say all")]
pub enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    /// All revisions, the newest first.
    pub const ALL: [Revision; 5] = [
        Revision::V2026_07_28,
        Revision::V2025_11_25,
        Revision::V2025_06_18,
        Revision::V2025_03_26,
        Revision::V2024_11_05,
    ];

    /// The names of all revisions, the newest first.
    pub const NAMES: [&str; 5] = [
        Revision::ALL[0].name(),
        Revision::ALL[1].name(),
        Revision::ALL[2].name(),
        Revision::ALL[3].name(),
        Revision::ALL[4].name(),
    ];

    /// The newest revision in which every request stands for itself.
    pub const MODERN: Revision = Revision::V2026_07_28;

    /// The newest revision with a handshake.
    pub const LEGACY: Revision = Revision::V2025_11_25;

    /// The revision of this name.
    pub fn named(name: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// The revision of this name, if it has a handshake.
    pub fn legacy_named(name: &str) -> Option<Revision> {
        Revision::named(name).filter(|revision| !revision.is_modern())
    }

    /// Its name, which is a date.
    pub const fn name(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether every request stands for itself.
    pub fn is_modern(self) -> bool {
        self >= Revision::V2026_07_28
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_revisions() {
        assert!(Revision::ALL.is_sorted_by(|newer, older| newer > older));
        for (revision, name) in Revision::ALL.into_iter().zip(Revision::NAMES) {
            assert_eq!(Revision::named(name), Some(revision));
            assert_eq!(Revision::legacy_named(name).is_none(), revision.is_modern());
        }
        assert_eq!(Revision::named("2026-07-29"), None);
        assert_eq!(
            (Revision::MODERN.is_modern(), Revision::LEGACY.is_modern()),
            (true, false),
            "the eras have a newest revision each"
        );
    }
}
