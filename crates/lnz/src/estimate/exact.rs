//! Exact log Z: connected components, and enumeration of the smaller layer of each.

#[cfg(test)]
mod tests;

use super::{Cost, Details, Effort, Estimator, Finding};
use crate::energy::check_finite;
use crate::math::{CompensatedSum, softplus};
use crate::{Diagnosis, Error, Observer, Phase, Progress, Rbm, Result};
use lnz_kernels::enumeration::{Enumeration, MAX_UNITS, ScaledSum, measured_rate, work_per_state};
use ndarray::{ArrayView1, ArrayView2};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Waves of jobs grow until they take this long.
const LONG_WAVE: Duration = Duration::from_millis(200);

/// A sum over all states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exact {
    /// Refuse up front what is predicted to take longer.
    pub max_seconds: f64,
}

impl Default for Exact {
    /// Ten minutes: more should be asked for twice.
    fn default() -> Self {
        Self { max_seconds: 600.0 }
    }
}

impl Exact {
    /// However long it takes.
    pub const FORCED: Self = Self { max_seconds: f64::INFINITY };
}

impl Estimator for Exact {
    fn estimate(&self, model: &Rbm, observer: &dyn Observer) -> Result<Finding> {
        let predicted = exact_cost(model)?;
        let clock = Instant::now();
        let log_z = exact_log_z_within(model, self.max_seconds, observer)?;
        let seconds = clock.elapsed().as_secs_f64();
        Ok(Finding {
            log_z,
            std_error: 0.0,
            interval: [log_z; 2],
            lower_bound: Some(log_z),
            diagnosis: Diagnosis::exact(),
            ess: None,
            stopped: false,
            effort: Effort::default(),
            cost: Cost { states: Some(predicted.states), seconds, ..Cost::default() },
            details: Details::Exact(predicted),
        })
    }
}

/// What enumeration costs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ExactCost {
    /// Size of the largest enumerated layer; zero if no weight is different from zero.
    pub free_units: usize,
    /// States to visit, over all components.
    pub states: f64,
    /// Predicted time with the threads of the current rayon pool.
    pub seconds: f64,
}

/// log Z by enumeration, however long it takes.
///
/// The model is split into connected components, whose log Z add up. Of each, the smaller layer is
/// enumerated on the current rayon pool and the larger one summed analytically. The result is the
/// same to the last bit for any number of threads.
///
/// Fails with [`Error::TooManyUnits`] when a component has more than 62 units in its smaller layer,
/// and with [`Error::Cancelled`] once the observer asks to stop.
///
/// ```
/// use ndarray::array;
/// let model = lnz::Rbm::new(array![[0.5, -1.0]], array![0.2], array![0.0, 0.3])?;
/// // Two visible states: x = 0 and x = 1.
/// let z = 2.0 * (1.0 + 0.3f64.exp()) + 0.2f64.exp() * (1.0 + 0.5f64.exp()) * (1.0 + (-0.7f64).exp());
/// assert!((lnz::exact_log_z(&model, &())? - z.ln()).abs() < 1e-14);
/// # Ok::<(), lnz::Error>(())
/// ```
pub fn exact_log_z(model: &Rbm, observer: &dyn Observer) -> Result<f64> {
    exact_log_z_within(model, f64::INFINITY, observer)
}

/// Like [`exact_log_z`], but refuses up front with [`Error::TooManyStates`] when the predicted time
/// exceeds `max_seconds`.
pub fn exact_log_z_within(model: &Rbm, max_seconds: f64, observer: &dyn Observer) -> Result<f64> {
    let parts = Parts::of(model)?;
    let ExactCost { free_units, states, seconds } = parts.cost();
    if free_units > MAX_UNITS {
        return Err(Error::TooManyUnits { free_units, limit: MAX_UNITS, seconds });
    }
    if seconds > max_seconds {
        return Err(Error::TooManyStates { free_units, seconds, allowed: max_seconds });
    }
    let mut watch = Watch { observer, total: states as u64, done: 0, reported: Instant::now() };
    let mut log_z = CompensatedSum::default();
    log_z.add(model.constant());
    parts.alone.iter().for_each(|&bias| log_z.add(softplus(bias)));
    for part in &parts.connected {
        log_z.add(enumerate(&Layers::of(part), &mut watch)?);
    }
    watch.report();
    Ok(log_z.total())
}

/// What [`exact_log_z`] would cost, from the sizes of the components and the measured speed of this
/// machine (the first call takes a few milliseconds to measure it).
pub fn exact_cost(model: &Rbm) -> Result<ExactCost> {
    Ok(Parts::of(model)?.cost())
}

/// A model taken apart.
struct Parts {
    /// Biases of units without weights.
    alone: Vec<f64>,
    /// Components with at least one unit in each layer.
    connected: Vec<Rbm>,
}

impl Parts {
    fn of(model: &Rbm) -> Result<Self> {
        check_finite(model)?;
        let (b, c) = (model.visible_bias(), model.hidden_bias());
        let (mut alone, mut connected) = (Vec::new(), Vec::new());
        for component in model.components() {
            match (component.visible.as_slice(), component.hidden.as_slice()) {
                (&[i], []) => alone.push(b[i]),
                ([], &[j]) => alone.push(c[j]),
                _ => connected.push(model.restricted_to(&component)?),
            }
        }
        Ok(Self { alone, connected })
    }

    fn cost(&self) -> ExactCost {
        let (mut free_units, mut states, mut work) = (0, 0.0, 0.0);
        for layers in self.connected.iter().map(Layers::of) {
            let units = layers.weights.nrows();
            free_units = free_units.max(units);
            states += (units as f64).exp2();
            work += (units as f64).exp2() * work_per_state(layers.weights, layers.summed_bias);
        }
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = rayon::current_num_threads().min(cores) as f64;
        let seconds = if work == 0.0 { 0.0 } else { work / (measured_rate() * threads) };
        ExactCost { free_units, states, seconds }
    }
}

/// A component with the enumerated, smaller layer as the rows.
struct Layers<'a> {
    weights: ArrayView2<'a, f64>,
    enumerated_bias: ArrayView1<'a, f64>,
    summed_bias: ArrayView1<'a, f64>,
}

impl<'a> Layers<'a> {
    fn of(model: &'a Rbm) -> Self {
        let (w, b, c) = (model.weights(), model.visible_bias(), model.hidden_bias());
        if model.visible() <= model.hidden() {
            Self { weights: w, enumerated_bias: b, summed_bias: c }
        } else {
            Self { weights: w.reversed_axes(), enumerated_bias: c, summed_bias: b }
        }
    }
}

/// log Z of one component.
///
/// Jobs are shared out in waves, and their sums added in the order of the jobs: neither the number of
/// threads nor the size of a wave can change the result.
fn enumerate(layers: &Layers<'_>, watch: &mut Watch<'_>) -> Result<f64> {
    let sum = Enumeration::new(layers.weights, layers.enumerated_bias, layers.summed_bias);
    let states_per_job = (1 << layers.weights.nrows()) / sum.jobs();
    let mut total = ScaledSum::default();
    let mut wave = 16 * rayon::current_num_threads() as u64;
    let mut jobs = 0..0;
    while jobs.end < sum.jobs() {
        let start = Instant::now();
        jobs = jobs.end..sum.jobs().min(jobs.end + wave);
        let observer = watch.observer;
        let sums: Option<Vec<_>> = (jobs.clone().into_par_iter())
            .map_init(
                || sum.scratch(),
                |scratch, job| (!observer.cancelled()).then(|| sum.sum_of_job(job, scratch)),
            )
            .collect();
        match sums {
            Some(sums) => sums.into_iter().for_each(|sum| total.add(sum)),
            None => return Err(watch.cancelled()),
        }
        watch.advance((jobs.end - jobs.start) * states_per_job);
        // Long waves, because threads wait for each other at the end of each; short enough to report.
        if start.elapsed() < LONG_WAVE {
            wave *= 2;
        }
    }
    Ok(total.total().ln())
}

/// Progress over all components.
struct Watch<'a> {
    observer: &'a dyn Observer,
    total: u64,
    done: u64,
    reported: Instant,
}

impl Watch<'_> {
    fn advance(&mut self, states: u64) {
        self.done += states;
        if self.reported.elapsed() > LONG_WAVE {
            self.report();
        }
    }

    fn report(&mut self) {
        self.reported = Instant::now();
        self.observer.progress(Progress {
            phase: Phase::Enumerate,
            done: self.done,
            total: self.total,
            log_z: None,
            beta: None,
        });
    }

    fn cancelled(&self) -> Error {
        Error::Cancelled { reached: format!("after {} of {} states", self.done, self.total) }
    }
}
