//! What a calibration run was asked to do.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "usage: cargo xtask calibrate [options]
  --quick              two models of each family that takes a second or less
  --seeds N            models of each family; default 11
  --first-seed N       seed of the first; default 0
  --family TEXT        only families whose name contains TEXT
  --max-seconds S      time of auto on one model; default 20
  --auto-only          without plain annealing
  --output FILE        write the report there as well";

/// Models of each family: 30 families make 330 models.
const SEEDS: u64 = 11;
const QUICK_SEEDS: u64 = 2;
/// Time of `auto` on one model, so that all of them end within half an hour on two cores.
const MAX_SECONDS: f64 = 20.0;

pub(crate) struct Options {
    pub(crate) quick: bool,
    pub(crate) seeds: Range<u64>,
    pub(crate) family: Option<String>,
    pub(crate) max_seconds: f64,
    pub(crate) auto_only: bool,
    pub(crate) output: Option<PathBuf>,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut count, mut first) = (None, 0);
        let (mut quick, mut max_seconds) = (false, MAX_SECONDS);
        let (mut family, mut auto_only, mut output) = (None, false, None);
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
            match name.as_str() {
                "--quick" => quick = true,
                "--auto-only" => auto_only = true,
                "--seeds" => count = Some(number(&name, &value()?)?),
                "--first-seed" => first = number(&name, &value()?)?,
                "--family" => family = Some(value()?),
                "--max-seconds" => max_seconds = number(&name, &value()?)?,
                "--output" => output = Some(PathBuf::from(value()?)),
                _ => return Err(format!("{name} is not an option")),
            }
        }
        let count = count.unwrap_or(if quick { QUICK_SEEDS } else { SEEDS });
        Ok(Self { quick, seeds: first..first + count, family, max_seconds, auto_only, output })
    }
}

impl fmt::Display for Options {
    /// The command that makes the same run again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quick, seeds, family, max_seconds, auto_only, .. } = self;
        write!(f, "cargo xtask calibrate")?;
        let usual = if *quick { QUICK_SEEDS } else { SEEDS };
        if *quick {
            write!(f, " --quick")?;
        }
        if seeds.end - seeds.start != usual {
            write!(f, " --seeds {}", seeds.end - seeds.start)?;
        }
        if seeds.start != 0 {
            write!(f, " --first-seed {}", seeds.start)?;
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
