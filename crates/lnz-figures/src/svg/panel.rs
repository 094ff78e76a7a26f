//! One panel: its frame, and the series, intervals and lines on it.

use super::{
    Canvas, FONT, LEFT, PANEL_HEIGHT, PANEL_WIDTH, RIGHT, SMALL_FONT, THICKNESS, marker_name,
};
use crate::axis::Fitted;
use crate::figure::{Errors, Panel, Series};
use crate::style::{Dash, Marker, Style};
use crate::text::{self, Anchor};
use std::fmt::Write;

/// Room around the plotting area of a panel: title, tick labels, axis labels.
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;
/// Between the tick labels of the vertical axis and its label.
const TICKS_TO_LABEL: f64 = 32.0;
/// Half of the line at the end of an interval.
const CAP: f64 = 2.5;

impl Canvas<'_> {
    pub(super) fn panel(&mut self, panel: &Panel, index: usize, [left, top]: [f64; 2]) {
        let ends = |upright: bool| {
            let series = panel.series.iter().flat_map(move |series| series.ends(upright));
            let rules = panel.rules.iter().filter(move |rule| rule.upright != upright);
            series.chain(rules.map(|rule| rule.at))
        };
        let (x, y) = (panel.x.fitted(ends(false)), panel.y.fitted(ends(true)));
        let widest =
            y.ticks.iter().map(|(_, label)| text::width(label, SMALL_FONT)).fold(0.0, f64::max);
        let gap = if panel.y.label.is_empty() { 10.0 } else { TICKS_TO_LABEL };
        let room = (widest + gap).clamp(LEFT, PANEL_WIDTH / 2.0);
        let area = Area {
            left: left + room,
            top: top + TOP,
            width: PANEL_WIDTH - room - RIGHT,
            height: PANEL_HEIGHT - TOP - BOTTOM,
            x,
            y,
        };
        self.frame(panel, &area, left);
        if panel.series.iter().all(|series| series.points.is_empty()) {
            let middle = [area.left + area.width / 2.0, area.top + area.height / 2.0];
            self.text(middle, FONT, Anchor::Middle, 0.0, "no results");
        }
        let clip = format!("{}-p{index}", self.id);
        let Area { left, top, width, height, .. } = area;
        let _ = writeln!(
            self.body,
            r#"<clipPath id="{clip}"><rect x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}"/></clipPath>"#,
            left - 4.0,
            top - 4.0,
            width + 8.0,
            height + 8.0
        );
        let _ = writeln!(self.body, r##"<g clip-path="url(#{clip})">"##);
        for rule in &panel.rules {
            let ends = match rule.upright {
                true => panel.x.place(rule.at).map(|place| {
                    let x = area.across(place);
                    [[x, top], [x, top + height]]
                }),
                false => panel.y.place(rule.at).map(|place| {
                    let y = area.down(place);
                    [[left, y], [left + width, y]]
                }),
            };
            if let Some(ends) = ends {
                self.line(&rule.style, &ends, 1.2);
            }
        }
        for (k, series) in panel.series.iter().enumerate() {
            // What others may lie on is drawn larger, so that it is seen below them.
            let above = (panel.series.len() - 1 - k).min(3) as f64;
            self.series(panel, series, &area, above);
        }
        self.body += "</g>\n";
    }

    fn series(&mut self, panel: &Panel, series: &Series, area: &Area, above: f64) {
        let place = |&[x, y]: &[f64; 2]| {
            Some([area.across(panel.x.place(x)?), area.down(panel.y.place(y)?)])
        };
        let places: Vec<[f64; 2]> = series.points.iter().filter_map(place).collect();
        if let (true, [[first, _], .., [last, _]]) = (series.filled, places.as_slice()) {
            let bottom = area.top + area.height;
            let mut outline = format!("M{first:.1} {bottom:.1}");
            for [x, y] in &places {
                let _ = write!(outline, "L{x:.1} {y:.1}");
            }
            let colour = series.style.colour;
            let _ = writeln!(
                self.body,
                r#"<path d="{outline}L{last:.1} {bottom:.1}Z" fill="{colour}" fill-opacity="0.25"/>"#
            );
        }
        self.errors(panel, series, area);
        self.line(&series.style, &places, THICKNESS + 0.5 * above);
        self.points(&series.style, &places, 1.0 + 0.15 * above);
    }

    /// The interval of each point; one that has no end goes to the edge.
    fn errors(&mut self, panel: &Panel, series: &Series, area: &Area) {
        let (ends, along_x) = match &series.errors {
            Errors::None => return,
            Errors::X(ends) => (ends, true),
            Errors::Y(ends) => (ends, false),
        };
        let Area { left, top, width, height, .. } = *area;
        let mut path = String::new();
        for (point, [low, high]) in series.points.iter().zip(ends) {
            let (Some(x), Some(y)) = (panel.x.place(point[0]), panel.y.place(point[1])) else {
                continue;
            };
            let (x, y) = (area.across(x), area.down(y));
            let _ = if along_x {
                let at = |end: f64, edge: f64| panel.x.place(end).map_or(edge, |p| area.across(p));
                let (a, b) = (at(*low, left - 4.0), at(*high, left + width + 4.0));
                write!(
                    path,
                    "M{a:.1} {y:.1}H{b:.1}M{a:.1} {0:.1}v{1}M{b:.1} {0:.1}v{1}",
                    y - CAP,
                    2.0 * CAP
                )
            } else {
                let at = |end: f64, edge: f64| panel.y.place(end).map_or(edge, |p| area.down(p));
                let (a, b) = (at(*low, top + height + 4.0), at(*high, top - 4.0));
                write!(
                    path,
                    "M{x:.1} {a:.1}V{b:.1}M{0:.1} {a:.1}h{1}M{0:.1} {b:.1}h{1}",
                    x - CAP,
                    2.0 * CAP
                )
            };
        }
        if !path.is_empty() {
            let colour = series.style.colour;
            let _ =
                writeln!(self.body, r#"<path d="{path}" stroke="{colour}" stroke-width="1.1"/>"#);
        }
    }

    /// Grid, frame, ticks and words of a panel.
    fn frame(&mut self, panel: &Panel, area: &Area, edge: f64) {
        let Area { left, top, width, height, .. } = *area;
        let (right, bottom) = (left + width, top + height);
        let mut grid = String::new();
        for (place, _) in &area.y.ticks {
            let _ = write!(grid, "M{left:.1} {:.1}H{right:.1}", area.down(*place));
        }
        for (place, _) in &area.x.ticks {
            let _ = write!(grid, "M{:.1} {top:.1}V{bottom:.1}", area.across(*place));
        }
        let _ = writeln!(self.body, r##"<path d="{grid}" stroke="#e4e4e4" stroke-width="0.8"/>"##);
        let _ = writeln!(
            self.body,
            r##"<rect x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}" fill="none" stroke="#444" stroke-width="0.9"/>"##
        );
        for (place, label) in &area.y.ticks {
            let at = [left - 5.0, area.down(*place) + 0.36 * SMALL_FONT];
            self.text(at, SMALL_FONT, Anchor::End, 0.0, label);
        }
        // Labels that would touch each other are left out; the lines of the grid stay.
        let mut free = f64::NEG_INFINITY;
        for (place, label) in &area.x.ticks {
            let (x, half) = (area.across(*place), text::width(label, SMALL_FONT) / 2.0);
            if x - half >= free {
                self.text([x, bottom + 13.0], SMALL_FONT, Anchor::Middle, 0.0, label);
                free = x + half + 3.0;
            }
        }
        self.text([left.min(edge + LEFT), top - 8.0], FONT, Anchor::Start, 0.0, &panel.title);
        let middle = [left + width / 2.0, bottom + 29.0];
        self.text(middle, FONT, Anchor::Middle, 0.0, &panel.x.label);
        let middle = [edge + 13.0, top + height / 2.0];
        self.text(middle, FONT, Anchor::Middle, -90.0, &panel.y.label);
    }

    pub(super) fn line(&mut self, style: &Style, places: &[[f64; 2]], thickness: f64) {
        // A single place without a marker would not be seen: it gets a short line.
        let short;
        let places = match (places, style.marker) {
            (&[[x, y]], Marker::None) => {
                short = [[x - 20.0, y], [x + 20.0, y]];
                &short[..]
            }
            _ => places,
        };
        if style.dash == Dash::None || places.len() < 2 {
            return;
        }
        let mut path = String::new();
        for (i, [x, y]) in places.iter().enumerate() {
            let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
        }
        let _ = writeln!(
            self.body,
            r#"<path d="{path}" fill="none" stroke="{}" stroke-width="{thickness}" stroke-linejoin="round"{}/>"#,
            style.colour,
            style.dash.attribute()
        );
    }

    pub(super) fn points(&mut self, style: &Style, places: &[[f64; 2]], scale: f64) {
        if style.marker == Marker::None || places.is_empty() {
            return;
        }
        let name = marker_name(self.id, style.marker);
        let _ = write!(self.body, r#"<g fill="{0}" stroke="{0}">"#, style.colour);
        for [x, y] in places {
            let _ = match scale == 1.0 {
                true => write!(self.body, r##"<use href="#{name}" x="{x:.1}" y="{y:.1}"/>"##),
                false => write!(
                    self.body,
                    r##"<use href="#{name}" transform="translate({x:.1} {y:.1}) scale({scale:.2})"/>"##
                ),
            };
        }
        self.body += "</g>\n";
    }
}

impl Series {
    /// All that an axis has to have room for.
    fn ends(&self, upright: bool) -> impl Iterator<Item = f64> {
        let errors = match (&self.errors, upright) {
            (Errors::X(ends), false) | (Errors::Y(ends), true) => ends.as_slice(),
            _ => &[],
        };
        let points = self.points.iter().map(move |point| point[usize::from(upright)]);
        points.chain(errors.iter().flatten().copied())
    }
}

/// The plotting area of a panel and its axes.
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    x: Fitted,
    y: Fitted,
}

impl Area {
    fn across(&self, place: f64) -> f64 {
        self.left + self.width * (place - self.x.low) / (self.x.high - self.x.low)
    }

    fn down(&self, place: f64) -> f64 {
        self.top + self.height * (self.y.high - place) / (self.y.high - self.y.low)
    }
}
