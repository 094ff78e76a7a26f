//! Finds a model by the path of its file or by its built-in name.

use crate::{Error, Result};
use lnz::io::{self, ModelFile, Note, ReadOptions, StoredModel, Units};
use lnz::{BUILT_IN, BuiltIn, Rbm};
use std::path::Path;

/// A model and where it came from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Source {
    /// As it was asked for.
    pub name: String,
    /// Where it came from.
    pub origin: Origin,
}

/// Where a model came from.
#[derive(Debug, Clone)]
pub enum Origin {
    /// A file.
    File(Box<ModelFile>),
    /// The program itself.
    BuiltIn(BuiltIn, Box<StoredModel>),
}

impl Source {
    /// Finds and reads a model; a file is tried before the name of a built-in model.
    pub fn load(path: &Path, units: Option<Units>) -> Result<Self> {
        Self::load_with(path, &ReadOptions::with_units(units))
    }

    /// The same, told what a file does not say itself; `-` is standard input.
    pub fn load_with(path: &Path, options: &ReadOptions) -> Result<Self> {
        let name = path.display().to_string();
        if !path.is_file()
            && let Some(entry) = path.to_str().and_then(BuiltIn::named)
        {
            if options.units == Some(Units::Spin) {
                return Err(Error::options(format!(
                    "{{units=spin}} is for files, but `{name}` is a built-in model with units 0 and 1"
                )));
            }
            if *options != ReadOptions::with_units(options.units) {
                return Err(Error::options(format!(
                    "names of tensors, their layout and updates are for files, but `{name}` is a built-in model"
                )));
            }
            let origin = Origin::BuiltIn(entry, Box::new(entry.load()?));
            return Ok(Self { name, origin });
        }
        if !path.exists() && looks_like_a_name(path) && path != Path::new("-") {
            let near = closest_name(&name);
            return Err(Error::UnknownModel { name, near });
        }
        let mut file = io::read_model_with(path, options)?;
        compare_both_ways(&mut file);
        Ok(Self { name, origin: Origin::File(Box::new(file)) })
    }

    /// The model with what is known about it.
    pub fn stored(&self) -> &StoredModel {
        match &self.origin {
            Origin::File(file) => &file.stored,
            Origin::BuiltIn(_, stored) => stored,
        }
    }

    /// The model alone.
    pub fn model(&self) -> &Rbm {
        &self.stored().model
    }

    /// The model with what is known about it, without its origin.
    pub fn into_stored(self) -> StoredModel {
        match self.origin {
            Origin::File(file) => file.stored,
            Origin::BuiltIn(_, stored) => *stored,
        }
    }
}

/// Square weights that fit both ways: both values of log Z say whether it matters.
fn compare_both_ways(file: &mut ModelFile) {
    /// Nobody waits for a note.
    const SECONDS: f64 = 0.2;
    let model = &file.stored.model;
    let turned = || {
        let weights = model.weights().t().to_owned();
        let (b, c) = (model.visible_bias().to_owned(), model.hidden_bias().to_owned());
        Rbm::new(weights, b, c)?.with_constant(model.constant())
    };
    let both = || {
        let value = |model: &Rbm| lnz::exact_log_z_within(model, SECONDS, &());
        Ok::<_, lnz::Error>([value(model)?, value(&turned()?)?])
    };
    // The biases of a converted model depend on how the weights were read.
    if file.stored.units == Units::Binary
        && let Some(Note::SquareWeights { log_z, .. }) =
            file.stored.notes.iter_mut().find(|note| matches!(note, Note::SquareWeights { .. }))
    {
        *log_z = both().ok();
    }
}

fn looks_like_a_name(path: &Path) -> bool {
    path.extension().is_none() && path.components().count() == 1
}

fn closest_name(name: &str) -> Option<&'static str> {
    // Another epoch of the same training.
    if let Some((family, epoch)) = name.split_once('@')
        && let Ok(epoch) = epoch.parse::<usize>()
        && let Some(near) = BUILT_IN
            .iter()
            .filter(|entry| entry.family() == family)
            .min_by_key(|entry| entry.epoch().map(|known| known.abs_diff(epoch)))
    {
        return Some(near.name);
    }
    BUILT_IN
        .iter()
        .flat_map(|entry| [entry.name, entry.family()])
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, near)| near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_recognised() {
        assert_eq!(closest_name("gwgm-hrad"), Some("gwgm-hard"));
        assert_eq!(closest_name("mnist-20h@90"), Some("mnist-20h@100"));
        assert_eq!(closest_name("zzz"), None);
    }

    #[test]
    fn a_square_comes_with_both_values() {
        let mut file = {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("w.csv");
            std::fs::write(&path, "0.5,-1\n2,0.25\n").unwrap();
            io::read_model(&path, None).unwrap()
        };
        compare_both_ways(&mut file);
        // Without biases both ways are the same.
        let note = file.stored.notes.iter().find(|note| note.name() == "square_weights");
        let Some(Note::SquareWeights { log_z: Some([taken, turned]), .. }) = note else {
            panic!("{note:?}")
        };
        assert!((taken - turned).abs() < 1e-12);
    }

    #[test]
    fn paths_are_told_from_names() {
        assert!(looks_like_a_name(Path::new("gwgm")));
        assert!(!looks_like_a_name(Path::new("gwgm.npz")));
        assert!(!looks_like_a_name(Path::new("models/gwgm")));
    }
}
