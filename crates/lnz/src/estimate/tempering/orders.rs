//! Iterations of a ladder as orders: an item is a group of columns.

use super::columns::{Advance, Moved};
use super::ladder::{Ladder, Pair, Seen, State};
use crate::chains::{Held, engine};
use crate::crew::bits::{from_hex, pack, size_of, to_hex, unpack};
use crate::crew::{Order, Output, Task};
use crate::estimate::anneal::seconds_per_step;
use crate::estimate::delegate::{Delegated, crew_for};
use crate::path::Path;
use crate::{Error, Observer, Precision, Rbm, Result, Start};
use lnz_kernels::Flips;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// The name of these orders.
pub(in super::super) const KIND: &str = "temper";

/// Numbers of a pair of rungs, and those of a column besides.
const OF_A_PAIR: usize = 6;
const OF_A_COLUMN: usize = 4;

/// Steps of a large annealing run that a sweep and its exchanges take as long as: the tables of a rung are
/// for 16 or 32 chains, and exchanges weigh both rungs. A guess, from the minute that 784 x 500 units take.
const STEPS_OF_A_SWEEP: f64 = 5.0;

/// All that decides the columns besides the model.
#[derive(Serialize, Deserialize)]
struct Details {
    /// The bias of the start distribution.
    start: Vec<f64>,
    betas: Vec<f64>,
    guesses: Vec<f64>,
    columns: usize,
    /// The states by column, then by rung, as bits in hexadecimal.
    states: String,
    iterations: usize,
    keep: Option<usize>,
    seed: u64,
    precision: Precision,
}

/// The columns after some iterations, carried out by a crew; `None` if there is none, or too little to do.
pub(super) fn by_crew(advance: &Advance<'_>, hash: &OnceLock<String>) -> Option<Result<Moved>> {
    let path = advance.engine.path();
    let &Advance { ladder, iterations, keep, seed, observer, .. } = advance;
    let steps = iterations * ladder.betas.len() * advance.columns();
    let seconds = steps as f64 * STEPS_OF_A_SWEEP * seconds_per_step(path.model());
    let crew = crew_for(observer, seconds)?;
    let mut states = Vec::new();
    ladder.states.iter().flatten().for_each(|state| pack(state, &mut states));
    let details = Details {
        start: path.bias().to_vec(),
        betas: ladder.betas.clone(),
        guesses: ladder.guesses.clone(),
        columns: advance.columns(),
        states: to_hex(&states),
        iterations,
        keep,
        seed,
        precision: advance.engine.precision(),
    };
    let hash = hash.get_or_init(|| path.model().sha256()).clone();
    let moved = || {
        let task = Task::new(hash, KIND, &details, advance.groups(), seconds)?;
        let work = Delegated {
            task,
            model: &|| path.model().to_bytes(),
            compute: &|groups| packed(advance, groups),
            // Rounds are reported, but not their parts.
            advance: &|_| (),
            observer,
        };
        unpacked(advance, &work.carried_out_by(crew)?)
    };
    Some(moved())
}

/// The columns of some groups after the iterations, as numbers and bits.
fn packed(advance: &Advance<'_>, groups: Range<usize>) -> Result<Output> {
    let Moved { states, seen } = advance.compute(groups.clone())?;
    let (mut numbers, mut bits) = (Vec::new(), Vec::new());
    for (states, seen) in states.iter().zip(&seen) {
        numbers.extend(numbers_of(seen));
        states.iter().chain(&seen.kept).for_each(|state| pack(state, &mut bits));
    }
    Ok(Output { items: groups, numbers, bits })
}

/// What a column has seen, without the states that it kept.
fn numbers_of(seen: &Seen) -> impl Iterator<Item = f64> {
    let of_pair = |pair: &Pair| {
        let &Pair { tries, rejected, works, bennett } = pair;
        [tries, rejected, works[0], works[1], bennett[0], bennett[1]]
    };
    let of_column = [seen.round_trips as f64, seen.bridge, seen.log_density.0, seen.log_density.1];
    of_column.into_iter().chain(seen.pairs.iter().flat_map(of_pair))
}

fn seen_of(numbers: &[f64], iterations: usize, kept: Vec<State>) -> Seen {
    let (of_column, of_pairs) = numbers.split_at(OF_A_COLUMN);
    let of_pair = |&[tries, rejected, up, down, low, high]: &[f64; OF_A_PAIR]| Pair {
        tries,
        rejected,
        works: [up, down],
        bennett: [low, high],
    };
    Seen {
        iterations,
        pairs: of_pairs.as_chunks().0.iter().map(of_pair).collect(),
        round_trips: of_column[0] as usize,
        bridge: of_column[1],
        log_density: (of_column[2], of_column[3]),
        kept,
    }
}

fn unpacked(advance: &Advance<'_>, output: &Output) -> Result<Moved> {
    let &Advance { ladder, iterations, keep, .. } = advance;
    let (rungs, columns) = (ladder.betas.len(), advance.columns());
    let units = advance.engine.path().model().visible();
    let numbers = OF_A_COLUMN + OF_A_PAIR * (rungs - 1);
    let states = rungs + keep.map_or(0, |keep| iterations / keep);
    let bytes = states * size_of(units);
    if output.numbers.len() != columns * numbers || output.bits.len() != columns * bytes {
        return Err(Error::orders(format!("the results are not those of {columns} columns")));
    }
    let mut moved = Moved::default();
    for column in 0..columns {
        let bits = output.bits[column * bytes..][..bytes].chunks_exact(size_of(units));
        let mut states: Vec<State> = bits.map(|bits| unpack(bits, units)).collect();
        let kept = states.split_off(rungs);
        moved.states.push(states);
        moved.seen.push(seen_of(&output.numbers[column * numbers..][..numbers], iterations, kept));
    }
    Ok(moved)
}

impl Details {
    /// The ladder before the iterations, if it is one for so many units.
    fn ladder(&self, units: usize) -> Option<Ladder> {
        let Self { betas, guesses, columns, .. } = self;
        let (bits, rungs, size) = (from_hex(&self.states)?, betas.len(), size_of(units));
        let fits = self.start.len() == units
            && units > 0
            && rungs >= 2
            && guesses.len() == rungs - 1
            && *columns > 0
            && self.keep != Some(0)
            && Some(bits.len()) == size.checked_mul(rungs)?.checked_mul(*columns);
        fits.then(|| {
            let state = |bits: &[u8]| unpack(bits, units);
            let column = |bits: &[u8]| bits.chunks_exact(size).map(state).collect();
            let states = bits.chunks_exact(size * rungs).map(column).collect();
            Ladder { betas: betas.clone(), states, guesses: guesses.clone() }
        })
    }
}

/// Carries out an order for a model.
pub(in super::super) fn carry_out(
    model: &Rbm,
    order: &Order,
    observer: &dyn Observer,
) -> Result<Output> {
    let details: Details = order.task.details()?;
    let unfit = || Error::orders("an order to temper does not fit its model");
    let ladder = details.ladder(model.visible()).ok_or_else(unfit)?;
    let Details { iterations, keep, seed, precision, .. } = details;
    let path = Path::new(Cow::Borrowed(model), &Start::from_bias(details.start));
    let held = Held::new(model, precision, observer)?;
    let engine = engine(path, Flips::default(), &held);
    let (engine, ladder) = (&*engine, &ladder);
    let advance = Advance { engine, ladder, iterations, keep, seed, observer };
    match advance.groups() == order.task.items {
        true => packed(&advance, order.items.clone()),
        false => Err(unfit()),
    }
}
