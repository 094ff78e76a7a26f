//! Colours, markers and dashes that can be told apart by colour-blind readers and in grey.

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// As SVG has it: `#0072B2`.
    pub colour: &'static str,
    /// What stands at each point.
    pub marker: Marker,
    /// How the line is broken.
    pub dash: Dash,
}

/// What stands at each point of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A line without points.
    None,
    /// Filled circle.
    Disc,
    /// Filled.
    Square,
    /// Filled.
    Triangle,
    /// Filled.
    Diamond,
    /// Open circle.
    Ring,
    /// Two lines, ×.
    Cross,
    /// Two lines, +.
    Plus,
}

/// The line of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dash {
    /// Points without a line.
    None,
    /// Unbroken.
    Solid,
    /// Long pieces.
    Dashed,
    /// Short pieces.
    Dotted,
    /// Long and short pieces in turn.
    Mixed,
}

/// The palette of Okabe and Ito, in an order of which any first few differ in lightness.
const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];
const MARKERS: [Marker; 7] = [
    Marker::Disc,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Ring,
    Marker::Cross,
    Marker::Plus,
];
const DASHES: [Dash; 4] = [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::Mixed];

impl Style {
    /// The style of series number `index`: colour, marker and dash change together.
    pub const fn new(index: usize) -> Self {
        Self {
            colour: COLOURS[index % COLOURS.len()],
            marker: MARKERS[index % MARKERS.len()],
            dash: DASHES[index % DASHES.len()],
        }
    }

    /// A thin black line, for thresholds and truths.
    pub const fn black(dash: Dash) -> Self {
        Self { colour: "#000000", marker: Marker::None, dash }
    }

    /// The same with another line.
    pub const fn dash(self, dash: Dash) -> Self {
        Self { dash, ..self }
    }
}

impl Dash {
    /// The attribute of an SVG stroke.
    pub(crate) fn attribute(self) -> &'static str {
        match self {
            Dash::None | Dash::Solid => "",
            Dash::Dashed => r#" stroke-dasharray="6 3""#,
            Dash::Dotted => r#" stroke-dasharray="1.5 2.5""#,
            Dash::Mixed => r#" stroke-dasharray="8 3 1.5 3""#,
        }
    }
}

impl Marker {
    /// Its outline around the origin and whether it is filled.
    pub(crate) fn path(self) -> Option<(&'static str, bool)> {
        Some(match self {
            Marker::None => return None,
            Marker::Disc => ("M2.6 0A2.6 2.6 0 1 1-2.6 0A2.6 2.6 0 1 1 2.6 0Z", true),
            Marker::Square => ("M-2.3-2.3H2.3V2.3H-2.3Z", true),
            Marker::Triangle => ("M0-3.1L2.9 2H-2.9Z", true),
            Marker::Diamond => ("M0-3.3L3.3 0L0 3.3L-3.3 0Z", true),
            Marker::Ring => ("M2.6 0A2.6 2.6 0 1 1-2.6 0A2.6 2.6 0 1 1 2.6 0Z", false),
            Marker::Cross => ("M-2.4-2.4L2.4 2.4M-2.4 2.4L2.4-2.4", false),
            Marker::Plus => ("M-3.1 0H3.1M0-3.1V3.1", false),
        })
    }
}
