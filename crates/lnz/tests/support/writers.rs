//! What the tests of files share: minimal writers, independent of the library's own.

#![allow(dead_code)] // Each test program uses its share.

use proptest::test_runner::{Config, RngSeed};
use std::io::Write;
use std::path::PathBuf;

/// The same cases on every run; a failure then needs no file to be repeated.
pub(crate) fn seeded(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(2024), failure_persistence: None, ..Config::default() }
}

/// How an array is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Storage {
    pub(crate) float32: bool,
    pub(crate) big_endian: bool,
    pub(crate) column_major: bool,
    pub(crate) compressed: bool,
}

pub(crate) const PLAIN: Storage =
    Storage { float32: false, big_endian: false, column_major: false, compressed: false };

/// A folder of files that is gone with the test.
pub(crate) struct Folder(pub(crate) tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn with(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

/// A matrix or, with one side, a vector; values are in row-major order.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

pub(crate) fn tensor(name: &str, shape: &[usize], values: Vec<f64>) -> Tensor {
    Tensor { name: name.to_owned(), shape: shape.to_vec(), values }
}

impl Tensor {
    fn bytes(&self, storage: Storage) -> Vec<u8> {
        let mut values = self.values.clone();
        if let (true, [rows, columns]) = (storage.column_major, &self.shape[..]) {
            let places = (0..*columns).flat_map(|j| (0..*rows).map(move |i| i * columns + j));
            values = places.map(|at| self.values[at]).collect();
        }
        let encode = |value: f64| match (storage.float32, storage.big_endian) {
            (false, false) => value.to_le_bytes().to_vec(),
            (false, true) => value.to_be_bytes().to_vec(),
            (true, false) => (value as f32).to_le_bytes().to_vec(),
            (true, true) => (value as f32).to_be_bytes().to_vec(),
        };
        values.into_iter().flat_map(encode).collect()
    }
}

/// A .npy file with this header and content.
pub(crate) fn npy_with(descr: &str, column_major: bool, shape: &str, content: &[u8]) -> Vec<u8> {
    let order = if column_major { "True" } else { "False" };
    let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), content].concat()
}

pub(crate) fn npy(tensor: &Tensor, storage: Storage) -> Vec<u8> {
    let order = if storage.big_endian { '>' } else { '<' };
    let size = if storage.float32 { 4 } else { 8 };
    let sides: String = tensor.shape.iter().map(|side| format!("{side},")).collect();
    let descr = format!("'{order}f{size}'");
    npy_with(&descr, storage.column_major, &format!("({sides})"), &tensor.bytes(storage))
}

/// A zip archive of these files.
pub(crate) fn zip(entries: &[(String, Vec<u8>)], compressed: bool) -> Vec<u8> {
    use zip::{CompressionMethod, write::SimpleFileOptions};
    let method = if compressed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let options = SimpleFileOptions::default().compression_method(method);
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub(crate) fn npz(tensors: &[Tensor], storage: Storage) -> Vec<u8> {
    let entries: Vec<_> =
        tensors.iter().map(|t| (format!("{}.npy", t.name), npy(t, storage))).collect();
    zip(&entries, storage.compressed)
}

pub(crate) fn safetensors(tensors: &[Tensor], storage: Storage) -> Vec<u8> {
    use safetensors::{Dtype, tensor::TensorView};
    let plain = Storage { big_endian: false, column_major: false, ..storage };
    let bytes: Vec<_> = tensors.iter().map(|tensor| tensor.bytes(plain)).collect();
    let dtype = if storage.float32 { Dtype::F32 } else { Dtype::F64 };
    let views = tensors.iter().zip(&bytes).map(|(tensor, bytes)| {
        (&tensor.name, TensorView::new(dtype, tensor.shape.clone(), bytes).unwrap())
    });
    safetensors::serialize(views, None).unwrap()
}

/// A MATLAB file of version 5; vectors become rows.
pub(crate) fn mat(tensors: &[Tensor], storage: Storage) -> Vec<u8> {
    let word = |value: u32| match storage.big_endian {
        true => value.to_be_bytes(),
        false => value.to_le_bytes(),
    };
    let element = |kind: u32, content: &[u8]| {
        let mut bytes = [word(kind), word(content.len() as u32)].concat();
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    };
    let mut file = vec![b' '; 124];
    file.extend(if storage.big_endian { [1, 0, b'M', b'I'] } else { [0, 1, b'I', b'M'] });
    for tensor in tensors {
        let (rows, columns) = match tensor.shape[..] {
            [rows, columns] => (rows, columns),
            _ => (1, tensor.values.len()),
        };
        let (class, kind) = if storage.float32 { (7, 7) } else { (6, 9) };
        let content = [
            element(6, &[word(class), word(0)].concat()),
            element(5, &[word(rows as u32), word(columns as u32)].concat()),
            element(1, tensor.name.as_bytes()),
            element(kind, &tensor.bytes(Storage { column_major: true, ..storage })),
        ];
        let matrix = element(14, &content.concat());
        if storage.compressed {
            let mut zlib =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            zlib.write_all(&matrix).unwrap();
            let packed = zlib.finish().unwrap();
            file.extend([word(15), word(packed.len() as u32)].concat());
            file.extend(packed);
        } else {
            file.extend(matrix);
        }
    }
    file
}

pub(crate) fn idx(kind: u8, shape: &[u32], content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, kind, shape.len() as u8];
    bytes.extend(shape.iter().flat_map(|side| side.to_be_bytes()));
    bytes.extend(content);
    bytes
}

pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(content).unwrap();
    gzip.finish().unwrap()
}
