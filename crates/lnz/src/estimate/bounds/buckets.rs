//! The mini-buckets of a model: which tables it is cut into, and where their sums go.

use super::super::SparseModel;
use super::projection::Projection;
use std::ops::Range;

/// No table has more units, whatever the settings allow: an index has 32 bits.
const MOST_UNITS: usize = 28;

/// Units that the tables of a group share out between them, at most. More take longer and gain little.
const MOST_SHARED: usize = 6;

/// A table over some units, the first of which is summed out.
pub(super) struct Bucket {
    /// Units by their place in the order, rising.
    pub(super) scope: Vec<u32>,
    /// Couplings of the first unit, by the place of the other in the scope.
    pub(super) couplings: Vec<(usize, f64)>,
    pub(super) bias: f64,
    /// Buckets whose sums go into this table.
    pub(super) sources: Vec<Part>,
    /// The group that sums out the same unit, if the unit is in several tables.
    pub(super) group: Option<Shared>,
}

/// A bucket whose units are all in the scope of another.
pub(super) struct Part {
    pub(super) bucket: usize,
    pub(super) projection: Projection,
}

/// What a bucket has in common with all others of its group.
pub(super) struct Shared {
    pub(super) projection: Projection,
    /// Entries of a table over what is shared, the first unit included.
    pub(super) entries: usize,
}

/// Buckets that sum out the same unit.
pub(super) struct Group {
    pub(super) members: Range<usize>,
    /// Entries of a table over the units that all members have, the first included.
    pub(super) entries: usize,
}

/// All tables of a model.
pub(super) struct Buckets {
    pub(super) buckets: Vec<Bucket>,
    pub(super) groups: Vec<Group>,
    /// Buckets that depend on those of earlier levels alone.
    pub(super) levels: Vec<Vec<usize>>,
}

impl Buckets {
    /// The largest tables that have no more than so many entries together; None if even the smallest
    /// have more.
    pub(super) fn within(model: &SparseModel, order: &[u32], entries: f64) -> Option<Self> {
        let mut best = None;
        for units in 2..=MOST_UNITS {
            let Some(buckets) = Self::of(model, order, units, entries) else { break };
            let is_whole = buckets.groups.is_empty();
            best = Some(buckets);
            if is_whole {
                break;
            }
        }
        best
    }

    /// Tables of at most `most_units`; None if they have more than `most_entries` together.
    fn of(
        model: &SparseModel,
        order: &[u32],
        most_units: usize,
        most_entries: f64,
    ) -> Option<Self> {
        let mut place_of = vec![0; order.len()];
        (0u32..).zip(order).for_each(|(place, &unit)| place_of[unit as usize] = place);
        // For each unit, the buckets whose sum has it as its first.
        let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
        let mut buckets: Vec<Bucket> = Vec::new();
        let mut groups = Vec::new();
        let mut level_of: Vec<usize> = Vec::new();
        let mut levels: Vec<Vec<usize>> = Vec::new();
        let mut entries = 0.0;
        for (place, &unit) in (0u32..).zip(order) {
            let mut terms: Vec<Term> = (incoming[place as usize].iter())
                .map(|&bucket| Term::Sum { bucket, scope: buckets[bucket].scope[1..].to_vec() })
                .collect();
            let later = model.neighbours(unit as usize).iter();
            terms.extend(later.filter_map(|&(other, weight)| {
                let other = place_of[other as usize];
                (other > place).then_some(Term::Coupling { scope: [place, other], weight })
            }));
            let tables = share_out(&terms, place, most_units);
            let first = buckets.len();
            let members = first..first + tables.len();
            let bias = model.biases()[unit as usize] / tables.len() as f64;
            for (scope, terms) in tables {
                entries += (scope.len() as f64).exp2();
                if entries > most_entries {
                    return None;
                }
                if let Some(&next) = scope.get(1) {
                    incoming[next as usize].push(buckets.len());
                }
                let bucket = Bucket::new(scope, terms, bias);
                let sources = bucket.sources.iter();
                let level = sources.map(|part| level_of[part.bucket] + 1).max().unwrap_or(0);
                levels.resize_with(levels.len().max(level + 1), Vec::new);
                levels[level].push(buckets.len());
                level_of.push(level);
                buckets.push(bucket);
            }
            if members.len() > 1 {
                let is_shared =
                    |unit: &u32| buckets[members.clone()].iter().all(|b| b.scope.contains(unit));
                let shared: Vec<u32> = buckets[first]
                    .scope
                    .iter()
                    .copied()
                    .filter(is_shared)
                    .take(MOST_SHARED)
                    .collect();
                for bucket in &mut buckets[members.clone()] {
                    let projection = Projection::new(&bucket.scope[1..], &shared[1..]);
                    bucket.group = Some(Shared { projection, entries: 1 << shared.len() });
                }
                groups.push(Group { members, entries: 1 << shared.len() });
            }
        }
        Some(Self { buckets, groups, levels })
    }

    /// Units in the largest table.
    pub(super) fn width(&self) -> usize {
        self.buckets.iter().map(|bucket| bucket.scope.len()).max().unwrap_or(0)
    }
}

impl Bucket {
    fn new(scope: Vec<u32>, terms: Vec<&Term>, bias: f64) -> Self {
        let (mut couplings, mut sources) = (Vec::new(), Vec::new());
        for term in terms {
            match term {
                Term::Sum { bucket, scope: part } => sources.push(Part {
                    bucket: *bucket,
                    projection: Projection::new(&scope[1..], &part[1..]),
                }),
                Term::Coupling { scope: [_, other], weight } => {
                    couplings.extend(scope.binary_search(other).ok().map(|k| (k, *weight)));
                }
            }
        }
        Self { scope, couplings, bias, sources, group: None }
    }
}

/// A factor of the sum over a unit.
enum Term {
    /// What earlier buckets have left.
    Sum {
        bucket: usize,
        scope: Vec<u32>,
    },
    Coupling {
        scope: [u32; 2],
        weight: f64,
    },
}

impl Term {
    fn scope(&self) -> &[u32] {
        match self {
            Self::Sum { scope, .. } => scope,
            Self::Coupling { scope, .. } => scope,
        }
    }
}

/// Shares the factors of a unit out to as few tables as possible: the largest first, each to the table
/// that grows least.
fn share_out(terms: &[Term], place: u32, most_units: usize) -> Vec<(Vec<u32>, Vec<&Term>)> {
    let mut by_size: Vec<&Term> = terms.iter().collect();
    by_size.sort_by_key(|term| std::cmp::Reverse(term.scope().len()));
    let mut tables: Vec<(Vec<u32>, Vec<&Term>)> = Vec::new();
    for term in by_size {
        let grows = |scope: &[u32]| {
            term.scope().iter().filter(|unit| scope.binary_search(unit).is_err()).count()
        };
        let fitting =
            tables.iter_mut().filter(|(scope, _)| scope.len() + grows(scope) <= most_units);
        let least = fitting.min_by_key(|(scope, _)| (grows(scope), std::cmp::Reverse(scope.len())));
        match least {
            Some((scope, terms)) => {
                scope.extend_from_slice(term.scope());
                scope.sort_unstable();
                scope.dedup();
                terms.push(term);
            }
            None => tables.push((term.scope().to_vec(), vec![term])),
        }
    }
    if tables.is_empty() {
        tables.push((vec![place], Vec::new()));
    }
    tables
}
