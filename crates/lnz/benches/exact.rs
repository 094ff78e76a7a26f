//! Exact log Z: `cargo bench -p lnz --bench exact`, in states per second on one thread.

use divan::Bencher;
use divan::counter::ItemsCount;
use lnz::{Rbm, exact_log_z};
use ndarray::{Array1, Array2};

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the pool is new");
    divan::main();
}

/// (summed units, enumerated units, largest weight)
const MODELS: [(usize, usize, f64); 5] =
    [(784, 20, 0.5), (180, 20, 0.5), (180, 20, 20.0), (60, 20, 0.5), (180, 18, 1000.0)];

#[divan::bench(args = MODELS, sample_count = 9)]
fn exact(bencher: Bencher<'_, '_>, (visible, hidden, scale): (usize, usize, f64)) {
    let weight = |(i, j)| scale * ((i * 37 + j * 101 + i * j) % 41) as f64 / 20.0 - scale;
    let weights = Array2::from_shape_fn((visible, hidden), weight);
    let model = Rbm::new(weights, Array1::zeros(visible), Array1::zeros(hidden)).expect("valid");
    bencher
        .counter(ItemsCount::new(1usize << hidden))
        .bench(|| exact_log_z(&model, &()).expect("small enough"));
}
