//! Guarantee 22: any bytes as arguments give a value or an error, never a crash.

use crate::{Home, Ran};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Numbers that look random and are the same in every run.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// Bytes of any kind but NUL, which no argument can hold.
    fn bytes(&mut self) -> Vec<u8> {
        (0..self.below(40)).map(|_| 1 + self.below(255) as u8).collect()
    }

    /// Something that is nearly JSON, or nearly a pair.
    fn words(&mut self) -> Vec<u8> {
        const PARTS: &[&str] = &[
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"",
            "\"filePath\"",
            "\"README.md\"",
            "\"calls\"",
            "\"tool\"",
            "\"read\"",
            "-",
            "1e999",
            "-0",
            "18446744073709551616",
            "null",
            "true",
            "\\u0000",
            "\\ud800",
            "filePath=",
            "limit=",
            "path=..",
            "ignore=[",
            "depth=",
            "\u{202e}",
            "é",
            " ",
            "\n",
            "=",
        ];
        (0..1 + self.below(12)).flat_map(|_| self.pick(PARTS).bytes()).collect()
    }
}

#[test]
fn guarantee_22_any_bytes_as_arguments_give_a_code() {
    let home = Home::new();
    let tries = super::count(300, 5_000);
    let mut seeded = Seeded(0x5eed_0022);
    let mut statuses = std::collections::BTreeMap::new();
    for _ in 0..tries {
        let tool = match seeded.below(8) {
            0 => OsString::from_vec(seeded.bytes()),
            _ => OsString::from(seeded.pick(&["read", "list", "batch", "read_file"])),
        };
        let mut arguments = Vec::new();
        for _ in 0..1 + seeded.below(3) {
            let bytes = if seeded.below(2) == 0 { seeded.bytes() } else { seeded.words() };
            arguments.push(OsString::from_vec(bytes));
        }
        let mut all: Vec<OsString> = vec!["call".into(), "--json".into()];
        // After `--` nothing is a flag; before it, anything may be.
        all.extend((seeded.below(2) == 0).then(|| "--".into()));
        all.push(tool);
        all.extend(arguments);
        let shown = format!("{all:?}");
        let ran = Ran::of(home.command(all).stdin(std::process::Stdio::null()).output().unwrap());
        assert!((0..=4).contains(&ran.status), "{shown}: {} {}", ran.status, ran.stderr);
        if ran.stdout.starts_with('{') {
            let (status, envelope) = ran.json();
            assert_eq!(status == 0, envelope["success"] == true, "{shown}: {envelope}");
            *statuses.entry(status).or_insert(0) += 1;
        } else {
            assert!(
                ran.stdout.contains("Usage:") || ran.stdout.starts_with("toolpost "),
                "{shown}: {}",
                ran.stdout
            );
        }
    }
    println!("measure: guarantee 22: {tries} command lines of any bytes, 0 crashes, statuses {statuses:?}");
}
