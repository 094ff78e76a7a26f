//! A list of numbers in a file: .npy for numpy, .csv for tables, .txt for everything else.

use super::{npy, save};
use crate::{Error, Result};
use std::io::{self, Write};
use std::path::Path;

type WriteValues = fn(&mut dyn Write, &str, &[f64]) -> io::Result<()>;

/// Writes numbers in the format of the file's extension, whole or not at all: `.npy` as a float64
/// array, `.csv` with the columns `example` (from 1) and `name`, `.txt` as one number on each line.
pub fn write_values(path: &Path, name: &str, values: &[f64]) -> Result<()> {
    let write = writer_for(path)?;
    save::write_whole(path, |writer| write(writer, name, values))
}

/// Fails as [`write_values`] would, if the path is at fault; nothing is left behind.
pub fn check_values_path(path: &Path) -> Result<()> {
    writer_for(path)?;
    save::check_writable(path)
}

fn writer_for(path: &Path) -> Result<WriteValues> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => {
            Ok(|writer, _, values| npy::write(writer, &[values.len()], values.iter().copied()))
        }
        Some("csv") => Ok(|writer, name, values| {
            writeln!(writer, "example,{name}")?;
            (1..).zip(values).try_for_each(|(n, value)| writeln!(writer, "{n},{value}"))
        }),
        Some("txt") => {
            Ok(|writer, _, values| values.iter().try_for_each(|value| writeln!(writer, "{value}")))
        }
        _ => {
            let problem = "its extension names no format for numbers; use .npy, .csv or .txt";
            Err(Error::not_writable(path, problem.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_chooses_the_format() {
        let folder = tempfile::tempdir().unwrap();
        let written = |name: &str| {
            let path = folder.path().join(name);
            check_values_path(&path).unwrap();
            write_values(&path, "score", &[0.1, -2.0]).unwrap();
            std::fs::read(path).unwrap()
        };
        assert_eq!(written("a.txt"), b"0.1\n-2\n");
        assert_eq!(written("a.csv"), b"example,score\n1,0.1\n2,-2\n");
        assert!(written("a.npy").ends_with(&(-2.0f64).to_le_bytes()));
        for name in ["a", "a.json"] {
            let path = folder.path().join(name);
            let message = check_values_path(&path).unwrap_err().to_string();
            assert!(message.contains(".csv"), "{message}");
        }
    }
}
