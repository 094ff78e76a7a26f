//! Files for the tests, good ones and bad ones.

use ndarray::{Array1, Array2, ArrayViewD};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder that disappears with the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Names of the files in it.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn text(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn npy(&self, name: &str, values: ArrayViewD<'_, f64>) -> String {
        let path = self.path(name);
        lnz::io::write_npy(Path::new(&path), values).unwrap();
        path
    }

    /// A model of 6 visible and 4 hidden units without any symmetry.
    pub(crate) fn small_model(&self, name: &str) -> String {
        let weights = Array2::from_shape_fn((6, 4), |(i, j)| ((i * 7 + j * 3) % 5) as f64 - 1.8);
        let visible_bias = Array1::from_shape_fn(6, |i| 0.3 * i as f64 - 0.7);
        let hidden_bias = Array1::from_shape_fn(4, |j| 0.2 - 0.1 * j as f64);
        let model = lnz::Rbm::new(weights, visible_bias, hidden_bias).unwrap();
        let path = self.path(name);
        lnz::io::write_model(&PathBuf::from(&path), &model.into()).unwrap();
        path
    }

    /// A safetensors file of zeros with these names and shapes, right or wrong.
    pub(crate) fn safetensors(&self, name: &str, tensors: &[(&str, &[usize])]) -> String {
        let (mut header, mut offset) = (serde_json::Map::new(), 0);
        for (tensor, shape) in tensors {
            let end = offset + 8 * shape.iter().product::<usize>();
            let entry =
                serde_json::json!({"dtype": "F64", "shape": shape, "data_offsets": [offset, end]});
            header.insert((*tensor).to_owned(), entry);
            offset = end;
        }
        let header = serde_json::to_vec(&header).unwrap();
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header);
        bytes.resize(bytes.len() + offset, 0);
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}
