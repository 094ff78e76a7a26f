//! Advice for a suspect result: which settings to change.

use super::Warning;
use super::signs::FEW_EFFECTIVE_CHAINS;

/// The settings of an annealing run that the advice of a warning depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSettings {
    /// Intervals of a linear schedule; `None` if the betas were given one by one.
    pub betas: Option<usize>,
    /// Chains asked for.
    pub chains: usize,
    /// What the run started from.
    pub start: StartedFrom,
    /// The layers were exchanged.
    pub transposed: bool,
    /// The time limit of the default estimator.
    pub max_seconds: Option<f64>,
}

/// What an annealing run started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartedFrom {
    /// The uniform distribution.
    Uniform,
    /// Means of data, which exist for the visible units only.
    Data,
    /// Means of samples of the model.
    Model,
    /// Whatever the default estimator found best.
    Auto,
}

/// One change of a setting that may help: `--setting value` on the command line,
/// `setting=value` in Python.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Name of the setting.
    pub setting: &'static str,
    /// Its new value; `None` for a switch that is to be turned on.
    pub value: Option<String>,
}

/// Longer schedules than this are not recommended: more chains are then the better use of time.
const LONG_SCHEDULE: usize = 1 << 16;

impl Warning {
    /// What to try next, the most promising first.
    pub fn advice(&self, run: &RunSettings) -> Vec<Change> {
        let change = |setting, value: usize| Change { setting, value: Some(value.to_string()) };
        let more_time = || {
            let seconds = 4.0 * run.max_seconds.unwrap_or(60.0);
            vec![Change { setting: "max_seconds", value: Some(format!("{seconds}")) }]
        };
        match self {
            Warning::BelowLowerBound { .. } | Warning::OtherStartFindsMore { .. } => {
                vec![Change { setting: "method", value: Some("auto".into()) }]
            }
            Warning::FewRoundTrips { .. }
            | Warning::ColumnsDisagree { .. }
            | Warning::RareExchanges { .. } => {
                vec![Change { setting: "method", value: Some("auto".into()) }]
            }
            Warning::MissedCore { .. }
            | Warning::OutsideProvenBounds { .. }
            | Warning::StartsDisagree { .. }
            | Warning::StillRising { .. }
            | Warning::TargetNotReached { .. }
            | Warning::UnreachedMass { .. }
            | Warning::StoppedBetweenRounds { .. } => more_time(),
            _ if run.start == StartedFrom::Auto && run.max_seconds.is_some() => more_time(),
            Warning::FewEffectiveChains { chains, .. }
                if (*chains as f64) < FEW_EFFECTIVE_CHAINS =>
            {
                vec![change("chains", 1024)]
            }
            Warning::FewEffectiveChains { .. } | Warning::OneChainDominates { .. } => {
                let mut changes = Vec::new();
                if run.start == StartedFrom::Uniform {
                    changes.push(Change { setting: "start", value: Some("gibbs".into()) });
                }
                // From the means of data the modes are chosen early, whatever the schedule: only more
                // chains help.
                changes.push(match run.betas {
                    Some(betas) if betas < LONG_SCHEDULE && run.start != StartedFrom::Data => {
                        change("betas", betas * 4)
                    }
                    _ => change("chains", run.chains.saturating_mul(4)),
                });
                if !run.transposed && run.start != StartedFrom::Data {
                    changes.push(Change { setting: "transpose", value: None });
                }
                changes
            }
            Warning::StoppedEarly { .. } => vec![change("chains", run.chains.div_ceil(4))],
        }
    }
}
