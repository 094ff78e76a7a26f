//! Ising models on a chess board: black sites are visible, white ones hidden.

use super::disguise::Solved;
use super::numbers::Numbers;
use super::sums::{log_add, log_sum};
use lnz::Result;
use ndarray::{Array1, Array2};
use std::f64::consts::{LN_2, PI};

/// A lattice of spins with couplings of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lattice {
    /// Sites across; sums go over the states of one row of them.
    pub(crate) width: usize,
    pub(crate) length: usize,
    pub(crate) edges: Edges,
    pub(crate) coupling: Coupling,
    /// Spread of the fields.
    pub(crate) field: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edges {
    /// Open on all sides: by a transfer matrix.
    Open,
    /// Closed across, open along: by a transfer matrix.
    Tube,
    /// Closed both ways, equal couplings, no field: by Kaufman's formula.
    Torus,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Coupling {
    /// The same everywhere, with random signs that can be relabelled away.
    Equal(f64),
    /// This or its opposite: a spin glass.
    Signs(f64),
    /// Normal with this spread: a spin glass.
    Gaussian(f64),
}

/// Coupling at which the infinite lattice orders: log(1 + sqrt 2) / 2.
pub(crate) const CRITICAL: f64 = 0.440_686_793_509_771_5;

impl Lattice {
    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        let mut numbers = Numbers::new(9, seed);
        let bonds = self.bonds(&mut numbers);
        let sites = self.width * self.length;
        let field: Vec<f64> = (0..sites).map(|_| self.field * numbers.normal()).collect();
        let log_z = match (self.edges, self.coupling) {
            (Edges::Torus, Coupling::Equal(k)) => torus_log_z(self.width, self.length, k),
            (Edges::Torus, _) => unreachable!("Kaufman's formula is for equal couplings"),
            _ => self.transfer(&bonds, &field),
        };
        let is_black = |site: usize| (site / self.width + site % self.width).is_multiple_of(2);
        let mut place = vec![0; sites];
        let (mut visible, mut hidden) = (Vec::new(), Vec::new());
        for site in 0..sites {
            let layer = if is_black(site) { &mut visible } else { &mut hidden };
            place[site] = layer.len();
            layer.push(field[site]);
        }
        let mut couplings = Array2::zeros((visible.len(), hidden.len()));
        for &(a, b, coupling) in &bonds {
            let (black, white) = if is_black(a) { (a, b) } else { (b, a) };
            couplings[[place[black], place[white]]] += coupling;
        }
        let (visible, hidden) = (Array1::from(visible), Array1::from(hidden));
        Solved::from_spins(&couplings, &visible, &hidden, log_z)?.disguised(&mut numbers)
    }

    /// Pairs of sites with their coupling; the site across first, then the one along.
    fn bonds(&self, numbers: &mut Numbers) -> Vec<(usize, usize, f64)> {
        let (width, length) = (self.width, self.length);
        let mut bonds = Vec::new();
        let mut coupling = || match self.coupling {
            Coupling::Equal(k) => k,
            Coupling::Signs(k) => k * (2.0 * numbers.bit(0.5) - 1.0),
            Coupling::Gaussian(spread) => spread * numbers.normal(),
        };
        for site in 0..width * length {
            let (row, column) = (site / width, site % width);
            if column + 1 < width {
                bonds.push((site, site + 1, coupling()));
            } else if self.edges != Edges::Open && width > 2 {
                bonds.push((site, site + 1 - width, coupling()));
            }
            if row + 1 < length {
                bonds.push((site, site + width, coupling()));
            } else if self.edges == Edges::Torus && length > 2 {
                bonds.push((site, column, coupling()));
            }
        }
        bonds
    }

    /// log Z by adding one site after another to a table over the states of the last row.
    fn transfer(&self, bonds: &[(usize, usize, f64)], field: &[f64]) -> f64 {
        let width = self.width;
        let spin = |state: usize, column: usize| if state >> column & 1 == 1 { 1.0 } else { -1.0 };
        let mut table = vec![f64::NEG_INFINITY; 1 << width];
        table[0] = 0.0;
        for site in 0..width * self.length {
            let (row, column) = (site / width, site % width);
            let bit = 1 << column;
            // In the first row there is nothing above: its column has been off so far.
            let above = bonds.iter().find(|&&(a, b, _)| (a, b) == (site.wrapping_sub(width), site));
            let above = above.map_or(0.0, |bond| bond.2);
            let in_row: Vec<(usize, f64)> = bonds
                .iter()
                .filter(|&&(a, b, _)| {
                    (a == site || b == site) && a / width == row && b / width == row
                })
                .map(|&(a, b, coupling)| (a.min(b) + a.max(b) - site, coupling))
                .filter(|&(other, _)| other < site)
                .map(|(other, coupling)| (other % width, coupling))
                .collect();
            table = (0..table.len())
                .map(|state| {
                    let new = spin(state, column);
                    let from_below = table[state & !bit] - above * new;
                    let from_above = table[state | bit] + above * new;
                    let here: f64 = in_row.iter().map(|&(c, k)| k * new * spin(state, c)).sum();
                    log_add(from_below, from_above) + here + field[site] * new
                })
                .collect();
        }
        log_sum(&table)
    }
}

/// log Z of the Ising model on a torus, without field (Kaufman 1949, equation 48; with all terms, as in
/// Ferdinand and Fisher 1969, equation 2.7).
pub(crate) fn torus_log_z(width: usize, length: usize, coupling: f64) -> f64 {
    let (n, m) = (width, length as f64);
    let twice = 2.0 * coupling;
    let gamma = |l: usize| {
        if l == 0 {
            // Signed: it changes its sign at the critical point.
            return twice + coupling.tanh().ln();
        }
        let cosh = twice.cosh() / twice.tanh() - (PI * l as f64 / n as f64).cos();
        cosh.acosh()
    };
    // Logarithms and signs of products of 2 cosh(m gamma / 2) and 2 sinh(m gamma / 2).
    let product = |first: usize, is_sinh: bool| {
        let (mut log, mut sign) = (0.0, 1.0);
        for r in 0..n {
            let x = m * gamma(2 * r + first) / 2.0;
            let rest = (-2.0 * x.abs()).exp();
            log += x.abs() + if is_sinh { (-rest).ln_1p() } else { rest.ln_1p() };
            if is_sinh && x < 0.0 {
                sign = -sign;
            }
        }
        (log, sign)
    };
    let terms = [product(1, false), product(1, true), product(0, false), product(0, true)];
    let highest = terms.iter().map(|(log, _)| *log).fold(f64::MIN, f64::max);
    let sum: f64 = terms.iter().map(|(log, sign)| sign * (log - highest).exp()).sum();
    let sites = (width * length) as f64;
    sites / 2.0 * (2.0 * twice.sinh()).ln() - LN_2 + highest + sum.ln()
}
