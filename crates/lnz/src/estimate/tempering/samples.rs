//! States of a model, drawn by parallel tempering.

use super::run::{KEEP, ROUND, Run};
use super::{Tempering, stopped};
use crate::estimate::auto::fit_model;
use crate::math::sigmoid;
use crate::{Diagnosis, Estimator, Exact, Observer, Precision, Rbm, Result};
use lnz_kernels::random::{Purpose, Random};
use ndarray::{Array1, Array2};

/// States that follow the model, as far as the ladders have mixed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Samples {
    /// The visible units, one state a row.
    pub visible: Array2<u8>,
    /// The hidden units of the same states.
    pub hidden: Array2<u8>,
    /// The phase that each state is in, as numbered by the search.
    pub phase: Vec<usize>,
    /// log Z of the same run, how far to trust it and so the states, and what it took.
    pub finding: crate::Finding,
}

impl Samples {
    /// The verdict on the run that drew them.
    pub fn diagnosis(&self) -> &Diagnosis {
        &self.finding.diagnosis
    }
}

/// Draws `count` states of a model with 32 bits. Those of one column are 16 iterations apart or more, and
/// it goes on until the ladders have mixed as they would for log Z.
pub fn sample(
    model: &Rbm,
    count: usize,
    settings: &Tempering,
    observer: &dyn Observer,
) -> Result<Samples> {
    settings.check()?;
    if model.hidden() == 0 {
        return independent(model, count, settings.seed, observer);
    }
    let settings = Tempering { precision: finer(settings.precision), ..settings.clone() };
    let clock = std::time::Instant::now();
    let fitting = fit_model(model, settings.precision, settings.seed, observer)?;
    let start_seconds = clock.elapsed().as_secs_f64();
    let engine = settings.engine(&fitting, observer)?;
    let mut run = Run::settled(&settings, &fitting, &*engine, observer)?;
    let per_column = count.div_ceil(settings.columns);
    let rounds = (per_column * KEEP).div_ceil(ROUND);
    while run.rounds < rounds
        || (run.rounds < settings.rounds && !run.is_known(&settings, &fitting))
    {
        run.round()?;
        run.report(&settings);
    }
    let seconds = clock.elapsed().as_secs_f64() - start_seconds;
    let finding = run.finding(&settings, &fitting, false, [start_seconds, seconds]);
    // Spread over the whole run, one column after the other.
    let kept = run.seen[0].kept.len();
    let at = |i: usize| {
        let (row, column) = (i / settings.columns, i % settings.columns);
        &run.seen[column].kept[(row + 1) * kept / per_column - 1]
    };
    let mut random = Random::stream(settings.seed, Purpose::FirstState, u64::MAX);
    let (n, m) = (fitting.model.visible(), fitting.model.hidden());
    let (mut large, mut small) = (Array2::zeros((count, n)), Array2::zeros((count, m)));
    let mut phase = Vec::with_capacity(count);
    for i in 0..count {
        if observer.cancelled() {
            return Err(stopped());
        }
        let state = at(i);
        phase.push(fitting.phase(state));
        let x: Array1<f64> = state.iter().map(|&on| f64::from(on)).collect();
        let inputs = fitting.model.hidden_input(x.view());
        for (unit, &on) in large.row_mut(i).iter_mut().zip(state) {
            *unit = u8::from(on);
        }
        for (unit, &input) in small.row_mut(i).iter_mut().zip(&inputs) {
            *unit = u8::from(random.happens(sigmoid(input)));
        }
    }
    let (visible, hidden) = if fitting.transposed { (small, large) } else { (large, small) };
    Ok(Samples { visible, hidden, phase, finding })
}

/// Without hidden units there is nothing to temper: each unit is on by itself.
fn independent(model: &Rbm, count: usize, seed: u64, observer: &dyn Observer) -> Result<Samples> {
    let mut random = Random::stream(seed, Purpose::FirstState, u64::MAX);
    let on = model.visible_bias().mapv(sigmoid);
    let visible =
        Array2::from_shape_fn((count, model.visible()), |(_, i)| u8::from(random.happens(on[i])));
    let finding = Exact::FORCED.estimate(model, observer)?;
    Ok(Samples { visible, hidden: Array2::zeros((count, 0)), phase: vec![0; count], finding })
}

/// Rounded weights have other states: 32 bits are as good as exact.
fn finer(precision: Precision) -> Precision {
    match precision {
        Precision::I16 => Precision::I32,
        other => other,
    }
}
