//! What an exact value costs, predicted before any work.

use super::plan::Scopes;
use super::table::{Linear, Logarithmic, Scale, Source, Step, UnitFactors, is_in_step, is_table};
use std::sync::OnceLock;
use std::time::Instant;

/// What an exact value costs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ExactCost {
    /// Size of the largest enumerated layer; zero if none is enumerated.
    pub free_units: usize,
    /// Width of the largest elimination: it makes tables over so many units at once. None if every
    /// component is enumerated.
    pub width: Option<usize>,
    /// Enumerated states and entries of tables, over all components.
    pub states: f64,
    /// Memory for tables, in bytes.
    pub bytes: f64,
    /// Predicted time with the threads of the current rayon pool.
    pub seconds: f64,
}

/// Steps with at least this many entries are shared out to threads.
const SHARED_WIDTH: usize = 14;

/// Tables beyond this width come from main memory.
const STREAMED_WIDTH: usize = 20;

/// Nanoseconds of one thread on the machine where the constants below were measured: for an entry with
/// one source that is read in step.
const NOMINAL_LINEAR: f64 = 1.0;
/// The same on the log scale.
const NOMINAL_LOGARITHMIC: f64 = 20.0;
/// Work units of the enumeration in such a nanosecond.
const ENUMERATION_WORK: f64 = 16.0;

/// Work of an elimination, in nanoseconds of that machine.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StepWork {
    /// On one thread, on the linear scale.
    alone: f64,
    /// Shared out, on the linear scale.
    shared: f64,
    /// On one thread, on the log scale.
    logarithmic_alone: f64,
    /// Shared out, on the log scale.
    logarithmic_shared: f64,
}

impl StepWork {
    pub(super) fn add_step(&mut self, scopes: &Scopes, step: usize, sources: &[usize], log: bool) {
        let width = scopes.width_of(step);
        if sources.is_empty() && !is_table(width) {
            self.alone += 60.0;
            return;
        }
        self.alone += 250.0 + 100.0 * sources.len() as f64;
        let in_step = |&child: &usize| is_in_step(scopes.scope(step), scopes.scope(child));
        let reading: f64 = match sources {
            [only] if in_step(only) => 0.0,
            _ => sources.iter().map(|child| if in_step(child) { 0.5 } else { 1.2 }).sum::<f64>(),
        };
        let streaming = if width > STREAMED_WIDTH { 1.0 } else { 0.0 };
        let entries = (width as f64).exp2();
        let each = reading + streaming;
        match (log, width >= SHARED_WIDTH) {
            (false, false) => self.alone += entries * (NOMINAL_LINEAR + each),
            (false, true) => self.shared += entries * (NOMINAL_LINEAR + each),
            (true, false) => self.logarithmic_alone += entries * (NOMINAL_LOGARITHMIC + each),
            (true, true) => self.logarithmic_shared += entries * (NOMINAL_LOGARITHMIC + each),
        }
    }

    pub(super) fn times(self, repeats: f64) -> Self {
        Self {
            alone: repeats * self.alone,
            shared: repeats * self.shared,
            logarithmic_alone: repeats * self.logarithmic_alone,
            logarithmic_shared: repeats * self.logarithmic_shared,
        }
    }

    /// In units of the enumeration, as on the machine of the constants: the choice between the two must
    /// not depend on the machine.
    pub(super) fn as_enumeration(&self) -> f64 {
        let Self { alone, shared, logarithmic_alone, logarithmic_shared } = self;
        ENUMERATION_WORK * (alone + shared + logarithmic_alone + logarithmic_shared)
    }

    /// Time on this machine.
    pub(super) fn seconds(&self) -> f64 {
        let Self { alone, shared, logarithmic_alone, logarithmic_shared } = self;
        let [linear, logarithmic] = measured();
        let threads = threads();
        linear * (alone + shared / threads) / NOMINAL_LINEAR
            + logarithmic * (logarithmic_alone + logarithmic_shared / threads) / NOMINAL_LOGARITHMIC
    }
}

/// The work of tables with so many entries at least, in units of the enumeration.
pub(super) fn least_work(entries: f64) -> f64 {
    ENUMERATION_WORK * NOMINAL_LINEAR * entries
}

/// Threads of the current pool that have a core.
pub(super) fn threads() -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    rayon::current_num_threads().min(cores) as f64
}

/// Seconds for an entry on the linear and on the log scale, on one thread of this machine.
fn measured() -> [f64; 2] {
    static MEASURED: OnceLock<[f64; 2]> = OnceLock::new();
    *MEASURED.get_or_init(|| [time_of_entry::<Linear>(13), time_of_entry::<Logarithmic>(10)])
}

/// The fastest of a few steps with one source.
fn time_of_entry<S: Scale>(width: usize) -> f64 {
    let scope: Vec<u32> = (1..=width as u32).collect();
    let source: Vec<u32> = (0..width as u32).collect();
    let mut values: Vec<f64> = (0..1 << width).map(|k| S::ONE + 1e-6 * f64::from(k)).collect();
    let factors = || UnitFactors::new::<S>([S::ONE; 2], &vec![S::ONE; width]);
    let seconds = (0..5).map(|_| {
        let sources = vec![Source::new(&values, &scope, &source)];
        let step = Step { factors: [factors(), factors()], sources };
        let mut table = vec![0.0; 1 << width];
        let start = Instant::now();
        std::hint::black_box(step.fill::<S>(&mut table, &()));
        let seconds = start.elapsed().as_secs_f64();
        drop(step);
        values[0] = table[0].min(S::ONE);
        seconds
    });
    seconds.fold(f64::INFINITY, f64::min).max(1e-9) / (width as f64).exp2()
}
