//! Options as Python has them, as a request of the library.

use crate::arrays::{Data, Rows};
use crate::errors::exception;
use lnz::data::Binarize;
use lnz::{Choice, Flips, Method};
use lnz_app::compare::CompareRequest;
use lnz_app::request::StartRequest;
use lnz_app::request::{AnnealingRequest, AutoRequest, DataSource, Request, ScheduleRequest};
use lnz_app::{Result, data_sets};
use ndarray::{Array1, ArrayView1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// What every annealing run can be told.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Annealing {
    betas: Option<usize>,
    chains: Option<usize>,
    schedule: Option<Betas>,
    seed: u64,
    precision: Option<String>,
    no_exact: bool,
    no_check: bool,
}

/// What an estimate can be told besides.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options<'py> {
    method: String,
    target_error: Option<f64>,
    max_seconds: Option<f64>,
    rounds: Option<usize>,
    core: Option<usize>,
    start: Option<String>,
    init: Option<String>,
    epsilon: Option<f64>,
    samples: Option<usize>,
    steps: Option<usize>,
    flips: Option<Units>,
    chain_layout: Option<String>,
    data: Option<Data<'py>>,
    binarize: Option<String>,
    transpose: bool,
}

#[derive(FromPyObject)]
enum Betas {
    Numbers(Vec<f64>),
    File(PathBuf),
}

#[derive(FromPyObject)]
enum Units {
    Number(usize),
    Text(String),
}

impl Annealing {
    fn request(&self) -> PyResult<AnnealingRequest> {
        Ok(AnnealingRequest {
            betas: self.betas,
            chains: self.chains,
            schedule: match &self.schedule {
                None => None,
                Some(Betas::Numbers(betas)) => Some(ScheduleRequest::Betas(betas.clone())),
                Some(Betas::File(path)) if path.as_os_str() == "linear" => {
                    Some(ScheduleRequest::Linear)
                }
                Some(Betas::File(path)) => Some(ScheduleRequest::File(path.clone())),
            },
            seed: self.seed,
            precision: optional("precision", self.precision.as_deref())?,
        })
    }

    pub(crate) fn comparison(&self) -> PyResult<CompareRequest> {
        Ok(CompareRequest {
            no_exact: self.no_exact,
            no_check: self.no_check,
            annealing: self.request()?,
        })
    }
}

/// The request of an estimate for a model of this many visible units.
pub(crate) fn request(
    options: &Options<'_>,
    annealing: &Annealing,
    visible: usize,
) -> PyResult<Request> {
    let binarize = optional("binarize", options.binarize.as_deref())?;
    let data = match &options.data {
        None => None,
        Some(Data::File(path)) => {
            Some(DataSource::File(data_sets::resolve(path).map_err(exception)?))
        }
        Some(Data::Rows(matrix)) => {
            let binarize = binarize.unwrap_or_default();
            let means = means(matrix.rows(), visible, binarize, annealing.seed);
            Some(DataSource::Means(means.map_err(exception)?))
        }
    };
    Ok(Request {
        method: choice::<Method>("method", &options.method)?,
        no_exact: annealing.no_exact,
        no_check: annealing.no_check,
        max_seconds: options.max_seconds,
        auto: AutoRequest {
            target_error: options.target_error,
            rounds: options.rounds,
            core: options.core,
        },
        start: StartRequest {
            start: optional("start", options.start.as_deref())?,
            init: optional("init", options.init.as_deref())?,
            epsilon: options.epsilon,
            samples: options.samples,
            steps: options.steps,
            flips: options.flips.as_ref().map(flips).transpose()?,
            chain_layout: optional("chain_layout", options.chain_layout.as_deref())?,
            data,
            binarize,
        },
        annealing: annealing.request()?,
        transpose: options.transpose,
        save_weights: false,
    })
}

/// The mean of each column, as [`lnz::data::means`] has it for a file.
fn means(rows: Rows<'_>, visible: usize, binarize: Binarize, seed: u64) -> Result<Array1<f64>> {
    rows.check_width("data", visible)?;
    let (mut sums, mut row) = (Array1::zeros(visible), vec![0.0; visible]);
    for number in 0..rows.count() {
        rows.read("data", number, binarize, seed, &mut row)?;
        sums += &ArrayView1::from(&row);
    }
    Ok(sums / rows.count() as f64)
}

/// `3` units or `"15%"` of them.
fn flips(given: &Units) -> PyResult<Flips> {
    match given {
        Units::Number(n) => Ok(Flips::Units(*n)),
        Units::Text(text) => text
            .parse()
            .map_err(|expected| PyValueError::new_err(format!("flips is {text:?}; {expected}"))),
    }
}

pub(crate) fn optional<T: Choice>(setting: &str, text: Option<&str>) -> PyResult<Option<T>> {
    text.map(|text| choice(setting, text)).transpose()
}

/// One of a few names.
pub(crate) fn choice<T: Choice>(setting: &str, text: &str) -> PyResult<T> {
    T::named(text).ok_or_else(|| {
        PyValueError::new_err(format!("{setting} is {text:?}; expected {}", T::offer()))
    })
}
