//! Families of seeded models whose log Z is known, from easy to hard.

pub(crate) mod banded;
pub(crate) mod numbers;
mod patterns;

use banded::Banded;
use lnz::{Gwgm, Rbm, Result, exact_log_z};
use numbers::Numbers;
use patterns::{Prototypes, Trained};

/// A family of models with a way to their exact log Z that `auto` without shortcuts does not have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Family {
    /// Gaussian weights: by enumeration.
    Gaussian(Gwgm),
    /// Shuffled models of a family side by side: the sum of their log Z.
    Blocks(Box<Family>, usize),
    /// Hidden units as prototypes of visible states: by enumeration of the hidden layer.
    Prototypes(Prototypes),
    /// Contrastive divergence on noisy prototypes: by enumeration of the hidden layer.
    Trained(Trained),
    /// Hidden units that see a window of the visible ones: by a transfer matrix.
    Banded(Banded),
}

impl Family {
    /// The kind of model, in a word.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Family::Gaussian(_) => "gaussian",
            Family::Blocks(..) => "blocks",
            Family::Prototypes(_) => "prototypes",
            Family::Trained(_) => "trained",
            Family::Banded(_) => "banded",
        }
    }

    /// Kind, size and parameters.
    pub(crate) fn name(&self) -> String {
        let kind = self.kind();
        let moments = |g: &Gwgm| {
            let Gwgm { mu_mu, sigma_mu, mu_sigma, sigma_sigma, lambda, .. } = g;
            format!("({mu_mu}, {sigma_mu}, {mu_sigma}, {sigma_sigma}, {lambda})")
        };
        match self {
            Family::Gaussian(g) => format!("{kind} {}x{} {}", g.visible, g.hidden, moments(g)),
            Family::Blocks(family, blocks) => format!("{blocks} {kind} of {}", family.name()),
            Family::Prototypes(p) => {
                format!("{kind} {}x{}, strength {}", p.visible, p.hidden, p.strength)
            }
            Family::Trained(t) => format!("{kind} {}x{}, {} epochs", t.visible, t.hidden, t.epochs),
            Family::Banded(b) => {
                format!("{kind} {}x{}, mean {}, spread {}", b.visible, b.hidden, b.mean, b.spread)
            }
        }
    }

    /// Whether making and sampling a model takes no more than about a second.
    pub(crate) fn is_quick(&self) -> bool {
        match self {
            Family::Gaussian(_) | Family::Prototypes(_) => true,
            Family::Trained(trained) => trained.epochs <= 100,
            Family::Blocks(..) => false,
            Family::Banded(band) => band.visible <= 100 && band.spread <= 4.0,
        }
    }

    /// One model of the family and its log Z.
    pub(crate) fn generate(&self, seed: u64) -> Result<(Rbm, f64)> {
        let model = match self {
            Family::Gaussian(family) => family.generate(seed)?,
            Family::Blocks(family, blocks) => return shuffled(family, *blocks as u64, seed),
            Family::Prototypes(family) => family.generate(seed)?,
            Family::Trained(family) => family.generate(seed)?,
            Family::Banded(family) => family.generate(seed)?,
        };
        let log_z = match self {
            Family::Banded(_) => banded::log_z(&model),
            _ => exact_log_z(&model, &())?,
        };
        Ok((model, log_z))
    }
}

/// Models of a family side by side, in random order of their units.
fn shuffled(family: &Family, blocks: u64, seed: u64) -> Result<(Rbm, f64)> {
    let parts: Vec<(Rbm, f64)> = (blocks * seed..blocks * (seed + 1))
        .map(|part| family.generate(part))
        .collect::<Result<_>>()?;
    let log_z = parts.iter().map(|(_, log_z)| log_z).sum();
    let models: Vec<Rbm> = parts.into_iter().map(|(model, _)| model).collect();
    let model = Rbm::block_diagonal(&models)?;
    let mut numbers = Numbers::new(4, seed);
    let visible_order = numbers.order(model.visible());
    let hidden_order = numbers.order(model.hidden());
    Ok((model.permuted(&visible_order, &hidden_order)?, log_z))
}

/// Moments of the Gaussian families (mean and spread of the mean, of the spread, factor of the
/// biases), from weak to the paper's hardest.
const MOMENTS: [(f64, f64, f64, f64, f64); 5] = [
    (0.0, 0.1, 0.1, 0.05, 1.0),
    (0.0, 0.3, 0.8, 0.4, 1.0),
    (-1.0, 1.0, 2.0, 1.0, 0.5),
    (-5.0, 5.0, 10.0, 5.0, 0.1),
    (-10.0, 10.0, 20.0, 10.0, 0.1),
];

/// Mean and spread of the weights in a band: weak, intermediate and strong with either sign, then
/// units that agree with their neighbours, in domains that grow with the mean.
const BANDS: [(usize, usize, f64, f64); 7] = [
    (400, 600, 0.0, 0.5),
    (200, 300, 0.0, 2.0),
    (400, 600, 0.0, 4.0),
    (100, 150, 0.0, 8.0),
    (100, 150, 0.5, 0.5),
    (400, 600, 0.8, 0.8),
    (200, 300, 1.5, 1.0),
];

/// Every family.
pub(crate) fn families() -> Vec<Family> {
    let gwgm = |hidden, (mu_mu, sigma_mu, mu_sigma, sigma_sigma, lambda)| Gwgm {
        visible: 20,
        hidden,
        mu_mu,
        sigma_mu,
        mu_sigma,
        sigma_sigma,
        lambda,
    };
    let prototypes =
        |strength| Family::Prototypes(Prototypes { visible: 200, hidden: 18, strength });
    let trained = |epochs| Family::Trained(Trained { visible: 200, hidden: 18, epochs });
    let mut families = Vec::new();
    for hidden in [60, 180] {
        families.extend(MOMENTS.map(|moments| Family::Gaussian(gwgm(hidden, moments))));
    }
    families.extend([0.5, 1.0, 2.0, 4.0].map(prototypes));
    families.extend([10, 100, 1000].map(trained));
    // The modes of blocks multiply: with many of them, no list of modes is complete.
    let gaussian = [1, 3, 4].map(|k| Family::Gaussian(gwgm(180, MOMENTS[k])));
    families.extend(gaussian.map(|part| Family::Blocks(Box::new(part), 3)));
    let patterns = [prototypes(0.5), prototypes(2.0), trained(100)];
    families.extend(patterns.map(|part| Family::Blocks(Box::new(part), 6)));
    families.extend(BANDS.map(|(visible, hidden, mean, spread)| {
        Family::Banded(Banded { visible, hidden, window: 10, mean, spread })
    }));
    families
}
