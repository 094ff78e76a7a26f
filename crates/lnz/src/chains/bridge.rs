//! Evaluates the real model in float64 where a path on rounded weights ends.

use crate::Rbm;
use crate::observer::Observer;
use lnz_kernels::Marginals;
use ndarray::{Array1, ArrayView1};

/// How the log marginal of the real model is evaluated.
///
/// There are two ways because their last bits differ, and results under a seed stay what they are.
pub(crate) enum Bridge {
    /// By the kernels, many rows at once.
    InTiles(Box<Marginals>),
    /// Row by row.
    RowByRow {
        /// The inputs of the hidden units are wanted afterwards: not computed twice.
        keeps_inputs: bool,
    },
}

impl Bridge {
    pub(crate) fn in_tiles(model: &Rbm) -> Self {
        Self::InTiles(Box::new(Marginals::new(model)))
    }

    /// `b.x + sum_j softplus(a_j)` of each row; the inputs a go to `inputs` if they are to be kept. False
    /// if the observer asked to stop before the end.
    pub(super) fn log_marginals(
        &self,
        model: &Rbm,
        rows: &[f64],
        out: &mut [f64],
        inputs: &mut Vec<Array1<f64>>,
        observer: &dyn Observer,
    ) -> bool {
        match self {
            Self::InTiles(marginals) => {
                let rule = Box::new(|| observer.cancelled());
                if !marginals.of_rows_until(rule, rows, out) {
                    return false;
                }
                out.iter_mut().for_each(|log_marginal| *log_marginal -= model.constant());
            }
            Self::RowByRow { keeps_inputs } => {
                let rows = rows.chunks_exact(model.visible()).map(ArrayView1::from);
                for (x, out) in rows.zip(out) {
                    if observer.cancelled() {
                        return false;
                    }
                    let a = model.hidden_input(x);
                    let hidden = model.hidden_units().log_sum(a.iter().copied());
                    *out = model.visible_bias().dot(&x) + hidden;
                    if *keeps_inputs {
                        inputs.push(a);
                    }
                }
            }
        }
        true
    }
}
