//! Options of training.

use super::choice::choice;
use super::values::{positive, prose, seconds};
use super::{ReportArgs, RunArgs};
use clap::Args;
use lnz::data::Binarize;
use lnz::train::{LearningRate, Training, VisibleBias};
use lnz_app::Epochs;
use lnz_app::session::Session;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lnz train --data train-images-idx3-ubyte.gz --hidden 500 --epochs 20 --out mnist-500
  lnz train --data web.txt --hidden 20 --epochs 500 --save-at 10,50,100-500/100 --track all --out web-20
  lnz train --data web.txt --hidden 20 --epochs 900 --save-at 900 --out web-20 --resume
  lnz estimate mnist-500/epoch-20.safetensors

The folder gets a model for each saved epoch, history.csv with a line for each epoch, a plot when log Z
is tracked, and state.safetensors, which --resume goes on from, to the same bits as a run that was never
interrupted. EPOCHS is a list such as 1-20,40,100-500/100 (every hundredth), or `all`.";

#[derive(Debug, Args)]
#[command(after_help = prose(EXAMPLES))]
pub(crate) struct TrainArgs {
    /// Data to learn from: IDX, LIBSVM (also .gz or .xz), .npy or .npz, or the name of a fetched data set
    #[arg(long, value_name = "FILE")]
    pub(crate) data: PathBuf,
    /// What to do with grey values: keep them as probabilities, or draw them anew in every epoch
    #[arg(long, value_parser = choice::<Binarize>(), default_value = Binarize::default().name())]
    pub(crate) binarize: Binarize,
    /// Number of hidden units
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) hidden: usize,
    /// Passes through the data
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) epochs: usize,
    /// Folder for what is written; made if it does not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Epochs whose model is kept, besides the last
    #[arg(long, value_name = "EPOCHS", default_value = "", hide_default_value = true)]
    pub(crate) save_at: Epochs,
    /// Go on with the run that is in the folder
    #[arg(long)]
    pub(crate) resume: bool,
    /// Time that the command may take, in seconds or as 5m: no epoch begins that would not end by then
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) max_seconds: Option<f64>,
    #[command(flatten)]
    pub(crate) learning: LearningArgs,
    #[command(flatten)]
    pub(crate) tracking: TrackingArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// How the model learns.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learning")]
pub(crate) struct LearningArgs {
    #[arg(
        long,
        value_name = "RATE",
        allow_hyphen_values = true,
        help = "Learning rate, for a gradient averaged over the mini-batch [default: 0.01]"
    )]
    pub(crate) learning_rate: Option<f64>,
    /// Learning rate of the last epoch; it falls by the same factor in each [default: constant]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) final_learning_rate: Option<f64>,
    /// Examples in a mini-batch
    #[arg(long, value_name = "N", value_parser = positive, default_value_t = Training::default().batch)]
    pub(crate) batch: usize,
    /// Gibbs steps per mini-batch: the k of CD-k
    #[arg(long, value_name = "K", value_parser = positive, default_value_t = Training::default().steps)]
    pub(crate) steps: usize,
    /// Persistent CD: chains go on from mini-batch to mini-batch
    #[arg(long)]
    pub(crate) persistent: bool,
    /// Share of the last step that is added to the next
    #[arg(long, value_name = "M", allow_hyphen_values = true, default_value_t = Training::default().momentum)]
    pub(crate) momentum: f64,
    /// Pull of the weights towards zero
    #[arg(long, value_name = "L", allow_hyphen_values = true, default_value_t = Training::default().weight_decay)]
    pub(crate) weight_decay: f64,
    /// Where the biases of the visible units start
    #[arg(long, value_parser = choice::<VisibleBias>(), default_value = VisibleBias::default().name())]
    pub(crate) visible_bias: VisibleBias,
    /// Standard deviation of the initial weights
    #[arg(long, value_name = "S", allow_hyphen_values = true, default_value_t = Training::default().initial_weights)]
    pub(crate) initial_weights: f64,
    /// Seed of everything that is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

/// log Z and likelihood along training.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tracking")]
pub(crate) struct TrackingArgs {
    /// Epochs after which log Z and the log-likelihood are estimated; 0 is before the first
    #[arg(long, value_name = "EPOCHS", default_value = "", hide_default_value = true)]
    pub(crate) track: Epochs,
    /// Data whose likelihood is tracked but which is not learnt from
    #[arg(long, value_name = "FILE")]
    pub(crate) validation: Option<PathBuf>,
    /// Cost of an estimate: 1 is about a quarter of the time of an epoch
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub(crate) track_effort: f64,
}

impl TrainArgs {
    /// The session that is asked for.
    pub(crate) fn session(&self) -> Session {
        Session {
            training: self.training(),
            track: self.tracking.track.clone(),
            track_effort: self.tracking.track_effort,
            folder: Some(self.out.clone()),
            save_at: self.save_at.clone(),
            resume: self.resume,
        }
    }

    fn training(&self) -> Training {
        let learning = &self.learning;
        let first = match (learning.learning_rate, Training::default().learning_rate) {
            (Some(rate), _) | (None, LearningRate::Constant(rate)) => rate,
            (None, LearningRate::Falling(first, _)) => first,
        };
        Training {
            hidden: self.hidden,
            epochs: self.epochs,
            batch: learning.batch,
            learning_rate: match learning.final_learning_rate {
                None => LearningRate::Constant(first),
                Some(last) => LearningRate::Falling(first, last),
            },
            momentum: learning.momentum,
            weight_decay: learning.weight_decay,
            steps: learning.steps,
            persistent: learning.persistent,
            draw_values: self.binarize == Binarize::Bernoulli,
            visible_bias: learning.visible_bias,
            initial_weights: learning.initial_weights,
            seed: learning.seed,
        }
    }
}
