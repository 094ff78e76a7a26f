//! Where a result comes from: the version of lnz, the day and the machine.

use serde::Serialize;

/// What may differ between two runs that give the same result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Provenance {
    /// The version of lnz.
    pub lnz: &'static str,
    /// When the result was there, as `2026-11-17T12:00:00Z`.
    pub date: String,
    /// On what.
    pub machine: Machine,
}

/// A machine, without its name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Machine {
    /// The operating system, such as `linux`.
    pub system: &'static str,
    /// The name of the processor, or of its architecture.
    pub processor: String,
    /// Processors that this process may use.
    pub cores: usize,
    /// The instructions that the kernels use.
    pub instruction_set: &'static str,
}

impl Provenance {
    /// Of a result that is there now.
    pub fn now() -> Self {
        let machine = Machine {
            system: std::env::consts::OS,
            processor: processor(),
            cores: cores(),
            instruction_set: lnz::instruction_set(),
        };
        let date = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        Self { lnz: env!("CARGO_PKG_VERSION"), date, machine }
    }
}

/// Processors that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Name of the processor, where the system tells it.
pub fn processor() -> String {
    let name = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
