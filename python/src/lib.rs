//! The compiled half of the Python package `lnz`.
use pyo3::prelude::*;
#[pymodule]
mod _lnz {
    use super::*;
    #[pyfunction]
    fn models() -> usize {
        lnz::BUILT_IN.len()
    }
}
