//! Figures of lines and points in panels, as SVG with text in outlines and as PNG; tables and pages of HTML.
//!
//! ```
//! use lnz_figures::{Axis, Figure, Panel, Series, Style};
//!
//! # fn main() -> lnz_figures::Result<()> {
//! let points = vec![[0.0, -210.5], [1.0, -160.2], [2.0, -140.9]];
//! let figure = Figure::new(vec![
//!     Panel::new("(a) training", Axis::linear("epoch"), Axis::linear("log-likelihood"))
//!         .with(Series::new("train", points, Style::new(0))),
//! ]);
//! let svg = figure.svg("training");
//! let png = lnz_figures::png(&svg)?;
//! assert!(svg.starts_with("<svg") && png.starts_with(b"\x89PNG"));
//! # Ok(())
//! # }
//! ```
//!
//! Text may have subscripts and superscripts: `N_β`, `Gibbs_{mf}`, `2^{10}`.

#![deny(unsafe_code)]

mod axis;
mod error;
mod escape;
mod figure;
mod page;
mod png;
mod style;
mod svg;
mod table;
mod text;

pub use axis::Axis;
pub use error::{Error, Result};
pub use escape::escape;
pub use figure::{Figure, Panel, Rule, Series};
pub use page::document;
pub use png::png;
pub use style::{Dash, Marker, Style};
pub use table::{Cell, Table};

#[cfg(test)]
mod tests;
