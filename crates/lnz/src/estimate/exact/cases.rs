//! Elimination with some units fixed, as orders: an item is one combination of their states.

use super::eliminate::Run;
use super::layers::WORK_PER_SECOND;
use super::plan::{Fixed, MAX_WIDTH, Plan};
use super::scopes::Scopes;
use super::watch::Watch;
use super::{SparseModel, memory};
use crate::crew::bits::to_hex;
use crate::crew::{Order, Output, Task};
use crate::estimate::delegate::{Delegated, crew_for};
use crate::math::CompensatedSum;
use crate::{Error, Observer, Result};
use lnz_kernels::enumeration::{Scaled, ScaledSum};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The name of these orders, which come with the model of the units that are not fixed.
pub(in super::super) const KIND: &str = "eliminate";

/// All that decides the tables besides the model: nobody plans again, with the memory of another machine.
#[derive(Serialize, Deserialize)]
struct Details<'a> {
    order: Cow<'a, [u32]>,
    fixed: Cow<'a, [Fixed]>,
}

/// log Z of a plan's model.
///
/// Each combination of states of the fixed units is one elimination of the rest; they are added in
/// order.
pub(super) fn log_z(plan: &Plan, watch: &mut Watch<'_>) -> Result<f64> {
    let observer = watch.observer;
    let cases = Cases::new(plan, watch);
    let seconds = plan.work.as_enumeration() / WORK_PER_SECOND;
    match crew_for(observer, seconds) {
        None => sum_of((0..cases.count()).map(|case| cases.log_of(case)), plan),
        Some(crew) => {
            let details =
                Details { order: (&plan.scopes.order[..]).into(), fixed: (&plan.fixed[..]).into() };
            let hash = to_hex(&Sha256::digest(plan.model.to_bytes()));
            let task = Task::new(hash, KIND, &details, cases.count(), seconds)?;
            let work = Delegated {
                task,
                model: &|| plan.model.to_bytes(),
                compute: &|items| cases.compute(items),
                advance: &|items| cases.advance(items),
                observer,
            };
            let logs = work.carried_out_by(crew)?.numbers;
            match logs.len() == cases.count() {
                true => sum_of(logs.into_iter().map(Ok), plan),
                false => Err(Error::orders("the results of an elimination have the wrong length")),
            }
        }
    }
}

/// The sum of all cases, from their logarithms.
fn sum_of(mut logs: impl Iterator<Item = Result<f64>>, plan: &Plan) -> Result<f64> {
    if plan.fixed.is_empty() {
        return logs.next().unwrap_or(Ok(f64::NEG_INFINITY));
    }
    let mut sum = ScaledSum::default();
    for log in logs {
        sum.add(Scaled::exp(log?));
    }
    Ok(sum.total().ln())
}

/// The combinations of states of the fixed units.
struct Cases<'a, 'w> {
    plan: &'a Plan,
    /// e^bias of the units that are not fixed.
    biases: Vec<Scaled>,
    watch: Mutex<&'a mut Watch<'w>>,
}

impl<'a, 'w> Cases<'a, 'w> {
    fn new(plan: &'a Plan, watch: &'a mut Watch<'w>) -> Self {
        let biases = plan.model.biases().iter().map(|&bias| Scaled::exp(bias)).collect();
        Self { plan, biases, watch: Mutex::new(watch) }
    }

    fn count(&self) -> usize {
        1 << self.plan.fixed.len()
    }

    fn watch<T>(&self, tell: impl FnOnce(&mut Watch<'w>) -> T) -> T {
        tell(&mut self.watch.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// log of the sum over the states of the rest; bit k of the case is the state of fixed unit k.
    fn log_of(&self, case: usize) -> Result<f64> {
        let mut biases = self.biases.clone();
        let mut log_fixed = CompensatedSum::default();
        for (_, unit) in self.plan.fixed.iter().enumerate().filter(|(k, _)| case >> k & 1 == 1) {
            log_fixed.add(unit.bias);
            let fixed_before = unit.to_fixed.iter().filter(|(other, _)| case >> other & 1 == 1);
            fixed_before.for_each(|&(_, weight)| log_fixed.add(weight));
            for &(other, weight) in &unit.to_rest {
                let bias = &mut biases[other as usize];
                *bias = bias.times(Scaled::exp(weight)).normalized();
            }
        }
        log_fixed.add(self.watch(|watch| Run::new(self.plan, biases).log_z(watch))?);
        Ok(log_fixed.total())
    }

    fn compute(&self, cases: Range<usize>) -> Result<Output> {
        let numbers: Result<_> = cases.clone().map(|case| self.log_of(case)).collect();
        Ok(Output { items: cases, numbers: numbers?, bits: vec![] })
    }

    /// Tells the observer of cases that were computed elsewhere.
    fn advance(&self, cases: usize) {
        let entries = cases as f64 * self.plan.scopes.entries;
        self.watch(|watch| watch.advance(entries as u64));
    }
}

/// Carries out an order for the units that are not fixed.
pub(in super::super) fn carry_out(
    model: &[u8],
    order: &Order,
    observer: &dyn Observer,
) -> Result<Output> {
    let model = SparseModel::from_bytes(model)?;
    let Details { order: units, fixed } = order.task.details()?;
    let unfit = || Error::orders("an order to eliminate does not fit its model");
    if !is_order(&units, model.units()) || !are_fit(&fixed, model.units()) {
        return Err(unfit());
    }
    let scopes = Scopes::of(&model, units.into_owned()).ok_or_else(unfit)?;
    let plan = Plan::along(model, scopes, fixed.into_owned());
    let there = memory::machine_bytes();
    if plan.width() > MAX_WIDTH || plan.bytes > there {
        return Err(Error::orders(format!(
            "the tables of an elimination need {} bytes, and this machine has {there}; plan it with a limit of memory that every worker has",
            plan.bytes
        )));
    }
    let mut watch = Watch::new(observer, plan.entries);
    let cases = Cases::new(&plan, &mut watch);
    match cases.count() == order.task.items {
        true => cases.compute(order.items.clone()),
        false => Err(unfit()),
    }
}

/// Every unit comes once.
fn is_order(order: &[u32], units: usize) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.iter().copied().eq(0..units as u32)
}

/// Couplings lead to units of the rest, and to units that were fixed before.
fn are_fit(fixed: &[Fixed], units: usize) -> bool {
    let is_fit = |(k, unit): (usize, &Fixed)| {
        unit.to_rest.iter().all(|&(other, _)| (other as usize) < units)
            && unit.to_fixed.iter().all(|&(other, _)| other < k)
    };
    fixed.len() <= MAX_WIDTH && fixed.iter().enumerate().all(is_fit)
}
