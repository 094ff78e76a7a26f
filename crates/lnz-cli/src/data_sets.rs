//! Data sets with a name: where they are downloaded from, and where they are kept.

use crate::failure::usage;
use anyhow::Result;
use std::env;
use std::path::{Path, PathBuf};

/// A data set that `lnz data fetch` knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownSet {
    pub(crate) name: &'static str,
    /// Folders on the network that have its files, tried in this order.
    pub(crate) bases: &'static [&'static str],
    pub(crate) files: &'static [KnownFile],
}

/// A file of a data set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownFile {
    /// Names under which it may be found: packed or not, the published name first.
    pub(crate) names: &'static [&'static str],
    /// SHA-256 of the unpacked contents, so that it does not matter who has packed them.
    pub(crate) sha256: &'static str,
    /// The name for `--data`.
    pub(crate) alias: Option<&'static str>,
}

pub(crate) const SETS: [KnownSet; 2] = [
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
    pub(crate) fn named(name: &str) -> Option<Self> {
        SETS.into_iter().find(|set| set.name == name)
    }

    /// Its folder in the cache.
    pub(crate) fn cache(&self) -> Result<PathBuf> {
        Ok(cache()?.join(self.name))
    }
}

impl KnownFile {
    /// The file in this folder, under any of its names.
    pub(crate) fn within(&self, folder: &Path) -> Option<PathBuf> {
        self.names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
    }
}

/// The file that a `--data` argument means: a path, or the name of a data set in the cache.
pub(crate) fn resolve(typed: &Path) -> Result<PathBuf> {
    let named = || {
        SETS.into_iter()
            .flat_map(|set| set.files.iter().map(move |file| (set, file)))
            .find(|(_, file)| file.alias.is_some_and(|alias| typed == Path::new(alias)))
    };
    // A folder of the same name, full of files perhaps, is not what is meant.
    let Some((set, file)) = (if typed.is_file() { None } else { named() }) else {
        return Ok(typed.to_owned());
    };
    let folder = set.cache()?;
    file.within(&folder).ok_or_else(|| {
        usage(format!(
            "`{}` is no file, and the data set of this name is not in {}; get it with `lnz data fetch {}`",
            typed.display(),
            folder.display(),
            set.name
        ))
    })
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
        usage("there is no home folder for a cache; set LNZ_CACHE to a folder, or use --dir")
    })
}

fn folder_from(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
