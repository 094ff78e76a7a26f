//! Elimination keeps to the memory that it is given.

use cap::Cap;
use lnz::{Exact, SparseModel, exact_cost_sparse, exact_log_z_sparse};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Blocks, scopes and lists beside the tables.
const OVERHEAD: f64 = 1e6;

#[test]
fn tables_stay_within_the_limit() {
    let side = 10;
    let unit = |row: usize, column: usize| row % side * side + column % side;
    let pairs: Vec<_> = (0..side * side)
        .flat_map(|i| {
            let (row, column) = (i / side, i % side);
            [(i, unit(row + 1, column), 0.6), (i, unit(row, column + 1), -0.4)]
        })
        .collect();
    let model = SparseModel::new(vec![0.1; side * side], &pairs).unwrap();
    let mut found = Vec::new();
    // The least first: the allocator remembers its largest.
    for max_bytes in [3e6, 12e6, 1e9] {
        let settings = Exact { max_bytes: Some(max_bytes), ..Exact::FORCED };
        let before = ALLOCATOR.allocated() as f64;
        let cost = exact_cost_sparse(&model, &settings).unwrap();
        assert!(cost.bytes <= max_bytes, "{cost:?}");
        found.push(exact_log_z_sparse(&model, &settings, &()).unwrap());
        let used = ALLOCATOR.max_allocated() as f64 - before;
        assert!(used <= cost.bytes + OVERHEAD, "{used} bytes for {cost:?}");
        assert!(used >= 0.9 * cost.bytes, "{used} bytes for {cost:?}");
    }
    for log_z in &found[1..] {
        assert!((log_z - found[0]).abs() < 1e-11, "{found:?}");
    }
}
