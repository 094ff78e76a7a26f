//! Pictures of figures.

use crate::error::{Error, Result};
use resvg::{tiny_skia, usvg};

/// Pixels per unit of the SVG: sharp on a page of two columns.
const PNG_SCALE: f32 = 2.0;

/// The picture of an SVG document that [`crate::Figure::svg`] made.
pub fn png(svg: &str) -> Result<Vec<u8>> {
    let tree = usvg::Tree::from_str(svg, &usvg::Options::default())
        .map_err(|error| Error::Svg { problem: error.to_string() })?;
    let size = tree.size().to_int_size().scale_by(PNG_SCALE);
    let mut pixels = size
        .and_then(|size| tiny_skia::Pixmap::new(size.width(), size.height()))
        .ok_or(Error::NoArea)?;
    let transform = tiny_skia::Transform::from_scale(PNG_SCALE, PNG_SCALE);
    resvg::render(&tree, transform, &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| Error::Png { problem: error.to_string() })
}
