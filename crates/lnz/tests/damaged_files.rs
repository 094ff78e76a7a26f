//! Damaged files: cut anywhere, changed anywhere, or lying about their size.
//!
//! The whole test program runs under a limit on memory, so that a reader that believes a lie is
//! stopped by an abort.

#[path = "support/writers.rs"]
mod writers;

use lnz::data::{DataOptions, DataSet};
use lnz::io::{StoredModel, read_model, write_model};
use lnz::{Rbm, Result};
use ndarray::{Array1, Array2};
use proptest::prelude::*;
use std::path::Path;
use std::sync::LazyLock;
use writers::{Storage, gzip, idx, npy_with, seeded, tensor, zip};

#[global_allocator]
static ALLOCATOR: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, 512 << 20);

static MODEL_FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(model_files);
static DATA_FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(data_files);

fn model() -> Rbm {
    let weights = Array2::from_shape_fn((5, 3), |(i, j)| (3 * i + j) as f64 / 7.0 - 1.0);
    Rbm::new(weights, Array1::linspace(-1.0, 1.0, 5), Array1::linspace(0.5, 2.0, 3)).unwrap()
}

/// The same model in every format.
fn model_files() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let mut stored = StoredModel::from(model());
    stored.metadata.insert("made".into(), "for a test".into());
    let written = ["npz", "safetensors", "mat"].map(|extension| {
        let path = folder.path().join(format!("model.{extension}"));
        write_model(&path, &stored).unwrap();
        std::fs::read(path).unwrap()
    });
    let tensors = [
        tensor("W", &[5, 3], model().weights().iter().copied().collect()),
        tensor("b", &[5], model().visible_bias().to_vec()),
        tensor("c", &[3], model().hidden_bias().to_vec()),
    ];
    let plain =
        Storage { float32: false, big_endian: false, column_major: false, compressed: false };
    let packed = Storage { compressed: true, big_endian: true, column_major: true, ..plain };
    let others = [
        writers::npz(&tensors, plain),
        writers::mat(&tensors, packed),
        writers::safetensors(&tensors, plain),
    ];
    [written, others].concat()
}

fn data_files() -> Vec<Vec<u8>> {
    let grey: Vec<u8> = (0..60).map(|value| value * 4).collect();
    let images = idx(8, &[6, 2, 5], &grey);
    let array = npy_with("'|u1'", true, "(6, 2, 5)", &grey);
    let text = b"+1 1:1 3:0.5 9:1\n-1\n+1 10:1\n".to_vec();
    let archive = zip(&[("x.npy".into(), array.clone()), ("y.npy".into(), array.clone())], true);
    vec![gzip(&images), gzip(&text), images, array, text, archive]
}

fn read_as_model(folder: &Path, content: &[u8]) -> Result<Rbm> {
    let path = folder.join("model");
    std::fs::write(&path, content).unwrap();
    read_model(&path, None).map(|file| file.stored.model)
}

fn read_as_data(folder: &Path, content: &[u8], width: Option<usize>) -> Result<Array2<f64>> {
    let path = folder.join("data");
    std::fs::write(&path, content).unwrap();
    let options = DataOptions { width, ..Default::default() };
    DataSet::read(&path, options).map(|data| data.rows().to_owned())
}

#[test]
fn a_model_cut_anywhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for content in &*MODEL_FILES {
        assert_eq!(read_as_model(folder.path(), content).unwrap(), model());
        for end in 0..content.len() {
            if let Ok(found) = read_as_model(folder.path(), &content[..end]) {
                panic!("{end} of {} bytes give {found:?}", content.len());
            }
        }
    }
}

#[test]
fn data_cut_anywhere_is_refused_unless_it_is_plain_text() {
    let folder = tempfile::tempdir().unwrap();
    for content in &*DATA_FILES {
        assert_eq!(read_as_data(folder.path(), content, Some(10)).unwrap().ncols(), 10);
        for end in 0..content.len() {
            let found = read_as_data(folder.path(), &content[..end], Some(10));
            assert!(found.is_err() || content.starts_with(b"+1"), "{end} of {}", content.len());
        }
    }
}

proptest! {
    #![proptest_config(seeded(500))]

    #[test]
    fn changed_bytes_never_do_more_than_fail(
        which in 0..6usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        width in prop::option::of(Just(10usize)),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let damage = |mut content: Vec<u8>| {
            for (place, byte) in &changes {
                let at = place.index(content.len());
                content[at] = *byte;
            }
            content
        };
        let _ = read_as_model(folder.path(), &damage(MODEL_FILES[which].clone()));
        let _ = read_as_data(folder.path(), &damage(DATA_FILES[which].clone()), width);
    }

    #[test]
    fn random_bytes_after_a_good_start_never_do_more_than_fail(
        start in prop::sample::select(vec![
            b"PK\x03\x04".to_vec(), b"\x93NUMPY\x01\x00".to_vec(), b"\x20\0\0\0\0\0\0\0{".to_vec(),
            [vec![b' '; 124], b"\0\x01IM".to_vec()].concat(), vec![0, 0, 8, 3],
            b"\x1f\x8b\x08\0".to_vec(), b"\xfd7zXZ\0".to_vec(), b"+1 ".to_vec(),
        ]),
        rest in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let content = [start, rest].concat();
        let _ = read_as_model(folder.path(), &content);
        let _ = read_as_data(folder.path(), &content, None);
    }
}

#[test]
fn shapes_that_lie_about_their_size_cost_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let shapes = [
        "(1000000, 1000)",
        "(40000, 40000)",
        "(9999999999, 9999999999)",
        "(2, 9999999999999999999)",
    ];
    for shape in shapes {
        for column_major in [false, true] {
            let lie = npy_with("'<f8'", column_major, shape, &[0; 64]);
            assert!(read_as_model(folder.path(), &lie).is_err());
            assert!(read_as_data(folder.path(), &lie, None).is_err());
            let packed = zip(&[("W.npy".into(), lie.clone())], true);
            assert!(read_as_model(folder.path(), &packed).is_err());
            assert!(read_as_data(folder.path(), &packed, None).is_err());
        }
    }
    let wide = idx(8, &[u32::MAX, u32::MAX, u32::MAX], &[0; 64]);
    assert!(read_as_data(folder.path(), &wide, None).is_err());
    assert!(read_as_data(folder.path(), b"+1 18446744073709551615:1\n", None).is_err());
}
