//! What the agent does: lines of a shell over whatever is there, and calls of the file tools.

use super::Random;
use super::tree::{Copy, Name, Thing, is_git};
use serde_json::{Value, json};

/// Names that the agent may use, as they are now.
pub(super) struct Names {
    pub files: Vec<Name>,
    pub links: Vec<Name>,
    pub folders: Vec<Name>,
    /// Files that the file tools can name, with their text.
    pub texts: Vec<(String, String)>,
}

impl Names {
    pub(super) fn of(copy: &Copy) -> Names {
        let mut names = Names { files: vec![], links: vec![], folders: vec![], texts: vec![] };
        for (name, seen) in copy.names.iter().filter(|(name, _)| !is_git(name)) {
            match &seen.thing {
                Thing::File { bytes, .. } => {
                    names.files.push(name.clone());
                    let plain = name.iter().all(|byte| (b' '..0x7f).contains(byte));
                    if let (true, Ok(text)) = (plain, std::str::from_utf8(bytes))
                        && !text.contains('\0')
                    {
                        names.texts.push((String::from_utf8(name.clone()).unwrap(), text.to_owned()));
                    }
                }
                Thing::Link { .. } => names.links.push(name.clone()),
                Thing::Folder { .. } => names.folders.push(name.clone()),
                Thing::Other => (),
            }
        }
        names
    }
}

/// A name for the shell.
fn quoted(name: &[u8]) -> String {
    if name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(byte)) {
        return format!("./{}", String::from_utf8_lossy(name));
    }
    let escaped = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'/' | b'_' | b'-' | b' ' => {
            (*byte as char).to_string()
        }
        other => format!("\\{other:03o}"),
    };
    format!("$'./{}'", name.iter().map(escaped).collect::<String>())
}

const ODD: [&[u8]; 7] = [
    b"two words",
    b"line\nbreak",
    b"not \xff\xfe utf",
    b"-dash",
    b"quote'\"s",
    b"tab\tbed",
    b"\xc3\xa4\xcc\x88",
];

/// One line for the shell, of one to three steps.
pub(super) fn line(random: &mut Random, names: &Names, number: usize) -> String {
    let steps = [1, 1, 2, 3][random.below(4)];
    let lines: Vec<String> = (0..steps)
        .map(|step| self::step(random, names, &format!("{number}{}", ["", "b", "c"][step])))
        .collect();
    lines.join("; ")
}

fn step(random: &mut Random, names: &Names, id: &str) -> String {
    let pick = |random: &mut Random, from: &[Name], other: &[u8]| match from.len() {
        0 => quoted(other),
        length => quoted(&from[random.below(length)]),
    };
    let file = pick(random, &names.files, b"none");
    let second = pick(random, &names.files, b"none");
    let folder = pick(random, &names.folders, b"none");
    let link = pick(random, &names.links, b"none");
    let any = match random.below(4) {
        0 => folder.clone(),
        1 => link.clone(),
        _ => file.clone(),
    };
    let odd = quoted(ODD[random.below(ODD.len())]);
    let into = match random.below(3) {
        0 => ".".to_owned(),
        _ => folder.clone(),
    };
    let mode = ["600", "644", "755", "u+x", "go-r", "g+w"][random.below(6)];
    let slot = random.below(3) * 10 + 2;
    let change = format!("s/line {slot:02} .*/line {slot:02} by-{id}/");
    match random.below(46) {
        0 => "git checkout -q other".to_owned(),
        1 => "git checkout -q main".to_owned(),
        2 => format!("git switch -q -c topic{id}"),
        3 => format!("git commit -qam c{id}"),
        4 => format!("git add -A && git commit -qm c{id}"),
        5 => "git stash -q".to_owned(),
        6 => "git stash -q -u".to_owned(),
        7 => "git stash pop -q".to_owned(),
        8 => "git merge -q other".to_owned(),
        9 => format!("git commit -qam c{id}; git rebase -q other || git rebase --abort"),
        10 => "git reset -q --hard HEAD~1".to_owned(),
        11 => format!("git branch b{id}; git tag t{id}"),
        12 => format!("git rm -qf {file}"),
        13 => format!("git mv {file} gm{id}"),
        14 => "git checkout -q -- .".to_owned(),
        15 => "git cherry-pick other || git cherry-pick --abort".to_owned(),
        16 => format!("git checkout -q -b from{id} other"),
        17 => "git add -A".to_owned(),
        18 => format!("cp -a {folder} copy{id}"),
        19 => format!("cp -a {any} {into}/cp{id}"),
        20 => format!("mkdir tar{id}; tar cf - {folder} {link} | tar xf - -C tar{id}"),
        21 => format!("tar cf all{id}.tar {folder}; rm -rf {folder}; tar xf all{id}.tar"),
        22 => format!("touch -h -d 2001-02-03 {link}; touch -d 2002-02-03 {file}"),
        23 if slot == 2 => format!("mv {folder} moved{id}; mkdir -p {folder}/new{id}"),
        23 => format!("mv {folder} moved{id}"),
        24 => format!("mv {any} {into}/mv{id}"),
        25 => format!("rm -rf {folder}"),
        26 => format!("rm -f {any}"),
        27 => {
            format!("chmod {mode} {file}; chmod {} {folder}", ["700", "750", "g+w", "go-rx"][random.below(4)])
        }
        // What is in a folder that nobody may enter cannot be recorded when it moves.
        28 => format!("chmod -R {} {folder}", ["u+x", "go-r", "g+w", "go="][random.below(4)]),
        29 => format!("ln {file} {into}/hard{id}"),
        30 if slot == 2 => format!("ln -s $'odd\\377{id}' {into}/soft{id}"),
        30 => format!("ln -s {second} {into}/soft{id}"),
        31 => format!("ln -sfn to{id} {link}"),
        32 | 33 => format!("sed -i '{change}' {file} {second}"),
        34 => format!("for f in $(ls -d */*.txt *.txt); do sed -i '{change}' $f; done"),
        35 => format!("for i in $(seq {}); do echo $i > {into}/many{id}-$i; done", 20 + random.below(60)),
        36 => {
            format!("mkdir -p {into}/odd{id}; cd {into}/odd{id} && printf 'odd\\n' > {odd}; cd - > /dev/null")
        }
        37 => format!("mkdir -p e{id}/f/g {into}/e{id}; rmdir {folder}"),
        38 => format!("mv -f {file} {second}"),
        39 => format!("cp {file} {second}"),
        40 => format!("mv {file} swap{id}; mv {second} {file}; mv swap{id} {second}"),
        41 => format!("rm -f {file}; mkdir {file}; echo in > {file}/in"),
        42 => format!("rm -rf {folder}; echo file > {folder}"),
        43 => format!(
            "echo appended {id} >> {file}; printf 'x' | dd of={second} conv=notrunc seek=3 bs=1 2>/dev/null"
        ),
        44 => format!("mkdir -p node_modules/p; echo {id} > node_modules/p/index.js"),
        _ => format!(
            "sed '{change}' {file} > tmp{id}; cat tmp{id} > {file}; rm tmp{id}; install -m 755 {second} inst{id}"
        ),
    }
}

/// One call of a file tool.
pub(super) fn tool(random: &mut Random, names: &Names, number: usize) -> Option<(&'static str, Value)> {
    if names.texts.is_empty() {
        return None;
    }
    let (path, text) = &names.texts[random.below(names.texts.len())];
    let slot = format!("line {:02} ", random.below(3) * 10 + 2);
    let line = text.lines().find(|line| line.contains(&slot) && text.matches(*line).count() == 1);
    let new = line.map(|line| format!("{}by-{number}", &line[..line.find(&slot).unwrap() + slot.len()]));
    Some(match (random.below(7), line, new) {
        (0 | 1, Some(line), Some(new)) => {
            ("edit", json!({"filePath": path, "oldString": line, "newString": new}))
        }
        (2, Some(line), Some(new)) => {
            ("write", json!({"filePath": path, "content": text.replace(line, &new)}))
        }
        (3, Some(line), Some(new)) => {
            let patch = format!(
                "*** Begin Patch\n*** Update File: {path}\n@@\n-{line}\n+{new}\n*** Add File: ap{number}/new.txt\n+new {number}\n*** End Patch\n"
            );
            ("apply_patch", json!({"patch": patch}))
        }
        (4, Some(line), Some(new)) => {
            let patch = format!(
                "*** Begin Patch\n*** Update File: {path}\n*** Move to: ap{number}/moved.txt\n@@\n-{line}\n+{new}\n*** End Patch\n"
            );
            ("apply_patch", json!({"patch": patch}))
        }
        (5, ..) => ("delete", json!({"filePath": path})),
        _ => {
            let path = format!("w{number}/deep/new.txt");
            ("write", json!({"filePath": path, "content": text}))
        }
    })
}
