//! The options of an estimate: their names and defaults, and which of them contradict each other.

mod start;

pub use start::{DataSource, StartKind, StartPlan, StartRequest};

use crate::spelling::verbatim;
use crate::{Error, Result};
use lnz::io::StoredModel;
use lnz::{
    Ais, Annealing, Auto, DEFAULT_BETAS, Estimator, Exact, Method, MethodOptions, Precision,
    RunSettings, Schedule, StartedFrom,
};
use ndarray::Array1;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// An estimate as it is asked for. What is `None` was left to the defaults, so that an option without
/// effect can be told from one that was not given.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// How to obtain log Z; options that only plain AIS understands select it.
    pub method: Method,
    /// Sample even what can be summed exactly.
    pub no_exact: bool,
    /// With AIS: do not search for mass that it may have missed.
    pub no_check: bool,
    /// Seconds that the work may take; without it, as long as the method takes, and as long as
    /// [`Auto`] says for the default method.
    pub max_seconds: Option<f64>,
    /// Options of the default method.
    pub auto: AutoRequest,
    /// Where annealing starts.
    pub start: StartRequest,
    /// The annealing run itself.
    pub annealing: AnnealingRequest,
    /// Exchange the layers.
    pub transpose: bool,
    /// The samples are wanted, which only plain AIS has.
    pub save_weights: bool,
}

/// Options of the default method; see [`Auto`].
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs)]
pub struct AutoRequest {
    pub target_error: Option<f64>,
    pub rounds: Option<usize>,
    pub core: Option<usize>,
}

/// Options of an annealing run; see [`Annealing`] and [`Schedule`].
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct AnnealingRequest {
    pub betas: Option<usize>,
    pub chains: Option<usize>,
    pub schedule: Option<ScheduleRequest>,
    pub seed: u64,
    pub precision: Option<Precision>,
}

/// Where the betas come from.
#[derive(Debug, Clone, PartialEq)]
pub enum ScheduleRequest {
    /// Evenly spaced.
    Linear,
    /// A text file of numbers, apart by white space or commas.
    File(PathBuf),
    /// Given one by one.
    Betas(Vec<f64>),
}

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
    /// A method that needs to know nothing but the model.
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

    /// The same work in a run folder: however long it takes, unless the default method was given a time.
    /// A limit of time would have chains depend on the machine.
    pub fn for_folder(self, given: Option<f64>) -> Result<Self> {
        match (self, given) {
            (Plan::Auto { mut settings, data }, None) => {
                settings.max_seconds = f64::INFINITY;
                Ok(Plan::Auto { settings, data })
            }
            (plan @ Plan::Auto { .. }, Some(_)) => Ok(plan),
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

    /// Refuses a limit of time where others compute: nobody knows how long they take. The default method
    /// keeps it: it asks before each round.
    pub fn for_executor(self, given: Option<f64>) -> Result<Self> {
        match (&self, given) {
            (Plan::Auto { .. }, _) | (_, None) => Ok(self),
            _ => Err(Error::options(
                "{max_seconds} does not go with {executor}, but for {method=auto}; drop one of them",
            )),
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

/// A sum over all states, and what it may cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExactRequest {
    /// However long it is predicted to take.
    pub force: bool,
    /// It ends after this time, and without `force` does not begin if it is predicted to take longer.
    pub max_seconds: Option<f64>,
    /// Bytes for the tables of an elimination.
    pub max_memory: Option<f64>,
}

impl ExactRequest {
    /// What the library is asked for.
    pub fn settings(&self) -> Result<Exact> {
        above_zero("max_seconds", self.max_seconds)?;
        above_zero("max_memory", self.max_memory)?;
        let limits = match (self.force, self.max_seconds) {
            (true, _) => Exact::FORCED,
            (false, Some(max_seconds)) => Exact { max_seconds, ..Exact::FORCED },
            (false, None) => Exact::default(),
        };
        Ok(Exact { max_bytes: self.max_memory, ..limits })
    }

    /// The work.
    pub fn plan(&self) -> Result<Plan> {
        Ok(Plan::Exact { settings: self.settings()?, max_seconds: self.max_seconds })
    }
}

/// A limit of time is one that work can be held to.
pub fn check_seconds(limit: Option<f64>) -> Result<()> {
    above_zero("max_seconds", limit)
}

fn above_zero(setting: &'static str, limit: Option<f64>) -> Result<()> {
    match limit {
        Some(limit) if limit.is_nan() || limit <= 0.0 => {
            let (found, expected) = (limit.to_string(), "a number above 0".to_owned());
            Err(lnz::Error::Setting { setting, found, expected }.into())
        }
        _ => Ok(()),
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

impl Request {
    /// Checks that the options go together and fills in the defaults.
    pub fn plan(&self) -> Result<Plan> {
        self.reject_contradictions()?;
        check_seconds(self.max_seconds)?;
        Ok(match self.method() {
            Method::Exact => {
                ExactRequest { max_seconds: self.max_seconds, ..ExactRequest::default() }.plan()?
            }
            Method::Ais => Plan::Ais(Box::new(AisPlan {
                check: !self.no_check,
                max_seconds: self.max_seconds,
                for_samples: self.method == Method::Auto && self.ais_options() == ["save_weights"],
                ..AisPlan::new(&self.start, &self.annealing, self.transpose)?
            })),
            Method::Auto => Plan::Auto {
                settings: Box::new(self.auto_settings()),
                data: self.start.data.is_some().then(|| self.start.data_plan()),
            },
            other => Plan::Ready {
                estimator: other.estimator(&self.method_options())?,
                max_seconds: self.max_seconds,
                no_check: self.no_check,
            },
        })
    }

    fn auto_settings(&self) -> Auto {
        let defaults = Auto::default();
        Auto {
            shortcuts: !self.no_exact,
            target_error: self.auto.target_error.unwrap_or(defaults.target_error),
            max_seconds: self.max_seconds.unwrap_or(defaults.max_seconds),
            rounds: self.auto.rounds,
            core: self.auto.core.unwrap_or(defaults.core),
            seed: self.annealing.seed,
            ..defaults
        }
    }

    fn method_options(&self) -> MethodOptions {
        let AnnealingRequest { betas, chains, seed, .. } = self.annealing;
        MethodOptions { betas, chains, seed, no_check: self.no_check }
    }

    fn method(&self) -> Method {
        match self.method {
            Method::Auto if self.ais_option().is_some() => Method::Ais,
            method => method,
        }
    }

    fn reject_contradictions(&self) -> Result<()> {
        let has_no_effect = |option: &str, other: &str, instead: &str| {
            let text = format!("{{{option}}} has no effect with {other}; {instead}, or drop it");
            Err(Error::options(text))
        };
        if self.method == Method::Exact {
            if self.no_exact {
                let text = "{method=exact} and {no_exact} contradict each other; drop one of them";
                return Err(Error::options(text));
            }
            let data = self.start.data.is_some().then_some("data");
            if let Some(option) = self.ais_option().or(self.auto.given()).or(data) {
                return has_no_effect(option, "{method=exact}", "use {method=ais} or auto");
            }
        }
        if let (Method::Ais, Some(option)) = (self.method(), self.auto.given()) {
            let ais = self.ais_option().filter(|_| self.method == Method::Auto);
            let ais = ais.map_or("{method=ais}".to_owned(), |option| format!("{{{option}}}"));
            return has_no_effect(option, &ais, "use {method=auto}");
        }
        if !matches!(self.method, Method::Auto | Method::Ais | Method::Exact) {
            // What `MethodOptions` has.
            let own = |option: &&str| !["betas", "chains", "no_check"].contains(option);
            let others = self.ais_options().into_iter().find(own).or(self.auto.given());
            let more = [("no_exact", self.no_exact), ("data", self.start.data.is_some())];
            if let Some(option) = others.or(first_given(&more)) {
                let method = format!("{{method={}}}", self.method.name());
                return has_no_effect(option, &method, "use {method=auto} or ais");
            }
        }
        match self.method() {
            Method::Auto => self.start.reject_binarize_without_data(),
            _ => Ok(()),
        }
    }

    /// The first option given that selects plain AIS.
    fn ais_option(&self) -> Option<&'static str> {
        self.ais_options().first().copied()
    }

    /// The options given that select plain AIS.
    fn ais_options(&self) -> Vec<&'static str> {
        let annealing = &self.annealing;
        let of_the_run = [
            ("betas", annealing.betas.is_some()),
            ("chains", annealing.chains.is_some()),
            ("schedule", annealing.schedule.is_some()),
            ("transpose", self.transpose),
            ("precision", annealing.precision.is_some()),
            ("save_weights", self.save_weights),
            ("no_check", self.no_check),
        ];
        let given = of_the_run.iter().filter(|(_, given)| *given).map(|(option, _)| *option);
        self.start.ais_option().into_iter().chain(given).collect()
    }
}

impl AutoRequest {
    /// The first of these options that was given.
    fn given(&self) -> Option<&'static str> {
        first_given(&[
            ("target_error", self.target_error.is_some()),
            ("rounds", self.rounds.is_some()),
            ("core", self.core.is_some()),
        ])
    }
}

fn first_given(options: &[(&'static str, bool)]) -> Option<&'static str> {
    options.iter().find(|(_, given)| *given).map(|(option, _)| *option)
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
