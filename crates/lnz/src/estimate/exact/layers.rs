//! log Z of one component by enumeration of its smaller layer.

use super::watch::{LONG_WAVE, Watch};
use crate::{Rbm, Result};
use lnz_kernels::enumeration::{Enumeration, ScaledSum, work_per_state};
use ndarray::{ArrayView1, ArrayView2};
use rayon::prelude::*;
use std::time::Instant;

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

    /// log Z of the component.
    ///
    /// Jobs are shared out in waves, and their sums added in the order of the jobs: neither the number
    /// of threads nor the size of a wave can change the result.
    pub(super) fn log_z(&self, watch: &mut Watch<'_>) -> Result<f64> {
        let sum = Enumeration::new(self.weights, self.enumerated_bias, self.summed_bias);
        let states_per_job = (1 << self.weights.nrows()) / sum.jobs();
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
}
