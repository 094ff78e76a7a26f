//! The hash of a model, and its bytes: the same for the same parameters, whatever file they came from.

use crate::{Error, Rbm, Result};
use ndarray::{Array1, Array2};
use sha2::{Digest, Sha256};

/// The first bytes of what is hashed; another layout would have another number.
const LAYOUT: &[u8] = b"lnz-rbm-1\n";

/// Numbers that go into the hash together.
const CHUNK: usize = 1 << 12;

impl Rbm {
    /// SHA-256 of the parameters in hexadecimal.
    ///
    /// What is hashed: the bytes `lnz-rbm-1` and a line feed, the numbers of visible and hidden
    /// units as unsigned 64-bit integers, then as float64 the weights (visible unit by visible unit), the
    /// visible bias, the hidden bias and the constant that is added to log Z. All are little-endian, and
    /// a negative zero counts as zero. Units are 0 and 1: a model of other units is hashed as converted.
    ///
    /// ```
    /// use ndarray::array;
    /// let model = lnz::Rbm::new(array![[0.5, -1.0]], array![0.25], array![0.0, 2.0])?;
    /// let same = lnz::Rbm::new(array![[0.5, -1.0]], array![0.25], array![-0.0, 2.0])?;
    /// assert_eq!(model.sha256(), same.sha256());
    /// assert_ne!(model.sha256(), model.transposed()?.sha256());
    /// # Ok::<(), lnz::Error>(())
    /// ```
    pub fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(LAYOUT);
        if !self.is_binary() {
            hash.update(format!("{:?} {:?}\n", self.visible_units(), self.hidden_units()));
        }
        for units in [self.visible(), self.hidden()] {
            hash.update((units as u64).to_le_bytes());
        }
        let constant = self.constant();
        let (weights, b, c) = (self.weights(), self.visible_bias(), self.hidden_bias());
        let mut bytes = Vec::with_capacity(8 * CHUNK);
        for number in weights.iter().chain(&b).chain(&c).chain([&constant]) {
            // A negative zero and zero add up to zero.
            bytes.extend((number + 0.0).to_le_bytes());
            if bytes.len() == 8 * CHUNK {
                hash.update(&bytes);
                bytes.clear();
            }
        }
        hash.update(&bytes);
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The bytes that [`Rbm::sha256`] hashes: the whole model, for sending it to another process.
    ///
    /// ```
    /// let model = lnz::Gwgm::HARDEST.generate(0)?;
    /// assert_eq!(lnz::Rbm::from_bytes(&model.to_bytes())?, model);
    /// # Ok::<(), lnz::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let units = [self.visible(), self.hidden()];
        let mut bytes = LAYOUT.to_vec();
        bytes.extend(units.iter().flat_map(|&units| (units as u64).to_le_bytes()));
        let (weights, b, c) = (self.weights(), self.visible_bias(), self.hidden_bias());
        let numbers = weights.iter().chain(&b).chain(&c).copied().chain([self.constant()]);
        bytes.extend(numbers.flat_map(|number| (number + 0.0).to_le_bytes()));
        bytes
    }

    /// The model of [`Rbm::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let broken = || Error::orders("the bytes of a model are damaged");
        let words = bytes.strip_prefix(LAYOUT).ok_or_else(broken)?.as_chunks::<8>();
        let ([visible, hidden, numbers @ ..], []) = words else { return Err(broken()) };
        let [n, m] = [visible, hidden].map(|word| u64::from_le_bytes(*word) as usize);
        let size =
            n.checked_mul(m).and_then(|size| size.checked_add(n)?.checked_add(m)?.checked_add(1));
        if size != Some(numbers.len()) {
            return Err(broken());
        }
        let mut numbers = numbers.iter().map(|word| f64::from_le_bytes(*word));
        let mut take = |count: usize| numbers.by_ref().take(count).collect::<Vec<f64>>();
        let weights = Array2::from_shape_vec((n, m), take(n * m)).map_err(|_| broken())?;
        let (b, c, constant) = (Array1::from(take(n)), Array1::from(take(m)), take(1)[0]);
        Rbm::new(weights, b, c)?.with_constant(constant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn bytes_that_are_not_a_model_are_refused() {
        let model = Rbm::new(array![[1.0], [-2.0]], array![0.5, 0.0], array![3.0]).unwrap();
        let model = model.with_constant(0.25).unwrap();
        let bytes = model.to_bytes();
        assert_eq!(Rbm::from_bytes(&bytes).unwrap(), model);
        for cut in 0..bytes.len() {
            assert!(Rbm::from_bytes(&bytes[..cut]).is_err());
        }
        let mut huge = bytes;
        huge[LAYOUT.len()..LAYOUT.len() + 16].fill(255);
        assert!(Rbm::from_bytes(&huge).is_err());
    }

    /// From Python: `hashlib.sha256(b"lnz-rbm-1\n" + struct.pack("<QQ6d", 2, 1, 1, -2, 0.5, 0, 3, 0))`.
    #[test]
    fn the_hash_is_what_other_programs_compute() {
        let model = Rbm::new(array![[1.0], [-2.0]], array![0.5, 0.0], array![3.0]).unwrap();
        let expected = "42a5a27d1d5fb6c4da269c310b37f634261bec45982558eb4423c3570a1f98d7";
        assert_eq!(model.sha256(), expected);
    }

    #[test]
    fn every_parameter_counts_and_so_does_its_place() {
        let base = Rbm::new(Array2::zeros((3, 2)), Array1::zeros(3), Array1::zeros(2)).unwrap();
        let mut seen = vec![base.sha256(), base.transposed().unwrap().sha256()];
        let mut add = |model: Rbm| {
            let hash = model.sha256();
            assert!(!seen.contains(&hash));
            seen.push(hash);
        };
        for k in 0..6 {
            let mut weights = Array2::zeros((3, 2));
            weights[[k / 2, k % 2]] = 1.0;
            add(Rbm::new(weights, Array1::zeros(3), Array1::zeros(2)).unwrap());
        }
        for k in 0..3 {
            let mut bias = Array1::zeros(3);
            bias[k] = 1.0;
            add(Rbm::new(Array2::zeros((3, 2)), bias, Array1::zeros(2)).unwrap());
        }
        for k in 0..2 {
            let mut bias = Array1::zeros(2);
            bias[k] = 1.0;
            add(Rbm::new(Array2::zeros((3, 2)), Array1::zeros(3), bias).unwrap());
        }
        add(base.with_constant(1.0).unwrap());
    }

    #[test]
    fn a_matrix_that_lies_the_other_way_in_memory_is_the_same() {
        let rows = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
        let columns = rows.t().as_standard_layout().into_owned().reversed_axes();
        let model = |w| Rbm::new(w, Array1::zeros(2), Array1::zeros(3)).unwrap().sha256();
        assert_eq!(model(rows), model(columns));
    }
}
