//! Planted patterns: few hidden spins, or few kinds of them, that stand for patterns of the visible ones.

use super::disguise::Solved;
use super::numbers::Numbers;
use super::occupations;
use lnz::{Rbm, Result};
use ndarray::{Array1, Array2};

/// A Hopfield model with a few patterns of unequal strength.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Planted {
    pub(crate) visible: usize,
    pub(crate) patterns: usize,
    /// Hidden units for each pattern, all the same.
    pub(crate) copies: usize,
    /// Coupling of a pattern in units of the critical one.
    pub(crate) strength: f64,
    /// Spread of the strengths, as a part of them.
    pub(crate) spread: f64,
}

impl Planted {
    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        let mut numbers = Numbers::new(8, seed);
        let hidden = self.patterns * self.copies;
        // A pattern and its copies are a Curie-Weiss model; its critical coupling is 1 / sqrt(v h).
        let unit = 1.0 / (self.visible as f64 * self.copies as f64).sqrt();
        let mut couplings = Array2::zeros((self.visible, hidden));
        let mut hidden_field = Array1::zeros(hidden);
        for pattern in 0..self.patterns {
            let strength = unit * self.strength * (1.0 + self.spread * numbers.normal()).abs();
            // A nat or so between a pattern and its mirror image.
            let field = numbers.normal() / self.copies as f64;
            let signs: Vec<f64> = (0..self.visible).map(|_| 2.0 * numbers.bit(0.5) - 1.0).collect();
            for copy in 0..self.copies {
                let j = pattern * self.copies + copy;
                hidden_field[j] = field;
                signs.iter().enumerate().for_each(|(i, sign)| couplings[[i, j]] = strength * sign);
            }
        }
        let visible_field = Array1::zeros(self.visible);
        let Solved { model, .. } =
            Solved::from_spins(&couplings, &visible_field, &hidden_field, 0.0)?;
        let log_z = self.log_z(&model)?;
        Solved::new(model, log_z)?.disguised(&mut numbers)
    }

    /// A sum over how many copies of each pattern are on.
    fn log_z(&self, model: &Rbm) -> Result<f64> {
        let of_pattern = |p: usize| (p * self.copies..(p + 1) * self.copies).collect();
        let groups: Vec<Vec<usize>> = (0..self.patterns).map(of_pattern).collect();
        Ok(occupations::log_z(&model.transposed()?, &groups))
    }
}
