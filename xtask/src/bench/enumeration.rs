//! Exact enumeration in float64: lnz, PyTorch and numpy.

use super::models::Model;
use super::quartiles::{Quartiles, digits};
use super::{Bench, Problem, Side};
use serde_json::json;
use std::fmt::Write;

/// The peers sum over this many of the states; their cost per state does not depend on it.
const PEER_STATES: usize = 1 << 16;

pub(super) fn report(bench: &mut Bench, models: &[&Model]) -> Result<String, Problem> {
    let mut text = format!(
        "## Enumeration\n\nMillion states per second in float64; the ratio is lnz over the peer, \
         repetition by repetition. lnz sums over all states, the peers over {PEER_STATES}.\n\n\
         | model | threads | lnz | PyTorch | numpy | lnz over PyTorch | lnz over numpy |\n\
         |---|---|---|---|---|---|---|\n"
    );
    for model in models {
        for threads in [1, 2] {
            println!("enumerating {}, threads: {threads}", model.name);
            let mut rates = [const { Vec::new() }; 3];
            for _ in 0..bench.repetitions {
                let file = &model.file;
                let lnz = json!({ "do": "enumerate", "model": file, "threads": threads });
                let answer = bench.measure(Side::Lnz, &lnz)?;
                let states = answer.reply["states"].as_f64().ok_or("no states")?;
                rates[0].push(states / answer.seconds * 1e-6);
                for (rates, how) in rates[1..].iter_mut().zip(["torch", "numpy"]) {
                    let request = json!({
                        "do": "enumerate", "model": file, "how": how,
                        "states": PEER_STATES, "threads": threads,
                    });
                    let answer = bench.measure(Side::Peers, &request)?;
                    rates.push(PEER_STATES as f64 / answer.seconds * 1e-6);
                }
            }
            write!(text, "| {} | {threads} ", model.name)?;
            for rates in &rates {
                let middle = Quartiles::of(rates.iter().copied()).ok_or("no repetitions")?;
                write!(text, "| {} ", digits(middle.median))?;
            }
            for peer in &rates[1..] {
                let ratio = Quartiles::of_ratios(&rates[0], peer).ok_or("no repetitions")?;
                write!(text, "| {} ", ratio.show())?;
            }
            text += "|\n";
        }
    }
    text += "\nnumpy uses one thread in all rows.\n\n";
    Ok(text)
}
