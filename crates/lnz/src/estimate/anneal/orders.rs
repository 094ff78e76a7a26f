//! Chains as orders: an item is a group of chains, which has a random stream of its own.

use super::{Annealing, Finished, Run, anneal_run, seconds_per_step};
use crate::crew::{Crew, Order, Output, Task};
use crate::estimate::delegate::Delegated;
use crate::observer::{Observer, Phase, Progress};
use crate::{Error, Precision, Rbm, Result, Schedule, Start};
use lnz_kernels::GROUP;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The name of these orders.
pub(in super::super) const KIND: &str = "anneal";

/// All that decides the samples besides the model.
#[derive(Serialize, Deserialize)]
struct Details {
    /// The bias of the start distribution.
    start: Vec<f64>,
    schedule: Betas,
    chains: usize,
    seed: u64,
    precision: Precision,
}

/// Betas, in a few bytes where they are even.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Betas {
    Linear(usize),
    Given(Vec<f64>),
}

impl Betas {
    pub(in super::super) fn of(betas: &[f64]) -> Self {
        let n = betas.len() - 1;
        match betas.iter().enumerate().all(|(k, &beta)| beta == k as f64 / n as f64) {
            true => Betas::Linear(n),
            false => Betas::Given(betas.to_vec()),
        }
    }

    pub(in super::super) fn schedule(self) -> Result<Schedule> {
        match self {
            Betas::Linear(n) => Schedule::linear(n),
            Betas::Given(betas) => Schedule::from_betas(betas),
        }
    }
}

/// The chains of a run, carried out by a crew.
pub(super) fn finished(run: &Run<'_>, start: &Start, crew: &dyn Crew) -> Result<Vec<Finished>> {
    let model = run.engine.path().model();
    let Annealing { chains, seed, precision } = *run.settings;
    let schedule = Betas::of(run.schedule.betas());
    let start = start.bias().to_vec();
    let details = Details { start, schedule, chains, seed, precision };
    let seconds = run.steps.total() as f64 * seconds_per_step(model);
    let task = Task::new(model.sha256(), KIND, &details, chains.div_ceil(GROUP), seconds)?;
    let work = Delegated {
        task,
        model: &|| model.to_bytes(),
        compute: &|groups| computed(run, groups),
        advance: &|groups| run.groups_are_done(groups),
        observer: run.observer,
    };
    let output = work.carried_out_by(crew)?;
    if output.numbers.len() != chains {
        let found = output.numbers.len();
        return Err(Error::orders(format!("the results have {found} chains instead of {chains}")));
    }
    Ok(vec![(output.numbers, vec![])])
}

/// The samples of some groups.
fn computed(run: &Run<'_>, groups: Range<usize>) -> Result<Output> {
    let chains = run.settings.chains.min(groups.end * GROUP) - groups.start * GROUP;
    let blocks: Option<Vec<Finished>> = run.groups_from(groups.start, chains).into_iter().collect();
    let blocks = blocks.ok_or_else(|| Error::Cancelled { reached: "while annealing".into() })?;
    let numbers = blocks.into_iter().flat_map(|(samples, _)| samples).collect();
    Ok(Output { items: groups, numbers, bits: vec![] })
}

impl Run<'_> {
    /// Tells the observer of groups that were computed elsewhere.
    fn groups_are_done(&self, groups: usize) {
        let done = self.steps.add((groups * GROUP * self.schedule.intervals()) as u64);
        let total = self.steps.total();
        self.observer.progress(Progress::new(Phase::Anneal, done.min(total), total));
    }
}

/// Carries out an order for a model.
pub(in super::super) fn carry_out(
    model: &Rbm,
    order: &Order,
    observer: &dyn Observer,
) -> Result<Output> {
    let Details { start, schedule, chains, seed, precision } = order.task.details::<Details>()?;
    let (schedule, settings) = (schedule.schedule()?, Annealing { chains, seed, precision });
    anneal_run(model, &Start::from_bias(start), &schedule, &settings, observer, |run| {
        computed(run, order.items.clone())
    })
}
