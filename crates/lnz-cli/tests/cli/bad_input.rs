//! Bad input of every kind: exit code 2, one sentence that names the file or flag, nothing left behind.

use crate::files::Folder;
use crate::run::{one_sentence, refusal, run};
use ndarray::{Array2, array};

#[test]
fn models_that_are_none() {
    let folder = Folder::new();
    let nan = folder.npy("nan.npy", array![[1.0, f64::NAN]].into_dyn().view());
    let infinite = folder.npy("inf.npy", array![[1.0], [f64::INFINITY]].into_dyn().view());
    let shapes =
        folder.safetensors("shapes.safetensors", &[("W", &[3, 2]), ("b", &[3]), ("c", &[5])]);
    let twice = folder.safetensors(
        "twice.safetensors",
        &[("W", &[3, 2]), ("vishid", &[3, 2]), ("b", &[3]), ("c", &[2])],
    );
    let whole = std::fs::read(folder.small_model("whole.npz")).unwrap();
    let truncated = folder.path("truncated.npz");
    std::fs::write(&truncated, &whole[..whole.len() / 2]).unwrap();
    let empty = folder.text("empty.npz", "");
    let words = folder.text("words.txt", "not a model");
    let cases = [
        (&nan, "NaN"),
        (&infinite, "inf"),
        (&shapes, "5"),
        (&twice, "vishid"),
        (&truncated, ""),
        (&empty, "empty"),
        (&words, "format"),
        (&folder.path("absent.npz"), "No such file"),
    ];
    for (path, what) in cases {
        for command in ["estimate", "exact", "compare"] {
            let sentence = one_sentence(&[command, path]);
            assert!(sentence.starts_with(path.as_str()), "{command}: {sentence}");
            assert!(sentence.contains(what), "{command}: {sentence}");
        }
        // It may list what is in the file before it says why that is no model.
        let inspected = run(&["inspect", path]);
        assert_eq!(inspected.code, Some(2), "{path}");
        assert!(inspected.stderr.starts_with("error: ") && inspected.stderr.contains(what));
        let output = folder.path("output.npz");
        assert!(one_sentence(&["convert", path, &output]).contains(path.as_str()));
        assert!(!folder.files().contains(&"output.npz".to_owned()));
    }
}

#[test]
fn names_that_no_model_has() {
    assert!(one_sentence(&["estimate", "gwgm-hrad"]).contains("did you mean `gwgm-hard`"));
    assert!(one_sentence(&["exact", "nonsense"]).contains("`lnz models`"));
}

#[test]
fn data_that_does_not_fit() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let narrow = folder.npy("narrow.npy", Array2::zeros((2, 5)).into_dyn().view());
    let negative = folder.npy("negative.npy", Array2::from_elem((2, 6), -0.5).into_dyn().view());
    let unclear = folder.npy("unclear.npy", Array2::from_elem((2, 6), 1.5).into_dyn().view());
    for (data, what) in [(&narrow, "5 columns"), (&negative, "-0.5"), (&unclear, "1.5")] {
        let sentence = one_sentence(&["estimate", &model, "--start", "data", "--data", data]);
        assert!(sentence.starts_with(data.as_str()) && sentence.contains(what), "{sentence}");
    }
    // Also where the exact value is so cheap that the data is not needed.
    let absent = folder.path("absent.npy");
    for (data, what) in [(&narrow, "5 columns"), (&absent, "cannot be read")] {
        let sentence = one_sentence(&["estimate", &model, "--data", data]);
        assert!(sentence.starts_with(data.as_str()) && sentence.contains(what), "{sentence}");
    }
    // A mean of 0 has no finite bias.
    let zeros = folder.npy("zeros.npy", Array2::zeros((2, 6)).into_dyn().view());
    let sentence = one_sentence(&["estimate", &model, "--data", &zeros, "--epsilon", "0"]);
    assert!(sentence.starts_with("--epsilon is 0"), "{sentence}");
}

#[test]
fn numbers_outside_their_range() {
    let cases = [
        ["--chains", "0"],
        ["--betas", "0"],
        ["--betas", "99999999999"],
        ["--samples", "0"],
        ["--steps", "-1"],
        ["--threads", "0"],
        ["--epsilon", "0.5"],
        ["--epsilon", "-0.1"],
        ["--epsilon", "NaN"],
        ["--seed", "-1"],
        ["--precision", "i8"],
    ];
    for [flag, value] in cases {
        let sentence = refusal(&["estimate", "gwgm-easy", &format!("{flag}={value}")]);
        assert!(sentence.contains(flag), "{flag} {value}: {sentence}");
    }
    // Also where they would have no effect, because the exact value is cheap.
    for [flag, value] in [["--target-error", "0"], ["--max-seconds", "-1"], ["--rounds", "0"]] {
        let sentence = refusal(&["estimate", "gwgm-easy", &format!("{flag}={value}")]);
        assert!(sentence.contains(flag), "{flag} {value}: {sentence}");
    }
    for flips in ["0", "21", "0%", "101%"] {
        let sentence =
            one_sentence(&["estimate", "gwgm-easy", "--start", "metropolis", "--flips", flips]);
        assert!(sentence.starts_with("--flips is"), "{sentence}");
    }
}

#[test]
fn schedules_that_do_not_run_from_zero_to_one() {
    let folder = Folder::new();
    for betas in ["0.1 1", "0 0.9", "0 0.5 0.5 1", "0 nan 1", "0 one", ""] {
        let path = folder.text("betas.txt", betas);
        let sentence = one_sentence(&["estimate", "gwgm-easy", "--schedule", &path]);
        assert!(sentence.starts_with(&path) && sentence.contains("--schedule"), "{sentence}");
    }
    for absent in ["absent.txt", "{seed}.txt"] {
        let absent = folder.path(absent);
        let sentence = one_sentence(&["estimate", "gwgm-easy", "--schedule", &absent]);
        assert!(sentence.starts_with(&absent), "{sentence}");
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = Folder::new();
    let missing_folder = folder.path("no/such/folder.npz");
    let commands: [&[&str]; 3] = [
        &["generate", "gwgm", "-o", &missing_folder],
        &["convert", "gwgm-easy", &missing_folder],
        // Long enough for the test to time out if the path were looked at only in the end.
        &["estimate", "gwgm-easy", "--betas", "1000000", "--save-weights", &missing_folder],
    ];
    for command in commands {
        let sentence = one_sentence(command);
        assert!(sentence.starts_with(&missing_folder), "{sentence}");
        assert!(sentence.contains("folder does not exist"), "{sentence}");
    }
    for name in ["model", "model.txt", "model.npy"] {
        let path = folder.path(name);
        assert!(one_sentence(&["generate", "gwgm", "-o", &path]).contains(".safetensors"));
    }
    assert_eq!(folder.files(), [""; 0]);
}

#[test]
fn families_that_cannot_be_generated() {
    let folder = Folder::new();
    let path = folder.path("m.npz");
    for (flag, value) in [("--lambda", "nan"), ("--mu-mu", "inf"), ("--visible", "0")] {
        let sentence = refusal(&["generate", "gwgm", "-o", &path, flag, value]);
        assert!(sentence.contains(flag), "{sentence}");
    }
    let sentence = one_sentence(&[
        "generate",
        "gwgm",
        "-o",
        &path,
        "--visible",
        "99999999",
        "--hidden",
        "99999999",
    ]);
    assert!(sentence.contains("--visible 99999999"), "{sentence}");
    assert!(refusal(&["generate", "bms", "-o", &path, "--blocks", "0"]).contains("--blocks"));
    assert_eq!(folder.files(), [""; 0]);
}
