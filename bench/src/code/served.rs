//! A server that stays, as agents have it: each question by `find_references` over MCP, which compares the files first.

use crate::process::wait;
use crate::report::{Table, Unit};
use crate::samples::Samples;
use crate::search::quiet;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;

const FIRST: &str = "toolpost mcp, first answer, nothing changed";
const UNCHANGED: &str = "toolpost mcp, nothing changed";
const EDITED: &str = "toolpost mcp, one file edited";

/// Asks for the uses of a function of one file, which is edited in between; the index is already kept below `home`.
pub(super) fn measure(toolpost: &Path, folder: &Path, home: &Path, size: &str) -> Result<Table> {
    let place = folder.join("asked_of_the_server.rs");
    let write = |number: usize| {
        let code = format!("pub fn served_{number}_of() {{}}\nfn calls() {{ served_{number}_of() }}\n");
        std::fs::write(&place, code)
    };
    let mut server = Server::start(toolpost, folder, home)?;
    let (mut first, mut unchanged, mut edited) = (Samples::default(), Samples::default(), Samples::default());
    let measured = (|| -> Result<()> {
        write(0)?;
        // A file that was written a moment ago is read again each time.
        std::thread::sleep(Duration::from_secs(3));
        first.add(server.uses_of("served_0_of")?);
        for number in 0..ROUNDS {
            unchanged.add(server.uses_of(&format!("served_{number}_of"))?);
            write(number + 1)?;
            edited.add(server.uses_of(&format!("served_{}_of", number + 1))?);
        }
        Ok(())
    })();
    std::fs::remove_file(&place)?;
    measured?;
    let peak = Some(server.end()?);
    let mut table = Table::new(format!("code: a server that stays, {size}"), Unit::Millis);
    for (name, samples, most) in
        [(FIRST, first, 500.0), (UNCHANGED, unchanged, f64::INFINITY), (EDITED, edited, 30.0)]
    {
        table.add(name, samples, peak);
        if most.is_finite() {
            table.goal(name, format!("under {most} ms"), |row| row.median < most);
        }
    }
    Ok(table)
}

const MEANWHILE: &str = "toolpost mcp, a read while a cold index is made with progress";

/// Other calls, one after another, while the first question about code makes the index and asks for progress.
pub(super) fn meanwhile(toolpost: &Path, folder: &Path, home: &Path, size: &str) -> Result<Table> {
    let place = folder.join("read_meanwhile.txt");
    std::fs::write(&place, "a line of a small file\n".repeat(40))?;
    let measured = (|| -> Result<(Samples, usize, usize)> {
        let mut server = Server::start(toolpost, folder, home)?;
        let slow = json!({ "name": "find_references", "arguments": { "symbol": "served_meanwhile" },
            "_meta": { "progressToken": "slow" } });
        server.send(&json!({ "jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": slow }))?;
        let mut reads = Samples::default();
        let read = json!({ "name": "read", "arguments": { "filePath": "read_meanwhile.txt" } });
        while server.others.iter().all(|other| other["id"] != "slow") && server.asked < OTHER_CALLS {
            let started = Instant::now();
            server.ask("tools/call", &read)?;
            reads.add(started.elapsed());
            std::thread::sleep(Duration::from_millis(10));
        }
        let before_its_end =
            server.others.iter().filter(|other| other["params"]["progressToken"] == "slow").count();
        let answered = usize::try_from(server.asked)?;
        server.end()?;
        Ok((reads, answered, before_its_end))
    })();
    std::fs::remove_file(&place)?;
    let (reads, answered, progress) = measured?;
    let mut table = Table::new(format!("code: other calls while a cold index is made, {size}"), Unit::Millis);
    table.add(MEANWHILE, reads, None);
    table.goal(MEANWHILE, "95 % within 50 ms", |row| row.p95 <= 50.0);
    table.goal(MEANWHILE, "100 before the index is ready", |_| answered as u64 >= OTHER_CALLS);
    table.goal(MEANWHILE, "progress while it is made", |_| progress > 0);
    table.note(format!(
        "{answered} calls were answered, and {progress} times progress came, before the index was ready."
    ));
    Ok(table)
}

/// With the greeting, 100 calls.
const OTHER_CALLS: u64 = 101;

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
    /// What came before the answers that were waited for.
    others: Vec<Value>,
}

impl Server {
    fn start(toolpost: &Path, folder: &Path, home: &Path) -> Result<Server> {
        let mut command = quiet(toolpost, &["mcp"], folder, home);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().context("no stdin")?;
        let output = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut server = Server { child, input, output, asked: 0, others: Vec::new() };
        let client = json!({ "name": "bench", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        server.ask("initialize", &hello)?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        Ok(self.input.write_all(format!("{message}\n").as_bytes())?)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.asked += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            ensure!(self.output.read_line(&mut line)? > 0, "the server has ended");
            let answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == self.asked {
                return Ok(answer);
            }
            self.others.push(answer);
        }
    }

    /// How long the uses of a new function take, which its own file calls once.
    fn uses_of(&mut self, name: &str) -> Result<Duration> {
        let started = Instant::now();
        let call = json!({ "name": "find_references", "arguments": { "symbol": name } });
        let answer = self.ask("tools/call", &call)?;
        let took = started.elapsed();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        ensure!(text.contains(&format!("calls() {{ {name}() }}")), "the server answered `{answer}`");
        Ok(took)
    }

    /// Ends the server; its peak of memory in KiB.
    fn end(self) -> Result<u64> {
        drop(self.input);
        let (_, _, peak_kib) = wait(self.child)?;
        Ok(peak_kib)
    }
}
