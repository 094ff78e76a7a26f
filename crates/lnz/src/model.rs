//! The model: a Restricted Boltzmann Machine with units in {0, 1}.

mod components;
mod layer;
mod turned;

pub use components::Component;
pub(crate) use layer::Layer;

use crate::{Error, Result};
use lnz_kernels::Parameters;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use turned::turned;

/// A Restricted Boltzmann Machine, checked at construction.
///
/// Its energy is `E(x, h) = -constant - b.x - c.h - x.W.h` with visible units x and hidden units h in
/// {0, 1}; the constant is zero unless the model came from units in {-1, +1}.
#[derive(Debug, Clone, PartialEq)]
pub struct Rbm {
    weights: Array2<f64>,
    visible_bias: Array1<f64>,
    hidden_bias: Array1<f64>,
    visible_units: Layer,
    hidden_units: Layer,
    constant: f64,
}

impl Rbm {
    /// A model from `weights` (visible x hidden) and the two biases.
    ///
    /// Zero hidden units are allowed; every value must be finite.
    pub fn new(
        weights: Array2<f64>,
        visible_bias: Array1<f64>,
        hidden_bias: Array1<f64>,
    ) -> Result<Self> {
        let (visible, hidden) = weights.dim();
        if visible == 0 {
            return Err(Error::NoVisibleUnits);
        }
        let lengths =
            [("visible", visible_bias.len(), visible), ("hidden", hidden_bias.len(), hidden)];
        for (layer, found, expected) in lengths {
            if found != expected {
                return Err(Error::BiasLength { layer, found, expected, visible, hidden });
            }
        }
        let mut rows = weights.rows().into_iter();
        // Whole rows, which is fast.
        let bad = rows.position(|row| !row.fold(true, |finite, v| finite & v.is_finite()));
        if let Some(i) = bad
            && let Some((j, &value)) = weights.row(i).indexed_iter().find(|(_, v)| !v.is_finite())
        {
            return Err(Error::NotFinite { tensor: "weights", index: vec![i, j], value });
        }
        for (tensor, bias) in [("visible_bias", &visible_bias), ("hidden_bias", &hidden_bias)] {
            if let Some((i, &value)) = bias.indexed_iter().find(|(_, v)| !v.is_finite()) {
                return Err(Error::NotFinite { tensor, index: vec![i], value });
            }
        }
        // Row-major from here on, whatever the caller's layout was.
        let weights = match weights.is_standard_layout() {
            true => weights,
            false => weights.as_standard_layout().into_owned(),
        };
        let (visible_units, hidden_units) = (Layer::Binary, Layer::Binary);
        Ok(Self { weights, visible_bias, hidden_bias, visible_units, hidden_units, constant: 0.0 })
    }

    /// The {0, 1} model equivalent to one whose units are -1 or +1.
    ///
    /// With s = 2x - 1 and t = 2h - 1 the same energies are obtained from
    /// W' = 4W, b' = 2(b - W 1), c' = 2(c - W^T 1) and the constant sum(W) - sum(b) - sum(c).
    pub fn from_spins(
        weights: Array2<f64>,
        visible_bias: Array1<f64>,
        hidden_bias: Array1<f64>,
    ) -> Result<Self> {
        let spins = Self::new(weights, visible_bias, hidden_bias)?;
        let (w, b, c) = (&spins.weights, &spins.visible_bias, &spins.hidden_bias);
        let constant = w.sum() - b.sum() - c.sum();
        let visible_bias = (b - &w.sum_axis(ndarray::Axis(1))) * 2.0;
        let hidden_bias = (c - &w.sum_axis(ndarray::Axis(0))) * 2.0;
        Ok(Self { constant, ..Self::new(w * 4.0, visible_bias, hidden_bias)? })
    }

    /// Number of visible units.
    pub fn visible(&self) -> usize {
        self.weights.nrows()
    }

    /// Number of hidden units.
    pub fn hidden(&self) -> usize {
        self.weights.ncols()
    }

    /// W, visible x hidden.
    pub fn weights(&self) -> ArrayView2<'_, f64> {
        self.weights.view()
    }

    /// b.
    pub fn visible_bias(&self) -> ArrayView1<'_, f64> {
        self.visible_bias.view()
    }

    /// c.
    pub fn hidden_bias(&self) -> ArrayView1<'_, f64> {
        self.hidden_bias.view()
    }

    /// What values the visible units take.
    pub(crate) fn visible_units(&self) -> Layer {
        self.visible_units
    }

    /// What values the hidden units take.
    pub(crate) fn hidden_units(&self) -> Layer {
        self.hidden_units
    }

    /// All units are 0 or 1: what the kernels, flips of units and sums over states need.
    pub(crate) fn is_binary(&self) -> bool {
        [self.visible_units, self.hidden_units] == [Layer::Binary; 2]
    }

    /// The part of -E that does not depend on the units.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// The same model with this constant in -E.
    pub fn with_constant(self, constant: f64) -> Result<Self> {
        if !constant.is_finite() {
            return Err(Error::NotFinite { tensor: "constant", index: vec![], value: constant });
        }
        Ok(Self { constant, ..self })
    }

    /// Root mean square of the weights; zero without hidden units.
    pub fn weight_rms(&self) -> f64 {
        if self.weights.is_empty() {
            return 0.0;
        }
        let mean = |of: &dyn Fn(f64) -> f64| {
            self.weights.iter().map(|&w| of(w)).sum::<f64>() / self.weights.len() as f64
        };
        match mean(&|w| w * w) {
            // Squares of weights near the end of float64 are beyond it.
            f64::INFINITY => {
                let largest = self.weights.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
                largest * mean(&|w| (w / largest).powi(2)).sqrt()
            }
            mean => mean.sqrt(),
        }
    }

    /// Number of weights that are not zero.
    pub fn coupled_pairs(&self) -> usize {
        self.weights.iter().filter(|weight| **weight != 0.0).count()
    }

    /// Visible and hidden layer exchanged: the same Z, a different annealing run.
    ///
    /// Fails without hidden units, because a model needs a visible layer.
    pub fn transposed(&self) -> Result<Self> {
        let weights = turned(&self.weights);
        Ok(Self {
            constant: self.constant,
            visible_units: self.hidden_units,
            hidden_units: self.visible_units,
            ..Self::new(weights, self.hidden_bias.clone(), self.visible_bias.clone())?
        })
    }

    /// `a_j = c_j + sum_i x_i W_ij`, the input of each hidden unit; x may hold probabilities.
    pub fn hidden_input(&self, x: ArrayView1<'_, f64>) -> Array1<f64> {
        // Row by row, so that units that are off cost nothing.
        let mut input = self.hidden_bias.clone();
        for (&x, row) in x.iter().zip(self.weights.rows()).filter(|(x, _)| **x != 0.0) {
            input.scaled_add(x, &row);
        }
        input
    }

    /// `b_i + sum_j W_ij h_j`, the input of each visible unit.
    pub fn visible_input(&self, h: ArrayView1<'_, f64>) -> Array1<f64> {
        self.weights.dot(&h) + &self.visible_bias
    }

    /// `F(x) = log sum_h exp(-E(x, h))`, the log of the unnormalised probability of x.
    pub fn log_marginal(&self, x: ArrayView1<'_, f64>) -> f64 {
        let hidden = self.hidden_units.log_sum(self.hidden_input(x).into_iter());
        self.constant + self.visible_bias.dot(&x) + hidden
    }

    /// Units reordered: row i of the result is unit `visible_order[i]` of this model.
    pub fn permuted(&self, visible_order: &[usize], hidden_order: &[usize]) -> Result<Self> {
        let whole = Component { visible: visible_order.to_vec(), hidden: hidden_order.to_vec() };
        Ok(Self { constant: self.constant, ..self.restricted_to(&whole)? })
    }
}

impl<'a> From<&'a Rbm> for Parameters<'a> {
    fn from(model: &'a Rbm) -> Self {
        Self {
            weights: model.weights(),
            visible_bias: model.visible_bias(),
            hidden_bias: model.hidden_bias(),
            constant: model.constant,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    pub(super) fn small() -> Rbm {
        Rbm::new(
            array![[1.0, -2.0], [0.5, 0.0], [0.3, 0.7]],
            array![0.1, -0.2, 0.3],
            array![0.4, -0.5],
        )
        .unwrap()
    }

    #[test]
    fn shapes_and_values_are_checked() {
        let w = || Array2::<f64>::zeros((3, 2));
        let message = |r: Result<Rbm>| r.unwrap_err().to_string();
        assert_eq!(
            message(Rbm::new(w(), Array1::zeros(3), Array1::zeros(1))),
            "hidden_bias has 1 values, but weights has 2 hidden units (its shape is 3 visible x 2 hidden)"
        );
        assert!(
            message(Rbm::new(w(), Array1::zeros(2), Array1::zeros(2)))
                .starts_with("visible_bias has 2")
        );
        assert!(matches!(
            Rbm::new(Array2::zeros((0, 2)), Array1::zeros(0), Array1::zeros(2)),
            Err(Error::NoVisibleUnits)
        ));
        let mut bad = w();
        bad[[2, 1]] = f64::NAN;
        assert_eq!(
            message(Rbm::new(bad, Array1::zeros(3), Array1::zeros(2))),
            "weights[2, 1] is NaN; every parameter must be a finite number"
        );
        let bad = array![0.0, f64::INFINITY];
        assert!(message(Rbm::new(w(), Array1::zeros(3), bad)).starts_with("hidden_bias[1] is inf"));
    }

    #[test]
    fn log_marginal_sums_the_hidden_layer() {
        let model = small();
        let x = array![1.0, 0.0, 1.0];
        let mut sum = 0.0;
        for state in 0..4 {
            let h = array![f64::from(state & 1), f64::from(state >> 1)];
            let minus_energy = model.visible_bias().dot(&x)
                + model.hidden_bias().dot(&h)
                + x.dot(&model.weights()).dot(&h);
            sum += f64::exp(minus_energy);
        }
        assert!((model.log_marginal(x.view()) - sum.ln()).abs() < 1e-14);
    }

    #[test]
    fn spins_keep_every_energy() {
        let (w, b, c) = (array![[0.3, -0.2], [0.9, 0.4]], array![0.1, -0.6], array![0.5, 0.2]);
        let model = Rbm::from_spins(w.clone(), b.clone(), c.clone()).unwrap();
        for state in 0..16u32 {
            let unit = |k: u32| f64::from(state >> k & 1);
            let (x, h) = (array![unit(0), unit(1)], array![unit(2), unit(3)]);
            let (s, t) = (&x * 2.0 - 1.0, &h * 2.0 - 1.0);
            let spin = b.dot(&s) + c.dot(&t) + s.dot(&w).dot(&t);
            let binary = model.constant()
                + model.visible_bias().dot(&x)
                + model.hidden_bias().dot(&h)
                + x.dot(&model.weights()).dot(&h);
            assert!((spin - binary).abs() < 1e-14);
        }
    }

    #[test]
    fn transposing_twice_changes_nothing() {
        let model = small();
        assert_eq!(model.transposed().unwrap().transposed().unwrap(), model);
    }

    #[test]
    fn fortran_order_is_read_as_the_same_matrix() {
        let model = small();
        let fortran = model.weights().t().as_standard_layout().into_owned().reversed_axes();
        assert!(!fortran.is_standard_layout());
        let again =
            Rbm::new(fortran, model.visible_bias().to_owned(), model.hidden_bias().to_owned())
                .unwrap();
        assert_eq!(again, model);
        assert!(again.weights().is_standard_layout());
    }
}
