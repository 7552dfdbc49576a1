//! What a terminal shows: enough of one to see the screen as a person does. It wraps, scrolls, and reflows when it gets another
//! width, as most terminals do.

/// A row of the screen.
#[derive(Debug, Clone, Default)]
struct Row {
    /// A wide letter takes two places, the second of which is empty.
    letters: Vec<Option<char>>,
    /// Whether the next row belongs to the same line.
    goes_on: bool,
}

/// The screen, with everything that has scrolled away above it.
#[derive(Debug)]
pub(super) struct Screen {
    columns: usize,
    height: usize,
    rows: Vec<Row>,
    /// The cursor: the row among all rows, and the column.
    row: usize,
    column: usize,
    /// Whether the next letter begins a row.
    is_full: bool,
    saved: (usize, usize),
    pub(super) is_cursor_shown: bool,
    /// Bytes that are not whole yet.
    held: Vec<u8>,
}

impl Screen {
    pub(super) fn new(columns: usize, height: usize) -> Screen {
        Screen {
            columns,
            height,
            rows: vec![Row::default()],
            row: 0,
            column: 0,
            is_full: false,
            saved: (0, 0),
            is_cursor_shown: true,
            held: Vec::new(),
        }
    }

    /// The first row that is on the screen.
    fn top(&self) -> usize {
        self.rows.len().saturating_sub(self.height)
    }

    /// Everything, also what has scrolled away, without spaces at the ends of rows.
    pub(super) fn text(&self) -> String {
        let rows: Vec<String> = self
            .rows
            .iter()
            .map(|row| row.letters.iter().flatten().collect::<String>().trim_end().to_owned())
            .collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// The row of the cursor, and its column.
    pub(super) fn cursor(&self) -> (String, usize) {
        let row = &self.rows[self.row];
        (row.letters.iter().flatten().collect::<String>().trim_end().to_owned(), self.column)
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        while let Some(used) = self.next() {
            self.held.drain(..used);
        }
    }

    /// Obeys what comes first. Returns its bytes; none where it is not whole.
    fn next(&mut self) -> Option<usize> {
        match *self.held.first()? {
            b'\r' => (self.column, self.is_full) = (0, false),
            b'\n' => self.down(),
            b'\x1b' => return self.escape(),
            0x07 => {}
            first => {
                let length = match first {
                    0x00..=0x7f => 1,
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    _ => 4,
                };
                let letter = std::str::from_utf8(self.held.get(..length)?).unwrap().chars().next().unwrap();
                self.letter(letter);
                return Some(length);
            }
        }
        Some(1)
    }

    fn escape(&mut self) -> Option<usize> {
        match *self.held.get(1)? {
            b'7' => self.saved = (self.row, self.column),
            b'8' => (self.row, self.column, self.is_full) = (self.saved.0, self.saved.1, false),
            b'D' => self.down(),
            b'[' => {
                let end = self.held.iter().skip(2).position(|byte| (0x40..=0x7e).contains(byte))? + 2;
                let parameters = String::from_utf8(self.held[2..end].to_vec()).unwrap();
                let number: usize = parameters.parse().unwrap_or(1);
                match self.held[end] {
                    b'A' => self.row = self.row.saturating_sub(number).max(self.top()),
                    b'C' => self.column = (self.column + number).min(self.columns - 1),
                    b'D' => self.column = self.column.saturating_sub(number),
                    b'H' => (self.row, self.column) = (self.top(), 0),
                    b'J' if parameters == "2" => {
                        let top = self.top();
                        self.rows[top..].iter_mut().for_each(|row| *row = Row::default());
                    }
                    b'J' => {
                        self.rows.truncate(self.row + 1);
                        self.rows[self.row].letters.truncate(self.column);
                        self.rows[self.row].goes_on = false;
                    }
                    b'K' => self.rows[self.row].letters.truncate(self.column),
                    b'h' if parameters == "?25" => self.is_cursor_shown = true,
                    b'l' if parameters == "?25" => self.is_cursor_shown = false,
                    b'h' | b'l' | b'm' => {}
                    other => panic!("the screen does not know CSI {parameters} {}", char::from(other)),
                }
                if self.held[end] != b'm' {
                    self.is_full = false;
                }
                return Some(end + 1);
            }
            other => panic!("the screen does not know ESC {}", char::from(other)),
        }
        Some(2)
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(Row::default());
        }
        self.is_full = false;
    }

    fn letter(&mut self, letter: char) {
        let wide =
            if (0x3000..=0x9fff).contains(&(letter as u32)) || letter as u32 >= 0x1f300 { 2 } else { 1 };
        if self.is_full || self.column + wide > self.columns {
            self.rows[self.row].goes_on = true;
            self.down();
            self.column = 0;
        }
        let row = &mut self.rows[self.row].letters;
        row.resize(row.len().max(self.column + wide), Some(' '));
        row[self.column] = Some(letter);
        if wide == 2 {
            row[self.column + 1] = None;
        }
        self.column += wide;
        if self.column == self.columns {
            (self.column, self.is_full) = (self.columns - 1, true);
        }
    }

    /// Another size: lines that went on over several rows are broken anew.
    pub(super) fn resize(&mut self, columns: usize, height: usize) {
        let mut rows: Vec<Row> = Vec::new();
        let mut cursor = (0, 0);
        let mut line: Vec<Option<char>> = Vec::new();
        let mut place = None;
        for (number, row) in self.rows.iter().enumerate() {
            if number == self.row {
                place = Some(line.len() + self.column);
            }
            line.extend(row.letters.iter().copied());
            if row.goes_on {
                continue;
            }
            let first = rows.len();
            let chunks: Vec<Vec<Option<char>>> = line.chunks(columns).map(<[_]>::to_vec).collect();
            let count = chunks.len().max(1);
            for (index, letters) in chunks.into_iter().enumerate() {
                rows.push(Row { letters, goes_on: index + 1 < count });
            }
            if rows.len() == first {
                rows.push(Row::default());
            }
            if let Some(place) = place.take() {
                let below = (place / columns).min(count - 1);
                cursor = (first + below, (place - below * columns).min(columns - 1));
            }
            line.clear();
        }
        (self.columns, self.height, self.rows) = (columns, height, rows);
        (self.row, self.column) = cursor;
        self.is_full = false;
    }
}

#[test]
fn the_screen_does_what_terminals_do() {
    let mut screen = Screen::new(5, 3);
    screen.push(b"abcdefg\r\n");
    screen.push("漢字漢".as_bytes());
    assert_eq!(screen.text(), "abcde\nfg\n漢字\n漢");
    screen.push(b"\x1b[1A\r\x1b[Jx\x1b7\r\ny\x1b8z");
    assert_eq!((screen.text().as_str(), screen.cursor()), ("abcde\nfg\nxz\ny", ("xz".to_owned(), 2)));
    screen.resize(3, 3);
    assert_eq!((screen.text().as_str(), screen.cursor()), ("abc\ndef\ng\nxz\ny", ("xz".to_owned(), 2)));
    screen.resize(8, 3);
    assert_eq!(screen.text(), "abcdefg\nxz\ny");
}
