//! What the benchmark needs around it: a Python environment, release builds, and facts on the machine.

use crate::cargo;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Runs a command to its end and returns what it prints.
pub(super) fn output(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|error| format!("{shown} cannot be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{shown} failed ({}): {}", output.status, said.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Where cargo puts its results.
pub(super) fn target_folder() -> Result<PathBuf, String> {
    let arguments = ["metadata", "--format-version=1", "--no-deps", "--offline"];
    let metadata = output(cargo().args(arguments))?;
    let metadata: serde_json::Value =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    metadata["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| "cargo metadata names no target directory".into())
}

/// The Python of an environment under `folder` that has the peers; made when it is not there or
/// when the requirements have changed.
pub(super) fn python(folder: &Path) -> Result<PathBuf, String> {
    let requirements = Path::new(ROOT).join("bench/requirements.txt");
    let wanted = read(&requirements)?;
    let environment = folder.join("python");
    let python = environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let done = environment.join("installed.txt");
    if std::fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    println!("making a Python environment with the peers in {}", environment.display());
    let system = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let remedy = "The peers need Python 3.10 or later with venv and pip, and access to a package \
                  index; set PYTHON to choose the interpreter.";
    output(Command::new(system).args(["-m", "venv", "--clear"]).arg(&environment))
        .map_err(|error| format!("{error}\n{remedy}"))?;
    output(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(requirements))
        .map_err(|error| format!("{error}\n{remedy}"))?;
    std::fs::write(&done, wanted).map_err(|error| format!("{}: {error}", done.display()))?;
    Ok(python)
}

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

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
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
