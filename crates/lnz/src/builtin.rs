//! Models that come with the program: generated from a seed, or trained on MNIST and the Web data.
//!
//! `cargo xtask models` trains them again; their settings are in their files. The trained ones are
//! compiled in by the feature `models`.

use crate::io::{self, StoredModel};
use crate::{Error, Gwgm, Result, block_system};

/// A built-in model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BuiltIn {
    /// Its name on the command line. A trained model is named after its epoch, `mnist-20h@100`, and
    /// its last epoch is also found without it, as `mnist-20h`.
    pub name: &'static str,
    /// What it is good for, in one line.
    pub description: &'static str,
    /// Visible and hidden units.
    pub shape: (usize, usize),
    origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Origin {
    /// Blocks of the paper's hardest family.
    Generated { blocks: usize, seed: u64 },
    /// A .safetensors file, see [`weights`].
    Trained,
}

const fn generated(
    name: &'static str,
    description: &'static str,
    blocks: usize,
    seed: u64,
) -> BuiltIn {
    let shape = (blocks * Gwgm::HARDEST.visible, blocks * Gwgm::HARDEST.hidden);
    BuiltIn { name, description, shape, origin: Origin::Generated { blocks, seed } }
}

/// The list of all models, and the files of the trained ones.
macro_rules! built_in {
    (
        generated: [$($generated:expr),+ $(,)?],
        trained: [$(($family:literal, $epoch:literal, $visible:literal, $hidden:literal)),+ $(,)?]
    ) => {
        /// The built-in models, also those that this build has left out (see [`BuiltIn::is_included`]). The generated
        /// ones are of the paper's hardest family, with seeds chosen among the first 31 by what the uniform start does
        /// on them with 1024 chains and 1024 betas.
        pub static BUILT_IN: &[BuiltIn] = &[
            $($generated,)+
            $(BuiltIn {
                name: concat!($family, "@", $epoch),
                description: concat!("trained with CD-1, epoch ", $epoch),
                shape: ($visible, $hidden),
                origin: Origin::Trained,
            },)+
        ];

        /// The file of a trained model. In the body of a function the bytes are compiled once; in the list above,
        /// every crate that is compiled or checked against this one would keep them as well.
        #[cfg(feature = "models")]
        #[inline(never)]
        fn weights(name: &str) -> Option<&'static [u8]> {
            $(if name == concat!($family, "@", $epoch) {
                let bytes = include_bytes!(concat!("../models/", $family, "-", $epoch, ".safetensors"));
                return Some(bytes);
            })+
            None
        }
    };
}

#[cfg(not(feature = "models"))]
fn weights(_name: &str) -> Option<&'static [u8]> {
    None
}

built_in! {
    generated: [
        generated(
            "gwgm-hard",
            "the uniform start is 70% off in both orientations, and looks healthy transposed",
            1,
            0,
        ),
        generated(
            "gwgm-near",
            "the uniform start is off by 0.2%, which is a factor of a hundred or more in Z",
            1,
            1,
        ),
        generated("gwgm-easy", "every start comes within half a nat of log Z", 1, 27),
        generated("bms-3", "three shuffled blocks: exact through components, hard to sample", 3, 0),
    ],
    trained: [
        ("mnist-20h", 10, 784, 20),
        ("mnist-20h", 50, 784, 20),
        ("mnist-20h", 100, 784, 20),
        ("mnist-20h", 200, 784, 20),
        ("mnist-20h", 300, 784, 20),
        ("mnist-20h", 400, 784, 20),
        ("mnist-20h", 500, 784, 20),
        ("web-20h", 10, 300, 20),
        ("web-20h", 50, 300, 20),
        ("web-20h", 100, 300, 20),
        ("web-20h", 200, 300, 20),
        ("web-20h", 300, 300, 20),
        ("web-20h", 400, 300, 20),
        ("web-20h", 500, 300, 20),
        ("mnist-500h", 1, 784, 500),
        ("mnist-500h", 3, 784, 500),
        ("mnist-500h", 5, 784, 500),
        ("mnist-500h", 10, 784, 500),
        ("mnist-500h", 20, 784, 500),
        ("mnist-500h", 40, 784, 500),
        ("mnist-500h", 100, 784, 500),
        ("mnist-500h", 500, 784, 500),
        ("web-500h", 500, 300, 500),
    ]
}

impl BuiltIn {
    /// The built-in model of this name.
    pub fn named(name: &str) -> Option<BuiltIn> {
        let exactly = BUILT_IN.iter().copied().find(|model| model.name == name);
        exactly.or_else(|| BUILT_IN.iter().copied().rfind(|model| model.family() == name))
    }

    /// Its name without the epoch.
    pub fn family(&self) -> &'static str {
        self.name.split('@').next().unwrap_or(self.name)
    }

    /// The epoch after which training was stopped.
    pub fn epoch(&self) -> Option<usize> {
        self.name.split_once('@').and_then(|(_, epoch)| epoch.parse().ok())
    }

    /// Whether this build has the model: trained ones need the feature `models`, which is on by default.
    pub fn is_included(&self) -> bool {
        self.origin != Origin::Trained || weights(self.name).is_some()
    }

    /// Generates or unpacks the model; a trained one comes with its settings, the means of its data
    /// and, where the smaller layer can be summed over, its exact log Z.
    pub fn load(&self) -> Result<StoredModel> {
        Ok(match self.origin {
            Origin::Generated { blocks: 1, seed } => Gwgm::HARDEST.generate(seed)?.into(),
            Origin::Generated { blocks, seed } => {
                block_system(&Gwgm::HARDEST, blocks, true, seed)?.into()
            }
            Origin::Trained => {
                let bytes = weights(self.name).ok_or(Error::LeftOut { name: self.name })?;
                io::model_from_bytes(bytes)
                    .map_err(|problem| Error::file(self.name.as_ref(), problem))?
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_model_can_be_made_and_found_by_name() {
        for entry in BUILT_IN.iter().copied().filter(BuiltIn::is_included) {
            let stored = entry.load().unwrap();
            assert_eq!((stored.model.visible(), stored.model.hidden()), entry.shape);
            assert_eq!(BuiltIn::named(entry.name), Some(entry));
            assert_eq!(entry.epoch().is_some(), stored.data_means.is_some());
            let epoch = stored.metadata.get("epoch").and_then(|word| word.parse().ok());
            assert_eq!(entry.epoch(), epoch);
            let enumerable = entry.epoch().is_some() && entry.shape.1 == 20;
            assert_eq!(stored.exact_log_z.is_some(), enumerable, "{}", entry.name);
        }
        assert_eq!(BuiltIn::named("mnist-20h"), BuiltIn::named("mnist-20h@500"));
        assert_eq!(BuiltIn::named("none of these"), None);
    }

    #[test]
    fn stored_exact_values_belong_to_the_stored_numbers() {
        let enumerable = |entry: &BuiltIn| entry.shape.1 == 20 && entry.epoch().is_some();
        for entry in BUILT_IN.iter().copied().filter(BuiltIn::is_included).filter(enumerable) {
            let stored = entry.load().unwrap();
            let exact = crate::exact_log_z(&stored.model, &()).unwrap();
            assert!((exact - stored.exact_log_z.unwrap()).abs() < 1e-9, "{}", entry.name);
        }
    }

    #[test]
    fn trained_models_are_there_or_say_how_to_get_them() {
        let trained = BUILT_IN.iter().filter(|entry| entry.epoch().is_some());
        for entry in trained {
            assert_eq!(entry.is_included(), cfg!(feature = "models"));
            match entry.load() {
                Ok(_) => assert!(entry.is_included()),
                Err(error) => assert!(error.to_string().contains("feature `models`"), "{error}"),
            }
        }
        assert!(BUILT_IN.iter().any(BuiltIn::is_included));
    }

    #[test]
    fn the_files_stay_small() {
        let size = |entry: &BuiltIn| weights(entry.name).map_or(0, <[u8]>::len);
        assert!(BUILT_IN.iter().map(size).sum::<usize>() < 12_000_000);
    }
}
