//! An artificial model, with the settings that made it and its log Z where that is cheap.

use crate::{Error, Result, numbers};
use lnz::io::StoredModel;
use lnz::train::MOST_WEIGHTS;
use lnz::{Auto, Gwgm, Observer, block_system, exact_log_z};

/// What makes an artificial model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// The family of the model, or of each block.
    pub family: Gwgm,
    /// Number of blocks of a block matrix system; `None` for one model without blocks.
    pub blocks: Option<usize>,
    /// Mix the order of the units of a block matrix system.
    pub shuffle: bool,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Recipe {
    /// Refuses models that would only exhaust the memory.
    pub fn check_size(&self) -> Result<()> {
        let Gwgm { visible, hidden, .. } = self.family;
        let side = |units: usize| units.checked_mul(self.blocks.unwrap_or(1));
        let weights = side(visible).zip(side(hidden)).and_then(|(v, h)| v.checked_mul(h));
        match weights {
            Some(n) if n <= MOST_WEIGHTS => Ok(()),
            _ => Err(Error::options(format!(
                "{{visible={visible}}} and {{hidden={hidden}}} make more than {} weights; choose a smaller model",
                numbers::count(MOST_WEIGHTS)
            ))),
        }
    }

    /// Makes the model; with `exact`, its log Z is added if that takes a few seconds.
    pub fn make(&self, exact: bool, observer: &dyn Observer) -> Result<StoredModel> {
        self.check_size()?;
        let model = match self.blocks {
            None => self.family.generate(self.seed)?,
            Some(blocks) => block_system(&self.family, blocks, self.shuffle, self.seed)?,
        };
        let mut stored = StoredModel::from(model);
        stored.metadata.insert("generated_by".into(), self.command());
        if exact && Auto::default().sums_exactly(&stored.model)? {
            stored.exact_log_z = Some(exact_log_z(&stored.model, observer)?);
        }
        Ok(stored)
    }

    /// The command that makes the same model again.
    fn command(&self) -> String {
        let kind = match self.blocks {
            None => "gwgm".to_owned(),
            Some(n) => format!("bms --blocks {n}{}", if self.shuffle { " --shuffle" } else { "" }),
        };
        let Gwgm { visible, hidden, mu_mu, sigma_mu, mu_sigma, sigma_sigma, lambda } = self.family;
        format!(
            "lnz generate {kind} --visible {visible} --hidden {hidden} --mu-mu {mu_mu} --sigma-mu {sigma_mu} --mu-sigma {mu_sigma} --sigma-sigma {sigma_sigma} --lambda {lambda} --seed {}",
            self.seed
        )
    }
}
