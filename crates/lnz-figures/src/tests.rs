//! Figures are valid SVG, carry their words, and become pictures that are not empty.

use crate::{Axis, Dash, Figure, Panel, Rule, Series, Style, png};
use resvg::tiny_skia;

fn figure() -> Figure {
    let points = |n: i32| (1..=20).map(|i| [f64::from(i), 2f64.powi(-i % n)]).collect();
    let x = || Axis::linear("experiment, sorted");
    let panels = vec![
        Panel::new("(a) <odd> & \"even\"", x(), Axis::log("ξ"))
            .with(Series::new("Gibbs_{mf}", points(7), Style::new(0)))
            .with(Series::new("uniform", points(5), Style::new(1)))
            .with_rule(Rule::new("5%", 0.05, Style::black(Dash::Dashed))),
        Panel::new("(b)", Axis::log2("N_β"), Axis::linear("log Z")).with(Series::new(
            "uniform",
            points(3),
            Style::new(1),
        )),
    ];
    Figure { note: "A note that is long enough. ".repeat(20), ..Figure::new(panels) }
}

#[test]
fn a_figure_becomes_a_picture_with_colours_in_it() {
    let svg = figure().svg("test");
    let picture = tiny_skia::Pixmap::decode_png(&png(&svg).unwrap()).unwrap();
    assert_eq!(picture.width(), 2 * 760);
    let colours: std::collections::BTreeSet<[u8; 3]> =
        picture.pixels().iter().map(|p| [p.red(), p.green(), p.blue()]).collect();
    for colour in [[0, 0x72, 0xB2], [0xD5, 0x5E, 0], [0, 0, 0], [255, 255, 255]] {
        assert!(colours.contains(&colour), "{colour:?}");
    }
}

#[test]
fn words_can_be_read_by_machines_and_names_are_the_figures_own() {
    let svg = figure().svg("test");
    assert!(svg.contains(r#"aria-label="Gibbsmf""#));
    assert!(svg.contains("(a) &lt;odd&gt; &amp; &quot;even&quot;"));
    for name in svg.split("id=\"").skip(1) {
        assert!(name.starts_with("test-"), "{}", &name[..20]);
    }
    assert_eq!(svg.matches(r#"aria-label="uniform""#).count(), 1, "one entry in the legend");
}

#[test]
fn points_that_have_no_place_are_left_out() {
    let odd = vec![[1.0, 0.0], [2.0, f64::NAN], [3.0, f64::INFINITY], [4.0, 0.5], [5.0, 0.25]];
    let panel =
        Panel::new("", Axis::linear(""), Axis::log("")).with(Series::new("", odd, Style::new(0)));
    let svg = Figure::new(vec![panel, Panel::new("", Axis::log(""), Axis::log2(""))]).svg("t");
    assert_eq!(svg.matches("#t-disc").count(), 2);
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    png(&svg).unwrap();
}
