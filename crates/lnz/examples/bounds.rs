//! Proven bounds against exact values: `cargo run --release -p lnz --example bounds [-- WORD ...]`.
//!
//! One line for each model whose name contains a word (for each of them without words): log Z where it
//! can be had, and how far the floor and the ceiling are from it; without it, the bounds themselves.
//! `entries=N` and `passes=N` change the settings.

#[path = "support/processor.rs"]
mod processor;

use lnz::{Bounds, Exact, SparseModel};
use lnz::{exact_cost_sparse, exact_log_z_sparse, proven_bounds_sparse};
use processor::processor_seconds;
use std::time::Instant;

fn main() -> lnz::Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let mut settings = Bounds::default();
    words.retain(|word| match word.split_once('=') {
        Some(("entries", n)) => n.parse().map(|n| settings.entries = n).is_err(),
        Some(("passes", n)) => n.parse().map(|n| settings.passes = n).is_err(),
        _ => true,
    });
    println!(
        "{:<28} {:>6} {:>5} {:>5} {:>12} {:>10} {:>10} {:>9} {:>9}",
        "model", "units", "width", "cuts", "log Z", "floor", "ceiling", "clock", "cpu"
    );
    for (name, make) in models() {
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let model = make()?;
        let cost = exact_cost_sparse(&model, &Exact::FORCED)?;
        let log_z = match cost.seconds < 20.0 {
            true => Some(exact_log_z_sparse(&model, &Exact::FORCED, &())?),
            false => None,
        };
        let (clock, start) = (Instant::now(), processor_seconds());
        let found = proven_bounds_sparse(&model, &settings, &())?;
        let (clock, cpu) = (clock.elapsed().as_secs_f64(), processor_seconds() - start);
        let Some(found) = found else {
            println!("{name:<28} {:>6} too dense", model.units());
            continue;
        };
        let (floor, ceiling) = match log_z {
            Some(log_z) => {
                (format!("{:+.3}", found.floor - log_z), format!("{:+.3}", found.ceiling - log_z))
            }
            None => (format!("{:.2}", found.floor), format!("{:.2}", found.ceiling)),
        };
        let log_z = log_z.map_or("-".to_owned(), |log_z| format!("{log_z:.3}"));
        println!(
            "{name:<28} {:>6} {:>5} {:>5} {log_z:>12} {floor:>10} {ceiling:>10} {clock:>8.2}s {cpu:>8.2}s",
            model.units(),
            found.width,
            found.cuts,
        );
    }
    Ok(())
}

type Make = Box<dyn Fn() -> lnz::Result<SparseModel>>;

fn models() -> Vec<(String, Make)> {
    let mut models: Vec<(String, Make)> = Vec::new();
    for side in [16, 20, 24, 40, 80] {
        for strength in [0.5, 1.0, 2.0, 5.0] {
            let name = format!("grid {side}x{side} J {strength}");
            models.push((name, Box::new(move || grid(side, strength, 0.1))));
        }
    }
    for side in [12, 24] {
        // Below, at and above the critical coupling, where one bound must cover both phases.
        for coupling in [0.3, 0.44, 0.6] {
            let name = format!("ferromagnet {side}x{side} K {coupling}");
            models.push((name, Box::new(move || ferromagnet(side, coupling))));
        }
    }
    for side in [4, 8, 16] {
        for strength in [0.25, 0.5, 1.0, 2.0] {
            let name = format!("chimera {side}x{side} J {strength}");
            models.push((name, Box::new(move || chimera(side, strength))));
        }
    }
    for (layer, degree, scale) in [
        (60, 3, 1.0),
        (60, 3, 4.0),
        (300, 3, 1.0),
        (300, 3, 4.0),
        (300, 5, 0.5),
        (300, 5, 1.0),
        (300, 5, 3.0),
        (100, 10, 0.3),
        (100, 10, 1.0),
    ] {
        let name = format!("random {layer}x{layer} of {degree}, {scale}");
        models.push((name, Box::new(move || random(layer, degree, scale))));
    }
    for (layer, scale) in [(22, 0.1), (22, 0.3), (22, 1.0), (22, 3.0), (60, 0.1), (60, 0.3)] {
        let name = format!("dense {layer}x{layer}, {scale}");
        models.push((name, Box::new(move || random(layer, layer, scale))));
    }
    models
}

/// A number in [0, 1) that looks random.
fn noise(k: usize) -> f64 {
    let mut z = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Spins with fields in [-h, h] and couplings in [-J, J], or of J everywhere.
fn spins(
    units: usize,
    pairs: &[(usize, usize)],
    field: f64,
    coupling: impl Fn(usize) -> f64,
) -> lnz::Result<SparseModel> {
    let mut biases: Vec<f64> =
        (0..units).map(|i| 2.0 * field * (2.0 * noise(pairs.len() + i) - 1.0)).collect();
    let mut constant = -biases.iter().sum::<f64>() / 2.0;
    let mut couplings = Vec::new();
    for (k, &(i, j)) in pairs.iter().enumerate() {
        let weight = coupling(k);
        biases[i] -= 2.0 * weight;
        biases[j] -= 2.0 * weight;
        constant += weight;
        couplings.push((i, j, 4.0 * weight));
    }
    SparseModel::new(biases, &couplings)?.with_constant(constant)
}

fn grid_pairs(side: usize) -> Vec<(usize, usize)> {
    let right = (0..side * side).filter(|i| i % side + 1 < side).map(|i| (i, i + 1));
    right.chain((0..side * (side - 1)).map(|i| (i, i + side))).collect()
}

fn grid(side: usize, strength: f64, field: f64) -> lnz::Result<SparseModel> {
    spins(side * side, &grid_pairs(side), field, |k| strength * (2.0 * noise(k) - 1.0))
}

fn ferromagnet(side: usize, coupling: f64) -> lnz::Result<SparseModel> {
    spins(side * side, &grid_pairs(side), 0.0, |_| coupling)
}

/// The graph of an annealer: cells of 4 + 4 units, all of one side coupled to all of the other, one side
/// to the same units of the cells above and below, the other to those on the left and right.
fn chimera(side: usize, strength: f64) -> lnz::Result<SparseModel> {
    let unit = |row: usize, column: usize, half: usize, k: usize| {
        ((row * side + column) * 2 + half) * 4 + k
    };
    let mut pairs = Vec::new();
    for row in 0..side {
        for column in 0..side {
            for k in 0..4 {
                pairs.extend((0..4).map(|l| (unit(row, column, 0, k), unit(row, column, 1, l))));
                if row + 1 < side {
                    pairs.push((unit(row, column, 0, k), unit(row + 1, column, 0, k)));
                }
                if column + 1 < side {
                    pairs.push((unit(row, column, 1, k), unit(row, column + 1, 1, k)));
                }
            }
        }
    }
    spins(8 * side * side, &pairs, 0.1, |k| strength * (2.0 * noise(k) - 1.0))
}

/// An RBM whose hidden units have so many normal weights each.
fn random(layer: usize, degree: usize, scale: f64) -> lnz::Result<SparseModel> {
    let normal = |k: usize| {
        let radius = (-2.0 * noise(2 * k).max(1e-300).ln()).sqrt();
        scale * radius * (std::f64::consts::TAU * noise(2 * k + 1)).cos()
    };
    let mut couplings = Vec::new();
    for hidden in 0..layer {
        // The units with the smallest of random numbers.
        let mut visible: Vec<usize> = (0..layer).collect();
        visible.sort_by(|a, b| {
            noise(hidden * layer + a + 7).total_cmp(&noise(hidden * layer + b + 7))
        });
        for &i in &visible[..degree] {
            couplings.push((i, layer + hidden, normal(couplings.len() + 1000)));
        }
    }
    SparseModel::new((0..2 * layer).map(|i| 0.5 * normal(i + 1_000_000)).collect(), &couplings)
}
