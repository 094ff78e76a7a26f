//! A result for programs: the names of these fields are a contract.

use super::{ModelSummary, Report, Settings, WarningLine};
use crate::provenance::Provenance;
use crate::schema;
use lnz::json::Real;
use lnz::{AisRun, Cost, Details, Sampled, TemperingRun, Verdict};
use serde::{Serialize, Serializer};

/// The object that `--json` prints. Numbers that do not apply are null, infinite ones are words.
#[derive(Serialize)]
struct Fields<'a> {
    schema: u32,
    log_z: f64,
    std_error: Real,
    interval: [Real; 2],
    lower_bound: Option<f64>,
    /// Floor and ceiling that hold without statistics.
    proven: Option<[f64; 2]>,
    verdict: Verdict,
    warnings: &'a [WarningLine],
    method: &'static str,
    model: &'a ModelSummary,
    /// How the model's file was understood.
    notes: Vec<String>,
    settings: &'a Settings,
    cost: CostFields<'a>,
    ess: Option<f64>,
    /// Statistics of the samples of plain AIS.
    samples: Option<Samples>,
    /// The parts that the default method sampled, with their phases and trials.
    sampled: Option<&'a [Sampled]>,
    /// The ladders of parallel tempering.
    tempering: Option<&'a TemperingRun>,
    /// What may differ between runs that give the same result.
    run: &'a Provenance,
}

#[derive(Serialize)]
struct CostFields<'a> {
    #[serde(flatten)]
    cost: &'a Cost,
    threads: usize,
}

#[derive(Serialize)]
struct Samples {
    /// Chains that came to their end.
    count: usize,
    requested: usize,
    mean_sample: f64,
    std_sample: f64,
    max_weight_share: f64,
}

impl Samples {
    fn of(run: &AisRun) -> Self {
        Self {
            count: run.statistics.chains,
            requested: run.annealed.requested,
            mean_sample: run.statistics.mean_sample,
            std_sample: run.statistics.std_sample,
            max_weight_share: run.statistics.max_weight_share,
        }
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = &self.finding;
        let fields = Fields {
            schema: schema::VERSION,
            log_z: finding.log_z,
            std_error: Real(finding.std_error),
            interval: finding.interval.map(Real),
            lower_bound: finding.lower_bound,
            proven: finding.proven.map(|proven| [proven.floor, proven.ceiling]),
            verdict: finding.diagnosis.verdict,
            warnings: &self.warnings,
            method: finding.details.method().name(),
            model: &self.model,
            notes: self.notes.iter().map(ToString::to_string).collect(),
            settings: &self.settings,
            cost: CostFields { cost: &finding.cost, threads: self.threads },
            ess: finding.ess,
            samples: finding.ais().map(Samples::of),
            sampled: match &finding.details {
                Details::Auto(run) => Some(&run.sampled),
                _ => None,
            },
            tempering: finding.tempering(),
            run: &self.run,
        };
        fields.serialize(serializer)
    }
}
