//! How large energies may be before float64 gives up.

use crate::{Error, Rbm, Result};

/// Up to this every energy, and log Z itself, is below the largest float64, 1.8e308.
const MOST_FINITE: f64 = 1e307;

/// Up to this float64, with its 16 digits, resolves log Z to 0.002 nats.
const MOST_RESOLVED: f64 = 1e13;

/// No energy of the model is larger, the constant aside.
pub(crate) fn largest(model: &Rbm) -> f64 {
    let biases = model.visible_bias().into_iter().chain(model.hidden_bias());
    model.weights().iter().chain(biases).map(|v| v.abs()).sum()
}

/// Refuses energies that may overflow: their sum over states could not be told.
pub(crate) fn check_finite(model: &Rbm) -> Result<()> {
    check_energy(largest(model) + model.constant().abs())
}

/// The same for the largest energy that a model may have.
pub(crate) fn check_energy(largest: f64) -> Result<()> {
    match largest > MOST_FINITE {
        true => Err(Error::Overflow),
        false => Ok(()),
    }
}

/// Refuses energies that swallow a factor in Z: weights of samples would be noise.
pub(crate) fn check_resolved(model: &Rbm) -> Result<()> {
    let energy = largest(model);
    if energy > MOST_RESOLVED {
        return Err(Error::Unresolved { energy });
    }
    Ok(())
}

/// How far rounding alone may put log Z off, where that is worth a word: of energies that are not
/// resolved. Zero otherwise.
pub(crate) fn rounding_of(model: &Rbm) -> f64 {
    match largest(model) {
        energy if energy > MOST_RESOLVED => energy * f64::EPSILON,
        _ => 0.0,
    }
}
