//! Annealing from both ends: room for mass that neither run has met.

use super::Warning;

/// A gap between forward and reverse runs below this is what modes that are not typical make.
const WIDE: f64 = 2.0;
/// So many chains would have met what lies in a wider gap, or show by their weights that they did not.
const MANY_CHAINS: usize = 1024;

/// Forward and reverse annealing, which bound log Z from below and, where the modes are typical
/// states, from above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bracket {
    pub(crate) forward: f64,
    pub(crate) reverse: Option<f64>,
    /// log of what was summed exactly; minus infinity for nothing.
    pub(crate) log_core: f64,
    pub(crate) chains: usize,
}

impl Bracket {
    /// The reverse run leaves room for mass that so few chains may not have met.
    ///
    /// Where most of Z was summed exactly, the room is taken.
    pub(crate) fn is_too_wide(&self) -> bool {
        let sampled = self.log_core < self.forward - std::f64::consts::LN_2;
        let gap = self.reverse.map_or(0.0, |reverse| reverse - self.forward);
        sampled && gap > WIDE && self.chains < MANY_CHAINS
    }

    /// A warning if it is too wide.
    pub(crate) fn warning(&self) -> Option<Warning> {
        let reverse = self.reverse.filter(|_| self.is_too_wide())?;
        Some(Warning::WideBracket { log_z: self.forward, reverse, chains: self.chains })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_that_many_chains_or_a_core_fill_is_no_gap() {
        let wide = Bracket {
            forward: 10.0,
            reverse: Some(13.0),
            log_core: f64::NEG_INFINITY,
            chains: 128,
        };
        assert!(matches!(wide.warning(), Some(Warning::WideBracket { chains: 128, .. })));
        let others = [
            Bracket { reverse: None, ..wide },
            Bracket { reverse: Some(11.0), ..wide },
            Bracket { log_core: 9.9, ..wide },
            Bracket { chains: 1024, ..wide },
        ];
        assert!(others.iter().all(|bracket| bracket.warning().is_none()));
    }
}
