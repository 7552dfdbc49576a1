//! What is known of a command before it runs: how far the sandbox will open each file and host that the line names, and
//! what is decided only then.
//!
//! It is computed from the very values that the sandbox is made of.

use super::{Args, prepare};
use crate::shell::line::{self, Creation, Named, NamedFile};
use crate::shell::{Confinement, Settings};
use std::path::{Path, PathBuf};
use toolpost_core::host::{Ground, Reach};
use toolpost_core::policy::{Closed, Foreseen, NamedPlace, Openness, PlaceUse, Remedy, Standing};
use toolpost_core::text::paths::normal_path;
use toolpost_core::workspace::{Kind, Mark};
use toolpost_core::{Capability, Code, Context, ToolError, WorkspacePath};
use toolpost_process::{NewName, Sandbox};

/// Maximum number of files in a folder that are named one by one.
const MOST_INSIDE: usize = 5;

/// Files that are no matter of the policy.
const OWN_DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
];

/// Folders of the system, which no command changes.
const SYSTEM: [&str; 13] = [
    "/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/sbin", "/srv", "/sys", "/usr",
    "/var",
];

/// What is known of a call.
pub(super) fn of(ctx: &Context, settings: &Settings, args: &Args) -> Result<Foreseen, ToolError> {
    let folder = args.workdir.as_ref().map_or("", WorkspacePath::as_str);
    let (named, unclear) = line::named_in(folder, &args.command);
    if settings.confinement == Confinement::None {
        return Ok(unconfined(ctx.ground_now(Reach::Free)?, &named, unclear));
    }
    let ground = ctx.ground_now(Reach::Confined)?;
    let view = View { ctx, sandbox: prepare::view_of(&ground), ground };
    let mut foreseen = Foreseen::default();
    let is_host = |name: &str| named.hosts.iter().any(|(host, _)| host == name);
    // What may be a file is none where it is the name of a host.
    for file in named.files.iter().filter(|file| file.used != PlaceUse::Unknown || !is_host(&file.path)) {
        view.file(file, &mut foreseen);
    }
    // Of what the line does not tell apart, only what is closed is worth a word.
    let (tokens, hosts) = line::mentioned(&args.command);
    let has_more = !named.started.is_empty() || unclear.is_some();
    for token in tokens.into_iter().filter(|token| has_more && !is_host(token)) {
        let path = match folder.is_empty() || token.starts_with('/') {
            true => normal_path(token).into_owned(),
            false => normal_path(&format!("{folder}/{token}")).into_owned(),
        };
        if named.files.iter().any(|file| file.path == path) {
            continue;
        }
        let file = NamedFile {
            path,
            used: PlaceUse::Unknown,
            creation: Creation::File,
            with_content: false,
            is_certain: false,
        };
        view.file(&file, &mut foreseen);
    }
    let unread = hosts.into_iter().filter(|_| has_more).map(|host| (host, PlaceUse::Unknown));
    for (host, used) in named.hosts.iter().cloned().chain(unread) {
        let is_host = |place: &NamedPlace| matches!(place.standing, Standing::Host { .. });
        if !foreseen.named.iter().any(|place| place.name == host && is_host(place)) {
            foreseen.named.push(view.host(host, used));
        }
    }
    view.decided_later(&named, unclear, &mut foreseen.decided_by_sandbox);
    Ok(foreseen)
}

/// Without a sandbox nothing judges a file or a host when it is opened.
fn unconfined(ground: Ground, named: &Named, unclear: Option<&str>) -> Foreseen {
    let open = Standing::File { read: Openness::Open, change: Openness::Open };
    let files = named.files.iter().filter(|file| file.is_certain);
    let files = files.map(|file| place(file.path.clone(), file.used, open, None));
    let reached = Standing::Host { reach: Openness::Open };
    let hosts = named.hosts.iter().map(|(host, used)| place(host.clone(), *used, reached, None));
    let mut decided = Vec::new();
    if !named.started.is_empty() || unclear.is_some() {
        let programs = if unclear.is_some() { "the line".to_owned() } else { listed(&named.started) };
        decided.push(format!(
            "there is no sandbox: nothing decides what {programs} opens by itself, in {} or elsewhere",
            ground.roots.first().map_or("the workspace", String::as_str)
        ));
    }
    Foreseen { named: files.chain(hosts).collect(), decided_by_sandbox: decided, ..Foreseen::default() }
}

fn place(name: String, used: PlaceUse, standing: Standing, closed: Option<Closed>) -> NamedPlace {
    let (why, remedy) = closed.map_or((None, None), |closed| (Some(closed.why), Some(closed.remedy)));
    NamedPlace { name, used, standing, why, remedy: remedy.filter(|remedy| !remedy.is_empty()) }
}

/// What the command will see.
struct View<'a> {
    ctx: &'a Context,
    ground: Ground,
    sandbox: Sandbox,
}

impl View<'_> {
    /// Says how far a file is open.
    fn file(&self, file: &NamedFile, foreseen: &mut Foreseen) {
        if OWN_DEVICES.contains(&file.path.as_str()) {
            return;
        }
        let path = WorkspacePath::new(file.path.as_str());
        let Ok(name) = self.ctx.workspace().name(&path) else {
            if file.is_certain {
                self.outside(file, foreseen);
            }
            return;
        };
        let leads_outside = |why: ToolError| why.code() == Code::PathEscape;
        if self.ctx.workspace().stat(&path).err().is_some_and(leads_outside) {
            return self.outside(file, foreseen);
        }
        let is_link = self.ctx.workspace().link(&path).is_some();
        let stat = self.ctx.seen_by_commands(&name);
        if file.creation == Creation::Inside {
            let folder = name.rsplit_once('/').and_then(|(folder, _)| self.ctx.seen_by_commands(folder));
            if folder.is_none_or(|folder| folder.kind != Kind::Folder) {
                return;
            }
        }
        let written = self.absolute(&name);
        // What removes or moves a link leaves what it leads to as it is.
        let is_about_name = file.used == PlaceUse::Change && file.creation == Creation::Never;
        let real = match &stat {
            _ if is_link && is_about_name => self.real_parent(&name),
            Some(stat) => self.absolute(&stat.name),
            None => self.real_parent(&name),
        };
        if !self.is_inside(&real) {
            return self.outside(file, foreseen);
        }
        let marks = [self.mark(&written), self.mark(&real)];
        let mark = marks.into_iter().max().unwrap_or(Mark::Free);
        let is_there = stat.is_some();
        let is_new_closed = !is_there && self.is_new_closed(&real, file.creation);
        let is_folder = stat.as_ref().is_some_and(|stat| stat.kind == Kind::Folder);
        let read = if mark == Mark::Hidden { Openness::Closed } else { Openness::Open };
        let is_closed = mark != Mark::Free || is_new_closed || !self.ground.is_writable;
        // What may be removed is not what may be read.
        let is_removable = self.ground.dependencies.unreadable.contains(&real);
        let mut change = match is_closed {
            true if is_removable && self.ground.is_writable => Openness::Sandbox,
            true => Openness::Closed,
            false => Openness::Open,
        };
        // What a link without a target would become is for the program to decide.
        if is_link && !is_there {
            change = Openness::Sandbox;
            if file.used != PlaceUse::Nothing {
                foreseen.decided_by_sandbox.push(format!("what is created through the link `{name}`"));
            }
        }
        // What is there must not be replaced by what could not be made anew: a link, or a folder with content.
        if !is_closed && is_there && file.creation == Creation::Link {
            let is_kept = self.is_new_closed(&real, file.creation);
            change = if is_kept { Openness::Sandbox } else { change };
        }
        let is_closed_itself = mark != Mark::Free || is_new_closed;
        if !file.is_certain && !is_closed_itself && !is_there && !is_link {
            return;
        }
        let why = match (read, change) {
            (Openness::Open, Openness::Open) => None,
            (Openness::Closed, _) => Some(self.unreadable(&real)),
            (_, Openness::Sandbox) if is_link && !is_there => None,
            (_, _) if !self.ground.is_writable && !is_closed_itself => Some(self.read_only()),
            _ => Some(self.ctx.closed_to_commands(&real).1),
        };
        let inside = if is_folder { self.marked_inside(&real) } else { Vec::new() };
        let shown = if name.is_empty() { ".".to_owned() } else { name };
        if is_folder && file.used != PlaceUse::Nothing {
            self.folder(&shown, &inside, &mut foreseen.decided_by_sandbox);
        }
        // What is not there is neither read nor removed, and a folder that is there is not made.
        let is_idle = match file.creation {
            Creation::Never => !is_there,
            Creation::Folder => is_folder,
            _ => false,
        };
        let used = if is_idle { PlaceUse::Nothing } else { file.used };
        let is_known = |place: &NamedPlace| place.name == shown && place.used == used;
        if !foreseen.named.iter().any(is_known) {
            let standing = Standing::File { read, change };
            foreseen.named.push(place(shown, used, standing, why));
        }
        // All that is in the folder is meant, and some of it is closed.
        if file.with_content && file.used != PlaceUse::Unknown {
            for (path, mark) in inside.iter().take(MOST_INSIDE) {
                let read = if *mark == Mark::Hidden { Openness::Closed } else { Openness::Open };
                let standing = Standing::File { read, change: Openness::Closed };
                let why = if *mark == Mark::Hidden {
                    self.unreadable(path)
                } else {
                    self.ctx.closed_to_commands(path).1
                };
                let inner = place(self.display(path), file.used, standing, Some(why));
                if !foreseen.named.iter().any(|known| known.name == inner.name && known.used == inner.used) {
                    foreseen.named.push(inner);
                }
            }
        }
    }

    /// A file that lies in no root.
    fn outside(&self, file: &NamedFile, foreseen: &mut Foreseen) {
        let absolute = normal_path(&format!("{}/{}", self.ctx.workspace().root(), file.path)).into_owned();
        let absolute = if file.path.starts_with('/') { &file.path } else { &absolute };
        let is_of_system = SYSTEM.iter().any(|folder| Path::new(absolute).starts_with(folder))
            && !Path::new(absolute).starts_with("/var/tmp");
        let change = if is_of_system { Openness::Closed } else { Openness::Sandbox };
        let why = "it lies outside of the workspace, where commands read what any user of the machine may read, and write to \
                   temporary folders of their own only";
        let standing = Standing::File { read: Openness::Sandbox, change };
        if foreseen.named.iter().any(|place| place.name == file.path && place.used == file.used) {
            return;
        }
        foreseen.named.push(place(file.path.clone(), file.used, standing, None).because(why));
        if file.used != PlaceUse::Nothing {
            foreseen.decided_by_sandbox.push(format!("what is read and written at `{}`", file.path));
        }
    }

    fn host(&self, host: String, used: PlaceUse) -> NamedPlace {
        if self.ground.has_network {
            let why = "the network is granted to commands as a whole; rules about single hosts do not hold for them";
            return place(host, used, Standing::Host { reach: Openness::Open }, None).because(why);
        }
        let missing = [Capability::Network].into_iter().collect();
        let remedy = self.ctx.policy().advise(&Remedy::Grant { missing, tool: None });
        let mut why = "network is not granted, and commands have no network without it".to_owned();
        if matches!(host.as_str(), "localhost" | "::1") || host.starts_with("127.") {
            why.push_str("; they reach only servers that they start themselves there");
        }
        let closed = Closed { why, remedy, rules: Vec::new() };
        place(host, used, Standing::Host { reach: Openness::Closed }, Some(closed))
    }

    /// What the line does not tell.
    fn decided_later(&self, named: &Named, unclear: Option<&str>, decided: &mut Vec<String>) {
        if let Some(reason) = unclear {
            decided.push(format!("all that the line opens, since it cannot be read for certain: {reason}"));
        }
        if !named.started.is_empty() {
            let by_itself = if named.started.len() == 1 { "opens by itself" } else { "open by themselves" };
            decided.push(format!("which files and hosts {} {by_itself}", listed(&named.started)));
        }
        if !named.computed.is_empty() {
            decided.push(format!("which files {} names", listed(&named.computed)));
        }
        if !named.astray.is_empty() {
            decided.push(format!(
                "which files {} are: the folder in which they are looked for is known only when the line runs",
                listed(&named.astray)
            ));
        }
        if named.is_cut {
            decided
                .push("the other files and hosts that the line names: there are too many to list".to_owned());
        }
        if decided.is_empty() {
            return;
        }
        if !self.ground.is_writable {
            decided.push(format!("no file of the workspace is changed: {}", self.read_only().why));
        }
        if !self.ground.has_network {
            decided.push("no host is reached: network is not granted".to_owned());
        }
    }

    fn folder(&self, name: &str, inside: &[(PathBuf, Mark)], decided: &mut Vec<String>) {
        let closed: Vec<String> =
            inside.iter().take(MOST_INSIDE).map(|(path, _)| self.display(path)).collect();
        let more = if inside.len() > MOST_INSIDE { " and more" } else { "" };
        let clause = match closed.is_empty() {
            true => format!("which files in `{name}` are opened"),
            false => format!(
                "which files in `{name}` are opened; closed to commands there: {}{more}",
                listed(&closed)
            ),
        };
        if !decided.contains(&clause) {
            decided.push(clause);
        }
    }

    fn read_only(&self) -> Closed {
        let missing = [Capability::Write].into_iter().collect();
        let granted = self.ctx.granted(Capability::Write);
        match self.ctx.closed_to_commands(&self.root()) {
            (_, closed) if granted => closed,
            _ => Closed {
                why: "write is not granted".to_owned(),
                remedy: self.ctx.policy().advise(&Remedy::Grant { missing, tool: None }),
                rules: Vec::new(),
            },
        }
    }

    fn unreadable(&self, path: &Path) -> Closed {
        let closed = self.ctx.unreadable_to_commands(path).map(|(_, closed)| closed);
        closed.unwrap_or_else(|| self.ctx.closed_to_commands(path).1)
    }

    /// What commands may do with what lies at a path.
    fn mark(&self, path: &Path) -> Mark {
        let covers = |marked: &&toolpost_core::workspace::Marked| path.starts_with(&marked.path);
        let marks = self.ground.marked.iter().filter(covers).map(|marked| marked.mark);
        marks.max().unwrap_or(Mark::Free)
    }

    fn marked_inside(&self, folder: &Path) -> Vec<(PathBuf, Mark)> {
        let is_inside = |path: &Path| path != folder && path.starts_with(folder);
        let marked = self.ground.marked.iter().filter(|marked| is_inside(&marked.path));
        marked.map(|marked| (marked.path.clone(), marked.mark)).collect()
    }

    fn is_new_closed(&self, path: &Path, creation: Creation) -> bool {
        let new = match creation {
            // Said of the name all the same: it is closed to what would create it.
            Creation::Never | Creation::File => NewName::File,
            Creation::Folder => NewName::Folder,
            Creation::Link => NewName::Link,
            Creation::Moved | Creation::Inside => NewName::Filled,
        };
        self.sandbox.closed_names(&[(path.to_owned(), new)]).first().copied().unwrap_or(false)
    }

    /// Where what does not exist would come to lie, links of its folders followed.
    fn real_parent(&self, name: &str) -> PathBuf {
        let mut rest: Vec<&str> = Vec::new();
        let mut above = name;
        while let Some((folder, last)) = above.rsplit_once('/') {
            rest.push(last);
            above = folder;
            if let Some(stat) = self.ctx.seen_by_commands(folder) {
                let real = self.absolute(&stat.name);
                return rest.iter().rev().fold(real, |path, part| path.join(part));
            }
        }
        self.absolute(name)
    }

    fn root(&self) -> PathBuf {
        PathBuf::from(self.ctx.workspace().root())
    }

    fn absolute(&self, name: &str) -> PathBuf {
        match name {
            "" | "." => self.root(),
            name => self.root().join(name),
        }
    }

    fn is_inside(&self, path: &Path) -> bool {
        self.ground.roots.iter().any(|root| path.starts_with(root))
    }

    fn display(&self, path: &Path) -> String {
        path.strip_prefix(self.root()).unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// Names in a clause.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match shown.split_last() {
        Some((last, before @ [_, ..])) => format!("{} and {last}", before.join(", ")),
        _ => shown.concat(),
    }
}
