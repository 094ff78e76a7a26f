//! Rights that end with the process: locks on empty files.

use lnz::{Error, Result};
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The right to do what a file stands for, until it is dropped or the process ends in whatever way.
///
/// Where the file system has no locks, everyone has it: what is done twice must have the same bits.
#[derive(Debug)]
pub struct Claim {
    file: File,
    path: PathBuf,
}

impl Claim {
    /// The right that belongs to a file, which is made if it is not there; none while another has it.
    pub fn of(path: &Path) -> Result<Option<Self>> {
        let claim = Self::open(path)?;
        match claim.file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(claim)),
        }
    }

    /// The same, as soon as nobody else has it.
    pub fn wait_for(path: &Path) -> Result<Self> {
        let claim = Self::open(path)?;
        let _ = claim.file.lock();
        Ok(claim)
    }

    fn open(path: &Path) -> Result<Self> {
        let opened = File::options().create(true).append(true).open(path);
        let file = opened.map_err(|error| cannot_write(path, error))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Gives the right back for good. Whoever gets it from now on has to look whether there is anything
    /// left to do.
    pub fn done(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Why nothing can be written there.
pub(super) fn cannot_write(path: &Path, error: std::io::Error) -> Error {
    let bad_path = matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotADirectory);
    let problem = error.to_string();
    Error::Write { path: PathBuf::from(path), problem, bad_path, source: Some(error) }
}
