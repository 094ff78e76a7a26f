//! Where annealing starts: independent visible units with bias B.

use crate::math::{logit, softplus};
use crate::{Error, Result};
use ndarray::{Array1, ArrayView1};

/// The start distribution `p_0(x) ~ exp(B.x)`, with hidden units free.
///
/// The paper writes `p_0 ~ exp(-B.x)` where it derives B and `exp(+B.x)` everywhere else. With the
/// plus sign, used throughout here, the best B for given means m is `logit(m)`: the negative of the
/// paper's equation for B.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    bias: Array1<f64>,
}

impl Start {
    /// B = 0: every visible state is equally likely.
    pub fn uniform(visible: usize) -> Self {
        Self { bias: Array1::zeros(visible) }
    }

    /// B = logit(eps + (1 - 2 eps) m): the independent units closest to means m in the sense of
    /// Kullback and Leibler, with the means pulled into [eps, 1 - eps].
    pub fn from_means(means: ArrayView1<'_, f64>, epsilon: f64) -> Result<Self> {
        check_epsilon(epsilon)?;
        if let Some((i, m)) = means.indexed_iter().find(|(_, m)| !(0.0..=1.0).contains(*m)) {
            return Err(Error::setting("means", format!("{m} for unit {i}"), "values in [0, 1]"));
        }
        let bias = means.mapv(|m| logit(epsilon + (1.0 - 2.0 * epsilon) * m));
        match bias.indexed_iter().find(|(_, b)| !b.is_finite()) {
            Some((i, _)) => Err(Error::setting(
                "epsilon",
                format!("{epsilon} while the mean of unit {i} is {}", means[i]),
                "a value above 0 when a mean is 0 or 1, such as 0.05",
            )),
            None => Ok(Self { bias }),
        }
    }

    /// A start with this B, which was that of another one.
    pub(crate) fn from_bias(bias: Vec<f64>) -> Self {
        Self { bias: bias.into() }
    }

    /// The same start with every B a float32, as the kernels hold it: any B is valid, as long as
    /// drawing from it and log Z_0 agree.
    pub(crate) fn as_float32(&self) -> Self {
        Self { bias: self.bias.mapv(|b| f64::from(b as f32)) }
    }

    /// B, one value per visible unit.
    pub fn bias(&self) -> &Array1<f64> {
        &self.bias
    }

    /// `log Z_0 = N_h log 2 + sum_i softplus(B_i)`.
    pub fn log_z0(&self, hidden: usize) -> f64 {
        let visible: f64 = self.bias.iter().map(|&b| softplus(b)).sum();
        hidden as f64 * std::f64::consts::LN_2 + visible
    }
}

/// The cut-off must leave the means in order: 0 <= eps < 1/2.
pub(crate) fn check_epsilon(epsilon: f64) -> Result<()> {
    if (0.0..0.5).contains(&epsilon) {
        return Ok(());
    }
    Err(Error::setting("epsilon", epsilon, "a number in [0, 0.5)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn bias_of_a_likely_unit_is_positive() {
        let start = Start::from_means(array![0.9, 0.5, 0.1].view(), 0.0).unwrap();
        assert!((start.bias()[0] - 9f64.ln()).abs() < 1e-14);
        assert_eq!(start.bias()[1], 0.0);
        assert!((start.bias()[2] + 9f64.ln()).abs() < 1e-14);
    }

    #[test]
    fn the_cut_off_keeps_the_bias_finite() {
        let start = Start::from_means(array![0.0, 1.0].view(), 0.05).unwrap();
        assert!((start.bias()[1] - 19f64.ln()).abs() < 1e-12);
        let error = Start::from_means(array![0.0, 0.5].view(), 0.0).unwrap_err();
        assert!(error.to_string().contains("a value above 0 when a mean is 0 or 1"));
        for epsilon in [-0.1, 0.5, f64::NAN] {
            assert!(Start::from_means(array![0.5].view(), epsilon).is_err());
        }
    }

    #[test]
    fn log_z0_counts_all_states_of_the_uniform_start() {
        let log_z0 = Start::uniform(3).log_z0(4);
        assert!((log_z0 - 7.0 * 2f64.ln()).abs() < 1e-14);
    }
}
