//! An artificial model, with the settings that made it and its log Z where that is cheap.

use crate::{Error, Result, numbers};
use lnz::io::StoredModel;
use lnz::train::MOST_WEIGHTS;
use lnz::{Auto, Gwgm, Observer, Rbm, Spins, block_system, exact_log_z};

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

/// What makes a model of a family of the UAI competitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpinRecipe {
    /// The family.
    pub family: Spins,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl SpinRecipe {
    /// Refuses models that would only exhaust the memory.
    pub fn check_size(&self) -> Result<()> {
        check_weights(self.family.shape(), || match self.family {
            Spins::Grid { rows, columns, .. } => {
                format!("{{rows={rows}}} and {{columns={columns}}}")
            }
            Spins::Dense { visible, hidden, .. } => {
                format!("{{visible={visible}}} and {{hidden={hidden}}}")
            }
        })
    }

    /// Makes the model; with `exact`, its log Z is added if that takes a few seconds.
    pub fn make(&self, exact: bool, observer: &dyn Observer) -> Result<StoredModel> {
        self.check_size()?;
        finished(self.family.generate(self.seed)?, self.command(), exact, observer)
    }

    /// The command that makes the same model again.
    fn command(&self) -> String {
        let family = match self.family {
            Spins::Grid { rows, columns, strength, wrap } => format!(
                "grid --rows {rows} --columns {columns} --strength {strength}{}",
                if wrap { " --wrap" } else { "" }
            ),
            Spins::Dense { visible, hidden, ferromagnetic } => format!(
                "spins --visible {visible} --hidden {hidden}{}",
                if ferromagnetic { " --ferro" } else { "" }
            ),
        };
        format!("lnz generate {family} --seed {}", self.seed)
    }
}

fn check_weights(shape: Option<(usize, usize)>, options: impl Fn() -> String) -> Result<()> {
    match shape.and_then(|(visible, hidden)| visible.checked_mul(hidden)) {
        Some(weights) if weights <= MOST_WEIGHTS => Ok(()),
        _ => Err(Error::options(format!(
            "{} make more than {} weights; choose a smaller model",
            options(),
            numbers::count(MOST_WEIGHTS)
        ))),
    }
}

/// The model with the command that made it, and with its log Z if that is wanted and cheap.
fn finished(
    model: Rbm,
    command: String,
    exact: bool,
    observer: &dyn Observer,
) -> Result<StoredModel> {
    let mut stored = StoredModel::from(model);
    stored.metadata.insert("generated_by".into(), command);
    if exact && Auto::default().sums_exactly(&stored.model)? {
        stored.exact_log_z = Some(exact_log_z(&stored.model, observer)?);
    }
    Ok(stored)
}

impl Recipe {
    /// Refuses models that would only exhaust the memory.
    pub fn check_size(&self) -> Result<()> {
        let Gwgm { visible, hidden, .. } = self.family;
        let side = |units: usize| units.checked_mul(self.blocks.unwrap_or(1));
        check_weights(side(visible).zip(side(hidden)), || {
            format!("{{visible={visible}}} and {{hidden={hidden}}}")
        })
    }

    /// Makes the model; with `exact`, its log Z is added if that takes a few seconds.
    pub fn make(&self, exact: bool, observer: &dyn Observer) -> Result<StoredModel> {
        self.check_size()?;
        let model = match self.blocks {
            None => self.family.generate(self.seed)?,
            Some(blocks) => block_system(&self.family, blocks, self.shuffle, self.seed)?,
        };
        finished(model, self.command(), exact, observer)
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
