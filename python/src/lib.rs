//! The compiled half of the Python package `lnz`; the other half checks types and speaks Python.

mod along;
mod arrays;
mod choices;
mod crew;
mod errors;
mod estimates;
mod model;
mod options;
mod page;
mod score;
mod track;
mod train;
mod work;
mod worker;

#[pyo3::pymodule]
mod _lnz {
    #[pymodule_export]
    use crate::along::{Tracked, track_run};
    #[pymodule_export]
    use crate::choices::choices;
    #[pymodule_export]
    use crate::estimates::{
        Compared, Drawn, Found, bounds, compare, defaults, estimate, exact, sample, schema,
        write_log_z,
    };
    #[pymodule_export]
    use crate::model::{Model, generate, load, models, tensor_names};
    #[pymodule_export]
    use crate::page::{
        write_compare_page, write_estimate_page, write_score_page, write_track_page,
        write_train_page,
    };
    #[pymodule_export]
    use crate::score::{Likelihood, LogZ, Scored, score};
    #[pymodule_export]
    use crate::track::{Examples, track};
    #[pymodule_export]
    use crate::train::train;
    #[pymodule_export]
    use crate::worker::carry_out;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
