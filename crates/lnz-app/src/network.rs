//! log Z of a network that is too large for a matrix, such as a tree of 100,000 units.

use crate::Result;
use crate::provenance::Provenance;
use crate::report::{ModelSummary, Report, Settings};
use lnz::io::{LargeNetwork, Units};
use lnz::{Deadline, Exact, Observer, SparseModel};
use std::time::Instant;

/// A sum over all states of a network; `name` is what the report calls it. A limit of time counts from
/// `started`.
pub fn exact(
    network: &LargeNetwork,
    name: &str,
    settings: &Exact,
    max_seconds: Option<f64>,
    started: Instant,
    observer: &dyn Observer,
) -> Result<Report> {
    let model = SparseModel::new(network.biases.clone(), &network.couplings)?
        .with_constant(network.constant)?;
    let deadline = Deadline::since(started, max_seconds.unwrap_or(f64::INFINITY), observer);
    let found = settings.estimate_sparse(&model, &deadline);
    let finding = found.map_err(|error| deadline.explain(error))?;
    Ok(Report {
        model: ModelSummary {
            name: name.to_owned(),
            visible: network.visible,
            hidden: network.hidden,
            components: model.components().len(),
            weight_rms: network.weight_rms(),
            units: Units::Binary,
            sha256: network.sha256(),
        },
        notes: Vec::new(),
        settings: Settings { max_seconds, ..Settings::default() },
        warnings: Vec::new(),
        threads: rayon::current_num_threads(),
        rounds: Vec::new(),
        run: Provenance::now(),
        ready_parts: 0,
        choice: None,
        finding,
    })
}
