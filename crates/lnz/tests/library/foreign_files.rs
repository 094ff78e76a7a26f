//! Files of other programs: PyTorch, pickles, HDF5, flax, UAI, CSV, several files side by side.

use crate::writers::{self, Folder, PLAIN, Tensor, npy, npy_with, tensor, zip};
use lnz::data::{DataOptions, DataSet};
use lnz::io::{
    Format, Layout, ModelFile, ReadOptions, StoredModel, Units, read_model, read_model_with,
    write_model,
};
use lnz::{Rbm, Result};
use ndarray::{Array1, Array2, array};
use std::path::{Path, PathBuf};

/// The model of all files that tests/files/make.py has made.
fn model() -> Rbm {
    let weights = Array2::from_shape_fn((5, 3), |(i, j)| (3 * i + j) as f64 / 7.0 - 1.0);
    Rbm::new(weights, Array1::linspace(-1.0, 1.0, 5), Array1::linspace(0.5, 2.0, 3)).unwrap()
}

fn made(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn log_z(model: &Rbm) -> f64 {
    // All 2^8 states, one by one.
    let (v, h) = (model.visible(), model.hidden());
    let bits = |state: usize, from: usize, n: usize| {
        Array1::from_shape_fn(n, |i| f64::from(u8::from(state >> (from + i) & 1 == 1)))
    };
    let terms = (0..1usize << (v + h)).map(|state| {
        let (x, y) = (bits(state, 0, v), bits(state, v, h));
        let energy = x.dot(&model.visible_bias()) + y.dot(&model.hidden_bias());
        (energy + x.dot(&model.weights()).dot(&y)).exp()
    });
    terms.sum::<f64>().ln() + model.constant()
}

fn npz(tensors: &[Tensor]) -> Vec<u8> {
    writers::npz(tensors, PLAIN)
}

fn notes(file: &ModelFile) -> Vec<&'static str> {
    file.stored.notes.iter().map(|note| note.name()).collect()
}

fn problem(found: Result<ModelFile>) -> String {
    let message = found.unwrap_err().to_string();
    assert!(!message.contains('\n') && message.len() < 700, "{message}");
    message
}

#[test]
fn every_program_gives_the_same_model() {
    let files = [
        ("checkpoint.pt", Format::Torch),
        ("legacy.pt", Format::Torch),
        ("object_0.pkl", Format::Pickle),
        ("object_2.pkl", Format::Pickle),
        ("object_5.pkl", Format::Pickle),
        ("lists.pkl", Format::Pickle),
        ("sklearn.joblib", Format::Pickle),
        ("sklearn_packed.joblib", Format::Pickle),
        ("sklearn_lzma.joblib", Format::Pickle),
        ("dictionary.npy", Format::Npy),
        ("struct.mat", Format::Mat),
        ("rbms.h5", Format::Hdf5),
        ("packed.h5", Format::Hdf5),
        ("matlab73.mat", Format::Hdf5),
    ];
    for (name, format) in files {
        let file = read_model(&made(name), None).unwrap();
        assert!(file.stored.model == model(), "{name}: {:?}", file.stored.model);
        assert_eq!(file.format, format, "{name}");
        let expected: &[&str] = if name == "lists.pkl" { &["found_by_shape"] } else { &[] };
        assert_eq!(notes(&file), expected, "{name}");
    }
}

#[test]
fn the_name_of_a_file_says_nothing() {
    let folder = Folder::new();
    for name in ["checkpoint.pt", "legacy.pt", "sklearn.joblib", "rbms.h5", "matlab73.mat"] {
        let content = std::fs::read(made(name)).unwrap();
        let file = read_model(&folder.with("model.npz", &content), None).unwrap();
        assert!(file.stored.model == model(), "{name}");
    }
}

#[test]
fn files_that_are_packed_by_other_programs_say_by_which() {
    let folder = Folder::new();
    for (start, program) in [
        (&b"BZh91AY&SY"[..], "bzip2"),
        (b"\x04\x22\x4d\x18dp", "lz4"),
        (b"\x28\xb5\x2f\xfd\x04", "zstd"),
    ] {
        let message = problem(read_model(&folder.with("model.joblib", start), None));
        assert!(message.contains(&format!("is packed by {program}")), "{message}");
    }
    // As np.savez(params={...}) has it.
    let objects = npy_with("'|O'", false, "()", b"\x80\x04}.");
    let file = folder.with("objects.npz", &zip(&[("params.npy".to_owned(), objects)], false));
    let message = problem(read_model(&file, None));
    assert!(message.contains("its array `params` holds Python objects"), "{message}");
}

#[test]
fn a_run_of_rbms_has_its_updates() {
    let mut options = ReadOptions::default();
    options.update = Some(1);
    let file = read_model_with(&made("rbms.h5"), &options).unwrap();
    assert_eq!(file.updates, [1, 20]);
    assert_eq!(file.stored.model.weights()[[0, 0]], -0.5);
    options.update = Some(2);
    let message = problem(read_model_with(&made("rbms.h5"), &options));
    assert!(message.ends_with("has no update 2; it has 1, 20"), "{message}");
    let message = problem(read_model_with(&made("legacy.pt"), &options));
    assert!(message.contains("has no updates"), "{message}");
}

/// Expected values are printed by tests/files/make.py, which sums over all states in Python.
#[test]
fn offsets_and_scales_are_folded_in() {
    let file = read_model(&made("standardized.h5"), None).unwrap();
    let found = log_z(&file.stored.model);
    assert!((found - 8.339572109557372).abs() < 1e-12, "{found}");
    assert!(file.understood.iter().any(|line| line.contains("folded")), "{:?}", file.understood);
}

#[test]
fn netket_has_spins() {
    let file = read_model(&made("netket.mpack"), None).unwrap();
    assert_eq!((file.stored.units, file.format), (Units::Spin, Format::Msgpack));
    assert_eq!(notes(&file), ["wave_function"]);
    let found = log_z(&file.stored.model);
    assert!((found - 15.218372210120995).abs() < 1e-12, "{found}");
}

#[test]
fn other_layers_are_refused_by_name() {
    let message = problem(read_model(&made("gaussian.pkl"), None));
    assert!(
        message.contains("Python pickle file") && message.contains("visible: Gaussian"),
        "{message}"
    );
    let folder = Folder::new();
    let potts = [
        tensor("weights", &[4, 3, 2], vec![0.0; 24]),
        tensor("vbias", &[4, 3], vec![0.0; 12]),
        tensor("hbias", &[2], vec![0.0; 2]),
    ];
    let message = problem(read_model(&folder.with("potts.npz", &npz(&potts)), None));
    assert!(message.contains("4 x 3 x 2") && message.contains("Potts"), "{message}");
    let julia = [
        b"HDF5-based Julia Data Format, version 0.1.1".to_vec(),
        vec![0; 600],
        b"RestrictedBoltzmannMachines.xReLU".to_vec(),
    ]
    .concat();
    let message = problem(read_model(&folder.with("m.jld2", &julia), None));
    assert!(message.contains("JLD2") && message.contains("xReLU"), "{message}");
}

#[test]
fn three_files_side_by_side_are_one_model() {
    let folder = Folder::new();
    let m = model();
    let parts = [
        ("run_components_.npy", tensor("", &[3, 5], m.weights().t().iter().copied().collect())),
        ("run_intercept_visible_.npy", tensor("", &[5], m.visible_bias().to_vec())),
        ("run_intercept_hidden_.npy", tensor("", &[3], m.hidden_bias().to_vec())),
    ];
    for (name, part) in &parts {
        folder.with(name, &npy(part, PLAIN));
    }
    for (name, _) in &parts {
        let file = read_model(&folder.0.path().join(name), None).unwrap();
        assert_eq!(file.stored.model, m, "{name}");
        assert!(notes(&file).is_empty());
    }
    std::fs::remove_file(folder.0.path().join(parts[2].0)).unwrap();
    let file = read_model(&folder.0.path().join(parts[0].0), None).unwrap();
    assert_eq!(notes(&file), ["no_hidden_bias"]);
}

#[test]
fn missing_biases_are_zero_and_said() {
    let folder = Folder::new();
    let weights = tensor("W", &[2, 3], vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
    let files = [
        ("w.npy", npy(&weights, PLAIN)),
        ("w.npz", npz(std::slice::from_ref(&weights))),
        ("w.mat", writers::mat(std::slice::from_ref(&weights), PLAIN)),
        ("w.safetensors", writers::safetensors(std::slice::from_ref(&weights), PLAIN)),
        ("w.csv", b"0.1,0.2,0.3\n0.4,0.5,0.6\n".to_vec()),
    ];
    for (name, content) in files {
        let file = read_model(&folder.with(name, &content), None).unwrap();
        assert_eq!(notes(&file), ["no_visible_bias", "no_hidden_bias"], "{name}");
        assert_eq!(file.stored.model.weights()[[1, 2]], 0.6, "{name}");
    }
}

#[test]
fn parts_may_be_named_or_lie_in_files_of_their_own() {
    let folder = Folder::new();
    let odd = [
        tensor("alpha", &[2, 3], vec![0.1; 6]),
        tensor("beta", &[2], vec![0.2; 2]),
        tensor("gamma", &[3], vec![0.3; 3]),
    ];
    let path = folder.with("odd.npz", &npz(&odd));
    let message = problem(read_model(&path, None));
    assert!(message.contains("has no weights: found `alpha`, `beta`, `gamma`"), "{message}");
    let mut options = ReadOptions::default();
    options.weights = Some("alpha".to_owned());
    options.visible_bias = Some("beta".to_owned());
    options.hidden_bias = Some("gamma".to_owned());
    let found = read_model_with(&path, &options).unwrap();
    assert_eq!(found.stored.model.hidden_bias()[2], 0.3);
    assert!(notes(&found).is_empty());

    let bias = folder.with("c.npy", &npy(&tensor("", &[3], vec![0.7; 3]), PLAIN));
    options.hidden_bias = Some(bias.display().to_string());
    options.visible_bias = Some("none".to_owned());
    let found = read_model_with(&path, &options).unwrap();
    assert_eq!(found.stored.model.hidden_bias()[0], 0.7);
    assert_eq!(found.stored.model.visible_bias()[0], 0.0);
    options.hidden_bias = Some("delta".to_owned());
    let message = problem(read_model_with(&path, &options));
    assert!(message.contains("has no tensor `delta` for the hidden bias"), "{message}");
}

#[test]
fn a_square_is_read_as_told() {
    let folder = Folder::new();
    let square = [
        tensor("weights", &[2, 2], vec![0.1, 0.2, 0.3, 0.4]),
        tensor("visible_bias", &[2], vec![1.0, 2.0]),
        tensor("hidden_bias", &[2], vec![0.0, 0.5]),
    ];
    let path = folder.with("square.npz", &npz(&square));
    let assumed = read_model(&path, None).unwrap();
    assert_eq!(notes(&assumed), ["square_weights"]);
    let mut options = ReadOptions::default();
    options.layout = Some(Layout::HiddenVisible);
    let told = read_model_with(&path, &options).unwrap();
    assert!(notes(&told).is_empty());
    assert_eq!(told.stored.model.weights(), assumed.stored.model.weights().t());
    // What is written here says how it is meant.
    for extension in ["npz", "safetensors", "mat"] {
        let again = folder.0.path().join(format!("again.{extension}"));
        write_model(&again, &told.stored).unwrap();
        let file = read_model(&again, None).unwrap();
        assert!(notes(&file).is_empty(), "{extension}");
        assert_eq!(file.stored, told.stored);
    }
}

#[test]
fn letters_are_read_as_hinton_or_as_most_others_write_them() {
    let folder = Folder::new();
    let of = |visible: &str, hidden: &str| {
        let tensors = [
            tensor("rbm.W", &[2, 3], vec![0.1; 6]),
            tensor(&format!("rbm.{visible}"), &[2], vec![1.0; 2]),
            tensor(&format!("rbm.{hidden}"), &[3], vec![2.0; 3]),
        ];
        read_model(&folder.with("m.npz", &npz(&tensors)), None).unwrap().stored.model
    };
    for (visible, hidden) in [("a", "b"), ("b", "c"), ("vb", "hb"), ("bias_v", "bias_h")] {
        let found = of(visible, hidden);
        assert_eq!((found.visible_bias()[0], found.hidden_bias()[0]), (1.0, 2.0), "{visible}");
    }
}

#[test]
fn data_is_no_model_and_a_model_is_no_data() {
    let folder = Folder::new();
    let data = npy_with("'|u1'", false, "(2, 3)", &[0, 1, 1, 0, 0, 1]);
    let message = problem(read_model(&folder.with("x.npy", &data), None));
    assert!(message.contains("zeros and ones"), "{message}");
    let m = model();
    let path = folder.0.path().join("model.npz");
    write_model(&path, &StoredModel::from(m)).unwrap();
    let message = DataSet::read(&path, DataOptions::default()).unwrap_err().to_string();
    assert!(message.contains("looks like a model"), "{message}");
}

#[test]
fn a_network_of_pairs_becomes_a_model_and_back() {
    let folder = Folder::new();
    // A square of four variables: 0-1, 1-2, 2-3, 3-0 is bipartite.
    let text = "MARKOV\n4\n2 2 2 2\n6\n1 0\n2 0 1\n2 1 2\n2 2 3\n2 3 0\n0\n\
        2\n 1 2.5\n4\n 1 2 3 4\n4\n 0.5 1 1.5 7\n4\n 1 1 2 1\n4\n 3 1 1 3\n1\n 2\n";
    let file = read_model(&folder.with("square.uai", text.as_bytes()), None).unwrap();
    let table = |t: [f64; 4], x: usize, y: usize| t[2 * x + y];
    let mut z = 0.0;
    for state in 0..16usize {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| state >> i & 1);
        z += 2.0
            * [1.0, 2.5][a]
            * table([1.0, 2.0, 3.0, 4.0], a, b)
            * table([0.5, 1.0, 1.5, 7.0], b, c)
            * table([1.0, 1.0, 2.0, 1.0], c, d)
            * table([3.0, 1.0, 1.0, 3.0], d, a);
    }
    assert!((log_z(&file.stored.model) - z.ln()).abs() < 1e-13);
    assert!(notes(&file).is_empty());

    let path = folder.0.path().join("again.uai");
    write_model(&path, &file.stored).unwrap();
    let again = read_model(&path, None).unwrap();
    assert!((log_z(&again.stored.model) - z.ln()).abs() < 1e-13);

    let refused = |text: &str| problem(read_model(&folder.with("m.uai", text.as_bytes()), None));
    assert!(refused("BAYES\n1\n2\n1\n1 0\n2\n 0.5 0.5\n").contains("BAYES"));
    assert!(refused("MARKOV\n1\n3\n1\n1 0\n3\n 1 1 1\n").contains("has 3 states"));
    assert!(refused("MARKOV\n3\n2 2 2\n1\n3 0 1 2\n8\n 1 1 1 1 1 1 1 1\n").contains("3 variables"));
    let triangle = "MARKOV\n3\n2 2 2\n3\n2 0 1\n2 1 2\n2 2 0\n4\n1 1 1 2\n4\n1 1 1 2\n4\n1 1 1 2\n";
    assert!(refused(triangle).contains("not bipartite"));
    assert!(refused("MARKOV\n1\n2\n1\n1 0\n2\n 0 1\n").contains("value 0"));
    assert!(refused("MARKOV\n99999999999\n2").contains("claims 99999999999"));
}

fn rows(path: &Path) -> Array2<f64> {
    DataSet::read(path, DataOptions::default()).unwrap().rows().to_owned()
}

#[test]
fn data_comes_in_tables_sparse_matrices_and_arrays_of_other_programs() {
    let folder = Folder::new();
    let expected = array![[0.0, 1.0, 0.5], [1.0, 0.0, 0.0]];
    let table = b"x,y,z\n0,1,0.5\n1,0,0\n";
    assert_eq!(rows(&folder.with("a.csv", table)), expected);
    assert_eq!(rows(&folder.with("a.csv.gz", &writers::gzip(table))), expected);
    let values = tensor("X", &[2, 3], expected.iter().copied().collect());
    assert_eq!(rows(&folder.with("a.mat", &writers::mat(&[values], PLAIN))), expected);

    let ints = |name: &str, values: &[i32]| {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        (format!("{name}.npy"), npy_with("'<i4'", false, &format!("({},)", values.len()), &bytes))
    };
    let floats = |values: &[f64]| {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        ("data.npy".to_owned(), npy_with("'<f8'", false, &format!("({},)", values.len()), &bytes))
    };
    let kind =
        |kind: &str| ("format.npy".to_owned(), npy_with("'|S3'", false, "()", kind.as_bytes()));
    let shape = ints("shape", &[2, 3]);
    let csr = [
        ints("indices", &[1, 2, 0]),
        ints("indptr", &[0, 2, 3]),
        kind("csr"),
        shape.clone(),
        floats(&[1.0, 0.5, 1.0]),
    ];
    let csc = [
        ints("indices", &[1, 0, 0]),
        ints("indptr", &[0, 1, 2, 3]),
        kind("csc"),
        shape.clone(),
        floats(&[1.0, 1.0, 0.5]),
    ];
    let coo = [
        ints("row", &[0, 1, 0]),
        ints("col", &[2, 0, 1]),
        kind("coo"),
        shape,
        floats(&[0.5, 1.0, 1.0]),
    ];
    for entries in [csr, csc, coo] {
        assert_eq!(rows(&folder.with("s.npz", &zip(&entries, true))), expected);
    }
    // A lone matrix in a pickle or in HDF5.
    assert!(DataSet::read(&made("packed.h5"), DataOptions::default()).is_err(), "it is a model");
}

#[cfg(unix)]
#[test]
fn a_pipe_gives_all_its_rows_once() {
    let folder = Folder::new();
    let pipe = folder.0.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let count = 20_000;
    let text: String = (0..count).map(|row| format!("{} {}:1\n", row % 2, row % 50 + 1)).collect();
    let path = pipe.clone();
    let writer = std::thread::spawn(move || std::fs::write(path, text).unwrap());
    assert_eq!(rows(&pipe).dim(), (count, 50));
    writer.join().unwrap();

    let content = std::fs::read(self::made("checkpoint.pt")).unwrap();
    let path = pipe.clone();
    let writer = std::thread::spawn(move || std::fs::write(path, content).unwrap());
    assert!(read_model(&pipe, None).unwrap().stored.model == model());
    writer.join().unwrap();
}
