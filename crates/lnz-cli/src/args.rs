//! What can be typed: commands, options and their help.

mod annealing;
mod answer;
mod auto;
mod bench;
mod bounds;
mod choice;
mod compare;
mod convert;
mod data;
mod estimate;
mod exact;
mod folder;
mod generate;
mod grey;
mod help;
mod ledger;
mod model;
mod paper;
mod parts;
mod program;
mod report;
mod run;
mod sample;
mod score;
mod show;
mod start;
mod track;
mod train;
mod values;
mod verdict;

pub(crate) use bench::{BenchAction, BenchArgs, SuiteArgs};
pub(crate) use bounds::BoundsArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use convert::ConvertArgs;
pub(crate) use data::{DataArgs, DataCommand, FetchArgs, InfoArgs};
pub(crate) use estimate::EstimateArgs;
pub(crate) use exact::ExactArgs;
pub(crate) use folder::FolderArgs;
pub(crate) use generate::{FamilyArgs, GenerateArgs, GenerateKind, MadeArgs};
pub(crate) use paper::{DataFiles, PaperAction, PaperArgs, ResultsArgs, WhichArgs};
pub(crate) use parts::{MergeArgs, PlanArgs, StatusArgs, WorkArgs};
pub(crate) use program::{CompletionsArgs, ManArgs, VersionArgs};
pub(crate) use report::ReportArgs;
pub(crate) use run::{RunArgs, TableArgs};
pub(crate) use sample::SampleArgs;
pub(crate) use score::ScoreArgs;
pub(crate) use show::{InspectArgs, ModelsArgs};
pub(crate) use track::TrackArgs;
pub(crate) use train::TrainArgs;

use annealing::AnnealingArgs;
use answer::AnswerArgs;
use auto::AutoArgs;
use grey::GreyArgs;
use ledger::LedgerArgs;
use model::{ModelArgs, ReadingArgs};
use run::LimitArgs;
use start::StartArgs;
use values::prose;
use verdict::{JudgedArgs, VerdictArgs};

use clap::{Parser, Subcommand};

const FIRST_STEPS: &str = "\
Examples:
  lnz models                            list the built-in models
  lnz estimate gwgm-hard                log Z of one of them
  lnz estimate model.npz --json         log Z of a model in a file, for programs
  lnz score model.npz --data test.npy   log-likelihood of data
  lnz compare model.npz                 several strategies side by side
  lnz inspect model.pt                  what is in a file and how it was understood

MODEL is a file or the name of a built-in model. Files are told by their content: .npz, .npy,
.safetensors, MATLAB .mat, PyTorch .pt .pth .ckpt, pickles and joblib (no code is run), HDF5 (rbms,
RestrictedBoltzmannMachines.jl, MATLAB 7.3, Keras), .uai, flax msgpack, CSV; - is standard input.
Exit codes: 0 fine, 1 failed, 2 bad usage or input, 3 a verdict that --fail-on names, 128 and the
number of the signal if interrupted (130 after Ctrl-C).";

/// log Z of a Restricted Boltzmann Machine, and how far to trust it.
#[derive(Debug, Parser)]
#[command(name = "lnz", version, after_help = prose(FIRST_STEPS), max_term_width = 100)]
pub(crate) struct Cli {
    #[arg(long, short, global = true, help = help::QUIET)]
    quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Estimate log Z, or compute it where that is cheap
    Estimate(Box<EstimateArgs>),
    /// Compute log Z exactly by summing over all states
    Exact(ExactArgs),
    /// Prove a floor and a ceiling of log Z, for sparse models of any size
    Bounds(BoundsArgs),
    /// Log-likelihood of data under a model
    Score(Box<ScoreArgs>),
    /// Draw states of a model by parallel tempering
    Sample(SampleArgs),
    /// Run several strategies side by side on one model
    Compare(CompareArgs),
    /// Begin a run in a folder, in parts that any number of processes compute
    Plan(Box<PlanArgs>),
    /// Compute parts of a run folder
    Work(WorkArgs),
    /// Put the parts of a run folder together
    Merge(MergeArgs),
    /// Say what a run folder has and what it lacks
    Status(StatusArgs),
    /// Show what is in a model file and how it was understood
    Inspect(InspectArgs),
    /// Write a model in another format
    Convert(ConvertArgs),
    /// Train a model on data by contrastive divergence
    Train(Box<TrainArgs>),
    /// Follow log Z along a training run, by bridges from checkpoint to checkpoint
    Track(Box<TrackArgs>),
    /// Make an artificial model, or a folder of them
    Generate(GenerateArgs),
    /// List the built-in models
    Models(ModelsArgs),
    /// Run the paper's experiments, draw its figures, judge its claims
    Paper(PaperArgs),
    /// Hold lnz and other programs against models of known log Z
    Bench(BenchArgs),
    /// Look into data files, or download well-known ones
    Data(DataArgs),
    /// Print the JSON Schema of what --json prints
    Schema,
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them
    Man(ManArgs),
    /// Print the version, and what this program was built with
    Version(VersionArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_are_listed_under_headings_of_their_own() {
        let program = Cli::command();
        for command in program.get_subcommands() {
            let name = command.get_name();
            for positional in command.get_positionals() {
                assert_eq!(positional.get_help_heading(), None, "{name} {positional}");
            }
            let reading = command
                .get_opts()
                .filter(|option| option.get_help_heading() == Some("Reading the file"));
            let reading: Vec<&str> = reading.filter_map(clap::Arg::get_long).collect();
            let all = ["units", "weights", "visible-bias", "hidden-bias", "layout", "update"];
            assert!(reading.is_empty() || reading == all, "{name}: {reading:?}");
        }
    }

    #[test]
    fn help_states_the_default_precision() {
        assert_eq!(lnz::Precision::default(), lnz::Precision::I16);
    }

    #[test]
    fn negative_parameters_need_no_equals_sign() {
        let line = "lnz generate gwgm --mu-mu -10 --lambda -0.1 -o m.npz";
        assert!(Cli::try_parse_from(line.split(' ')).is_ok());
    }
}
