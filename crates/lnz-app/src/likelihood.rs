//! The log-likelihood of data: F of every example, then log Z, with what is known about both.

mod lines;
mod log_z;
mod warnings;

pub use log_z::LogZ;
pub use warnings::LikelihoodWarning;

use crate::provenance::Provenance;
use crate::report::ModelSummary;
use crate::{Result, data_sets, schema};
use lnz::data::{Binarize, DataFormat, DataOptions, DataReader};
use lnz::io::StoredModel;
use lnz::json::{real, some_real, some_reals};
use lnz::{Batches, Observer, Scores};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

/// F over a data set. It is computed before log Z is: what is wrong with the data is known before
/// minutes go into log Z.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Scored {
    scores: Scores,
    model: ModelSummary,
    data: DataSummary,
    /// About a file that stops short of the last visible unit.
    narrow: Option<LikelihoodWarning>,
    seconds: f64,
}

/// The data set and what was done with it.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DataSummary {
    /// As it was asked for.
    pub name: String,
    /// What was done with grey values.
    pub binarize: Binarize,
    /// Of the binarisation.
    pub seed: Option<u64>,
    /// Share of values that are neither 0 nor 1.
    pub grey_share: f64,
}

/// The object that `--json` prints; the names of its fields are a contract. Numbers that do not apply are
/// null, infinite ones are words.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct LikelihoodReport {
    /// Version of the fields.
    pub schema: u32,
    /// Mean over the examples.
    pub mean_log_likelihood: f64,
    /// That of log Z: it holds for these examples.
    #[serde(serialize_with = "some_real")]
    pub std_error: Option<f64>,
    /// 95% interval: that of log Z, turned round.
    #[serde(serialize_with = "some_reals")]
    pub interval: Option<[f64; 2]>,
    /// Standard error of the mean over other examples of the same kind; independent of `std_error`.
    #[serde(serialize_with = "real")]
    pub sampling_error: f64,
    /// Number of examples.
    pub examples: usize,
    /// How the log-likelihoods spread.
    pub quantiles: Quantiles,
    /// Mean of F.
    pub mean_log_marginal: f64,
    /// The log Z that was taken off.
    pub log_z: f64,
    /// That of log Z, or `suspect` where the examples contradict it.
    pub verdict: Option<String>,
    /// Why not to trust it, and what to know about the data.
    pub warnings: Vec<LikelihoodWarning>,
    /// The model in numbers.
    pub model: ModelSummary,
    /// The data set.
    pub data: DataSummary,
    /// The result that log Z comes from.
    pub estimate: Value,
    /// Time to go through the data.
    pub seconds: f64,
    /// What may differ between runs that give the same result.
    pub run: Provenance,
    #[serde(skip)]
    log_z_origin: String,
    #[serde(skip)]
    log_z_interval: Option<[f64; 2]>,
}

/// Of the log-likelihood over the examples.
#[derive(Debug, Clone, Copy, Serialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Quantiles {
    pub min: f64,
    pub q05: f64,
    pub q25: f64,
    pub median: f64,
    pub q75: f64,
    pub q95: f64,
    pub max: f64,
}

/// A model whose data is to be scored.
#[derive(Debug, Clone, Copy)]
pub struct ScoreRequest<'a> {
    /// What the report calls the model.
    pub name: &'a str,
    /// The model.
    pub stored: &'a StoredModel,
    /// How grey values become 0 or 1.
    pub binarize: Binarize,
    /// Of that.
    pub seed: u64,
}

impl ScoreRequest<'_> {
    /// F of every example in a file, or in a data set that is known by name.
    pub fn file(&self, data: &Path, observer: &dyn Observer) -> Result<Scored> {
        let visible = self.stored.model.visible();
        let (binarize, seed) = (self.binarize, self.seed);
        let options = DataOptions { width: Some(visible), binarize, seed };
        let mut reader = DataReader::open(&data_sets::resolve(data)?, options)?;
        let mut scored = self.score(data.display().to_string(), &mut reader, observer)?;
        // LIBSVM text leaves out zeros, so that a data set for a smaller model cannot be refused.
        if reader.format() == DataFormat::Libsvm {
            let means = scored.scores.data_means.as_slice().unwrap_or_default();
            let used = means.iter().rposition(|&mean| mean > 0.0).map_or(0, |last| last + 1);
            scored.narrow = (used < visible).then(|| LikelihoodWarning::narrow_data(used, visible));
        }
        Ok(scored)
    }

    /// F of every row in memory; they come with their grey values as they are to be.
    pub fn rows(&self, rows: &mut impl Batches, observer: &dyn Observer) -> Result<Scored> {
        self.score("array".to_owned(), rows, observer)
    }

    fn score(
        &self,
        name: String,
        examples: &mut impl Batches,
        observer: &dyn Observer,
    ) -> Result<Scored> {
        let clock = Instant::now();
        let scores = lnz::score(&self.stored.model, examples, observer)?;
        let seconds = clock.elapsed().as_secs_f64();
        let data = DataSummary {
            name,
            binarize: self.binarize,
            seed: (self.binarize == Binarize::Bernoulli).then_some(self.seed),
            grey_share: scores.grey_share,
        };
        let model = ModelSummary::new(self.name, self.stored);
        Ok(Scored { scores, model, data, narrow: None, seconds })
    }
}

impl Scored {
    /// The log-likelihood of each example, in their order.
    pub fn log_likelihoods(&self, log_z: f64) -> Vec<f64> {
        self.scores.log_marginals.iter().map(|log_marginal| log_marginal - log_z).collect()
    }

    /// The result, once log Z is there.
    pub fn report(&self, log_z: LogZ) -> LikelihoodReport {
        let LogZ { value: log_z, known, origin, result } = log_z;
        let scores = &self.scores;
        let (std_error, interval) = known
            .as_ref()
            .map_or((f64::NAN, [f64::NAN; 2]), |known| (known.std_error, known.interval));
        let likelihood = scores.likelihood(log_z, std_error, interval);
        let [min, q05, q25, median, q75, q95, max] =
            scores.quantiles([0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0]).map(|f| f - log_z);
        let mut warnings = Vec::new();
        let mut verdict = known.as_ref().map(|known| known.verdict.clone());
        if max > 0.0 {
            verdict = Some("suspect".to_owned());
            warnings.push(LikelihoodWarning::above_one(max));
        }
        warnings.extend(known.iter().flat_map(|known| known.warnings.clone()));
        warnings.extend(
            (scores.grey_share > 0.0).then(|| LikelihoodWarning::grey_values(scores.grey_share)),
        );
        warnings.extend(self.narrow.clone());
        LikelihoodReport {
            schema: schema::VERSION,
            mean_log_likelihood: likelihood.mean,
            std_error: known.as_ref().map(|_| likelihood.std_error),
            interval: known.as_ref().map(|_| likelihood.interval),
            sampling_error: likelihood.sampling_error,
            examples: scores.log_marginals.len(),
            quantiles: Quantiles { min, q05, q25, median, q75, q95, max },
            mean_log_marginal: scores.mean,
            log_z,
            verdict,
            warnings,
            model: self.model.clone(),
            data: self.data.clone(),
            estimate: result,
            seconds: self.seconds,
            run: Provenance::now(),
            log_z_origin: origin,
            log_z_interval: known.map(|known| known.interval),
        }
    }
}

#[cfg(test)]
mod tests;
