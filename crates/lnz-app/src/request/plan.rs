//! What will run: a request that was checked, with all its defaults.

use super::{AnnealingRequest, ScheduleRequest, StartPlan, StartRequest};
use crate::spelling::verbatim;
use crate::{Error, Result};
use lnz::io::StoredModel;
use lnz::{
    Ais, Annealing, Auto, DEFAULT_BETAS, Estimator, Exact, RunSettings, Schedule, StartedFrom,
};
use ndarray::Array1;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// What will run: settings that are complete and do not contradict.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Plan {
    /// The default method.
    Auto {
        /// Its settings, without the means of data.
        settings: Box<Auto>,
        /// Data whose means are to be added to them.
        data: Option<StartPlan>,
    },
    /// One run of annealed importance sampling.
    Ais(Box<AisPlan>),
    /// A sum over all states.
    Exact {
        /// What it is predicted to take at most.
        settings: Exact,
        /// Seconds that it may take.
        max_seconds: Option<f64>,
    },
    /// A method that needs to know nothing but the model, and that asks between its rounds how much time is
    /// left.
    Ready {
        /// The method.
        estimator: Arc<dyn Estimator>,
        /// Seconds that it may take.
        max_seconds: Option<f64>,
        /// It does not search for mass that it may have missed.
        no_check: bool,
    },
}

/// One run of annealed importance sampling.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AisPlan {
    /// Where it starts.
    pub start: StartPlan,
    /// The betas.
    pub schedule: Schedule,
    /// Where they come from, for the report: `linear`, a file, or `given`.
    pub schedule_name: String,
    /// On the exchanged layers.
    pub transpose: bool,
    /// Everything else.
    pub annealing: Annealing,
    /// It is held against a search for mass that it may have missed.
    pub check: bool,
    /// Seconds that it may take.
    pub max_seconds: Option<f64>,
    /// Only the wish for its samples has selected it.
    pub for_samples: bool,
}

impl Plan {
    /// Seconds that the work may take in all; the default method sees to its own.
    pub fn max_seconds(&self) -> Option<f64> {
        match self {
            Plan::Auto { settings, .. } => Some(settings.max_seconds),
            Plan::Ais(plan) => plan.max_seconds,
            Plan::Exact { max_seconds, .. } | Plan::Ready { max_seconds, .. } => *max_seconds,
        }
    }

    /// The same work in a run folder: however long it takes, unless a method with rounds was given a time,
    /// which then asks before each. Elsewhere a limit of time would have chains depend on the machine.
    pub fn for_folder(self, given: Option<f64>) -> Result<Self> {
        match (self, given) {
            (Plan::Auto { mut settings, data }, None) => {
                settings.max_seconds = f64::INFINITY;
                Ok(Plan::Auto { settings, data })
            }
            (plan @ (Plan::Auto { .. } | Plan::Ready { .. }), Some(_)) => Ok(plan),
            (_, Some(_)) => Err(Error::options(
                "{max_seconds} does not go with {run}: a run folder has every chain, and is stopped and goes on at any time; drop one of them",
            )),
            (Plan::Exact { settings, .. }, None) => {
                let settings = Exact { max_seconds: f64::INFINITY, ..settings };
                Ok(Plan::Exact { settings, max_seconds: None })
            }
            (plan, None) => Ok(plan),
        }
    }

    /// Refuses a limit of time where others compute: nobody knows how long they take. Methods with rounds
    /// keep it: they ask before each.
    pub fn for_executor(self, given: Option<f64>) -> Result<Self> {
        match (&self, given) {
            (Plan::Auto { .. } | Plan::Ready { .. }, _) | (_, None) => Ok(self),
            _ => Err(Error::options(
                "{max_seconds} does not go with {executor}, but for {method=auto} and {method=tempering}; drop one of them",
            )),
        }
    }

    /// The same work with the means of the phases of a similar model, which only the default method takes;
    /// `option` is the one that asked for it.
    pub fn with_similar_means(self, similar_means: Vec<Array1<f64>>, option: &str) -> Result<Self> {
        match self {
            Plan::Auto { settings, data } => {
                let settings = Box::new(Auto { similar_means, ..*settings });
                Ok(Plan::Auto { settings, data })
            }
            _ => Err(Error::options(format!(
                "{{{option}}} has no effect on this method, which does not begin with a search for phases; use {{method=auto}} without options of AIS, or drop it"
            ))),
        }
    }

    /// Proven bounds are worth their time beside the result: not where exact values are unwanted, nor
    /// where checks are.
    pub(crate) fn wants_bounds(&self) -> bool {
        match self {
            Plan::Auto { settings, .. } => settings.shortcuts,
            Plan::Ais(plan) => plan.check,
            Plan::Exact { .. } | Plan::Ready { .. } => true,
        }
    }

    /// The method with all that it needs to know about a model; reads data where there is some. The time
    /// of the default method is counted from `started`.
    pub(crate) fn estimator(
        &self,
        stored: &StoredModel,
        started: Instant,
    ) -> Result<Arc<dyn Estimator>> {
        Ok(match self {
            Plan::Auto { settings, data } => {
                settings.check(&stored.model)?;
                let data_means = data_means_for(settings, data.as_ref(), stored)?;
                let left = settings.max_seconds - started.elapsed().as_secs_f64();
                let max_seconds = left.max(f64::MIN_POSITIVE);
                Arc::new(Auto { data_means, max_seconds, ..(**settings).clone() })
            }
            Plan::Ais(plan) => Arc::new(plan.estimator(stored)?),
            Plan::Exact { settings, .. } => Arc::new(*settings),
            Plan::Ready { estimator, .. } => Arc::clone(estimator),
        })
    }
}

/// The means that the default method starts from; a sum over all states needs none, but data that does
/// not fit is a misunderstanding all the same.
fn data_means_for(
    settings: &Auto,
    data: Option<&StartPlan>,
    stored: &StoredModel,
) -> Result<Option<Array1<f64>>> {
    match data {
        None => Ok(None),
        Some(data) if settings.sums_exactly(&stored.model)? => {
            settings.check(&stored.model)?;
            data.check_data(stored, settings.seed)?;
            Ok(None)
        }
        Some(data) => Ok(Some(data.data_means(stored, settings.seed)?)),
    }
}

impl AisPlan {
    /// Checks that the options go together and fills in the defaults.
    pub fn new(
        start: &StartRequest,
        annealing: &AnnealingRequest,
        transpose: bool,
    ) -> Result<Self> {
        let plan = Self::with_start(start.plan()?, annealing, transpose)?;
        if transpose && matches!(plan.start, StartPlan::Data { .. }) {
            return Err(Error::options(
                "{start=data} has means of the visible units, but {transpose} starts from the hidden ones; drop one of them, or use {start=gibbs}",
            ));
        }
        Ok(plan)
    }

    /// The same annealing from a start that was chosen otherwise.
    pub fn with_start(
        start: StartPlan,
        request: &AnnealingRequest,
        transpose: bool,
    ) -> Result<Self> {
        use ScheduleRequest::{Betas, File, Linear};
        let (schedule, schedule_name) = match (&request.schedule, request.betas) {
            (Some(File(_) | Betas(_)), Some(_)) => {
                return Err(Error::options(
                    "{betas} does not go with {schedule}, which has its own number of betas; drop one of them",
                ));
            }
            (Some(File(path)), None) => (read_schedule(path)?, path.display().to_string()),
            (Some(Betas(betas)), None) => (Schedule::from_betas(betas.clone())?, "given".into()),
            (Some(Linear) | None, betas) => {
                (Schedule::linear(betas.unwrap_or(DEFAULT_BETAS))?, "linear".into())
            }
        };
        let defaults = Annealing::default();
        let annealing = Annealing {
            chains: request.chains.unwrap_or(defaults.chains),
            seed: request.seed,
            precision: request.precision.unwrap_or(defaults.precision),
        };
        Ok(Self {
            start,
            schedule,
            schedule_name,
            transpose,
            annealing,
            check: true,
            max_seconds: None,
            for_samples: false,
        })
    }

    /// The run for a model, with the means of its data.
    pub(crate) fn estimator(&self, stored: &StoredModel) -> Result<Ais> {
        if self.transpose && stored.model.hidden() == 0 {
            let text = "{transpose} needs hidden units, but the model has none; drop it";
            return Err(Error::options(text));
        }
        Ok(Ais {
            start: self.start.rule(stored, self.annealing.seed)?,
            schedule: self.schedule.clone(),
            annealing: self.annealing,
            transpose: self.transpose,
            check: self.check,
        })
    }

    /// What the advice of a warning depends on.
    pub fn run_settings(&self) -> RunSettings {
        let linear = self.schedule_name == "linear";
        RunSettings {
            betas: linear.then(|| self.schedule.intervals()),
            chains: self.annealing.chains,
            start: match self.start {
                StartPlan::Uniform => StartedFrom::Uniform,
                StartPlan::Data { .. } => StartedFrom::Data,
                StartPlan::Sampled(_) => StartedFrom::Model,
            },
            transposed: self.transpose,
            max_seconds: self.max_seconds,
        }
    }
}

/// Numbers in a text file, apart by white space or commas.
fn read_schedule(path: &Path) -> Result<Schedule> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| bad_schedule(path, &format!("cannot be read: {error}")))?;
    schedule_of_text(path, &text)
}

fn bad_schedule(path: &Path, problem: &str) -> Error {
    let (path, problem) = (verbatim(path.display()), verbatim(problem));
    Error::options(format!("{path}: {{schedule}} {problem}"))
}

/// The betas in the text of a file, apart by white space or commas.
pub fn schedule_of_text(path: &Path, text: &str) -> Result<Schedule> {
    let failed = |problem: String| bad_schedule(path, &problem);
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
    let betas = words
        .map(|word| {
            let problem = || failed(format!("has the word {word:?}; expected numbers from 0 to 1"));
            word.parse().map_err(|_| problem())
        })
        .collect::<Result<Vec<f64>>>()?;
    Schedule::from_betas(betas).map_err(|error| match error {
        lnz::Error::Setting { found, expected, .. } => {
            failed(format!("has {found}; expected {expected}"))
        }
        other => other.into(),
    })
}
