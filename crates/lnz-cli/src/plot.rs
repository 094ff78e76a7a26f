//! Figures of lines and points in panels, as SVG with text in outlines, and as PNG.
//!
//! ```text
//! let figure = Figure::new(vec![
//!     Panel::new("(a) training", Axis::linear("epoch"), Axis::linear("log-likelihood"))
//!         .with(Series::new("train", points, Look::new(0))),
//! ]);
//! let svg = figure.svg("training");
//! let png = plot::png(&svg)?;
//! ```
//!
//! Text may have subscripts and superscripts: `N_β`, `Gibbs_{mf}`, `2^{10}`.

mod axis;
mod look;
mod svg;
mod text;

pub(crate) use axis::Axis;
pub(crate) use look::{Dash, Look, Marker};

use anyhow::{Result, anyhow};
use resvg::{tiny_skia, usvg};

/// Panels in rows, with one legend below all of them.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// Panels in a row.
    pub(crate) columns: usize,
    pub(crate) panels: Vec<Panel>,
    /// A line of small print at the bottom; empty for none.
    pub(crate) note: String,
}

/// One pair of axes and what is drawn on them.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    pub(crate) rules: Vec<Rule>,
}

/// Points, a line through them, or both.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// Its name in the legend; series of the same name share the entry of the first.
    pub(crate) name: String,
    pub(crate) points: Vec<[f64; 2]>,
    pub(crate) look: Look,
}

/// A horizontal line across a panel.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) y: f64,
    /// Its name in the legend; empty for none.
    pub(crate) name: String,
    pub(crate) look: Look,
}

impl Figure {
    /// Panels side by side, two to a row.
    pub(crate) fn new(panels: Vec<Panel>) -> Self {
        let columns = panels.len().clamp(1, 2);
        Self { columns, panels, note: String::new() }
    }

    /// The figure as an SVG document. `id` begins the names of its parts, so that several figures
    /// can stand on one page.
    pub(crate) fn svg(&self, id: &str) -> String {
        svg::draw(self, id)
    }
}

impl Panel {
    pub(crate) fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, series: Vec::new(), rules: Vec::new() }
    }

    /// One series more, drawn over those before it.
    pub(crate) fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    pub(crate) fn with_rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }
}

impl Series {
    pub(crate) fn new(name: impl Into<String>, points: Vec<[f64; 2]>, look: Look) -> Self {
        Self { name: name.into(), points, look }
    }
}

impl Rule {
    pub(crate) fn new(name: impl Into<String>, y: f64, look: Look) -> Self {
        Self { y, name: name.into(), look }
    }
}

/// Pixels per unit of the SVG: sharp on a page of two columns.
const PNG_SCALE: f32 = 2.0;

/// The picture of an SVG document that [`Figure::svg`] made.
pub(crate) fn png(svg: &str) -> Result<Vec<u8>> {
    let tree = usvg::Tree::from_str(svg, &usvg::Options::default())?;
    let size = tree.size().to_int_size().scale_by(PNG_SCALE);
    let mut pixels = size
        .and_then(|size| tiny_skia::Pixmap::new(size.width(), size.height()))
        .ok_or_else(|| anyhow!("the figure has no area"))?;
    let transform = tiny_skia::Transform::from_scale(PNG_SCALE, PNG_SCALE);
    resvg::render(&tree, transform, &mut pixels.as_mut());
    Ok(pixels.encode_png()?)
}

#[cfg(test)]
mod tests;
