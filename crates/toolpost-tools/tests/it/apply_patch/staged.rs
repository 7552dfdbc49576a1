//! Patches that fail on a real disk after some of their files have changed: everything is as it was, the very files.

use super::super::{code, disk, folder, shown};
use super::{apply, tree};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(point: &Path, options: &[&str]) -> Option<Mounted> {
    let done = Command::new("mount").args(options).arg(point).output();
    done.is_ok_and(|output| output.status.success()).then(|| Mounted(point.to_owned()))
}

#[test]
fn what_fails_half_way_is_taken_back_to_the_very_files() {
    let folder = folder();
    let root = folder.path();
    for name in ["sealed", "other"] {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    let tmpfs = ["-t", "tmpfs", "tmpfs"];
    let (Some(_sealed), Some(_other)) =
        (mount(&root.join("sealed"), &tmpfs), mount(&root.join("other"), &tmpfs))
    else {
        println!("measure: patches that fail on a real disk need the right to mount, which is not here");
        return;
    };
    for name in ["a", "c", "sealed/b", "other/o"] {
        std::fs::write(root.join(name), "x\n").unwrap();
    }
    std::fs::hard_link(root.join("a"), root.join("name of a")).unwrap();
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(root.join("sealed")).status();
    assert!(remounted.unwrap().success());
    let before = tree(root);
    let files: Vec<u64> =
        ["a", "c"].iter().map(|name| std::fs::metadata(root.join(name)).unwrap().ino()).collect();
    let update = |name: &str| format!("*** Update File: {name}\n@@\n-x\n+y\n");
    let cases = [
        // Refused before anything has changed.
        (format!("{}{}", update("a"), update("sealed/b")), "nothing was changed"),
        (format!("{}*** Add File: sealed/new/b\n+x\n", update("a")), "nothing was changed"),
        // The first file has changed by then.
        (format!("{}*** Delete File: sealed/b\n", update("a")), "put back"),
        (format!("{}*** Update File: c\n*** Move to: other/deep/c\n", update("a")), "put back"),
        (
            "*** Add File: new/n\n+n\n*** Update File: c\n*** Move to: other/c\n@@\n-x\n+y\n".to_owned(),
            "put back",
        ),
    ];
    for (patch, said) in &cases {
        let outcome = apply(&disk(root), &format!("*** Begin Patch\n{patch}*** End Patch\n"));
        assert_eq!(code(&outcome), "WRITE_ERROR", "{patch}: {}", shown(&outcome));
        assert!(shown(&outcome).contains(said), "{patch}: {}", shown(&outcome));
        assert_eq!(tree(root), before, "{patch}: {}", shown(&outcome));
        let now: Vec<u64> =
            ["a", "c"].iter().map(|name| std::fs::metadata(root.join(name)).unwrap().ino()).collect();
        assert_eq!(now, files, "{patch}: another file has taken its place");
    }
    println!("measure: patches that fail on a real disk: {} places, 0 bytes changed", cases.len());
}
