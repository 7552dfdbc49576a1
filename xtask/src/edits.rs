//! `edits`: judges `edit` and `apply_patch` on the real history of public packages. It takes two releases of each package,
//! cuts out their hunks, adds noise as models make it, and compares what the tools write with the true file, byte for
//! byte. It shares no code with the tools.

mod again;
mod cases;
mod corpus;
mod decide;
mod diff;
mod drive;
mod hunks;
mod noise;
mod options;
mod packages;
mod page;
mod patch;
pub(crate) mod peers;
mod random;
mod tally;
mod verdict;

use std::collections::{BTreeSet, HashSet};
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context as _, Result, bail};

use crate::executables;
use crate::metadata::{Metadata, Scope};
use cases::{Case, Cases};
use drive::Drive;
use hunks::History;
use options::Options;
use peers::Peers;
use random::Random;
use tally::Tally;

/// No further file is taken of a package that has given this many hunks.
const MAX_HUNKS: usize = 500;

/// Files are at most this large where others run too: some of them need seconds for a larger one.
const MAX_PEER_BYTES: usize = 8_000;

/// Runs the cases that the options ask for and prints a table; an error if a case is wrong that is not lossy.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    if options.is_list {
        print!("{}", tally::kinds_table());
        return Ok(());
    }
    let scratch = Metadata::load(root, Scope::Workspace)?.target_directory.join("edits");
    let executable = match &options.binary {
        Some(path) => path.clone(),
        None => build(root)?,
    };
    if let Some(folder) = &options.again {
        let cases = again::read(folder)?;
        let mut drive = Drive::start(&executable, &scratch)?;
        let mut tally = Tally::default();
        for (kind, case) in cases {
            drive.submit(kind, case, &mut tally)?;
        }
        drive.finish(&mut tally)?;
        show(root, &options, &tally, None)?;
        return must_be_right(&tally, &scratch);
    }
    let histories = Rc::new(histories(&scratch)?);
    let streams = streams(&options, &histories)?;
    let mut drive = Drive::start(&executable, &scratch)?;
    let mut peers = if options.has_peers { Some(Peers::start(&scratch)?) } else { None };
    let mut tally = Tally::default();
    judge(&options, streams, &mut drive, peers.as_mut(), &mut tally)?;
    drive.finish(&mut tally)?;
    show(root, &options, &tally, peers.as_ref())?;
    must_be_right(&tally, &scratch)
}

fn must_be_right(tally: &Tally, scratch: &Path) -> Result<()> {
    if tally.wrong() > 0 {
        let folder = drive::wrong_folder(scratch);
        bail!("{} cases are wrong that must not be; see {}", tally.wrong(), folder.display());
    }
    Ok(())
}

fn show(root: &Path, options: &Options, tally: &Tally, peers: Option<&Peers>) -> Result<()> {
    match peers {
        None if options.is_json => println!("{}", tally.json()),
        None => println!("{}", tally.table()),
        Some(peers) if options.is_json => println!("{}", peers.json(tally)),
        Some(peers) => println!("{}", page::table(tally, peers)),
    }
    match peers {
        _ if !options.is_written => Ok(()),
        None => page::write_ours(root, tally, options.seed),
        Some(peers) => page::write_peers(root, tally, peers, options.seed),
    }
}

fn build(root: &Path) -> Result<PathBuf> {
    let arguments = ["build", "--release", "--locked", "-p", "toolpost", "--bin", "toolpost"];
    let built = executables::build(root, &arguments)?;
    Ok(built.into_iter().next().context("cargo built no executable `toolpost`")?.path)
}

/// The changed files of every package.
fn histories(scratch: &Path) -> Result<Vec<History>> {
    let mut seen = HashSet::new();
    let mut histories = Vec::new();
    for package in packages::PACKAGES {
        let releases = packages::fetch(package, &scratch.join("packages"))?;
        let mut changes = corpus::changes(package.name, &releases.older, &releases.newer)?;
        // Files are drawn, so that a large package does not outweigh the others.
        Random::new(0, &[package.name]).shuffle(&mut changes);
        let mut hunks = 0;
        for change in changes {
            if hunks >= MAX_HUNKS {
                break;
            }
            let Some(history) = History::new(&change, &mut seen) else { continue };
            hunks += history.hunks.len();
            histories.push(history);
        }
    }
    let hunks: usize = histories.iter().map(|history| history.hunks.len()).sum();
    let extensions: BTreeSet<&str> = histories.iter().map(|history| history.extension.as_str()).collect();
    eprintln!("{} packages, {} changed files, {hunks} hunks", packages::PACKAGES.len(), histories.len());
    eprintln!("kinds of files: {}", extensions.into_iter().collect::<Vec<_>>().join(" "));
    Ok(histories)
}

fn streams(options: &Options, histories: &Rc<Vec<History>>) -> Result<Vec<Cases>> {
    let kinds =
        noise::kinds().into_iter().filter(|kind| options.kind.as_ref().is_none_or(|name| kind.name == name));
    let streams: Vec<Cases> =
        kinds.map(|kind| Cases::new(kind, Rc::clone(histories), options.seed)).collect();
    if streams.is_empty() {
        bail!("no such kind of noise; `cargo xtask edits --list` lists them");
    }
    Ok(streams)
}

/// Takes one case of each kind in turn, until there are enough or no kind has any left.
fn judge(
    options: &Options,
    mut streams: Vec<Cases>,
    drive: &mut Drive,
    mut peers: Option<&mut Peers>,
    tally: &mut Tally,
) -> Result<()> {
    let shows_progress = std::io::stderr().is_terminal();
    let mut count = 0;
    while !streams.is_empty() && count < options.cases {
        let mut rest = Vec::new();
        for mut stream in streams {
            let is_wanted = |case: &Case| peers.is_none() || case.before.len() <= MAX_PEER_BYTES;
            if count < options.cases
                && let Some(case) = stream.find(is_wanted)
            {
                if let Some(peers) = &mut peers {
                    peers.run(stream.kind, &case)?;
                }
                drive.submit(stream.kind, case, tally)?;
                count += 1;
                rest.push(stream);
            }
        }
        streams = rest;
        if shows_progress && tally.is_due(count) {
            eprint!("\r{count} of {} cases, {} wrong ", options.cases, tally.wrong());
            std::io::stderr().flush()?;
        }
    }
    if shows_progress {
        eprintln!();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
