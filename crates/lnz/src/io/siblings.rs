//! A model in three files side by side, one for each part.

use super::Parsed;
use super::input::open_input;
use super::npy::NpyFile;
use super::tensors::{TensorInfo, TensorSource};
use ndarray::ArrayD;
use std::path::{Path, PathBuf};

/// Names of the parts that belong together: weights, visible bias, hidden bias.
const SETS: [[&str; 3]; 5] = [
    ["components_", "intercept_visible_", "intercept_hidden_"],
    ["weights", "visible_bias", "hidden_bias"],
    ["weights", "vbias", "hbias"],
    ["weights", "v_bias", "h_bias"],
    ["vishid", "visbiases", "hidbiases"],
];

/// Files of one array each.
pub(super) struct Siblings {
    files: Vec<NpyFile>,
    tensors: Vec<TensorInfo>,
}

impl Siblings {
    /// The files that belong to this one, if its name says which part it has.
    pub(super) fn of(path: &Path) -> Parsed<Option<Self>> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
        let part_of = |set: &[&str; 3]| set.iter().position(|part| name.contains(part));
        let mut best: Option<Vec<(&str, PathBuf)>> = None;
        for set in &SETS {
            let Some(part) = part_of(set) else { continue };
            let files: Vec<(&str, PathBuf)> = set
                .iter()
                .map(|other| (*other, path.with_file_name(name.replacen(set[part], other, 1))))
                .filter(|(_, file)| file.is_file())
                .collect();
            if best.as_ref().is_none_or(|best| files.len() > best.len()) {
                best = Some(files);
            }
        }
        let Some(found) = best else { return Ok(None) };
        let (mut files, mut tensors) = (Vec::new(), Vec::new());
        for (part, file) in found {
            let about = |problem| format!("belongs to {}, which {problem}", file.display());
            let opened = open_input(&file, "a .npy file").and_then(|input| NpyFile::open(&input));
            let opened = opened.map_err(about)?;
            tensors.push(TensorInfo { name: part.to_owned(), ..opened.tensors()[0].clone() });
            files.push(opened);
        }
        Ok(Some(Self { files, tensors }))
    }
}

impl TensorSource for Siblings {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn values(&mut self, index: usize) -> Parsed<ArrayD<f64>> {
        self.files[index].values(0)
    }
}
