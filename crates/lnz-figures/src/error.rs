//! What can go wrong with a picture.

/// The error of every fallible function in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The SVG document is not one, or uses what [`crate::Figure::svg`] does not.
    #[error("the figure is not valid SVG: {problem}")]
    Svg {
        /// What the reader of SVG says.
        problem: String,
    },

    /// A picture needs a width and a height.
    #[error("the figure has no area")]
    NoArea,

    /// The picture cannot be written as PNG.
    #[error("the figure cannot be written as PNG: {problem}")]
    Png {
        /// What the writer of PNG says.
        problem: String,
    },
}

/// A result with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
