//! Everything that is fixed before the main run: known states, phases, fitted starts, trials, the design.

use super::backward::{Route, WayBack};
use super::blocks::Blocks;
use super::blocks_trial::BlocksTrial;
use super::cells::cells;
use super::core::Core;
use super::effort::{BETAS, FLIP_ISLANDS, ISLAND, LEAST_SHARE, MOST_TRIALS, NEGLIGIBLE};
use super::fit::{Fitted, Whole};
use super::marks::{CoreLayer, Marks};
use super::modes::find_modes;
use super::promise::Promise;
use super::sampler::{Pool, Run, Sampler, Source, State};
use super::schedule::{Pilot, schedule};
use super::search::{Found, search};
use super::tally::{Chain, Summary, Tally, alone};
use super::trial::Trial;
use super::{Auto, Family, FamilyReport};
use crate::check::{Measured, large_error};
use crate::energy::check_resolved;
use crate::estimate::anneal::{seconds_per_flip, seconds_per_step};
use crate::math::{exp, ln};
use crate::observer::{Observer, Phase, Progress};
use crate::{Rbm, Result, Start};
use lnz_kernels::FreeEnergy;
use lnz_kernels::random::{Purpose, Random};

/// Flips per step at most: each costs as much as many units of a Gibbs step.
const MOST_FLIPS: usize = 6;

/// A model with its layers in both orders.
pub(super) struct Layers {
    pub(super) large: Rbm,
    small: Rbm,
}

impl Layers {
    pub(super) fn of(model: &Rbm) -> Result<Self> {
        check_resolved(model)?;
        let (this, that) = (model.clone(), model.transposed()?);
        Ok(match model.visible() >= model.hidden() {
            true => Self { large: this, small: that },
            false => Self { large: that, small: this },
        })
    }
}

/// What the main run is made from.
pub(super) struct Prepared<'a> {
    pub(super) sampler: Sampler<'a>,
    pub(super) flips: FlipsWay<'a>,
    pub(super) core: Core,
    /// The exact sum over the core takes the place of what the chains see of it.
    pub(super) with_core: bool,
    pub(super) fitted: Fitted,
    pub(super) found: Found,
    pub(super) trial: Trial,
    pub(super) flips_trial: Summary,
    /// Where phases are combinations of blocks, and some have no cell of their own: a trial from all of them.
    pub(super) blocks: Option<BlocksTrial>,
    /// The way back along the schedule of the main run.
    pub(super) back: WayBack,
    /// The way of the main run.
    pub(super) way: Family,
}

/// The way from the uniform distribution of the smaller layer, with flips and resampling.
pub(super) struct FlipsWay<'a> {
    pub(super) sampler: Sampler<'a>,
    pilot: Pilot,
    flips: usize,
    start: Start,
    /// What the pilot makes of log Z.
    pilot_log_z: f64,
    /// Where the chains of its trial ended; their weights have a factor in common.
    pub(super) trial_states: Pool,
}

impl<'a> FlipsWay<'a> {
    fn new(sampler: Sampler<'a>) -> Result<(Self, Vec<State>)> {
        let n = sampler.large.visible();
        let flips = n.div_ceil(10).clamp(2, MOST_FLIPS);
        let mut pilot = Pilot::default();
        let ends = sampler.pilot(flips, ISLAND, &mut pilot)?;
        let (start, pilot_log_z) = (Start::uniform(n), ends.log_z());
        let way = Self { sampler, pilot, flips, start, pilot_log_z, trial_states: vec![] };
        Ok((way, ends.states))
    }

    /// Resampled islands, whose states are kept.
    fn islands(&mut self, betas: usize, islands: usize, core: &Core) -> Result<Vec<Chain>> {
        let betas = self.pilot.schedule(betas);
        let (chains, resampled) = (islands * ISLAND, Some(ISLAND));
        let run = Run { start: &self.start, betas: &betas, chains, resampled, others: true };
        let ends = self.sampler.anneal_flipping(&run, self.flips)?;
        let found = marks(core).chains(&ends);
        self.trial_states.extend(ends.samples.into_iter().zip(ends.others));
        Ok(found)
    }

    /// What a trial with so many chains takes, in chain-steps without flips.
    fn chain_steps(&self, chains: usize) -> f64 {
        let model = self.sampler.large;
        let flips = self.flips as f64 * seconds_per_flip(model.hidden());
        (chains * BETAS / 2) as f64 * (1.0 + flips / seconds_per_step(model))
    }

    /// The same without states, which a crew then need not send.
    pub(super) fn marked_islands(
        &self,
        betas: usize,
        islands: usize,
        core: &Core,
    ) -> Result<Vec<Chain>> {
        let betas = self.pilot.schedule(betas);
        let (chains, resampled) = (islands * ISLAND, Some(ISLAND));
        let run = Run { start: &self.start, betas: &betas, chains, resampled, others: false };
        self.sampler.marked_flipping(&run, self.flips, &marks(core))
    }
}

/// Flips have one cell, and anneal the layer of the core.
fn marks(core: &Core) -> Marks<'_> {
    Marks { phases: &[], core, layer: CoreLayer::Annealed }
}

/// What is known of a model before anything is fitted to it.
pub(super) struct Survey<'a> {
    pub(super) sampler: Sampler<'a>,
    pub(super) flips: FlipsWay<'a>,
    pub(super) core: Core,
    pub(super) found: Found,
    pub(super) random: Random,
}

/// Looks for states of high weight and for phases, in three stages.
pub(super) fn survey<'a>(
    layers: &'a Layers,
    settings: &Auto,
    observer: &'a dyn Observer,
    stage: &dyn Fn(u64),
) -> Result<Survey<'a>> {
    let Layers { large, small } = layers;
    let seed = settings.seed;
    let sampler = Sampler::new([large, small], settings.precision, seed, observer)?;
    let mut random = Random::stream(seed, Purpose::Modes, 1 << 50);
    stage(0);
    let (flips, pilot_states) = FlipsWay::new(sampler.swapped()?)?;
    stage(1);
    let free_energy = FreeEnergy::new(small);
    let modes = find_modes(&free_energy, pilot_states, seed, observer);
    // No state is higher than the highest mode: is there a chance that the core has a part of Z?
    let most = modes[0].height() + ln(((settings.core * small.visible()) as f64).max(1.0));
    let hopeless = most + large.constant() < flips.pilot_log_z + ln(LEAST_SHARE);
    let expansions = if hopeless { settings.core.min(1) } else { settings.core };
    let core = Core::build(&free_energy, &modes, expansions, large.constant(), observer);
    stage(2);
    let hints = settings.hints();
    let found = search(&sampler, &flips.sampler, &modes, &hints, &mut random, observer)?;
    Ok(Survey { sampler, flips, core, found, random })
}

pub(super) fn prepare<'a>(
    layers: &'a Layers,
    settings: &Auto,
    observer: &'a dyn Observer,
) -> Result<Prepared<'a>> {
    let stage = |done: u64| {
        observer.progress(Progress::new(Phase::Prepare, done, 5));
    };
    let Survey { sampler, mut flips, core, mut found, mut random } =
        survey(layers, settings, observer, &stage)?;
    stage(3);
    let whole = Whole::fitted(&sampler, &found, &mut random)?;
    // From here on there is a result; what is not done in time is not done.
    let ends_here = || observer.cancelled() && observer.crew().is_none();
    let mut fit_and_try = || -> Result<(Fitted, Trial)> {
        let fitted = Fitted::to(&sampler, &found, whole.clone(), &mut random)?;
        stage(4);
        let trial = Trial::run(&sampler, &fitted, &core)?;
        Ok((fitted, trial))
    };
    let (mut fitted, mut trial) = match fit_and_try() {
        // One island alone would have no error.
        Err(_) if ends_here() && whole.ends().len() > ISLAND => {
            let trial = Trial::of_whole(&whole, (&sampler, &core), &mut random);
            (Fitted::alone(whole), trial)
        }
        done => done?,
    };
    let mut flips_trial = Summary::NOTHING;
    let mut blocks = None;
    let mut back = WayBack::default();
    let mut look_further = || -> Result<()> {
        let log_z = trial.summary.log_z;
        let unknown = 1.0 - exp(core.log_z - log_z);
        flips_trial = try_flips(&mut flips, &core, |so_far| {
            let counts = unknown > NEGLIGIBLE && so_far.log_z > log_z + ln(NEGLIGIBLE);
            counts && large_error(so_far.error, 0.0).is_some()
        })?;
        let model = (&sampler, &core);
        let from_both = sources(&trial, &flips, flips_trial);
        back = lead_back(&trial, &fitted, model, &from_both, &mut random)?;
        // What the trials have found and the chains do not reach is fitted, too.
        let missed = back.missed(trial.level(), &trial.design.chains);
        let more = found.add(&sampler, missed)?;
        if !more.is_empty() {
            let level = trial.summary.weights.log_z;
            let whole = fitted.whole.and(&sampler, &from_both, level, &mut random)?;
            let again = fitted.and(&sampler, &more, whole, &mut random)?;
            let trial_again = Trial::run(&sampler, &again, &core)?;
            let from_both = sources(&trial_again, &flips, flips_trial);
            let back_again = lead_back(&trial_again, &again, model, &from_both, &mut random)?;
            if trial_again.promise(&back_again).is_better_than(&trial.promise(&back)) {
                (fitted, trial, back) = (again, trial_again, back_again);
            }
        }
        if lacks_combinations(&fitted, &found)
            && let Some(of_blocks) = Blocks::fit(&sampler, &found.exchanges, fitted.phases.len())?
        {
            let others = [(&trial.pool, trial.summary), (&flips.trial_states, flips_trial)];
            let tried = BlocksTrial::run(of_blocks, &sampler, &core, &others)?;
            // What combinations reach, the list of phases may lack.
            let from_blocks = [tried.source(trial.summary.weights.log_z)];
            back.extend(lead_back(&trial, &fitted, model, &from_blocks, &mut random)?);
            blocks = Some(tried);
        }
        Ok(())
    };
    if let Err(error) = look_further()
        && !ends_here()
    {
        return Err(error);
    }
    let by_flips = Promise::of(flips_trial.weights, flips.chain_steps(flips_trial.chains), 0.0);
    let others = [
        (Family::Flips, Some(by_flips)),
        (Family::Blocks, blocks.as_ref().map(BlocksTrial::promise)),
    ];
    let mut chosen = (Family::Phases, trial.promise(&back));
    for (way, promise) in others.into_iter().filter_map(|(way, promise)| Some((way, promise?))) {
        if promise.is_better_than(&chosen.1) {
            chosen = (way, promise);
        }
    }
    let (way, Promise { found: found_by_it, .. }) = chosen;
    let with_core = match way {
        Family::Phases => trial.with_core,
        _ => core.log_z > found_by_it.log_z - std::f64::consts::LN_2,
    };
    stage(5);
    Ok(Prepared {
        sampler,
        flips,
        core,
        with_core,
        fitted,
        found,
        trial,
        flips_trial,
        blocks,
        back,
        way,
    })
}

/// Two combinations of blocks that count are in one cell.
fn lacks_combinations(fitted: &Fitted, found: &Found) -> bool {
    let combinations = found.exchanges.that_count();
    let mut own = cells(&fitted.phases, &combinations);
    own.sort_unstable();
    own.dedup();
    fitted.phases.len() > 1 && own.len() < combinations.len()
}

/// From states that trials have found back to the starts, along the schedule that the main run would have.
fn lead_back(
    trial: &Trial,
    fitted: &Fitted,
    (sampler, core): (&Sampler<'_>, &Core),
    sources: &[Source<'_>],
    random: &mut Random,
) -> Result<WayBack> {
    let known = trial.with_core.then_some(core);
    let route = Route { sampler, fitted, shares: &trial.design.shares, known };
    route.lead_back(sources, schedule(trial.betas()), random)
}

/// The states that the trials from the fitted starts and with flips have found.
fn sources<'a>(trial: &'a Trial, flips: &'a FlipsWay<'_>, flips_trial: Summary) -> [Source<'a>; 2] {
    let Measured { log_z, error } = trial.summary.weights;
    // What little mass the flips have found is little that can be missed.
    let share = exp(flips_trial.weights.log_z - log_z).min(1.0);
    let flips = Source { pool: &flips.trial_states, share, error: flips_trial.weights.error };
    [Source { pool: &trial.pool, share: 1.0, error }, flips]
}

/// A trial with flips, again with as many islands as there are while it is too rough.
pub(super) fn try_flips(
    flips: &mut FlipsWay<'_>,
    core: &Core,
    is_too_rough: impl Fn(Measured) -> bool,
) -> Result<Summary> {
    let mut tally = Tally::new(1, ISLAND);
    let mut islands = flips.sampler.fewer(FLIP_ISLANDS);
    let most = MOST_TRIALS * islands;
    loop {
        tally.chains[0].extend(flips.islands(BETAS / 2, islands, core)?);
        let found = tally.summary(&alone(), core, false);
        islands = tally.chains[0].len() / ISLAND;
        if islands >= most || !is_too_rough(found.weights) {
            return Ok(found);
        }
    }
}

impl Prepared<'_> {
    pub(super) fn chain_steps(&self) -> u64 {
        self.sampler.chain_steps() + self.flips.sampler.chain_steps()
    }

    /// What the trials have found.
    pub(super) fn trials(&self) -> Vec<FamilyReport> {
        let report = |family: Family, found: Measured| FamilyReport {
            family,
            trial_log_z: found.log_z,
            trial_error: found.error,
            share: f64::from(u8::from(family == self.way)),
            log_z: None,
            std_error: None,
            weights: None,
        };
        let blocks = self.blocks.iter();
        let blocks = blocks.map(|blocks| report(Family::Blocks, blocks.summary.weights));
        let mut trials = vec![
            report(Family::Phases, self.trial.with_rare_weights()),
            report(Family::Flips, self.flips_trial.weights),
        ];
        trials.extend(blocks);
        trials
    }
}
