//! What changes the look of a model and its log Z by a known amount: order, labels, orientation, pendants.

use super::numbers::Numbers;
use super::sums::softplus;
use lnz::{Rbm, Result};
use ndarray::{Array1, Array2, Axis, s};

/// A model, without a constant, and its log Z.
#[derive(Debug, Clone)]
pub(crate) struct Solved {
    pub(crate) model: Rbm,
    pub(crate) log_z: f64,
}

impl Solved {
    /// A constant in -E goes from the model into its log Z.
    pub(super) fn new(model: Rbm, log_z: f64) -> Result<Self> {
        let log_z = log_z - model.constant();
        Ok(Self { model: model.with_constant(0.0)?, log_z })
    }

    /// From spins -1 and +1 with the energy -s.J.t - f.s - g.t: s = 2v - 1 and t = 2h - 1.
    pub(super) fn from_spins(
        couplings: &Array2<f64>,
        visible_field: &Array1<f64>,
        hidden_field: &Array1<f64>,
        log_z: f64,
    ) -> Result<Self> {
        let visible_bias = (visible_field - &couplings.sum_axis(Axis(1))) * 2.0;
        let hidden_bias = (hidden_field - &couplings.sum_axis(Axis(0))) * 2.0;
        let constant = couplings.sum() - visible_field.sum() - hidden_field.sum();
        let model = Rbm::new(couplings * 4.0, visible_bias, hidden_bias)?;
        Self::new(model.with_constant(constant)?, log_z)
    }

    /// Labels, order and orientation drawn at random.
    pub(crate) fn disguised(self, numbers: &mut Numbers) -> Result<Self> {
        let relabelled = self.relabelled(numbers)?.shuffled(numbers)?;
        if numbers.bit(0.5) > 0.0 { relabelled.transposed() } else { Ok(relabelled) }
    }

    /// On and off exchanged in about half of the units.
    ///
    /// With v = 1 - v' in unit i: b_i v_i + v_i W_i.h = b_i + W_i.h - b_i v'_i - v'_i W_i.h.
    fn relabelled(self, numbers: &mut Numbers) -> Result<Self> {
        let mut weights = self.model.weights().to_owned();
        let mut visible_bias = self.model.visible_bias().to_owned();
        let mut hidden_bias = self.model.hidden_bias().to_owned();
        let mut constant = 0.0;
        for i in 0..weights.nrows() {
            if numbers.bit(0.5) > 0.0 {
                constant += visible_bias[i];
                visible_bias[i] *= -1.0;
                hidden_bias += &weights.row(i);
                weights.row_mut(i).mapv_inplace(|w| -w);
            }
        }
        for j in 0..weights.ncols() {
            if numbers.bit(0.5) > 0.0 {
                constant += hidden_bias[j];
                hidden_bias[j] *= -1.0;
                visible_bias += &weights.column(j);
                weights.column_mut(j).mapv_inplace(|w| -w);
            }
        }
        Ok(Self {
            model: Rbm::new(weights, visible_bias, hidden_bias)?,
            log_z: self.log_z - constant,
        })
    }

    pub(super) fn shuffled(self, numbers: &mut Numbers) -> Result<Self> {
        let visible_order = numbers.order(self.model.visible());
        let hidden_order = numbers.order(self.model.hidden());
        Ok(Self { model: self.model.permuted(&visible_order, &hidden_order)?, ..self })
    }

    pub(crate) fn transposed(self) -> Result<Self> {
        Ok(Self { model: self.model.transposed()?, ..self })
    }

    /// Units that hang on a single other one, `visible` and `hidden` of them, shuffled among the rest.
    ///
    /// A unit with bias a that hangs on another with weight w adds softplus(a) to log Z, and raises the
    /// bias of the other by the difference of softplus(a + w) and softplus(a). With that taken off
    /// beforehand, what is left is the model as it was.
    pub(super) fn with_pendants(
        self,
        visible: usize,
        hidden: usize,
        numbers: &mut Numbers,
    ) -> Result<Self> {
        let (v, h) = self.model.weights().dim();
        let mut weights = Array2::zeros((v + visible, h + hidden));
        weights.slice_mut(s![..v, ..h]).assign(&self.model.weights());
        let mut visible_bias = self.model.visible_bias().to_vec();
        let mut hidden_bias = self.model.hidden_bias().to_vec();
        let mut log_z = self.log_z;
        // Hangs a unit on one of the first: tells its bias, which one, and the weight.
        let mut hang_on = |others: &mut [f64]| {
            let (bias, weight) = (numbers.normal(), 3.0 * numbers.normal());
            let other = numbers.below(others.len());
            others[other] -= softplus(bias + weight) - softplus(bias);
            log_z += softplus(bias);
            (bias, other, weight)
        };
        for i in v..v + visible {
            let (bias, j, weight) = hang_on(&mut hidden_bias[..h]);
            visible_bias.push(bias);
            weights[[i, j]] = weight;
        }
        for j in h..h + hidden {
            let (bias, i, weight) = hang_on(&mut visible_bias[..v]);
            hidden_bias.push(bias);
            weights[[i, j]] = weight;
        }
        let model = Rbm::new(weights, visible_bias.into(), hidden_bias.into())?;
        Self { model, log_z }.shuffled(numbers)
    }

    /// Models side by side: their log Z add up.
    pub(super) fn side_by_side(parts: &[Self]) -> Result<Self> {
        let models: Vec<Rbm> = parts.iter().map(|part| part.model.clone()).collect();
        let log_z = parts.iter().map(|part| part.log_z).sum();
        Ok(Self { model: Rbm::block_diagonal(&models)?, log_z })
    }
}
