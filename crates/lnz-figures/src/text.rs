//! Text as outlines of an embedded font, so that a figure looks the same everywhere.

use crate::escape::escape;
use maud::{Markup, html};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

static FACE: LazyLock<Face<'static>> =
    LazyLock::new(|| Face::parse(dejavu::sans::regular(), 0).expect("the embedded font is valid"));

/// Where a text is placed relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A piece of text on one level: the line itself, or raised or lowered.
struct Piece {
    text: String,
    /// Up, as a share of the font size.
    rise: f64,
    size: f64,
}

/// Sizes of sub- and superscripts and how far they are moved.
const SMALL: f64 = 0.72;
const RAISED: f64 = 0.38;
const LOWERED: f64 = -0.22;

/// Stands before a mark that is to be read as it is.
const ESCAPE: char = '\\';

/// Words as they are, whatever marks they have.
///
/// ```
/// assert_eq!(lnz_figures::verbatim("my_model^2"), r"my\_model\^2");
/// ```
pub fn verbatim(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        if matches!(c, '_' | '^' | ESCAPE) {
            safe.push(ESCAPE);
        }
        safe.push(if c.is_control() { ' ' } else { c });
    }
    safe
}

/// Splits `N_β`, `Gibbs_{mf}` and `2^{10}` into pieces.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = vec![Piece { text: String::new(), rise: 0.0, size: 1.0 }];
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let rise = match c {
            ESCAPE => {
                pieces.last_mut().expect("never empty").text.extend(rest.next());
                continue;
            }
            '_' => LOWERED,
            '^' => RAISED,
            c => {
                pieces.last_mut().expect("never empty").text.push(c);
                continue;
            }
        };
        let inner: String = match rest.next() {
            Some('{') => rest.by_ref().take_while(|&c| c != '}').collect(),
            single => single.into_iter().collect(),
        };
        pieces.push(Piece { text: inner, rise, size: SMALL });
        pieces.push(Piece { text: String::new(), rise: 0.0, size: 1.0 });
    }
    pieces
}

/// The text without its marks, for readers that do not see.
pub(crate) fn plain(text: &str) -> String {
    pieces(text).into_iter().map(|piece| piece.text).collect()
}

/// The text as HTML, with its sub- and superscripts.
pub(crate) fn html(text: &str) -> Markup {
    html! {
        @for piece in pieces(text) {
            @if piece.rise > 0.0 { sup { (piece.text) } }
            @else if piece.rise < 0.0 { sub { (piece.text) } }
            @else { (piece.text) }
        }
    }
}

fn glyph(c: char) -> GlyphId {
    FACE.glyph_index(c).unwrap_or_default()
}

fn advance(c: char) -> f64 {
    f64::from(FACE.glyph_hor_advance(glyph(c)).unwrap_or(0)) / f64::from(FACE.units_per_em())
}

/// Width of a text of this font size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let of = |piece: &Piece| piece.size * piece.text.chars().map(advance).sum::<f64>();
    size * pieces(text).iter().map(of).sum::<f64>()
}

/// The outlines in use, each of which is written once.
#[derive(Debug, Default)]
pub(crate) struct Glyphs {
    outlines: BTreeMap<u16, String>,
}

impl Glyphs {
    /// A text at a point, turned by `turn` degrees.
    pub(crate) fn text(
        &mut self,
        id: &str,
        [x, y]: [f64; 2],
        size: f64,
        anchor: Anchor,
        turn: f64,
        text: &str,
    ) -> String {
        let shift = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width(text, size) / 2.0,
            Anchor::End => -width(text, size),
        };
        let units = f64::from(FACE.units_per_em());
        let turn = if turn == 0.0 { String::new() } else { format!(" rotate({turn})") };
        let label = escape(&plain(text));
        let mut out = format!(
            r#"<g role="img" aria-label="{label}" transform="translate({x:.1} {y:.1}){turn}">"#
        );
        let mut at = shift;
        for piece in pieces(text).iter().filter(|piece| !piece.text.is_empty()) {
            let scale = size * piece.size / units;
            let rise = -piece.rise * size;
            let _ =
                write!(out, r#"<g transform="translate({at:.2} {rise:.2}) scale({scale:.5})">"#);
            let mut pen = 0.0;
            for c in piece.text.chars() {
                let glyph = glyph(c);
                self.outlines.entry(glyph.0).or_insert_with(|| outline(glyph));
                if c != ' ' {
                    let _ = write!(out, r##"<use href="#{id}-g{}" x="{pen:.0}"/>"##, glyph.0);
                }
                pen += advance(c) * units;
            }
            out += "</g>";
            at += pen * scale;
        }
        out + "</g>\n"
    }

    /// The definitions that texts refer to.
    pub(crate) fn definitions(&self, id: &str) -> String {
        let drawn = self.outlines.iter().filter(|(_, outline)| !outline.is_empty());
        drawn.map(|(glyph, d)| format!("<path id=\"{id}-g{glyph}\" d=\"{d}\"/>\n")).collect()
    }
}

/// SVG path data of a glyph, in units of the font, y downwards.
fn outline(glyph: GlyphId) -> String {
    let mut path = PathData(String::new());
    FACE.outline_glyph(glyph, &mut path);
    path.0
}

struct PathData(String);

impl PathData {
    fn push(&mut self, command: char, numbers: &[f32]) {
        self.0.push(command);
        for (i, pair) in numbers.chunks(2).enumerate() {
            let gap = if i > 0 { " " } else { "" };
            let _ = write!(self.0, "{gap}{} {}", pair[0].round(), -pair[1].round());
        }
    }
}

impl OutlineBuilder for PathData {
    fn move_to(&mut self, x: f32, y: f32) {
        self.push('M', &[x, y]);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.push('L', &[x, y]);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.push('Q', &[x1, y1, x, y]);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.push('C', &[x1, y1, x2, y2, x, y]);
    }
    fn close(&mut self) {
        self.0.push('Z');
    }
}
