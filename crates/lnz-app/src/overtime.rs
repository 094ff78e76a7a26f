//! Whether work that was asked to stop has gone on for too long.
//!
//! Chains and sums ask every few milliseconds whether to stop. What leads up to them does not: reading a file,
//! taking a model apart, preparing tens of millions of weights. The tool and Python do not wait for that.

use std::time::Instant;

/// How long work may go on, in seconds, and as a part of a longer limit. Together with the end of the process
/// it stays within half a second or 5%.
const PATIENCE: f64 = 0.3;
const PART: f64 = 0.03;

/// Seconds of the processor that the end of work takes at most. Work that has had less has waited for other
/// processes, and is about to have a result.
const TO_END: f64 = 0.1;

/// Work that has had next to nothing of the processor, because it waits for a pipe, is given up after so many
/// seconds.
const WAITING: f64 = 2.0;

/// A time at which work should stop.
#[derive(Debug, Clone)]
pub struct Overtime {
    started: Instant,
    seconds: f64,
    /// Of the processor, when the time was over.
    used: Option<Option<f64>>,
}

impl Overtime {
    /// Work should stop so many seconds after it started.
    pub fn after(started: Instant, seconds: f64) -> Self {
        Self { started, seconds, used: None }
    }

    /// Nobody should wait for it any longer. Has to be asked every now and then.
    pub fn is_too_long(&mut self) -> bool {
        let late = self.started.elapsed().as_secs_f64() - self.seconds;
        if late <= 0.0 {
            return false;
        }
        let now = processor_seconds();
        let worked = match (*self.used.get_or_insert(now), now) {
            (Some(then), Some(now)) => now - then,
            _ => f64::INFINITY,
        };
        late > PATIENCE.max(PART * self.seconds) && (worked > TO_END || late > WAITING)
    }
}

/// Seconds of the processor that this process has had, where the system has a file that says so.
fn processor_seconds() -> Option<f64> {
    const TICKS_IN_A_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program is in parentheses, and may have blanks and parentheses in it.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = |field: usize| fields.split_whitespace().nth(field)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS_IN_A_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_is_not_over_is_not_too_long() {
        assert!(!Overtime::after(Instant::now(), 1e6).is_too_long());
        assert!(!Overtime::after(Instant::now(), f64::INFINITY).is_too_long());
    }

    #[test]
    fn work_that_has_had_the_processor_is_given_up() {
        let mut late = Overtime::after(Instant::now(), -1.0);
        // The first question is when it is noticed that the time is over.
        assert!(!late.is_too_long() || processor_seconds().is_none());
        let mut waiting = Overtime::after(Instant::now(), -1.0 - WAITING);
        assert!(waiting.is_too_long());
        let had = processor_seconds();
        while processor_seconds().zip(had).is_some_and(|(now, then)| now - then <= 2.0 * TO_END) {
            std::hint::spin_loop();
        }
        assert!(late.is_too_long());
    }
}
