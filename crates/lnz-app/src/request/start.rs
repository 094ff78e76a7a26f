//! The start distribution as it is asked for.

use super::first_given;
use crate::{Error, Result};
use lnz::data::{self, Binarize, DataOptions, DataReader};
use lnz::io::StoredModel;
use lnz::{Auto, ChainLayout, Flips, InitialState, Sampler, Sampling, Start, StartRule};
use ndarray::Array1;
use std::path::PathBuf;

/// Flipping all units is the variant of Metropolis that did best on the paper's hardest family.
const DEFAULT_FLIPS: Flips = Flips::Percent(100.0);

/// Where annealing starts; `None` is left to the defaults. See [`Sampling`].
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct StartRequest {
    pub start: Option<StartKind>,
    pub init: Option<InitialState>,
    pub epsilon: Option<f64>,
    pub samples: Option<usize>,
    pub steps: Option<usize>,
    pub flips: Option<Flips>,
    pub chain_layout: Option<ChainLayout>,
    pub data: Option<DataSource>,
    pub binarize: Option<Binarize>,
}

/// Where the means of the start come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartKind {
    /// All states equally likely (B = 0).
    Uniform,
    /// Means of a data set.
    Data,
    /// Means of Gibbs samples of the model.
    Gibbs,
    /// Means of Metropolis samples of the model.
    Metropolis,
}

lnz::choices!(StartKind {
    Uniform: "uniform", "All states equally likely (B = 0)";
    Data: "data", "Means of a data set";
    Gibbs: "gibbs", "Means of Gibbs samples of the model";
    Metropolis: "metropolis", "Means of Metropolis samples of the model";
});

/// Data for the means of the visible units.
#[derive(Debug, Clone, PartialEq)]
pub enum DataSource {
    /// A file that [`data::means`] can read.
    File(PathBuf),
    /// Means of data that is in memory.
    Means(Array1<f64>),
}

impl DataSource {
    /// For the report.
    pub(crate) fn name(&self) -> String {
        match self {
            DataSource::File(path) => path.display().to_string(),
            DataSource::Means(_) => "array".to_owned(),
        }
    }
}

/// Where annealing starts, with all defaults filled in.
#[derive(Debug, Clone)]
pub enum StartPlan {
    /// All states equally likely.
    Uniform,
    /// Means of data.
    Data {
        /// The data; without one, the means stored with the model.
        source: Option<DataSource>,
        /// How its grey values become 0 or 1.
        binarize: Binarize,
        /// Cut-off of the means.
        epsilon: f64,
    },
    /// Means of samples of the model.
    Sampled(Sampling),
}

impl StartRequest {
    /// The first option given that only plain AIS understands.
    pub(super) fn ais_option(&self) -> Option<&'static str> {
        first_given(&[
            ("start", self.start.is_some()),
            ("init", self.init.is_some()),
            ("epsilon", self.epsilon.is_some()),
            ("samples", self.samples.is_some()),
            ("steps", self.steps.is_some()),
            ("flips", self.flips.is_some()),
            ("chain_layout", self.chain_layout.is_some()),
        ])
    }

    pub(super) fn reject_binarize_without_data(&self) -> Result<()> {
        if self.binarize.is_some() && self.data.is_none() {
            return Err(Error::options("{binarize} needs {data}, whose values it changes"));
        }
        Ok(())
    }

    pub(super) fn plan(&self) -> Result<StartPlan> {
        let kind = self.start.unwrap_or(match self.data {
            Some(_) => StartKind::Data,
            None => StartKind::Gibbs,
        });
        self.reject_unused(kind)?;
        Ok(match kind {
            StartKind::Uniform => StartPlan::Uniform,
            StartKind::Data => self.data_plan(),
            StartKind::Gibbs => self.sampled(Sampler::Gibbs),
            StartKind::Metropolis => {
                self.sampled(Sampler::Metropolis { flips: self.flips.unwrap_or(DEFAULT_FLIPS) })
            }
        })
    }

    fn sampled(&self, sampler: Sampler) -> StartPlan {
        let defaults = Sampling::default();
        StartPlan::Sampled(Sampling {
            sampler,
            initial: self.init.unwrap_or(defaults.initial),
            samples: self.samples.unwrap_or(defaults.samples),
            steps: self.steps.unwrap_or(defaults.steps),
            layout: self.chain_layout.unwrap_or(defaults.layout),
            epsilon: self.epsilon.unwrap_or(defaults.epsilon),
        })
    }

    pub(super) fn data_plan(&self) -> StartPlan {
        StartPlan::Data {
            source: self.data.clone(),
            binarize: self.binarize.unwrap_or_default(),
            epsilon: self.epsilon.unwrap_or(Sampling::default().epsilon),
        }
    }

    /// An option that would have no effect is a misunderstanding, and better said than ignored.
    fn reject_unused(&self, kind: StartKind) -> Result<()> {
        use StartKind::{Data, Gibbs, Metropolis};
        let options: [(&str, bool, &[StartKind]); 8] = [
            ("init", self.init.is_some(), &[Gibbs, Metropolis]),
            ("samples", self.samples.is_some(), &[Gibbs, Metropolis]),
            ("steps", self.steps.is_some(), &[Gibbs, Metropolis]),
            ("chain_layout", self.chain_layout.is_some(), &[Gibbs, Metropolis]),
            ("flips", self.flips.is_some(), &[Metropolis]),
            ("epsilon", self.epsilon.is_some(), &[Data, Gibbs, Metropolis]),
            ("data", self.data.is_some(), &[Data]),
            ("binarize", self.binarize.is_some() && self.data.is_some(), &[Data]),
        ];
        for (option, given, kinds) in options {
            if given && !kinds.contains(&kind) {
                let fitting: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
                return Err(Error::options(format!(
                    "{{{option}}} has no effect with {{start={}}}; it is for {{start={}}}",
                    kind.name(),
                    fitting.join("} or {start=")
                )));
            }
        }
        self.reject_binarize_without_data()
    }
}

impl StartPlan {
    /// What it is called.
    pub fn kind(&self) -> StartKind {
        match self {
            StartPlan::Uniform => StartKind::Uniform,
            StartPlan::Data { .. } => StartKind::Data,
            StartPlan::Sampled(sampling) => match sampling.sampler {
                Sampler::Gibbs => StartKind::Gibbs,
                Sampler::Metropolis { .. } => StartKind::Metropolis,
            },
        }
    }

    /// How the start distribution is found, with the means of the data where they are asked for.
    pub(crate) fn rule(&self, stored: &StoredModel, seed: u64) -> Result<StartRule> {
        Ok(match self {
            StartPlan::Uniform => StartRule::Uniform,
            StartPlan::Sampled(sampling) => StartRule::Sampled(*sampling),
            StartPlan::Data { epsilon, .. } => {
                let means = self.data_means(stored, seed)?;
                StartRule::Given(Start::from_means(means.view(), *epsilon)?)
            }
        })
    }

    /// The data could be read, as far as its beginning tells, where it is given but not needed.
    pub(crate) fn check_data(&self, stored: &StoredModel, seed: u64) -> Result<()> {
        match self {
            StartPlan::Data { source: Some(DataSource::File(path)), binarize, .. } => {
                let width = Some(stored.model.visible());
                DataReader::open(path, DataOptions { width, binarize: *binarize, seed })?;
            }
            StartPlan::Data { source: Some(DataSource::Means(means)), .. } => {
                let data_means = Some(means.clone());
                Auto { data_means, ..Auto::default() }.check(&stored.model)?;
            }
            _ => (),
        }
        Ok(())
    }

    /// The means of the data, or those stored with the model.
    pub(crate) fn data_means(&self, stored: &StoredModel, seed: u64) -> Result<Array1<f64>> {
        let visible = stored.model.visible();
        match self {
            StartPlan::Data { source: Some(DataSource::File(path)), binarize, .. } => {
                let width = Some(visible);
                Ok(data::means(path, DataOptions { width, binarize: *binarize, seed })?)
            }
            StartPlan::Data { source: Some(DataSource::Means(means)), .. } => Ok(means.clone()),
            _ => stored.data_means.clone().ok_or_else(|| {
                Error::options(
                    "{start=data} needs {data}, because the model has no `data_means` of its own",
                )
            }),
        }
    }
}
