//! A figure as a value: panels with their axes, series of points, and reference lines.

use crate::axis::Axis;
use crate::style::Style;

/// Panels in rows, with one legend below all of them.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Panels in a row.
    pub columns: usize,
    /// From left to right, row by row.
    pub panels: Vec<Panel>,
    /// A line of small print at the bottom; empty for none.
    pub note: String,
}

/// One pair of axes and what is drawn on them.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Stands above it.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, later ones over earlier ones.
    pub series: Vec<Series>,
    /// Lines across the panel, below the series.
    pub rules: Vec<Rule>,
}

/// Points, a line through them, or both.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name in the legend; series of the same name share the entry of the first, an empty one has none.
    pub name: String,
    /// x and y; those that an axis has no place for are left out.
    pub points: Vec<[f64; 2]>,
    /// The ends of a bar through each point; infinite ones reach to the edge.
    pub errors: Errors,
    /// The area below the line is coloured.
    pub filled: bool,
    /// Colour, marker and dash.
    pub style: Style,
}

/// Intervals of the points of a series, in their order.
#[derive(Debug, Clone, PartialEq)]
pub enum Errors {
    /// None are known.
    None,
    /// Along x.
    X(Vec<[f64; 2]>),
    /// Along y.
    Y(Vec<[f64; 2]>),
}

/// A line across a panel.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Where it is.
    pub at: f64,
    /// It goes from the bottom to the top, at this x; otherwise from left to right, at this y.
    pub upright: bool,
    /// Its name in the legend; empty for none.
    pub name: String,
    /// Colour, marker and dash.
    pub style: Style,
}

impl Figure {
    /// Panels side by side, two to a row.
    pub fn new(panels: Vec<Panel>) -> Self {
        let columns = panels.len().clamp(1, 2);
        Self { columns, panels, note: String::new() }
    }
}

impl Panel {
    /// Axes without anything on them.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, series: Vec::new(), rules: Vec::new() }
    }

    /// One series more, drawn over those before it.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// One line across it more.
    pub fn with_rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }
}

impl Series {
    /// These points under this name.
    pub fn new(name: impl Into<String>, points: Vec<[f64; 2]>, style: Style) -> Self {
        Self { name: name.into(), points, errors: Errors::None, filled: false, style }
    }

    /// How many of these values lie where, as steps over equal bins.
    pub fn histogram(name: impl Into<String>, values: &[f64], bins: usize, style: Style) -> Self {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        // Equal values need some width, too.
        let [low, high] = match high - low {
            width if width > 1e-9 * low.abs().max(1.0) => [low, high],
            _ => [low - 0.5, low + 0.5],
        };
        let bins = bins.max(1);
        let mut counts = vec![0_usize; bins];
        for value in finite() {
            let bin = ((value - low) / (high - low) * bins as f64) as usize;
            counts[bin.min(bins - 1)] += 1;
        }
        let edge = |bin: usize| low + (high - low) * bin as f64 / bins as f64;
        let mut points = vec![[low, 0.0]];
        for (bin, count) in counts.into_iter().enumerate() {
            points.extend([[edge(bin), count as f64], [edge(bin + 1), count as f64]]);
        }
        points.push([high, 0.0]);
        let points = if low.is_finite() { points } else { vec![] };
        Self { filled: true, ..Self::new(name, points, style) }
    }

    /// The same with the ends of a bar through each point.
    pub fn errors(self, errors: Errors) -> Self {
        Self { errors, ..self }
    }
}

impl Rule {
    /// A line at this height; an empty name keeps it out of the legend.
    pub fn new(name: impl Into<String>, y: f64, style: Style) -> Self {
        Self { at: y, upright: false, name: name.into(), style }
    }

    /// A line from the bottom to the top.
    pub fn upright(name: impl Into<String>, x: f64, style: Style) -> Self {
        Self { at: x, upright: true, name: name.into(), style }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_value_is_in_one_bin() {
        let values = [0.0, 0.1, 0.5, 1.0, f64::NEG_INFINITY, f64::NAN];
        let steps = Series::histogram("", &values, 4, Style::new(0));
        let tops: Vec<f64> = steps.points.iter().skip(1).step_by(2).take(4).map(|p| p[1]).collect();
        assert_eq!(tops, [2.0, 0.0, 1.0, 1.0]);
        assert!(Series::histogram("", &[], 4, Style::new(0)).points.is_empty());
        assert_eq!(Series::histogram("", &[2.0; 7], 1, Style::new(0)).points[1], [1.5, 7.0]);
    }
}
