//! One run of an experiment: its settings, and how it is carried out.

use crate::error::{Error, Result};
use crate::problem::{Loaded, Problem};
use crate::row::{Row, hash_of};
use lnz::{
    Annealing, Auto, Choice, DEFAULT_BETAS, Estimate, Flips, InitialState, Method, Observer,
    Sampler, Sampling, Schedule, Start, anneal, auto,
};
use lnz_app::request::StartKind;

/// A problem and a way to estimate its log Z.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Job {
    pub(crate) problem: Problem,
    pub(crate) method: Strategy,
    pub(crate) transposed: bool,
    /// The paper's N_beta.
    pub(crate) betas: usize,
    /// The paper's N_s.
    pub(crate) chains: usize,
}

/// A way to estimate log Z, as the paper compares them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Strategy {
    /// AIS from B = 0.
    Uniform,
    /// AIS from the means of the training data.
    Data,
    /// AIS from means of samples of the model.
    Sampled(Sampling),
    /// The default method of this program, one round, without its exact shortcuts.
    Auto,
}

/// The paper's N_beta and N_s.
pub(crate) const BETAS: usize = DEFAULT_BETAS;
pub(crate) const CHAINS: usize = 1024;

/// The initial states of the paper.
pub(crate) const INITIAL_STATES: [InitialState; 5] = [
    InitialState::Zero,
    InitialState::One,
    InitialState::Random,
    InitialState::MeanField,
    InitialState::Pseudoinverse,
];

/// Cut-off for the means of data, as `lnz estimate --start data` has it.
fn data_epsilon() -> f64 {
    Sampling::default().epsilon
}

impl Job {
    /// AIS with the paper's numbers, or `auto`, on the model as it is.
    pub(crate) fn new(problem: Problem, method: Strategy) -> Self {
        Self { problem, method, transposed: false, betas: BETAS, chains: CHAINS }
    }

    pub(crate) fn transposed(self) -> Self {
        Self { transposed: true, ..self }
    }

    pub(crate) fn oriented(self, transposed: bool) -> Self {
        Self { transposed, ..self }
    }

    /// The row of this run before it has a result.
    pub(crate) fn settings(&self) -> Row {
        let mut row = Row {
            problem: self.problem.name(),
            instance: self.problem.instance(),
            method: self.method.name().to_owned(),
            orientation: if self.transposed { "transposed" } else { "original" }.to_owned(),
            ..Row::default()
        };
        match &self.method {
            Strategy::Uniform => {}
            Strategy::Data => row.epsilon = Some(data_epsilon()),
            Strategy::Sampled(sampling) => {
                row.init = sampling.initial.name().to_owned();
                row.samples = Some(sampling.samples);
                row.steps = Some(sampling.steps);
                row.epsilon = Some(sampling.epsilon);
                row.layout = sampling.layout.name().to_owned();
                if let Sampler::Metropolis { flips } = sampling.sampler {
                    row.flips = flips.to_string();
                }
            }
            Strategy::Auto => {
                row.seed = seed_of(&row.key());
                return row;
            }
        }
        row.betas = Some(self.betas);
        row.chains = Some(self.chains);
        row.seed = seed_of(&row.key());
        row
    }

    /// Predicted cost in arbitrary units, to begin with the longest and to tell the time left.
    pub(crate) fn cost(&self) -> f64 {
        let (visible, hidden) = self.problem.shape();
        let steps = match self.method {
            Strategy::Auto if visible.min(hidden) > 100 => 8e6,
            Strategy::Auto => 1e6,
            Strategy::Sampled(sampling) => {
                (self.betas * self.chains + sampling.samples * sampling.steps) as f64
            }
            _ => (self.betas * self.chains) as f64,
        };
        (visible + hidden) as f64 * steps
    }

    /// Problem and instance, for messages.
    fn name(&self) -> String {
        format!("{} {}", self.problem.name(), self.problem.instance())
    }

    /// Carries it out; None if it was stopped before its end.
    pub(crate) fn run(&self, loaded: &Loaded, observer: &dyn Observer) -> Result<Option<Row>> {
        let row = self.settings();
        let outcome = match self.method {
            Strategy::Auto => self.run_auto(row, loaded, observer),
            _ => self.run_ais(row, loaded, observer),
        };
        match outcome {
            Err(Error::Library(lnz::Error::Cancelled { .. })) => Ok(None),
            Ok(None) => Ok(None),
            Ok(Some(mut row)) => {
                row.visible = loaded.model.visible();
                row.hidden = loaded.model.hidden();
                row.weight_rms = loaded.weight_rms;
                row.exact_log_z = loaded.exact_log_z;
                row.xi = loaded.exact_log_z.map(|exact| ((exact - row.log_z) / exact).abs());
                Ok(Some(row))
            }
            Err(error) => Err(Error::Run { run: self.name(), error: Box::new(error) }),
        }
    }

    fn run_auto(
        &self,
        mut row: Row,
        loaded: &Loaded,
        observer: &dyn Observer,
    ) -> Result<Option<Row>> {
        let settings =
            Auto { shortcuts: false, rounds: Some(1), seed: row.seed, ..Auto::default() };
        let found = auto(&loaded.model, &settings, observer)?;
        if found.stopped {
            return Ok(None);
        }
        row.log_z = found.log_z;
        row.std_error = found.std_error;
        row.verdict = serde_json::to_value(found.diagnosis.verdict)
            .ok()
            .and_then(|word| word.as_str().map(str::to_owned))
            .unwrap_or_default();
        row.chain_steps = found.cost.chain_steps.unwrap_or_default();
        Ok(Some(row))
    }

    fn run_ais(
        &self,
        mut row: Row,
        loaded: &Loaded,
        observer: &dyn Observer,
    ) -> Result<Option<Row>> {
        let model = if self.transposed { &loaded.transposed } else { &loaded.model };
        let start = match &self.method {
            Strategy::Sampled(sampling) => {
                row.start_steps = (sampling.samples * sampling.steps) as u64;
                Start::sampled(model, sampling, row.seed, observer)?
            }
            Strategy::Data => {
                let means = loaded.data_means.as_ref().ok_or_else(|| Error::Model {
                    model: self.problem.name(),
                    problem: "has no means of its data".to_owned(),
                })?;
                Start::from_means(means.view(), data_epsilon())?
            }
            _ => Start::uniform(model.visible()),
        };
        let settings = Annealing { chains: self.chains, seed: row.seed, ..Annealing::default() };
        let schedule = Schedule::linear(self.betas)?;
        let run = anneal(model, &start, &schedule, &settings, observer)?;
        if run.samples.len() < run.requested {
            return Ok(None);
        }
        let estimate = Estimate::from_samples(&run.samples);
        row.log_z = estimate.log_z;
        row.std_error = estimate.std_error;
        row.mean_sample = Some(estimate.mean_sample);
        row.std_sample = Some(estimate.std_sample);
        row.ess = Some(estimate.ess);
        row.chain_steps = (self.chains * self.betas) as u64;
        Ok(Some(row))
    }
}

impl Strategy {
    /// The method of a row of the grid.
    pub(crate) fn of_row(row: &Row) -> Option<Self> {
        let initial = InitialState::named(&row.init)?;
        let (steps, epsilon) = (row.steps?, row.epsilon?);
        match StartKind::named(&row.method)? {
            StartKind::Gibbs => Some(gibbs(initial, steps, epsilon)),
            StartKind::Metropolis => {
                Some(metropolis(initial, steps, row.flips.parse().ok()?, epsilon))
            }
            _ => None,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Strategy::Uniform => StartKind::Uniform.name(),
            Strategy::Data => StartKind::Data.name(),
            Strategy::Sampled(Sampling { sampler: Sampler::Gibbs, .. }) => StartKind::Gibbs.name(),
            Strategy::Sampled(_) => StartKind::Metropolis.name(),
            Strategy::Auto => Method::Auto.name(),
        }
    }
}

/// The paper's Gibbs strategy; its recommended one has 100 steps and epsilon 0.05.
pub(crate) fn gibbs(initial: InitialState, steps: usize, epsilon: f64) -> Strategy {
    Strategy::Sampled(Sampling { initial, steps, epsilon, ..Sampling::default() })
}

/// The paper's Metropolis strategy.
pub(crate) fn metropolis(
    initial: InitialState,
    steps: usize,
    flips: Flips,
    epsilon: f64,
) -> Strategy {
    let sampler = Sampler::Metropolis { flips };
    Strategy::Sampled(Sampling { sampler, initial, steps, epsilon, ..Sampling::default() })
}

/// Every run has random numbers of its own, which its settings determine.
fn seed_of(settings: &str) -> u64 {
    let hash = hash_of(settings);
    (hash >> 32) ^ (hash & 0xffff_ffff)
}
