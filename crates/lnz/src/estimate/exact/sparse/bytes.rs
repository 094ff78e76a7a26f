//! A sparse model as bytes, for sending it to another process.

use super::SparseModel;
use crate::{Error, Result};

/// The first bytes; another layout would have another number.
const LAYOUT: &[u8] = b"lnz-sparse-1\n";

impl SparseModel {
    /// `lnz-sparse-1` and a line feed, the numbers of units and of couplings as unsigned 64-bit integers, the
    /// constant and the biases as float64, then the two units of each coupling as unsigned 32-bit integers
    /// and its weight as float64. All are little-endian.
    pub(in super::super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = LAYOUT.to_vec();
        for count in [self.units(), self.coupled_pairs()] {
            bytes.extend((count as u64).to_le_bytes());
        }
        bytes.extend(self.constant.to_le_bytes());
        bytes.extend(self.biases.iter().flat_map(|bias| bias.to_le_bytes()));
        for unit in 0..self.units() {
            let unit_bytes = (unit as u32).to_le_bytes();
            for (other, weight) in self.neighbours(unit).iter().filter(|&&(j, _)| j as usize > unit)
            {
                bytes.extend(unit_bytes);
                bytes.extend(other.to_le_bytes());
                bytes.extend(weight.to_le_bytes());
            }
        }
        bytes
    }

    /// The model of [`SparseModel::to_bytes`].
    pub(in super::super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let broken = || Error::orders("the bytes of a sparse model are damaged");
        let words = bytes.strip_prefix(LAYOUT).ok_or_else(broken)?.as_chunks::<8>();
        let ([units, pairs, constant, words @ ..], []) = words else { return Err(broken()) };
        let [units, pairs] = [units, pairs].map(|word| u64::from_le_bytes(*word) as usize);
        if pairs.checked_mul(2).and_then(|n| n.checked_add(units)) != Some(words.len()) {
            return Err(broken());
        }
        let (biases, couplings) = words.split_at(units);
        let biases = biases.iter().map(|word| f64::from_le_bytes(*word)).collect();
        let coupling = |&[ends, weight]: &[[u8; 8]; 2]| {
            let [i, j] = [u64::from_le_bytes(ends) & 0xffff_ffff, u64::from_le_bytes(ends) >> 32];
            (i as usize, j as usize, f64::from_le_bytes(weight))
        };
        let couplings: Vec<_> = couplings.as_chunks().0.iter().map(coupling).collect();
        Self::new(biases, &couplings)?.with_constant(f64::from_le_bytes(*constant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_comes_back_from_its_bytes_and_nothing_else_does() {
        let pairs = [(0, 1, 1.5), (3, 1, -2.0), (2, 3, 1e-300)];
        let model = SparseModel::new(vec![0.1, 0.2, -0.3, 4.0], &pairs).unwrap();
        let model = model.with_constant(0.5).unwrap();
        let bytes = model.to_bytes();
        assert_eq!(SparseModel::from_bytes(&bytes).unwrap(), model);
        for cut in 0..bytes.len() {
            assert!(SparseModel::from_bytes(&bytes[..cut]).is_err());
        }
        let mut huge = bytes;
        huge[LAYOUT.len()..LAYOUT.len() + 16].fill(255);
        assert!(SparseModel::from_bytes(&huge).is_err());
    }
}
