//! The MODEL argument: a file, or the name of a built-in model.

use crate::args::{ModelArgs, Units};
use crate::failure::usage;
use anyhow::Result;
use lnz::io::{self, ModelFile, StoredModel};
use lnz::{BUILT_IN, BuiltIn};
use std::path::Path;

/// A model and where it came from.
#[derive(Debug)]
pub(crate) struct Source {
    /// As it was typed.
    pub(crate) name: String,
    pub(crate) origin: Origin,
}

#[derive(Debug)]
pub(crate) enum Origin {
    File(Box<ModelFile>),
    BuiltIn(BuiltIn, Box<StoredModel>),
}

impl Source {
    /// Finds and reads the model; a file is tried before the name of a built-in model.
    pub(crate) fn load(args: &ModelArgs) -> Result<Self> {
        let name = args.model.display().to_string();
        if !args.model.is_file()
            && let Some(entry) = args.model.to_str().and_then(BuiltIn::named)
        {
            if args.units == Some(Units::Spin) {
                return Err(usage(format!(
                    "--units spin is for files, but `{name}` is a built-in model with units 0 and 1"
                )));
            }
            let origin = Origin::BuiltIn(entry, Box::new(entry.load()?));
            return Ok(Self { name, origin });
        }
        if !args.model.exists() && looks_like_a_name(&args.model) {
            return Err(usage(unknown_name(&name)));
        }
        let file = io::read_model(&args.model, args.units.map(Into::into))?;
        Ok(Self { name, origin: Origin::File(Box::new(file)) })
    }

    /// The model with what is known about it.
    pub(crate) fn stored(&self) -> &StoredModel {
        match &self.origin {
            Origin::File(file) => &file.stored,
            Origin::BuiltIn(_, stored) => stored,
        }
    }

    pub(crate) fn model(&self) -> &lnz::Rbm {
        &self.stored().model
    }
}

fn looks_like_a_name(path: &Path) -> bool {
    path.extension().is_none() && path.components().count() == 1
}

fn unknown_name(name: &str) -> String {
    let alike = BUILT_IN
        .iter()
        .flat_map(|entry| [entry.name, entry.family()])
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match alike {
        Some((_, near)) => format!(
            "`{name}` is neither a file nor a built-in model; did you mean `{near}`? (`lnz models` lists them)"
        ),
        None => format!(
            "`{name}` is neither a file nor a built-in model; `lnz models` lists those that are built in"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_recognised() {
        assert!(unknown_name("gwgm-hrad").contains("did you mean `gwgm-hard`?"));
        assert!(!unknown_name("zzz").contains("did you mean"));
    }

    #[test]
    fn paths_are_told_from_names() {
        assert!(looks_like_a_name(Path::new("gwgm")));
        assert!(!looks_like_a_name(Path::new("gwgm.npz")));
        assert!(!looks_like_a_name(Path::new("models/gwgm")));
    }
}
