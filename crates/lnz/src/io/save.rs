//! Writing a file whole or not at all.

use crate::{Error, Result};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
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
    let mut builder = tempfile::Builder::new();
    builder.prefix(".lnz-").suffix(".part");
    // A temporary file is private by default; a result is as readable as any new file is, after
    // the user's umask, and one that is replaced keeps its permissions.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
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
