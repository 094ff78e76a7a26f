//! Parts of a model that hang together loosely: each has phases of its own, which a search of the part finds.

use super::effort::{CLEARLY, FEW, STAYING, TRIED};
use crate::math::sigmoid;
use crate::{Component, Rbm, Result};
use ndarray::{ArrayView1, ArrayView2, Axis};
use std::collections::BTreeMap;

/// When a coupling holds two units together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Strong {
    /// Neither of them has one that is far stronger.
    ForBoth,
    /// One of them has none that is far stronger: it has to belong somewhere.
    ForOne,
}

/// The strongly coupled parts, the largest first; none if there is only one.
pub(super) fn strong_parts(model: &Rbm) -> Vec<Component> {
    let mut parts = grouped(model.weights().mapv(f64::abs).view(), Strong::ForBoth);
    parts.retain(|part| !part.hidden.is_empty());
    if parts.len() < 2 { vec![] } else { parts }
}

/// Groups of rows and columns that hang together by strong couplings, those with most rows first, at most as many as
/// are tried. Units without a strong coupling belong to the group that they have most of their couplings with, if there
/// is such a group.
pub(super) fn grouped(couplings: ArrayView2<'_, f64>, strong: Strong) -> Vec<Component> {
    let (of_rows, of_columns) = strongest(couplings);
    let mut parent: Vec<usize> = (0..of_rows.len()).collect();
    // For each column the last row that it is strongly coupled to.
    let mut last: Vec<Option<usize>> = vec![None; of_columns.len()];
    for (i, row) in couplings.rows().into_iter().enumerate() {
        for ((&coupling, &of_column), last) in row.iter().zip(&of_columns).zip(&mut last) {
            let most = match strong {
                Strong::ForBoth => of_rows[i].max(of_column),
                Strong::ForOne => of_rows[i].min(of_column),
            };
            if coupling > CLEARLY * most {
                let a = root(&mut parent, i);
                let b = root(&mut parent, last.replace(i).unwrap_or(i));
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    let mut groups: BTreeMap<usize, Component> = BTreeMap::new();
    for i in 0..parent.len() {
        let group = groups.entry(root(&mut parent, i)).or_default();
        group.visible.push(i);
    }
    for (j, last) in last.into_iter().enumerate() {
        let group = last.and_then(|i| groups.get_mut(&root(&mut parent, i)));
        group.into_iter().for_each(|group| group.hidden.push(j));
    }
    let mut groups: Vec<Component> = groups.into_values().collect();
    groups.retain(|group| group.visible.len() >= FEW);
    groups.sort_by_key(|group| std::cmp::Reverse(group.visible.len()));
    groups.truncate(TRIED);
    attach(couplings, &mut groups);
    groups
}

/// The strongest coupling of each row and of each column, in one pass over memory.
fn strongest(couplings: ArrayView2<'_, f64>) -> (Vec<f64>, Vec<f64>) {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let mut of_columns = vec![0.0; couplings.ncols()];
    let mut of_row = |row: ArrayView1<'_, f64>| {
        of_columns.iter_mut().zip(row).for_each(|(most, &c)| *most = larger(*most, c));
        row.iter().copied().fold(0.0, larger)
    };
    let of_rows = couplings.rows().into_iter().map(&mut of_row).collect();
    (of_rows, of_columns)
}

/// Gives the units that are in no group to the group that has most of their couplings.
fn attach(couplings: ArrayView2<'_, f64>, groups: &mut [Component]) {
    let rows = labels(couplings.nrows(), groups.iter().map(|group| &group.visible));
    let columns = labels(couplings.ncols(), groups.iter().map(|group| &group.hidden));
    let more_rows = homes(couplings, &rows, &columns, groups.len());
    let more_columns = homes(couplings.t(), &columns, &rows, groups.len());
    for (group, (rows, columns)) in groups.iter_mut().zip(more_rows.into_iter().zip(more_columns)) {
        group.visible.extend(rows);
        group.visible.sort_unstable();
        group.hidden.extend(columns);
        group.hidden.sort_unstable();
    }
}

/// The group of each of `n` units.
fn labels<'a>(n: usize, groups: impl Iterator<Item = &'a Vec<usize>>) -> Vec<Option<usize>> {
    let mut labels = vec![None; n];
    for (group, members) in groups.enumerate() {
        members.iter().for_each(|&unit| labels[unit] = Some(group));
    }
    labels
}

/// For each group the rows in no group that have most of their couplings with it.
fn homes(
    couplings: ArrayView2<'_, f64>,
    rows: &[Option<usize>],
    columns: &[Option<usize>],
    groups: usize,
) -> Vec<Vec<usize>> {
    let mut homes = vec![vec![]; groups];
    for (i, row) in couplings.rows().into_iter().enumerate().filter(|(i, _)| rows[*i].is_none()) {
        let mut with = vec![0.0; groups];
        for (coupling, group) in row.iter().zip(columns) {
            group.iter().for_each(|&group| with[group] += coupling);
        }
        let home = with.iter().position(|&part| part > STAYING * row.sum());
        home.into_iter().for_each(|group| homes[group].push(i));
    }
    homes
}

fn root(parent: &mut [usize], mut k: usize) -> usize {
    while parent[k] != k {
        parent[k] = parent[parent[k]];
        k = parent[k];
    }
    k
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
    use ndarray::{Array1, Array2, array, s};

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
        let parts = strong_parts(&joined());
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0].visible, [0, 1, 2, 3, 4, 5]);
        assert_eq!(parts[0].hidden, [0, 1, 2, 6]);
        assert_eq!(
            (&parts[1].visible[..], &parts[1].hidden[..]),
            (&[6, 7, 8, 9, 10, 11][..], &[3, 4, 5][..])
        );
        let one = Rbm::new(Array2::from_elem((9, 5), 1.0), Array1::zeros(9), Array1::zeros(5));
        assert!(strong_parts(&one.unwrap()).is_empty());
    }

    #[test]
    fn the_rest_acts_on_a_part_as_it_is_on_average() {
        let model = joined();
        let parts = strong_parts(&model);
        let mut means = Array1::zeros(13);
        means[12] = 0.5;
        let part = alone_in(&model, &parts[1], means.view()).unwrap();
        // The hub is half on, and nothing of the other block acts on this one.
        assert_eq!(part.hidden_bias(), array![-0.95, -0.95, -0.95]);
        assert_eq!(part.visible_bias(), Array1::from_elem(6, 0.5));
        assert_eq!(part.weights(), Array2::from_elem((6, 3), -3.0));
    }
}
