//! The strongest test: whether the chains find a sum that is known exactly.

use super::Warning;
use super::signs::LITTLE;
use crate::math::ln;

/// An exact sum over some states beside the same sum as the chains see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct KnownSum {
    /// log of the exact sum; minus infinity for no states.
    pub(crate) log_exact: f64,
    /// The chains' own estimate of it.
    pub(crate) log_seen: f64,
    /// log Z, of which it is a part.
    pub(crate) log_z: f64,
    /// Relative error of Z from the weights alone.
    pub(crate) error: f64,
}

impl KnownSum {
    /// What the chains do not see of it, in nats.
    pub(crate) fn shortfall(&self) -> f64 {
        self.log_exact - self.log_seen
    }

    /// The chains seem to see less than there is. An interval that is too wide does little harm, so
    /// two errors are enough to widen it.
    pub(crate) fn seems_missed(&self) -> bool {
        self.matters() && self.shortfall() > 2.0 * self.error
    }

    /// The chains see clearly less than there is. A warning that is wrong costs a user's time, so it
    /// takes half an error more, and a miss that is worth a word.
    pub(crate) fn is_missed(&self) -> bool {
        self.matters() && self.shortfall() > LITTLE + 2.5 * self.error
    }

    /// A warning if it is missed.
    pub(crate) fn warning(&self) -> Option<Warning> {
        let (log_core, log_sampled) = (self.log_exact, self.log_seen);
        self.is_missed().then_some(Warning::MissedCore { log_core, log_sampled })
    }

    /// A small part of Z tells nothing about the rest.
    fn matters(&self) -> bool {
        self.log_exact > self.log_z + ln(LITTLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEN: KnownSum = KnownSum { log_exact: 10.0, log_seen: 10.0, log_z: 10.5, error: 0.1 };

    #[test]
    fn an_interval_widens_before_a_warning_is_given() {
        let signs = |log_seen| {
            let sum = KnownSum { log_seen, ..SEEN };
            (sum.seems_missed(), sum.is_missed())
        };
        assert_eq!(signs(9.85), (false, false));
        assert_eq!(signs(9.75), (true, false));
        assert_eq!(signs(9.6), (true, true));
        assert_eq!(signs(f64::NEG_INFINITY), (true, true));
    }

    #[test]
    fn a_small_part_of_z_tells_nothing() {
        let small = KnownSum { log_seen: f64::NEG_INFINITY, log_z: 14.0, ..SEEN };
        assert_eq!((small.seems_missed(), small.warning()), (false, None));
        let none = KnownSum { log_exact: f64::NEG_INFINITY, log_seen: f64::NEG_INFINITY, ..SEEN };
        assert_eq!((none.seems_missed(), none.warning()), (false, None));
    }
}
