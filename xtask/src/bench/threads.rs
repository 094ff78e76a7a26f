//! Two threads against one, in turns.

use super::annealing::{CHAINS, steps};
use super::models::Model;
use super::quartiles::Quartiles;
use super::{Bench, Problem, Side};
use serde_json::json;
use std::fmt::Write;

/// Whole runs of about four seconds on one thread: what a call does once is part of them.
const LONGER: usize = 2;

pub(super) fn report(bench: &mut Bench, models: &[Model]) -> Result<String, Problem> {
    let mut text = format!(
        "## Two threads against one\n\n\
         The time of a run of {CHAINS} chains on one thread over that of the same run on two, in turns:\n\
         median, and quartiles in brackets. The products of PyTorch show what the machine allows.\n\n\
         | size | seconds, one thread | lnz, i16 | two dense products alone |\n|---|---|---|---|\n"
    );
    for model in models {
        println!("threads: {}", model.name);
        let steps = steps(model) * if bench.quick { 1 } else { LONGER };
        let contenders = [(Side::Lnz, "i16", steps), (Side::Peers, "gemm", steps / 5)];
        let mut times = [const { [const { Vec::new() }; 2] }; 2];
        for repetition in 0..bench.repetitions {
            for (times, (side, how, steps)) in times.iter_mut().zip(contenders) {
                for k in 0..2 {
                    let k = (k + repetition) % 2;
                    let request = json!({
                        "do": "ais", "model": model.file, "how": how, "chains": CHAINS,
                        "steps": steps, "threads": k + 1,
                    });
                    times[k].push(bench.measure(side, &request)?.seconds);
                }
            }
        }
        let [lnz, products] = &times;
        let show = |quartiles: Option<Quartiles>| quartiles.map_or("-".into(), Quartiles::show);
        writeln!(
            text,
            "| {} | {} | {} | {} |",
            model.name,
            show(Quartiles::of(lnz[0].iter().copied())),
            show(Quartiles::of_ratios(&lnz[0], &lnz[1])),
            show(Quartiles::of_ratios(&products[0], &products[1])),
        )?;
    }
    Ok(text + "\n")
}
