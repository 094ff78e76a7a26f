//! The report of a result: one object, shown to programs as JSON and to people as text.

mod json;
mod lines;
mod settings;

pub use lines::{Line, Tone};
pub use settings::Settings;

use crate::Spelling;
use crate::provenance::Provenance;
use crate::request::Plan;
use lnz::io::{Note, StoredModel, Units};
use lnz::{Change, Details, Finding, RunSettings, StartedFrom, Warning};
use serde::Serialize;

/// A result with all that is worth showing about it. It serializes to the object that `--json` prints.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// What was found.
    pub finding: Finding,
    /// The model in numbers.
    pub model: ModelSummary,
    /// What was run.
    pub settings: Settings,
    /// Reasons to distrust it, with advice.
    pub warnings: Vec<WarningLine>,
    /// How the model's file was understood, where another reader might take it otherwise.
    pub notes: Vec<Note>,
    /// Threads that were used.
    pub threads: usize,
    /// Parts of the work that a run folder had already, and that the time does not count.
    pub ready_parts: usize,
    /// (seconds, log Z, both ends of its interval) after each round of the default method.
    pub rounds: Vec<[f64; 4]>,
    /// Version, day and machine.
    pub run: Provenance,
    /// Why this method, if it was not asked for; options stand in braces.
    pub choice: Option<&'static str>,
}

/// A reason to distrust a result.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
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
#[non_exhaustive]
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
    /// The units it had where it came from; those of the result are 0 and 1.
    pub units: Units,
    /// The hash of its parameters: see [`Rbm::sha256`](lnz::Rbm::sha256).
    pub sha256: String,
}

impl ModelSummary {
    /// The numbers of a model.
    pub fn new(name: &str, stored: &StoredModel) -> Self {
        let model = &stored.model;
        Self {
            name: name.to_owned(),
            visible: model.visible(),
            hidden: model.hidden(),
            components: model.components().len(),
            weight_rms: model.weight_rms(),
            units: stored.units,
            sha256: model.sha256(),
        }
    }
}

impl Report {
    /// What a plan has found about a model.
    pub fn new(name: &str, stored: &StoredModel, plan: &Plan, finding: Finding) -> Self {
        Self {
            model: ModelSummary::new(name, stored),
            notes: stored.notes.clone(),
            settings: Settings::new(plan, &finding),
            warnings: warning_lines(&finding.diagnosis.warnings, &run_settings(plan, &finding)),
            threads: rayon::current_num_threads(),
            rounds: Vec::new(),
            run: Provenance::now(),
            ready_parts: 0,
            choice: choice(plan, &finding),
            finding,
        }
    }
}

/// A word on a method that was not asked for.
fn choice(plan: &Plan, finding: &Finding) -> Option<&'static str> {
    match (plan, &finding.details) {
        (Plan::Auto { data: None, .. }, Details::Exact(_)) => {
            Some("chosen because it is cheap here; {no_exact=on} samples instead")
        }
        (Plan::Auto { data: Some(_), .. }, Details::Exact(_)) => Some(
            "chosen because it is cheap here, and needs no data; {no_exact=on} samples instead",
        ),
        (Plan::Ais(plan), _) if plan.for_samples => Some(
            "chosen because {save_weights} asks for samples, which only plain AIS has; without it, auto is used",
        ),
        _ => None,
    }
}

/// What the advice of a warning depends on.
fn run_settings(plan: &Plan, finding: &Finding) -> RunSettings {
    let max_seconds = match plan {
        Plan::Ais(plan) => return plan.run_settings(),
        other => other.max_seconds(),
    };
    RunSettings {
        betas: None,
        chains: finding.effort.chains.unwrap_or_default(),
        start: StartedFrom::Auto,
        transposed: false,
        max_seconds,
    }
}

fn warning_lines(warnings: &[Warning], run: &RunSettings) -> Vec<WarningLine> {
    let mut given = Vec::new();
    let line = |warning: &Warning| {
        let found = warning.message();
        // Each advice once.
        let advice = Some(in_words(&warning.advice(run))).filter(|advice| !given.contains(advice));
        given.extend(advice.clone());
        let advice = advice.unwrap_or_default();
        let message = match &*advice {
            "" => found.clone(),
            advice => format!("{found}; {}", Spelling::Flags.say(advice)),
        };
        WarningLine { kind: warning.kind(), message, found, advice }
    };
    warnings.iter().map(line).collect()
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

    #[test]
    fn two_warnings_with_the_same_advice_give_it_once() {
        let run = RunSettings {
            betas: Some(1024),
            chains: 1024,
            start: StartedFrom::Uniform,
            transposed: false,
            max_seconds: None,
        };
        let below = Warning::BelowLowerBound { log_z: 1.0, lower_bound: 9.0 };
        let other = Warning::OtherStartFindsMore { log_z: 1.0, start: "the modes", found: 9.0 };
        let lines = warning_lines(&[below, other], &run);
        assert_eq!(lines[0].advice, "try {method=auto}");
        assert_eq!((&*lines[1].advice, &lines[1].message), ("", &lines[1].found));
    }
}
