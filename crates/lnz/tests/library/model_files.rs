//! Model files: round trips through every format, and every kind of bad input.

use crate::writers::{self, Folder, PLAIN, Storage, Tensor, npy_with, seeded, tensor};
use lnz::io::{Format, StoredModel, Units, read_model, write_model};
use lnz::{Error, Rbm};
use ndarray::{Array1, Array2, array};
use proptest::prelude::*;

/// A random model whose values are exact in float32.
fn models() -> impl Strategy<Value = Rbm> {
    (1..7usize, 0..6usize).prop_flat_map(|(v, h)| {
        prop::collection::vec(-100f32..100.0, v * h + v + h).prop_map(move |values| {
            let mut values = values.into_iter().map(f64::from);
            let mut take = |count| values.by_ref().take(count).collect::<Vec<f64>>();
            let weights = Array2::from_shape_vec((v, h), take(v * h)).unwrap();
            Rbm::new(weights, take(v).into(), take(h).into()).unwrap()
        })
    })
}

fn storages() -> impl Strategy<Value = Storage> {
    any::<[bool; 4]>().prop_map(|[float32, big_endian, column_major, compressed]| Storage {
        float32,
        big_endian,
        column_major,
        compressed,
    })
}

/// The tensors of a model under the names of a published convention.
fn tensors(model: &Rbm, names: [&str; 3], turned: bool) -> Vec<Tensor> {
    let (v, h) = (model.visible(), model.hidden());
    let weights = if turned {
        tensor(names[0], &[h, v], model.weights().t().iter().copied().collect())
    } else {
        tensor(names[0], &[v, h], model.weights().iter().copied().collect())
    };
    vec![
        weights,
        tensor(names[1], &[v], model.visible_bias().to_vec()),
        tensor(names[2], &[h], model.hidden_bias().to_vec()),
    ]
}

#[test]
fn a_file_that_is_not_there_fails_with_what_the_system_says() {
    let folder = Folder::new();
    let path = folder.with("model.npz", b"").with_file_name("absent.npz");
    let errors = [
        read_model(&path, None).unwrap_err(),
        lnz::data::DataReader::open(&path, Default::default()).unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("absent.npz: cannot be read: "), "{error}");
        let source = std::error::Error::source(&error).unwrap();
        let source = source.downcast_ref::<std::io::Error>().unwrap();
        assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
    }
}

fn problem(name: &str, content: &[u8]) -> String {
    let folder = Folder::new();
    let path = folder.with(name, content);
    let error = read_model(&path, None).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
    let message = error.to_string();
    let (named, problem) = message.split_once(": ").unwrap();
    assert_eq!(named, path.display().to_string());
    assert!(!problem.contains('\n') && problem.len() < 500, "{problem}");
    problem.to_owned()
}

proptest! {
    #![proptest_config(seeded(100))]

    #[test]
    fn every_written_format_gives_the_same_model_back(
        model in models(),
        constant in -5.0..5.0f64,
        log_z in prop::option::of(-1e3..1e3f64),
        has_means in any::<bool>(),
        extension in prop::sample::select(vec!["npz", "safetensors", "mat"]),
    ) {
        let folder = Folder::new();
        let path = folder.0.path().join(format!("model.{extension}"));
        let mut stored = StoredModel::from(model.with_constant(constant).unwrap());
        stored.exact_log_z = log_z;
        stored.data_means = has_means.then(|| Array1::from_elem(stored.model.visible(), 0.3));
        if extension != "mat" {
            stored.metadata.insert("made".into(), "by \"hand\" ü".into());
            stored.metadata.insert("seed".into(), "7".into());
        }
        write_model(&path, &stored).unwrap();
        prop_assert_eq!(&read_model(&path, None).unwrap().stored, &stored);
        let bytes = std::fs::read(&path).unwrap();
        write_model(&path, &stored).unwrap();
        prop_assert_eq!(std::fs::read(&path).unwrap(), bytes, "the same model, other bytes");
    }

    #[test]
    fn every_storage_of_every_format_is_read(
        model in models(),
        storage in storages(),
        names in prop::sample::select(vec![
            ["W", "b", "c"],
            ["weights", "vbias", "hbias"],
            ["weight", "visible_bias", "hidden_bias"],
            ["vishid", "visbiases", "hidbiases"],
            ["W", "v_bias", "h_bias"],
            ["components_", "intercept_visible_", "intercept_hidden_"],
        ]),
        turned in any::<bool>(),
    ) {
        // A square is only read the way its name says.
        let is_square = model.visible() == model.hidden();
        let turned = if is_square { names[0] == "components_" } else { turned };
        let tensors = tensors(&model, names, turned);
        let files = [
            (Format::Npz, writers::npz(&tensors, storage)),
            (Format::Safetensors, writers::safetensors(&tensors, storage)),
            (Format::Mat, writers::mat(&tensors, storage)),
        ];
        let folder = Folder::new();
        for (format, content) in files {
            let file = read_model(&folder.with("model", &content), None).unwrap();
            prop_assert_eq!(&file.stored.model, &model);
            prop_assert_eq!(file.format, format);
            prop_assert_eq!(file.tensors.len(), 3);
            let assumed = file.understood[0].contains("assumed");
            let says_itself = ["components_", "vishid"].contains(&names[0]);
            prop_assert_eq!(assumed, is_square && !says_itself);
            let warned = file.stored.notes.iter().any(|note| note.name() == "square_weights");
            prop_assert_eq!(warned, assumed && model.visible() > 1);
        }
    }

    #[test]
    fn a_lone_matrix_is_a_model_without_biases(model in models(), storage in storages()) {
        let weights = &tensors(&model, ["W", "b", "c"], false)[0];
        let folder = Folder::new();
        let file = read_model(&folder.with("model", &writers::npy(weights, storage)), None).unwrap();
        prop_assert_eq!(file.stored.model.weights(), model.weights());
        prop_assert_eq!(file.stored.model.visible_bias().sum(), 0.0);
        prop_assert!(file.understood[1].contains("zero"));
    }
}

#[test]
fn units_of_plus_and_minus_one_are_converted_once() {
    let (w, b, c) = (array![[0.3, -0.2], [0.9, 0.4]], array![0.1, -0.6], array![0.5, 0.2]);
    let binary = Rbm::new(w.clone(), b.clone(), c.clone()).unwrap();
    let spin = Rbm::from_spins(w, b, c).unwrap();
    let folder = Folder::new();
    let path =
        folder.with("m.npz", &writers::npz(&tensors(&binary, ["W", "b", "c"], false), PLAIN));
    assert_eq!(read_model(&path, None).unwrap().stored.model, binary);
    assert_eq!(read_model(&path, Some(Units::Spin)).unwrap().stored.model, spin);

    let header = r#"{"__metadata__":{"units":"spin","from":"x"},"W":{"dtype":"F64","shape":[1,1],"data_offsets":[0,8]},"b":{"dtype":"F64","shape":[1],"data_offsets":[8,16]},"c":{"dtype":"F64","shape":[1],"data_offsets":[16,24]}}"#;
    let content = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &[0; 24]].concat();
    let file = read_model(&folder.with("spin.safetensors", &content), None).unwrap();
    assert_eq!((file.stored.units, file.stored.metadata.len()), (Units::Spin, 1));
    write_model(&path, &file.stored).unwrap();
    // What is written has units 0 and 1.
    let written = read_model(&path, None).unwrap().stored;
    assert_eq!((written.units, written.metadata), (Units::Binary, file.stored.metadata.clone()));
    assert_eq!(written.model, file.stored.model);

    let odd = header.replace("\"spin\"", "\"soft\"");
    let content = [&(odd.len() as u64).to_le_bytes(), odd.as_bytes(), &[0; 24]].concat();
    assert!(problem("odd.safetensors", &content).contains("`units` is \"soft\""));
}

#[test]
fn tensors_that_do_not_make_a_model_are_named() {
    let vector = |name: &str, n: usize| tensor(name, &[n], vec![0.0; n]);
    let matrix = |name: &str, v: usize, h: usize| tensor(name, &[v, h], vec![0.0; v * h]);
    let of = |tensors: &[Tensor]| problem("m.npz", &writers::npz(tensors, PLAIN));
    assert_eq!(
        of(&[matrix("W", 3, 2), vector("vbias", 3), vector("my_bias", 2)]),
        "has no hidden bias: found `W`, `vbias`, `my_bias`, expected one of `c`, `hbias`, `hidden_bias`, `h_bias`, `hidbiases`, `intercept_hidden_`; rename the tensor or add it, or name it (--hidden-bias my_bias, or --hidden-bias none)"
    );
    assert_eq!(
        of(&[matrix("W", 3, 2), matrix("weights", 3, 2), vector("b", 3), vector("c", 2)]),
        "is ambiguous: both `W` and `weights` could be the weights; remove or rename one, or name the one that is meant (--weights NAME)"
    );
    assert_eq!(
        of(&[matrix("W", 3, 2), vector("b", 3), vector("c", 4)]),
        "its weights `W` are 3 x 2, but the visible bias `b` has 3 values and the hidden bias `c` 4; expected 3 x 4 or 4 x 3"
    );
    let cube = tensor("W", &[3, 2, 1], vec![0.0; 6]);
    let problem_of_cube = of(&[cube, vector("b", 3), vector("c", 2)]);
    assert!(
        problem_of_cube.starts_with(
            "its weights `W` have the shape 3 x 2 x 1, expected two dimensions; three are those of a Potts layer"
        ),
        "{problem_of_cube}"
    );
    let wide = [matrix("W", 3, 2), matrix("b", 3, 2), vector("c", 2)];
    assert_eq!(of(&wide), "its tensor `b` has the shape 3 x 2, expected a vector");
    let none = [matrix("W", 0, 0), vector("b", 0), vector("c", 0)];
    assert!(of(&none).contains("no visible units"));
    let mut infinite = matrix("W", 3, 2);
    infinite.values[5] = f64::INFINITY;
    assert!(of(&[infinite, vector("b", 3), vector("c", 2)]).contains("weights[2, 1] is inf"));
    let means =
        [matrix("W", 3, 2), vector("b", 3), vector("c", 2), tensor("data_means", &[1], vec![2.0])];
    assert!(of(&means).contains("`data_means` has 1 values, but the model has 3"));
    let log_z = [matrix("W", 3, 2), vector("b", 3), vector("c", 2), vector("exact_log_z", 2)];
    assert!(of(&log_z).contains("`exact_log_z` has 2 values, expected one"));
}

#[test]
fn arrays_that_are_no_numbers_matter_only_where_they_are_needed() {
    let entry = |name: &str, descr: &str, shape: &str| {
        (format!("{name}.npy"), npy_with(descr, false, shape, &[0; 16]))
    };
    let good = [entry("W", "'<f8'", "(2, 1)"), entry("b", "'<f8'", "(2,)")];
    let c = ("c.npy".to_owned(), npy_with("'<f8'", false, "(1,)", &[0; 8]));
    for (descr, kind) in [("'|O'", "Python objects"), ("'<U2'", "text"), ("'<c8'", "complex")] {
        let unneeded = [&good[..], &[c.clone(), entry("labels", descr, "(2,)")]].concat();
        let folder = Folder::new();
        let path = folder.with("m.npz", &writers::zip(&unneeded, true));
        let file = read_model(&path, None).unwrap();
        assert!(file.tensors[3].dtype.contains(kind));
        let needed = [&good[..], &[entry("c", descr, "(1,)")]].concat();
        let problem = problem("m.npz", &writers::zip(&needed, true));
        assert!(problem.contains("its tensor `c` holds") && problem.contains(kind), "{problem}");
    }
}

#[test]
fn files_of_other_kinds_are_told_what_is_expected() {
    assert!(problem("m.npz", b"").starts_with("is empty"));
    assert!(problem("m.md", b"hello").starts_with("is in no known format"));
    assert!(problem("m.npz", b"hello").starts_with("is not a complete zip archive"));
    assert!(problem("m.mat", b"\x89HDF\r\n\x1a\n").contains("HDF5"));
    let pickled = writers::zip(&[("archive/data.pkl".to_owned(), vec![1])], false);
    assert!(problem("m.pt", &pickled).contains("pickle"));
    let folder = Folder::new();
    let missing = read_model(&folder.0.path().join("missing.npz"), None).unwrap_err().to_string();
    assert!(missing.contains("missing.npz: cannot be read"), "{missing}");
}

#[test]
fn a_model_goes_only_where_it_fits() {
    let stored = StoredModel::from(Rbm::new(array![[0.0]], array![0.0], array![0.0]).unwrap());
    let folder = Folder::new();
    for (name, reason) in [("m.npy", "no place for biases"), ("m.h5", ".h5"), ("m", "no extension")]
    {
        let error = write_model(&folder.0.path().join(name), &stored).unwrap_err();
        assert!(matches!(error, Error::Write { bad_path: true, .. }));
        assert!(error.to_string().contains(reason), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 0);
}
