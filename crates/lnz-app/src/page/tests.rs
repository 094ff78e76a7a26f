//! Pages say the answer first, hold the result for programs, and keep names as text.

use super::*;
use crate::request::Request;
use crate::{Spelling, compare, run};
use lnz::io::StoredModel;
use lnz::{Gwgm, Method, Rbm};
use ndarray::{Array1, Array2};
use std::time::Instant;

const HOSTILE: &str = "</title><script>alert(1)</script>_{x}^2\"'&<b>.npz";

fn stored() -> StoredModel {
    StoredModel::from(Gwgm { visible: 8, hidden: 10, ..Gwgm::HARDEST }.generate(3).unwrap())
}

fn report(request: Request, name: &str) -> crate::report::Report {
    let plan = request.plan().unwrap();
    run::estimate(&stored(), name, &plan, Instant::now(), &()).unwrap().report
}

fn page(report: &crate::report::Report) -> String {
    let json = serde_json::to_value(report).unwrap();
    let words = words(&report.lines(Spelling::Flags));
    estimate(&json, &words, &report.trace(), "lnz estimate m.npz --seed 0")
}

fn sampled() -> Request {
    let mut request = Request { no_exact: true, ..Request::default() };
    request.auto.rounds = Some(3);
    request
}

/// The text of the element with this identifier.
fn text_of(page: &str, id: &str) -> String {
    let inner = page.split_once(&format!("id=\"{id}\">")).unwrap().1;
    let inner = inner.split_once("</pre>").unwrap().0;
    inner.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[test]
fn the_answer_comes_first_and_the_result_for_programs_is_inside() {
    let report = report(sampled(), "m.npz");
    let page = page(&report);
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text} in {page}"));
    let number = with_decimals_of(report.finding.std_error, report.finding.log_z);
    let verdict = report.finding.diagnosis.verdict.name();
    assert!(at(&format!("{number} ±")) < at(&format!(">{verdict}</span>")));
    assert!(at(verdict) < at("<figure"));
    let command = "lnz estimate m.npz --seed 0".replace(' ', "</span> <span>");
    assert!(page.contains(&format!("<code><span>{command}</span></code>")));
    assert!(page.contains(&report.model.sha256));
    let inside: Value = serde_json::from_str(&text_of(&page, "result")).unwrap();
    assert_eq!(inside, serde_json::to_value(&report).unwrap());
}

#[test]
fn every_figure_that_the_method_has_is_there() {
    let has = |page: &str| {
        ["where", "weights", "path", "rounds"]
            .map(|id| page.contains(&format!("<section id=\"{id}\">")))
    };
    let auto = report(sampled(), "m");
    assert_eq!(auto.rounds.len(), 3);
    assert!(auto.rounds.windows(2).all(|pair| pair[0][0] <= pair[1][0]));
    assert_eq!(has(&page(&auto)), [true, true, false, true]);
    let mut request = Request { method: Method::Ais, ..Request::default() };
    request.annealing.betas = Some(64);
    request.annealing.chains = Some(64);
    assert_eq!(has(&page(&report(request, "m"))), [true, true, true, false]);
    assert_eq!(has(&page(&report(Request::default(), "m"))), [false; 4]);
}

#[test]
fn the_weights_on_the_page_are_those_of_the_result() {
    let mut request = sampled();
    request.auto.core = Some(0);
    let report = report(request, "m");
    let log_z = lnz_mean(&report.trace().log_weights);
    // The same sum in another order.
    assert!((log_z - report.finding.log_z).abs() < 1e-9 * log_z.abs(), "{log_z}");
}

fn lnz_mean(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = values.iter().map(|value| (value - most).exp()).sum();
    most + (sum / values.len() as f64).ln()
}

/// Whatever a name has in it, there is one script on a page, and it is ours.
fn is_harmless(page: &str) {
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert_eq!(page.matches("<title>").count(), 1 + page.matches("role=\"img\"><title>").count());
    assert!(!page.contains("<b>"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)"), "the name is not shown");
}

#[test]
fn hostile_names_stay_text_on_every_page() {
    is_harmless(&page(&report(sampled(), HOSTILE)));
    let request = compare::CompareRequest {
        annealing: crate::request::AnnealingRequest {
            betas: Some(8),
            chains: Some(16),
            ..Default::default()
        },
        ..Default::default()
    };
    let plan = request.plan().unwrap();
    let found = compare::compare(&stored(), HOSTILE, &plan, &|_| (), &()).unwrap();
    is_harmless(&super::compare(&found.to_json(), Some(HOSTILE), HOSTILE));
    let words =
        [("verdict".to_owned(), HOSTILE.to_owned()), (HOSTILE.to_owned(), HOSTILE.to_owned())];
    let json = serde_json::json!({
        "data": { "name": HOSTILE }, "model": { "name": HOSTILE }, "verdict": HOSTILE,
        "mean_log_likelihood": -1.0, "settings": { HOSTILE: HOSTILE }, "sha256": HOSTILE,
        "epochs": [{ "epoch": 1, "verdict": HOSTILE, "log_z": 1.0 }],
    });
    is_harmless(&score(&json, &words, &[-1.0, -2.0], &Trace::default(), HOSTILE));
    let settings = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    is_harmless(&train(&json, &words, settings, HOSTILE));
}

#[test]
fn a_page_needs_no_other_file() {
    let page = page(&report(sampled(), "m"));
    for outside in ["src=", "url(http", "@import", "href=\"http"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn a_history_has_intervals_and_needs_two_epochs() {
    let row = |epoch: usize, low: Value| {
        serde_json::json!({ "epoch": epoch, "log_z": 5.0, "interval": [low, 6.0],
            "verdict": "suspect", "train_log_likelihood": -3.0 })
    };
    let rows = [row(1, 4.0.into()), row(2, "-Infinity".into())];
    assert!(history(&rows[..1]).is_none());
    let figure = history(&rows).unwrap();
    let lnz_figures::Errors::Y(ends) = &figure.panels[0].series[0].errors else { panic!() };
    assert_eq!(ends, &[[-4.0, -2.0], [-4.0, f64::INFINITY]]);
    assert!(!figure.svg("t").contains("inf"));
}

#[test]
fn a_model_without_weights_has_a_page() {
    let model = Rbm::new(Array2::zeros((2, 1)), Array1::zeros(2), Array1::zeros(1)).unwrap();
    let plan = Request::default().plan().unwrap();
    let report =
        run::estimate(&StoredModel::from(model), "m", &plan, Instant::now(), &()).unwrap().report;
    assert!(page(&report).contains(">exact</span>"));
}
