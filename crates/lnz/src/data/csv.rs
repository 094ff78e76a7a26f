//! Data as lines of numbers, maybe below a line of names.

use super::Rows;
use super::dense::{WIDEST, scaled};
use super::lines::Lines;
use super::packed::Stream;
use crate::io::Parsed;
use crate::io::csv::{is_comment, is_header, no_row, numbers};

/// The longest line, in bytes.
const LONGEST_LINE: u64 = 1 << 28;

/// True for text whose lines have several numbers and no `index:value`.
pub(super) fn looks_like_it(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let mut lines = text.lines().filter(|line| !is_comment(line));
    let Some(first) = lines.next() else { return false };
    let several = |line: &str| {
        // The last number may be cut off where the look at the file ends.
        let whole = if start.len() >= 1000 {
            line.rsplit_once([',', ';', '\t', ' ']).map_or("", |(w, _)| w)
        } else {
            line
        };
        numbers(whole)
            .is_some_and(|row| row.len() > 1 || (row.len() == 1 && line.contains([',', ';'])))
    };
    !text.contains(':')
        && (several(first) || (is_header(first) && lines.next().is_none_or(several)))
}

struct CsvRows {
    lines: Lines,
    /// The first row, read ahead to know the width.
    first: Option<Vec<f64>>,
    width: usize,
    /// Rows so far.
    rows: usize,
}

/// Reads up to the first row.
pub(super) fn open(stream: Stream) -> Parsed<Box<dyn Rows>> {
    let lines = Lines::new(stream, LONGEST_LINE);
    let mut rows = CsvRows { lines, first: None, width: 0, rows: 0 };
    let first = rows.read()?.ok_or("has no numbers, expected rows of values")?;
    rows.width = first.len();
    if rows.width > WIDEST {
        return Err(format!(
            "has {} values in its first row; expected at most {WIDEST}",
            rows.width
        ));
    }
    rows.first = Some(first);
    Ok(Box::new(rows))
}

impl CsvRows {
    /// The numbers of the next line that has some.
    fn read(&mut self) -> Parsed<Option<Vec<f64>>> {
        while self.lines.advance()? {
            let text = String::from_utf8_lossy(&self.lines.line);
            if is_comment(&text)
                || (self.rows == 0 && self.first.is_none() && self.width == 0 && is_header(&text))
            {
                continue;
            }
            return match numbers(&text) {
                Some(row) => Ok(Some(row)),
                None => Err(no_row(self.lines.number, text.trim())),
            };
        }
        Ok(None)
    }
}

impl Rows for CsvRows {
    fn width(&self) -> usize {
        self.width
    }

    fn count(&self) -> Option<usize> {
        None
    }

    fn next_row(&mut self, row: &mut [f64]) -> Parsed<bool> {
        let found = match self.first.take() {
            Some(first) => first,
            None => match self.read()? {
                Some(found) => found,
                None => return Ok(false),
            },
        };
        if found.len() != self.width {
            return Err(format!(
                "line {} has {} values, but the lines before have {}",
                self.lines.number,
                found.len(),
                self.width
            ));
        }
        self.rows += 1;
        scaled(row, &found, 1.0, self.rows).map(|()| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Parsed<Vec<Vec<f64>>> {
        let mut source = open(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())))?;
        let (mut row, mut rows) = (vec![0.0; source.width()], Vec::new());
        while source.next_row(&mut row)? {
            rows.push(row.clone());
        }
        Ok(rows)
    }

    #[test]
    fn a_line_of_names_is_skipped_and_blanks_separate() {
        let expected = vec![vec![0.0, 1.0], vec![0.5, 0.0]];
        for text in
            ["a,b\n0,1\n0.5,0\n", "0 1\n0.5  0", "# made\n0;1\n\n0.5;0\n", "0\t1\r\n.5\t0\r\n"]
        {
            assert!(looks_like_it(text.as_bytes()), "{text}");
            assert_eq!(rows(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn sparse_text_and_labels_are_something_else() {
        for text in ["1 3:1\n", "-1\n+1 2:1\n", "1\n0\n", "hello, world\n"] {
            assert!(!looks_like_it(text.as_bytes()) || text.starts_with("hello"), "{text}");
        }
        assert_eq!(
            rows("0,1\n0\n").unwrap_err(),
            "line 2 has 1 values, but the lines before have 2"
        );
        assert!(rows("0,1\n0,x\n").unwrap_err().starts_with("line 2 is \"0,x\""));
        assert!(rows("0,1\n0,-1\n").unwrap_err().starts_with("row 2, column 2 is -1"));
    }
}
