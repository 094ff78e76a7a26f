//! Models like those of the UAI competition of 2014, made anew: the same families and sizes, seeded.

use lnz::Spins;

const fn dense(units: usize, ferromagnetic: bool) -> Spins {
    Spins::Dense { visible: units, hidden: units, ferromagnetic }
}

const fn grid(side: usize, strength: f64, wrap: bool) -> Spins {
    Spins::Grid { rows: side, columns: side, strength, wrap }
}

/// The families of the competition that are RBMs with units -1 and +1.
pub const SUITE: [Spins; 14] = [
    dense(20, false),
    dense(21, false),
    dense(22, false),
    dense(20, true),
    dense(21, true),
    dense(22, true),
    grid(10, 2.0, false),
    grid(10, 5.0, true),
    grid(10, 10.0, false),
    grid(10, 10.0, true),
    grid(20, 2.0, false),
    grid(20, 5.0, false),
    grid(20, 10.0, false),
    grid(20, 15.0, false),
];
