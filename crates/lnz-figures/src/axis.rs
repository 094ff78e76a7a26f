//! Axes: scales, ranges that fit the data, ticks at round numbers.

/// An axis before it has met the data.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Stands beside the axis.
    pub label: String,
    scale: Scale,
    range: Option<[f64; 2]>,
    ticks: Option<Vec<(f64, String)>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    Linear,
    /// Logarithmic, with ticks at powers of this base.
    Log(f64),
}

impl Axis {
    /// Equal steps.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None, ticks: None }
    }

    /// Powers of ten; values that are not positive are not drawn.
    pub fn log(label: impl Into<String>) -> Self {
        Self { scale: Scale::Log(10.0), ..Self::linear(label) }
    }

    /// Powers of two.
    pub fn log2(label: impl Into<String>) -> Self {
        Self { scale: Scale::Log(2.0), ..Self::linear(label) }
    }

    /// Shows exactly this range, whatever the data.
    pub fn between(mut self, low: f64, high: f64) -> Self {
        self.range = Some([low, high]);
        self
    }

    /// Ticks at these values, with these labels.
    pub fn ticks(mut self, ticks: Vec<(f64, String)>) -> Self {
        self.ticks = Some(ticks);
        self
    }

    /// The position of a value on the unscaled line; None where the scale has no place for it.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let place = match self.scale {
            Scale::Linear => value,
            Scale::Log(_) if value <= 0.0 => return None,
            Scale::Log(base) => value.log(base),
        };
        place.is_finite().then_some(place)
    }

    /// Fits the axis to these values.
    pub(crate) fn fitted(&self, values: impl Iterator<Item = f64>) -> Fitted {
        let [low, high] = match self.range {
            Some(range) => range.map(|value| self.place(value).unwrap_or(0.0)),
            None => self.surround(values.filter_map(|value| self.place(value))),
        };
        let ticks = match &self.ticks {
            Some(ticks) => ticks
                .iter()
                .filter_map(|(value, text)| Some((self.place(*value)?, text.clone())))
                .collect(),
            None => self.round_ticks(low, high),
        };
        let inside = |place: &f64| (low - 1e-9..=high + 1e-9).contains(place);
        let ticks = ticks.into_iter().filter(|(place, _)| inside(place)).collect();
        Fitted { low, high, ticks }
    }

    /// A range with a little room around the values.
    fn surround(&self, places: impl Iterator<Item = f64>) -> [f64; 2] {
        let (low, high) =
            places.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
        if low > high {
            return [0.0, 1.0];
        }
        let room = match high - low {
            0.0 => 0.5 * low.abs().max(1.0),
            width => 0.04 * width,
        };
        [low - room, high + room]
    }

    fn round_ticks(&self, low: f64, high: f64) -> Vec<(f64, String)> {
        let step = match self.scale {
            Scale::Linear => round_step((high - low) / 5.0),
            Scale::Log(_) => round_step((high - low) / 7.0).max(1.0).round(),
        };
        let first = (low / step - 1e-9).ceil();
        let places = (0..)
            .map(|k| (first + f64::from(k)) * step)
            .take_while(|&place| place <= high + 1e-9 * step);
        let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
        places
            .map(|place| match self.scale {
                Scale::Linear => (place, minus(format!("{place:.decimals$}"))),
                Scale::Log(base) => (place, minus(format!("{base}^{{{place}}}"))),
            })
            .collect()
    }
}

/// An axis with its range and ticks, in places on the unscaled line.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) ticks: Vec<(f64, String)>,
}

/// 1, 2 or 5 times a power of ten, next to `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let digit = match step / power {
        d if d < 1.5 => 1.0,
        d if d < 3.5 => 2.0,
        d if d < 7.5 => 5.0,
        _ => 10.0,
    };
    digit * power
}

/// A true minus sign instead of a hyphen, and no minus zero.
fn minus(text: String) -> String {
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| c == '0' || c == '.') => digits.to_owned(),
        _ => text.replace('-', "\u{2212}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, values: &[f64]) -> Vec<String> {
        let fitted = axis.fitted(values.iter().copied());
        fitted.ticks.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_at_round_numbers() {
        assert_eq!(labels(&Axis::linear(""), &[0.0, 100.0]), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(&Axis::linear(""), &[-0.1, 0.1])[0], "\u{2212}0.10");
        assert_eq!(
            labels(&Axis::log(""), &[1e-3, 1.0]),
            ["10^{\u{2212}3}", "10^{\u{2212}2}", "10^{\u{2212}1}", "10^{0}"]
        );
        assert_eq!(labels(&Axis::log2(""), &[2.0, 16.0]), ["2^{1}", "2^{2}", "2^{3}", "2^{4}"]);
    }

    #[test]
    fn an_axis_without_data_or_with_one_value_has_a_range() {
        for values in [&[][..], &[3.0], &[f64::NAN]] {
            let fitted = Axis::linear("").fitted(values.iter().copied());
            assert!(fitted.low < fitted.high);
        }
        assert_eq!(Axis::log("").place(0.0), None);
        assert_eq!(Axis::log("").place(-1.0), None);
    }
}
