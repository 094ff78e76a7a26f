//! Options of `lnz generate`.

use super::help;
use super::values::{positive, prose};
use clap::{Args, Subcommand};
use lnz::Gwgm;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lnz generate gwgm -o hard.npz                              the paper's hardest family, 20 x 180
  lnz generate gwgm --mu-mu -1 --sigma-mu 1 --seed 7 -o mild.safetensors
  lnz generate bms --blocks 3 --shuffle -o blocks.npz        60 x 540, exactly solvable
  lnz generate grid --rows 40 --columns 40 -o grid.uai       beyond elimination; see `lnz bounds`
  lnz generate suite -o league                               for `lnz bench suite league`";

#[derive(Debug, Args)]
#[command(after_help = prose(EXAMPLES))]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    pub(crate) kind: GenerateKind,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GenerateKind {
    /// Gaussian weights whose mean and deviation are Gaussian themselves
    Gwgm {
        #[command(flatten)]
        family: FamilyArgs,
    },
    /// Spins on a grid, like the competition's grid20x20.f5: layers are the colours of a chess board
    Grid {
        /// Rows
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = positive)]
        rows: usize,
        /// Columns
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = positive)]
        columns: usize,
        /// Couplings are uniform between minus this and this, fields between -1 and 1
        #[arg(long, value_name = "X", default_value_t = 5.0)]
        strength: f64,
        /// Close the grid to a torus
        #[arg(long)]
        wrap: bool,
        #[command(flatten)]
        made: MadeArgs,
    },
    /// Spins in a dense RBM, like the competition's rbm_20: couplings and fields are normal
    Spins {
        /// Visible units
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = positive)]
        visible: usize,
        /// Hidden units
        #[arg(long, value_name = "N", default_value_t = 20)]
        hidden: usize,
        /// Couplings count by their absolute value, like rbm_ferro_20
        #[arg(long)]
        ferro: bool,
        #[command(flatten)]
        made: MadeArgs,
    },
    /// A folder of 14 spin models as in the UAI competition of 2014, with their exact log Z
    Suite {
        /// Seed of the first model; the others follow
        #[arg(long, value_name = "N", default_value_t = 0)]
        seed: u64,
        /// The new folder
        #[arg(long, short, value_name = "DIR")]
        output: PathBuf,
        #[arg(long, short, help = help::QUIET)]
        quiet: bool,
    },
    /// Several GWGM models side by side, without weights between them
    Bms {
        /// Number of models
        #[arg(long, value_name = "N", default_value_t = 3, value_parser = positive)]
        blocks: usize,
        /// Mix the order of the units
        #[arg(long)]
        shuffle: bool,
        #[command(flatten)]
        family: FamilyArgs,
    },
}

/// Parameters of a GWGM family; the defaults are the paper's hardest.
#[derive(Debug, Args)]
pub(crate) struct FamilyArgs {
    /// Visible units (of each block)
    #[arg(long, value_name = "N", default_value_t = Gwgm::HARDEST.visible, value_parser = positive)]
    pub(crate) visible: usize,
    /// Hidden units (of each block)
    #[arg(long, value_name = "N", default_value_t = Gwgm::HARDEST.hidden)]
    pub(crate) hidden: usize,
    /// Mean of the mean of the weights
    #[arg(long, value_name = "X", default_value_t = Gwgm::HARDEST.mu_mu, allow_hyphen_values = true)]
    pub(crate) mu_mu: f64,
    /// Standard deviation of the mean of the weights
    #[arg(long, value_name = "X", default_value_t = Gwgm::HARDEST.sigma_mu, allow_hyphen_values = true)]
    pub(crate) sigma_mu: f64,
    /// Mean of the standard deviation of the weights
    #[arg(long, value_name = "X", default_value_t = Gwgm::HARDEST.mu_sigma, allow_hyphen_values = true)]
    pub(crate) mu_sigma: f64,
    /// Standard deviation of the standard deviation of the weights
    #[arg(long, value_name = "X", default_value_t = Gwgm::HARDEST.sigma_sigma, allow_hyphen_values = true)]
    pub(crate) sigma_sigma: f64,
    /// Biases are distributed as the weights, times this factor
    #[arg(long, value_name = "X", default_value_t = Gwgm::HARDEST.lambda, allow_hyphen_values = true)]
    pub(crate) lambda: f64,
    #[command(flatten)]
    pub(crate) made: MadeArgs,
}

/// How a model is made and where it goes.
#[derive(Debug, Args)]
pub(crate) struct MadeArgs {
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Do not compute the exact log Z, which is stored in the file where it is cheap
    #[arg(long)]
    pub(crate) no_exact: bool,
    #[arg(long, short, value_name = "FILE", help = help::NEW_MODEL)]
    pub(crate) output: PathBuf,
    #[arg(long, short, help = help::QUIET)]
    pub(crate) quiet: bool,
}

impl FamilyArgs {
    pub(crate) fn family(&self) -> Gwgm {
        Gwgm {
            visible: self.visible,
            hidden: self.hidden,
            mu_mu: self.mu_mu,
            sigma_mu: self.sigma_mu,
            mu_sigma: self.mu_sigma,
            sigma_sigma: self.sigma_sigma,
            lambda: self.lambda,
        }
    }
}
