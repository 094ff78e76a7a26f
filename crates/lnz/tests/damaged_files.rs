//! Damaged files: cut anywhere, changed anywhere, or lying about their size.
//!
//! The whole test program runs under a limit on memory, so that a reader that believes a lie is
//! stopped by an abort.

#[path = "support/writers.rs"]
mod writers;

use lnz::data::{DataOptions, DataSet};
use lnz::io::{Format, StoredModel, read_model, write_model};
use lnz::{Rbm, Result};
use ndarray::{Array1, Array2};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
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
    let mut files = [written, others].concat();
    // The same model as other programs store it; tests/files/make.py has made these.
    for name in FOREIGN {
        files.push(std::fs::read(foreign(name)).unwrap());
    }
    files
}

const FOREIGN: [&str; 11] = [
    "checkpoint.pt",
    "legacy.pt",
    "object_0.pkl",
    "object_2.pkl",
    "object_5.pkl",
    "lists.pkl",
    "sklearn.joblib",
    "sklearn_packed.joblib",
    "rbms.h5",
    "packed.h5",
    "matlab73.mat",
];

fn foreign(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn data_files() -> Vec<Vec<u8>> {
    let grey: Vec<u8> = (0..60).map(|value| value * 4).collect();
    let images = idx(8, &[6, 2, 5], &grey);
    let array = npy_with("'|u1'", true, "(6, 2, 5)", &grey);
    let text = b"+1 1:1 3:0.5 9:1\n-1\n+1 10:1\n".to_vec();
    let archive = zip(&[("x.npy".into(), array.clone()), ("y.npy".into(), array.clone())], true);
    let table = b"a,b,c,d,e,f,g,h,i,j\n0,1,0,1,0,1,0,1,0.5,0\n1,1,1,1,1,1,1,1,1,1\n".to_vec();
    vec![gzip(&images), gzip(&text), gzip(&table), images, array, text, archive]
}

/// Writes a file that is not there any more: to write into one that is, thousands of times, would wait for the disk
/// each time, since ext4 puts a file that was emptied and filled again onto the disk when it is closed.
fn write_anew(path: &Path, content: &[u8]) {
    if path.exists() {
        std::fs::remove_file(path).unwrap();
    }
    std::fs::write(path, content).unwrap();
}

fn read_as_model(folder: &Path, content: &[u8]) -> Result<Rbm> {
    let path = folder.join("model");
    write_anew(&path, content);
    read_model(&path, None).map(|file| file.stored.model)
}

fn read_as_data(folder: &Path, content: &[u8], width: Option<usize>) -> Result<Array2<f64>> {
    let path = folder.join("data");
    write_anew(&path, content);
    let options = DataOptions { width, ..Default::default() };
    DataSet::read(&path, options).map(|data| data.rows().to_owned())
}

#[test]
fn a_model_cut_anywhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for content in &*MODEL_FILES {
        assert_eq!(read_as_model(folder.path(), content).unwrap(), model());
        // Long files are cut at every few bytes, so that this takes seconds.
        for end in (0..content.len()).step_by(1 + content.len() / 1500) {
            let path = folder.path().join("model");
            write_anew(&path, &content[..end]);
            let Ok(file) = read_model(&path, None) else { continue };
            // A .mat file has no end: cut between two variables, it is whole, but says what it
            // lacks. HDF5 may end in room that nothing is kept in.
            let is_whole = file.stored.model == model();
            let lacks_a_bias = !file.stored.notes.is_empty();
            assert!(is_whole || lacks_a_bias, "{end} of {} bytes give {file:?}", content.len());
            assert!(!is_whole || file.format == Format::Hdf5, "{end} of {}", content.len());
            assert!(!lacks_a_bias || file.format == Format::Mat, "{end} of {}", content.len());
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
    #![proptest_config(seeded(1500))]

    #[test]
    fn changed_bytes_never_do_more_than_fail(
        which in 0..17usize,
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
        let _ = read_as_data(folder.path(), &damage(DATA_FILES[which % DATA_FILES.len()].clone()), width);
    }

    #[test]
    fn random_bytes_after_a_good_start_never_do_more_than_fail(
        start in prop::sample::select(vec![
            b"PK\x03\x04".to_vec(), b"\x93NUMPY\x01\x00".to_vec(), b"\x20\0\0\0\0\0\0\0{".to_vec(),
            [vec![b' '; 124], b"\0\x01IM".to_vec()].concat(), vec![0, 0, 8, 3],
            b"\x1f\x8b\x08\0".to_vec(), b"\xfd7zXZ\0".to_vec(), b"+1 ".to_vec(),
            b"\x80\x04".to_vec(), b"\x80\x02]".to_vec(), b"ccopy_reg\n_reconstructor\n".to_vec(),
            b"\x81\xa6params\x82".to_vec(), b"MARKOV\n2\n2 2\n1\n".to_vec(), b"0.5,1\n".to_vec(),
            b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0".to_vec(),
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

#[test]
fn sides_without_values_cost_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    for (shape, column_major) in [
        ("(4294967296, 0)", false),
        ("(0, 4294967296)", false),
        ("(1, 4294967296, 0)", true),
        ("(4294967296, 4294967296, 0)", true),
    ] {
        let lie = npy_with("'<f8'", column_major, shape, &[]);
        for content in [lie.clone(), zip(&[("W.npy".into(), lie)], true)] {
            assert!(read_as_model(folder.path(), &content).is_err(), "{shape}");
            assert!(read_as_data(folder.path(), &content, None).is_err(), "{shape}");
        }
    }
}

/// The limit on memory of this program would end it if a reader took in 5 GB.
#[test]
fn large_files_are_not_read_before_their_headers() {
    let folder = tempfile::tempdir().unwrap();
    let starts: [&[u8]; 4] = [
        &[&[b' '; 124][..], b"\0\x01IM"].concat(),
        &[&8u64.to_le_bytes()[..], b"{      }"].concat(),
        b"\x80\x04\x95",
        b"\x89HDF\r\n\x1a\n",
    ];
    for start in starts {
        let path = folder.path().join("large");
        std::fs::write(&path, start).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(5 << 30).unwrap();
        assert!(read_model(&path, None).is_err());
        let options = DataOptions::default();
        assert!(DataSet::read(&path, options).is_err());
    }
}

#[cfg(unix)]
#[test]
fn an_endless_device_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("zero.npz");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    let model = read_model(&link, None).unwrap_err().to_string();
    assert!(model.ends_with("is a device, expected a model file"), "{model}");
    let data = DataSet::read(&link, DataOptions::default()).unwrap_err().to_string();
    assert!(data.ends_with("is a device, expected a data file"), "{data}");
}

#[test]
fn a_few_bytes_of_text_ask_for_no_gigabytes() {
    let folder = tempfile::tempdir().unwrap();
    let problem = read_as_data(folder.path(), b"+1 16777216:1\n", None).unwrap_err().to_string();
    assert!(problem.contains("index 16777216 in 14 bytes"), "{problem}");
    // A model of that width may still be scored on it.
    assert!(read_as_data(folder.path(), b"+1 65536:1\n", None).is_ok());
}

#[test]
fn pickles_that_point_in_circles_or_nest_without_end_are_no_danger() {
    let folder = tempfile::tempdir().unwrap();
    // A list that holds itself.
    let circle = b"\x80\x02]q\0h\0a.".to_vec();
    // Lists in lists, and calls in calls.
    let nested =
        [b"\x80\x02".to_vec(), vec![b']'; 100_000], vec![b'a'; 99_999], b".".to_vec()].concat();
    let call = b"ctorch._utils\n_rebuild_parameter\n".repeat(20_000);
    let calls = [b"\x80\x02".to_vec(), call, b"N".to_vec(), b"\x85R".repeat(20_000), b".".to_vec()]
        .concat();
    // A list of 100 lists of 100 lists ... of the same one: 100^30 paths.
    let mut wide = b"\x80\x02]q\0".to_vec();
    for _ in 0..30 {
        wide.extend(b"]q\x01(".iter().chain(&b"h\0".repeat(100)).chain(b"eq\0"));
    }
    wide.push(b'.');
    for content in [circle, nested, calls, wide] {
        assert!(read_as_model(folder.path(), &content).is_err());
    }
}
