//! Writing a file whole or not at all.

use crate::{Error, Result};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

/// Writes beside `path` and renames at the end, so that no reader ever sees half a file.
pub(super) fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    replace(&target_of(path), fill).map_err(|error| in_words(path, error))
}

/// Fails as [`write_whole`] would before its first byte, so that long work is not done in vain.
pub(super) fn check_writable(path: &Path) -> Result<()> {
    beside(&target_of(path)).map(drop).map_err(|error| in_words(path, error))
}

/// A link stays a link: the file it points to is the one replaced.
fn target_of(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn in_words(path: &Path, error: io::Error) -> Error {
    Error::Write {
        path: path.to_owned(),
        problem: match error.kind() {
            // The operating system's words would name the temporary file.
            ErrorKind::NotFound => "its folder does not exist".to_owned(),
            ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => error.to_string(),
        },
        bad_path: is_about_the_path(error.kind()),
        source: Some(error),
    }
}

fn replace(target: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let existing = std::fs::metadata(target).ok();
    let mut writer = BufWriter::new(beside(target)?);
    fill(&mut writer)?;
    let beside = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(existing) = existing {
        beside.as_file().set_permissions(existing.permissions())?;
    }
    beside.as_file().sync_all()?;
    beside.persist(target).map_err(|error| error.error)?;
    Ok(())
}

/// A new file next to `target`, which may be replaced by it.
fn beside(target: &Path) -> io::Result<NamedTempFile> {
    if let Ok(existing) = std::fs::metadata(target)
        && !existing.is_file()
    {
        let kind =
            if existing.is_dir() { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput };
        return Err(io::Error::new(kind, "it exists and is not a regular file"));
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    remove_abandoned(folder);
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    // A temporary file is private by default; a result is as readable as any new file is, after
    // the user's umask, and one that is replaced keeps its permissions.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let beside = builder.tempfile_in(folder)?;
    // It is told by the lock that somebody still writes it. Where there are no locks, it is told by its
    // age alone.
    let _ = beside.as_file().try_lock();
    Ok(beside)
}

/// The names of files that are being written begin and end with these.
const PREFIX: &str = ".lnz-";
const SUFFIX: &str = ".part";

/// A file that nobody has locked may have been made a moment ago, by somebody who is about to.
const TIME_TO_LOCK: Duration = Duration::from_secs(60);

/// Removes what processes that were killed have left: parts of files that nobody writes any more.
fn remove_abandoned(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let is_part = |name: &str| name.starts_with(PREFIX) && name.ends_with(SUFFIX);
    for path in entries.flatten().filter(|e| e.file_name().to_str().is_some_and(is_part)) {
        let path = path.path();
        // What cannot be looked at, or removed, is not ours.
        let Ok(metadata) = std::fs::symlink_metadata(&path) else { continue };
        let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
        if metadata.is_file() && age.is_some_and(|age| age > TIME_TO_LOCK) {
            let unlocked = std::fs::File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
            if unlocked {
                let _ = std::fs::remove_file(&path);
            }
        }
    }
}

/// Another path would work, whereas a full disk stays full.
fn is_about_the_path(kind: ErrorKind) -> bool {
    use ErrorKind::*;
    matches!(
        kind,
        NotFound
            | PermissionDenied
            | IsADirectory
            | NotADirectory
            | ReadOnlyFilesystem
            | InvalidFilename
            | InvalidInput
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files_in(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.npz");
        std::fs::write(&path, "old").unwrap();
        let error = write_whole(&path, |writer| {
            writer.write_all(b"half of the new o")?;
            Err(io::Error::other("the disk is full"))
        })
        .unwrap_err();
        assert!(matches!(error, Error::Write { bad_path: false, .. }), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(files_in(folder.path()), 1);
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("missing/model.npz"), folder.path().to_owned()] {
            for error in [write_whole(&path, |_| Ok(())), check_writable(&path)] {
                let error = error.unwrap_err();
                assert!(matches!(error, Error::Write { bad_path: true, .. }), "{error}");
                assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
                let source = std::error::Error::source(&error).unwrap();
                assert!(is_about_the_path(source.downcast_ref::<io::Error>().unwrap().kind()));
            }
        }
        check_writable(&folder.path().join("model.npz")).unwrap();
        assert_eq!(files_in(folder.path()), 0);
    }

    #[test]
    fn parts_that_a_killed_process_has_left_are_removed_and_those_in_work_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * TIME_TO_LOCK;
        let part = |name: &str, modified| {
            let path = folder.path().join(name);
            let file = std::fs::File::create(&path).unwrap();
            file.set_modified(modified).unwrap();
            (path, file)
        };
        let (abandoned, file) = part(".lnz-abc123.part", old);
        drop(file);
        let (in_work, writer) = part(".lnz-def456.part", old);
        writer.try_lock().unwrap();
        let (young, _) = part(".lnz-ghi789.part", std::time::SystemTime::now());
        let (other, _) = part("mine.part", old);
        write_whole(&folder.path().join("model.npz"), |_| Ok(())).unwrap();
        assert!(!abandoned.exists());
        assert!(in_work.exists() && young.exists() && other.exists());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_follow_the_umask_or_the_replaced_file() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        let [ordinary, ours] = ["ordinary", "ours"].map(|name| folder.path().join(name));
        std::fs::write(&ordinary, "").unwrap();
        write_whole(&ours, |_| Ok(())).unwrap();
        assert_eq!(mode(&ours), mode(&ordinary));
        std::fs::set_permissions(&ours, PermissionsExt::from_mode(0o640)).unwrap();
        write_whole(&ours, |writer| writer.write_all(b"again")).unwrap();
        assert_eq!(mode(&ours), 0o640);
        assert_eq!(std::fs::read(&ours).unwrap(), b"again");
    }
}
