//! Parts of a model that hang together loosely: each has phases of its own, which a search of the part finds.

use super::effort::{CLEARLY, FEW, STAYING, TRIED};
use crate::math::sigmoid;
use crate::{Component, Rbm, Result};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// The strongly coupled parts, the largest first; none if there is only one.
///
/// A coupling is strong if neither of its units has one that is far stronger. Units without a strong one
/// belong to the part that they have most of their couplings with, if there is such a part.
pub(super) fn strong_parts(model: &Rbm) -> Result<Vec<Component>> {
    let size = model.weights().mapv(f64::abs);
    let strongest = |axis| size.map_axis(axis, |row| row.iter().copied().fold(0.0, f64::max));
    let (of_visible, of_hidden) = (strongest(Axis(1)), strongest(Axis(0)));
    let strong = Array2::from_shape_fn(size.dim(), |(i, j)| {
        let is_strong = size[[i, j]] > CLEARLY * of_visible[i].max(of_hidden[j]);
        if is_strong { size[[i, j]] } else { 0.0 }
    });
    let (n, m) = size.dim();
    let mut parts = Rbm::new(strong, Array1::zeros(n), Array1::zeros(m))?.components();
    parts.retain(|part| part.visible.len() >= FEW && !part.hidden.is_empty());
    if parts.len() < 2 {
        return Ok(vec![]);
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.visible.len()));
    parts.truncate(TRIED);
    let visible: Vec<Vec<usize>> = parts.iter().map(|part| part.visible.clone()).collect();
    let hidden: Vec<Vec<usize>> = parts.iter().map(|part| part.hidden.clone()).collect();
    for (part, more) in parts.iter_mut().zip(attached(size.view(), &visible, &hidden)) {
        part.hidden.extend(more);
        part.hidden.sort_unstable();
    }
    for (part, more) in parts.iter_mut().zip(attached(size.t(), &hidden, &visible)) {
        part.visible.extend(more);
        part.visible.sort_unstable();
    }
    Ok(parts)
}

/// The units of the columns that are in no part yet, for the part whose rows have most of their couplings.
fn attached(
    size: ArrayView2<'_, f64>,
    rows: &[Vec<usize>],
    columns: &[Vec<usize>],
) -> Vec<Vec<usize>> {
    let mut more = vec![vec![]; rows.len()];
    for (unit, column) in size.columns().into_iter().enumerate() {
        let within = |rows: &Vec<usize>| rows.iter().map(|&i| column[i]).sum::<f64>();
        let most = rows.iter().position(|rows| within(rows) > STAYING * column.sum());
        if let Some(part) = most.filter(|_| !columns.iter().flatten().any(|&other| other == unit)) {
            more[part].push(unit);
        }
    }
    more
}

/// A part as a model of its own, with the rest as it is on average.
pub(super) fn alone_in(model: &Rbm, part: &Component, means: ArrayView1<'_, f64>) -> Result<Rbm> {
    let mut outside = means.to_owned();
    part.visible.iter().for_each(|&unit| outside[unit] = 0.0);
    let mut hidden = model.hidden_input(means).mapv(sigmoid);
    part.hidden.iter().for_each(|&unit| hidden[unit] = 0.0);
    let visible_bias = &model.visible_bias() + &model.weights().dot(&hidden);
    let weights = model.weights().select(Axis(0), &part.visible).select(Axis(1), &part.hidden);
    let hidden_bias = model.hidden_input(outside.view()).select(Axis(0), &part.hidden);
    Rbm::new(weights, visible_bias.select(Axis(0), &part.visible), hidden_bias)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{array, s};

    /// Two blocks of six by three units and a visible unit that sees both; one hidden unit of the first block
    /// is weakly coupled.
    fn joined() -> Rbm {
        let mut weights = Array2::zeros((13, 7));
        weights.slice_mut(s![..6, ..3]).fill(2.0);
        weights.slice_mut(s![6..12, 3..6]).fill(-3.0);
        weights.slice_mut(s![..6, 6]).fill(0.2);
        weights.slice_mut(s![12, ..]).fill(0.1);
        Rbm::new(weights, Array1::from_elem(13, 0.5), Array1::from_elem(7, -1.0)).unwrap()
    }

    #[test]
    fn blocks_are_told_apart_in_spite_of_a_hub_and_weak_units_belong_to_theirs() {
        let parts = strong_parts(&joined()).unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0].visible, [0, 1, 2, 3, 4, 5]);
        assert_eq!(parts[0].hidden, [0, 1, 2, 6]);
        assert_eq!(
            (&parts[1].visible[..], &parts[1].hidden[..]),
            (&[6, 7, 8, 9, 10, 11][..], &[3, 4, 5][..])
        );
        let one = Rbm::new(Array2::from_elem((9, 5), 1.0), Array1::zeros(9), Array1::zeros(5));
        assert!(strong_parts(&one.unwrap()).unwrap().is_empty());
    }

    #[test]
    fn the_rest_acts_on_a_part_as_it_is_on_average() {
        let model = joined();
        let parts = strong_parts(&model).unwrap();
        let mut means = Array1::zeros(13);
        means[12] = 0.5;
        let part = alone_in(&model, &parts[1], means.view()).unwrap();
        // The hub is half on, and nothing of the other block acts on this one.
        assert_eq!(part.hidden_bias(), array![-0.95, -0.95, -0.95]);
        assert_eq!(part.visible_bias(), Array1::from_elem(6, 0.5));
        assert_eq!(part.weights(), Array2::from_elem((6, 3), -3.0));
    }
}
