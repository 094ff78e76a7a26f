//! What a calibration run was asked to do.

use crate::known::Family;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "usage: cargo xtask calibrate [options]
  --quick              two models of each family that takes a second or less
  --seeds N            models of each family; default 14, 5 of the families that take longer
  --first-seed N       seed of the first; default 0
  --family TEXT        only families whose name contains TEXT
  --max-seconds S      time of auto on one model; default 20
  --auto-only          without plain annealing
  --output FILE        write the report there as well";

/// Models of a family that takes a second or less each, and of one that takes longer: 303 in all.
const SEEDS: u64 = 14;
const SLOW_SEEDS: u64 = 5;
const QUICK_SEEDS: u64 = 2;
/// Time of `auto` on one model, so that all of them end within half an hour on two cores.
const MAX_SECONDS: f64 = 20.0;

pub(crate) struct Options {
    pub(crate) quick: bool,
    /// Models of each family, if told.
    seeds: Option<u64>,
    first_seed: u64,
    pub(crate) family: Option<String>,
    pub(crate) max_seconds: f64,
    pub(crate) auto_only: bool,
    pub(crate) output: Option<PathBuf>,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut seeds, mut first_seed) = (None, 0);
        let (mut quick, mut max_seconds) = (false, MAX_SECONDS);
        let (mut family, mut auto_only, mut output) = (None, false, None);
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
            match name.as_str() {
                "--quick" => quick = true,
                "--auto-only" => auto_only = true,
                "--seeds" => seeds = Some(number(&name, &value()?)?),
                "--first-seed" => first_seed = number(&name, &value()?)?,
                "--family" => family = Some(value()?),
                "--max-seconds" => max_seconds = number(&name, &value()?)?,
                "--output" => output = Some(PathBuf::from(value()?)),
                _ => return Err(format!("{name} is not an option")),
            }
        }
        Ok(Self { quick, seeds, first_seed, family, max_seconds, auto_only, output })
    }

    /// The seeds of the models of a family.
    pub(crate) fn seeds_of(&self, family: &Family) -> Range<u64> {
        let usual = match (self.quick, family.is_quick()) {
            (true, _) => QUICK_SEEDS,
            (false, true) => SEEDS,
            (false, false) => SLOW_SEEDS,
        };
        self.first_seed..self.first_seed + self.seeds.unwrap_or(usual)
    }
}

impl fmt::Display for Options {
    /// The command that makes the same run again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quick, seeds, first_seed, family, max_seconds, auto_only, .. } = self;
        write!(f, "cargo xtask calibrate")?;
        if *quick {
            write!(f, " --quick")?;
        }
        if let Some(seeds) = seeds {
            write!(f, " --seeds {seeds}")?;
        }
        if *first_seed != 0 {
            write!(f, " --first-seed {first_seed}")?;
        }
        if let Some(family) = family {
            write!(f, " --family '{family}'")?;
        }
        if *max_seconds != MAX_SECONDS {
            write!(f, " --max-seconds {max_seconds}")?;
        }
        if *auto_only {
            write!(f, " --auto-only")?;
        }
        Ok(())
    }
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} {text}: not a number"))
}
