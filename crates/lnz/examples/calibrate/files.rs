//! Writes the models of known log Z as files, for other programs to try.

use crate::Chosen;
use lnz::io::{StoredModel, write_model};
use std::fmt::Write;
use std::path::Path;

/// Every model as .npz, and a list of their log Z.
pub(crate) fn write(chosen: &[Chosen], directory: &Path) -> Result<(), String> {
    let told =
        |error: std::io::Error| format!("{} cannot be written: {error}", directory.display());
    std::fs::create_dir_all(directory).map_err(told)?;
    let mut truths = String::from("name\tpart\tseed\tfile\tlog_z\n");
    for Chosen { family, part, seed } in chosen {
        let file = format!("{}-{seed}.npz", in_letters(&family.name));
        let solved = family.generate(*seed).map_err(|e| format!("{}: {e}", family.name))?;
        write_model(&directory.join(&file), &StoredModel::from(solved.model))
            .map_err(|e| e.to_string())?;
        let (name, part, log_z) = (&family.name, part.name(), solved.log_z);
        let _ = writeln!(truths, "{name}\t{part}\t{seed}\t{file}\t{log_z:?}");
        eprintln!("{file}: log Z = {log_z:.6}");
    }
    std::fs::write(directory.join("truths.tsv"), truths).map_err(told)
}

/// A name for a file: letters, digits, points and single hyphens.
fn in_letters(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || c == '.' {
            text.push(c);
        } else if !text.ends_with('-') {
            text.push('-');
        }
    }
    text.trim_end_matches('-').to_owned()
}
