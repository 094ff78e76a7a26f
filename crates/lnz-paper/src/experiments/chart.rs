//! Parts that all figures share: the paper's axes, its 5% line, and one style per method.

use crate::row::Row;
use crate::statistics::THRESHOLD;
use lnz_app::page::styles;
pub(crate) use lnz_app::page::styles::{AUTO, FOURTH, MF, PS, THIRD, TRANSPOSED, UNIFORM};
use lnz_figures::{Axis, Marker, Panel, Rule, Series, Style};

/// Errors below this are drawn at it: log Z itself is only good to ten digits or so.
pub(crate) const SMALLEST_XI: f64 = 1e-8;

pub(crate) fn xi_axis() -> Axis {
    Axis::log("relative error ξ").between(0.8 * SMALLEST_XI, 2.0)
}

/// A panel of relative errors over instances, with the dashed line at 5%.
pub(crate) fn sorted_panel(title: impl Into<String>) -> Panel {
    xi_panel(title, Axis::linear("experiment, sorted by ξ"))
}

/// A panel of relative errors along learning.
pub(crate) fn epoch_panel(title: impl Into<String>) -> Panel {
    xi_panel(title, Axis::linear("epoch"))
}

pub(crate) fn xi_panel(title: impl Into<String>, x: Axis) -> Panel {
    Panel::new(title, x, xi_axis()).with_rule(Rule::new("ξ = 5%", THRESHOLD, styles::THRESHOLD))
}

/// Relative errors in rising order.
pub(crate) fn sorted<'a>(
    name: impl Into<String>,
    rows: impl Iterator<Item = &'a Row>,
    style: Style,
) -> Series {
    let mut errors: Vec<f64> = rows.filter_map(|row| row.xi).collect();
    errors.sort_by(f64::total_cmp);
    let numbered = errors.into_iter().enumerate();
    Series::new(name, numbered.map(|(i, xi)| [(i + 1) as f64, drawn(xi)]).collect(), style)
}

/// Relative errors against the epoch.
pub(crate) fn by_epoch<'a>(
    name: impl Into<String>,
    rows: impl Iterator<Item = &'a Row>,
    style: Style,
) -> Series {
    let point = |row: &Row| Some([row.instance.parse().ok()?, drawn(row.xi?)]);
    let mut points: Vec<[f64; 2]> = rows.filter_map(point).collect();
    // Rows of a run that is going on are in no order.
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    Series::new(name, points, style)
}

/// An error where it can be drawn.
pub(crate) fn drawn(xi: f64) -> f64 {
    xi.max(SMALLEST_XI)
}

/// The line at the value that `auto` found; the exact one is dashed over it.
pub(crate) fn auto_rule(row: &Row) -> Rule {
    Rule::new("auto", row.log_z, Style { marker: Marker::None, ..AUTO })
}

/// The line at the exact value.
pub(crate) fn exact_rule(row: &Row) -> Option<Rule> {
    Some(Rule::new("exact", row.exact_log_z?, styles::EXACT))
}

/// What most figures have to say below.
pub(crate) const SMALL_PRINT: &str =
    "AIS: 1024 chains, 1024 intermediate distributions. Errors below 10^{−8} are drawn there.";

/// `cost of auto`, over rows of it.
pub(crate) fn auto_cost<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let steps: Vec<u64> =
        rows.filter(|row| row.method == "auto").map(|row| row.chain_steps).collect();
    match (steps.iter().min(), steps.iter().max()) {
        (Some(&least), Some(&most)) => {
            let [least, most] = [least, most].map(|n| lnz_app::numbers::short(n as f64));
            let steps = if least == most { least } else { format!("{least} to {most}") };
            format!(" auto: {steps} chain-steps, without exact shortcuts; a run of AIS: 1.05 M.")
        }
        _ => String::new(),
    }
}
