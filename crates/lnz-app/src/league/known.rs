//! Models of a folder whose log Z is known, and where it is known from.

use crate::{Error, Result};
use lnz::io::{self, ReadOptions, StoredModel};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The table of known values in a folder.
const TABLES: [&str; 2] = ["log_z.tsv", "log_z.csv"];

/// A model of known log Z.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Problem {
    /// Name of its file.
    pub name: String,
    /// The model.
    pub stored: StoredModel,
    /// Its log Z.
    pub log_z: f64,
}

/// The models of a folder, by name, and the names of files that have no known log Z or are no models.
///
/// log Z of `grid.uai` is in `grid.uai.PR` (log10, as in the competitions), in a table `log_z.tsv` or
/// `log_z.csv` with the columns `name` and `log_z`, or in the model's own file.
pub fn problems(folder: &Path) -> Result<(Vec<Problem>, Vec<String>)> {
    let bad = |problem: String| Error::options(format!("{}: {problem}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(|error| bad(error.to_string()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && !is_known_value(path))
        .collect();
    files.sort();
    let table = read_table(folder)?;
    let (mut problems, mut left_out) = (Vec::new(), Vec::new());
    for path in files {
        let name = name_of(&path);
        let stored = match io::read_model_with(&path, &ReadOptions::default()) {
            Ok(file) => file.stored,
            Err(_) => {
                left_out.push(format!("{name}: no model"));
                continue;
            }
        };
        let solution = PathBuf::from(format!("{}.PR", path.display()));
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let listed = table.get(&name).or_else(|| table.get(&stem?)).copied();
        let log_z = match listed {
            Some(log_z) => Some(log_z),
            None if solution.is_file() => Some(io::read_log_z(&solution)?),
            None => stored.exact_log_z,
        };
        match log_z {
            Some(log_z) => problems.push(Problem { name, stored, log_z }),
            None => left_out.push(format!("{name}: its log Z is not known")),
        }
    }
    if problems.is_empty() {
        return Err(bad(format!(
            "has no model of known log Z; each needs a file NAME.PR beside it, a line in {}, or the value in its own file",
            TABLES.join(" or ")
        )));
    }
    Ok((problems, left_out))
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn is_known_value(path: &Path) -> bool {
    let name = name_of(path);
    TABLES.contains(&name.as_str()) || name.ends_with(".PR") || name.starts_with('.')
}

/// Names and values of the table, if there is one.
fn read_table(folder: &Path) -> Result<BTreeMap<String, f64>> {
    let mut values = BTreeMap::new();
    for path in TABLES.map(|name| folder.join(name)) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let separator = if path.extension().is_some_and(|e| e == "tsv") { '\t' } else { ',' };
        let bad = |line: usize, problem: &str| {
            Error::options(format!("{}, line {line}: {problem}", path.display()))
        };
        let mut lines = text.lines().map(|line| line.split(separator).map(str::trim).collect());
        let head: Vec<&str> = lines.next().unwrap_or_default();
        let column = |name| head.iter().position(|title| *title == name);
        let (Some(name_at), Some(value_at)) = (column("name"), column("log_z")) else {
            return Err(bad(1, "expected the columns name and log_z"));
        };
        for (number, line) in (2..).zip(lines) {
            let cells: Vec<&str> = line;
            if cells == [""] {
                continue;
            }
            let value = cells.get(value_at).and_then(|text| text.parse::<f64>().ok());
            match (cells.get(name_at), value.filter(|value| value.is_finite())) {
                (Some(name), Some(value)) => values.insert((*name).to_owned(), value),
                _ => return Err(bad(number, "expected a name and a finite log_z")),
            };
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lnz::Spins;

    fn write(folder: &Path, name: &str, text: &str) {
        std::fs::write(folder.join(name), text).unwrap();
    }

    #[test]
    fn values_come_from_the_table_the_file_beside_or_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let family = Spins::Dense { visible: 3, hidden: 2, ferromagnetic: false };
        let mut stored = StoredModel::from(family.generate(1).unwrap());
        for name in ["a.uai", "b.uai", "c.uai"] {
            io::write_model(&at(name), &stored).unwrap();
        }
        stored.exact_log_z = Some(3.0);
        io::write_model(&at("d.npz"), &stored).unwrap();
        write(folder.path(), "log_z.tsv", "name\tunits\tlog_z\na\t5\t1.5\n\n");
        io::write_log_z(&at("b.uai.PR"), 2.5).unwrap();
        write(folder.path(), "notes.txt", "not a model");
        let (found, left_out) = problems(folder.path()).unwrap();
        let values: Vec<_> = found.iter().map(|p| (p.name.as_str(), p.log_z)).collect();
        assert_eq!(values[0], ("a.uai", 1.5));
        assert!(values[1].0 == "b.uai" && (values[1].1 - 2.5).abs() < 1e-14);
        assert_eq!(values[2], ("d.npz", 3.0));
        assert_eq!(left_out, ["c.uai: its log Z is not known", "notes.txt: no model"]);
    }

    #[test]
    fn a_bad_table_or_an_empty_folder_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let message = || problems(folder.path()).unwrap_err().to_string();
        assert!(message().contains("has no model of known log Z"), "{}", message());
        write(folder.path(), "log_z.csv", "name,log_z\nm,many\n");
        assert!(message().contains("line 2: expected a name and a finite log_z"), "{}", message());
        write(folder.path(), "log_z.csv", "model,value\n");
        assert!(message().contains("line 1: expected the columns"), "{}", message());
    }
}
