//! Where the betas go: from what a pilot saw to a schedule.

use super::pilot::Pilot;

/// Share of the betas above [`LATE`] where the transitions are Gibbs sweeps alone. Trained models relax
/// slowly there, which the spread of the pilot does not show (docs/decisions.md).
const LATE_SHARE: f64 = 0.4;
const LATE: f64 = 0.9;

/// Betas at equal steps of a density: mostly the pilot's spread, partly uniform and log-uniform, so
/// that no region is left out, and with Gibbs sweeps alone many close to 1.
pub(super) fn schedule(pilot: &Pilot, intervals: usize) -> Vec<f64> {
    let lengths: Vec<f64> = pilot
        .spread
        .iter()
        .zip(pilot.betas.windows(2))
        .map(|(spread, betas)| spread * (betas[1] - betas[0]))
        .collect();
    let total: f64 = lengths.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let log_uniform = |beta: f64| 1.0 - beta.max(1e-4).ln() / 1e-4f64.ln();
    let late_share = if pilot.gibbs_alone { LATE_SHARE } else { 0.0 };
    let late = |beta: f64| (beta - LATE).max(0.0) / (1.0 - LATE);
    let mut cumulative = vec![0.0];
    for (length, betas) in lengths.iter().zip(pilot.betas.windows(2)) {
        let share = 0.6 * length / total
            + 0.2 * (betas[1] - betas[0])
            + 0.2 * (log_uniform(betas[1]) - log_uniform(betas[0]));
        let share = (1.0 - late_share) * share + late_share * (late(betas[1]) - late(betas[0]));
        cumulative.push(cumulative[cumulative.len() - 1] + share);
    }
    let end = cumulative[cumulative.len() - 1];
    let mut betas = vec![0.0];
    let mut k = 0;
    for i in 1..intervals {
        let target = end * i as f64 / intervals as f64;
        while cumulative[k + 1] < target {
            k += 1;
        }
        let part = (target - cumulative[k]) / (cumulative[k + 1] - cumulative[k]);
        let beta = pilot.betas[k] + part * (pilot.betas[k + 1] - pilot.betas[k]);
        if beta > betas[betas.len() - 1] && beta < 1.0 {
            betas.push(beta);
        }
    }
    betas.push(1.0);
    betas
}
