//! Guarantee 36: what is hidden stays hidden, whatever was done to the folders above it.

use super::{CANARY, Dice, Done, User};
use crate::count;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

/// Everything that can be read of the workspace, after all that its owner can do about it.
const READ_ALL: &str = "grep -rasl CANARY- . 2>/dev/null; chmod -R u+rwX . 2>/dev/null; grep -rash CANARY- . \
                        2>/dev/null; find . -type f -exec cat {} + 2>/dev/null; tar cf - . 2>/dev/null | grep -a CANARY-; \
                        find . -type l -exec cat {} + 2>/dev/null; true";

/// What the owner of a workspace reads of it, with a plain file beside the secrets.
fn check_all(user: &User) {
    user.write("control.txt", "CANARY-plain\n");
    let done = check(user, READ_ALL.as_bytes());
    assert!(done.text.contains("CANARY-plain"), "{}: nothing is read at all: {}", user.name(), done.text);
}

fn check(user: &User, line: &[u8]) -> Done {
    let done = user.bash_bytes(line);
    let shown = String::from_utf8_lossy(line);
    assert!(done.code.is_some(), "{}: `{shown}` does not run: {}", user.name(), done.text);
    assert!(!done.text.contains(CANARY), "{}: `{shown}` shows a secret: {}", user.name(), done.text);
    done
}

#[test]
fn guarantee_36_a_folder_that_cannot_be_looked_into_is_hidden_whole() {
    for user in User::all() {
        user.write("app/.env", CANARY);
        user.write("app/main.rs", "fn main() {}\n");
        user.write("plain.txt", "plain\n");
        user.settle();
        // Once for every way to blind whoever looks.
        for mode in ["000", "311", "111", "444", "200"] {
            user.bash(&format!("chmod {mode} app"));
            check(&user, b"chmod 755 app; cat app/.env; cat app/*");
            check_all(&user);
            let done = user.bash("cat plain.txt");
            assert!(done.text.contains("plain"), "{}: {mode}: {}", user.name(), done.text);
            std::fs::set_permissions(user.home.path("repo/app"), PermissionsExt::from_mode(0o755)).unwrap();
        }
        let done = user.bash("chmod 000 app .git");
        assert!(done.code.is_some(), "{}", done.text);
        check(&user, b"chmod 755 app .git; cat app/.env");
    }
}

#[test]
fn guarantee_36_names_are_bytes() {
    for user in User::all() {
        for name in [b"\xffa".as_slice(), b"a\xc3", b"\xf0\x9f/in", b"new\nline", b"esc\x1b[0m"] {
            let folder = user.home.path("repo").join(OsStr::from_bytes(name));
            std::fs::create_dir_all(&folder).unwrap();
            for secret in [b".env".as_slice(), b"\xfe.env", b".env.\xff", b"k\xff.pem"] {
                std::fs::write(folder.join(OsStr::from_bytes(secret)), CANARY).unwrap();
            }
        }
        user.settle();
        check_all(&user);
    }
}

#[test]
fn guarantee_36_what_is_hidden_is_not_moved_into_view() {
    for user in User::all() {
        user.write("app/.env", CANARY);
        user.write(".aws/credentials", CANARY);
        user.write("deep/er/app/.env.local", CANARY);
        user.settle();
        for line in [
            b"mv app $(printf '\\377a')".as_slice(),
            b"mv .aws aws2",
            b"mv app/.env app/env",
            b"mv deep other; mv deep/er deep/other",
            b"ln app/.env env; ln -s app/.env env2; cp -r app app2",
            b"python3 -c 'import os; os.rename(b\"app\", b\"\\xff\\xfe\")'",
        ] {
            check(&user, line);
            check_all(&user);
        }
        for name in ["app/.env", ".aws/credentials", "deep/er/app/.env.local"] {
            assert_eq!(user.read(name), CANARY, "{}", user.name());
        }
    }
}

#[test]
fn guarantee_36_where_a_hidden_link_leads_is_hidden() {
    for user in User::all() {
        user.write("conf/real", CANARY);
        user.write("more/other", CANARY);
        for (target, link) in
            [("conf/real", ".env"), ("chain", "id_rsa"), ("turn/other", "chain"), ("more", "turn")]
        {
            symlink(target, user.home.path(&format!("repo/{link}"))).unwrap();
        }
        user.settle();
        check(&user, b"cat .env conf/real chain more/other turn/other id_rsa");
        check_all(&user);
    }
}

#[test]
fn guarantee_36_generated_trees_show_no_secret() {
    const FOLDERS: [&[u8]; 12] = [
        b"a",
        b"b c",
        b"\xff",
        b"\xc3\x28",
        b"x\ny",
        b"app",
        b".hidden",
        "é".as_bytes(),
        b"-r",
        b"*",
        b"$HOME",
        b"...",
    ];
    const SECRETS: [&[u8]; 16] = [
        b".env",
        b".ENV",
        b".env.prod",
        b"x.env",
        b"a.pem",
        b"b.key",
        b"id_rsa",
        b"id_ed25519.old",
        b".netrc",
        b".npmrc",
        b"secrets.yml",
        b"\xff.pem",
        b".env.\xfe",
        b"credentials.json",
        b"x.tfvars",
        b".vault-token",
    ];
    const BATCH: usize = 50;
    let users = User::all();
    let cases = count(2_000, 100_000) / users.len();
    let mut dice = Dice(36);
    let mut done = 0;
    for user in users {
        let top = user.home.path("repo");
        for round in 0..cases.div_ceil(BATCH) {
            let base = top.join(format!("round{round}"));
            let mut closed: Vec<PathBuf> = Vec::new();
            for _ in 0..BATCH {
                let mut folder = base.clone();
                for _ in 0..=dice.roll(4) {
                    folder.push(OsStr::from_bytes(dice.pick::<&[u8]>(&FOLDERS)));
                }
                std::fs::create_dir_all(&folder).unwrap();
                let secret = folder.join(OsStr::from_bytes(dice.pick::<&[u8]>(&SECRETS)));
                match dice.roll(6) {
                    // Without its link, the file of no special name would be no secret any more.
                    _ if secret.is_symlink() => {}
                    0 => {
                        // A secret that is a link to a file of no special name.
                        let plain = folder.join(format!("plain{done}"));
                        std::fs::write(&plain, CANARY).unwrap();
                        let _ = std::fs::remove_file(&secret);
                        symlink(&plain, &secret).unwrap();
                    }
                    _ => std::fs::write(&secret, CANARY).unwrap(),
                }
                if dice.roll(5) == 0 {
                    closed.push(folder);
                }
                done += 1;
            }
            user.settle();
            closed.sort();
            for folder in closed.iter().rev() {
                let mode = *dice.pick(&[0o000, 0o100, 0o300, 0o400, 0o500, 0o311]);
                std::fs::set_permissions(folder, PermissionsExt::from_mode(mode)).unwrap();
            }
            check_all(&user);
            for folder in &closed {
                let _ = std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755));
            }
            std::fs::remove_dir_all(&base).unwrap();
        }
    }
    println!("measure: guarantee 36: {done} secrets in generated trees, 0 shown to a command");
}
