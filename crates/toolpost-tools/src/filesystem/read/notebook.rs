//! A Jupyter notebook as a reader sees it: its cells with their outputs, as lines; pictures are attached.

use super::{Args, Data, Encoding, Wanted, lines, note, past_the_end};
use serde_json::Value;
use std::io::Cursor;
use toolpost_core::outcome::{Attachment, AttachmentContent};
use toolpost_core::{Context, Output, ToolError};

/// Larger notebooks are shown as the text that they are.
pub(super) const MOST_BYTES: u64 = 20 << 20;
/// Pictures that are attached.
const MOST_PICTURES: usize = 10;
/// Bytes that all of them may have, in base64.
const MOST_PICTURE_BYTES: usize = 5 << 20;
/// Lines of one output that are shown.
const MOST_OUTPUT_LINES: usize = 200;

/// Whether a file is a notebook by its name.
pub(super) fn is_named_so(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, kind)| kind.eq_ignore_ascii_case("ipynb"))
}

/// The notebook in these bytes; none where they are none.
pub(super) fn shown(
    ctx: &Context,
    name: &str,
    bytes: &[u8],
    args: &Args,
) -> Option<Result<Output<Data>, ToolError>> {
    let notebook: Value = serde_json::from_slice(bytes).ok()?;
    // Version 3 has its cells in worksheets.
    let cells = notebook.get("cells").or_else(|| notebook.pointer("/worksheets/0/cells"))?.as_array()?;
    let mut reading = Reading::default();
    for (index, cell) in cells.iter().enumerate() {
        reading.cell(index + 1, cell);
    }
    Some(reading.page(ctx, name, bytes, cells.len(), args))
}

#[derive(Default)]
struct Reading {
    text: String,
    pictures: Vec<(String, String)>,
    picture_bytes: usize,
    left_out: usize,
}

impl Reading {
    fn cell(&mut self, number: usize, cell: &Value) {
        let kind = cell["cell_type"].as_str().unwrap_or("unknown");
        let count = cell["execution_count"].as_u64().or_else(|| cell["prompt_number"].as_u64());
        let ran = count.map_or_else(String::new, |count| format!(" [{count}]"));
        self.text.push_str(&format!("== cell {number}: {kind}{ran} ==\n"));
        self.lines(&joined(cell.get("source").or_else(|| cell.get("input"))), usize::MAX);
        for output in cell["outputs"].as_array().into_iter().flatten() {
            self.output(number, output);
        }
    }

    fn output(&mut self, cell: usize, output: &Value) {
        let kind = output["output_type"].as_str().unwrap_or("output");
        self.text.push_str(&format!("-- output of cell {cell}: {kind} --\n"));
        // What is under `data` in version 4 stands beside the other fields in version 3.
        let data = output.get("data").unwrap_or(output);
        for (kind, field) in [("image/png", "png"), ("image/jpeg", "jpeg")] {
            if let Some(picture) = data.get(kind).or_else(|| data.get(field)) {
                self.picture(kind, &joined(Some(picture)));
            }
        }
        let text = match kind {
            "error" | "pyerr" => {
                let traceback = output["traceback"].as_array().into_iter().flatten();
                let traceback: Vec<&str> = traceback.filter_map(Value::as_str).collect();
                match traceback.is_empty() {
                    true => format!("{}: {}", joined(output.get("ename")), joined(output.get("evalue"))),
                    false => traceback.join("\n"),
                }
            }
            _ => {
                let plain = data.get("text/plain").or_else(|| output.get("text"));
                let other = || ["text/markdown", "text/latex", "text/html", "application/json"].iter();
                joined(plain.or_else(|| other().find_map(|kind| data.get(kind))))
            }
        };
        self.lines(&crate::shell::plain_text(&text), MOST_OUTPUT_LINES);
    }

    fn lines(&mut self, text: &str, most: usize) {
        let mut all = text.lines();
        for line in all.by_ref().take(most) {
            self.text.push_str(line);
            self.text.push('\n');
        }
        let more = all.count();
        if more > 0 {
            self.text.push_str(&format!("[… {more} more lines of this output are left out]\n"));
        }
    }

    fn picture(&mut self, kind: &str, base64: &str) {
        let base64: String = base64.split_whitespace().collect();
        self.picture_bytes += base64.len();
        if self.pictures.len() >= MOST_PICTURES || self.picture_bytes > MOST_PICTURE_BYTES {
            self.left_out += 1;
            self.text.push_str(&format!("[a picture ({kind}), not attached]\n"));
            return;
        }
        self.pictures.push((kind.to_owned(), base64));
        self.text.push_str(&format!("[picture {} ({kind}), attached]\n", self.pictures.len()));
    }

    fn page(
        self,
        ctx: &Context,
        name: &str,
        bytes: &[u8],
        cells: usize,
        args: &Args,
    ) -> Result<Output<Data>, ToolError> {
        let wanted = Wanted::new(ctx, args);
        let size = self.text.len() as u64;
        let page = lines::page(ctx, Cursor::new(self.text), size, Encoding::Utf8, &wanted)
            .map_err(|error| error.named(name))?;
        if page.lines == 0 && wanted.first > 1 {
            return Err(past_the_end(ctx, name, "lines", page.total.unwrap_or(0), wanted.first));
        }
        let about =
            format!("(a notebook of {cells} cells; the lines are those of this view, not of the file)");
        let text = format!("{}{}{about}", page.text, note(ctx, &page, &wanted));
        let data = Data {
            path: name.to_owned(),
            kind: "notebook".to_owned(),
            size: bytes.len() as u64,
            start_line: wanted.first,
            lines: page.lines,
            total_lines: page.total,
            next_offset: page.next,
            cut_lines: page.cut,
            encoding: Some(Encoding::Utf8.name().to_owned()),
            hash: Some(crate::filesystem::text::hash(bytes)),
            ..Data::default()
        };
        let mut output = Output::new(name, text, data);
        // With the first lines only, as those of a PDF.
        let pictures = self.pictures.into_iter().filter(|_| wanted.first == 1);
        for (index, (media_type, base64)) in pictures.enumerate() {
            let kind = media_type.rsplit('/').next().unwrap_or_default();
            let filename = format!("picture-{}.{kind}", index + 1);
            output =
                output.attach(Attachment { media_type, filename, content: AttachmentContent::Data(base64) });
        }
        Ok(output)
    }
}

/// A text, which may be given as a list of lines.
fn joined(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}
