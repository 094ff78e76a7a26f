//! From a model to a file, whole or not at all.

use super::format::FormatEntry;
use super::stored::Tensor;
use super::{Float, StoredModel, npy, safetensors, save};
use crate::Result;
use ndarray::ArrayViewD;
use std::borrow::Cow;
use std::path::Path;

/// How a square matrix of weights is marked in the files that are written here.
pub(super) const LAYOUT: &str = "visible x hidden";

/// Writes a model in the format of the file's extension, as `f64`, whole or not at all.
pub fn write_model(path: &Path, stored: &StoredModel) -> Result<()> {
    let mut stored = Cow::Borrowed(stored);
    if stored.metadata.contains_key("units") {
        // The model is in units {0, 1}; another word would have it converted again.
        stored.to_mut().metadata.insert("units".to_owned(), "binary".to_owned());
    }
    let (_, write) = FormatEntry::to_write(path)?;
    mark_square(&mut stored);
    save::write_whole(path, |writer| write(writer, &stored))
}

/// A square matrix says which way round it is, so that nobody has to guess.
fn mark_square(stored: &mut Cow<'_, StoredModel>) {
    if stored.model.visible() == stored.model.hidden() && stored.model.visible() > 1 {
        stored.to_mut().metadata.insert("layout".to_owned(), LAYOUT.to_owned());
    }
}

/// Writes a model as .safetensors with weights and biases of the given type, whole or not at all.
pub fn write_safetensors(path: &Path, stored: &StoredModel, float: Float) -> Result<()> {
    write_tensors(path, stored, Vec::new(), float)
}

/// The same with further tensors.
pub(crate) fn write_tensors(
    path: &Path,
    stored: &StoredModel,
    extra: Vec<Tensor>,
    float: Float,
) -> Result<()> {
    let mut stored = Cow::Borrowed(stored);
    mark_square(&mut stored);
    let mut tensors = stored.to_tensors();
    tensors.extend(extra);
    save::write_whole(path, |writer| {
        safetensors::write_as(writer, &stored.metadata, &tensors, float)
    })
}

/// Fails as [`write_model`] would, if the path is at fault; nothing is left behind.
///
/// Long work asks before it starts, so that its result does not end at a wrong path.
pub fn check_model_path(path: &Path) -> Result<()> {
    FormatEntry::to_write(path)?;
    save::check_writable(path)
}

/// The same for [`write_npy`].
pub fn check_npy_path(path: &Path) -> Result<()> {
    save::check_writable(path)
}

/// Writes bytes, whole or not at all.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    save::write_whole(path, |writer| writer.write_all(bytes))
}

/// Writes an array as .npy, whole or not at all.
pub fn write_npy(path: &Path, values: ArrayViewD<'_, f64>) -> Result<()> {
    save::write_whole(path, |writer| npy::write(writer, values.shape(), values.iter().copied()))
}
