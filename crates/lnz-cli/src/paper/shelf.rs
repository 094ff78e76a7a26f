//! The folder of results: one CSV file per experiment, to which finished runs are added.

use super::row::Row;
use crate::failure::usage;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// All rows that a folder has.
#[derive(Debug)]
pub(crate) struct Shelf {
    folder: PathBuf,
    /// Rows of each experiment, in the order of its file.
    files: HashMap<&'static str, Vec<Row>>,
}

impl Shelf {
    /// Reads the files of these experiments, as far as they exist.
    pub(crate) fn open(folder: &Path, names: impl Iterator<Item = &'static str>) -> Result<Self> {
        let mut shelf = Self { folder: folder.to_owned(), files: HashMap::new() };
        for name in names {
            let rows = read(&shelf.csv_path(name))?;
            shelf.files.insert(name, rows);
        }
        Ok(shelf)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

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

    /// Makes the folder and an appender to one of its files.
    pub(crate) fn appender(&self, name: &'static str) -> Result<Appender> {
        let path = self.csv_path(name);
        fs::create_dir_all(&self.folder).map_err(|error| {
            usage(format!("--out {}: cannot make the folder: {error}", self.folder.display()))
        })?;
        // A line that was cut off by a crash is not a row.
        let whole = whole_lines(&path)?;
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .with_context(|| format!("{}: cannot be opened for writing", path.display()))?;
        file.set_len(whole)?;
        std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0))?;
        Ok(Appender { path, file, is_new: whole == 0 })
    }

    /// Replaces the rows of an experiment, on disk and here.
    pub(crate) fn replace(&mut self, name: &'static str, rows: Vec<Row>) -> Result<()> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in &rows {
            writer.serialize(row)?;
        }
        write_whole(&self.csv_path(name), &writer.into_inner()?)?;
        self.files.insert(name, rows);
        Ok(())
    }

    /// Writes a file of the folder whole or not at all.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        write_whole(&self.folder.join(name), content)
    }
}

/// Adds rows to a file, each at once.
#[derive(Debug)]
pub(crate) struct Appender {
    path: PathBuf,
    file: fs::File,
    is_new: bool,
}

impl Appender {
    pub(crate) fn add(&mut self, row: &Row) -> Result<()> {
        let mut writer = csv::WriterBuilder::new().has_headers(self.is_new).from_writer(Vec::new());
        writer.serialize(row)?;
        self.is_new = false;
        let line = writer.into_inner()?;
        self.file
            .write_all(&line)
            .with_context(|| format!("{}: cannot be written", self.path.display()))
    }
}

fn whole_lines(path: &Path) -> Result<u64> {
    match fs::read(path) {
        Ok(bytes) => Ok(bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at as u64 + 1)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(usage(format!("{}: cannot be read: {error}", path.display()))),
    }
}

fn read(path: &Path) -> Result<Vec<Row>> {
    let whole = whole_lines(path)? as usize;
    if whole == 0 {
        return Ok(Vec::new());
    }
    let bytes = fs::read(path)?;
    let mut reader = csv::Reader::from_reader(&bytes[..whole]);
    reader.deserialize().collect::<Result<Vec<Row>, _>>().map_err(|error| {
        usage(format!(
            "{}: {error}; it is not a file of results, or of another version: move it away",
            path.display()
        ))
    })
}

fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    lnz::io::write_file(path, content).map_err(Into::into)
}
