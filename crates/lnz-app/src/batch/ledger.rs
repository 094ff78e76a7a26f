//! A file with a row for each model, as CSV or as JSON lines; each row is written as soon as it is there.

use super::Row;
use crate::report::Report;
use crate::{Error, Result};
use lnz::io;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

const HEADER: &str = "model,sha256,settings,visible,hidden,log_z,std_error,interval_low,interval_high,verdict,method,warnings,seconds";

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A line of titles, then a line for each model.
    Csv,
    /// The object that `--json` prints on each line, and `request`, which tells settings apart.
    JsonLines,
}

/// The rows that there are, and a place for more.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    kind: Kind,
    file: File,
    /// By the hashes of model and settings.
    rows: HashMap<(String, String), Row>,
}

impl Ledger {
    /// Opens a file or makes it. A last line without an end is of a process that was killed, and goes.
    pub fn open(path: &Path, kind: Kind) -> Result<Self> {
        let mut text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unfit(path, format!("cannot be read: {error}"))),
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let was_cut = whole < text.len();
        text.truncate(whole);
        let mut lines = text.lines();
        if kind == Kind::Csv {
            match lines.next() {
                Some(HEADER) | None => {}
                Some(_) => {
                    return Err(unfit(
                        path,
                        "has other columns than a table of models; choose another file".into(),
                    ));
                }
            }
        }
        let mut rows = HashMap::new();
        for (number, line) in lines.enumerate() {
            let row = match kind {
                Kind::Csv => from_csv(line),
                Kind::JsonLines => {
                    serde_json::from_str(line).ok().and_then(|v: Value| Row::from_json(&v))
                }
            };
            let Some(row) = row else {
                let number = number + 1 + usize::from(kind == Kind::Csv);
                return Err(unfit(
                    path,
                    format!("line {number} is no row of a table of models; choose another file"),
                ));
            };
            rows.insert((row.sha256.clone(), row.settings.clone()), row);
        }
        if text.is_empty() && kind == Kind::Csv {
            text = format!("{HEADER}\n");
            io::write_file(path, text.as_bytes())?;
        } else if was_cut {
            io::write_file(path, text.as_bytes())?;
        }
        let file = File::options().create(true).append(true).open(path);
        let file = file.map_err(|error| unfit(path, format!("cannot be written: {error}")))?;
        Ok(Self { path: path.to_owned(), kind, file, rows })
    }

    /// The row of a model with these settings, if it is there already.
    pub fn row(&self, sha256: &str, settings: &str) -> Option<&Row> {
        self.rows.get(&(sha256.to_owned(), settings.to_owned()))
    }

    /// Adds a row at the end, at once.
    pub fn add(&mut self, row: &Row, report: &Report) -> Result<()> {
        let line = match self.kind {
            Kind::Csv => to_csv(row),
            Kind::JsonLines => to_json(row, report).to_string(),
        };
        // One write: rows of two processes do not mix.
        let written = self
            .file
            .write_all(format!("{line}\n").as_bytes())
            .and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            let (path, problem) = (self.path.clone(), error.to_string());
            Error::Library(lnz::Error::Write {
                path,
                problem,
                bad_path: false,
                source: Some(error),
            })
        })?;
        self.rows.insert((row.sha256.clone(), row.settings.clone()), row.clone());
        Ok(())
    }
}

/// The object of a row for programs.
pub fn to_json(row: &Row, report: &Report) -> Value {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    value["request"] = json!(row.settings);
    value
}

fn to_csv(row: &Row) -> String {
    let quoted = |text: &str| match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    };
    let Row { sha256, settings, visible, hidden, log_z, std_error, .. } = row;
    let Row { interval: [low, high], verdict, method, seconds, .. } = row;
    format!(
        "{},{sha256},{settings},{visible},{hidden},{log_z},{std_error},{low},{high},{verdict},{method},{},{seconds:.3}",
        quoted(&row.name),
        row.warnings.join(" ")
    )
}

fn from_csv(line: &str) -> Option<Row> {
    let (name, rest) = match line.strip_prefix('"') {
        None => line.split_once(',').map(|(name, rest)| (name.to_owned(), rest))?,
        Some(rest) => {
            let end = rest.find("\",").filter(|&end| !rest[..end].ends_with('"'))?;
            (rest[..end].replace("\"\"", "\""), &rest[end + 2..])
        }
    };
    let fields: Vec<&str> = rest.split(',').collect();
    let [
        sha256,
        settings,
        visible,
        hidden,
        log_z,
        std_error,
        low,
        high,
        verdict,
        method,
        warnings,
        seconds,
    ] = fields[..]
    else {
        return None;
    };
    let number = |text: &str| text.parse::<f64>().ok();
    Some(Row {
        name,
        sha256: sha256.to_owned(),
        settings: settings.to_owned(),
        visible: visible.parse().ok()?,
        hidden: hidden.parse().ok()?,
        log_z: number(log_z)?,
        std_error: number(std_error)?,
        interval: [number(low)?, number(high)?],
        verdict: verdict.to_owned(),
        method: method.to_owned(),
        warnings: warnings.split_whitespace().map(str::to_owned).collect(),
        seconds: number(seconds)?,
    })
}

fn unfit(path: &Path, problem: String) -> Error {
    lnz::Error::File { path: path.to_owned(), problem, source: None }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> Row {
        Row {
            name: name.to_owned(),
            sha256: "aa".into(),
            settings: "bb".into(),
            visible: 3,
            hidden: 2,
            log_z: 1.1 + 0.2,
            std_error: 0.1,
            interval: [f64::NEG_INFINITY, 2.0],
            verdict: "ok".into(),
            method: "auto".into(),
            warnings: vec!["one".into(), "two".into()],
            seconds: 0.25,
        }
    }

    #[test]
    fn a_row_is_read_back_to_the_last_bit() {
        for name in ["a.npz", "b, \"c\" d.npz", "x\"y"] {
            assert_eq!(from_csv(&to_csv(&row(name))), Some(row(name)), "{name}");
        }
        assert_eq!(from_csv("a,b,c"), None);
    }

    #[test]
    fn half_a_line_is_dropped_and_another_table_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let line = to_csv(&row("m"));
        std::fs::write(&path, format!("{HEADER}\n{line}\n{}", &line[..20])).unwrap();
        let ledger = Ledger::open(&path, Kind::Csv).unwrap();
        assert_eq!(ledger.row("aa", "bb"), Some(&row("m")));
        assert_eq!(ledger.row("aa", "cc"), None);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{HEADER}\n{line}\n"));
        std::fs::write(&path, "x,y\n1,2\n").unwrap();
        assert!(Ledger::open(&path, Kind::Csv).unwrap_err().to_string().contains("other columns"));
        std::fs::write(&path, format!("{HEADER}\n1,2\n")).unwrap();
        assert!(Ledger::open(&path, Kind::Csv).unwrap_err().to_string().contains("line 2"));
    }
}
