//! Verdicts: what they rest on, and exit codes that follow them.

use crate::files::Folder;
use crate::run::{json, run, text};

#[test]
fn a_run_without_its_tests_is_unchecked() {
    let arguments = ["estimate", "gwgm-hard", "--start", "uniform", "--transpose", "--betas", "64"];
    let found = json(&[&arguments[..], &["--no-check", "--json"]].concat());
    // 70% off, and nothing in its weights shows it.
    assert_eq!(found["verdict"], "unchecked");
    assert_eq!(found["settings"]["no_check"], true);
    let shown = text(&[&arguments[..], &["--no-check"]].concat());
    assert!(shown.contains("unchecked: "), "{shown}");
    let checked = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(checked["verdict"], "suspect");
    assert_eq!(checked["settings"]["no_check"], false);
}

#[test]
fn an_interval_does_not_exclude_what_is_proven() {
    let found = json(&["estimate", "gwgm-hard", "--start", "uniform", "--transpose", "--json"]);
    let floor = found["lower_bound"].as_f64().unwrap();
    assert!(found["log_z"].as_f64().unwrap() < floor - 100.0);
    assert_eq!(found["interval"][0].as_f64().unwrap(), floor);
    assert_eq!(found["interval"][1], "Infinity");
}

#[test]
fn fail_on_sets_the_exit_code() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let code = |arguments: &[&str]| run(&[&["estimate"], arguments].concat()).code;
    let suspect = ["gwgm-hard", "--start", "uniform", "--transpose", "--betas", "64"];
    assert_eq!(code(&suspect), Some(0));
    for limit in ["suspect", "unchecked"] {
        assert_eq!(code(&[&suspect[..], &["--fail-on", limit]].concat()), Some(3));
        assert_eq!(code(&[&model, "--fail-on", limit]), Some(0));
    }
    let unchecked = [&*model, "--betas", "64", "--no-check"];
    assert_eq!(code(&[&unchecked[..], &["--fail-on", "suspect"]].concat()), Some(0));
    assert_eq!(code(&[&unchecked[..], &["--fail-on", "unchecked"]].concat()), Some(3));
    let data = folder.npy("d.npy", ndarray::Array2::ones((2, 6)).into_dyn().view());
    let score = |limit: &str| {
        run(&["score", &model, "--data", &data, "--log-z", limit, "--fail-on", "suspect"]).code
    };
    assert_eq!((score("1000"), score("-1000")), (Some(0), Some(3)));
}

#[test]
fn a_result_of_another_model_is_refused() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let result = folder.text("z.json", &text(&["exact", &model, "--json"]));
    // The same weights with their rows reversed: the same shape and root mean square.
    let stored = lnz::io::read_model(model.as_ref(), None).unwrap().stored;
    let order: Vec<usize> = (0..6).rev().collect();
    let reversed = stored.model.permuted(&order, &[0, 1, 2, 3]).unwrap();
    let other = folder.path("other.npz");
    lnz::io::write_model(other.as_ref(), &reversed.into()).unwrap();
    let data = folder.npy("d.npy", ndarray::Array2::ones((2, 6)).into_dyn().view());
    let score = |model: &str| run(&["score", model, "--data", &data, "--result", &result]);
    assert_eq!(score(&model).code, Some(0));
    let refused = score(&other);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("is for another model of the same shape"),
        "{}",
        refused.stderr
    );
    // The same parameters in another format are the same model.
    let copy = folder.path("m.safetensors");
    text(&["convert", &model, &copy]);
    assert_eq!(score(&copy).code, Some(0));
}

#[test]
fn saving_the_weights_says_that_it_selects_ais() {
    let folder = Folder::new();
    let weights = folder.path("w.npy");
    let shown = text(&["estimate", "gwgm-easy", "--save-weights", &weights]);
    assert!(shown.contains("chosen because --save-weights asks for samples"), "{shown}");
    let asked = text(&["estimate", "gwgm-easy", "--method", "ais", "--save-weights", &weights]);
    assert!(!asked.contains("chosen because"), "{asked}");
}

#[test]
fn grey_data_is_noted_in_training() {
    let folder = Folder::new();
    let grey = folder.npy("g.npy", ndarray::Array2::from_elem((4, 6), 0.25).into_dyn().view());
    let train = |name: &str, more: &[&str]| {
        let out = folder.path(name);
        let fixed = ["train", "--data", &grey, "--hidden", "2", "--epochs", "1", "--out", &out];
        text(&[&fixed[..], more].concat())
    };
    assert!(train("a", &[]).contains("100.0% of the values are neither 0 nor 1"));
    for binarize in ["bernoulli", "threshold"] {
        assert!(!train(binarize, &["--binarize", binarize]).contains("neither 0 nor 1"));
    }
}

#[test]
fn a_solution_file_of_the_uai_competitions_has_the_logarithm_to_the_base_of_ten() {
    let folder = Folder::new();
    // One binary variable with the table 3, 7 and two that it does not touch: Z = 10 x 2 x 2.
    let net = "MARKOV\n3\n2 2 2\n2\n1 0\n2 1 2\n\n2\n3 7\n\n4\n1 1 1 1\n";
    let model = folder.text("net.uai", net);
    let solution = folder.path("net.uai.PR");
    text(&["exact", &model, "--save-pr", &solution]);
    let written = std::fs::read_to_string(&solution).unwrap();
    let number = written.strip_prefix("PR\n").unwrap().trim().parse::<f64>().unwrap();
    assert!((number - 40f64.log10()).abs() < 1e-11, "{written}");
    let nowhere = run(&["estimate", &model, "--save-pr", &folder.path("no/such/file.PR")]);
    assert_eq!((nowhere.code, &*nowhere.stdout), (Some(2), ""));
}
