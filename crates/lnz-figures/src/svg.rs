//! Draws a figure: panels in a grid, the legend and the note below; as one picture, or as parts of a page.

mod panel;

use crate::escape::escape;
use crate::figure::Figure;
use crate::style::{Marker, Style};
use crate::text::{self, Anchor, Glyphs};
use maud::{Markup, PreEscaped, html};

const FONT: f64 = 11.0;
const SMALL_FONT: f64 = 9.5;
const PANEL_WIDTH: f64 = 380.0;
const PANEL_HEIGHT: f64 = 262.0;
/// Left of the legend and of the note.
const LEFT: f64 = 58.0;
const RIGHT: f64 = 14.0;
const LEGEND_LINE: f64 = 17.0;
const SAMPLE: f64 = 30.0;
const NOTE_LINE: f64 = 13.0;
/// How thick the line of the uppermost series is; those below are thicker, so that they are seen.
const THICKNESS: f64 = 1.4;

impl Figure {
    /// The figure as an SVG document. `id` begins the names of its parts, so that several figures
    /// can stand on one page.
    pub fn svg(&self, id: &str) -> String {
        let columns = self.columns.max(1);
        let width = columns as f64 * PANEL_WIDTH;
        let rows = self.panels.len().div_ceil(columns);
        let mut canvas = Canvas::new(id);
        for (i, panel) in self.panels.iter().enumerate() {
            let corner = [(i % columns) as f64 * PANEL_WIDTH, (i / columns) as f64 * PANEL_HEIGHT];
            canvas.panel(panel, i, corner);
        }
        let below = canvas.legend(self, width, rows as f64 * PANEL_HEIGHT + 6.0);
        let height = canvas.note(&self.note, width, below) + 6.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n<title>{}</title>\n\
             <defs>\n{}{}</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
            escape(&self.titles().join("; ")),
            canvas.glyphs.definitions(id),
            canvas.markers(self),
            canvas.body
        )
    }

    /// The figure as a part of a page: panels that stand below each other where there is no room beside,
    /// and a legend and a note in words of the page.
    pub fn html(&self, id: &str) -> Markup {
        let mut canvas = Canvas::new(id);
        let mut panels = Vec::new();
        for (i, panel) in self.panels.iter().enumerate() {
            canvas.panel(panel, i, [0.0, 0.0]);
            panels.push((text::plain(&panel.title), std::mem::take(&mut canvas.body)));
        }
        let mut legend = Vec::new();
        for (name, style) in entries(self) {
            canvas.sample(&style, [0.0, 6.0]);
            legend.push((text::html(name), std::mem::take(&mut canvas.body)));
        }
        let view = format!("0 0 {PANEL_WIDTH} {PANEL_HEIGHT}");
        let definitions = canvas.glyphs.definitions(id) + &canvas.markers(self);
        html! {
            figure.panels style={ "--columns:" (self.columns.max(1)) } {
                svg.definitions width="0" height="0" aria-hidden="true" { defs { (PreEscaped(definitions)) } }
                div.grid {
                    @for (title, body) in &panels {
                        svg viewBox=(view) role="img" { title { (title) } (PreEscaped(body)) }
                    }
                }
                @if !legend.is_empty() {
                    p.legend {
                        @for (name, sample) in &legend {
                            span {
                                svg viewBox="0 0 30 12" width="30" height="12" aria-hidden="true" { (PreEscaped(sample)) }
                                " " (name)
                            }
                            " "
                        }
                    }
                }
                @if !self.note.is_empty() { figcaption { (text::html(&self.note)) } }
            }
        }
    }

    fn titles(&self) -> Vec<String> {
        self.panels.iter().map(|panel| text::plain(&panel.title)).collect()
    }
}

/// The names and styles of the legend, each name once.
fn entries(figure: &Figure) -> Vec<(&str, Style)> {
    let mut entries: Vec<(&str, Style)> = Vec::new();
    for panel in &figure.panels {
        let series = panel.series.iter().filter(|series| !series.points.is_empty());
        let series = series.map(|series| (series.name.as_str(), series.style));
        let rules = panel.rules.iter().map(|rule| (rule.name.as_str(), rule.style));
        for entry in series.chain(rules) {
            if !entry.0.is_empty() && entries.iter().all(|(name, _)| *name != entry.0) {
                entries.push(entry);
            }
        }
    }
    entries
}

struct Canvas<'a> {
    id: &'a str,
    glyphs: Glyphs,
    body: String,
}

impl<'a> Canvas<'a> {
    fn new(id: &'a str) -> Self {
        Self { id, glyphs: Glyphs::default(), body: String::new() }
    }

    fn text(&mut self, at: [f64; 2], size: f64, anchor: Anchor, turn: f64, text: &str) {
        if !text.is_empty() {
            self.body += &self.glyphs.text(self.id, at, size, anchor, turn, text);
        }
    }

    /// A short piece of a line with its marker.
    fn sample(&mut self, style: &Style, [x, y]: [f64; 2]) {
        self.line(style, &[[x, y], [x + SAMPLE, y]], THICKNESS);
        self.points(style, &[[x + SAMPLE / 2.0, y]], 1.0);
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
        let entries = entries(figure);
        let room = |name: &str| SAMPLE + 6.0 + text::width(name, FONT) + 18.0;
        let (mut x, mut y) = (LEFT, top + FONT);
        for (name, style) in &entries {
            if x > LEFT && x + room(name) > width {
                (x, y) = (LEFT, y + LEGEND_LINE);
            }
            self.sample(style, [x, y - 0.36 * FONT]);
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
