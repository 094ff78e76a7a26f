//! The core: the states of highest weight, whose exact sum is a rigorous lower bound of Z.

use super::effort::{CHAINS, EVALUATIONS, LEAST_SHARE};
use crate::math::{exp, ln, log_sum_exp};
use crate::observer::Observer;
use lnz_kernels::{FreeEnergy, Position};
use std::collections::{BinaryHeap, HashMap};

/// States kept at most, for memory.
const MOST_STATES: usize = 1 << 19;

/// How far below the log of the sum a state may be: as many of them as there may be would not be missed.
fn kept() -> f64 {
    ln(MOST_STATES as f64 / LEAST_SHARE)
}

/// A set of states of one layer whose weights are summed exactly.
pub(super) struct Core {
    /// Packed states and their F.
    heights: HashMap<Vec<u64>, f64>,
    /// log of the sum of exp F, the model's constant included; minus infinity when the core is empty.
    pub(super) log_z: f64,
}

impl Default for Core {
    /// No states.
    fn default() -> Self {
        Self { heights: HashMap::new(), log_z: f64::NEG_INFINITY }
    }
}

impl Core {
    /// Best-first search from the modes: the highest state known is taken, its neighbours are added.
    pub(super) fn build(
        free_energy: &FreeEnergy,
        modes: &[Position],
        expansions: usize,
        constant: f64,
        observer: &dyn Observer,
    ) -> Self {
        if expansions == 0 {
            return Self::default();
        }
        let n = free_energy.units();
        let work = n as f64 * free_energy.others().max(1) as f64;
        let expansions = expansions.min(((EVALUATIONS / work) as usize).max(16));
        let mut heights = HashMap::new();
        let mut sum = RunningSum::default();
        let mut open = BinaryHeap::new();
        for mode in modes.iter().take(CHAINS) {
            heights.insert(pack(&mode.x), mode.height());
            sum.add(mode.height());
            open.push(Open { height: mode.height(), x: mode.x.clone() });
        }
        for _ in 0..expansions {
            let Some(Open { height, x }) = open.pop() else { break };
            if observer.cancelled() {
                break;
            }
            if height < sum.log() - kept() || heights.len() >= MOST_STATES {
                break;
            }
            let position = free_energy.position(x);
            for i in 0..n {
                let mut x = position.x.clone();
                x[i] = !x[i];
                let key = pack(&x);
                if heights.contains_key(&key) {
                    continue;
                }
                let (height, _) = free_energy.flipped(&position, i);
                if height > sum.log() - kept() {
                    heights.insert(key, height);
                    sum.add(height);
                    open.push(Open { height, x });
                }
            }
        }
        // In a fixed order, whatever the order of the map.
        let mut values: Vec<f64> = heights.values().copied().collect();
        values.sort_by(f64::total_cmp);
        Self { log_z: constant + log_sum_exp(&values), heights }
    }

    pub(super) fn states(&self) -> usize {
        self.heights.len()
    }

    /// The lowest F of its states.
    pub(super) fn lowest(&self) -> Option<f64> {
        self.heights.values().copied().reduce(f64::min)
    }

    /// Whether a packed state is in the core.
    pub(super) fn contains(&self, state: &[u64]) -> bool {
        self.heights.contains_key(state)
    }
}

/// Bits of a state, 64 to a word.
pub(super) fn pack(x: &[bool]) -> Vec<u64> {
    x.chunks(64)
        .map(|chunk| chunk.iter().enumerate().fold(0, |word, (i, &on)| word | u64::from(on) << i))
        .collect()
}

/// log of a growing sum of exponentials.
#[derive(Default)]
struct RunningSum {
    largest: Option<f64>,
    sum: f64,
}

impl RunningSum {
    fn add(&mut self, value: f64) {
        let largest = self.largest.unwrap_or(value);
        if value > largest {
            self.sum *= exp(largest - value);
        }
        let largest = largest.max(value);
        self.sum += exp(value - largest);
        self.largest = Some(largest);
    }

    fn log(&self) -> f64 {
        self.largest.map_or(f64::NEG_INFINITY, |largest| largest + ln(self.sum))
    }
}

/// A state to look at, ordered by its height; ties by its units, for reproducibility.
struct Open {
    height: f64,
    x: Vec<bool>,
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.height.total_cmp(&other.height).then_with(|| self.x.cmp(&other.x))
    }
}
impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Open {}

#[cfg(test)]
mod tests {
    use super::super::modes::find_modes;
    use super::*;
    use crate::Gwgm;

    #[test]
    fn the_core_is_a_lower_bound_and_almost_everything_of_a_hard_model() {
        for seed in 0..20 {
            let model = Gwgm { visible: 12, hidden: 60, ..Gwgm::HARDEST }.generate(seed).unwrap();
            let free_energy = FreeEnergy::new(&model);
            let all: Vec<f64> = (0..1 << 12)
                .map(|s| free_energy.position((0..12).map(|i| s >> i & 1 == 1).collect()).height())
                .collect();
            let exact = log_sum_exp(&all);
            let core = Core::build(
                &free_energy,
                &find_modes(&free_energy, vec![], 1, &()),
                4096,
                0.0,
                &(),
            );
            assert!(core.log_z <= exact + 1e-9 * exact.abs());
            assert!(core.log_z > exact - 1e-6 * exact.abs(), "{} {exact}", core.log_z);
        }
    }

    #[test]
    fn a_core_of_nothing_is_empty() {
        let model = Gwgm { visible: 3, hidden: 4, ..Gwgm::HARDEST }.generate(1).unwrap();
        let free_energy = FreeEnergy::new(&model);
        let core =
            Core::build(&free_energy, &find_modes(&free_energy, vec![], 1, &()), 0, 0.0, &());
        assert_eq!((core.states(), core.log_z), (0, f64::NEG_INFINITY));
        assert!(!core.contains(&pack(&[true, false, true])));
    }
}
