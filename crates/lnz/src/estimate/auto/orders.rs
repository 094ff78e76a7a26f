//! Rounds as orders: an item is a group of chains, or an island of chains that are resampled together.

use super::batch::{Batch, Ends, engine_of};
use super::marks::{Asked, Marks};
use super::tally::Chain;
use crate::chains::Held;
use crate::crew::bits::{pack, size_of, unpack};
use crate::crew::{Order, Output, Task};
use crate::estimate::anneal::{Betas, seconds_per_step};
use crate::estimate::delegate::{Delegated, crew_for};
use crate::{Error, Observer, Precision, Rbm, Result, Start};
use lnz_kernels::Flips;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::OnceLock;

/// The name of these orders.
pub(in super::super) const KIND: &str = "sample";

/// All that decides the chains besides the model.
#[derive(Serialize, Deserialize)]
struct Details {
    /// The bias of the start distribution.
    start: Vec<f64>,
    betas: Betas,
    chains: usize,
    seed: u64,
    precision: Precision,
    flips: usize,
    resampled: Option<usize>,
    others: bool,
    /// What is wanted in place of states.
    #[serde(skip_serializing_if = "Option::is_none")]
    marks: Option<Asked>,
}

/// The chains of a batch, carried out by a crew; `None` if there is none, or too little to do.
pub(super) fn by_crew(
    batch: &Batch<'_>,
    start: &Start,
    flips: usize,
    hash: &OnceLock<String>,
) -> Option<Result<Ends>> {
    let output = carried_out(batch, start, flips, hash, None)?;
    Some(output.and_then(|(output, _)| unpacked(batch, output)))
}

/// The same where no states are wanted, but the marks of the chains.
pub(super) fn marked_by_crew(
    batch: &Batch<'_>,
    start: &Start,
    flips: usize,
    hash: &OnceLock<String>,
    marks: &Marks<'_>,
) -> Option<Result<Vec<Chain>>> {
    let model = batch.engine.path().model();
    let asked = marks.asked(model);
    let batch = &Batch { others: asked.others(), ..*batch };
    let chains = |(output, asked): (Output, Option<Asked>)| match asked {
        Some(asked) if output.numbers.len() == batch.chains => {
            marks.read(&asked, model, batch.item(), &output.numbers, &output.bits)
        }
        _ => Err(not_of(batch.chains)),
    };
    Some(carried_out(batch, start, flips, hash, Some(asked))?.and_then(chains))
}

/// The joined output of a batch, and what was asked for.
fn carried_out(
    batch: &Batch<'_>,
    start: &Start,
    flips: usize,
    hash: &OnceLock<String>,
    marks: Option<Asked>,
) -> Option<Result<(Output, Option<Asked>)>> {
    let model = batch.engine.path().model();
    let &Batch { betas, chains, seed, resampled, others, observer, .. } = batch;
    let seconds = (chains * betas.len()) as f64 * seconds_per_step(model);
    let crew = crew_for(observer, seconds)?;
    let details = Details {
        start: start.bias().to_vec(),
        betas: Betas::of(betas),
        chains,
        seed,
        precision: batch.engine.precision(),
        flips,
        resampled,
        others,
        marks,
    };
    let hash = hash.get_or_init(|| model.sha256()).clone();
    let output = || {
        let delegated = Delegated {
            task: Task::new(hash, KIND, &details, batch.items(), seconds)?,
            model: &|| model.to_bytes(),
            compute: &|items| computed(batch, details.marks.as_ref(), items),
            advance: &|_| {},
            observer,
        };
        let output = delegated.carried_out_by(crew)?;
        Ok((output, details.marks))
    };
    Some(output())
}

/// The marks of the chains of some items, or the states in which they ended.
fn computed(batch: &Batch<'_>, marks: Option<&Asked>, items: Range<usize>) -> Result<Output> {
    let ends = batch.compute(items.clone())?;
    if let Some(marks) = marks {
        let bits = marks.answer(batch.engine.path().model(), batch.item(), &ends)?;
        return Ok(Output { items, numbers: ends.samples, bits });
    }
    let mut bits = Vec::new();
    for chain in 0..ends.samples.len() {
        pack(&ends.states[chain], &mut bits);
        if let Some(other) = ends.others.get(chain) {
            pack(other, &mut bits);
        }
    }
    Ok(Output { items, numbers: ends.samples, bits })
}

fn unpacked(batch: &Batch<'_>, output: Output) -> Result<Ends> {
    let model = batch.engine.path().model();
    let (n, m) = (model.visible(), if batch.others { model.hidden() } else { 0 });
    let (first, size) = (size_of(n), size_of(n) + size_of(m));
    if output.numbers.len() != batch.chains || output.bits.len() != size * batch.chains {
        return Err(not_of(batch.chains));
    }
    let chains = output.bits.chunks_exact(size.max(1));
    Ok(Ends {
        samples: output.numbers,
        states: chains.clone().map(|bits| unpack(&bits[..first], n)).collect(),
        others: match batch.others {
            true => chains.map(|bits| unpack(&bits[first..], m)).collect(),
            false => vec![],
        },
    })
}

fn not_of(chains: usize) -> Error {
    Error::orders(format!("the results are not those of {chains} chains"))
}

/// Carries out an order for a model.
pub(in super::super) fn carry_out(
    model: &Rbm,
    order: &Order,
    observer: &dyn Observer,
) -> Result<Output> {
    let details: Details = order.task.details()?;
    let Details { chains, seed, resampled, others, flips, ref marks, .. } = details;
    let marks = marks.as_ref();
    let start = Start::from_bias(details.start);
    let fits = marks.is_none_or(|marks| marks.fits(model) && marks.others() == others);
    if start.bias().len() != model.visible() || chains == 0 || resampled == Some(0) || !fits {
        return Err(Error::orders("an order to sample does not fit its model"));
    }
    let flips = Flips { visible: flips, hidden: 0 };
    let held = Held::new(model, details.precision, observer)?;
    let engine = engine_of(model, &start, flips, &held);
    let betas = details.betas.schedule()?;
    let (engine, betas) = (&*engine, betas.betas());
    let batch = Batch { engine, betas, chains, seed, resampled, others, observer };
    match batch.items() == order.task.items {
        true => computed(&batch, marks, order.items.clone()),
        false => Err(Error::orders("an order to sample has the wrong number of items")),
    }
}
