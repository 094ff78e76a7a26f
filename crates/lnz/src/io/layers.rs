//! The kinds of layers a model has, by the words in its file; only binary and spin layers are read.

use super::names::leaf;
use super::tensors::TensorInfo;
use super::{Parsed, Units};

/// What a word says about the units of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Binary,
    Spin,
    Other,
}

/// Attributes and keys under which programs write the type of a layer.
const KEYS: [&str; 22] = [
    "visible",
    "hidden",
    "nature",
    "visible_type",
    "hidden_type",
    "vis_type",
    "hid_type",
    "visible_unit",
    "hidden_unit",
    "visible_units",
    "hidden_units",
    "visible_unit_type",
    "hidden_unit_type",
    "v_type",
    "h_type",
    "unit_type",
    "vtype",
    "htype",
    "visible_layer_type",
    "hidden_layer_type",
    "layers_nature",
    "rbm_type",
];

const OTHER: [&str; 17] = [
    "potts",
    "pottsgumbel",
    "gaussian",
    "gauss",
    "relu",
    "relu+",
    "drelu",
    "xrelu",
    "nsrelu",
    "prelu",
    "nrelu",
    "softmax",
    "categorical",
    "multinomial",
    "poisson",
    "continuous",
    "normal",
];

/// Refuses a model with other layers, and tells spins from zeros and ones where the file does.
pub(super) fn check(
    format: &str,
    words: &[(String, String)],
    tensors: &[TensorInfo],
    units_are_told: bool,
) -> Parsed<Option<Units>> {
    let (mut found, mut kinds) = (Vec::new(), Vec::new());
    for (path, word) in words {
        let key = leaf(path);
        let in_layer = KEYS.contains(&key) || KEYS.iter().any(|k| path.contains(&format!("{k}.")));
        if let Some(class) = word.strip_prefix("class ") {
            let is_model_or_layer =
                path.is_empty() || ["vlayer", "hlayer", "visible", "hidden"].contains(&key);
            if is_model_or_layer && let Some(kind) = class_kind(class) {
                found.push((path.clone(), class.to_owned(), kind));
            }
        } else if in_layer || key == "model_type" {
            let (kind, word) = match key {
                "model_type" => (rbms_kind(word), rbms_in_words(word)),
                _ => (word_kind(word), word.clone()),
            };
            if let Some(kind) = kind {
                found.push((path.clone(), word, kind));
            }
        } else if word == "False"
            && ["binary_v", "binary_h", "binary_visible", "binary_hidden"].contains(&key)
        {
            found.push((path.clone(), format!("continuous ({key} is False)"), Kind::Other));
        }
        kinds.clear();
        kinds.extend(found.iter().map(|(_, _, kind)| *kind));
    }
    if kinds.contains(&Kind::Other) {
        let named: Vec<String> = found
            .iter()
            .filter(|(_, _, kind)| *kind == Kind::Other)
            .map(|(path, word, _)| match &**path {
                "" => word.clone(),
                path => format!("{path}: {word}"),
            })
            .take(4)
            .collect();
        return Err(refusal(format, &named.join(", ")));
    }
    if let Some(hint) = tensors.iter().find(|tensor| is_hint(&tensor.name))
        && !units_are_told
    {
        let of = if leaf(&hint.name).contains("plus") { "dReLU" } else { "Gaussian" };
        return Err(refusal(format, &format!("{of}, because it has `{}`", hint.name))
            + "; if both layers are binary all the same, say so (--units binary)");
    }
    let spins = kinds.iter().filter(|kind| **kind == Kind::Spin).count();
    match (spins, kinds.len()) {
        (0, _) => Ok(None),
        (spins, all) if spins == all => Ok(Some(Units::Spin)),
        _ => {
            Err(refusal(format, "spins (-1 and +1) on one side and binary (0 and 1) on the other"))
        }
    }
}

fn refusal(format: &str, layers: &str) -> String {
    format!(
        "is a {format} file of a model with layers that are not supported ({layers}): log Z is computed where both layers are binary (0 and 1) or both are spins (-1 and +1). RestrictedBoltzmannMachines.jl estimates log Z of other layers; `lnz inspect` lists what is in the file"
    )
}

fn word_kind(word: &str) -> Option<Kind> {
    let word = word.trim().to_lowercase();
    match &*word {
        "binary" | "bernoulli" => Some(Kind::Binary),
        "spin" | "ising" => Some(Kind::Spin),
        other if OTHER.contains(&other) => Some(Kind::Other),
        _ => None,
    }
}

/// `rbms` names its models by two letters: Bernoulli, Ising, Potts, Gaussian, ...
fn rbms_kind(word: &str) -> Option<Kind> {
    match word.strip_suffix("RBM")? {
        "BB" => Some(Kind::Binary),
        "II" => Some(Kind::Spin),
        two if two.len() == 2 => Some(Kind::Other),
        _ => None,
    }
}

/// The two letters as words.
fn rbms_in_words(word: &str) -> String {
    let units = |letter: char| match letter {
        'B' => "binary",
        'I' => "spin",
        'P' => "Potts",
        'G' => "Gaussian",
        'R' => "ReLU",
        _ => "other",
    };
    match word.chars().collect::<Vec<_>>()[..] {
        [visible, hidden, 'R', 'B', 'M'] => {
            format!("{word}, {} visible and {} hidden units", units(visible), units(hidden))
        }
        _ => word.to_owned(),
    }
}

fn class_kind(class: &str) -> Option<Kind> {
    let name = class.rsplit('.').next()?.to_lowercase();
    let other = [
        "gaussian",
        "gauss",
        "potts",
        "relu",
        "softmax",
        "replicatedsoftmax",
        "categorical",
        "conv",
    ];
    let short = ["grbm", "gbrbm", "gbbrbm", "ggrbm", "crbm"];
    if other.iter().any(|part| name.contains(part)) || short.contains(&&*name) {
        Some(Kind::Other)
    } else if name == "spinlayer" {
        Some(Kind::Spin)
    } else if name == "bernoullilayer" {
        Some(Kind::Binary)
    } else {
        None
    }
}

/// Parameters that binary layers do not have.
fn is_hint(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "sigma",
        "log_sigma",
        "sigmas",
        "logvar",
        "log_var",
        "sigma_v",
        "log_sigma_v",
        "sigma2",
        "log_sigma2",
        "variance",
        "gamma_plus",
        "theta_plus",
        "a_plus",
        "log_variance",
    ];
    NAMES.contains(&&*leaf(name).to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(words: &[(&str, &str)]) -> Parsed<Option<Units>> {
        let words: Vec<_> = words.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect();
        check("Python pickle", &words, &[], false)
    }

    #[test]
    fn other_layers_are_named() {
        let problem = checked(&[("visible", "Potts"), ("hidden", "dReLU")]).unwrap_err();
        assert!(problem.contains("visible: Potts, hidden: dReLU"), "{problem}");
        let problem = checked(&[("", "class pylearn2.models.rbm.GaussianBinaryRBM")]).unwrap_err();
        assert!(problem.contains("GaussianBinaryRBM"), "{problem}");
        let problem = checked(&[("model_type", "PBRBM")]).unwrap_err();
        assert!(problem.contains("PBRBM, Potts visible and binary hidden units"), "{problem}");
        assert!(checked(&[("binary_v", "False")]).is_err());
        assert!(checked(&[("visible_type", "Spin"), ("hidden_type", "Binary")]).is_err());
    }

    #[test]
    fn binary_and_spin_layers_are_told_apart() {
        assert_eq!(checked(&[("model_type", "BBRBM")]), Ok(None));
        assert_eq!(checked(&[("visible", "Bernoulli"), ("hidden", "Bernoulli")]), Ok(None));
        assert_eq!(
            checked(&[("visible_type", "Spin"), ("hidden_type", "Spin")]),
            Ok(Some(Units::Spin))
        );
        assert_eq!(checked(&[("optimizer", "Gaussian"), ("name", "relu")]), Ok(None));
    }
}
