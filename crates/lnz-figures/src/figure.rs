//! A figure as a value: panels, axes, series and lines across.

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
    /// Horizontal lines, below the series.
    pub rules: Vec<Rule>,
}

/// Points, a line through them, or both.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name in the legend; series of the same name share the entry of the first.
    pub name: String,
    /// x and y; those that an axis has no place for are left out.
    pub points: Vec<[f64; 2]>,
    /// Colour, marker and dash.
    pub style: Style,
}

/// A horizontal line across a panel.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Where it is.
    pub y: f64,
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

    /// One horizontal line more.
    pub fn with_rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }
}

impl Series {
    /// These points under this name.
    pub fn new(name: impl Into<String>, points: Vec<[f64; 2]>, style: Style) -> Self {
        Self { name: name.into(), points, style }
    }
}

impl Rule {
    /// A line at this height; an empty name keeps it out of the legend.
    pub fn new(name: impl Into<String>, y: f64, style: Style) -> Self {
        Self { y, name: name.into(), style }
    }
}
