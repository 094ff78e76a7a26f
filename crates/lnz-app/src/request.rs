//! The options of an estimate: their names and defaults, and which of them contradict each other.

mod plan;
mod start;

pub use plan::{AisPlan, Plan, schedule_of_text};
pub use start::{DataSource, StartKind, StartPlan, StartRequest};

use crate::{Error, Result};
use lnz::{Auto, Exact, Method, MethodOptions, Precision};
use std::path::PathBuf;

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

/// Options of an annealing run; see [`lnz::Annealing`] and [`lnz::Schedule`].
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
                // Rounds that were asked for take the time that they take.
                max_seconds: self.max_seconds.filter(|_| self.auto.rounds.is_none()),
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
        let AutoRequest { rounds, target_error, .. } = self.auto;
        MethodOptions { betas, chains, rounds, target_error, seed, no_check: self.no_check }
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
            // What `MethodOptions` has, rounds and the error to stop at besides.
            let own = |option: &&str| !["betas", "chains", "no_check"].contains(option);
            let others = self.ais_options().into_iter().find(own);
            let more = [
                ("core", self.auto.core.is_some()),
                ("no_exact", self.no_exact),
                ("data", self.start.data.is_some()),
            ];
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
