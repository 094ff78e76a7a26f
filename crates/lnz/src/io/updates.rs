//! Training runs of `rbms`: one file with the parameters after several updates.

use super::Parsed;
use super::tensors::{TensorInfo, TensorSource};
use ndarray::ArrayD;

/// The updates of a run, in order.
pub(super) fn updates(tensors: &[TensorInfo]) -> Vec<u64> {
    let mut updates: Vec<u64> =
        tensors.iter().filter_map(|tensor| update_of(&tensor.name)).collect();
    updates.sort_unstable();
    updates.dedup();
    updates
}

fn update_of(name: &str) -> Option<u64> {
    name.strip_prefix("update_")?.split('/').next()?.parse().ok()
}

/// A source with one update at most, all updates of the file, and the one that was chosen.
pub(super) type Chosen = (Box<dyn TensorSource>, Vec<u64>, Option<u64>);

/// One update of a run, as if the file had no other.
pub(super) struct OneUpdate {
    source: Box<dyn TensorSource>,
    tensors: Vec<TensorInfo>,
    places: Vec<usize>,
}

impl OneUpdate {
    /// The update that is asked for, or the last; a file without updates stays as it is.
    pub(super) fn choose(source: Box<dyn TensorSource>, wanted: Option<u64>) -> Parsed<Chosen> {
        let updates = updates(source.tensors());
        let in_words: Vec<String> = updates.iter().map(u64::to_string).collect();
        let chosen = match (wanted, updates.last()) {
            (None, None) => return Ok((source, updates, None)),
            (Some(wanted), None) => {
                return Err(format!(
                    "has no updates, of which {wanted} is wanted; only runs of `rbms` have"
                ));
            }
            (None, Some(&last)) => last,
            (Some(wanted), _) if updates.contains(&wanted) => wanted,
            (Some(wanted), _) => {
                return Err(format!("has no update {wanted}; it has {}", in_words.join(", ")));
            }
        };
        let (mut tensors, mut places) = (Vec::new(), Vec::new());
        // Newer versions keep the parameters in a folder of their own, and link them from above.
        let folder = format!("update_{chosen}/params/");
        let is_linked = |name: &str| {
            let leaf = name.rsplit('/').next().unwrap_or(name);
            let inside = format!("{folder}{leaf}");
            name != inside && source.tensors().iter().any(|tensor| tensor.name == inside)
        };
        for (at, tensor) in source.tensors().iter().enumerate() {
            if update_of(&tensor.name) == Some(chosen) && !is_linked(&tensor.name) {
                tensors.push(tensor.clone());
                places.push(at);
            }
        }
        Ok((Box::new(Self { source, tensors, places }), updates, Some(chosen)))
    }
}

impl TensorSource for OneUpdate {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn values(&mut self, index: usize) -> Parsed<ArrayD<f64>> {
        self.source.values(self.places[index])
    }

    fn words(&self) -> Vec<(String, String)> {
        self.source.words()
    }
}
