//! Elimination against its prediction: `cargo run --release -p lnz --example eliminate [-- WORD ...]`.
//!
//! One line for each model whose name contains a word (for each of them without words), with time and
//! memory as predicted and as measured. Where others use the machine, the time of its processors
//! divided by the threads says more than the clock.

#[path = "support/processor.rs"]
mod processor;

use cap::Cap;
use lnz::{Exact, SparseModel, exact_cost_sparse, exact_log_z_sparse};
use processor::processor_seconds;
use std::alloc::System;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

fn main() -> lnz::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let settings = Exact::FORCED;
    println!(
        "{:<20} {:>7} {:>5} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9}  log Z",
        "model",
        "units",
        "width",
        "search",
        "entries",
        "predicted",
        "clock",
        "cpu",
        "tables",
        "memory"
    );
    let mut largest = 0;
    for (name, make) in models() {
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let model = make()?;
        let before = ALLOCATOR.allocated();
        let start = processor_seconds();
        let cost = exact_cost_sparse(&model, &settings)?;
        let search = processor_seconds() - start;
        let width = cost.width.map_or("-".to_owned(), |width| width.to_string());
        print!("{name:<20} {:>7} {width:>5} {:>7.0}ms", model.units(), 1e3 * search);
        if cost.seconds > 500.0 {
            println!(" {:>9.1e}s", cost.seconds);
            continue;
        }
        // Short ones several times, because processor time comes in steps of 10 ms.
        let times = (0.3 / cost.seconds.max(search)).clamp(1.0, 100.0) as usize;
        let (start, clock) = (processor_seconds(), Instant::now());
        let mut log_z = 0.0;
        for _ in 0..times {
            log_z = exact_log_z_sparse(&model, &settings, &())?;
        }
        // The search for an order is part of it, of the prediction as well.
        let share = 1.0 / times as f64;
        let seconds = share * clock.elapsed().as_secs_f64();
        let processor = share * (processor_seconds() - start);
        // The allocator remembers its largest: said only of a model that needs more than all before.
        let memory = match ALLOCATOR.max_allocated() > largest {
            true => format!("{:.1}MB", (ALLOCATOR.max_allocated() - before) as f64 / 1e6),
            false => "-".to_owned(),
        };
        largest = ALLOCATOR.max_allocated();
        println!(
            " {:>9.2e} {:>9.4}s {seconds:>8.3}s {processor:>8.3}s {:>7.1}MB {memory:>9}  {log_z:.9}",
            cost.states,
            cost.seconds,
            cost.bytes / 1e6,
        );
    }
    Ok(())
}

type Make = Box<dyn Fn() -> lnz::Result<SparseModel>>;

fn models() -> Vec<(String, Make)> {
    let mut models: Vec<(String, Make)> = Vec::new();
    for side in [10, 12, 15, 18, 20, 22, 24, 26, 28] {
        models
            .push((format!("grid {side}x{side}"), Box::new(move || grid(side, side, 1.0, false))));
    }
    for side in [6, 8, 10, 12] {
        models
            .push((format!("torus {side}x{side}"), Box::new(move || grid(side, side, 1.0, true))));
    }
    models.push(("steep grid 16x16".into(), Box::new(|| grid(16, 16, 100.0, false))));
    models.push(("strip 6x5000".into(), Box::new(|| grid(6, 5000, 1.0, false))));
    models.push(("tree of 100,000".into(), Box::new(|| tree(100_000))));
    models.push(("chain of 100,000".into(), Box::new(|| chain(100_000, false))));
    models.push(("ring of 100,000".into(), Box::new(|| chain(100_000, true))));
    models.push(("random of degree 3".into(), Box::new(|| sparse(120, 180))));
    models.push(("grid 80x80".into(), Box::new(|| grid(80, 80, 1.0, false))));
    models
}

/// A number in [-1, 1) that looks random.
fn noise(k: usize) -> f64 {
    let mut z = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn with_noise(units: usize, pairs: &[(usize, usize)], scale: f64) -> lnz::Result<SparseModel> {
    let couplings: Vec<_> =
        pairs.iter().enumerate().map(|(k, &(i, j))| (i, j, 4.0 * scale * noise(k))).collect();
    SparseModel::new((0..units).map(|i| noise(units + i)).collect(), &couplings)
}

fn grid(rows: usize, columns: usize, scale: f64, wrap: bool) -> lnz::Result<SparseModel> {
    let unit = |row: usize, column: usize| row % rows * columns + column % columns;
    let mut pairs = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            if wrap || column + 1 < columns {
                pairs.push((unit(row, column), unit(row, column + 1)));
            }
            if wrap || row + 1 < rows {
                pairs.push((unit(row, column), unit(row + 1, column)));
            }
        }
    }
    with_noise(rows * columns, &pairs, scale)
}

fn tree(units: usize) -> lnz::Result<SparseModel> {
    let parent = |i: usize| ((noise(i) + 1.0) / 2.0 * i as f64) as usize;
    with_noise(units, &(1..units).map(|i| (i, parent(i))).collect::<Vec<_>>(), 1.0)
}

fn chain(units: usize, closed: bool) -> lnz::Result<SparseModel> {
    let pairs = (1..units + usize::from(closed)).map(|i| (i - 1, i % units));
    with_noise(units, &pairs.collect::<Vec<_>>(), 1.0)
}

fn sparse(units: usize, couplings: usize) -> lnz::Result<SparseModel> {
    let unit = |k: usize| ((noise(k) + 1.0) / 2.0 * units as f64) as usize;
    let pairs = (0..couplings).map(|k| (unit(2 * k), unit(2 * k + 1))).filter(|(i, j)| i != j);
    with_noise(units, &pairs.collect::<Vec<_>>(), 1.0)
}
