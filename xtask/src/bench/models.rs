//! The models that are measured: files that lnz and its peers both read.

use super::{Bench, Problem};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Mean and standard deviation of normal numbers.
type Normal = [f64; 2];

/// A generated model.
#[derive(Clone, Copy)]
pub(super) struct Recipe {
    pub(super) visible: usize,
    pub(super) hidden: usize,
    pub(super) weight: Normal,
    pub(super) visible_bias: Normal,
    pub(super) hidden_bias: Normal,
}

/// A model in a file.
pub(super) struct Model {
    pub(super) name: String,
    pub(super) file: PathBuf,
    pub(super) visible: usize,
    pub(super) hidden: usize,
    /// Where it comes from, for the report.
    pub(super) origin: String,
}

/// Statistics of the published weights of Salakhutdinov and Murray; used where no file is given.
const LIKE_PUBLISHED: Recipe = Recipe {
    visible: 784,
    hidden: 500,
    weight: [-0.041, 0.222],
    visible_bias: [-0.94, 0.74],
    hidden_bias: [-1.2, 3.4],
};

/// Like trained models: a few strong weights per unit, visible units mostly off.
const OTHERS: [Recipe; 5] = [
    trained(784, 20, 0.25, -2.0),
    trained(300, 500, 0.15, -1.0),
    trained(180, 20, 0.2, -1.0),
    trained(20, 180, 0.2, -1.0),
    // Weights of larger models are smaller; with 0.1, 16 bits would not hold them well enough.
    trained(2048, 2048, 0.02, -1.0),
];

const fn trained(visible: usize, hidden: usize, weight: f64, visible_bias: f64) -> Recipe {
    Recipe {
        visible,
        hidden,
        weight: [0.0, weight],
        visible_bias: [visible_bias, 1.0],
        hidden_bias: [0.0, 0.5],
    }
}

/// All models of the comparison; `published` is a file with weights for the first of them.
pub(super) fn all(bench: &mut Bench, published: Option<&Path>) -> Result<Vec<Model>, Problem> {
    let mut models = vec![match published {
        Some(from) => convert(bench, from)?,
        None => generate(bench, &LIKE_PUBLISHED)?,
    }];
    for recipe in &OTHERS {
        models.push(generate(bench, recipe)?);
    }
    Ok(models)
}

/// n x n with inputs of the same size whatever n is, so that the states are equally dense.
pub(super) fn square(bench: &mut Bench, n: usize) -> Result<Model, Problem> {
    let recipe = Recipe {
        visible: n,
        hidden: n,
        weight: [0.0, 0.4 / (n as f64).sqrt()],
        visible_bias: [-1.0, 0.0],
        hidden_bias: [0.0, 0.0],
    };
    generate(bench, &recipe)
}

fn convert(bench: &mut Bench, from: &Path) -> Result<Model, Problem> {
    let file = bench.folder.join("published.npz");
    bench.lnz.ask(&json!({ "do": "convert", "from": from, "to": file }))?;
    let name = from.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Model {
        name: "784x500".into(),
        file,
        visible: 784,
        hidden: 500,
        origin: format!("the weights of `{name}`"),
    })
}

fn generate(bench: &mut Bench, recipe: &Recipe) -> Result<Model, Problem> {
    let Recipe { visible, hidden, weight, visible_bias, hidden_bias } = *recipe;
    let name = format!("{visible}x{hidden}");
    let file = bench.folder.join(format!("{name}-{}.npz", weight[1]));
    bench.peers.ask(&json!({
        "do": "generate",
        "path": file,
        "visible": visible,
        "hidden": hidden,
        "weight": weight,
        "visible_bias": visible_bias,
        "hidden_bias": hidden_bias,
        "seed": 1,
    }))?;
    let normal = |[mean, deviation]: Normal| format!("N({mean}, {deviation:.3})");
    let origin = format!(
        "generated: weights {}, visible biases {}, hidden biases {} (mean, standard deviation)",
        normal(weight),
        normal(visible_bias),
        normal(hidden_bias)
    );
    Ok(Model { name, file, visible, hidden, origin })
}
