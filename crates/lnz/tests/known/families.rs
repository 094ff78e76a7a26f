//! Families of seeded models whose log Z is known, from easy to hard.

pub(crate) mod banded;
pub(crate) mod branches;
pub(crate) mod coexistence;
pub(crate) mod collective;
pub(crate) mod disguise;
pub(crate) mod groups;
pub(crate) mod hubs;
pub(crate) mod lattice;
mod list;
pub(crate) mod numbers;
pub(crate) mod occupations;
pub(crate) mod patterns;
pub(crate) mod planted;
pub(crate) mod strokes;
mod sums;
pub(crate) mod trees;

pub(crate) use disguise::Solved;
pub(crate) use list::families;

use lnz::Result;
use numbers::Numbers;
use std::sync::Arc;

/// Models that differ by their seed alone.
#[derive(Clone)]
pub(crate) struct Family {
    /// The kind of model, in a word.
    pub(crate) kind: &'static str,
    /// Kind, size and parameters.
    pub(crate) name: String,
    /// Models of either part, for tuning and held out.
    pub(crate) seeds: u64,
    /// Making and sampling a model takes no more than about a second.
    pub(crate) is_quick: bool,
    source: Source,
}

type Source = Arc<dyn Fn(u64) -> Result<Solved> + Send + Sync>;

impl Family {
    fn new(
        kind: &'static str,
        parameters: impl AsRef<str>,
        seeds: u64,
        source: impl Fn(u64) -> Result<Solved> + Send + Sync + 'static,
    ) -> Self {
        let name = format!("{kind} {}", parameters.as_ref());
        Self { kind, name, seeds, is_quick: false, source: Arc::new(source) }
    }

    fn quick(self) -> Self {
        Self { is_quick: true, ..self }
    }

    /// One model of the family and its log Z.
    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        (self.source)(seed)
    }

    /// Models of this family side by side.
    fn side_by_side(&self, blocks: u64, seeds: u64) -> Self {
        let source = self.source.clone();
        Family::new("blocks", format!("{blocks} of {}", self.name), seeds, move |seed| {
            let parts: Vec<Solved> =
                (blocks * seed..blocks * (seed + 1)).map(|s| source(s)).collect::<Result<_>>()?;
            side_by_side(&parts, seed)
        })
    }

    /// Models of this family behind pendants.
    fn behind_pendants(&self, visible: usize, hidden: usize, seeds: u64) -> Self {
        let source = self.source.clone();
        let parameters = format!("{visible}+{hidden} on {}", self.name);
        Family::new("pendants", parameters, seeds, move |seed| {
            behind_pendants(source(seed)?, visible, hidden, seed)
        })
    }
}

/// Shuffled models side by side: the sum of their log Z.
pub(crate) fn side_by_side(parts: &[Solved], seed: u64) -> Result<Solved> {
    Solved::side_by_side(parts)?.shuffled(&mut Numbers::new(4, seed))
}

/// A model with units that hang on a single other one in both layers: no layer is small any more.
pub(crate) fn behind_pendants(
    solved: Solved,
    visible: usize,
    hidden: usize,
    seed: u64,
) -> Result<Solved> {
    solved.with_pendants(visible, hidden, &mut Numbers::new(12, seed))
}
