//! A model as units and couplings between pairs of them, without a matrix.

mod bytes;

use crate::{Component, Error, Rbm, Result};

/// Units in {0, 1} with biases, and couplings between some pairs of units.
///
/// Its energy is `E(s) = -constant - sum_i b_i s_i - sum_(i,j) w_ij s_i s_j`. The units need not fall
/// into two layers, and memory goes with the number of couplings: a chain of 100,000 units is small.
///
/// ```
/// use lnz::{Exact, SparseModel, exact_log_z_sparse};
/// // A triangle of units, which no RBM is.
/// let model = SparseModel::new(vec![0.0; 3], &[(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)])?;
/// let z = 4.0 + 3.0 * 1f64.exp() + 3f64.exp();
/// let log_z = exact_log_z_sparse(&model, &Exact::FORCED, &())?;
/// assert!((log_z - z.ln()).abs() < 1e-14);
/// # Ok::<(), lnz::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparseModel {
    biases: Vec<f64>,
    constant: f64,
    /// Where the couplings of each unit begin, and after the last unit end.
    starts: Vec<usize>,
    /// Other unit and coupling; by unit, rising. Each pair is in it twice.
    couplings: Vec<(u32, f64)>,
}

impl SparseModel {
    /// A model from the biases of its units and couplings `(i, j, w_ij)`.
    ///
    /// Couplings of the same pair add up; those of zero are left out. Values must be finite.
    pub fn new(biases: Vec<f64>, couplings: &[(usize, usize, f64)]) -> Result<Self> {
        let units = biases.len();
        if u32::try_from(units).is_err() {
            return Err(Error::setting("biases", format!("{units} units"), "fewer than 2^32"));
        }
        if let Some((i, &value)) = biases.iter().enumerate().find(|(_, b)| !b.is_finite()) {
            return Err(Error::NotFinite { tensor: "biases", index: vec![i], value });
        }
        for &(i, j, value) in couplings {
            if i >= units || j >= units || i == j {
                let expected = format!("a pair of two different units below {units}");
                return Err(Error::setting("coupling", format!("({i}, {j})"), expected));
            }
            if !value.is_finite() {
                return Err(Error::NotFinite { tensor: "couplings", index: vec![i, j], value });
            }
        }
        Ok(Self::from_checked(biases, couplings.iter().map(|&(i, j, w)| (i as u32, j as u32, w))))
    }

    /// From couplings that are known to be sound; they are gone through twice.
    fn from_checked(
        biases: Vec<f64>,
        pairs: impl Iterator<Item = (u32, u32, f64)> + Clone,
    ) -> Self {
        let mut starts = vec![0; biases.len() + 1];
        for (i, j, _) in pairs.clone() {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        for unit in 0..biases.len() {
            starts[unit + 1] += starts[unit];
        }
        let mut next = starts.clone();
        let mut couplings = vec![(0, 0.0); starts[biases.len()]];
        for (i, j, weight) in pairs {
            for (from, to) in [(i, j), (j, i)] {
                couplings[next[from as usize]] = (to, weight);
                next[from as usize] += 1;
            }
        }
        drop(next);
        // Sorted, couplings of a pair added, zeros left out; all within the same memory.
        let (mut kept, mut begin) = (0, 0);
        for unit in 0..biases.len() {
            let end = starts[unit + 1];
            couplings[begin..end].sort_by_key(|&(other, _)| other);
            let first = kept;
            for k in begin..end {
                let (other, weight) = couplings[k];
                if kept > first && couplings[kept - 1].0 == other {
                    couplings[kept - 1].1 += weight;
                } else {
                    if kept > first && couplings[kept - 1].1 == 0.0 {
                        kept -= 1;
                    }
                    couplings[kept] = (other, weight);
                    kept += 1;
                }
            }
            if kept > first && couplings[kept - 1].1 == 0.0 {
                kept -= 1;
            }
            begin = end;
            starts[unit + 1] = kept;
        }
        couplings.truncate(kept);
        Self { biases, constant: 0.0, starts, couplings }
    }

    /// The same model with this constant in -E.
    pub fn with_constant(self, constant: f64) -> Result<Self> {
        if !constant.is_finite() {
            return Err(Error::NotFinite { tensor: "constant", index: vec![], value: constant });
        }
        Ok(Self { constant, ..self })
    }

    /// Part of an RBM: first its visible units, then its hidden ones. Leaves the constant out.
    pub(super) fn of_component(model: &Rbm, part: &Component) -> Self {
        let weights = model.weights();
        let first_hidden = part.visible.len() as u32;
        let pairs = (0u32..).zip(&part.visible).flat_map(|(v, &i)| {
            let row = weights.row(i);
            (first_hidden..).zip(&part.hidden).filter_map(move |(h, &j)| {
                let weight = row[j];
                (weight != 0.0).then_some((v, h, weight))
            })
        });
        let visible = part.visible.iter().map(|&i| model.visible_bias()[i]);
        let hidden = part.hidden.iter().map(|&j| model.hidden_bias()[j]);
        Self::from_checked(visible.chain(hidden).collect(), pairs)
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        self.biases.len()
    }

    /// Number of couplings that are not zero.
    pub fn coupled_pairs(&self) -> usize {
        self.couplings.len() / 2
    }

    /// The biases.
    pub fn biases(&self) -> &[f64] {
        &self.biases
    }

    /// The part of -E that does not depend on the units.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// The units that are coupled to one, rising, with the couplings.
    pub fn neighbours(&self, unit: usize) -> &[(u32, f64)] {
        &self.couplings[self.starts[unit]..self.starts[unit + 1]]
    }

    /// Sum of all |biases| and |couplings|.
    pub(in super::super) fn largest_energy(&self) -> f64 {
        let biases: f64 = self.biases.iter().map(|b| b.abs()).sum();
        // Each coupling is there twice; halves cannot overflow where the sum does not.
        biases + self.couplings.iter().map(|(_, w)| 0.5 * w.abs()).sum::<f64>()
    }

    /// Units that are connected by couplings, each group rising.
    pub fn components(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.units()];
        let mut components = Vec::new();
        for first in 0..self.units() {
            if std::mem::replace(&mut seen[first], true) {
                continue;
            }
            let mut component = vec![first as u32];
            let mut done = 0;
            while done < component.len() {
                for &(other, _) in self.neighbours(component[done] as usize) {
                    if !std::mem::replace(&mut seen[other as usize], true) {
                        component.push(other);
                    }
                }
                done += 1;
            }
            component.sort_unstable();
            components.push(component);
        }
        components
    }

    /// The part on some units (rising), whose index becomes their place in the list; `place_of` is
    /// scratch with one value for each unit of the whole.
    pub(super) fn restricted_to(&self, units: &[u32], place_of: &mut Vec<u32>) -> Self {
        place_of.resize(self.units(), u32::MAX);
        for (place, &unit) in (0u32..).zip(units) {
            place_of[unit as usize] = place;
        }
        let mut starts = vec![0];
        let mut couplings = Vec::new();
        for &unit in units {
            let inside = self.neighbours(unit as usize).iter().filter_map(|&(other, weight)| {
                let place = place_of[other as usize];
                (place != u32::MAX).then_some((place, weight))
            });
            couplings.extend(inside);
            starts.push(couplings.len());
        }
        for &unit in units {
            place_of[unit as usize] = u32::MAX;
        }
        let biases = units.iter().map(|&unit| self.biases[unit as usize]).collect();
        Self { biases, constant: 0.0, starts, couplings }
    }
}

impl From<&Rbm> for SparseModel {
    /// First the visible units, then the hidden ones.
    fn from(model: &Rbm) -> Self {
        let visible = (0..model.visible()).collect();
        let all = Component { visible, hidden: (0..model.hidden()).collect() };
        Self { constant: model.constant(), ..Self::of_component(model, &all) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn couplings_of_a_pair_add_up_and_zeros_vanish() {
        let pairs =
            [(0, 1, 2.0), (1, 0, -0.5), (2, 3, 1.0), (3, 2, -1.0), (0, 2, 0.0), (1, 2, 4.0)];
        let model = SparseModel::new(vec![0.0; 4], &pairs).unwrap();
        assert_eq!(model.neighbours(0), [(1, 1.5)]);
        assert_eq!(model.neighbours(1), [(0, 1.5), (2, 4.0)]);
        assert_eq!(model.neighbours(2), [(1, 4.0)]);
        assert_eq!(model.neighbours(3), []);
        assert_eq!((model.units(), model.coupled_pairs()), (4, 2));
        assert_eq!(model.components(), [vec![0, 1, 2], vec![3]]);
    }

    #[test]
    fn bad_couplings_are_named() {
        let of = |pair| SparseModel::new(vec![0.0; 3], &[pair]).unwrap_err().to_string();
        let expected = "expected a pair of two different units below 3";
        assert_eq!(of((1, 1, 1.0)), format!("coupling is (1, 1); {expected}"));
        assert_eq!(of((0, 3, 1.0)), format!("coupling is (0, 3); {expected}"));
        assert!(of((0, 2, f64::NAN)).starts_with("couplings[0, 2] is NaN"));
        let bias = SparseModel::new(vec![0.0, f64::INFINITY], &[]).unwrap_err().to_string();
        assert!(bias.starts_with("biases[1] is inf"), "{bias}");
    }

    #[test]
    fn a_part_keeps_its_inner_couplings() {
        let model =
            SparseModel::new(vec![0.1, 0.2, 0.3, 0.4], &[(0, 1, 1.0), (1, 3, 2.0), (2, 3, 3.0)])
                .unwrap();
        let part = model.restricted_to(&[1, 2, 3], &mut Vec::new());
        let expected = SparseModel::new(vec![0.2, 0.3, 0.4], &[(0, 2, 2.0), (1, 2, 3.0)]).unwrap();
        assert_eq!(part, expected);
    }
}
