//! What an exact value costs, predicted before any work.

use super::scopes::Scopes;
use super::table::{Linear, Logarithmic, Scale, Source, Step, UnitFactors, is_in_step, is_table};
use std::sync::OnceLock;
use std::time::Instant;

/// What an exact value costs: [`exact_cost`](crate::exact_cost).
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
    /// Predicted time with the threads of the current rayon pool, the time to plan included.
    pub seconds: f64,
    /// Time that the search for parts and orders took, which is over when this is known.
    pub planning_seconds: f64,
}

/// Steps with at least this many units are shared out to threads, and their tables are too large for the
/// allocator's own store.
const SHARED_WIDTH: usize = 14;

/// The unit of work of an elimination: one entry of a step with one source that is read in step, on one
/// thread and from the first cache; 0.6 ns on the machine where the factors below were measured.
const ENTRY: f64 = 1.0;
/// An entry on the log scale.
const LOGARITHMIC_ENTRY: f64 = 17.0;
/// An entry of a source that is not alone.
const SOURCE_ENTRY: f64 = 0.5;
/// An entry of a source that is read in another order.
const SHUFFLED_ENTRY: f64 = 1.2;
/// What the system takes to hand out an entry of new memory; varies most from machine to machine.
const NEW_ENTRY: f64 = 3.0;
/// A unit that at most one other is coupled to.
const LEAF: f64 = 100.0;
/// The same where the other one is far away in memory: a tree of 100,000 units at random takes 350 ns for
/// each, a chain 40 to 90 ns.
const FAR_LEAF: f64 = 600.0;
/// Units that are this far apart share no cache line, and so many are more than the near caches hold.
const FAR: u32 = 1 << 14;
/// Any other step, and each of its sources.
const STEP: f64 = 600.0;
const SOURCE: f64 = 150.0;
/// Work of the enumeration that takes as long.
const ENUMERATION_WORK: f64 = 8.0;

/// What an entry takes longer when it comes from the second or third cache, or from memory.
fn distance(width: usize) -> f64 {
    match width {
        ..=16 => 0.0,
        17 | 18 => 0.5,
        19 | 20 => 1.0,
        _ => 2.0,
    }
}

/// Work of an elimination, in entries.
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
    /// In memory that comes from the system.
    new: f64,
}

impl StepWork {
    pub(super) fn add_step(&mut self, scopes: &Scopes, step: usize, sources: &[usize], log: bool) {
        let width = scopes.width_of(step);
        if sources.is_empty() && !is_table(width) {
            let unit = scopes.order[step];
            let is_far = |&next: &u32| scopes.order[next as usize].abs_diff(unit) > FAR;
            let far = scopes.scope(step).first().is_some_and(is_far);
            self.alone += if far { FAR_LEAF } else { LEAF };
            return;
        }
        self.alone += STEP + SOURCE * sources.len() as f64;
        let in_step = |child: usize| is_in_step(scopes.scope(step), scopes.scope(child));
        let source = |&child: &usize| if in_step(child) { SOURCE_ENTRY } else { SHUFFLED_ENTRY };
        let reading = match sources {
            &[only] if in_step(only) => 0.0,
            _ => sources.iter().map(source).sum::<f64>(),
        };
        let entries = (width as f64).exp2();
        let moving = reading + distance(width);
        match (log, width >= SHARED_WIDTH) {
            (false, false) => self.alone += entries * (ENTRY + moving),
            (false, true) => self.shared += entries * (ENTRY + moving),
            (true, false) => self.logarithmic_alone += entries * (LOGARITHMIC_ENTRY + moving),
            (true, true) => self.logarithmic_shared += entries * (LOGARITHMIC_ENTRY + moving),
        }
        // About: the memory of a source of the same size is used again by the step after.
        if width >= SHARED_WIDTH && !sources.iter().any(|&child| scopes.width_of(child) == width) {
            self.new += entries;
        }
    }

    pub(super) fn times(self, repeats: f64) -> Self {
        Self {
            alone: repeats * self.alone,
            shared: repeats * self.shared,
            logarithmic_alone: repeats * self.logarithmic_alone,
            logarithmic_shared: repeats * self.logarithmic_shared,
            new: repeats * self.new,
        }
    }

    /// In units of the enumeration, as on the machine of the constants: the choice between the two must
    /// not depend on the machine.
    pub(super) fn as_enumeration(&self) -> f64 {
        let Self { alone, shared, logarithmic_alone, logarithmic_shared, new } = self;
        let work = alone + shared + logarithmic_alone + logarithmic_shared + NEW_ENTRY * new;
        ENUMERATION_WORK * work
    }

    /// Time on this machine.
    pub(super) fn seconds(&self) -> f64 {
        let Self { alone, shared, logarithmic_alone, logarithmic_shared, new } = self;
        let measured = Measured::here();
        let threads = threads();
        measured.entry * (alone + shared / threads) / ENTRY
            + measured.logarithmic_entry * (logarithmic_alone + logarithmic_shared / threads)
                / LOGARITHMIC_ENTRY
            + measured.new_entry * new / threads
    }
}

/// The work of tables with so many entries at least, in units of the enumeration.
pub(super) fn least_work(entries: f64) -> f64 {
    ENUMERATION_WORK * ENTRY * entries
}

/// Threads of the current pool that have a core.
pub(super) fn threads() -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    rayon::current_num_threads().min(cores) as f64
}

/// Seconds on one thread of this machine.
struct Measured {
    entry: f64,
    logarithmic_entry: f64,
    new_entry: f64,
}

impl Measured {
    /// Measured once, in about a millisecond.
    fn here() -> &'static Self {
        static MEASURED: OnceLock<Measured> = OnceLock::new();
        MEASURED.get_or_init(|| Self {
            entry: time_of_entry::<Linear>(13),
            logarithmic_entry: time_of_entry::<Logarithmic>(10),
            new_entry: time_of_new_entry(),
        })
    }
}

/// Seconds for an entry of memory that comes from the system.
fn time_of_new_entry() -> f64 {
    const ENTRIES: usize = 1 << 16;
    // Memory is handed out in pages of this many entries.
    const PAGE: usize = 512;
    // All are kept until the end, because memory that was given back would not be new.
    let mut tables = Vec::new();
    let seconds = (0..4).map(|_| {
        let start = Instant::now();
        let mut table = vec![0.0; ENTRIES];
        table.iter_mut().step_by(PAGE).for_each(|entry| *entry = 1.0);
        tables.push(std::hint::black_box(table));
        start.elapsed().as_secs_f64()
    });
    seconds.fold(f64::INFINITY, f64::min) / ENTRIES as f64
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
