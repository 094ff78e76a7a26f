//! Draws a figure: panels in a grid, the legend and the note below.

use crate::axis::Fitted;
use crate::escape::escape;
use crate::figure::{Figure, Panel};
use crate::style::{Dash, Marker, Style};
use crate::text::{self, Anchor, Glyphs};
use std::fmt::Write;

const FONT: f64 = 11.0;
const SMALL_FONT: f64 = 9.5;
const PANEL_WIDTH: f64 = 380.0;
const PANEL_HEIGHT: f64 = 262.0;
/// Room around the plotting area of a panel: title, tick labels, axis labels.
const LEFT: f64 = 58.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;
const LEGEND_LINE: f64 = 17.0;
const SAMPLE: f64 = 30.0;
const NOTE_LINE: f64 = 13.0;

impl Figure {
    /// The figure as an SVG document. `id` begins the names of its parts, so that several figures
    /// can stand on one page.
    pub fn svg(&self, id: &str) -> String {
        draw(self, id)
    }
}

fn draw(figure: &Figure, id: &str) -> String {
    let columns = figure.columns.max(1);
    let width = columns as f64 * PANEL_WIDTH;
    let rows = figure.panels.len().div_ceil(columns);
    let mut canvas = Canvas { id, glyphs: Glyphs::default(), body: String::new() };
    for (i, panel) in figure.panels.iter().enumerate() {
        let corner = [(i % columns) as f64 * PANEL_WIDTH, (i / columns) as f64 * PANEL_HEIGHT];
        canvas.panel(panel, i, corner);
    }
    let below = canvas.legend(figure, width, rows as f64 * PANEL_HEIGHT + 6.0);
    let height = canvas.note(&figure.note, width, below) + 6.0;
    let summary: Vec<String> =
        figure.panels.iter().map(|panel| text::plain(&panel.title)).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n<title>{}</title>\n\
         <defs>\n{}{}</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
        escape(&summary.join("; ")),
        canvas.glyphs.definitions(id),
        canvas.markers(figure),
        canvas.body
    )
}

struct Canvas<'a> {
    id: &'a str,
    glyphs: Glyphs,
    body: String,
}

impl Canvas<'_> {
    fn text(&mut self, at: [f64; 2], size: f64, anchor: Anchor, turn: f64, text: &str) {
        if !text.is_empty() {
            self.body += &self.glyphs.text(self.id, at, size, anchor, turn, text);
        }
    }

    fn panel(&mut self, panel: &Panel, index: usize, [left, top]: [f64; 2]) {
        let points = || panel.series.iter().flat_map(|series| &series.points);
        let x = panel.x.fitted(points().map(|point| point[0]));
        let y = panel
            .y
            .fitted(points().map(|point| point[1]).chain(panel.rules.iter().map(|rule| rule.y)));
        let area = Area {
            left: left + LEFT,
            top: top + TOP,
            width: PANEL_WIDTH - LEFT - RIGHT,
            height: PANEL_HEIGHT - TOP - BOTTOM,
            x,
            y,
        };
        self.frame(panel, &area);
        if points().next().is_none() {
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
            if let Some(place) = panel.y.place(rule.y) {
                let y = area.down(place);
                self.line(&rule.style, &[[left, y], [left + width, y]], 1.2);
            }
        }
        for series in &panel.series {
            let places: Vec<[f64; 2]> = series
                .points
                .iter()
                .filter_map(|&[x, y]| {
                    Some([area.across(panel.x.place(x)?), area.down(panel.y.place(y)?)])
                })
                .collect();
            self.line(&series.style, &places, 1.4);
            self.points(&series.style, &places);
        }
        self.body += "</g>\n";
    }

    /// Grid, frame, ticks and words of a panel.
    fn frame(&mut self, panel: &Panel, area: &Area) {
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
        for (place, label) in &area.x.ticks {
            let at = [area.across(*place), bottom + 13.0];
            self.text(at, SMALL_FONT, Anchor::Middle, 0.0, label);
        }
        self.text([left, top - 8.0], FONT, Anchor::Start, 0.0, &panel.title);
        let middle = [left + width / 2.0, bottom + 29.0];
        self.text(middle, FONT, Anchor::Middle, 0.0, &panel.x.label);
        let beside = [left - LEFT + 13.0, top + height / 2.0];
        self.text(beside, FONT, Anchor::Middle, -90.0, &panel.y.label);
    }

    fn line(&mut self, style: &Style, places: &[[f64; 2]], thickness: f64) {
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

    fn points(&mut self, style: &Style, places: &[[f64; 2]]) {
        if style.marker == Marker::None || places.is_empty() {
            return;
        }
        let name = marker_name(self.id, style.marker);
        let _ = write!(self.body, r#"<g fill="{0}" stroke="{0}">"#, style.colour);
        for [x, y] in places {
            let _ = write!(self.body, r##"<use href="#{name}" x="{x:.1}" y="{y:.1}"/>"##);
        }
        self.body += "</g>\n";
    }

    /// Definitions of the markers in use.
    fn markers(&self, figure: &Figure) -> String {
        let mut used: Vec<Marker> = Vec::new();
        for series in figure.panels.iter().flat_map(|panel| &panel.series) {
            if !used.contains(&series.style.marker) {
                used.push(series.style.marker);
            }
        }
        let define = |marker: Marker| {
            let (path, filled) = marker.path()?;
            let stroke =
                if filled { r#"stroke="none""# } else { r#"fill="none" stroke-width="1.2""# };
            Some(format!("<path id=\"{}\" d=\"{path}\" {stroke}/>\n", marker_name(self.id, marker)))
        };
        used.into_iter().filter_map(define).collect()
    }

    /// Names of series and rules in rows; returns where it ends.
    fn legend(&mut self, figure: &Figure, width: f64, top: f64) -> f64 {
        let mut entries: Vec<(&str, Style)> = Vec::new();
        for panel in &figure.panels {
            let rules = panel.rules.iter().map(|rule| (rule.name.as_str(), rule.style));
            let series = panel.series.iter().map(|series| (series.name.as_str(), series.style));
            for entry in series.chain(rules) {
                if !entry.0.is_empty() && entries.iter().all(|(name, _)| *name != entry.0) {
                    entries.push(entry);
                }
            }
        }
        let room = |name: &str| SAMPLE + 6.0 + text::width(name, FONT) + 18.0;
        let (mut x, mut y) = (LEFT, top + FONT);
        for (name, style) in &entries {
            if x > LEFT && x + room(name) > width {
                (x, y) = (LEFT, y + LEGEND_LINE);
            }
            let middle = y - 0.36 * FONT;
            self.line(style, &[[x, middle], [x + SAMPLE, middle]], 1.4);
            self.points(style, &[[x + SAMPLE / 2.0, middle]]);
            self.text([x + SAMPLE + 6.0, y], FONT, Anchor::Start, 0.0, name);
            x += room(name);
        }
        if entries.is_empty() { top } else { y + 8.0 }
    }

    /// The note, broken at spaces; returns where it ends.
    fn note(&mut self, note: &str, width: f64, top: f64) -> f64 {
        let (mut y, mut line) = (top, String::new());
        let mut lines = Vec::new();
        for word in note.split_whitespace() {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if text::width(&longer, SMALL_FONT) > width - LEFT - RIGHT && !line.is_empty() {
                lines.push(std::mem::replace(&mut line, word.to_owned()));
            } else {
                line = longer;
            }
        }
        lines.push(line);
        for line in lines.iter().filter(|line| !line.is_empty()) {
            y += NOTE_LINE;
            self.text([LEFT, y], SMALL_FONT, Anchor::Start, 0.0, line);
        }
        y
    }
}

fn marker_name(id: &str, marker: Marker) -> String {
    format!("{id}-{}", format!("{marker:?}").to_lowercase())
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
