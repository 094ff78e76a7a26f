//! A model with what is known about it, held on this side of the border.

use crate::arrays::{Data, Matrix, RowReader, Vector};
use crate::errors::exception;
use crate::options::optional;
use crate::work::{self, Call};
use lnz::data::{Binarize, DataOptions, DataReader};
use lnz::io::{self, ReadOptions, StoredModel, Units};
use lnz::{BuiltIn, Error, Gwgm, Rbm};
use lnz_app::{Recipe, Source, data_sets};
use ndarray::{ArrayView, Dimension};
use numpy::{IntoPyArray, PyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use std::collections::BTreeMap;
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

    /// What must be said about how a file was read.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.stored.notes.iter().map(ToString::to_string).collect()
    }

    /// The hash of the parameters.
    #[getter]
    fn sha256(&self) -> String {
        self.stored.model.sha256()
    }

    #[getter]
    fn summary(&self) -> String {
        lnz_app::report::ModelSummary::new(&self.name, &self.stored).to_text()
    }

    fn transposed(&self) -> PyResult<Self> {
        let mut stored = StoredModel::from(self.stored.model.transposed().map_err(exception)?);
        stored.exact_log_z = self.stored.exact_log_z;
        Ok(Self { stored, name: format!("{} transposed", self.name) })
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        io::write_model(&path, &self.stored).map_err(exception)
    }

    /// F(x) of every row of `X`.
    #[pyo3(signature = (data, *, threads))]
    fn log_marginals<'py>(
        &self,
        py: Python<'py>,
        data: Data<'py>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (model, binarize, seed, name) = (&self.stored.model, Binarize::None, 0, "X");
        let call = Call { threads, progress: None, crew: None };
        let scores = match &data {
            Data::Rows(matrix) => {
                let rows = matrix.rows();
                rows.check_width(name, model.visible()).map_err(exception)?;
                let mut reader = RowReader { rows, name, binarize, seed, done: 0 };
                work::run_borrowing(py, &call, |observer| {
                    Ok(lnz::score(model, &mut reader, observer)?)
                })
            }
            Data::File(path) => {
                let options = DataOptions { width: Some(model.visible()), binarize, seed };
                work::run_borrowing(py, &call, |observer| {
                    let mut reader = DataReader::open(&data_sets::resolve(path)?, options)?;
                    Ok(lnz::score(model, &mut reader, observer)?)
                })
            }
        };
        Ok(scores?.log_marginals.into_pyarray(py))
    }
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
#[pyo3(signature = (path, *, spin, weights, visible_bias, hidden_bias, layout, update))]
pub(crate) fn load(
    path: PathBuf,
    spin: Option<bool>,
    weights: Option<String>,
    visible_bias: Option<String>,
    hidden_bias: Option<String>,
    layout: Option<&str>,
    update: Option<u64>,
) -> PyResult<Model> {
    let units = spin.map(|spin| if spin { Units::Spin } else { Units::Binary });
    let mut options = ReadOptions::with_units(units);
    options.weights = weights;
    options.visible_bias = visible_bias;
    options.hidden_bias = hidden_bias;
    options.layout = optional("layout", layout)?;
    options.update = update;
    let source = Source::load_with(&path, &options).map_err(exception)?;
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
    let call = Call { threads, progress, crew: None };
    let stored = work::run(py, &call, move |observer| recipe.make(!no_exact, observer))?;
    Ok(Model { stored, name })
}
