//! The parts of a model that no weight connects.

use crate::{Rbm, Result};
use ndarray::{Array2, s};

/// Units of one connected part of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Component {
    /// Indices of its visible units, rising.
    pub visible: Vec<usize>,
    /// Indices of its hidden units, rising.
    pub hidden: Vec<usize>,
}

impl Rbm {
    /// Groups of units that no non-zero weight connects; their log Z add up.
    ///
    /// Every visible and hidden unit is in exactly one component, ordered by first visible unit;
    /// hidden units without any weight come last, each on its own.
    pub fn components(&self) -> Vec<Component> {
        let (visible, hidden) = self.weights.dim();
        // A forest whose roots are the lowest unit of their group, hidden units after the visible ones.
        let mut parent: Vec<usize> = (0..visible + hidden).collect();
        fn root_of(parent: &mut [usize], mut unit: usize) -> usize {
            while parent[unit] != unit {
                parent[unit] = parent[parent[unit]];
                unit = parent[unit];
            }
            unit
        }
        // Once over the matrix as it lies in memory.
        let mut joined = 0;
        for (i, row) in self.weights.rows().into_iter().enumerate() {
            for (j, _) in row.iter().enumerate().filter(|(_, w)| **w != 0.0) {
                let (a, b) = (root_of(&mut parent, i), root_of(&mut parent, visible + j));
                parent[a.max(b)] = a.min(b);
                joined += usize::from(a != b);
                // All that have been looked at are one group, and all hidden units are in it.
                if joined == i + hidden {
                    break;
                }
            }
        }
        let mut components: Vec<Component> = Vec::new();
        let mut place_of_root = vec![usize::MAX; visible + hidden];
        for unit in 0..visible + hidden {
            let root = root_of(&mut parent, unit);
            if root == unit {
                place_of_root[root] = components.len();
                components.push(Component::default());
            }
            let component = &mut components[place_of_root[root]];
            match unit.checked_sub(visible) {
                None => component.visible.push(unit),
                Some(j) => component.hidden.push(j),
            }
        }
        components
    }

    /// The part of the model on some of its units; the constant stays with the whole.
    pub(crate) fn restricted_to(&self, component: &Component) -> Result<Self> {
        let is_all = |units: &[usize], count: usize| units.iter().copied().eq(0..count);
        if is_all(&component.visible, self.visible()) && is_all(&component.hidden, self.hidden()) {
            return Ok(Self { constant: 0.0, ..self.clone() });
        }
        let weights = self
            .weights
            .select(ndarray::Axis(0), &component.visible)
            .select(ndarray::Axis(1), &component.hidden);
        let visible_bias = self.visible_bias.select(ndarray::Axis(0), &component.visible);
        let hidden_bias = self.hidden_bias.select(ndarray::Axis(0), &component.hidden);
        Self::new(weights, visible_bias, hidden_bias)
    }

    /// Several models side by side, without weights between them: Z is the product of theirs.
    pub fn block_diagonal(blocks: &[Rbm]) -> Result<Self> {
        let visible = blocks.iter().map(Rbm::visible).sum();
        let hidden = blocks.iter().map(Rbm::hidden).sum();
        let mut weights = Array2::zeros((visible, hidden));
        let (mut visible_bias, mut hidden_bias) = (Vec::new(), Vec::new());
        for block in blocks {
            let (v, h) = (visible_bias.len(), hidden_bias.len());
            visible_bias.extend(&block.visible_bias);
            hidden_bias.extend(&block.hidden_bias);
            weights
                .slice_mut(s![v..visible_bias.len(), h..hidden_bias.len()])
                .assign(&block.weights);
        }
        let constant = blocks.iter().map(Rbm::constant).sum();
        Ok(Self { constant, ..Self::new(weights, visible_bias.into(), hidden_bias.into())? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::small;
    use super::*;
    use ndarray::Array1;

    #[test]
    fn components_follow_non_zero_weights() {
        let blocks = Rbm::block_diagonal(&[small(), small()]).unwrap();
        let components = blocks.components();
        assert_eq!(components.len(), 2);
        assert_eq!(components[1], Component { visible: vec![3, 4, 5], hidden: vec![2, 3] });
        assert_eq!(blocks.restricted_to(&components[1]).unwrap(), small());

        let apart = Rbm::new(Array2::zeros((2, 3)), Array1::zeros(2), Array1::zeros(3)).unwrap();
        assert_eq!(apart.components().len(), 5);
    }
}
