//! A result as the one object that is shown, for programs and for people.

mod lines;
mod settings;

pub use lines::{Line, Tone};
pub use settings::Settings;

use crate::Spelling;
use crate::request::AisPlan;
use crate::run::{AisRun, AutoRun, ExactRun};
use lnz::{Change, Diagnosis, Rbm, RunSettings, Sampled, SecondOpinion, StartedFrom};
use lnz::{Verdict, Warning};
use serde::Serialize;

/// The object that `--json` prints; the names of its fields are a contract. Numbers that do not apply,
/// or are infinite, are null.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Version of the fields.
    pub schema: u32,
    /// log Z.
    pub log_z: f64,
    /// Its standard error.
    pub std_error: f64,
    /// 95% interval.
    pub interval: [f64; 2],
    /// A value that log Z cannot be below, whatever the samples say.
    pub lower_bound: Option<f64>,
    /// How far to trust it.
    pub verdict: Verdict,
    /// Why not.
    pub warnings: Vec<WarningLine>,
    /// `auto`, `ais` or `exact`.
    pub method: &'static str,
    /// The model in numbers.
    pub model: ModelSummary,
    /// What was run.
    pub settings: Settings,
    /// What it took.
    pub cost: Cost,
    /// Effective sample size.
    pub ess: Option<f64>,
    /// Statistics of the samples of plain AIS.
    pub samples: Option<Samples>,
    /// The parts that the default method sampled, with its families of starts.
    pub sampled: Option<Vec<Sampled>>,
    /// What the verdict rests on.
    #[serde(skip)]
    pub reason: &'static str,
    /// Why this method, if it was not asked for; options stand in braces.
    #[serde(skip)]
    pub choice: Option<&'static str>,
}

/// A reason to distrust a result.
#[derive(Debug, Clone, Serialize)]
pub struct WarningLine {
    /// A short name for programs.
    pub kind: &'static str,
    /// What was found and what to try next, in flags.
    pub message: String,
    /// What was found.
    #[serde(skip)]
    pub found: String,
    /// What to try next; options stand in braces.
    #[serde(skip)]
    pub advice: String,
}

/// The model in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct ModelSummary {
    /// What it is called.
    pub name: String,
    /// Visible units.
    pub visible: usize,
    /// Hidden units.
    pub hidden: usize,
    /// Parts that no weight connects.
    pub components: usize,
    /// Root mean square of the weights.
    pub weight_rms: f64,
}

/// What the result took. `seconds` and `chain_steps` are those of the annealing itself.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Cost {
    /// Chains times betas.
    pub chain_steps: Option<u64>,
    /// States that were summed over.
    pub states: Option<f64>,
    /// Time to anneal or to sum.
    pub seconds: f64,
    /// Time to find the start.
    pub start_seconds: Option<f64>,
    /// Threads that were used.
    pub threads: usize,
}

/// Statistics of the samples s_i.
#[derive(Debug, Clone, Serialize)]
pub struct Samples {
    /// Chains that came to their end.
    pub count: usize,
    /// Chains that were asked for.
    pub requested: usize,
    /// Their mean.
    pub mean_sample: f64,
    /// Their standard deviation.
    pub std_sample: f64,
    /// Share of the largest weight.
    pub max_weight_share: f64,
}

impl ModelSummary {
    /// The numbers of a model.
    pub fn new(name: &str, model: &Rbm) -> Self {
        Self {
            name: name.to_owned(),
            visible: model.visible(),
            hidden: model.hidden(),
            components: model.components().len(),
            weight_rms: model.weight_rms(),
        }
    }
}

impl Report {
    /// Of plain AIS.
    pub fn of_ais(
        model: ModelSummary,
        plan: &AisPlan,
        run: &AisRun,
        opinion: Option<&SecondOpinion>,
    ) -> Self {
        let estimate = &run.estimate;
        Self {
            schema: 1,
            log_z: estimate.log_z,
            std_error: estimate.std_error,
            interval: estimate.interval,
            lower_bound: opinion.map(|opinion| opinion.lower_bound),
            verdict: run.diagnosis.verdict,
            warnings: warning_lines(&run.diagnosis, &plan.run_settings()),
            method: "ais",
            model,
            settings: Settings::of_ais(plan, run.annealed.precision),
            cost: Cost {
                chain_steps: Some(run.chain_steps),
                seconds: run.seconds,
                start_seconds: Some(run.start_seconds),
                threads: rayon::current_num_threads(),
                ..Cost::default()
            },
            ess: Some(estimate.ess),
            samples: Some(Samples {
                count: estimate.chains,
                requested: run.annealed.requested,
                mean_sample: estimate.mean_sample,
                std_sample: estimate.std_sample,
                max_weight_share: estimate.max_weight_share,
            }),
            sampled: None,
            reason: run.diagnosis.reason(),
            choice: None,
        }
    }

    /// Of the default method.
    pub fn of_auto(model: ModelSummary, run: &AutoRun) -> Self {
        let estimate = &run.estimate;
        let sum = |count: &dyn Fn(&Sampled) -> u64| estimate.sampled.iter().map(count).sum::<u64>();
        let advised = RunSettings {
            betas: None,
            chains: sum(&|part| part.chains as u64) as usize,
            start: StartedFrom::Auto,
            transposed: false,
            max_seconds: Some(run.settings.max_seconds),
        };
        Self {
            schema: 1,
            log_z: estimate.log_z,
            std_error: estimate.std_error,
            interval: estimate.interval,
            lower_bound: estimate.lower_bound,
            verdict: estimate.diagnosis.verdict,
            warnings: warning_lines(&estimate.diagnosis, &advised),
            method: "auto",
            model,
            settings: Settings::of_auto(&run.settings, &estimate.sampled),
            cost: Cost {
                chain_steps: Some(sum(&|part| part.chain_steps)),
                seconds: run.seconds,
                threads: rayon::current_num_threads(),
                ..Cost::default()
            },
            ess: estimate.sampled.iter().map(|part| part.ess).reduce(f64::min),
            samples: None,
            sampled: Some(estimate.sampled.clone()),
            reason: estimate.diagnosis.reason(),
            choice: None,
        }
    }

    /// Of a sum over all states.
    pub fn of_exact(model: ModelSummary, run: &ExactRun) -> Self {
        let diagnosis = Diagnosis::exact();
        Self {
            schema: 1,
            log_z: run.log_z,
            std_error: 0.0,
            interval: [run.log_z; 2],
            lower_bound: Some(run.log_z),
            verdict: diagnosis.verdict,
            warnings: vec![],
            method: "exact",
            model,
            settings: Settings::default(),
            cost: Cost {
                states: Some(run.states),
                seconds: run.seconds,
                threads: rayon::current_num_threads(),
                ..Cost::default()
            },
            ess: None,
            samples: None,
            sampled: None,
            reason: diagnosis.reason(),
            choice: None,
        }
    }

    /// The same, with a word on why this method was chosen.
    pub fn chosen_because(self, choice: Option<&'static str>) -> Self {
        Self { choice, ..self }
    }
}

fn warning_lines(diagnosis: &Diagnosis, run: &RunSettings) -> Vec<WarningLine> {
    let line = |warning: &Warning| {
        let (found, advice) = (warning.message(), in_words(&warning.advice(run)));
        let message = format!("{found}; {}", Spelling::Flags.say(&advice));
        WarningLine { kind: warning.kind(), message, found, advice }
    };
    diagnosis.warnings.iter().map(line).collect()
}

/// `try {start=gibbs}, {betas=4096} or {transpose=on}`.
fn in_words(changes: &[Change]) -> String {
    let options: Vec<String> = changes
        .iter()
        .map(|change| format!("{{{}={}}}", change.setting, change.value.as_deref().unwrap_or("on")))
        .collect();
    match options.split_last() {
        None => String::new(),
        Some((only, [])) => format!("try {only}"),
        Some((last, others)) => format!("try {} or {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_said_in_options() {
        let start = StartedFrom::Uniform;
        let run = RunSettings {
            betas: Some(1024),
            chains: 1024,
            start,
            transposed: false,
            max_seconds: None,
        };
        let warning = Warning::FewEffectiveChains { ess: 2.0, chains: 1024 };
        let text = in_words(&warning.advice(&run));
        assert_eq!(Spelling::Flags.say(&text), "try --start gibbs, --betas 4096 or --transpose");
        assert_eq!(
            Spelling::Keywords.say(&text),
            "try start=\"gibbs\", betas=4096 or transpose=True"
        );
        assert_eq!(in_words(&[]), "");
    }
}
