//! Memory: what is left of it, asked before much of it is taken.

use crate::{Error, Result};
use std::fs::read_to_string;

/// Less is always tried: asking takes a tenth of a millisecond.
const MUCH: f64 = 64e6;

/// Fails if so many bytes are not to be had, which the words say what for.
pub(crate) fn check(what: &str, needed: f64) -> Result<()> {
    match available().filter(|_| needed > MUCH) {
        Some(available) if needed > available => {
            Err(Error::Memory { what: what.to_owned(), needed, available })
        }
        _ => Ok(()),
    }
}

/// Bytes that this process may still take: of the machine, of its container, and below its own limit.
/// `None` where the system does not say.
fn available() -> Option<f64> {
    let machine = read_to_string("/proc/meminfo").ok();
    let machine = machine.and_then(|text| kibibytes(&text, "MemAvailable:"));
    let number = |path: &str| read_to_string(path).ok()?.trim().parse::<f64>().ok();
    let group = || {
        let most = number("/sys/fs/cgroup/memory.max")?;
        Some((most - number("/sys/fs/cgroup/memory.current")?).max(0.0))
    };
    let own = || {
        let limits = read_to_string("/proc/self/limits").ok()?;
        let most = address_space(&limits)?;
        let used = kibibytes(&read_to_string("/proc/self/status").ok()?, "VmSize:")?;
        Some((most - used).max(0.0))
    };
    [machine, group(), own()].into_iter().flatten().reduce(f64::min)
}

/// A line such as `MemAvailable:   123456 kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? * 1024.0)
}

/// The soft limit of the line `Max address space   unlimited   unlimited   bytes`.
fn address_space(limits: &str) -> Option<f64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused_with_both_numbers() {
        if available().is_none() {
            return;
        }
        let error = check("the weights", 1e18).unwrap_err().to_string();
        assert!(error.starts_with("the weights would need 1000000000.0 GB of memory, "), "{error}");
        check("the weights", 1.0).unwrap();
    }

    #[test]
    fn lines_of_the_system_are_understood() {
        assert_eq!(
            kibibytes("MemFree: 1 kB\nMemAvailable:   2 kB\n", "MemAvailable:"),
            Some(2048.0)
        );
        let line = "Max cpu time              unlimited            unlimited            seconds\nMax address space         4096000000           unlimited            bytes\n";
        assert_eq!(address_space(line), Some(4_096_000_000.0));
        assert_eq!(address_space("Max address space   unlimited   unlimited   bytes"), None);
    }
}
