//! Links are told by what they say and not by their times, which programs set as they like.

use super::World;
use std::os::unix::fs::symlink;

#[test]
fn guarantee_35_links_with_times_of_their_own_go_back() {
    for line in [
        "cp -a link copy",
        "cp -a folder copy",
        "tar cf pack.tar link folder && mkdir copy && tar xf pack.tar -C copy",
        "ln -s a.txt copy && touch -h -d 2001-01-01 copy",
        "touch -h -d 2001-01-01 link && mv link copy",
        "chown -h 0:0 link && mv link copy",
        "rm link && ln -s b.txt link && touch -h -d 2001-01-01 link",
    ] {
        let world = World::new();
        world.write("a.txt", "1\n");
        world.write("folder/b.txt", "2\n");
        symlink("a.txt", world.home.path("repo/link")).unwrap();
        symlink("b.txt", world.home.path("repo/folder/inner")).unwrap();
        let before = world.tree();
        world.works(&["call", "bash", &format!("command={line}"), "--allow", "exec"]);
        let after = world.tree();
        assert_ne!(before, after, "{line}");
        let ran = world.run(&["undo"]);
        assert_eq!((ran.status, world.tree()), (0, before), "{line}: {}", ran.stderr);
        let ran = world.run(&["redo"]);
        assert_eq!((ran.status, world.tree()), (0, after), "{line}: {}", ran.stderr);
    }
}

#[test]
fn guarantee_35_a_link_that_a_person_has_made_meanwhile_stays() {
    let world = World::new();
    world.write("a.txt", "1\n");
    let mut command = world.home.command([
        "call",
        "bash",
        "command=ln -s a.txt link && touch ready && sleep 1",
        "--allow",
        "exec",
        "--store",
        &world.store,
    ]);
    let mut running = command.spawn().unwrap();
    while !world.home.path("repo/ready").exists() {
        assert!(running.try_wait().unwrap().is_none(), "the command ended early");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // As long as the other one, and of the same number where the filesystem gives it again.
    std::fs::remove_file(world.home.path("repo/link")).unwrap();
    symlink("b.txt", world.home.path("repo/link")).unwrap();
    assert!(running.wait().unwrap().success());
    let ran = world.run(&["undo", "--partial"]);
    let text = std::fs::read_link(world.home.path("repo/link")).unwrap();
    assert_eq!(text, std::path::Path::new("b.txt"), "{}", ran.stderr);
}
