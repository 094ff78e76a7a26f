//! Data files: the same rows from every format, and every kind of bad input.

use crate::writers::{Storage, gzip, idx, npy, npy_with, npz, seeded, tensor, zip};
use lnz::Error;
use lnz::data::{DataOptions, DataReader, DataSet, means};
use ndarray::{Array2, Axis};
use proptest::prelude::*;
use std::num::NonZeroUsize;

/// Grey values, at least one of them above 1.
fn images() -> impl Strategy<Value = Array2<u8>> {
    (1..9usize, 1..9usize).prop_flat_map(|(rows, columns)| {
        prop::collection::vec(any::<u8>(), rows * columns).prop_map(move |mut values| {
            values[0] |= 2;
            Array2::from_shape_vec((rows, columns), values).unwrap()
        })
    })
}

fn read(content: &[u8], width: Option<usize>) -> lnz::Result<Array2<f64>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    std::fs::write(&path, content).unwrap();
    let options = DataOptions { width, ..Default::default() };
    DataSet::read(&path, options).map(|data| data.rows().to_owned())
}

fn problem(content: &[u8], width: Option<usize>) -> String {
    let error = read(content, width).unwrap_err();
    assert!(matches!(error, Error::File { .. } | Error::Width { .. }));
    let message = error.to_string();
    assert!(message.contains("/data") && !message.contains('\n'), "{message}");
    message
}

fn libsvm(rows: &Array2<f64>) -> String {
    let line = |row: ndarray::ArrayView1<'_, f64>| {
        let pairs = row.iter().enumerate().filter(|(_, value)| **value != 0.0);
        pairs.fold("+1".to_owned(), |line, (at, value)| format!("{line} {}:{value}", at + 1))
    };
    rows.rows().into_iter().map(|row| line(row) + "\n").collect()
}

proptest! {
    #![proptest_config(seeded(100))]

    #[test]
    fn every_format_gives_the_same_rows(
        images in images(),
        [big_endian, column_major, compressed] in any::<[bool; 3]>(),
    ) {
        let (rows, columns) = images.dim();
        let expected = images.mapv(|value| f64::from(value) / 255.0);
        let bytes = images.as_slice().unwrap();
        let by_columns: Vec<u8> = images.t().iter().copied().collect();
        let shape = format!("({rows}, {columns})");
        let storage = Storage { float32: false, big_endian, column_major, compressed };
        let floats = tensor("x", &[rows, columns], expected.iter().copied().collect());
        let labels = tensor("y", &[rows], vec![7.0; rows]);
        let files = [
            idx(8, &[rows as u32, 1, columns as u32], bytes),
            npy_with("'|u1'", false, &shape, bytes),
            npy_with("'|u1'", true, &shape, &by_columns),
            npy(&floats, storage),
            npz(&[floats, labels], storage),
            libsvm(&expected).into_bytes(),
        ];
        for content in &files {
            prop_assert_eq!(&read(content, Some(columns)).unwrap(), &expected);
        }
        for content in [&files[0], &files[1], &files[5]] {
            prop_assert_eq!(&read(&gzip(content), Some(columns)).unwrap(), &expected);
        }
    }

    #[test]
    fn batches_of_any_size_join_to_the_whole(images in images(), size in 1..10usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let (rows, columns) = images.dim();
        let content = idx(8, &[rows as u32, columns as u32], images.as_slice().unwrap());
        std::fs::write(&path, content).unwrap();
        let mut reader = DataReader::open(&path, DataOptions::default()).unwrap();
        prop_assert_eq!((reader.row_count(), reader.width()), (Some(rows), columns));
        let mut joined = Array2::zeros((0, columns));
        while let Some(batch) = reader.next_batch(NonZeroUsize::new(size).unwrap()).unwrap() {
            prop_assert!(batch.nrows() <= size);
            joined.append(Axis(0), batch.view()).unwrap();
        }
        let expected = images.mapv(|value| f64::from(value) / 255.0);
        prop_assert_eq!(&joined, &expected);
        let found = means(&path, DataOptions::default()).unwrap();
        let difference = (found - expected.mean_axis(Axis(0)).unwrap()).mapv(f64::abs).sum();
        prop_assert!(difference < 1e-14 * columns as f64);
    }
}

#[test]
fn bad_data_is_refused_with_its_place() {
    let float = |value: f64| {
        npy_with("'<f8'", false, "(1, 2)", &[0.5, value].map(f64::to_le_bytes).concat())
    };
    assert!(
        problem(&float(1.5), None).contains("row 1, column 2 is 1.5; expected values from 0 to 1")
    );
    assert!(problem(&float(f64::NAN), None).contains("row 1, column 2 is NaN"));
    assert!(
        problem(&float(0.0), Some(3)).contains("has 2 columns, but the model has 3 visible units")
    );
    assert!(problem(b"1 1:1\n-1 4:1\n", Some(3)).contains("line 2 has index 4"));
    assert!(problem(b"1 1:1\n-1 0:1\n", None).contains("line 2 has index 0"));
    assert!(problem(b"a b\n0,0,1\n", None).contains("line 1 has \"a\" where the label"));
    assert!(problem(b"", None).contains("is empty"));
    assert!(problem(&idx(8, &[0, 2], &[]), None).contains("holds no values"));
    assert!(problem(&idx(8, &[3, 2], &[1; 5]), None).contains("row 3 of the 3"));
    assert!(problem(&idx(8, &[3], &[1; 3]), None).contains("labels?"));
    assert!(problem(&gzip(&idx(8, &[9, 9], &[1; 81]))[..20], None).contains("cut short"));
}

#[test]
fn an_archive_must_say_which_array_is_the_data() {
    let array = |name: &str| (format!("{name}.npy"), npy_with("'|b1'", false, "(1, 2)", &[1, 0]));
    assert!(read(&zip(&[array("anything")], true), None).is_ok());
    assert!(read(&zip(&[array("labels"), array("train")], true), None).is_ok());
    let both = problem(&zip(&[array("a"), array("b")], true), None);
    assert!(both.contains("has the arrays `a`, `b`; expected exactly one of"), "{both}");
    assert!(problem(&zip(&[array("x"), array("data")], true), None).contains("exactly one"));
}
