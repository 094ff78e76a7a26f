//! What comes of a check.

/// A word on it, or why it was not made, or why it failed.
pub(crate) enum Outcome {
    Passed(String),
    Skipped(String),
    Failed(String),
}
