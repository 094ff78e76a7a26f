//! Fixing a few units to each of their states in turn, so that smaller tables suffice.

use super::super::SparseModel;
use super::{Fixed, MAX_WIDTH, Plan, Scopes};

/// A plan whose tables fit into `max_bytes`: the unit that is part of the most entries is fixed, until
/// they do. None if that repeats the elimination too often.
pub(super) fn condition(model: &SparseModel, scopes: &Scopes, max_bytes: f64) -> Option<Plan> {
    let mut rest: Vec<u32> = (0..model.units() as u32).collect();
    let mut fixed: Vec<u32> = Vec::new();
    let (mut part, mut scopes) = (model.clone(), scopes.clone());
    let mut place_of = Vec::new();
    while scopes.bytes > max_bytes {
        if fixed.len() + scopes.width > MAX_WIDTH {
            return None;
        }
        let entries = scopes.entries_with();
        let chosen = (0..part.units()).max_by(|&a, &b| entries[a].total_cmp(&entries[b]))?;
        fixed.push(rest.remove(chosen));
        let without = |&unit: &u32| match (unit as usize).cmp(&chosen) {
            std::cmp::Ordering::Less => Some(unit),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(unit - 1),
        };
        let order = scopes.order.iter().filter_map(without).collect();
        part = model.restricted_to(&rest, &mut place_of);
        scopes = Scopes::of(&part, order)?.with_less_memory(&part);
    }
    let place = |unit: u32, list: &[u32]| list.iter().position(|&other| other == unit);
    let fixed_units = fixed.iter().enumerate().map(|(k, &unit)| {
        let neighbours = || model.neighbours(unit as usize).iter();
        Fixed {
            bias: model.biases()[unit as usize],
            to_rest: neighbours()
                .filter_map(|&(other, weight)| {
                    Some((rest.binary_search(&other).ok()? as u32, weight))
                })
                .collect(),
            to_fixed: neighbours()
                .filter_map(|&(other, weight)| Some((place(other, &fixed[..k])?, weight)))
                .collect(),
        }
    });
    let fixed_units = fixed_units.collect();
    Some(Plan::along(part, scopes, fixed_units))
}
