//! The folder of results: one CSV file per experiment, to which finished runs are added.

use crate::error::{Error, Result};
use crate::row::{Row, hash_of};
use lnz_app::folder::Claim;
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A folder of results: all rows that it has.
#[derive(Debug)]
pub struct Results {
    folder: PathBuf,
    /// Rows of each experiment, in the order of its file.
    files: HashMap<&'static str, Vec<Row>>,
}

impl Results {
    /// Reads the files of these experiments, as far as they exist; the folder need not.
    pub(crate) fn read(
        folder: &Path,
        names: impl IntoIterator<Item = &'static str>,
    ) -> Result<Self> {
        let mut results = Self { folder: folder.to_owned(), files: HashMap::new() };
        for name in names {
            let rows = read(&results.csv_path(name))?;
            results.files.insert(name, rows);
        }
        Ok(results)
    }

    /// Whether there is any row of an experiment.
    pub fn has(&self, name: &str) -> bool {
        !self.rows(name).is_empty()
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file of the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Folder of the models that were trained for an experiment.
    pub(crate) fn models(&self) -> PathBuf {
        self.folder.join("models")
    }

    fn csv_path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.csv"))
    }

    /// Rows of one experiment.
    pub(crate) fn rows(&self, name: &str) -> &[Row] {
        self.files.get(name).map_or(&[], Vec::as_slice)
    }

    /// The rows of every experiment by their settings, so that none is computed twice.
    pub(crate) fn by_key(&self) -> HashMap<String, &Row> {
        self.files.values().flatten().map(|row| (row.key(), row)).collect()
    }

    /// Reads the rows of an experiment again: other processes may have added some.
    pub(crate) fn read_again(&mut self, name: &'static str) -> Result<()> {
        let rows = read(&self.csv_path(name))?;
        self.files.insert(name, rows);
        Ok(())
    }

    /// Whether the file of an experiment has a row with these settings by now.
    pub(crate) fn has_now(&self, name: &str, key: &str) -> Result<bool> {
        Ok(read(&self.csv_path(name))?.iter().any(|row| row.key() == key))
    }

    /// The right to compute the row of these settings; none while another process does.
    pub(crate) fn claim(&self, key: &str) -> Result<Option<Claim>> {
        Ok(Claim::of(&self.lock_path(&format!("{:016x}", hash_of(key)))?)?)
    }

    /// The right to change the file of an experiment.
    pub(crate) fn change(&self, name: &str) -> Result<Claim> {
        Ok(Claim::wait_for(&self.lock_path(name)?)?)
    }

    fn lock_path(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join("locks");
        make_folder(&folder)?;
        Ok(folder.join(format!("{name}.lock")))
    }

    /// Adds a row to the file of an experiment, which any number of processes do.
    pub(crate) fn add(&self, name: &str, row: &Row) -> Result<()> {
        let path = self.csv_path(name);
        let _mine = self.change(name)?;
        // A line that was cut off by a crash is not a row.
        let whole = whole_lines(&path)?;
        let line = lines(std::slice::from_ref(row), whole == 0);
        let written = line.and_then(|line| {
            let mut file =
                OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            file.set_len(whole)?;
            file.seek(SeekFrom::End(0))?;
            file.write_all(&line)
        });
        written.map_err(|error| unwritable(&path, "cannot be written", error))
    }

    /// Replaces the rows of an experiment, on disk and here.
    pub(crate) fn replace(&mut self, name: &'static str, rows: Vec<Row>) -> Result<()> {
        let path = self.csv_path(name);
        let lines =
            lines(&rows, true).map_err(|error| unwritable(&path, "cannot be written", error))?;
        let _mine = self.change(name)?;
        lnz::io::write_file(&path, &lines)?;
        self.files.insert(name, rows);
        Ok(())
    }

    /// Writes a file of the folder whole or not at all; returns its path.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf> {
        let path = self.path(name);
        lnz::io::write_file(&path, content)?;
        Ok(path)
    }

    /// Makes the folder, if it is not there.
    pub(crate) fn make_folder(&self) -> Result<()> {
        make_folder(&self.folder)
    }
}

fn whole_lines(path: &Path) -> Result<u64> {
    match fs::read(path) {
        Ok(bytes) => Ok(bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at as u64 + 1)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(unreadable(path, error)),
    }
}

fn read(path: &Path) -> Result<Vec<Row>> {
    let whole = whole_lines(path)? as usize;
    if whole == 0 {
        return Ok(Vec::new());
    }
    let bytes = fs::read(path).map_err(|error| unreadable(path, error))?;
    let mut reader = csv::Reader::from_reader(&bytes[..whole]);
    reader.deserialize().collect::<Result<Vec<Row>, _>>().map_err(|error| Error::Input {
        path: path.to_owned(),
        problem: format!(
            "{error}; it is not a file of results, or of another version: move it away"
        ),
    })
}

/// Rows as CSV.
fn lines(rows: &[Row], with_head: bool) -> io::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().has_headers(with_head).from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    writer.into_inner().map_err(csv::IntoInnerError::into_error)
}

/// Makes a folder and those above it.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| Error::Folder { folder: folder.to_owned(), error })
}

fn unreadable(path: &Path, error: io::Error) -> Error {
    Error::Input { path: path.to_owned(), problem: format!("cannot be read: {error}") }
}

fn unwritable(path: &Path, what: &str, error: io::Error) -> Error {
    Error::Output { path: path.to_owned(), problem: format!("{what}: {error}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_off_is_not_a_row() {
        let folder = tempfile::tempdir().unwrap();
        let row = Row { problem: "a".into(), log_z: 0.1, ..Row::default() };
        let results = Results::read(folder.path(), ["fig2"]).unwrap();
        results.add("fig2", &row).unwrap();
        let path = folder.path().join("fig2.csv");
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [&whole[..], b"b,1,unif"].concat()).unwrap();

        let results = Results::read(folder.path(), ["fig2"]).unwrap();
        assert_eq!(results.rows("fig2"), std::slice::from_ref(&row));
        results.add("fig2", &row).unwrap();
        let results = Results::read(folder.path(), ["fig2"]).unwrap();
        assert_eq!(results.rows("fig2"), [row.clone(), row]);
    }

    #[test]
    fn a_file_of_something_else_is_bad_input() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("fig2.csv"), "a,b\n1,2\n").unwrap();
        let error = Results::read(folder.path(), ["fig2"]).unwrap_err();
        assert!(error.is_bad_input() && error.to_string().contains("move it away"), "{error}");
    }
}
