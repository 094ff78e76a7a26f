//! Orders in which to eliminate units: several greedy ones, the cheapest wins.

mod greedy;
mod levels;

use super::SparseModel;
use super::scopes::Scopes;
use lnz_kernels::random::{Purpose, Random};

/// Table entries that take some milliseconds: nothing better is looked for.
const CHEAP_ENTRIES: f64 = 1e6;

/// Operations on lists that a search may spend in all, about a quarter of a second.
const MOST_OPERATIONS: u64 = 100_000_000;

/// Randomised tries, at most.
const MOST_TRIES: u64 = 200;

/// No elimination has a smaller width: the largest number k such that some part of the model has at
/// least k neighbours within the part for each of its units.
pub(super) fn least_width(model: &SparseModel) -> usize {
    let units = model.units();
    let mut degree: Vec<usize> = (0..units).map(|u| model.neighbours(u).len()).collect();
    let most = degree.iter().copied().max().unwrap_or(0);
    // Units by degree; entries that are out of date are skipped.
    let mut by_degree = vec![Vec::new(); most + 1];
    (0..units).for_each(|unit| by_degree[degree[unit]].push(unit));
    let mut removed = vec![false; units];
    let (mut least, mut current) = (0, 0);
    while current <= most {
        let Some(unit) = by_degree[current].pop() else {
            current += 1;
            continue;
        };
        if removed[unit] || degree[unit] != current {
            continue;
        }
        least = least.max(current);
        removed[unit] = true;
        for &(other, _) in model.neighbours(unit) {
            let other = other as usize;
            if !removed[other] {
                degree[other] -= 1;
                by_degree[degree[other]].push(other);
                current = current.min(degree[other]);
            }
        }
    }
    least
}

/// The cheapest order found, as scopes; None if every try met a unit with too many neighbours.
///
/// Nothing here depends on the machine, so that the same model is always eliminated in the same order.
pub(super) fn find(model: &SparseModel) -> Option<Scopes> {
    let mut search = Search { model, best: None, operations: 0 };
    let ties: Vec<u64> = (0..model.units() as u64).collect();
    search.greedy(greedy::Score::Degree, &ties);
    if search.is_cheap() {
        return search.best;
    }
    search.consider(levels::order(model));
    // Counting gaps takes about eight times as long as counting neighbours.
    if search.best.as_ref().is_some_and(|best| 8.0 * search.operations as f64 > best.entries) {
        return search.best;
    }
    search.greedy(greedy::Score::Fill, &ties);
    let mut random = Random::stream(0, Purpose::Shuffle, model.units() as u64);
    for attempt in 0..MOST_TRIES {
        // A tenth of the time that the elimination itself would take is worth spending.
        let worth = search.best.as_ref().map_or(0.0, |best| best.entries / 10.0);
        if search.is_cheap() || search.operations as f64 > worth.min(MOST_OPERATIONS as f64) {
            break;
        }
        let ties: Vec<u64> = ties.iter().map(|_| random.bits()).collect();
        let score = if attempt % 4 == 3 { greedy::Score::Degree } else { greedy::Score::Fill };
        search.greedy(score, &ties);
    }
    search.best
}

/// An order for tables that will be cut where they are too large. A unit with more neighbours than this
/// would be cut in any case; between 8 and 60, bounds of grids, Chimera graphs and random models differ
/// by less than 1%.
pub(super) fn with_cuts(model: &SparseModel) -> Vec<u32> {
    greedy::order_with_cuts(model, 24)
}

struct Search<'a> {
    model: &'a SparseModel,
    best: Option<Scopes>,
    operations: u64,
}

impl Search<'_> {
    fn is_cheap(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.entries <= CHEAP_ENTRIES)
    }

    fn greedy(&mut self, score: greedy::Score, ties: &[u64]) {
        let limit = self.best.as_ref().map_or(f64::INFINITY, |best| best.entries);
        let budget = MOST_OPERATIONS.saturating_sub(self.operations);
        let (order, spent) = greedy::order(self.model, score, ties, limit, budget);
        self.operations += spent;
        if let Some(order) = order {
            self.consider(order);
        }
    }

    fn consider(&mut self, order: Vec<u32>) {
        let Some(scopes) = Scopes::of(self.model, order) else { return };
        if self.best.as_ref().is_none_or(|best| scopes.entries < best.entries) {
            self.best = Some(scopes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An open grid of `side` x `side` units.
    fn grid(side: usize) -> SparseModel {
        let mut pairs = Vec::new();
        for i in 0..side * side {
            if i % side + 1 < side {
                pairs.push((i, i + 1, 1.0));
            }
            if i + side < side * side {
                pairs.push((i, i + side, 1.0));
            }
        }
        SparseModel::new(vec![0.0; side * side], &pairs).unwrap()
    }

    #[test]
    fn known_widths_are_found() {
        let line: Vec<_> = (0..9).map(|i| (i, i + 1, 1.0)).collect();
        let chain = SparseModel::new(vec![0.0; 10], &line).unwrap();
        let mut closed = line.clone();
        closed.push((9, 0, 1.0));
        let ring = SparseModel::new(vec![0.0; 10], &closed).unwrap();
        let all: Vec<_> = (0..7).flat_map(|i| (0..i).map(move |j| (i, j, 1.0))).collect();
        let clique = SparseModel::new(vec![0.0; 7], &all).unwrap();
        for (model, width) in [(&chain, 1), (&ring, 2), (&clique, 6)] {
            assert_eq!(find(model).unwrap().width, width);
            assert_eq!(least_width(model), width);
        }
        for side in [2, 3, 15, 20] {
            let width = find(&grid(side)).unwrap().width;
            assert!((side..=side + 1).contains(&width), "{width} for a side of {side}");
        }
    }

    #[test]
    fn the_search_repeats_itself() {
        let model = grid(15);
        assert_eq!(find(&model).unwrap().order, find(&model).unwrap().order);
    }

    #[test]
    fn units_with_many_neighbours_do_not_slow_the_search() {
        // 200,000 units that are each coupled to the same two; quadratic time would be minutes.
        let pairs: Vec<_> = (2..200_002).flat_map(|i| [(0, i, 1.0), (1, i, 1.0)]).collect();
        let model = SparseModel::new(vec![0.0; 200_002], &pairs).unwrap();
        assert_eq!(find(&model).unwrap().width, 2);
    }

    #[test]
    fn a_hopeless_model_is_given_up_soon() {
        // 400 units, all coupled to all.
        let all: Vec<_> = (0..400).flat_map(|i| (0..i).map(move |j| (i, j, 1.0))).collect();
        let clique = SparseModel::new(vec![0.0; 400], &all).unwrap();
        assert!(find(&clique).is_none());
        assert_eq!(least_width(&clique), 399);
    }
}
