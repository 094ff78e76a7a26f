//! `lnz score`: likelihoods for a log Z that is computed, given or saved.

use crate::files::Folder;
use crate::run::{fields, json, one_sentence, refusal, text};
use ndarray::{Array2, array};
use serde_json::Value;

/// A small model, and all of its 64 visible states as data.
fn model_and_states(folder: &Folder) -> (String, String) {
    let states = Array2::from_shape_fn((64, 6), |(state, i)| f64::from((state >> i & 1) as u8));
    (folder.small_model("m.npz"), folder.npy("states.npy", states.into_dyn().view()))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The values of a .npy file.
fn values(path: &str) -> Vec<f64> {
    let bytes = std::fs::read(path).unwrap();
    bytes[128..].chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn the_json_keeps_its_contract() {
    let folder = Folder::new();
    let (model, data) = model_and_states(&folder);
    let result = json(&["score", &model, "--data", &data, "--json"]);
    assert_eq!(
        fields(&result),
        [
            "data",
            "estimate",
            "examples",
            "interval",
            "log_z",
            "mean_log_likelihood",
            "mean_log_marginal",
            "model",
            "quantiles",
            "run",
            "sampling_error",
            "schema",
            "seconds",
            "std_error",
            "verdict",
            "warnings"
        ]
    );
    assert_eq!(result["schema"], 2);
    assert_eq!(result["examples"], 64);
    assert_eq!(result["verdict"], "exact");
    assert_eq!(result["warnings"], serde_json::json!([]));
    assert_eq!(result["std_error"], 0.0);
    let mean = &result["mean_log_likelihood"];
    assert_eq!(result["interval"], serde_json::json!([mean, mean]));
    let exact = json(&["exact", &model, "--json"]);
    assert_eq!(result["log_z"], exact["log_z"]);
    assert_eq!(result["estimate"]["method"], "exact");
    assert_eq!(number(mean), number(&result["mean_log_marginal"]) - number(&exact["log_z"]));
    let q = &result["quantiles"];
    let names = ["min", "q05", "q25", "median", "q75", "q95", "max"];
    assert!(names.windows(2).all(|pair| number(&q[pair[0]]) <= number(&q[pair[1]])), "{q}");
    assert!(number(&q["max"]) < 0.0);
}

#[test]
fn values_of_all_states_are_the_logarithms_of_probabilities() {
    let folder = Folder::new();
    let (model, data) = model_and_states(&folder);
    let npy = folder.path("out.npy");
    let result = json(&["score", &model, "--data", &data, "--out", &npy, "--json"]);
    let found = values(&npy);
    assert_eq!(found.len(), 64);
    let total: f64 = found.iter().map(|log_p| log_p.exp()).sum();
    assert!((total - 1.0).abs() < 1e-12, "{total}");
    let mean = found.iter().sum::<f64>() / 64.0;
    assert!((mean - number(&result["mean_log_likelihood"])).abs() < 1e-12);
    let (csv, txt) = (folder.path("out.csv"), folder.path("out.txt"));
    for path in [&csv, &txt] {
        text(&["score", &model, "--data", &data, "--out", path]);
    }
    let csv = std::fs::read_to_string(csv).unwrap();
    assert_eq!(csv.lines().next(), Some("example,log_likelihood"));
    assert_eq!(csv.lines().nth(1), Some(&*format!("1,{}", found[0])));
    let lines: Vec<f64> =
        std::fs::read_to_string(txt).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(lines, found);
}

#[test]
fn a_given_log_z_is_subtracted_and_has_no_error() {
    let folder = Folder::new();
    let (model, data) = model_and_states(&folder);
    let given = |z: &str| json(&["score", &model, "--data", &data, "--log-z", z, "--json"]);
    let (ten, minus) = (given("40"), given("-1.5"));
    let difference = number(&minus["mean_log_likelihood"]) - number(&ten["mean_log_likelihood"]);
    assert!((difference - 41.5).abs() < 1e-12);
    for field in ["std_error", "interval", "verdict", "estimate"] {
        assert_eq!(ten[field], Value::Null, "{field}");
    }
    assert!(number(&ten["sampling_error"]) > 0.0);
}

#[test]
fn a_probability_above_one_gives_a_wrong_log_z_away() {
    let folder = Folder::new();
    let (model, data) = model_and_states(&folder);
    let arguments = ["score", &model, "--data", &data, "--log-z", "-1.5"];
    let result = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(result["verdict"], "suspect");
    assert_eq!(result["warnings"][0]["kind"], "above_one");
    let report = text(&arguments);
    assert!(report.lines().next().unwrap().contains("log Z is suspect"), "{report}");
}

#[test]
fn a_saved_result_gives_the_same_bits_as_estimating_at_once() {
    let folder = Folder::new();
    let (model, data) = model_and_states(&folder);
    let sampled = ["--no-exact", "--core", "0", "--rounds", "1", "--seed", "4", "--json"];
    let saved = folder.text("z.json", &text(&[&["estimate", &model], &sampled[..]].concat()));
    let at_once = json(&[&["score", &model, "--data", &data], &sampled[..]].concat());
    let later = json(&["score", &model, "--data", &data, "--result", &saved, "--json"]);
    for field in ["mean_log_likelihood", "std_error", "interval", "log_z", "verdict", "quantiles"] {
        assert_eq!(at_once[field], later[field], "{field}");
    }
    // The interval is that of log Z, turned round.
    let estimate = &later["estimate"];
    let mean = number(&later["mean_log_marginal"]);
    assert_eq!(number(&later["interval"][0]), mean - number(&estimate["interval"][1]));
    assert_eq!(number(&later["interval"][1]), mean - number(&estimate["interval"][0]));
    assert_eq!(later["std_error"], estimate["std_error"]);
    // A score carries the result inside, and serves as one.
    let score = folder.text("score.json", &later.to_string());
    let again = json(&["score", &model, "--data", &data, "--result", &score, "--json"]);
    assert_eq!(again["interval"], later["interval"]);
}

#[test]
fn a_suspect_log_z_shows_before_the_likelihood() {
    let folder = Folder::new();
    let (model, data) = model_and_states(&folder);
    let one_chain = ["estimate", &model, "--chains", "1", "--json"];
    let saved = folder.text("z.json", &text(&one_chain));
    let arguments = ["score", &model, "--data", &data, "--result", &saved];
    let report = text(&arguments);
    let first = report.lines().next().unwrap();
    assert!(first.contains("log Z is suspect") && first.contains("only one chain"), "{report}");
    let result = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(result["verdict"], "suspect");
    assert_eq!(result["warnings"][0]["kind"], "few_effective_chains");
    assert_eq!(result["std_error"], "Infinity", "an infinite error is a word");
}

#[test]
fn binarisation_is_seeded_and_grey_values_are_mentioned() {
    let folder = Folder::new();
    let (model, _) = model_and_states(&folder);
    let grey = folder.npy("grey.npy", Array2::from_elem((50, 6), 0.4).into_dyn().view());
    let score =
        |options: &[&str]| json(&[&["score", &model, "--data", &grey, "--json"], options].concat());
    let plain = score(&[]);
    assert_eq!(plain["warnings"][0]["kind"], "grey_values");
    assert_eq!(plain["data"]["grey_share"], 1.0);
    assert_eq!(plain["verdict"], "exact");
    let bernoulli = |seed, threads| {
        let result = score(&["--binarize", "bernoulli", "--seed", seed, "--threads", threads]);
        assert_eq!(result["warnings"], serde_json::json!([]));
        number(&result["mean_log_likelihood"])
    };
    assert_eq!(bernoulli("1", "1"), bernoulli("1", "3"));
    assert_ne!(bernoulli("1", "1"), bernoulli("2", "1"));
    // 0.4 is below the threshold: all units off.
    let off = folder.npy("off.npy", Array2::zeros((1, 6)).into_dyn().view());
    let expected = json(&["score", &model, "--data", &off, "--json"]);
    let threshold = number(&score(&["--binarize", "threshold"])["mean_log_likelihood"]);
    assert!((threshold - number(&expected["mean_log_likelihood"])).abs() < 1e-14);
    assert_eq!(expected["sampling_error"], "Infinity", "one example has no spread");
}

#[test]
fn text_for_a_smaller_model_is_mentioned() {
    let folder = Folder::new();
    let (model, _) = model_and_states(&folder);
    let narrow = folder.text("narrow.txt", "1 2:1\n-1 4:1\n");
    let report = text(&["score", &model, "--data", &narrow]);
    assert!(report.contains("the largest index in the file is 4"), "{report}");
    let whole = folder.text("whole.txt", "1 2:1\n-1 6:1\n");
    let result = json(&["score", &model, "--data", &whole, "--json"]);
    assert_eq!(result["warnings"], serde_json::json!([]));
}

#[test]
fn results_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let (model, data) = model_and_states(&folder);
    let other = folder.npy("w.npy", array![[0.5], [1.0]].into_dyn().view());
    let same_shape = folder.npy("w64.npy", Array2::from_elem((6, 4), 0.5).into_dyn().view());
    let result_of = |model: &str| text(&["exact", model, "--json"]);
    let given = json(&["score", &model, "--data", &data, "--log-z", "9", "--json"]);
    let cases = [
        (result_of(&other), "2 visible x 1 hidden"),
        (result_of(&same_shape), "another model of the same shape"),
        ("not json".to_owned(), "not JSON"),
        ("{\"log_z\": 3}".to_owned(), "missing field"),
        (text(&["inspect", &model, "--json"]), "log_z"),
        (given.to_string(), "--log-z"),
    ];
    for (content, what) in cases {
        let saved = folder.text("z.json", &content);
        let sentence = one_sentence(&["score", &model, "--data", &data, "--result", &saved]);
        assert!(sentence.starts_with(&saved) && sentence.contains("--result"), "{sentence}");
        assert!(sentence.contains(what), "{what}: {sentence}");
    }
    let absent = folder.path("absent.json");
    let sentence = one_sentence(&["score", &model, "--data", &data, "--result", &absent]);
    assert!(sentence.starts_with(&absent), "{sentence}");
}

#[test]
fn bad_data_and_options_are_refused_before_any_work() {
    let folder = Folder::new();
    let (model, data) = model_and_states(&folder);
    let cases = [
        (folder.npy("narrow.npy", Array2::zeros((2, 5)).into_dyn().view()), "5 columns"),
        (folder.npy("nan.npy", Array2::from_elem((2, 6), f64::NAN).into_dyn().view()), "NaN"),
        (folder.npy("big.npy", Array2::from_elem((2, 6), 1.5).into_dyn().view()), "1.5"),
        (folder.npy("none.npy", Array2::zeros((0, 6)).into_dyn().view()), "at least one row"),
        (folder.text("empty", ""), "is empty"),
        (folder.text("index", "1 7:1\n"), "index 7"),
        (folder.path("absent.npy"), "No such file"),
    ];
    let out = folder.path("out.csv");
    for (data, what) in &cases {
        let sentence = one_sentence(&["score", &model, "--data", data, "--out", &out]);
        assert!(sentence.starts_with(data) && sentence.contains(what), "{sentence}");
    }
    assert!(!folder.files().contains(&"out.csv".to_owned()));
    let options: [(&[&str], &str); 7] = [
        (&["--log-z", "nan"], "--log-z"),
        (&["--log-z", "1", "--rounds", "2"], "--rounds"),
        (&["--log-z", "1", "--result", "z.json"], "--result"),
        (&["--result", "z.json", "--no-exact"], "--no-exact"),
        (&["--method", "exact", "--target-error", "1"], "--target-error"),
        (&["--out", "scores.json"], ".csv"),
        (&["--out", "no/such/folder.csv"], "folder does not exist"),
    ];
    for (options, what) in options {
        let sentence = refusal(&[&["score", &model, "--data", &data], options].concat());
        assert!(sentence.contains(what), "{options:?}: {sentence}");
    }
    assert!(refusal(&["score", &model]).contains("--data"));
}
