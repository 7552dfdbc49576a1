//! `warm`: the same searches in a process that stays, as in a server or an agent's run, beside `rg` started anew and
//! `fff-search` without its index of contents.
//!
//! Both stay in a process of their own, this executable started again, so that each has its own peak of memory.

mod fff;
mod toolpost;

use crate::places::{Corpus, Places};
use crate::process::{Runs, run, wait};
use crate::report::{Table, Unit};
use crate::samples::Samples;
use crate::search::case::{CASES, Case, Kind, Shown};
use crate::search::quiet;
use anyhow::{Context as _, Result, bail, ensure};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 11;
const WARM_UP: usize = 1;

const OURS: &str = "toolpost, in a process that stays";
const FFF: &str = "fff-search 0.11.0, likewise";

/// The flag that makes this executable one of the two.
pub(crate) const SERVE: &str = "--serve";

/// Something that searches again and again.
trait Search {
    /// How many files it found something in, as far as it tells.
    fn search(&self, case: &Case) -> Result<u64>;
}

/// Answers the numbers of cases on stdin with nanoseconds and files, until it is closed.
pub(crate) fn serve(name: &str, corpus: &str) -> Result<()> {
    let started = Instant::now();
    let search: Box<dyn Search> = match name {
        "toolpost" => Box::new(toolpost::Subject::new(corpus)?),
        "fff" => Box::new(fff::Subject::new(corpus)?),
        _ => bail!("no subject `{name}`"),
    };
    println!("{} 0", started.elapsed().as_nanos());
    for line in std::io::stdin().lines() {
        let case = CASES.get(line?.parse::<usize>()?).context("no such case")?;
        let started = Instant::now();
        let files = search.search(case)?;
        println!("{} {files}", started.elapsed().as_nanos());
    }
    Ok(())
}

/// Runs each search in turn, several times.
pub(crate) fn measure(places: &Places) -> Result<Vec<Table>> {
    let corpus = places.corpus()?;
    let rg = places.peer("rg")?;
    let home = tempfile::tempdir()?;
    let mut ours = Resident::start("toolpost", &corpus)?;
    let mut fff = Resident::start("fff", &corpus)?;
    let mut measured = Vec::new();
    for (number, case) in CASES.iter().enumerate().filter(|(_, case)| case.kind != Kind::Names) {
        let (mut theirs, mut samples) = (Runs::default(), [Samples::default(), Samples::default()]);
        let listed = quiet(&rg, &case.theirs(Shown::Names), &corpus.folder, home.path())
            .stdout(Stdio::piped())
            .output()?;
        let listed = listed.stdout.iter().filter(|byte| **byte == b'\n').count();
        let mut files = [0, 0];
        for round in 0..WARM_UP + ROUNDS {
            let ran =
                run("rg", &mut quiet(&rg, &case.theirs(case.shown), &corpus.folder, home.path()), &[0, 1])?;
            let answers = [ours.ask(number)?, fff.ask(number)?];
            files = answers.map(|(_, files)| files);
            if round >= WARM_UP {
                theirs.add(ran);
                samples.iter_mut().zip(answers).for_each(|(samples, (time, _))| samples.add(time));
            }
        }
        measured.push((case, theirs, samples, listed, files));
    }
    let (our_start, fff_start) = (ours.started, fff.started);
    let (our_peak, fff_peak) = (ours.end()?, fff.end()?);
    let tables = measured.into_iter().map(|(case, theirs, [ours, fff], listed, files)| {
        let title = format!("warm: {}, {}, {ROUNDS} rounds in turn", case.title, corpus.size());
        let mut table = Table::new(title, Unit::Millis);
        table.add_runs("rg, started anew", theirs);
        table.add(OURS, ours, Some(our_peak));
        table.add(FFF, fff, Some(fff_peak));
        table.goal(OURS, "within 0.4 of rg", |row| row.ratio <= 0.4);
        table.goal(OURS, "under 100 MB", |_| our_peak * 1024 < 100_000_000);
        table.note(format!(
            "Files: rg {listed}, ours shows {}, fff-search {}. Getting ready took ours {our_start:.0?} and fff-search \
             {fff_start:.0?}; it watches nothing here, and would not see a new file.",
            files[0], files[1]
        ));
        table
    });
    Ok(tables.collect())
}

/// A process that searches when it is asked.
struct Resident {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// How long it took to get ready.
    started: Duration,
}

impl Resident {
    fn start(name: &str, corpus: &Corpus) -> Result<Resident> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(format!("{SERVE}={name}")).arg(&corpus.folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = child.stdin.take().context("no stdin")?;
        let answers = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut resident = Resident { child, questions, answers, started: Duration::ZERO };
        resident.started = resident.answer()?.0;
        Ok(resident)
    }

    fn ask(&mut self, case: usize) -> Result<(Duration, u64)> {
        writeln!(self.questions, "{case}")?;
        self.answer()
    }

    fn answer(&mut self) -> Result<(Duration, u64)> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let (time, files) = line.trim().split_once(' ').context("a process that should stay has ended")?;
        Ok((Duration::from_nanos(time.parse()?), files.parse()?))
    }

    /// Ends it; the most memory it had, in KiB.
    fn end(self) -> Result<u64> {
        drop(self.questions);
        let (status, _, peak_kib) = wait(self.child)?;
        ensure!(status == 0, "a process that should end well had wait status {status}");
        Ok(peak_kib)
    }
}
