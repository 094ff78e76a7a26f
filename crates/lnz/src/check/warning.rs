//! Warnings: what may be wrong with a result, and the numbers that show it.

/// A problem that a test found, with its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// So few weights count that the standard error cannot be trusted either.
    FewEffectiveChains {
        /// Effective sample size.
        ess: f64,
        /// Chains in the estimate.
        chains: usize,
    },
    /// One chain carries most of the estimate: where one came by luck, others are missing.
    OneChainDominates {
        /// Its share of the sum of weights.
        share: f64,
        /// Chains in the estimate.
        chains: usize,
    },
    /// The estimate is below a sum that log Z cannot be below.
    BelowLowerBound {
        /// The estimate.
        log_z: f64,
        /// log of the exact sum over some states.
        lower_bound: f64,
    },
    /// The estimate is outside bounds that hold without statistics.
    OutsideProvenBounds {
        /// The estimate.
        log_z: f64,
        /// log Z is not below it.
        floor: f64,
        /// log Z is not above it.
        ceiling: f64,
    },
    /// A short run from another start finds more mass; an unbiased estimate is hardly ever too high.
    OtherStartFindsMore {
        /// The estimate.
        log_z: f64,
        /// The start that finds more, as in "from the fitted starts".
        start: &'static str,
        /// What it finds.
        found: f64,
    },
    /// The chains hardly visit states whose weight is known.
    MissedCore {
        /// log of the exact sum over those states.
        log_core: f64,
        /// The same sum as the chains see it.
        log_sampled: f64,
    },
    /// Two starts differ beyond their errors.
    StartsDisagree {
        /// The lower one and its estimate.
        low: (&'static str, f64),
        /// The higher one and its estimate.
        high: (&'static str, f64),
    },
    /// The main run lies clearly above the trial: errors that small cannot be believed.
    StillRising {
        /// The start.
        start: &'static str,
        /// log Z in the trial.
        trial: f64,
        /// log Z in the main run.
        log_z: f64,
    },
    /// Other runs have found mass that the chains of this one do not reach.
    UnreachedMass {
        /// The estimate.
        log_z: f64,
        /// The mass, relative to Z.
        mass: f64,
    },
    /// The states of a ladder do not travel between the start and the model.
    FewRoundTrips {
        /// Times that one has gone there and back.
        trips: usize,
        /// Ladders side by side.
        columns: usize,
    },
    /// Ladders side by side are in different places.
    ColumnsDisagree {
        /// The ratio of Gelman and Rubin for the energy at the model.
        r_hat: f64,
    },
    /// Two neighbouring rungs of a ladder hardly exchange states.
    RareExchanges {
        /// The probability that they do not.
        rejection: f64,
    },
    /// The time was over long before the error was as small as wanted.
    TargetNotReached {
        /// The error.
        std_error: f64,
        /// The error wanted.
        target: f64,
    },
    /// The run was stopped before its last round had finished.
    StoppedBetweenRounds {
        /// Rounds in the estimate.
        rounds: usize,
    },
    /// The run was stopped before all chains had finished.
    StoppedEarly {
        /// Chains in the estimate.
        finished: usize,
        /// Chains asked for.
        requested: usize,
    },
}

/// Numbers from here on have more digits than float64, and are written with a power of ten.
pub const MANY_DIGITS: f64 = 1e15;

/// Two decimals, where a float64 of this size has them.
pub fn in_nats(value: f64) -> String {
    match value.abs() < MANY_DIGITS {
        true => format!("{value:.2}"),
        false => format!("{value:.2e}"),
    }
}

impl Warning {
    /// A short name for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Warning::FewEffectiveChains { .. } => "few_effective_chains",
            Warning::OneChainDominates { .. } => "one_chain_dominates",
            Warning::BelowLowerBound { .. } => "below_lower_bound",
            Warning::OutsideProvenBounds { .. } => "outside_proven_bounds",
            Warning::OtherStartFindsMore { .. } => "other_start_finds_more",
            Warning::MissedCore { .. } => "missed_core",
            Warning::StartsDisagree { .. } => "families_disagree",
            Warning::StillRising { .. } => "still_rising",
            Warning::UnreachedMass { .. } => "unreached_mass",
            Warning::FewRoundTrips { .. } => "few_round_trips",
            Warning::ColumnsDisagree { .. } => "columns_disagree",
            Warning::RareExchanges { .. } => "rare_exchanges",
            Warning::TargetNotReached { .. } => "target_not_reached",
            Warning::StoppedBetweenRounds { .. } | Warning::StoppedEarly { .. } => "stopped_early",
        }
    }

    /// What was found, in one sentence.
    pub fn message(&self) -> String {
        match *self {
            Warning::FewEffectiveChains { chains: 1, .. } => {
                "there is only one chain, so the error is not known".into()
            }
            Warning::FewEffectiveChains { ess, chains } => format!(
                "only {ess:.1} of {chains} chains count effectively: the estimate is probably too low, its error too small"
            ),
            Warning::OneChainDominates { share, chains } => format!(
                "one of {chains} chains carries {:.1}% of the weight: the estimate is probably too low, its error means nothing",
                share * 100.0
            ),
            Warning::BelowLowerBound { log_z, lower_bound } => format!(
                "{} is wrong: some states that a search found already sum up to {}",
                in_nats(log_z),
                in_nats(lower_bound)
            ),
            Warning::OutsideProvenBounds { log_z, floor, ceiling } => format!(
                "{} is wrong: log Z is proven to be between {} and {}",
                in_nats(log_z),
                in_nats(floor),
                in_nats(ceiling)
            ),
            Warning::OtherStartFindsMore { log_z, start, found } => format!(
                "{} is probably too low: a short run from {start} finds {}",
                in_nats(log_z),
                in_nats(found)
            ),
            Warning::MissedCore { log_core, log_sampled } => format!(
                "the chains hardly visit states that are known to weigh {} (they see {}), so they may miss others too",
                in_nats(log_core),
                in_nats(log_sampled)
            ),
            Warning::StartsDisagree { low, high } => format!(
                "the starts disagree: {} from {}, {} from {}",
                in_nats(low.1),
                low.0,
                in_nats(high.1),
                high.0
            ),
            Warning::StillRising { start, trial, log_z } => format!(
                "from {start} a short run gave {} and a longer one {}, more than their errors allow: a longer one still may give more",
                in_nats(trial),
                in_nats(log_z)
            ),
            Warning::UnreachedMass { log_z, mass } => format!(
                "{} is probably too low: other runs have found states that the chains hardly reach, {:.0}% of Z or more",
                in_nats(log_z),
                100.0 * mass
            ),
            Warning::FewRoundTrips { trips, columns } => format!(
                "states have gone from the start to the model and back {trips} times in {columns} ladders: they do not mix"
            ),
            Warning::ColumnsDisagree { r_hat } => format!(
                "the ladders are in different places: their energies differ by an R-hat of {r_hat:.2}"
            ),
            Warning::RareExchanges { rejection } => format!(
                "two neighbouring rungs exchange states in only {:.1}% of the tries",
                100.0 * (1.0 - rejection)
            ),
            Warning::TargetNotReached { std_error, target } => format!(
                "the error is still {std_error:.2}, not {target}, and an error that large is itself uncertain"
            ),
            Warning::StoppedBetweenRounds { rounds: 0 } => {
                "the run was stopped before its first round had ended: this is what a short trial found".into()
            }
            Warning::StoppedBetweenRounds { rounds } => {
                format!("the run was stopped after {rounds} rounds")
            }
            Warning::StoppedEarly { finished, requested } => {
                format!("the run was stopped when {finished} of {requested} chains had finished")
            }
        }
    }
}
