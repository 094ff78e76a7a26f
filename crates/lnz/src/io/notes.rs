//! What a user must know of how a file was read, in every result.

use super::options::Layout;
use std::fmt;

/// A decision that another reader of the same file might take otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
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
            Note::SquareWeights { side, read_as } => {
                let other = match read_as {
                    Layout::VisibleHidden => "hv",
                    Layout::HiddenVisible => "vh",
                };
                write!(
                    f,
                    "the weights are square ({side} x {side}) and were read as {}; if they are stored the other way round, log Z is another one: layout {other}",
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
