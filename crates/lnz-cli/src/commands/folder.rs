//! Runs in a folder: `--run`, `lnz plan`, `lnz work`, `lnz merge` and `lnz status`.

use crate::args::{
    Cli, Command, EstimateArgs, ExactArgs, FolderArgs, MergeArgs, PlanArgs, RunArgs, StatusArgs,
    WorkArgs,
};
use crate::failure::usage;
use crate::interrupt;
use crate::progress::Watch;
use crate::threads::on_threads;
use crate::{report, terminal};
use anyhow::{Context, Result};
use clap::Parser;
use lnz::io::{self, LargeNetwork};
use lnz::{Exact, Observer, WithCrew};
use lnz_app::folder::{Header, RunFolder, Share, VERSION};
use lnz_app::report::Report;
use lnz_app::request::Plan;
use lnz_app::{Source, network, run};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// What is run in a folder.
struct Job {
    what: What,
    /// Where the model was found.
    name: String,
    /// The hash of the model.
    sha256: String,
    /// The options that decide the result.
    settings: String,
}

enum What {
    Planned(Box<Plan>, Box<Source>),
    /// A network that is too large for a matrix: an elimination is all that it can have.
    Network(Box<LargeNetwork>, Exact),
}

impl Job {
    fn of_estimate(args: &EstimateArgs) -> Result<Self> {
        let [model] = &args.models[..] else {
            return Err(usage("{run} is for one model; give each model a folder of its own"));
        };
        args.refuse_sharing()?;
        let request = args.request()?;
        let plan = request.plan()?.for_folder(request.max_seconds)?;
        let settings = format!("estimate {request:?}");
        if let (Plan::Exact { settings: exact, .. }, Some(network)) =
            (&plan, io::read_large_network(model)?)
        {
            return Ok(Self::of_network(model, network, *exact, settings));
        }
        Ok(Self::planned(plan, args.reading.load(not_standard_input(model)?)?, settings))
    }

    fn of_exact(args: &ExactArgs) -> Result<Self> {
        let plan = args.request().plan()?.for_folder(args.max_seconds)?;
        let (model, settings) = (&args.model.model, format!("exact {:?}", args.max_memory));
        if let Some(network) = io::read_large_network(model)? {
            let exact = Exact { max_seconds: f64::INFINITY, ..args.request().settings()? };
            return Ok(Self::of_network(model, network, exact, settings));
        }
        Ok(Self::planned(plan, args.model.reading.load(not_standard_input(model)?)?, settings))
    }

    fn planned(plan: Plan, source: Source, settings: String) -> Self {
        let (name, sha256) = (source.name.clone(), source.model().sha256());
        Self { what: What::Planned(Box::new(plan), Box::new(source)), name, sha256, settings }
    }

    fn of_network(model: &Path, network: LargeNetwork, exact: Exact, settings: String) -> Self {
        let (name, sha256) = (model.display().to_string(), network.sha256());
        Self { what: What::Network(Box::new(network), exact), name, sha256, settings }
    }

    fn run(&self, started: Instant, observer: &dyn Observer) -> Result<Report> {
        Ok(match &self.what {
            What::Planned(plan, source) => {
                run::estimate(source.stored(), &self.name, plan, started, observer)?.report
            }
            What::Network(network, settings) => {
                network::exact(network, &self.name, settings, None, started, observer)?
            }
        })
    }

    /// The job that a folder was begun with.
    fn of_folder(folder: &RunFolder) -> Result<Self> {
        let Header { command, typed_in, .. } = &folder.header;
        // Paths in the command count from there. It may be gone, and the paths whole.
        let _ = std::env::set_current_dir(typed_in);
        let read = |error: clap::Error| {
            anyhow::anyhow!(
                "{}: the command in run.json cannot be read: {error}",
                folder.path.display()
            )
        };
        let job = match Cli::try_parse_from(command).map_err(read)?.command {
            Command::Estimate(args) => Self::of_estimate(&args)?,
            Command::Plan(args) => Self::of_estimate(&args.estimate)?,
            Command::Exact(args) => Self::of_exact(&args)?,
            _ => anyhow::bail!("{}: run.json is not of a run", folder.path.display()),
        };
        folder.check_model(&job.sha256)?;
        Ok(job)
    }

    /// Begins this job in a folder, or goes on there.
    fn begin(&self, args: &FolderArgs, path: &Path, parts: Option<usize>) -> Result<RunFolder> {
        let header = Header {
            lnz: VERSION.to_owned(),
            model: self.sha256.clone(),
            path: self.name.clone().into(),
            command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            typed_in: std::env::current_dir().context("the current folder")?,
            settings: self.settings.clone(),
            parts,
            split_above: args.split_above,
        };
        Ok(RunFolder::begin(path, header)?)
    }
}

fn not_standard_input(model: &Path) -> Result<&Path> {
    match model == Path::new("-") {
        true => Err(usage(
            "{run} needs a model that can be read again, and standard input cannot; give its file",
        )),
        false => Ok(model),
    }
}

/// How a share of a run has ended.
enum End {
    Finished(Box<Report>),
    /// Other parts are missing: their numbers, and how many parts there are.
    Waiting(Vec<usize>, usize),
}

/// Computes a share of a run; keeps the report when all is there.
fn compute(job: &Job, folder: &RunFolder, share: Share, args: &RunArgs) -> Result<End> {
    let started = Instant::now();
    let watch = Watch::new(args.quiet);
    let crew = folder.crew(share);
    let observer = WithCrew { observer: &watch, crew: &crew };
    let outcome = on_threads(args.threads, || job.run(started, &observer));
    watch.finish();
    match (outcome, crew.missing()) {
        (Ok(mut report), _) => {
            report.ready_parts = crew.ready();
            folder.keep_result(&report)?;
            Ok(End::Finished(Box::new(report)))
        }
        (Err(_), Some(missing)) => Ok(End::Waiting(missing.parts, missing.of)),
        (Err(error), None) => Err(error),
    }
}

/// `lnz estimate MODEL --run DIR`.
pub(crate) fn estimate(args: &EstimateArgs, path: &Path) -> Result<Report> {
    let job = Job::of_estimate(args)?;
    let folder = job.begin(&args.folder, path, None)?;
    finish(&job, &folder, &args.judged.run)
}

/// `lnz exact MODEL --run DIR`.
pub(crate) fn exact(args: &ExactArgs, path: &Path) -> Result<Report> {
    let job = Job::of_exact(args)?;
    let folder = job.begin(&args.folder, path, None)?;
    finish(&job, &folder, &args.run)
}

/// Computes all that is missing.
fn finish(job: &Job, folder: &RunFolder, args: &RunArgs) -> Result<Report> {
    match compute(job, folder, Share::All, args)? {
        End::Finished(report) => Ok(*report),
        End::Waiting(..) => anyhow::bail!("{}: the run has not ended", folder.path.display()),
    }
}

/// `lnz plan`: everything up to the first parts.
pub(crate) fn plan(args: &PlanArgs) -> Result<ExitCode> {
    let (options, run) = (&args.estimate.folder, &args.estimate.judged.run);
    let Some(path) = &options.path else {
        return Err(usage("`lnz plan` needs {run}, the folder where the parts are kept"));
    };
    let job = Job::of_estimate(&args.estimate)?;
    let folder = job.begin(options, path, Some(args.parts.get()))?;
    match compute(&job, &folder, Share::Nothing, run)? {
        End::Finished(report) => report::print(&report, run.json)?,
        End::Waiting(..) if run.json => terminal::print_json(&folder.status()?)?,
        End::Waiting(..) => {
            terminal::print(&folder.status()?.to_text(&path.display().to_string()))?
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `lnz work`: one part, or all that is missing.
pub(crate) fn work(args: &WorkArgs) -> Result<ExitCode> {
    let folder = RunFolder::open(&args.folder)?;
    let share = match part(args)? {
        None => Share::All,
        Some(number) => match folder.header.parts {
            Some(parts) if number <= parts => Share::Part { number, wait: args.wait },
            Some(parts) => {
                return Err(usage(format!(
                    "{{part}} is {number}, but the run has parts 1 to {parts}"
                )));
            }
            None => {
                return Err(usage(
                    "{part} is for runs that `lnz plan` has split into parts; without it, what is missing is computed",
                ));
            }
        },
    };
    let shown = args.folder.display().to_string();
    let job = Job::of_folder(&folder)?;
    match compute(&job, &folder, share, &args.run)? {
        End::Finished(report) => report::print(&report, args.run.json)?,
        End::Waiting(..) if args.run.json => terminal::print_json(&folder.status()?)?,
        End::Waiting(missing, parts) => {
            let number = if let Share::Part { number, .. } = share { number } else { 0 };
            let count = missing.len();
            terminal::print(&format!(
                "part {number} is done; {count} of {parts} parts are missing (`lnz status {shown}` names them)\n"
            ))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The part that was asked for, or that Slurm gives to this task of an array.
fn part(args: &WorkArgs) -> Result<Option<usize>> {
    let Some(word) = std::env::var_os("SLURM_ARRAY_TASK_ID").filter(|_| args.part.is_none()) else {
        return Ok(args.part.map(Into::into));
    };
    match word.to_str().and_then(|word| word.parse().ok()).filter(|part| *part > 0) {
        Some(part) => Ok(Some(part)),
        None => Err(usage(format!(
            "$SLURM_ARRAY_TASK_ID is {word:?}, but parts are numbered from 1 on: use `#SBATCH --array=1-N`, or give {{part}}"
        ))),
    }
}

/// `lnz merge`: the result, if nothing is missing.
pub(crate) fn merge(args: &MergeArgs) -> Result<ExitCode> {
    let folder = RunFolder::open(&args.folder)?;
    let job = Job::of_folder(&folder)?;
    match compute(&job, &folder, Share::Nothing, &args.run)? {
        End::Finished(report) => {
            report::print(&report, args.run.json)?;
            Ok(ExitCode::SUCCESS)
        }
        End::Waiting(..) if interrupt::requested() => Ok(ExitCode::from(interrupt::code())),
        End::Waiting(missing, parts) => {
            let (folder, count) = (args.folder.display(), missing.len());
            anyhow::bail!(
                "{folder} lacks {count} of {parts} parts: {}; `lnz work {folder} --part N` computes one, `lnz work {folder}` all that nobody is at",
                lnz_app::folder::in_ranges(&missing)
            )
        }
    }
}

/// `lnz status`: what a folder has and what it lacks.
pub(crate) fn status(args: &StatusArgs) -> Result<ExitCode> {
    let status = RunFolder::open(&args.folder)?.status()?;
    match args.json {
        true => terminal::print_json(&status)?,
        false => terminal::print(&status.to_text(&args.folder.display().to_string()))?,
    }
    Ok(ExitCode::SUCCESS)
}
