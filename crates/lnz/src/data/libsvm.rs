//! LIBSVM text: on each line a label, then `index:value` for the values that are not zero.

use super::Rows;
use super::dense::WIDEST;
use super::lines::Lines;
use super::packed;
use crate::io::Parsed;
use crate::io::input::Input;

/// The longest line, in bytes.
const LONGEST_LINE: u64 = 1 << 26;

/// Opens the file; without a width, reads it once to find the largest index.
pub(super) fn open(input: &Input, width: Option<usize>) -> Parsed<Box<dyn Rows>> {
    let width = match width {
        Some(width) => width,
        None => largest_index(Examples::open(input)?)?,
    };
    Ok(Box::new(LibsvmRows { examples: Examples::open(input)?, width, has_values: false }))
}

struct LibsvmRows {
    examples: Examples,
    width: usize,
    has_values: bool,
}

impl Rows for LibsvmRows {
    fn width(&self) -> usize {
        self.width
    }

    fn count(&self) -> Option<usize> {
        None
    }

    fn label(&self) -> Option<f64> {
        Some(self.examples.label)
    }

    fn next_row(&mut self, row: &mut [f64]) -> Parsed<bool> {
        row.fill(0.0);
        let width = self.width;
        let found = self.examples.next(&mut |index, value| match row.get_mut(index - 1) {
            Some(place) => {
                *place = value;
                self.has_values = true;
                Ok(())
            }
            None => Err(format!("index {index}, but the model has {width} visible units")),
        })?;
        if !found && !self.has_values {
            return Err(NO_VALUES.to_owned());
        }
        Ok(found)
    }
}

/// A file of plain numbers would otherwise pass as labels without values.
const NO_VALUES: &str = "has no `index:value` on any line; expected LIBSVM text";

/// Columns that any file may have.
const ALWAYS_FINE: usize = 1 << 16;

fn largest_index(mut examples: Examples) -> Parsed<usize> {
    let mut largest = 0;
    while examples.next(&mut |index, _| {
        if index > WIDEST {
            return Err(format!("index {index}; expected at most {WIDEST}"));
        }
        largest = largest.max(index);
        Ok(())
    })? {}
    // Each column that occurs takes at least four bytes. A few bytes must not ask for gigabytes.
    let bytes = examples.lines.bytes;
    if largest > ALWAYS_FINE && largest as u64 > bytes {
        return Err(format!(
            "has the index {largest} in {bytes} bytes of text, so that nearly all columns are empty; a model would have {largest} visible units: number the columns from 1, or check the index"
        ));
    }
    if largest == 0 { Err(NO_VALUES.to_owned()) } else { Ok(largest) }
}

/// The lines of a file, taken apart.
struct Examples {
    lines: Lines,
    /// The label of the last line.
    label: f64,
}

impl Examples {
    fn open(input: &Input) -> Parsed<Self> {
        Ok(Self { lines: Lines::new(packed::open(input)?, LONGEST_LINE), label: 0.0 })
    }

    /// Hands each index and value of the next line over; false at the end.
    fn next(&mut self, take: &mut dyn FnMut(usize, f64) -> Parsed<()>) -> Parsed<bool> {
        while self.lines.advance()? {
            let parsed = std::str::from_utf8(&self.lines.line)
                .map_err(|_| "bytes that are not text".to_owned())
                .and_then(|line| parse_line(line, take));
            let number = self.lines.number;
            let label = parsed.map_err(|problem| format!("line {number} has {problem}"))?;
            if let Some(label) = label {
                self.label = label;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Takes a line apart and returns its label; None if there is nothing on it.
fn parse_line(line: &str, take: &mut dyn FnMut(usize, f64) -> Parsed<()>) -> Parsed<Option<f64>> {
    let line = line.split_once('#').map_or(line, |(before, _comment)| before);
    let mut words = line.split_ascii_whitespace();
    let Some(label) = words.next() else { return Ok(None) };
    let label = label
        .parse()
        .map_err(|_| format!("{label:?} where the label should be; expected LIBSVM text"))?;
    let mut previous = 0;
    for word in words {
        let (index, value) = word
            .split_once(':')
            .and_then(|(index, value)| Some((index.parse().ok()?, value.parse::<f64>().ok()?)))
            .ok_or_else(|| format!("{word:?}, expected `index:value`"))?;
        if index == 0usize {
            return Err("index 0; LIBSVM counts from 1".to_owned());
        }
        if index <= previous {
            return Err(format!("index {index} after {previous}; indices must rise"));
        }
        if !(0.0..=1.0).contains(&value) {
            return Err(format!("the value {value} at index {index}; expected values from 0 to 1"));
        }
        take(index, value)?;
        previous = index;
    }
    Ok(Some(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, width: Option<usize>) -> Parsed<Vec<Vec<f64>>> {
        let mut source = open(&Input::of_bytes(text.as_bytes()), width)?;
        let (mut row, mut rows) = (vec![0.0; source.width()], Vec::new());
        while source.next_row(&mut row)? {
            rows.push(row.clone());
        }
        Ok(rows)
    }

    #[test]
    fn a_line_may_hold_only_a_label() {
        let text = "+1 2:1 3:0.5\n-1\n\n-1 1:1 # the last";
        let expected = vec![vec![0.0, 1.0, 0.5], vec![0.0; 3], vec![1.0, 0.0, 0.0]];
        assert_eq!(rows(text, None).unwrap(), expected);
        assert_eq!(rows(text, Some(5)).unwrap()[2], [1.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn problems_come_with_their_line() {
        let problem = |text: &str| rows(text, Some(3)).unwrap_err();
        assert_eq!(problem("1 1:1\n1 0:1\n"), "line 2 has index 0; LIBSVM counts from 1");
        assert_eq!(problem("1 4:1"), "line 1 has index 4, but the model has 3 visible units");
        assert_eq!(
            problem("1\n1 3:2"),
            "line 2 has the value 2 at index 3; expected values from 0 to 1"
        );
        assert!(problem("1 3:nan").contains("NaN at index 3"));
        assert_eq!(problem("1 3"), "line 1 has \"3\", expected `index:value`");
        assert_eq!(problem("1 2:1 2:1"), "line 1 has index 2 after 2; indices must rise");
        assert!(problem("a,b,c\n").contains("where the label should be"));
        assert_eq!(problem("1\n0\n"), NO_VALUES);
        assert_eq!(rows("1\n0\n", None).unwrap_err(), NO_VALUES);
        assert!(rows("1 99999999999:1", None).unwrap_err().contains("index 99999999999"));
    }
}
