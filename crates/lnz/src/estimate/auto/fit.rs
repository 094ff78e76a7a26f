//! Starts that are fitted to phases: short resampled runs, each followed by a refit.

use super::cells::{Product, cells};
use super::effort::{
    BETAS, CHAINS, ISLAND, ISLANDS, LEAST_SHARE, NEGLIGIBLE, STAYING, SWEEPS, WINDOW,
};
use super::sampler::{Ends, Pool, Run, Sampler, Source, State, drawn, effective};
use super::schedule::schedule;
use super::search::Found;
use crate::check::Measured;
use crate::math::{exp, ln, log_mean_exp, log_sum_exp, sigmoid};
use crate::{Rbm, Result};
use lnz_kernels::GROUP;
use lnz_kernels::random::Random;
use ndarray::{Array1, Axis};

/// Intervals of the short runs of each round of fitting.
pub(super) const ROUNDS: [usize; 3] = [BETAS / 8, BETAS / 4, BETAS / 2];
/// The whole is fitted more carefully: where there are no phases, everything depends on it.
const ROUNDS_OF_WHOLE: [usize; 2] = [BETAS / 2, BETAS];
/// Phases at most: others are left to their neighbours.
const MOST_PHASES: usize = ISLAND / 2;

/// Products that were fitted: one for each phase, whose cell it also defines, and one for all of them.
pub(super) struct Fitted {
    pub(super) phases: Vec<Product>,
    /// log of what short runs have found in each phase.
    pub(super) log_sizes: Vec<f64>,
    pub(super) whole: Whole,
}

/// A start that is fitted to all that short runs have found.
#[derive(Clone)]
pub(super) struct Whole {
    pub(super) product: Product,
    /// What the last run that it was fitted to found.
    pub(super) found: Measured,
    /// The ends of all runs that it was fitted to; each run is one estimate of Z.
    pool: Pool,
    /// The first of those of the last run.
    last: usize,
}

impl Fitted {
    /// Fits a start to every phase that a search has found, beside that of the whole.
    pub(super) fn to(
        sampler: &Sampler<'_>,
        found: &Found,
        whole: Whole,
        random: &mut Random,
    ) -> Result<Self> {
        let phases = found.means.iter().map(Product::fitted).collect::<Result<_>>()?;
        Self::to_phases(sampler, phases, whole, random)
    }

    /// The start of the whole, without phases.
    pub(super) fn alone(whole: Whole) -> Self {
        let phases = vec![whole.product.clone()];
        Self { phases, log_sizes: vec![0.0], whole }
    }

    /// The same with more phases, of which the means are known, and another start of the whole.
    pub(super) fn and(
        &self,
        sampler: &Sampler<'_>,
        more: &[Array1<f64>],
        whole: Whole,
        random: &mut Random,
    ) -> Result<Self> {
        let mut phases = match self.phases.len() {
            1 => vec![whole.product.clone()],
            _ => self.phases.clone(),
        };
        phases.extend(more.iter().map(Product::fitted).collect::<Result<Vec<_>>>()?);
        Self::to_phases(sampler, phases, whole, random)
    }

    /// Fits a start to each of some phases; those that are none are left to the others.
    fn to_phases(
        sampler: &Sampler<'_>,
        mut phases: Vec<Product>,
        whole: Whole,
        random: &mut Random,
    ) -> Result<Self> {
        let mut log_sizes = vec![0.0];
        let mut whole_sees_it = true;
        for betas in ROUNDS {
            if phases.len() == 1 {
                break;
            }
            let runs = short_runs(sampler, &phases, &schedule(betas))?;
            let views = Views::of(&phases, &runs, whole.ends());
            let mut kept = told_apart(&that_count(&runs), &runs, &views);
            kept.truncate(MOST_PHASES);
            whole_sees_it = views.whole_shows(kept[0], runs[kept[0]].log_home);
            let count = (CHAINS / kept.len()).max(ISLAND);
            let refit = |k: &usize| {
                let ShortRun { ends, log_home, home, .. } = &runs[*k];
                let weights = if *log_home > f64::NEG_INFINITY { home } else { &ends.samples };
                refitted(sampler, weights, &ends.states, count, random)
            };
            phases = kept.iter().map(refit).collect::<Result<Vec<_>>>()?;
            log_sizes = kept.iter().map(|&k| runs[k].log_home).collect();
        }
        if phases.len() == 1 {
            if whole_sees_it {
                return Ok(Self::alone(whole));
            }
            // It has been fitted to another phase.
            phases.push(whole.product.clone());
            log_sizes.push(whole.found.log_z);
        }
        Ok(Self { phases, log_sizes, whole })
    }

    /// All starts: those of the phases come first. The start of the whole is that of a single phase.
    pub(super) fn starts(&self) -> Vec<&Product> {
        let whole = (self.phases.len() > 1).then_some(&self.whole.product);
        self.phases.iter().chain(whole).collect()
    }

    /// The means of the visible units of the model that was given, in each phase, the largest first.
    pub(super) fn means_of(&self, model: &Rbm) -> Vec<Array1<f64>> {
        let mut order: Vec<usize> = (0..self.phases.len()).collect();
        order.sort_by(|&a, &b| self.log_sizes[b].total_cmp(&self.log_sizes[a]));
        let of_visible = |&phase: &usize| {
            let means = self.phases[phase].start.bias().mapv(sigmoid);
            match means.len() == model.visible() {
                true => means,
                // The start was fitted to the hidden layer.
                false => model.visible_input(means.view()).mapv(sigmoid),
            }
        };
        order.iter().map(of_visible).collect()
    }
}

impl Whole {
    /// Fits one start to all that short runs have found, and refits it to what runs from it find.
    pub(super) fn fitted(
        sampler: &Sampler<'_>,
        found: &Found,
        random: &mut Random,
    ) -> Result<Self> {
        Self::after(sampler, found.pool.clone(), &ROUNDS_OF_WHOLE, random)
    }

    /// The same with what trials have found as well.
    pub(super) fn and(
        &self,
        sampler: &Sampler<'_>,
        sources: &[Source<'_>],
        log_z: f64,
        random: &mut Random,
    ) -> Result<Self> {
        let mut pool = self.pool.clone();
        for source in sources {
            let log_weights: Vec<f64> = source.pool.iter().map(|(weight, _)| *weight).collect();
            let factor = log_z + ln(source.share) - log_sum_exp(&log_weights);
            let scaled = |(weight, state): &(f64, State)| (weight + factor, state.clone());
            pool.extend(source.pool.iter().map(scaled));
        }
        Self::after(sampler, pool, &ROUNDS_OF_WHOLE[1..], random)
    }

    /// Fits a start to a pool, and again to the pool with what runs from it find.
    fn after(
        sampler: &Sampler<'_>,
        mut pool: Pool,
        rounds: &[usize],
        random: &mut Random,
    ) -> Result<Self> {
        let mut found = Measured { log_z: f64::NEG_INFINITY, error: f64::INFINITY };
        let mut last = 0;
        for &betas in rounds {
            let start = refitted_to(sampler, &pool, random)?.start;
            let betas = schedule(betas);
            let (chains, resampled) = (sampler.fewer(CHAINS), Some(ISLAND));
            let run = Run { start: &start, betas: &betas, chains, resampled, others: false };
            let ends = sampler.anneal(&run)?;
            let islands: Vec<f64> = ends.samples.chunks(ISLAND).map(log_mean_exp).collect();
            let error = (1.0 / effective(&islands) - 1.0 / islands.len() as f64).max(0.0).sqrt();
            found = Measured { log_z: ends.log_z(), error };
            // Every run counts as one estimate of Z, however many chains it has.
            let size = ln(chains as f64);
            last = pool.len();
            pool.extend(ends.samples.iter().map(|sample| sample - size).zip(ends.states));
        }
        let product = refitted_to(sampler, &pool, random)?;
        Ok(Self { product, found, pool, last })
    }

    /// Where the chains of the last run ended.
    pub(super) fn ends(&self) -> &[(f64, State)] {
        &self.pool[self.last..]
    }
}

fn refitted_to(
    sampler: &Sampler<'_>,
    pool: &[(f64, State)],
    random: &mut Random,
) -> Result<Product> {
    let (weights, states): (Vec<f64>, Vec<State>) = pool.iter().cloned().unzip();
    refitted(sampler, &weights, &states, CHAINS, random)
}

/// A short run from the start of a phase.
struct ShortRun {
    ends: Ends,
    /// The samples of the chains that ended in the cell of the phase; minus infinity for the others.
    home: Vec<f64>,
    log_home: f64,
    log_all: f64,
}

fn short_runs(sampler: &Sampler<'_>, phases: &[Product], betas: &[f64]) -> Result<Vec<ShortRun>> {
    let islands = (ISLANDS / phases.len()).max(1);
    let island = if phases.len() > MOST_PHASES { GROUP } else { ISLAND };
    let (chains, resampled) = (islands * island, Some(island));
    let starts = phases.iter().map(|phase| &phase.start);
    let runs: Vec<Run<'_>> =
        starts.map(|start| Run { start, betas, chains, resampled, others: false }).collect();
    let short_run = |(k, ends): (usize, Ends)| {
        let cells = cells(phases, &ends.states);
        let at_home = |(sample, cell): (&f64, usize)| {
            if cell == k { *sample } else { f64::NEG_INFINITY }
        };
        let home: Vec<f64> = ends.samples.iter().zip(cells).map(at_home).collect();
        let (log_home, log_all) = (log_mean_exp(&home), ends.log_z());
        ShortRun { ends, home, log_home, log_all }
    };
    Ok(sampler.anneal_all(&runs)?.into_iter().enumerate().map(short_run).collect())
}

/// A product fitted to weighted states after some sweeps.
fn refitted(
    sampler: &Sampler<'_>,
    log_weights: &[f64],
    states: &[State],
    count: usize,
    random: &mut Random,
) -> Result<Product> {
    let chosen = drawn(log_weights, count, random);
    let first: Vec<State> = chosen.into_iter().map(|k| states[k].clone()).collect();
    let (_, means) = sampler.sweep(&first, SWEEPS, WINDOW)?;
    Product::fitted(&(means.sum_axis(Axis(0)).mapv(f64::from) / means.nrows() as f64))
}

/// The log of what a run finds in the cell of each phase.
fn seen(phases: &[Product], states: &[State], log_weights: &[f64]) -> Vec<f64> {
    let cells = cells(phases, states);
    let in_cell = |k: usize| {
        let there = cells.iter().zip(log_weights).filter(|(cell, _)| **cell == k);
        log_sum_exp(&there.map(|(_, weight)| *weight).collect::<Vec<_>>())
    };
    (0..phases.len()).map(in_cell).collect()
}

/// The phases with a share that counts, the largest first.
fn that_count(runs: &[ShortRun]) -> Vec<usize> {
    let highest = log_highest(runs);
    let counts = |k: &usize| runs[*k].log_home > highest + ln(LEAST_SHARE);
    let mut kept: Vec<usize> = (0..runs.len()).filter(counts).collect();
    if kept.is_empty() {
        kept = (0..runs.len()).filter(|&k| runs[k].log_all >= highest).collect();
    }
    kept.sort_by(|&a, &b| runs[b].log_home.total_cmp(&runs[a].log_home));
    kept
}

/// The most that a run has found.
fn log_highest(runs: &[ShortRun]) -> f64 {
    runs.iter().map(|run| run.log_all).fold(f64::NEG_INFINITY, f64::max)
}

/// What the starts of phases and that of the whole see of each phase.
struct Views {
    of_phases: Vec<Vec<f64>>,
    of_whole: Vec<f64>,
}

impl Views {
    fn of(phases: &[Product], runs: &[ShortRun], by_whole: &[(f64, State)]) -> Self {
        let of_run = |run: &ShortRun| {
            let size = ln(run.ends.samples.len() as f64);
            let log_weights: Vec<f64> = run.ends.samples.iter().map(|s| s - size).collect();
            seen(phases, &run.ends.states, &log_weights)
        };
        let (log_weights, states): (Vec<f64>, Vec<State>) = by_whole.iter().cloned().unzip();
        let of_whole = seen(phases, &states, &log_weights);
        Self { of_phases: runs.iter().map(of_run).collect(), of_whole }
    }

    /// Whether the start of the whole sees half of a phase.
    fn whole_shows(&self, phase: usize, log_size: f64) -> bool {
        self.of_whole[phase] >= log_size + ln(STAYING)
    }

    /// Whether the starts of these phases, and perhaps that of the whole, see a phase: 2% of it on average, which is
    /// what one of them finds that sees all of it.
    fn show(&self, phase: usize, log_size: f64, starts: &[usize], whole: bool) -> bool {
        let others = starts.iter().filter(|&&start| start != phase);
        let mut found: Vec<f64> = others.map(|&start| self.of_phases[start][phase]).collect();
        found.extend(whole.then_some(self.of_whole[phase]));
        !found.is_empty() && log_mean_exp(&found) >= log_size + ln(NEGLIGIBLE)
    }
}

/// Those of some phases that are needed: that the weight of their own start does not leave; that keep most of it, while
/// the start of the whole sees less than half of them; or that no other start sees at all. Where there is one, the rest
/// of Z is not left to it: the largest phases that no start sees which is kept already are kept, too. What the start of
/// the whole sees, and what its own start leaves, is kept only where it is worth to be looked for.
fn told_apart(candidates: &[usize], runs: &[ShortRun], views: &Views) -> Vec<usize> {
    let all: Vec<usize> = (0..runs.len()).collect();
    let least = log_highest(runs) + ln(NEGLIGIBLE);
    let is_worth_it = |k: usize| runs[k].log_home > least;
    let is_needed = |k: usize| {
        let ShortRun { log_home, log_all, .. } = runs[k];
        match exp(log_home - log_all) {
            kept if kept > 1.0 - NEGLIGIBLE && is_worth_it(k) => true,
            kept if kept > STAYING => !views.whole_shows(k, log_home),
            _ => is_worth_it(k) && !views.show(k, log_home, &all, true),
        }
    };
    let (mut kept, others): (Vec<usize>, Vec<usize>) =
        candidates.iter().partition(|&&k| is_needed(k));
    if kept.is_empty() {
        return candidates[..1].to_vec();
    }
    for k in others {
        if is_worth_it(k) && !views.show(k, runs[k].log_home, &kept, false) {
            kept.push(k);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(home: f64, all: f64) -> ShortRun {
        let ends = Ends { samples: vec![], states: vec![], others: vec![] };
        ShortRun { ends, home: vec![], log_home: home.ln(), log_all: all.ln() }
    }

    /// Rows are starts, columns phases.
    fn views(of_phases: &[[f64; 3]], of_whole: [f64; 3]) -> Views {
        let logs = |row: &[f64; 3]| row.iter().map(|seen| seen.ln()).collect::<Vec<f64>>();
        Views { of_phases: of_phases.iter().map(logs).collect(), of_whole: logs(&of_whole) }
    }

    #[test]
    fn overlapping_phases_are_one_but_are_not_left_to_a_phase_that_they_do_not_reach() {
        // The first and the second see each other, the third is hidden from all.
        let runs = [run(0.3, 0.7), run(0.35, 0.7), run(0.3, 0.3)];
        let found = views(&[[0.3, 0.4, 0.0], [0.35, 0.35, 0.0], [0.0, 0.0, 0.3]], [0.3, 0.4, 0.0]);
        assert_eq!(told_apart(&[1, 0, 2], &runs, &found), [2, 1]);
    }

    #[test]
    fn phases_that_the_start_of_the_whole_sees_are_left_to_it() {
        // Most of the third stays at home.
        let runs = [run(0.3, 0.7), run(0.35, 0.7), run(0.3, 0.45)];
        let of_phases = [[0.3, 0.4, 0.0], [0.35, 0.35, 0.0], [0.0, 0.1, 0.3]];
        let found = |by_whole| views(&of_phases, [0.3, 0.4, by_whole]);
        // None is needed: the heaviest stands for all.
        assert_eq!(told_apart(&[1, 0, 2], &runs, &found(0.3)), [1]);
        // A third of it is not enough. Its own start sees the second, but not the first.
        assert_eq!(told_apart(&[1, 0, 2], &runs, &found(0.1)), [2, 0]);
        // What nothing leaves is a phase of its own, whoever sees it.
        let runs = [run(0.3, 0.7), run(0.35, 0.7), run(0.3, 0.301)];
        assert_eq!(told_apart(&[1, 0, 2], &runs, &found(0.3)), [2, 0]);
        // Unless it is too small to be looked for: then the start of the whole does for it.
        let runs = [run(0.3, 0.7), run(0.35, 0.7), run(0.01, 0.01)];
        assert_eq!(told_apart(&[1, 0, 2], &runs, &found(0.01)), [1]);
    }

    #[test]
    fn hidden_phases_are_kept_though_their_chains_leave_them() {
        let runs = [run(0.4, 0.7), run(0.3, 0.9), run(0.4, 0.6)];
        let found = views(&[[0.4, 0.0, 0.2], [0.6, 0.3, 0.0], [0.2, 0.0, 0.4]], [0.4, 0.001, 0.4]);
        // The start of the second sees the first, but not the third.
        assert_eq!(told_apart(&[0, 2, 1], &runs, &found), [1, 2]);
    }
}
