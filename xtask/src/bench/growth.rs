//! How the cost of lnz grows with the size of the model and the number of chains.

use super::models::{self, Model};
use super::quartiles::{Quartiles, digits};
use super::{Bench, Problem, Side};
use serde_json::json;
use std::fmt::Write;

const SIZES: [usize; 7] = [100, 200, 400, 800, 1024, 2048, 4096];
const CHAINS: [usize; 9] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

pub(super) fn report(bench: &mut Bench, flagship: &Model) -> Result<String, Problem> {
    let mut text = String::from(
        "## Growth of the cost\n\nOne thread, 1024 chains, n visible and n hidden units; weights \
         N(0, 0.4 / sqrt(n)), visible biases -1.\n\
         Without the fixed cost of a call.\n\n\
         | n | i16: microseconds per chain-step | per million weights | i32 | per million weights |\n\
         |---|---|---|---|---|\n",
    );
    let largest = if bench.quick { 1024 } else { 4096 };
    for n in SIZES.into_iter().filter(|&n| n <= largest) {
        println!("growth with the size: {n} x {n}");
        let model = models::square(bench, n)?;
        let steps = (150_000_000 / (n * n)).clamp(24, 2048);
        let mut cells = String::new();
        for how in ["i16", "i32"] {
            let (time, used) = measure(bench, &model, how, 1024, steps)?;
            if used != how {
                return Err(format!("{how} was too coarse for {}", model.name).into());
            }
            let relative = time.median * 1e6 / (n * n) as f64;
            write!(cells, "| {} | {} ", time.show(), digits(relative))?;
        }
        writeln!(text, "| {n} {cells}|")?;
    }
    writeln!(
        text,
        "\nThe {} model, one thread, 16 bits asked for, against the number of chains (the tables of \
         partial sums are shared by up to 1024 chains):\n\n\
         | chains | precision used | microseconds per chain-step |\n|---|---|---|",
        flagship.name
    )?;
    for chains in CHAINS {
        println!("growth with the chains: {chains}");
        let steps = (131_072 / chains).clamp(128, 1024);
        let (time, used) = measure(bench, flagship, "i16", chains, steps)?;
        writeln!(text, "| {chains} | {used} | {} |", time.show())?;
    }
    Ok(text + "\n")
}

fn measure(
    bench: &mut Bench,
    model: &Model,
    how: &str,
    chains: usize,
    steps: usize,
) -> Result<(Quartiles, String), Problem> {
    let mut times = Vec::new();
    let mut used = String::new();
    for _ in 0..bench.repetitions.min(5) {
        let file = &model.file;
        let request = json!({
            "do": "ais", "model": file, "how": how, "chains": chains, "steps": steps, "threads": 1,
        });
        let answer = bench.measure(Side::Lnz, &request)?;
        // As in the comparison, what a call does once drops out.
        let few = steps / 4;
        let short = json!({
            "do": "ais", "model": file, "how": how, "chains": chains, "steps": few, "threads": 1,
        });
        let short = bench.measure(Side::Lnz, &short)?.seconds;
        used = answer.reply["how"].as_str().unwrap_or("unknown").to_owned();
        times.push((answer.seconds - short) * 1e6 / (chains * (steps - few)) as f64);
    }
    Ok((Quartiles::of(times).ok_or("no repetitions")?, used))
}
