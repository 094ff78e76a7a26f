//! A result as the one object that is printed, for programs and for people.

mod settings;
mod text;

pub(crate) use settings::Settings;

use crate::failure::flag;
use crate::plan::AisPlan;
use crate::run::{AisRun, AutoRun, ExactRun};
use lnz::{Change, Diagnosis, Rbm, RunSettings, Sampled, SecondOpinion, StartedFrom};
use lnz::{Verdict, Warning};
use serde::Serialize;

/// The object that `--json` prints; the names of its fields are a contract. Numbers that do not apply,
/// or are infinite, are null.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    schema: u32,
    log_z: f64,
    std_error: f64,
    interval: [f64; 2],
    /// A value that log Z cannot be below, whatever the samples say.
    lower_bound: Option<f64>,
    verdict: Verdict,
    warnings: Vec<WarningLine>,
    method: &'static str,
    model: ModelSummary,
    settings: Settings,
    cost: Cost,
    ess: Option<f64>,
    samples: Option<Samples>,
    /// The parts that the default method sampled, with its families of starts.
    sampled: Option<Vec<Sampled>>,
    #[serde(skip)]
    reason: &'static str,
    /// Why this method, if it was not asked for.
    #[serde(skip)]
    choice: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct WarningLine {
    kind: &'static str,
    /// What was found and what to try next.
    message: String,
    #[serde(skip)]
    found: String,
    #[serde(skip)]
    advice: String,
}

/// The model in numbers.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ModelSummary {
    pub(crate) name: String,
    pub(crate) visible: usize,
    pub(crate) hidden: usize,
    pub(crate) components: usize,
    pub(crate) weight_rms: f64,
}

/// What the result took. `seconds` and `chain_steps` are those of the annealing itself.
#[derive(Debug, Default, Serialize)]
struct Cost {
    chain_steps: Option<u64>,
    states: Option<f64>,
    seconds: f64,
    start_seconds: Option<f64>,
    threads: usize,
}

/// Statistics of the samples s_i.
#[derive(Debug, Serialize)]
struct Samples {
    count: usize,
    requested: usize,
    mean_sample: f64,
    std_sample: f64,
    max_weight_share: f64,
}

impl ModelSummary {
    pub(crate) fn new(name: &str, model: &Rbm) -> Self {
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
    pub(crate) fn of_ais(
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

    pub(crate) fn of_auto(model: ModelSummary, run: &AutoRun) -> Self {
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

    pub(crate) fn of_exact(model: ModelSummary, run: &ExactRun) -> Self {
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
    pub(crate) fn chosen_because(self, choice: Option<&'static str>) -> Self {
        Self { choice, ..self }
    }

    /// On standard output, for programs or for people.
    pub(crate) fn print(&self, json: bool) -> anyhow::Result<()> {
        if json {
            return crate::terminal::print_json(self);
        }
        crate::terminal::print(&self.to_text())
    }
}

fn warning_lines(diagnosis: &Diagnosis, run: &RunSettings) -> Vec<WarningLine> {
    let line = |warning: &Warning| {
        let (found, advice) = (warning.message(), in_words(&warning.advice(run)));
        WarningLine { kind: warning.kind(), message: format!("{found}; {advice}"), found, advice }
    };
    diagnosis.warnings.iter().map(line).collect()
}

/// `try --start gibbs, --betas 4096 or --transpose`.
fn in_words(changes: &[Change]) -> String {
    let flags: Vec<String> = changes
        .iter()
        .map(|change| match &change.value {
            Some(value) => format!("{} {value}", flag(change.setting)),
            None => flag(change.setting),
        })
        .collect();
    match flags.split_last() {
        None => String::new(),
        Some((only, [])) => format!("try {only}"),
        Some((last, others)) => format!("try {} or {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_said_in_flags() {
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
        assert_eq!(text, "try --start gibbs, --betas 4096 or --transpose");
        assert_eq!(in_words(&[]), "");
    }
}
