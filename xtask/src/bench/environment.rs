//! What the benchmark needs around it: release builds, and facts on the machine.

use crate::cargo;
use crate::environment::output;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The lnz worker and the command-line tool, built for release.
pub(super) struct Built {
    pub(super) worker: PathBuf,
    pub(super) lnz: PathBuf,
}

pub(super) fn build(target: &Path) -> Result<Built, String> {
    let builds: [&[&str]; 2] =
        [&["-p", "lnz", "--example", "bench_worker"], &["-p", "lnz-cli", "--bin", "lnz"]];
    for arguments in builds {
        output(cargo().args(["build", "--release", "--quiet"]).args(arguments))?;
    }
    let name = |name: &str| format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let release = target.join("release");
    Ok(Built {
        worker: release.join("examples").join(name("bench_worker")),
        lnz: release.join(name("lnz")),
    })
}

/// "Name of the processor, 2 cores".
pub(super) fn processor() -> String {
    let from_proc = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?.to_owned();
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let name = from_proc
        .or_else(|| {
            let name = output(Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]));
            Some(name.ok()?.trim().to_owned())
        })
        .unwrap_or_else(|| format!("an unnamed {}", std::env::consts::ARCH));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {cores} cores")
}

/// Today, as 2026-01-31 (UTC).
pub(super) fn today() -> String {
    let seconds = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |duration| duration.as_secs());
    let (year, month, day) = date((seconds / 86_400) as i64);
    format!("{year}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days after 1 January 1970.
fn date(days: i64) -> (i64, i64, i64) {
    // Years that start in March put the leap day last; 400 of them have 146,097 days.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(19_782), (2024, 2, 29));
        assert_eq!(date(20_454), (2026, 1, 1));
    }
}
