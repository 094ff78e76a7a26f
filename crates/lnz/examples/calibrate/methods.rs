//! The estimators that are compared, and what one of them made of one model.

use crate::known::Family;
use crate::options::Options;
use lnz::{
    Annealing, Auto, Diagnosis, Estimate, Rbm, Result, Sampled, Sampling, Schedule, Start, Verdict,
    anneal, auto,
};
use std::time::Instant;

/// An estimator with its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// `auto` without shortcuts.
    Auto { core: usize },
    /// Plain annealing from the uniform distribution.
    Uniform,
    /// The paper's Gibbs_mf, with the larger layer as the visible one.
    Gibbs,
}

/// Chains and betas of plain annealing, the paper's.
pub(crate) const CHAINS: usize = 1024;
pub(crate) const BETAS: usize = 1024;

impl Method {
    pub(crate) fn all() -> [Self; 4] {
        let core = Auto::default().core;
        [Method::Auto { core }, Method::Auto { core: 0 }, Method::Uniform, Method::Gibbs]
    }

    /// Whether it is run on a family. The core sums most of a small layer, so that what the sampler can
    /// do shows only without it; on the others it makes little difference.
    pub(crate) fn suits(self, family: &Family) -> bool {
        self != Method::Auto { core: 0 }
            || !matches!(family, Family::Banded(_) | Family::Blocks(..))
    }

    pub(crate) fn is_auto(self) -> bool {
        matches!(self, Method::Auto { .. })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Method::Auto { core: 0 } => "auto, no core",
            Method::Auto { .. } => "auto",
            Method::Uniform => "AIS uniform",
            Method::Gibbs => "AIS Gibbs MF",
        }
    }

    pub(crate) fn run(self, model: &Rbm, seed: u64, options: &Options) -> Result<Outcome> {
        let clock = Instant::now();
        let mut outcome = match self {
            Method::Auto { core } => {
                let max_seconds = options.max_seconds;
                let settings =
                    Auto { shortcuts: false, core, seed, max_seconds, ..Auto::default() };
                let found = auto(model, &settings, &())?;
                Outcome {
                    log_z: found.log_z,
                    interval: found.interval,
                    verdict: Some(found.diagnosis.verdict),
                    warnings: found.diagnosis.warnings.iter().map(|w| w.kind()).collect(),
                    chain_steps: found.cost.chain_steps.unwrap_or_default(),
                    sampled: found.sampled().to_vec(),
                    ..Outcome::of(self)
                }
            }
            Method::Uniform => plain(self, model, &Start::uniform(model.visible()), seed)?,
            Method::Gibbs if model.hidden() > model.visible() => {
                let model = model.transposed()?;
                let start = Start::sampled(&model, &Sampling::default(), seed, &())?;
                plain(self, &model, &start, seed)?
            }
            Method::Gibbs => {
                let start = Start::sampled(model, &Sampling::default(), seed, &())?;
                plain(self, model, &start, seed)?
            }
        };
        if self == Method::Gibbs {
            let Sampling { samples, steps, .. } = Sampling::default();
            outcome.chain_steps += (samples * steps) as u64;
        }
        outcome.seconds = clock.elapsed().as_secs_f64();
        Ok(outcome)
    }
}

fn plain(method: Method, model: &Rbm, start: &Start, seed: u64) -> Result<Outcome> {
    let settings = Annealing { chains: CHAINS, seed, ..Annealing::default() };
    let run = anneal(model, start, &Schedule::linear(BETAS)?, &settings, &())?;
    let estimate = Estimate::from_samples(&run.samples);
    Ok(Outcome {
        log_z: estimate.log_z,
        interval: estimate.interval,
        // Without the second opinion that `lnz estimate --method ais` adds: as it is elsewhere.
        verdict: Some(Diagnosis::of_annealing(&estimate, CHAINS, None).verdict),
        chain_steps: (CHAINS * BETAS) as u64,
        ..Outcome::of(method)
    })
}

/// What a method said about a model, beside the truth.
pub(crate) struct Outcome {
    pub(crate) family: String,
    pub(crate) seed: u64,
    pub(crate) method: Method,
    pub(crate) exact: f64,
    pub(crate) log_z: f64,
    pub(crate) interval: [f64; 2],
    pub(crate) verdict: Option<Verdict>,
    pub(crate) chain_steps: u64,
    pub(crate) seconds: f64,
    pub(crate) warnings: Vec<&'static str>,
    pub(crate) sampled: Vec<Sampled>,
}

/// An error of this many nats makes a confident answer a false one.
pub(crate) const WRONG: f64 = 0.5;
/// Errors that are worth a look.
const NOTABLE: f64 = 0.3;
/// A time in seconds that is worth one too.
const SLOW: f64 = 20.0;

impl Outcome {
    fn of(method: Method) -> Self {
        Self {
            family: String::new(),
            seed: 0,
            method,
            exact: f64::NAN,
            log_z: f64::NAN,
            interval: [f64::NAN; 2],
            verdict: None,
            chain_steps: 0,
            seconds: 0.0,
            warnings: vec![],
            sampled: vec![],
        }
    }

    pub(crate) fn error(&self) -> f64 {
        self.log_z - self.exact
    }

    /// Error of log Z as a part of it.
    pub(crate) fn relative_error(&self) -> f64 {
        (self.error() / self.exact).abs()
    }

    /// Whether the interval holds the truth, which itself has rounding errors.
    pub(crate) fn is_covered(&self) -> bool {
        let rounding = 1e-9 * self.exact.abs().max(1.0);
        (self.interval[0] - rounding..=self.interval[1] + rounding).contains(&self.exact)
    }

    /// Wrong without a warning.
    pub(crate) fn is_falsely_confident(&self) -> bool {
        self.verdict == Some(Verdict::Consistent) && self.error().abs() > WRONG
    }

    pub(crate) fn is_notable(&self) -> bool {
        self.method.is_auto() && (self.error().abs() > NOTABLE || !self.is_covered())
    }

    /// One line for the log, with what the families said where `auto` is wrong or slow.
    pub(crate) fn line(&self) -> String {
        let mut line = format!(
            "{} | seed {} | {}: exact {:.3}, error {:+.3}, interval {:+.3} {:+.3}, {:.1} M steps, {:.1} s",
            self.family,
            self.seed,
            self.method.name(),
            self.exact,
            self.error(),
            self.interval[0] - self.exact,
            self.interval[1] - self.exact,
            self.chain_steps as f64 * 1e-6,
            self.seconds,
        );
        if let Some(verdict) = self.verdict {
            line += &format!(", {verdict:?} {}", self.warnings.join(" "));
        }
        if self.is_notable() || self.method.is_auto() && self.seconds > SLOW {
            self.sampled.iter().for_each(|sampled| line += &self.details(sampled));
        }
        line
    }

    /// What the families said, relative to the truth.
    fn details(&self, sampled: &Sampled) -> String {
        let Sampled { rounds, chains, core_states, log_core, log_sampled_core, .. } = sampled;
        let off = |value: &Option<f64>| value.map_or(f64::NEG_INFINITY, |v| v - self.exact);
        let mut text = format!(
            "\n    LOOK: {rounds} rounds, {chains} chains, ess {:.0}, core of {core_states} {:+.3}, sampled {:+.3};",
            sampled.ess,
            off(log_core),
            off(log_sampled_core),
        );
        for f in &sampled.families {
            text += &format!(
                " {:?} trial {:+.3} +- {:.3}, share {:.2}",
                f.family,
                f.trial_log_z - self.exact,
                f.trial_error,
                f.share,
            );
            if let (Some(log_z), Some(error)) = (f.log_z, f.std_error) {
                text += &format!(", main {:+.3} +- {error:.3}", log_z - self.exact);
            }
            text.push(';');
        }
        text
    }
}
