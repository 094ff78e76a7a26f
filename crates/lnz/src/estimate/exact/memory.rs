//! How much memory the machine has.

use std::fs;

/// Assumed where the system does not say.
const USUAL_BYTES: f64 = 8.0 * (1u64 << 30) as f64;

/// Memory of the machine, or of the container that this process is confined to.
///
/// Only Linux is asked; elsewhere 8 GB are assumed.
pub(super) fn machine_bytes() -> f64 {
    let installed = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    let confined = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .into_iter()
        .find_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok());
    installed.unwrap_or(USUAL_BYTES).min(confined.unwrap_or(f64::INFINITY))
}

/// The line `MemTotal:       24556789 kB`.
fn total(meminfo: &str) -> Option<f64> {
    let line = meminfo.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024.0 * kilobytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_found_among_the_lines() {
        let text = "MemFree:  100 kB\nMemTotal:       2048 kB\n";
        assert_eq!(total(text), Some(2_097_152.0));
        assert_eq!(total("MemFree:  100 kB\n"), None);
        assert!(machine_bytes() > 1e6);
    }
}
