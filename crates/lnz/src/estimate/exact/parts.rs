//! A model taken apart, with the cheapest way to the log Z of each part.

use super::cost::{self, ExactCost};
use super::layers::{self, Layers};
use super::pendants::{self, Folded};
use super::plan::Plan;
use super::watch::Watch;
use super::{SparseModel, cases, order};
use crate::energy::{check_energy, check_finite};
use crate::math::{CompensatedSum, softplus};
use crate::{Component, Error, Observer, Rbm, Result};
use lnz_kernels::enumeration::{MAX_UNITS, measured_rate};
use std::time::Instant;

/// Work of an enumeration that takes well under a millisecond: nothing better is looked for.
const LITTLE_WORK: f64 = (1u64 << 20) as f64;

/// A model with more couplings than this for each unit has no elimination of a width below 62 units:
/// removing units with fewer neighbours must end with a part where all have more.
const MOST_COUPLINGS_A_UNIT: usize = 64;

/// A model taken apart.
pub(super) struct Parts {
    constant: f64,
    /// Biases of units without weights.
    alone: Vec<f64>,
    /// Components with at least two units.
    connected: Vec<Part>,
    /// Time that it took to take the model apart and to find orders.
    planning_seconds: f64,
}

/// A connected component, and how its log Z is computed.
enum Part {
    /// By enumeration of the smaller layer.
    Layers { model: Rbm, units: usize, work: f64 },
    /// By elimination.
    Elimination(Box<Plan>),
    /// Not at all: its smaller layer is too large.
    TooLarge { units: usize, work: f64 },
    /// After units that hang on a single other one were summed out.
    Folded { rest: Box<Part>, log_factor: f64 },
}

impl Parts {
    pub(super) fn of(model: &Rbm, max_bytes: f64) -> Result<Self> {
        let clock = Instant::now();
        check_finite(model)?;
        let (b, c) = (model.visible_bias(), model.hidden_bias());
        let (mut alone, mut connected) = (Vec::new(), Vec::new());
        for component in model.components() {
            match (component.visible.as_slice(), component.hidden.as_slice()) {
                (&[i], []) => alone.push(b[i]),
                ([], &[j]) => alone.push(c[j]),
                _ => connected.push(Part::of(model, &component, max_bytes)?),
            }
        }
        let planning_seconds = clock.elapsed().as_secs_f64();
        Ok(Self { constant: model.constant(), alone, connected, planning_seconds })
    }

    pub(super) fn of_sparse(model: &SparseModel, max_bytes: f64) -> Result<Self> {
        let clock = Instant::now();
        check_energy(model.largest_energy() + model.constant().abs())?;
        let (mut alone, mut connected) = (Vec::new(), Vec::new());
        let mut scratch = Vec::new();
        for units in model.components() {
            match units[..] {
                [unit] => alone.push(model.biases()[unit as usize]),
                _ => {
                    let part = model.restricted_to(&units, &mut scratch);
                    connected.push(match Plan::of(part, max_bytes) {
                        Some(plan) => Part::Elimination(Box::new(plan)),
                        None => {
                            let work = (units.len() as f64).exp2() * units.len() as f64;
                            Part::TooLarge { units: units.len(), work }
                        }
                    });
                }
            }
        }
        let planning_seconds = clock.elapsed().as_secs_f64();
        Ok(Self { constant: model.constant(), alone, connected, planning_seconds })
    }

    pub(super) fn cost(&self) -> ExactCost {
        let planning_seconds = self.planning_seconds;
        let mut cost =
            ExactCost { planning_seconds, seconds: planning_seconds, ..ExactCost::default() };
        self.connected.iter().for_each(|part| part.add_to(&mut cost));
        cost
    }

    pub(super) fn log_z(&self, max_seconds: f64, observer: &dyn Observer) -> Result<f64> {
        let cost = self.cost();
        self.refuse(&cost, max_seconds)?;
        let mut watch = Watch::new(observer, cost.states);
        let mut log_z = CompensatedSum::default();
        log_z.add(self.constant);
        self.alone.iter().for_each(|&bias| log_z.add(softplus(bias)));
        for part in &self.connected {
            log_z.add(part.log_z(&mut watch)?);
        }
        watch.report();
        Ok(log_z.total())
    }

    /// An error if some part is impossible, or if all take too long together.
    fn refuse(&self, cost: &ExactCost, max_seconds: f64) -> Result<()> {
        let &ExactCost { free_units, seconds, .. } = cost;
        let slowest = self.connected.iter().max_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        let width = slowest.and_then(Part::width);
        if self.connected.iter().any(|part| !part.is_possible()) {
            return Err(match width {
                Some(width) => Error::FarTooWide { width, seconds },
                None => Error::TooManyUnits { free_units, limit: MAX_UNITS, seconds },
            });
        }
        if seconds > max_seconds {
            let allowed = max_seconds;
            return Err(match width {
                Some(width) => Error::TooWide { width, seconds, allowed },
                None => Error::TooManyStates { free_units, seconds, allowed },
            });
        }
        Ok(())
    }
}

impl Part {
    fn of(model: &Rbm, component: &Component, max_bytes: f64) -> Result<Self> {
        let (visible, hidden) = (component.visible.len(), component.hidden.len());
        let (units, summed) = (visible.min(hidden), visible.max(hidden));
        let enumeration = if units <= MAX_UNITS {
            let model = model.restricted_to(component)?;
            let work = Layers::of(&model).work();
            Self::Layers { model, units, work }
        } else {
            // About what the kernel would say, without a copy of a large matrix.
            Self::TooLarge { units, work: (units as f64).exp2() * (8 + summed) as f64 }
        };
        let work = enumeration.work();
        if work <= LITTLE_WORK {
            return Ok(enumeration);
        }
        let weights = model.weights();
        let couplings: usize = (component.visible.iter())
            .map(|&i| {
                let row = weights.row(i);
                component.hidden.iter().filter(|&&j| row[j] != 0.0).count()
            })
            .sum();
        if couplings == visible * hidden || couplings / (visible + hidden) >= MOST_COUPLINGS_A_UNIT
        {
            return Ok(enumeration);
        }
        let direct = Self::cheaper(enumeration, model, component, max_bytes);
        if let Some(Folded { model, component, log_factor }) = pendants::fold(model, component)? {
            let whole = Component {
                visible: (0..component.visible.len()).collect(),
                hidden: (0..component.hidden.len()).collect(),
            };
            let rest = Self::of(&model, &whole, max_bytes)?;
            if rest.work() * 2.0 < direct.work() {
                return Ok(Self::Folded { rest: Box::new(rest), log_factor });
            }
        }
        Ok(direct)
    }

    /// Elimination, if it is clearly cheaper than the enumeration.
    fn cheaper(enumeration: Self, model: &Rbm, component: &Component, max_bytes: f64) -> Self {
        let work = enumeration.work();
        let sparse = SparseModel::of_component(model, component);
        // The search for an order is worth it only if some order may be cheaper.
        let least_entries = (order::least_width(&sparse) as f64).exp2();
        if cost::least_work(least_entries) * 2.0 >= work {
            return enumeration;
        }
        match Plan::of(sparse, max_bytes) {
            Some(plan) if plan.work.as_enumeration() * 2.0 < work => {
                Self::Elimination(Box::new(plan))
            }
            _ => enumeration,
        }
    }

    /// Work in the units of the enumeration, the same on every machine.
    fn work(&self) -> f64 {
        match self {
            Self::Layers { work, .. } | Self::TooLarge { work, .. } => *work,
            Self::Elimination(plan) => plan.work.as_enumeration(),
            Self::Folded { rest, .. } => rest.work(),
        }
    }

    /// Predicted time on this machine.
    fn seconds(&self) -> f64 {
        match self {
            Self::Layers { work, .. } | Self::TooLarge { work, .. } => {
                work / (measured_rate() * cost::threads())
            }
            Self::Elimination(plan) => plan.work.seconds(),
            Self::Folded { rest, .. } => rest.seconds(),
        }
    }

    fn add_to(&self, cost: &mut ExactCost) {
        match self {
            Self::Layers { units, .. } | Self::TooLarge { units, .. } => {
                cost.free_units = cost.free_units.max(*units);
                cost.states += (*units as f64).exp2();
            }
            Self::Elimination(plan) => {
                cost.width = cost.width.max(Some(plan.width()));
                cost.states += plan.entries;
                cost.bytes = cost.bytes.max(plan.bytes);
            }
            Self::Folded { rest, .. } => return rest.add_to(cost),
        }
        cost.seconds += self.seconds();
    }

    fn log_z(&self, watch: &mut Watch<'_>) -> Result<f64> {
        match self {
            Self::Layers { model, .. } => layers::log_z(model, watch),
            Self::Elimination(plan) => cases::log_z(plan, watch),
            Self::Folded { rest, log_factor } => Ok(rest.log_z(watch)? + log_factor),
            &Self::TooLarge { units, .. } => Err(Error::TooManyUnits {
                free_units: units,
                limit: MAX_UNITS,
                seconds: self.seconds(),
            }),
        }
    }

    /// Width of the elimination, if it is one.
    fn width(&self) -> Option<usize> {
        match self {
            Self::Layers { .. } | Self::TooLarge { .. } => None,
            Self::Elimination(plan) => Some(plan.width()),
            Self::Folded { rest, .. } => rest.width(),
        }
    }

    fn is_possible(&self) -> bool {
        match self {
            Self::Layers { .. } => true,
            Self::Elimination(plan) => plan.is_possible,
            Self::TooLarge { .. } => false,
            Self::Folded { rest, .. } => rest.is_possible(),
        }
    }
}
