//! What can be typed: commands, options and their help.

mod annealing;
mod auto;
mod bench;
mod choice;
mod data;
mod exact;
mod folder;
mod generate;
mod paper;
mod report;
mod sample;
mod score;
mod start;
mod track;
mod train;
mod values;

pub(crate) use bench::{BenchAction, BenchArgs, SuiteArgs};
pub(crate) use data::{DataArgs, DataCommand, FetchArgs, InfoArgs};
pub(crate) use exact::{BoundsArgs, ExactArgs};
pub(crate) use folder::{FolderArgs, LedgerArgs, MergeArgs, PlanArgs, StatusArgs, WorkArgs};
pub(crate) use generate::{FamilyArgs, GenerateArgs, GenerateKind, MadeArgs};
pub(crate) use paper::{DataFiles, PaperAction, PaperArgs, ResultsArgs, WhichArgs};
pub(crate) use report::ReportArgs;
pub(crate) use sample::SampleArgs;
pub(crate) use score::ScoreArgs;
pub(crate) use track::TrackArgs;
pub(crate) use train::TrainArgs;

use annealing::AnnealingArgs;
use auto::AutoArgs;
use choice::choice;
use start::StartArgs;
use values::{prose, seconds, threads};

use crate::failure::DOUBTFUL;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use lnz::io::{Float, Layout, ReadOptions, Units};
use lnz::{Auto, Method};
use lnz_app::compare::CompareRequest;
use lnz_app::request::Request;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
    /// Show no progress
    #[arg(long, short, global = true)]
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

/// The model that a command is about. The last of its fields, because the heading of how a file is read
/// would be that of all that follows.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// A model file (- for standard input), or the name of a built-in model (see `lnz models`)
    #[arg(help_heading = None::<&str>)]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// How a model file is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading the file")]
pub(crate) struct ReadingArgs {
    /// Values of the units in the file [default: what the file says, else binary]
    #[arg(long, value_parser = choice::<Units>())]
    pub(crate) units: Option<Units>,
    #[command(flatten)]
    pub(crate) parts: PartArgs,
}

/// What a model file does not say itself.
#[derive(Debug, Args)]
pub(crate) struct PartArgs {
    /// The tensor with the weights, by its name in the file; or a file of its own
    #[arg(long, value_name = "NAME")]
    weights: Option<String>,
    /// The same for the visible bias; none for zero
    #[arg(long, value_name = "NAME")]
    visible_bias: Option<String>,
    /// The same for the hidden bias
    #[arg(long, value_name = "NAME")]
    hidden_bias: Option<String>,
    /// Which way round the weights are stored, where their shape does not tell
    #[arg(long, value_parser = choice::<Layout>())]
    layout: Option<Layout>,
    /// Which update of a training run of `rbms` [default: the last]
    #[arg(long, value_name = "N")]
    update: Option<u64>,
}

impl ModelArgs {
    /// Finds and reads the model.
    pub(crate) fn load(&self) -> lnz_app::Result<lnz_app::Source> {
        self.reading.load(&self.model)
    }
}

impl ReadingArgs {
    /// Finds and reads a model.
    pub(crate) fn load(&self, model: &Path) -> lnz_app::Result<lnz_app::Source> {
        lnz_app::Source::load_with(model, &self.read_options())
    }

    pub(crate) fn read_options(&self) -> ReadOptions {
        let mut options = ReadOptions::with_units(self.units);
        options.weights = self.parts.weights.clone();
        options.visible_bias = self.parts.visible_bias.clone();
        options.hidden_bias = self.parts.hidden_bias.clone();
        options.layout = self.parts.layout;
        options.update = self.parts.update;
        options
    }
}

/// Which verdicts are failures.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run and output")]
pub(crate) struct VerdictArgs {
    /// End with exit code 3 if the verdict is this, or worse: unchecked, then suspect
    #[arg(long, value_name = "VERDICT", value_enum)]
    pub(crate) fail_on: Option<FailOn>,
}

/// A verdict that is a failure, with those that are worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum FailOn {
    /// The tests were off, or one found a problem
    Unchecked,
    /// A test found a problem
    Suspect,
}

impl VerdictArgs {
    /// The exit code of a result with this verdict.
    pub(crate) fn exit_code(&self, verdict: &str) -> ExitCode {
        let worst = match verdict {
            "unchecked" => Some(FailOn::Unchecked),
            "suspect" => Some(FailOn::Suspect),
            _ => None,
        };
        match (self.fail_on, worst) {
            (Some(limit), Some(worst)) if worst >= limit => ExitCode::from(DOUBTFUL),
            _ => ExitCode::SUCCESS,
        }
    }
}

/// How long an estimate may take.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    #[arg(long, value_name = "TIME", value_parser = seconds,
        help = format!(
            "Time that the command may take, in seconds or as 5m or 1h30m, from reading the files on; \
             with AIS, as many chains as fit into it [default: {} with auto, none otherwise]",
            Auto::default().max_seconds
        ))]
    pub(crate) max_seconds: Option<f64>,
}

/// A table for other programs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run and output")]
pub(crate) struct TableArgs {
    /// Print the table as Markdown
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub(crate) markdown: bool,
    /// Print the table as CSV
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

/// How a long command runs and what it prints.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run and output")]
pub(crate) struct RunArgs {
    /// Number of threads [default: all]; results are the same bits for any number
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const ESTIMATE_EXAMPLES: &str = "\
Examples:
  lnz estimate gwgm-hard
  lnz estimate gwgm-hard --no-exact                    the same by sampling
  lnz estimate gwgm-hard --start uniform               the classical start, 70% off here
  lnz estimate gwgm-hard --start gibbs --transpose     the paper's remedy
  lnz estimate rbm.npz --report run.html               a page with figures, to keep or to send
  lnz estimate rbm.mat --data train-images-idx3-ubyte.gz --betas 4096
  lnz estimate rbm.npz --start metropolis --flips 15% --init ps --chain-layout single
  lnz estimate a.npz b.safetensors 'models/*.pt' --csv log-z.csv
  lnz estimate rbm.npz --betas 1000000 --run folder    goes on there after Ctrl-C or kill -9

Without --method, what can be summed over in a few seconds is, and the rest is sampled from several
starts; options that only plain AIS understands select it. Fields of --json that do not apply are null,
and infinite numbers the words \"Infinity\" and \"-Infinity\"; `lnz schema` has all of them.";

#[derive(Debug, Args)]
#[command(after_help = prose(ESTIMATE_EXAMPLES))]
pub(crate) struct EstimateArgs {
    /// A model file (- for standard input), or the name of a built-in model (see `lnz models`); several,
    /// folders and patterns such as 'models/*.pt' make a table
    #[arg(value_name = "MODEL", required = true)]
    pub(crate) models: Vec<PathBuf>,
    /// How to obtain log Z
    #[arg(long, value_parser = choice::<Method>(), default_value = Method::default().name())]
    pub(crate) method: Method,
    /// Sample the whole model even if it, or parts of it, can be summed exactly
    #[arg(long)]
    pub(crate) no_exact: bool,
    /// With AIS: do not search for mass that it may have missed
    #[arg(long)]
    pub(crate) no_check: bool,
    #[command(flatten)]
    pub(crate) limit: LimitArgs,
    #[command(flatten)]
    pub(crate) auto: AutoArgs,
    #[command(flatten)]
    pub(crate) start: StartArgs,
    #[command(flatten)]
    pub(crate) annealing: AnnealingArgs,
    /// Exchange the layers: the same Z, a different run
    #[arg(long, help_heading = "Annealing")]
    pub(crate) transpose: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    /// Write the samples s_i, whose log-mean-exp is log Z, as a numpy array; selects AIS, which alone
    /// has them
    #[arg(long, value_name = "FILE.npy", help_heading = "Run and output")]
    pub(crate) save_weights: Option<PathBuf>,
    /// Write log10 Z as the UAI competitions want it
    #[arg(long, value_name = "FILE.uai.PR", help_heading = "Run and output")]
    pub(crate) save_pr: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) table: LedgerArgs,
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

impl EstimateArgs {
    pub(crate) fn request(&self) -> anyhow::Result<Request> {
        Ok(Request {
            method: self.method,
            no_exact: self.no_exact,
            no_check: self.no_check,
            max_seconds: self.limit.max_seconds,
            auto: self.auto.request(),
            start: self.start.request()?,
            annealing: self.annealing.request(),
            transpose: self.transpose,
            save_weights: self.save_weights.is_some(),
        })
    }
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  lnz compare gwgm-hard
  lnz compare model.npz --betas 4096 --chains 256 --json";

#[derive(Debug, Args)]
#[command(after_help = prose(COMPARE_EXAMPLES))]
pub(crate) struct CompareArgs {
    /// Do not compute the exact value
    #[arg(long)]
    pub(crate) no_exact: bool,
    /// Do not search for mass that the strategies may have missed
    #[arg(long)]
    pub(crate) no_check: bool,
    #[command(flatten)]
    pub(crate) annealing: AnnealingArgs,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

impl CompareArgs {
    pub(crate) fn request(&self) -> CompareRequest {
        CompareRequest {
            no_exact: self.no_exact,
            no_check: self.no_check,
            annealing: self.annealing.request(),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  lnz convert rbm.mat rbm.npz
  lnz convert ising.npz ising.safetensors --units spin    the result has units 0 and 1
  lnz convert rbm.npz small.safetensors --float f16       a quarter of the size, three digits";

#[derive(Debug, Args)]
#[command(after_help = prose(CONVERT_EXAMPLES))]
pub(crate) struct ConvertArgs {
    /// The new file; its extension chooses the format (.npz, .safetensors, .mat, .uai)
    #[arg(value_name = "OUT", index = 2)]
    pub(crate) output: PathBuf,
    /// Type of weights and biases in a .safetensors file [default: f64]
    #[arg(long, value_parser = choice::<Float>())]
    pub(crate) float: Option<Float>,
    /// Compute log Z exactly, of the numbers as they are written, and store it too
    #[arg(long)]
    pub(crate) exact: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  lnz completions bash > ~/.local/share/bash-completion/completions/lnz
  lnz completions fish > ~/.config/fish/completions/lnz.fish";

#[derive(Debug, Args)]
#[command(after_help = prose(COMPLETIONS_EXAMPLES))]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  lnz man | man -l -                                read it
  lnz man estimate > lnz-estimate.1                 of one command
  lnz man --out ~/.local/share/man/man1             all of them, for `man lnz-estimate`";

#[derive(Debug, Args)]
#[command(after_help = prose(MAN_EXAMPLES))]
pub(crate) struct ManArgs {
    /// The command [default: the whole program]
    pub(crate) command: Option<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
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
