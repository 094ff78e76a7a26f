//! A result for people: the number, whether to believe it, and how it was obtained.

use super::{ModelSummary, Report, Settings};
use crate::Spelling;
use crate::numbers::{self, count, duration, exact, plural, short, with_decimals_of};
use lnz::in_nats;
use lnz::{ChainLayout, Details, Estimate, ExactCost, Finding, FoundPhase, Sampled};
use lnz::{TemperingRun, Verdict, Visited};

/// Phases that are shown one by one.
const MOST_PHASES: usize = 8;

/// One line of a result: `log Z    275.50 ± 0.13`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it is about; empty when it continues the line before.
    pub label: &'static str,
    /// The beginning that deserves a colour.
    pub lead: Option<(Tone, String)>,
    /// The rest, which may have several lines.
    pub text: String,
}

/// What a colour says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The number that was asked for.
    Value,
    /// Nothing to worry about.
    Good,
    /// Worth a second look.
    Bad,
}

impl Line {
    fn plain(label: &'static str, text: impl Into<String>) -> Self {
        Self { label, lead: None, text: text.into() }
    }
}

impl Report {
    /// The lines of the result, with options spelt as told.
    pub fn lines(&self, spelling: Spelling) -> Vec<Line> {
        let mut lines = Vec::new();
        // The reason to distrust a number comes before the number.
        for (i, warning) in self.warnings.iter().enumerate() {
            let label = if i == 0 { "verdict" } else { "" };
            let lead = Some((Tone::Bad, "suspect:".to_owned()));
            lines.push(Line { label, lead, text: format!(" {}", warning.found) });
            if !warning.advice.is_empty() {
                lines.push(Line::plain("", spelling.say(&warning.advice)));
            }
        }
        lines.push(Line::plain("model", self.model.to_text()));
        lines.extend(self.notes.iter().map(|note| Line::plain("note", note.to_string())));
        lines.push(log_z_line(&self.finding));
        let diagnosis = &self.finding.diagnosis;
        if diagnosis.verdict != Verdict::Suspect {
            let tone = match diagnosis.verdict {
                Verdict::Unchecked => Tone::Bad,
                _ => Tone::Good,
            };
            let lead = Some((tone, format!("{}:", diagnosis.verdict.name())));
            lines.push(Line { label: "verdict", lead, text: format!(" {}", diagnosis.reason()) });
        }
        if let Some(proven) = &self.finding.proven {
            let text = format!(
                "[{}, {}], without statistics",
                in_nats(proven.floor),
                in_nats(proven.ceiling)
            );
            lines.push(Line::plain("proven", text));
        }
        lines.extend(reverse_text(&self.finding).map(|text| Line::plain("reverse", text)));
        lines.push(Line::plain("method", self.method_text(spelling)));
        if let Some(run) = self.finding.ais() {
            lines.push(Line::plain("samples", samples_text(&run.statistics)));
        }
        for part in self.finding.sampled().iter().filter(|part| part.phases.len() > 1) {
            lines.push(Line::plain("phases", phases_text(&part.phases)));
        }
        for part in self.finding.sampled().iter().filter(|part| !part.blocks.is_empty()) {
            lines.push(Line::plain("phases", blocks_text(&part.blocks)));
        }
        if let Some(run) = self.finding.tempering() {
            lines.push(Line::plain("travel", travel_text(run)));
            if run.phases.len() > 1 {
                lines.push(Line::plain("phases", visited_text(run)));
            }
        }
        lines.push(Line::plain("cost", self.cost_text()));
        lines
    }

    fn method_text(&self, spelling: Spelling) -> String {
        let details = &self.finding.details;
        let method = match details {
            Details::Exact(ExactCost { width: Some(width), .. }) => {
                format!("elimination of one unit after the other, width {width}")
            }
            Details::Exact(_) => "sum over the states of the smaller layer".to_owned(),
            Details::Ais(_) => format!("ais {}", self.settings.to_text()),
            Details::Auto(run) => {
                format!("auto: {}\n{}", starts_text(&run.sampled), self.settings.size_text())
            }
            Details::Tempering(run) => format!(
                "tempering: {} of {} between a fitted start and the model\n{}, seed {}; errors may go either way",
                plural(run.columns, "ladder"),
                plural(run.rungs, "rung"),
                plural(run.iterations, "iteration"),
                self.settings.seed.unwrap_or_default()
            ),
            _ => format!("{}\n{}", details.method().name(), self.settings.size_text()),
        };
        match self.choice {
            Some(choice) => format!("{method}\n{}", spelling.say(choice)),
            None => method,
        }
    }
}

/// What the phases are combinations of, a line for each block.
fn blocks_text(blocks: &[Vec<f64>]) -> String {
    let combinations: f64 = blocks.iter().map(|shares| shares.len() as f64).product();
    let count = plural(blocks.len(), "block");
    let mut lines = vec![format!("{combinations} combinations of {count} with phases of about")];
    lines.extend(blocks.iter().take(MOST_PHASES).map(|shares| {
        let shares: Vec<String> = shares.iter().map(|s| format!("{:.1}%", 100.0 * s)).collect();
        shares.join(" + ")
    }));
    if blocks.len() > MOST_PHASES {
        lines.push(format!("and {} more", blocks.len() - MOST_PHASES));
    }
    lines.join("\n")
}

/// The largest phases, a line each.
fn phases_text(phases: &[FoundPhase]) -> String {
    let mut lines: Vec<String> = phases
        .iter()
        .take(MOST_PHASES)
        .map(|phase| {
            let (share, error) = (100.0 * phase.share, 100.0 * phase.share * phase.relative_error);
            let by = phase.found_by.join(", ");
            format!("{:<8} ± {error:.3}%  found by {by}", format!("{share:.3}%"))
        })
        .collect();
    if phases.len() > MOST_PHASES {
        let rest: f64 = phases[MOST_PHASES..].iter().map(|phase| phase.share).sum();
        lines.push(format!("{:.3}% in {} more", 100.0 * rest, phases.len() - MOST_PHASES));
    }
    lines.join("\n")
}

/// How states travel along the ladders.
fn travel_text(run: &TemperingRun) -> String {
    let hardest = run.rejections.iter().copied().fold(0.0, f64::max);
    format!(
        "{} from the start to the model and back; barrier {:.1}, neighbours exchange in {:.0}% of the tries or more, R-hat {:.3}",
        plural(run.round_trips, "round trip"),
        run.barrier,
        100.0 * (1.0 - hardest),
        run.r_hat
    )
}

/// The part of the time that the ladders have spent in each phase.
fn visited_text(run: &TemperingRun) -> String {
    let line = |phase: &Visited| {
        let [share, error] = [phase.share, phase.std_error].map(|part| 100.0 * part);
        format!("{:<8} ± {error:.3}% of the time", format!("{share:.3}%"))
    };
    let mut lines: Vec<String> = run.phases.iter().take(MOST_PHASES).map(line).collect();
    if run.phases.len() > MOST_PHASES {
        lines.push(format!("and {} more", run.phases.len() - MOST_PHASES));
    }
    lines.join("\n")
}

fn log_z_line(finding: &Finding) -> Line {
    let line = |log_z: String, text: String| Line {
        label: "log Z",
        lead: Some((Tone::Value, log_z)),
        text,
    };
    if finding.diagnosis.verdict == Verdict::Exact {
        return line(exact(finding.log_z), String::new());
    }
    let round = |x| with_decimals_of(finding.std_error, x);
    if !finding.std_error.is_finite() {
        return line(round(finding.log_z), ", error unknown".to_owned());
    }
    let [low, high] = finding.interval.map(|end| match end.is_finite() {
        true => round(end),
        false if end > 0.0 => "∞".to_owned(),
        false => "-∞".to_owned(),
    });
    let error = numbers::error(finding.std_error);
    let text = format!(" ± {error}   95% interval [{low}, {high}]");
    // States that the default method summed exactly.
    let states = finding.sampled().iter().map(|part| part.core_states).sum();
    let floor = match finding.lower_bound {
        Some(floor) if states > 0 => {
            format!("\nfloor {}, an exact sum over {}", in_nats(floor), plural(states, "state"))
        }
        _ => String::new(),
    };
    line(round(finding.log_z), text + &floor)
}

/// The estimate from both directions, where there is one of the whole.
fn reverse_text(finding: &Finding) -> Option<String> {
    let [part] = finding.sampled() else { return None };
    let reverse = part.log_reverse.filter(|_| !part.core_used)?;
    let reverse = in_nats(reverse);
    Some(format!("{reverse} with chains that go back from the model to the starts"))
}

/// Where the chains of the default method started.
fn starts_text(parts: &[Sampled]) -> String {
    let of_part = |part: &Sampled| {
        let family = part.families.iter().find(|f| f.share > 0.0)?.family;
        Some(match part.phases.len() {
            0 | 1 => format!("from {}", family.describe()),
            n => format!("sum over {}, from {}", plural(n, "phase"), family.describe()),
        })
    };
    let mut texts: Vec<String> = parts.iter().filter_map(of_part).collect();
    texts.dedup();
    texts.join("; ")
}

fn samples_text(statistics: &Estimate) -> String {
    format!(
        "mean {}, standard deviation {}; {} of {} chains count effectively, the largest weight has {:.1}%",
        in_nats(statistics.mean_sample),
        in_nats(statistics.std_sample),
        short(statistics.ess),
        count(statistics.chains),
        statistics.max_weight_share * 100.0
    )
}

impl Report {
    fn cost_text(&self) -> String {
        let (cost, threads) = (&self.finding.cost, plural(self.threads, "thread"));
        let steps = || short(cost.chain_steps.unwrap_or_default() as f64);
        let (work, comma) = match cost.states {
            Some(states) => (format!("{} states", short(states)), ""),
            None => (format!("{} chain-steps", steps()), ","),
        };
        if self.ready_parts > 0 {
            let parts = plural(self.ready_parts, "part");
            return format!("{work}, of which {parts} had been computed before");
        }
        let start = match cost.start_seconds {
            Some(seconds) if seconds >= 0.001 => format!(", start in {}", duration(seconds)),
            _ => String::new(),
        };
        format!("{work} in {}{start}{comma} on {threads}", duration(cost.seconds))
    }
}

impl ModelSummary {
    /// `gwgm-hard: 20 visible x 180 hidden, one component, weight rms 12.9`.
    pub fn to_text(&self) -> String {
        format!(
            "{}: {} visible x {} hidden, {}, weight rms {}",
            self.name,
            count(self.visible),
            count(self.hidden),
            plural(self.components, "component"),
            short(self.weight_rms)
        )
    }
}

impl Settings {
    /// What was annealed from where, on two lines.
    fn to_text(&self) -> String {
        let chains = self.chains.unwrap_or_default();
        let betas = self.betas.unwrap_or_default();
        let schedule = match self.schedule.as_deref() {
            Some("linear") | None => String::new(),
            Some("given") => " given one by one".to_owned(),
            Some(file) => format!(" from {file}"),
        };
        let turned = if self.transpose == Some(true) { ", transposed" } else { "" };
        format!(
            "from {}{turned}\n{}{schedule}, {}, seed {}",
            self.start_text(),
            plural(betas, "beta"),
            plural(chains, "chain"),
            self.seed.unwrap_or_default()
        )
    }

    /// `1,024 betas, 128 chains, one round, seed 0`.
    fn size_text(&self) -> String {
        let rounds = self.rounds.map(|n| format!(", {}", plural(n, "round"))).unwrap_or_default();
        format!(
            "{} betas, {}{rounds}, seed {}",
            count(self.betas.unwrap_or_default()),
            plural(self.chains.unwrap_or_default(), "chain"),
            self.seed.unwrap_or_default()
        )
    }

    fn start_text(&self) -> String {
        let start = self.start.unwrap_or_default();
        let epsilon = self.epsilon.map(|e| format!("epsilon {e}")).unwrap_or_default();
        let (Some(init), Some(samples), Some(steps)) = (self.init, self.samples, self.steps) else {
            return match (start, &self.data) {
                ("data", Some(data)) => format!("the means of {data} ({epsilon})"),
                ("data", None) => format!("the data means stored with the model ({epsilon})"),
                _ => "the uniform distribution".to_owned(),
            };
        };
        let init = init.name();
        let (samples, steps) = (count(samples), count(steps));
        let work = match self.chain_layout {
            Some(ChainLayout::Single) => format!("one chain, {samples} x {steps} steps"),
            _ => format!("{samples} chains x {steps} steps"),
        };
        let flips = self.flips.as_ref().map(|f| format!(", {f} flips")).unwrap_or_default();
        format!("{start} means ({init} state, {work}{flips}, {epsilon})")
    }
}
