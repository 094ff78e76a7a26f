//! What a user must know of how a file was read, in every result.

use super::options::Layout;
use std::fmt;

/// A decision that another reader of the same file might take otherwise.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// The file has no visible bias, and zero was taken.
    NoVisibleBias,
    /// The file has no hidden bias, and zero was taken.
    NoHiddenBias,
    /// The weights are square, and nothing says which way round they are.
    SquareWeights {
        /// Units of each layer.
        side: usize,
        /// What was taken.
        read_as: Layout,
        /// log Z as it was read and of the other way round, where both are cheap.
        log_z: Option<[f64; 2]>,
    },
    /// Tensors without known names were recognised by their shapes.
    FoundByShape,
    /// The model is the amplitude of a wave function; log Z is not its norm.
    WaveFunction,
    /// The file holds several models, and this one was taken.
    OneOfSeveral {
        /// Which one, in words.
        taken: String,
    },
}

impl Note {
    /// A short name for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Note::NoVisibleBias => "no_visible_bias",
            Note::NoHiddenBias => "no_hidden_bias",
            Note::SquareWeights { .. } => "square_weights",
            Note::FoundByShape => "found_by_shape",
            Note::WaveFunction => "wave_function",
            Note::OneOfSeveral { .. } => "one_of_several",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::NoVisibleBias => f.write_str("the file has no visible bias; it is taken as zero"),
            Note::NoHiddenBias => f.write_str("the file has no hidden bias; it is taken as zero"),
            Note::SquareWeights { side, read_as, log_z } => {
                let other = match read_as {
                    Layout::VisibleHidden => "hv",
                    Layout::HiddenVisible => "vh",
                };
                let values = match log_z {
                    Some([taken, turned]) if (taken - turned).abs() < 1e-9 * taken.abs().max(1.0) => {
                        "the same".to_owned()
                    }
                    Some([taken, turned]) => format!("{turned:.6} and not {taken:.6}"),
                    None => "another one".to_owned(),
                };
                write!(
                    f,
                    "the weights are square ({side} x {side}) and were read as {}; if they are stored the other way round (layout {other}), log Z is {values}",
                    read_as.in_words()
                )
            }
            Note::FoundByShape => f.write_str(
                "the tensors have no names that tell their parts; they were told apart by their shapes",
            ),
            Note::WaveFunction => f.write_str(
                "the model is read as a wave function psi of units -1 and +1: Z is the sum of 2^hidden psi over all states, not that of |psi|^2",
            ),
            Note::OneOfSeveral { taken } => write!(f, "the file holds several models; {taken}"),
        }
    }
}
