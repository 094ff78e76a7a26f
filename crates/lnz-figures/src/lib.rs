//! Figures as SVG and PNG, tables, and HTML pages.
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
//! assert!(svg.starts_with("<svg"));
//! # #[cfg(feature = "png")]
//! assert!(lnz_figures::png(&svg)?.starts_with(b"\x89PNG"));
//! # Ok(())
//! # }
//! ```
//!
//! Text may have subscripts and superscripts: `N_β`, `Gibbs_{mf}`, `2^{10}`. Words that somebody else has
//! chosen, such as the name of a file, go through [`verbatim`].

#![deny(unsafe_code)]

mod axis;
mod error;
mod escape;
mod figure;
mod page;
#[cfg(feature = "png")]
mod png;
mod style;
mod svg;
mod table;
mod text;

pub use axis::Axis;
pub use error::{Error, Result};
pub use figure::{Errors, Figure, Panel, Rule, Series};
pub use page::{Badge, document};
#[cfg(feature = "png")]
pub use png::png;
pub use style::{Dash, Marker, Style};
pub use table::{Cell, Table};
pub use text::verbatim;

#[cfg(test)]
mod tests;
