//! Which way round the weights of a file are.

use super::super::Parsed;
use super::super::names::convention;
use super::super::options::Layout;

/// Which way round the weights are, why, and whether that is only assumed.
pub(super) fn turn(
    [rows, columns]: [usize; 2],
    lengths: [Option<usize>; 2],
    [weights, visible, hidden]: &[String; 3],
    told: Option<Layout>,
    certain: Option<Layout>,
    weights_leaf: &str,
    paired: bool,
) -> Parsed<(Layout, String, bool)> {
    let fits = |(v, h): (usize, usize)| {
        lengths[0].is_none_or(|length| length == v) && lengths[1].is_none_or(|length| length == h)
    };
    let (straight, turned) = (fits((rows, columns)), fits((columns, rows)));
    let reason = match lengths {
        [Some(v), _] => format!("because {visible} has {v} values"),
        [None, Some(h)] => format!("because {hidden} has {h} values"),
        _ => String::new(),
    };
    let known = convention(weights_leaf, paired);
    Ok(match (straight, turned) {
        (false, false) => {
            let in_words = |length: Option<usize>| length.map_or("none".to_owned(), |n| n.to_string());
            let expected = match lengths {
                [Some(v), Some(h)] if v == h => format!("; expected {v} x {h}"),
                [Some(v), Some(h)] => format!("; expected {v} x {h} or {h} x {v}"),
                _ => String::new(),
            };
            return Err(format!(
                "its weights {weights} are {rows} x {columns}, but the visible bias {visible} has {} values and the hidden bias {hidden} {}{expected}",
                in_words(lengths[0]),
                in_words(lengths[1]),
            ));
        }
        (true, false) if told == Some(Layout::HiddenVisible) => return Err(contradiction(rows, columns, "hv", &reason)),
        (false, true) if told == Some(Layout::VisibleHidden) => return Err(contradiction(rows, columns, "vh", &reason)),
        (true, false) => (Layout::VisibleHidden, reason, false),
        (false, true) => (Layout::HiddenVisible, reason, false),
        (true, true) => match (told, certain, known) {
            (Some(layout), ..) => (layout, "as told".to_owned(), false),
            (None, Some(layout), _) => (layout, "as the file says".to_owned(), false),
            (None, None, Some((layout, reason))) => (layout, reason.to_owned(), false),
            (None, None, None) if rows == columns => (
                Layout::VisibleHidden,
                "which is assumed, because a square fits both ways; say --layout hv if it is (hidden, visible)".to_owned(),
                true,
            ),
            // Without biases log Z is the same either way.
            (None, None, None) => (Layout::VisibleHidden, String::new(), false),
        },
    })
}

fn contradiction(rows: usize, columns: usize, told: &str, reason: &str) -> String {
    format!(
        "its weights are {rows} x {columns}, which does not go with the layout {told}, {reason}"
    )
}
