//! A model with what is known about it, held on this side of the border.

use crate::arrays::{Data, Matrix, Vector};
use crate::errors::exception;
use crate::options::optional;
use crate::work::{self, Call};
use lnz::data::{Binarize, DataOptions, DataReader};
use lnz::io::{self, StoredModel, Units};
use lnz::{BuiltIn, Error, Gwgm, Observer, Phase, Progress, Rbm};
use lnz_app::{Recipe, Source};
use ndarray::{Array2, ArrayView, Dimension};
use numpy::{IntoPyArray, PyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

/// Never changes after it is made, so that threads may share it and arrays may look into it.
#[pyclass(frozen, module = "lnz._lnz")]
pub(crate) struct Model {
    pub(crate) stored: StoredModel,
    /// What reports call it.
    #[pyo3(get)]
    pub(crate) name: String,
}

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (weights, visible_bias, hidden_bias, *, spin, constant, data_means, exact_log_z, metadata, name))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        weights: Matrix<'_>,
        visible_bias: Vector<'_>,
        hidden_bias: Vector<'_>,
        spin: bool,
        constant: f64,
        data_means: Option<Vector<'_>>,
        exact_log_z: Option<f64>,
        metadata: BTreeMap<String, String>,
        name: String,
    ) -> PyResult<Self> {
        let build = if spin { Rbm::from_spins } else { Rbm::new };
        let arrays = (weights.to_owned(), visible_bias.to_owned(), hidden_bias.to_owned());
        let model = build(arrays.0, arrays.1, arrays.2).map_err(exception)?;
        let constant = model.constant() + constant;
        let mut stored = StoredModel::from(model.with_constant(constant).map_err(exception)?);
        stored.data_means = data_means.map(|means| means.to_owned());
        stored.exact_log_z = exact_log_z;
        stored.metadata = metadata;
        check_means(&stored).map_err(exception)?;
        Ok(Self { stored, name })
    }

    #[getter]
    fn weights<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray2<f64>> {
        read_only(slf, slf.get().stored.model.weights())
    }

    #[getter]
    fn visible_bias<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        read_only(slf, slf.get().stored.model.visible_bias())
    }

    #[getter]
    fn hidden_bias<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        read_only(slf, slf.get().stored.model.hidden_bias())
    }

    #[getter]
    fn data_means<'py>(slf: &Bound<'py, Self>) -> Option<Bound<'py, PyArray1<f64>>> {
        let means = slf.get().stored.data_means.as_ref()?;
        Some(read_only(slf, means.view()))
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.stored.model.visible(), self.stored.model.hidden())
    }

    #[getter]
    fn constant(&self) -> f64 {
        self.stored.model.constant()
    }

    #[getter]
    fn exact_log_z(&self) -> Option<f64> {
        self.stored.exact_log_z
    }

    #[getter]
    fn metadata(&self) -> BTreeMap<String, String> {
        self.stored.metadata.clone()
    }

    #[getter]
    fn summary(&self) -> String {
        lnz_app::report::ModelSummary::new(&self.name, &self.stored.model).to_text()
    }

    /// Predicted time of the exact value on so many threads.
    fn exact_seconds(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<f64> {
        let call = Call { threads, progress: None };
        Ok(work::run_borrowing(py, &call, |_| Ok(lnz::exact_cost(&self.stored.model)?))?.seconds)
    }

    fn transposed(&self) -> PyResult<Self> {
        let mut stored = StoredModel::from(self.stored.model.transposed().map_err(exception)?);
        stored.exact_log_z = self.stored.exact_log_z;
        Ok(Self { stored, name: format!("{} transposed", self.name) })
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        io::write_model(&path, &self.stored).map_err(exception)
    }

    /// F(x) of every row of a data set, which messages call `name`.
    #[pyo3(signature = (name, data, *, binarize, seed, threads, progress))]
    #[allow(clippy::too_many_arguments)]
    fn log_marginals<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        data: Data<'py>,
        binarize: Option<&str>,
        seed: u64,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let binarize: Binarize = optional("binarize", binarize)?.unwrap_or_default();
        let call = Call { threads, progress };
        let model = &self.stored.model;
        let values = match &data {
            Data::Rows(matrix) => {
                let rows = matrix.rows();
                rows.check_width(name, model.visible()).map_err(exception)?;
                work::run_borrowing(py, &call, |observer| {
                    of_rows(model, rows.count(), observer, |numbers| {
                        rows.block(name, numbers, binarize, seed)
                    })
                })
            }
            Data::File(path) => {
                let options = DataOptions { width: Some(model.visible()), binarize, seed };
                work::run_borrowing(py, &call, |observer| {
                    let scores = lnz::score(model, &mut DataReader::open(path, options)?, observer);
                    Ok(scores?.log_marginals)
                })
            }
        };
        Ok(values?.into_pyarray(py))
    }
}

/// F of so many rows, in blocks of bounded memory and time.
fn of_rows(
    model: &Rbm,
    count: usize,
    observer: &dyn Observer,
    block: impl Fn(Range<usize>) -> lnz_app::Result<Array2<f64>>,
) -> lnz_app::Result<Vec<f64>> {
    /// 16 MB in float64.
    const VALUES: usize = 1 << 21;
    /// A fraction of a second, after which Ctrl-C is seen.
    const PRODUCTS: usize = 1 << 29;
    /// Below, getting the weights ready for a block would take longer than the block.
    const LEAST_ROWS: usize = 64;
    let (visible, hidden) = (model.visible(), model.hidden().max(1));
    let rows = (VALUES / visible).min(PRODUCTS / visible / hidden).max(LEAST_ROWS);
    let mut values = Vec::with_capacity(count);
    while values.len() < count {
        if observer.cancelled() {
            let reached = format!("after {} rows", values.len());
            return Err(Error::Cancelled { reached }.into());
        }
        let end = count.min(values.len() + rows);
        values.extend(lnz::log_marginals(model, block(values.len()..end)?.view())?);
        let (done, total) = (end as u64, count as u64);
        observer.progress(Progress { phase: Phase::Score, done, total, log_z: None, beta: None });
    }
    Ok(values)
}

fn check_means(stored: &StoredModel) -> lnz::Result<()> {
    let Some(means) = &stored.data_means else { return Ok(()) };
    if means.len() != stored.model.visible() {
        let (found, expected) = (means.len(), stored.model.visible());
        return Err(Error::Width { what: "data_means".into(), found, expected });
    }
    match means.indexed_iter().find(|(_, mean)| !(0.0..=1.0).contains(*mean)) {
        None => Ok(()),
        Some((i, mean)) => Err(Error::Setting {
            setting: "data_means",
            found: format!("{mean} at [{i}]"),
            expected: "values in [0, 1]".into(),
        }),
    }
}

/// An array of the model as numpy sees it: no copy, and no writing.
fn read_only<'py, D: Dimension>(
    model: &Bound<'py, Model>,
    array: ArrayView<'_, f64, D>,
) -> Bound<'py, PyArray<f64, D>> {
    // SAFETY: every caller passes a view into `model`, which is frozen, so that the memory neither
    // moves nor changes, and which the new array keeps alive as its base.
    let seen = unsafe { PyArray::borrow_from_array(&array, model.clone().into_any()) };
    seen.readwrite().make_nonwriteable();
    seen
}

#[pyfunction]
#[pyo3(signature = (path, *, spin))]
pub(crate) fn load(path: PathBuf, spin: Option<bool>) -> PyResult<Model> {
    let units = spin.map(|spin| if spin { Units::Spin } else { Units::Binary });
    let source = Source::load(&path, units).map_err(exception)?;
    Ok(Model { name: source.name.clone(), stored: source.into_stored() })
}

/// The names under which weights, visible bias and hidden bias are recognised.
#[pyfunction]
pub(crate) fn tensor_names() -> [Vec<&'static str>; 3] {
    io::tensor_names().map(<[_]>::to_vec)
}

/// Name, shape, description and epoch.
type BuiltInFields = (&'static str, (usize, usize), &'static str, Option<usize>);

/// The built-in models.
#[pyfunction]
pub(crate) fn models() -> Vec<BuiltInFields> {
    let fields = |entry: &BuiltIn| (entry.name, entry.shape, entry.description, entry.epoch());
    lnz::BUILT_IN.iter().map(fields).collect()
}

/// An artificial model.
#[pyfunction]
#[pyo3(signature = (sizes, moments, *, blocks, shuffle, seed, no_exact, threads, progress, name))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn generate(
    py: Python<'_>,
    sizes: (usize, usize),
    moments: [f64; 5],
    blocks: Option<usize>,
    shuffle: bool,
    seed: u64,
    no_exact: bool,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    name: String,
) -> PyResult<Model> {
    let [mu_mu, sigma_mu, mu_sigma, sigma_sigma, lambda] = moments;
    let (visible, hidden) = sizes;
    let family = Gwgm { visible, hidden, mu_mu, sigma_mu, mu_sigma, sigma_sigma, lambda };
    let recipe = Recipe { family, blocks, shuffle, seed };
    let call = Call { threads, progress };
    let stored = work::run(py, &call, move |observer| recipe.make(!no_exact, observer))?;
    Ok(Model { stored, name })
}
