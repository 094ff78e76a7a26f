//! The pilot: a resampled population that finds its own schedule.

use super::annealer::{Annealer, go_on, resampling};
use crate::observer::Observer;
use crate::walk::{Betas, Population, walk};
use lnz_kernels::ChainRange;
use lnz_kernels::random::Purpose;

/// Particles of a pilot.
const PARTICLES: usize = 64;
/// Intervals of a pilot at most.
const PILOT_STEPS: usize = 400;

/// What the pilot found.
pub(super) struct Pilot {
    /// The betas it went through, and the standard deviation of d log gamma / d beta between them.
    pub(super) betas: Vec<f64>,
    pub(super) spread: Vec<f64>,
    /// Last states of the smaller layer.
    pub(super) states: Vec<Vec<bool>>,
    /// The transitions are Gibbs sweeps alone.
    pub(super) gibbs_alone: bool,
}

impl Pilot {
    /// Runs the pilot of a family; `None` if the observer stopped it.
    pub(super) fn run(annealer: &Annealer, seed: u64, observer: &dyn Observer) -> Option<Self> {
        let (seed, purpose) = (annealer.seed(seed), Purpose::Pilot);
        let range = ChainRange { group: 0, chains: PARTICLES, seed, purpose };
        let mut walkers = annealer.walkers(range, observer);
        let mut population = Population::new(PARTICLES, annealer.engine.path().log_z0())
            .resampled(resampling(seed, purpose, 0))
            .with_increments();
        let mut steps = Steps::default();
        walk(&mut *walkers, &mut population, &mut steps, |_, _| go_on(observer))?;
        let (_, random) = population.into_parts();
        let states = annealer.small_states(&*walkers, &mut random?);
        let Steps { betas, spread } = steps;
        Some(Self { betas, spread, states, gibbs_alone: annealer.gibbs_alone })
    }
}

/// The steps so far, each as wide as the spread of the log weights in the last one allows.
#[derive(Default)]
struct Steps {
    betas: Vec<f64>,
    spread: Vec<f64>,
}

impl Betas for &mut Steps {
    fn next(&mut self, population: &Population) -> Option<f64> {
        let next = match self.betas[..] {
            [] => 0.0,
            [_] => 1e-4,
            [.., last, beta] => {
                let deviation = standard_deviation(population.increments()) / (beta - last);
                self.spread.push(deviation);
                if beta >= 1.0 {
                    return None;
                }
                beta + self.width(beta, deviation)
            }
        };
        let next = if next > 0.9999 { 1.0 } else { next };
        self.betas.push(next);
        Some(next)
    }
}

impl Steps {
    /// Half a unit of log w per step, but small steps at the start, where things change by factors of
    /// beta, and no more steps than allowed.
    fn width(&self, beta: f64, deviation: f64) -> f64 {
        let steps = self.spread.len();
        let steps_left = PILOT_STEPS.saturating_sub(steps).max(1);
        let least = if 2 * steps > PILOT_STEPS { (1.0 - beta) / steps_left as f64 } else { 0.0 };
        (0.5 / deviation.max(1e-9)).min((0.25 * beta).clamp(1e-4, 0.02)).max(least)
    }
}

fn standard_deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / values.len() as f64).sqrt()
}
