//! Epochs by their numbers, as people write them.

/// Some epochs: `10,50`, `1-20`, `100-500/100`, `all`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Epochs(Vec<Stretch>);

/// Epochs from `first` to `last`, every `step`-th.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stretch {
    first: usize,
    last: usize,
    step: usize,
}

impl Epochs {
    /// It is one of them.
    pub fn contains(&self, epoch: usize) -> bool {
        let within = |s: &Stretch| {
            (s.first..=s.last).contains(&epoch) && (epoch - s.first).is_multiple_of(s.step)
        };
        self.0.iter().any(within)
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The largest epoch that was named.
    pub fn last(&self) -> Option<usize> {
        self.0.iter().map(|s| s.last).filter(|last| *last != usize::MAX).max()
    }
}

impl std::str::FromStr for Epochs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!("expected epochs such as 10,50 or 1-20 or 100-500/100 or all, found {text:?}")
        };
        let number = |word: &str| word.trim().parse::<usize>().map_err(|_| bad());
        let stretch = |word: &str| {
            let (range, step) = word.split_once('/').unwrap_or((word, "1"));
            let (first, last) = match (range.trim(), range.split_once('-')) {
                ("all", _) => (0, usize::MAX),
                (_, Some((first, last))) => (number(first)?, number(last)?),
                (one, None) => (number(one)?, number(one)?),
            };
            let step = number(step)?;
            if step == 0 || first > last { Err(bad()) } else { Ok(Stretch { first, last, step }) }
        };
        let words = text.split(',').filter(|word| !word.trim().is_empty());
        Ok(Self(words.map(stretch).collect::<Result<_, _>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_are_lists_and_ranges() {
        let chosen = |text: &str| {
            let epochs: Epochs = text.parse().unwrap();
            (0..12).filter(|&epoch| epochs.contains(epoch)).collect::<Vec<_>>()
        };
        assert_eq!(chosen("1-3, 7"), [1, 2, 3, 7]);
        assert_eq!(chosen("2-11/4"), [2, 6, 10]);
        assert_eq!(chosen("all").len(), 12);
        assert_eq!(chosen("all/5"), [0, 5, 10]);
        assert_eq!(chosen(""), [0; 0]);
        for bad in ["x", "5-2", "1-5/0", "1--2", "-3"] {
            assert!(bad.parse::<Epochs>().unwrap_err().contains("100-500/100"), "{bad}");
        }
    }
}
