//! The families of the UAI competitions whose partition function is known: spins on grids and in RBMs.

use crate::{Error, Rbm, Result};
use lnz_kernels::random::{Purpose, Random};
use ndarray::{Array1, Array2};

/// A family of models with units -1 and +1, as in the UAI competitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spins {
    /// An Ising grid, like `grid20x20.f5`: an RBM whose layers are the two colours of a chess board.
    /// Couplings are uniform in [-strength, strength], fields in [-1, 1].
    Grid {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// The largest coupling, the `f` of the competition's names.
        strength: f64,
        /// Closed to a torus; both sides must then be even and at least four.
        wrap: bool,
    },
    /// A dense RBM, like `rbm_20` and `rbm_ferro_20`: couplings and fields are normal.
    Dense {
        /// Visible units.
        visible: usize,
        /// Hidden units.
        hidden: usize,
        /// Couplings count by their absolute value.
        ferromagnetic: bool,
    },
}

impl Spins {
    /// One model of the family, in units 0 and 1; its log Z is that of the spins.
    pub fn generate(&self, seed: u64) -> Result<Rbm> {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        match *self {
            Self::Dense { visible, hidden, ferromagnetic } => {
                let weights = Array2::from_shape_simple_fn((visible, hidden), || {
                    let coupling = random.normal();
                    if ferromagnetic { coupling.abs() } else { coupling }
                });
                let mut fields = |units| Array1::from_shape_simple_fn(units, || random.normal());
                Rbm::from_spins(weights, fields(visible), fields(hidden))
            }
            Self::Grid { rows, columns, strength, wrap } => {
                check_grid(rows, columns, strength, wrap)?;
                // Black fields, the first among them, are visible units, in the order of reading.
                let cells = rows * columns;
                let is_black = |cell: usize| (cell / columns + cell % columns).is_multiple_of(2);
                let mut counts = [0, 0];
                let place: Vec<usize> = (0..cells)
                    .map(|cell| {
                        let count = &mut counts[usize::from(!is_black(cell))];
                        *count += 1;
                        *count - 1
                    })
                    .collect();
                let [visible, hidden] = counts;
                let mut weights = Array2::zeros((visible, hidden));
                let mut between = |a: usize, b: usize, coupling: f64| {
                    let (black, white) = if is_black(a) { (a, b) } else { (b, a) };
                    weights[[place[black], place[white]]] = coupling;
                };
                for cell in 0..cells {
                    let (row, column) = (cell / columns, cell % columns);
                    let mut coupling = || strength * (2.0 * random.uniform() - 1.0);
                    if wrap || column + 1 < columns {
                        between(cell, row * columns + (column + 1) % columns, coupling());
                    }
                    if wrap || row + 1 < rows {
                        between(cell, (row + 1) % rows * columns + column, coupling());
                    }
                }
                let mut fields =
                    |units| Array1::from_shape_simple_fn(units, || 2.0 * random.uniform() - 1.0);
                Rbm::from_spins(weights, fields(visible), fields(hidden))
            }
        }
    }

    /// Visible and hidden units; None if there are more than can be counted.
    pub fn shape(&self) -> Option<(usize, usize)> {
        match *self {
            Self::Dense { visible, hidden, .. } => Some((visible, hidden)),
            Self::Grid { rows, columns, .. } => {
                let cells = rows.checked_mul(columns)?;
                Some((cells.div_ceil(2), cells / 2))
            }
        }
    }

    /// `rbm_20`, `rbm_ferro_20`, `grid20x20.f5` or `grid10x10.f5.wrap`, as the competition has it.
    pub fn name(&self) -> String {
        match *self {
            Self::Dense { visible, hidden, ferromagnetic } => {
                let kind = if ferromagnetic { "rbm_ferro" } else { "rbm" };
                match visible == hidden {
                    true => format!("{kind}_{visible}"),
                    false => format!("{kind}_{visible}x{hidden}"),
                }
            }
            Self::Grid { rows, columns, strength, wrap } => {
                format!("grid{rows}x{columns}.f{strength}{}", if wrap { ".wrap" } else { "" })
            }
        }
    }
}

fn check_grid(rows: usize, columns: usize, strength: f64, wrap: bool) -> Result<()> {
    if !strength.is_finite() {
        return Err(Error::setting("strength", strength, "a finite number"));
    }
    for (side, count) in [("rows", rows), ("columns", columns)] {
        if count == 0 {
            return Err(Error::setting(side, count, "at least 1"));
        }
        // An odd ring has no two colours, and on one of two both neighbours are the same.
        if wrap && (count < 4 || !count.is_multiple_of(2)) {
            return Err(Error::setting(side, count, "an even number of at least 4 on a torus"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Spins = Spins::Grid { rows: 4, columns: 6, strength: 2.0, wrap: false };

    #[test]
    fn a_grid_has_the_couplings_of_a_grid_within_its_strength() {
        let open = GRID.generate(1).unwrap();
        assert_eq!((open.visible(), open.hidden(), open.coupled_pairs()), (12, 12, 4 * 5 + 3 * 6));
        let torus = Spins::Grid { rows: 4, columns: 6, strength: 2.0, wrap: true };
        assert_eq!(torus.generate(1).unwrap().coupled_pairs(), 2 * 24);
        // A coupling J of spins is a weight of 4J.
        assert!(open.weights().iter().all(|w| w.abs() <= 8.0));
        assert!(open.weights().iter().any(|w| w.abs() > 4.0));
        assert_eq!(open, GRID.generate(1).unwrap());
        assert_ne!(open, GRID.generate(2).unwrap());
        assert_eq!(GRID.shape(), Some((12, 12)));
    }

    #[test]
    fn ferromagnetic_couplings_are_positive() {
        let family = |ferromagnetic| Spins::Dense { visible: 5, hidden: 7, ferromagnetic };
        let model = family(true).generate(3).unwrap();
        assert!(model.weights().iter().all(|&w| w > 0.0));
        let signed = family(false).generate(3).unwrap();
        assert_eq!(signed.weights().mapv(f64::abs), model.weights());
    }

    #[test]
    fn names_are_those_of_the_competition() {
        assert_eq!(GRID.name(), "grid4x6.f2");
        let wrapped = Spins::Grid { rows: 10, columns: 10, strength: 5.0, wrap: true };
        assert_eq!(wrapped.name(), "grid10x10.f5.wrap");
        let ferro = Spins::Dense { visible: 20, hidden: 20, ferromagnetic: true };
        assert_eq!(ferro.name(), "rbm_ferro_20");
    }

    #[test]
    fn a_torus_needs_even_sides() {
        let torus = |rows| Spins::Grid { rows, columns: 4, strength: 1.0, wrap: true };
        for rows in [0, 2, 5] {
            let error = torus(rows).generate(0).unwrap_err().to_string();
            assert!(error.starts_with(&format!("rows is {rows}; expected")), "{error}");
        }
    }
}
