//! How far the columns of a ladder agree: on the energy at the model, and on the time in each phase.

use super::ladder::Seen;
use crate::estimate::auto::Fitting;
use serde::Serialize;

/// A phase as the ladders have visited it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Visited {
    /// Part of the time.
    pub share: f64,
    /// Its error, from the differences between columns.
    pub std_error: f64,
}

/// By column: the part of the time in each phase.
pub(super) fn times(columns: &[Seen], fitting: &Fitting) -> Vec<Vec<f64>> {
    let of_column = |seen: &Seen| {
        let mut times = vec![0.0; fitting.phases()];
        let part = 1.0 / seen.kept.len().max(1) as f64;
        seen.kept.iter().for_each(|state| times[fitting.phase(state)] += part);
        times
    };
    columns.iter().map(of_column).collect()
}

/// How far columns are from agreeing, on the energy or on the time in a phase: the worst of them, 1 if they
/// are alike (Gelman and Rubin).
pub(super) fn largest_r_hat(columns: &[Seen], times: &[Vec<f64>]) -> f64 {
    let n = columns[0].iterations as f64;
    let means: Vec<f64> = columns.iter().map(|seen| seen.log_density.0).collect();
    let within = columns.iter().map(|seen| seen.log_density.1).sum::<f64>() / means.len() as f64;
    let of_energy = r_hat(&means, within / (n - 1.0));
    let of_phase = |phase: usize| {
        let means: Vec<f64> = times.iter().map(|times| times[phase]).collect();
        let within = means.iter().map(|p| p * (1.0 - p)).sum::<f64>() / means.len() as f64;
        r_hat(&means, within)
    };
    (0..times[0].len()).map(of_phase).fold(of_energy, f64::max)
}

/// The root of the ratio of two estimates of a variance: with the differences between columns, and without.
fn r_hat(means: &[f64], within: f64) -> f64 {
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let between = means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    match (within > 0.0, between > 0.0) {
        (true, _) => ((within + between) / within).sqrt(),
        (false, true) => f64::INFINITY,
        (false, false) => 1.0,
    }
}

/// The part of the time in each phase, the largest first.
pub(super) fn visits(times: &[Vec<f64>]) -> Vec<Visited> {
    let n = times.len() as f64;
    let visited = |phase: usize| {
        let share = times.iter().map(|times| times[phase]).sum::<f64>() / n;
        let squares = times.iter().map(|times| (times[phase] - share).powi(2)).sum::<f64>();
        Visited { share, std_error: (squares / n / (n - 1.0)).sqrt() }
    };
    let mut visits: Vec<Visited> = (0..times[0].len()).map(visited).collect();
    visits.sort_by(|a, b| b.share.total_cmp(&a.share));
    visits
}
