//! Tables of numbers as text: rows on lines, separated by commas, semicolons, tabs or blanks.

use super::Parsed;
use super::input::Input;
use super::tensors::{Order, TensorInfo, TensorSource};
use ndarray::{Array2, ArrayD};

const LARGEST_FILE: u64 = 4 << 30;

/// True for text whose first lines are numbers, maybe after a line of names.
pub(crate) fn looks_like_it(start: &[u8]) -> bool {
    if start.iter().any(|&byte| byte == 0 || byte > 0x7e) {
        return false;
    }
    let text = String::from_utf8_lossy(start);
    // The last line may be cut off where the look at the file ends.
    let whole = text.rfind('\n').map_or(&*text, |end| &text[..end]);
    let mut lines = whole.lines().filter(|line| !is_comment(line));
    let numeric = |line: &str| numbers(line).is_some_and(|row| !row.is_empty());
    match (lines.next(), lines.next()) {
        (Some(first), Some(second)) => numeric(second) && (numeric(first) || is_header(first)),
        (Some(only), None) => numeric(only),
        _ => false,
    }
}

/// Names of columns, which say nothing about a matrix.
pub(crate) fn is_header(line: &str) -> bool {
    line.contains([',', ';', '\t']) && numbers(line).is_none() && !line.contains(':')
}

pub(crate) fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with(['#', '%'])
}

/// The numbers of a line, or None if it has something else.
pub(crate) fn numbers(line: &str) -> Option<Vec<f64>> {
    line.split([',', ';', '\t', ' ', '\r', '\n'])
        .map(|word| word.trim_matches('"'))
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().ok())
        .collect()
}

/// A table in memory.
pub(super) struct CsvFile {
    tensors: [TensorInfo; 1],
    table: Array2<f64>,
}

impl CsvFile {
    pub(super) fn open(input: &Input) -> Parsed<Self> {
        let bytes = input.read(LARGEST_FILE)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| "has bytes that are not text")?;
        let table = parse(text)?;
        let info = TensorInfo {
            name: String::new(),
            shape: table.shape().to_vec(),
            dtype: "text".to_owned(),
            order: Order::RowMajor,
        };
        Ok(Self { tensors: [info], table })
    }
}

/// Why a line is no row of numbers.
pub(crate) fn no_row(number: usize, line: &str) -> String {
    let start: String = line.chars().take(40).collect();
    format!("line {number} is {start:?}, expected numbers")
}

fn parse(text: &str) -> Parsed<Array2<f64>> {
    let (mut values, mut rows, mut width) = (Vec::new(), 0, None);
    let lines = text.lines().enumerate().filter(|(_, line)| !is_comment(line));
    for (count, (number, line)) in lines.enumerate() {
        let Some(row) = numbers(line) else {
            if count == 0 && is_header(line) {
                continue;
            }
            return Err(no_row(number + 1, line));
        };
        if *width.get_or_insert(row.len()) != row.len() {
            return Err(format!(
                "line {} has {} numbers, but the lines before have {}",
                number + 1,
                row.len(),
                width.unwrap_or_default()
            ));
        }
        values.extend(row);
        rows += 1;
    }
    let width = width.ok_or("has no numbers")?;
    Array2::from_shape_vec((rows, width), values).map_err(|error| error.to_string())
}

impl TensorSource for CsvFile {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn values(&mut self, _index: usize) -> Parsed<ArrayD<f64>> {
        Ok(self.table.clone().into_dyn())
    }
}
