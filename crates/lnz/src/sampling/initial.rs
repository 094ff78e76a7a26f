//! First states of the chains that sample the model for its means.

use crate::{Error, Observer, Rbm, Result};
use lnz_kernels::random::Random;
use nalgebra::{DMatrix, DVector};
use ndarray::Array1;
use serde::{Deserialize, Serialize};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// The five initial states of the paper, a) to e).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum InitialState {
    /// All units off.
    Zero,
    /// All units on.
    One,
    /// Each unit on with probability 1/2, drawn for each chain.
    Random,
    /// Mean field: `x_i = 1` where `b_i + sum_j W_ij > 0`.
    #[serde(rename = "mf")]
    MeanField,
    /// Pseudoinverse: `x = -(W^+)^T c`, rounded at 1/2.
    #[serde(rename = "ps")]
    Pseudoinverse,
}

impl InitialState {
    /// The state that every chain starts from; `None` when each chain draws its own.
    pub(crate) fn common_state(
        self,
        model: &Rbm,
        observer: &dyn Observer,
    ) -> Result<Option<Array1<f64>>> {
        let visible = model.visible();
        Ok(match self {
            InitialState::Zero => Some(Array1::zeros(visible)),
            InitialState::One => Some(Array1::ones(visible)),
            InitialState::Random => None,
            InitialState::MeanField => Some(mean_field(model)),
            InitialState::Pseudoinverse => Some(pseudoinverse(model, observer)?),
        })
    }
}

pub(crate) fn random_state(visible: usize, random: &mut Random) -> Array1<f64> {
    (0..visible).map(|_| f64::from(random.bits() >> 63 == 1)).collect()
}

/// The row sum of the *extended* matrix, so the bias counts; the paper's text leaves this open.
fn mean_field(model: &Rbm) -> Array1<f64> {
    let row_sum = model.weights().sum_axis(ndarray::Axis(1)) + model.visible_bias();
    row_sum.mapv(|s| f64::from(s > 0.0))
}

/// The minimum-norm solution of `W^T x = -c` in the least-squares sense, then x > 1/2.
///
/// The decomposition takes minutes for thousands of units and cannot be stopped, so it has a thread of its
/// own. Once the observer asks to stop, nobody waits for it any more.
fn pseudoinverse(model: &Rbm, observer: &dyn Observer) -> Result<Array1<f64>> {
    let (visible, hidden) = model.weights().dim();
    if hidden == 0 {
        return Ok(Array1::zeros(visible));
    }
    let transposed = DMatrix::from_fn(hidden, visible, |j, i| model.weights()[[i, j]]);
    let target = DVector::from_iterator(hidden, model.hidden_bias().iter().map(|c| -c));
    let (sender, receiver) = mpsc::channel();
    // A receiver that has gone is one that asked to stop.
    std::thread::spawn(move || drop(sender.send(solve(transposed, &target))));
    loop {
        match receiver.recv_timeout(BETWEEN_QUESTIONS) {
            Ok(state) => return Ok(state),
            Err(RecvTimeoutError::Timeout) if observer.cancelled() => {
                return Err(Error::Cancelled { reached: "while computing a pseudoinverse".into() });
            }
            Err(RecvTimeoutError::Timeout) => {}
            // The thread could not go on: as without singular vectors.
            Err(RecvTimeoutError::Disconnected) => return Ok(Array1::zeros(visible)),
        }
    }
}

/// Time between two looks at the observer.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(20);

fn solve(transposed: DMatrix<f64>, target: &DVector<f64>) -> Array1<f64> {
    let (hidden, visible) = transposed.shape();
    let decomposition = transposed.svd(true, true);
    // The usual cut-off of small singular values, as in numpy's pinv with float64.
    let largest = decomposition.singular_values.max();
    let smallest_kept = largest * f64::EPSILON * visible.max(hidden) as f64;
    match decomposition.solve(target, smallest_kept) {
        Ok(x) => x.iter().map(|&x| f64::from(x > 0.5)).collect(),
        // Only without singular vectors, which were asked for above.
        Err(_) => Array1::zeros(visible),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    #[test]
    fn mean_field_counts_the_bias() {
        let model = Rbm::new(array![[1.0, -0.5], [1.0, -0.5]], array![0.0, -1.0], array![0.0, 0.0])
            .unwrap();
        assert_eq!(mean_field(&model), array![1.0, 0.0]);
    }

    #[test]
    fn pseudoinverse_solves_for_the_stationary_point() {
        // W^T x = -c with the solution x = (1, 0, 1), also when W has more rows than columns.
        let square = array![[2.0, 0.0, 1.0], [0.0, 1.0, 0.5], [1.0, 0.0, -1.0]];
        let x = array![1.0, 0.0, 1.0];
        let c = -x.dot(&square);
        let model = Rbm::new(square, Array1::zeros(3), c).unwrap();
        assert_eq!(pseudoinverse(&model, &()).unwrap(), x);

        let tall = array![[1.0], [0.0], [1.0]];
        let model = Rbm::new(tall, Array1::zeros(3), array![-2.0]).unwrap();
        assert_eq!(pseudoinverse(&model, &()).unwrap(), array![1.0, 0.0, 1.0]);
    }

    #[test]
    fn degenerate_weights_have_an_initial_state() {
        let zero = Rbm::new(Array2::zeros((3, 2)), Array1::zeros(3), Array1::ones(2)).unwrap();
        assert_eq!(pseudoinverse(&zero, &()).unwrap(), Array1::<f64>::zeros(3));
        let no_hidden = Rbm::new(Array2::zeros((3, 0)), Array1::ones(3), Array1::zeros(0)).unwrap();
        assert_eq!(pseudoinverse(&no_hidden, &()).unwrap(), Array1::<f64>::zeros(3));
        assert_eq!(mean_field(&no_hidden), Array1::<f64>::ones(3));
    }
}
