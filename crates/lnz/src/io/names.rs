//! The names under which other programs keep weights and biases.

use super::options::Layout;

/// A part of a model and the names it goes by.
pub(crate) struct Role {
    pub(crate) what: &'static str,
    /// The names that are worth telling.
    pub(crate) names: &'static [&'static str],
    /// All others, in small letters and without underscores.
    also: &'static [&'static str],
}

pub(crate) const WEIGHTS: Role = Role {
    what: "weights",
    names: &["W", "weights", "weight", "weight_matrix", "vishid", "components_"],
    also: &[
        "kernel",
        "wvh",
        "whv",
        "wmatrix",
        "rbmw",
        "rbmweights",
        "amweights",
        "ws",
        "matrixw",
        "weightsvh",
    ],
};
pub(crate) const VISIBLE_BIAS: Role = Role {
    what: "visible bias",
    names: &["b", "vbias", "visible_bias", "v_bias", "visbiases", "intercept_visible_"],
    also: &[
        "a",
        "visbias",
        "vbiases",
        "visiblebiases",
        "biasv",
        "biasvis",
        "biasvisible",
        "biasesvisible",
        "bv",
        "bvis",
        "bvisible",
        "vb",
        "rbmvb",
        "rbmvbias",
        "amvisiblebias",
        "bprime",
        "visibleb",
        "vlayerfields",
        "av",
        "biasesv",
        "vbs",
        "biasvisibles",
    ],
};
pub(crate) const HIDDEN_BIAS: Role = Role {
    what: "hidden bias",
    names: &["c", "hbias", "hidden_bias", "h_bias", "hidbiases", "intercept_hidden_"],
    also: &[
        "bias",
        "hidbias",
        "hbiases",
        "hiddenbiases",
        "biash",
        "biashid",
        "biashidden",
        "biaseshidden",
        "bh",
        "bhid",
        "bhidden",
        "hb",
        "rbmhb",
        "rbmhbias",
        "amhiddenbias",
        "hiddenb",
        "hlayerfields",
        "biasesh",
        "hbs",
        "biashiddens",
    ],
};

impl Role {
    pub(crate) fn fits(&self, leaf: &str) -> bool {
        let plain = plain(leaf);
        self.names.iter().any(|name| self::plain(name) == plain) || self.also.contains(&&*plain)
    }
}

/// Small letters without underscores.
fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_' && *c != '-').flat_map(char::to_lowercase).collect()
}

/// The last part of a name, in which two known parts that belong together stay together.
pub(crate) fn leaf(name: &str) -> &str {
    // TensorFlow numbers its outputs.
    let name = name.strip_suffix(":0").unwrap_or(name);
    for whole in ["vlayer.fields", "hlayer.fields"] {
        if name.ends_with(whole) {
            return if whole.starts_with('v') { "vlayer_fields" } else { "hlayer_fields" };
        }
    }
    name.rsplit(['.', '/']).next().unwrap_or(name)
}

/// What stands before the last part.
pub(crate) fn parent(name: &str) -> &str {
    name.rfind(['.', '/']).map_or("", |end| &name[..end])
}

/// True for what training keeps beside the parameters.
pub(crate) fn is_bookkeeping(name: &str) -> bool {
    const PARTS: [&str; 18] = [
        "optimizer",
        "optimizers",
        "optimizerstate",
        "optimizerstates",
        "optim",
        "momentum",
        "velocity",
        "grad",
        "grads",
        "gradient",
        "gradients",
        "adam",
        "expavg",
        "expavgsq",
        "momentumbuffer",
        "ema",
        "rbmph",
        "phase",
    ];
    let suffixes = ["momentum", "velocity", "grad", "gradient", "inc", "update", "old"];
    let parts: Vec<String> = name.split(['.', '/']).map(plain).collect();
    parts.iter().any(|part| PARTS.contains(&&**part))
        || parts.last().is_some_and(|leaf| suffixes.iter().any(|suffix| leaf.ends_with(suffix)))
}

/// Which way round weights of this name are always stored, where a convention says so.
pub(crate) fn convention(leaf: &str, paired_with_bias: bool) -> Option<(Layout, &'static str)> {
    use Layout::{HiddenVisible, VisibleHidden};
    Some(match (&*plain(leaf), paired_with_bias) {
        ("components", _) => (HiddenVisible, "as scikit-learn stores it"),
        ("amweights", _) => (HiddenVisible, "as QuCumber stores it"),
        ("whv", _) => (HiddenVisible, "as its name says"),
        ("weight", true) => (HiddenVisible, "as a linear layer of torch stores it"),
        ("kernel", _) => (VisibleHidden, "as a dense layer of flax or Keras stores it"),
        ("vishid" | "wvh", _) => (VisibleHidden, "as its name says"),
        ("weightmatrix", _) => (VisibleHidden, "as `rbms` stores it"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_behind_any_prefix_and_in_any_spelling() {
        for name in ["rbm.W", "state_dict.module.rbm.weight", "params/Dense/kernel", "model/w:0"] {
            assert!(WEIGHTS.fits(leaf(name)), "{name}");
        }
        for name in ["v_bias", "bias_v", "Visible_Bias", "rbm.vb", "vlayer.fields", "a"] {
            assert!(VISIBLE_BIAS.fits(leaf(name)), "{name}");
            assert!(!HIDDEN_BIAS.fits(leaf(name)), "{name}");
        }
        assert!(!WEIGHTS.fits(leaf("W_momentum")));
    }

    #[test]
    fn what_training_keeps_is_told_from_parameters() {
        for name in ["optimizer.state.0.W", "W_momentum", "rbm.W.grad", "vishidinc"] {
            assert!(is_bookkeeping(name), "{name}");
        }
        for name in ["W", "rbm.W", "hidden_bias", "state_dict.weights"] {
            assert!(!is_bookkeeping(name), "{name}");
        }
    }
}
