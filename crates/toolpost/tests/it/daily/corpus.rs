//! The lines of the corpus, as `corpus.txt` has them.

/// One line, with what was decided about it before it was run.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    /// The project in which it runs.
    pub(super) project: &'static str,
    pub(super) text: String,
    /// Whether it needs the network.
    pub(super) needs_network: bool,
    /// Whether it is refused unless a rule opens the file.
    pub(super) is_refused: bool,
    /// Whether it does not work yet, and will.
    pub(super) waits: bool,
    /// Whether what it prints differs from run to run.
    pub(super) prints_differently: bool,
    /// Whether what it writes differs from run to run.
    pub(super) writes_differently: bool,
    /// A program without which alone it is run.
    pub(super) absent: Option<&'static str>,
}

/// All lines, in their order.
pub(super) fn lines() -> Vec<Line> {
    let mut lines = Vec::new();
    let mut project = "";
    let mut rows = include_str!("corpus.txt").lines();
    while let Some(row) = rows.next() {
        if row.is_empty() || row.starts_with('#') {
            continue;
        }
        if let Some(name) = row.strip_prefix("== ") {
            project = name;
            continue;
        }
        let mut line = Line { project, ..Line::default() };
        let mut rest = row;
        while let Some((tag, after)) = rest.strip_prefix('@').and_then(|tagged| tagged.split_once(' ')) {
            rest = after;
            match tag {
                "network" => line.needs_network = true,
                "refused" => line.is_refused = true,
                "waits" => line.waits = true,
                "output" => line.prints_differently = true,
                "names" => line.writes_differently = true,
                "absent" => {
                    let (program, after) = rest.split_once(' ').expect("a program and a line");
                    line.absent = Some(program);
                    rest = after;
                }
                other => panic!("no such tag: `@{other}`"),
            }
        }
        line.text = rest.to_owned();
        // A document in the line goes on to its end.
        if rest.contains("<<'END'") {
            for row in rows.by_ref() {
                line.text.push('\n');
                line.text.push_str(row);
                if row == "END" {
                    break;
                }
            }
        }
        lines.push(line);
    }
    lines
}
