//! Data sets that are known by name: what they consist of, and where they are kept.

use crate::{Error, Result};
use std::env;
use std::path::{Path, PathBuf};

/// A data set that `lnz data fetch` knows.
#[derive(Debug, Clone, Copy)]
pub struct KnownSet {
    /// What it is called.
    pub name: &'static str,
    /// Folders on the network that have its files, tried in this order.
    pub bases: &'static [&'static str],
    /// All of its files.
    pub files: &'static [KnownFile],
}

/// A file of a data set.
#[derive(Debug, Clone, Copy)]
pub struct KnownFile {
    /// Names under which it may be found: packed or not, the published name first.
    pub names: &'static [&'static str],
    /// SHA-256 of the unpacked contents, so that it does not matter who has packed them.
    pub sha256: &'static str,
    /// The name that stands for it wherever data is asked for.
    pub alias: Option<&'static str>,
}

/// All of them.
pub const SETS: &[KnownSet] = &[
    KnownSet {
        name: "mnist",
        bases: &[
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "https://storage.googleapis.com/cvdf-datasets/mnist/",
        ],
        files: &[
            KnownFile {
                names: &["train-images-idx3-ubyte.gz", "train-images-idx3-ubyte"],
                sha256: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                alias: Some("mnist"),
            },
            KnownFile {
                names: &["train-labels-idx1-ubyte.gz", "train-labels-idx1-ubyte"],
                sha256: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                alias: None,
            },
            KnownFile {
                names: &["t10k-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte"],
                sha256: "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                alias: Some("mnist-test"),
            },
            KnownFile {
                names: &["t10k-labels-idx1-ubyte.gz", "t10k-labels-idx1-ubyte"],
                sha256: "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
                alias: None,
            },
        ],
    },
    KnownSet {
        name: "web",
        bases: &["https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"],
        files: &[KnownFile {
            names: &["w8a", "w8a.xz", "w8a.gz"],
            sha256: "6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2",
            alias: Some("web"),
        }],
    },
];

impl KnownSet {
    /// The data set of this name.
    pub fn named(name: &str) -> Option<Self> {
        SETS.iter().copied().find(|set| set.name == name)
    }

    /// Its folder in the cache.
    pub fn cache(&self) -> Result<PathBuf> {
        Ok(cache()?.join(self.name))
    }
}

impl KnownFile {
    /// The file in this folder, under any of its names.
    pub fn within(&self, folder: &Path) -> Option<PathBuf> {
        self.names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
    }
}

/// The file that is meant by data that was asked for: a path, or the name of a data set in the cache.
pub fn resolve(typed: &Path) -> Result<PathBuf> {
    let named = SETS
        .iter()
        .flat_map(|set| set.files.iter().map(move |file| (set, file)))
        .find_map(|(set, file)| Some((set, file, file.alias.filter(|name| typed == *name)?)));
    // A folder of the same name, full of files perhaps, is not what is meant.
    let Some((set, file, name)) = named.filter(|_| !typed.is_file()) else {
        return Ok(typed.to_owned());
    };
    let folder = set.cache()?;
    file.within(&folder).ok_or(Error::NotFetched { name, folder, set: set.name })
}

/// Where downloads are kept.
fn cache() -> Result<PathBuf> {
    if let Some(folder) = folder_from("LNZ_CACHE") {
        return Ok(folder);
    }
    let users = if cfg!(windows) {
        folder_from("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        env::home_dir().map(|home| home.join("Library/Caches"))
    } else {
        // The XDG standard has relative paths ignored.
        folder_from("XDG_CACHE_HOME")
            .filter(|folder| folder.is_absolute())
            .or_else(|| env::home_dir().map(|home| home.join(".cache")))
    };
    users.map(|folder| folder.join("lnz")).ok_or_else(|| {
        Error::options("there is no home folder for a cache; set LNZ_CACHE to a folder")
    })
}

fn folder_from(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_data_means_one_file() {
        let files = || SETS.iter().flat_map(|set| set.files);
        let mut names: Vec<&str> = files().filter_map(|file| file.alias).collect();
        assert_eq!(names, ["mnist", "mnist-test", "web"]);
        names.dedup();
        assert_eq!(names.len(), 3);
        assert!(files().all(|file| file.sha256.len() == 64 && !file.names.is_empty()));
    }

    #[test]
    fn what_is_no_name_is_a_path() {
        for path in ["train.npy", "folder/mnist", "MNIST"] {
            assert_eq!(resolve(Path::new(path)).unwrap(), Path::new(path));
        }
    }
}
