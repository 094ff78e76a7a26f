//! Downloads files of known contents: continues after an interruption, and checks before renaming.

mod download;
#[cfg(test)]
mod tests;

use crate::failure::usage;
use anyhow::{Context, Result, anyhow, bail};
use download::{Attempt, download};
use lnz_app::data_sets::KnownFile;
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file of a data set in its folder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fetched {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// It was not there before.
    pub(crate) is_new: bool,
}

/// Makes sure that the files are in the folder, with the right contents.
pub(crate) fn fetch_all(
    files: &[KnownFile],
    folder: &Path,
    bases: &[String],
    quiet: bool,
) -> Result<Vec<Fetched>> {
    prepare(folder)?;
    let all = files.iter().map(|file| fetch(file, folder, bases, quiet));
    all.collect::<Result<_>>().map_err(|error| match error.downcast::<NotThere>() {
        Ok(problem) => {
            let missing: Vec<&str> = files
                .iter()
                .filter(|file| file.within(folder).is_none())
                .map(|file| file.names[0])
                .collect();
            anyhow!(
                "{problem}; to do without the download, put {} into {} by hand, and give the same command again to have the contents checked",
                missing.join(", "),
                folder.display()
            )
        }
        Err(other) => other,
    })
}

/// No server has the file.
#[derive(Debug)]
struct NotThere(String);

impl fmt::Display for NotThere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotThere {}

fn fetch(file: &KnownFile, folder: &Path, bases: &[String], quiet: bool) -> Result<Fetched> {
    if let Some(path) = file.within(folder) {
        check_present(&path, file.sha256)?;
        return fetched(path, false);
    }
    let mut problems = Vec::new();
    for base in bases {
        let slash = if base.ends_with('/') { "" } else { "/" };
        for (i, name) in file.names.iter().enumerate() {
            let url = format!("{base}{slash}{name}");
            let target = folder.join(name);
            match fetch_from(&url, &target, file.sha256, quiet)? {
                Attempt::Complete => return fetched(target, true),
                // That the other names are not there either goes without saying.
                Attempt::Refused(_) if i > 0 => {}
                Attempt::Refused(problem) => problems.push(problem),
                Attempt::Unreachable(problem) => {
                    problems.push(problem);
                    break;
                }
            }
        }
    }
    Err(NotThere(problems.join("; ")).into())
}

fn fetched(path: PathBuf, is_new: bool) -> Result<Fetched> {
    let bytes = fs::metadata(&path).with_context(|| path.display().to_string())?.len();
    Ok(Fetched { path, bytes, is_new })
}

/// A file with other contents may be dear to somebody: it is not replaced.
fn check_present(path: &Path, sha256: &str) -> Result<()> {
    match contents_sha256(path) {
        Ok(found) if found == sha256 => Ok(()),
        Ok(found) => Err(usage(format!(
            "{} is there already, but the SHA-256 sum of its contents is {found}, not {sha256}; remove it to have it downloaded",
            path.display()
        ))),
        Err(problem) => Err(usage(format!(
            "{} is there already, but cannot be checked ({problem}); remove it to have it downloaded",
            path.display()
        ))),
    }
}

/// Downloads beside the target, checks, and renames.
fn fetch_from(url: &str, target: &Path, sha256: &str, quiet: bool) -> Result<Attempt> {
    let part = part_of(target);
    // What an earlier call has left may be whole, continued, or of another file.
    let continued = part.is_file();
    if continued && contents_sha256(&part).is_ok_and(|found| found == sha256) {
        return rename(&part, target);
    }
    let mut found = String::new();
    for _ in 0..=usize::from(continued) {
        match download(url, &part, quiet)? {
            Attempt::Complete => {}
            not_there => return Ok(not_there),
        }
        found = match contents_sha256(&part) {
            Ok(found) if found == sha256 => return rename(&part, target),
            Ok(found) => format!("have the SHA-256 sum {found}"),
            Err(problem) => format!("cannot be unpacked ({problem})"),
        };
        fs::remove_file(&part).with_context(|| part.display().to_string())?;
    }
    bail!(
        "{url}: the contents {found}, expected the sum {sha256}; the file is another one, or was changed on the way, and is not kept: try again, or another place with --url"
    )
}

fn part_of(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    target.with_file_name(name)
}

fn rename(part: &Path, target: &Path) -> Result<Attempt> {
    fs::rename(part, target).with_context(|| target.display().to_string())?;
    Ok(Attempt::Complete)
}

/// No known file unpacks to nearly as much; a few megabytes can be made to unpack to a thousand times that.
const LARGEST_UNPACKED: u64 = if cfg!(test) { 1 << 20 } else { 1 << 30 };

/// SHA-256 of the unpacked contents.
fn contents_sha256(path: &Path) -> Result<String, String> {
    let mut reader = lnz::data::unpacked(path).map_err(|error| error.to_string())?;
    let (mut hash, mut buffer, mut bytes) = (Sha256::new(), vec![0; 1 << 16], 0);
    loop {
        let read = reader.read(&mut buffer).map_err(|error| error.to_string())?;
        bytes += read as u64;
        match read {
            _ if bytes > LARGEST_UNPACKED => {
                return Err(format!("there are more than {LARGEST_UNPACKED} bytes in it"));
            }
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// Makes the folder; fails before anything is downloaded if it cannot be written to.
fn prepare(folder: &Path) -> Result<()> {
    let unwritable = |error| usage(format!("{}: cannot be written to: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(unwritable)?;
    let probe = folder.join(".lnz-probe.part");
    File::create(&probe).and_then(|_| fs::remove_file(&probe)).map_err(unwritable)
}
