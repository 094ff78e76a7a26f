//! One style for each meaning, in all figures: a result, a doubt, the truth, a threshold.

use lnz_figures::{Dash, Marker, Style};

/// The default method, and the result of a run.
pub const AUTO: Style = Style::new(0);
/// The paper's mean-field start.
pub const MF: Style = Style::new(1).dash(Dash::Solid);
/// The paper's pseudoinverse start.
pub const PS: Style = Style::new(2).dash(Dash::Solid);
/// Another strategy.
pub const THIRD: Style = Style::new(3);
/// The classical start.
pub const UNIFORM: Style = Style::new(4).dash(Dash::Solid);
/// The same on the exchanged layers.
pub const TRANSPOSED: Style = Style::new(4).dash(Dash::Dashed);
/// And another.
pub const FOURTH: Style = Style::new(5).dash(Dash::Solid);

/// The exact value.
pub const EXACT: Style = Style::black(Dash::Dashed);
/// A value of which nobody proves that it is exact.
pub const REFERENCE: Style = Style::black(Dash::Dotted);
/// A threshold, such as 5%.
pub const THRESHOLD: Style = Style { colour: GREY, marker: Marker::None, dash: Dash::Mixed };
/// What log Z is not below.
pub const FLOOR: Style = Style { colour: "#009E73", marker: Marker::None, dash: Dash::Solid };
/// What log Z is not above.
pub const CEILING: Style = Style { colour: "#D55E00", marker: Marker::None, dash: Dash::Dashed };

/// A result that is not to be trusted.
pub const SUSPECT: Style = Style { dash: Dash::None, ..Style::new(1) };
/// A result that can be.
pub const TRUSTED: Style = Style { dash: Dash::None, ..AUTO };
/// What was found on the way to it.
pub const TRIAL: Style = Style { colour: GREY, marker: Marker::Ring, dash: Dash::None };

const GREY: &str = "#777777";

/// The style of a result with this verdict.
pub fn of_verdict(verdict: &str) -> Style {
    if verdict == "suspect" { SUSPECT } else { TRUSTED }
}
