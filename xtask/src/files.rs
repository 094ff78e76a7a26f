//! The table of all source files in docs/architecture.md, made from the sentence that each file opens with.

mod sentence;
#[cfg(test)]
mod tests;

use sentence::{of_python, of_rust};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The document with the table.
pub(crate) const DOCUMENT: &str = "docs/architecture.md";

/// The table is between these two lines.
const BEGIN: &str = "<!-- table of files: `cargo xtask files` writes it -->";
const END: &str = "<!-- end of the table of files -->";

/// Folders of sources besides `src` of each crate below `crates`.
const FOLDERS: [&str; 4] = ["python/src", "python/lnz", "fuzz/src", "xtask/src"];

/// One source file: where it is below its folder, and the sentence it opens with.
struct SourceFile {
    path: String,
    sentence: String,
}

/// Writes the table into the document; says what was done.
pub(crate) fn write(top: &Path) -> Result<String, String> {
    let (document, count) = with_table(top)?;
    let path = top.join(DOCUMENT);
    std::fs::write(&path, document).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(format!("{count} files in {DOCUMENT}"))
}

/// Fails unless the document has the table as it would be written now.
pub(crate) fn check(top: &Path) -> Result<String, String> {
    let (expected, count) = with_table(top)?;
    match read(&top.join(DOCUMENT))? == expected {
        true => Ok(format!("{count} files")),
        false => {
            Err(format!("the table of files in {DOCUMENT} is out of date: run `cargo xtask files`"))
        }
    }
}

/// The document with a fresh table, and how many files are in that.
fn with_table(top: &Path) -> Result<(String, usize), String> {
    let mut folders = crates(top)?;
    folders.extend(FOLDERS.map(str::to_owned));
    let (mut table, mut problems, mut count) = (String::new(), Vec::new(), 0);
    for folder in folders {
        let (files, wrong) = sources(top, &folder)?;
        count += files.len();
        table.push_str(&rows(&folder, &files));
        problems.extend(wrong);
    }
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    Ok((replaced(&read(&top.join(DOCUMENT))?, &table)?, count))
}

/// The folders of sources of all crates, by name.
fn crates(top: &Path) -> Result<Vec<String>, String> {
    let mut folders: Vec<String> = entries(&top.join("crates"))?
        .into_iter()
        .filter(|path| path.join("src").is_dir())
        .filter_map(|path| Some(format!("crates/{}/src", path.file_name()?.to_str()?)))
        .collect();
    folders.sort();
    Ok(folders)
}

/// All sources below a folder, in the order of the table, and what is wrong with some of them.
fn sources(top: &Path, folder: &str) -> Result<(Vec<SourceFile>, Vec<String>), String> {
    let root = top.join(folder);
    let mut paths = Vec::new();
    collect(&root, &mut paths)?;
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        let text = read(&path)?;
        let sentence = match path.extension().is_some_and(|extension| extension == "py") {
            true => of_python(&text),
            false => of_rust(&text),
        };
        let path = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        match sentence {
            Ok(sentence) => files.push(SourceFile { path, sentence }),
            Err(problem) => problems.push(format!("{folder}/{path}: {problem}")),
        }
    }
    files.sort_by_key(|file| order(&file.path));
    problems.sort();
    Ok((files, problems))
}

/// The root of a crate first, a module before what is in its folder.
fn order(path: &str) -> (bool, Vec<String>) {
    let is_root = ["lib.rs", "main.rs", "__init__.py"].contains(&path);
    let stem = path.trim_end_matches(".rs").trim_end_matches(".py");
    (!is_root, stem.split('/').map(str::to_owned).collect())
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), String> {
    for path in entries(folder)? {
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "py") {
            into.push(path);
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The part of the table on one folder.
fn rows(folder: &str, files: &[SourceFile]) -> String {
    let mut text = format!("\n### `{folder}`\n\n| file | purpose |\n|---|---|\n");
    for SourceFile { path, sentence } in files {
        let sentence = sentence.replace('|', "\\|");
        let _ = writeln!(text, "| [`{path}`](../{folder}/{path}) | {sentence} |");
    }
    text
}

/// The document with what is between the two markers replaced.
fn replaced(document: &str, table: &str) -> Result<String, String> {
    let missing = |line| format!("{DOCUMENT} has no line `{line}`, which the table needs");
    let (before, rest) = document.split_once(BEGIN).ok_or_else(|| missing(BEGIN))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| missing(END))?;
    Ok(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}
