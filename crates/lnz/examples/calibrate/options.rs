//! What a calibration run was asked to do.

use crate::known::Family;
use lnz::Auto;
use std::fmt;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "usage: cargo xtask calibrate [options]
  --part PART          tuning or held-out models; default both
  --seeds N            models of each family in each part; default 2 to 5
  --first-seed N       skip the first N of each part; default 0
  --family TEXT        only families whose name contains TEXT
  --quick              one model in each part of the families that take a second or less
  --max-seconds S      time of auto on one model; default 60
  --seed-of-run N      seed of the estimators; default 0
  --jobs N             models at a time; default 1. Results do not depend on it, times do
  --peers              plain annealing as well, from the uniform and from a sampled start
  --tsv FILE           keep a row of tab-separated values for each run there, and do not repeat those that
                       it has already: a run that was stopped goes on. Begin anew after a change
  --output FILE        write the report there as well
  --write DIR          write the models as .npz and truths.tsv, and run nothing";

/// The first seed of models that are only looked at in the end.
const HELD_OUT: u64 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Tuning,
    HeldOut,
}

impl Part {
    pub(crate) const ALL: [Self; 2] = [Part::Tuning, Part::HeldOut];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Part::Tuning => "tuning",
            Part::HeldOut => "held-out",
        }
    }
}

pub(crate) struct Options {
    part: Option<Part>,
    seeds: Option<u64>,
    first_seed: u64,
    family: Option<String>,
    quick: bool,
    pub(crate) max_seconds: f64,
    pub(crate) seed_of_run: u64,
    pub(crate) jobs: usize,
    pub(crate) peers: bool,
    pub(crate) tsv: Option<PathBuf>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) write: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            part: None,
            seeds: None,
            first_seed: 0,
            family: None,
            quick: false,
            max_seconds: Auto::default().max_seconds,
            seed_of_run: Auto::default().seed,
            jobs: 1,
            peers: false,
            tsv: None,
            output: None,
            write: None,
        }
    }
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
            match name.as_str() {
                "--part" => options.part = Some(part(&value()?)?),
                "--seeds" => options.seeds = Some(number(&name, &value()?)?),
                "--first-seed" => options.first_seed = number(&name, &value()?)?,
                "--family" => options.family = Some(value()?),
                "--quick" => options.quick = true,
                "--max-seconds" => options.max_seconds = number(&name, &value()?)?,
                "--seed-of-run" => options.seed_of_run = number(&name, &value()?)?,
                "--jobs" => options.jobs = number(&name, &value()?)?,
                "--peers" => options.peers = true,
                "--tsv" => options.tsv = Some(PathBuf::from(value()?)),
                "--output" => options.output = Some(PathBuf::from(value()?)),
                "--write" => options.write = Some(PathBuf::from(value()?)),
                _ => return Err(format!("{name} is not an option")),
            }
        }
        if options.jobs == 0 {
            return Err("--jobs 0: at least one model at a time".into());
        }
        Ok(options)
    }

    /// Whether models of a family are asked for.
    pub(crate) fn includes(&self, family: &Family) -> bool {
        (family.is_quick || !self.quick)
            && self.family.as_ref().is_none_or(|text| family.name.contains(text))
    }

    /// The models of a family: their part and seed.
    pub(crate) fn seeds_of(&self, family: &Family) -> Vec<(Part, u64)> {
        let seeds = self.seeds.unwrap_or(if self.quick { 1 } else { family.seeds });
        let parts = Part::ALL.into_iter().filter(|part| self.part.is_none_or(|p| p == *part));
        parts
            .flat_map(|part| {
                let first = match part {
                    Part::Tuning => self.first_seed,
                    Part::HeldOut => HELD_OUT + self.first_seed,
                };
                (first..first + seeds).map(move |seed| (part, seed))
            })
            .collect()
    }
}

impl fmt::Display for Options {
    /// The command that makes the same run again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = Self::default();
        write!(f, "cargo xtask calibrate")?;
        if let Some(part) = self.part {
            write!(f, " --part {}", part.name())?;
        }
        if let Some(seeds) = self.seeds {
            write!(f, " --seeds {seeds}")?;
        }
        if self.first_seed != usual.first_seed {
            write!(f, " --first-seed {}", self.first_seed)?;
        }
        if let Some(family) = &self.family {
            write!(f, " --family '{family}'")?;
        }
        if self.quick {
            write!(f, " --quick")?;
        }
        if self.max_seconds != usual.max_seconds {
            write!(f, " --max-seconds {}", self.max_seconds)?;
        }
        if self.seed_of_run != usual.seed_of_run {
            write!(f, " --seed-of-run {}", self.seed_of_run)?;
        }
        if self.jobs != usual.jobs {
            write!(f, " --jobs {}", self.jobs)?;
        }
        if self.peers {
            write!(f, " --peers")?;
        }
        Ok(())
    }
}

fn part(text: &str) -> Result<Part, String> {
    let found = Part::ALL.into_iter().find(|part| part.name() == text);
    found.ok_or(format!("--part {text}: expected tuning or held-out"))
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} {text}: not a number"))
}
