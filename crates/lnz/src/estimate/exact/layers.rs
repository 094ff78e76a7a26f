//! log Z of one component by enumeration of its smaller layer.

use super::watch::{LONG_WAVE, Watch};
use crate::crew::{Order, Output, Task};
use crate::estimate::delegate::{Delegated, crew_for};
use crate::{Error, Observer, Rbm, Result};
use lnz_kernels::enumeration::{Enumeration, Scaled, ScaledSum, work_per_state};
use ndarray::{ArrayView1, ArrayView2};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The name of orders for an enumeration.
pub(in super::super) const KIND: &str = "enumerate";

/// Pieces that a sum has at most: each is added up by itself, and then all of them in order.
const MOST_PIECES: u64 = 1 << 12;

/// Work in the units of the kernel that one core of a processor of 2020 does in a second: what decides
/// how the work is split, and nothing else.
pub(super) const WORK_PER_SECOND: f64 = 5e9;

/// A component with the enumerated, smaller layer as the rows.
pub(super) struct Layers<'a> {
    weights: ArrayView2<'a, f64>,
    enumerated_bias: ArrayView1<'a, f64>,
    summed_bias: ArrayView1<'a, f64>,
}

impl<'a> Layers<'a> {
    pub(super) fn of(model: &'a Rbm) -> Self {
        let (w, b, c) = (model.weights(), model.visible_bias(), model.hidden_bias());
        if model.visible() <= model.hidden() {
            Self { weights: w, enumerated_bias: b, summed_bias: c }
        } else {
            Self { weights: w.reversed_axes(), enumerated_bias: c, summed_bias: b }
        }
    }

    /// Work of all states, in the units of the kernel.
    pub(super) fn work(&self) -> f64 {
        let states = (self.weights.nrows() as f64).exp2();
        states * work_per_state(self.weights, self.summed_bias)
    }
}

/// log Z of a component.
///
/// Jobs are shared out in waves, and their sums added in the order of the jobs, piece by piece: neither
/// the number of threads nor the size of a wave can change the result, nor who computes a piece.
pub(super) fn log_z(model: &Rbm, watch: &mut Watch<'_>) -> Result<f64> {
    let observer = watch.observer;
    let sum = Sum::new(model, watch);
    let pieces = match crew_for(observer, sum.seconds) {
        None => sum.compute(0..sum.pieces)?,
        Some(crew) => {
            let work = Delegated {
                task: Task::new(model.sha256(), KIND, &(), sum.pieces, sum.seconds)?,
                model: &|| model.to_bytes(),
                compute: &|pieces| sum.compute(pieces),
                advance: &|pieces| sum.advance(pieces),
                observer,
            };
            work.carried_out_by(crew)?
        }
    };
    if pieces.numbers.len() != 2 * sum.pieces {
        return Err(Error::orders("the results of an enumeration have the wrong length"));
    }
    let mut total = ScaledSum::default();
    for &[mantissa, exponent] in pieces.numbers.as_chunks().0 {
        total.add(Scaled { mantissa, exponent });
    }
    Ok(total.total().ln())
}

/// A sum over the states of the smaller layer, in pieces.
struct Sum<'a, 'w> {
    jobs: Enumeration,
    pieces: usize,
    jobs_per_piece: u64,
    states_per_job: u64,
    /// Predicted for one core.
    seconds: f64,
    observer: &'w dyn Observer,
    watch: Mutex<&'a mut Watch<'w>>,
}

impl<'a, 'w> Sum<'a, 'w> {
    fn new(model: &Rbm, watch: &'a mut Watch<'w>) -> Self {
        let layers = Layers::of(model);
        let jobs = Enumeration::new(layers.weights, layers.enumerated_bias, layers.summed_bias);
        let pieces = jobs.jobs().min(MOST_PIECES);
        Self {
            pieces: pieces as usize,
            jobs_per_piece: jobs.jobs() / pieces,
            states_per_job: (1 << layers.weights.nrows()) / jobs.jobs(),
            seconds: layers.work() / WORK_PER_SECOND,
            jobs,
            observer: watch.observer,
            watch: Mutex::new(watch),
        }
    }

    fn watch<T>(&self, tell: impl FnOnce(&mut Watch<'w>) -> T) -> T {
        tell(&mut self.watch.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn compute(&self, items: Range<usize>) -> Result<Output> {
        let first = items.start as u64 * self.jobs_per_piece;
        let last = items.end as u64 * self.jobs_per_piece;
        let mut numbers = Vec::with_capacity(2 * items.len());
        let mut piece = ScaledSum::default();
        let mut wave = 16 * rayon::current_num_threads() as u64;
        let mut jobs = first..first;
        while jobs.end < last {
            let start = Instant::now();
            jobs = jobs.end..last.min(jobs.end + wave);
            let sums: Option<Vec<_>> = (jobs.clone().into_par_iter())
                .map_init(
                    || self.jobs.scratch(),
                    |scratch, job| {
                        (!self.observer.cancelled()).then(|| self.jobs.sum_of_job(job, scratch))
                    },
                )
                .collect();
            let Some(sums) = sums else { return Err(self.watch(|watch| watch.cancelled())) };
            for (job, sum) in jobs.clone().zip(sums) {
                piece.add(sum);
                if (job + 1) % self.jobs_per_piece == 0 {
                    let Scaled { mantissa, exponent } = std::mem::take(&mut piece).total();
                    numbers.extend([mantissa, exponent]);
                }
            }
            let states = (jobs.end - jobs.start) * self.states_per_job;
            self.watch(|watch| watch.advance(states));
            // Long waves, because threads wait for each other at the end of each; short enough to report.
            if start.elapsed() < LONG_WAVE {
                wave *= 2;
            }
        }
        Ok(Output { items, numbers, bits: vec![] })
    }

    /// Tells the observer of pieces that were computed elsewhere.
    fn advance(&self, items: usize) {
        let states = items as u64 * self.jobs_per_piece * self.states_per_job;
        self.watch(|watch| watch.advance(states));
    }
}

/// Carries out an order for a model that is one component.
pub(in super::super) fn carry_out(
    model: &Rbm,
    order: &Order,
    observer: &dyn Observer,
) -> Result<Output> {
    let (units, items) = (model.visible().min(model.hidden()), order.task.items);
    if !(1..=lnz_kernels::enumeration::MAX_UNITS).contains(&units) {
        return Err(Error::orders(format!("a layer of {units} units cannot be enumerated")));
    }
    let mut watch = Watch::new(observer, (units as f64).exp2());
    let sum = Sum::new(model, &mut watch);
    match sum.pieces == items {
        true => sum.compute(order.items.clone()),
        false => Err(Error::orders(format!("the sum has {} pieces, not {items}", sum.pieces))),
    }
}
