//! How large energies may be before float64 gives up.

use crate::{Error, Rbm, Result};

/// Up to this every energy, and log Z itself, is below the largest float64, 1.8e308.
const MOST_FINITE: f64 = 1e307;

/// Up to this float64, with its 16 digits, resolves log Z to 0.002 nats.
const MOST_RESOLVED: f64 = 1e13;

/// No energy of the model is larger, the constant aside.
fn largest(model: &Rbm) -> f64 {
    let biases = model.visible_bias().into_iter().chain(model.hidden_bias());
    model.weights().iter().chain(biases).map(|v| v.abs()).sum()
}

/// Refuses energies that may overflow: their sum over states could not be told.
pub(crate) fn check_finite(model: &Rbm) -> Result<()> {
    match largest(model) + model.constant().abs() > MOST_FINITE {
        true => Err(Error::Overflow),
        false => Ok(()),
    }
}

/// Refuses energies that swallow a factor in Z: weights of samples would be noise.
pub(crate) fn check_resolved(model: &Rbm) -> Result<()> {
    let energy = largest(model);
    if energy > MOST_RESOLVED {
        let found = format!("so large that the energies reach {energy:.1e}");
        let expected = format!("energies below {MOST_RESOLVED:e}, where float64 resolves log Z");
        return Err(Error::setting("weights", found, expected));
    }
    Ok(())
}
