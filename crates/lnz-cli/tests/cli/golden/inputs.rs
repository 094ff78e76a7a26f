//! Data, a schedule and a model that the commands read, from formulas in whole numbers.

use crate::files::Folder;
use ndarray::Array2;

pub(crate) fn write(folder: &Folder) {
    idx(folder, "grey.idx", 60, 4);
    idx(folder, "digits.idx", 6, 28);
    npy(folder, "grey.npy", (40, 16), |n, i| ((n * n * 5 + i * 23 + n * i) % 65) as f64 / 64.0);
    npy(folder, "soft.npy", (30, 16), |n, i| if is_bar(n, i) { 0.96875 } else { 0.03125 });
    npy(folder, "mixed.npy", (43, 42), coupling);
    libsvm(folder, "bars.txt", (16, 16), is_bar);
    libsvm(folder, "web.txt", (30, 300), |n, i| i == 299 || (n * n * 3 + i * 7 + n * i) % 10 < 2);
    folder.text("betas.txt", "0\n0.05\n0.1\n0.2\n0.35\n0.5\n0.65\n0.8\n0.9\n1\n");
}

/// Pictures of 4 x 4 with some full rows.
fn is_bar(n: usize, i: usize) -> bool {
    n >> (i / 4) & 1 == 1
}

/// Weights of two blocks: one of 40 x 40 units that can only be sampled, and a small one.
fn coupling(i: usize, j: usize) -> f64 {
    let weight = (((i * 7 + j * 3 + i * j) % 11) as f64 - 5.5) / 8.0;
    if (i < 40) == (j < 40) { weight } else { 0.0 }
}

/// Square pictures of bytes of all values.
fn idx(folder: &Folder, name: &str, count: u32, side: u32) {
    let mut bytes = vec![0, 0, 8, 3];
    bytes.extend([count, side, side].into_iter().flat_map(u32::to_be_bytes));
    let grey = |k: u32| ((k * k * 7 + k / 16 * 13 + k * 31) % 256) as u8;
    bytes.extend((0..count * side * side).map(grey));
    std::fs::write(folder.path(name), bytes).unwrap();
}

fn npy(folder: &Folder, name: &str, shape: (usize, usize), value: fn(usize, usize) -> f64) {
    let values = Array2::from_shape_fn(shape, |(n, i)| value(n, i));
    folder.npy(name, values.into_dyn().view());
}

/// Examples of zeros and ones with three labels.
fn libsvm(
    folder: &Folder,
    name: &str,
    (rows, columns): (usize, usize),
    is_on: fn(usize, usize) -> bool,
) {
    let line = |n: usize| {
        let ones = (0..columns).filter(|i| is_on(n, *i)).map(|i| format!(" {}:1", i + 1));
        format!("{}{}\n", n % 3, ones.collect::<String>())
    };
    folder.text(name, &(0..rows).map(line).collect::<String>());
}
