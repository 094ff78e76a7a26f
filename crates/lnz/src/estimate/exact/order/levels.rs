//! The order of Cuthill and McKee: level by level from a unit at the edge; best for grids and bands.

use super::super::SparseModel;

/// Units by their distance from one that is far from everything, within a level by their neighbours in
/// the level before, those of low degree first.
pub(super) fn order(model: &SparseModel) -> Vec<u32> {
    let mut seen = vec![u32::MAX; model.units()];
    let mut order = Vec::with_capacity(model.units());
    let mut round = 0;
    for first in 0..model.units() {
        if seen[first] != u32::MAX {
            continue;
        }
        // The last unit of a walk is at an edge; from there once more to reach the opposite one.
        let mut from = first as u32;
        for _ in 0..2 {
            let begin = order.len();
            walk(model, from, round, &mut seen, &mut order);
            round += 1;
            from = order[order.len() - 1];
            order.truncate(begin);
        }
        walk(model, from, round, &mut seen, &mut order);
        round += 1;
    }
    order
}

/// Appends all units that can be reached; those seen in this round are marked with it.
fn walk(model: &SparseModel, first: u32, round: u32, seen: &mut [u32], order: &mut Vec<u32>) {
    let mut done = order.len();
    order.push(first);
    seen[first as usize] = round;
    while done < order.len() {
        let begin = order.len();
        for &(other, _) in model.neighbours(order[done] as usize) {
            if seen[other as usize] != round {
                seen[other as usize] = round;
                order.push(other);
            }
        }
        order[begin..].sort_by_key(|&unit| model.neighbours(unit as usize).len());
        done += 1;
    }
}
