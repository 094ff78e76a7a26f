//! The .npz format: a zip archive of .npy arrays.

use super::archive::{Archive, Entry, expect_end};
use super::input::Input;
use super::npy::{self, Header};
use super::number::{count_values, not_unpacked};
use super::tensors::{TensorInfo, TensorSource, check_expansion};
use super::{Parsed, StoredModel};
use ndarray::{ArrayD, ArrayViewD};
use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Write};
use zip::write::{SimpleFileOptions, ZipWriter};

/// Entry with the words of a model; numpy shows it as bytes under this name.
const METADATA: &str = "metadata.json";

/// Words beyond this are not a model's.
const LONGEST_METADATA: u64 = 1 << 20;

/// An opened .npz file.
pub(crate) struct NpzFile {
    archive: Archive,
    arrays: Vec<(Entry, Header)>,
    tensors: Vec<TensorInfo>,
    file_bytes: u64,
}

impl NpzFile {
    pub(crate) fn open(input: &Input) -> Parsed<Self> {
        let archive = Archive::open(input)?;
        let (mut arrays, mut tensors) = (Vec::new(), Vec::new());
        for entry in &archive.entries {
            let Some(name) = entry.name.strip_suffix(".npy") else { continue };
            let about = |problem| format!("its array `{name}` {problem}");
            let mut stream = archive.stream(entry).map_err(|error| about(error.to_string()))?;
            let header = Header::read(&mut stream).map_err(about)?;
            tensors.push(header.info(name));
            arrays.push((entry.clone(), header));
        }
        if arrays.is_empty() {
            return Err(
                "is a zip archive without .npy arrays (a PyTorch file?); save the parameters by numpy.savez or as .safetensors".to_owned()
            );
        }
        Ok(Self { archive, arrays, tensors, file_bytes: input.bytes })
    }

    /// The text of an array that holds nothing else, such as a format by name.
    pub(crate) fn text(&self, index: usize) -> Parsed<String> {
        let mut stream =
            self.archive.stream(&self.arrays[index].0).map_err(|error| error.to_string())?;
        Header::read(&mut stream)?;
        let mut bytes = Vec::new();
        let read = stream.take(64).read_to_end(&mut bytes);
        read.map_err(|error| not_unpacked(&error))?;
        // numpy stores text in one or four bytes for each letter.
        bytes.retain(|&byte| byte != 0);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The header of an array, and the stream of its values after a check of their number.
    pub(crate) fn stream(&self, index: usize) -> Parsed<(&Header, Box<dyn Read + Send>)> {
        let (entry, header) = &self.arrays[index];
        let promised = header.total_bytes()?;
        if promised != entry.size {
            return Err(format!(
                "has {} bytes, but its header promises {promised}; the file is damaged",
                entry.size
            ));
        }
        let mut stream = self.archive.stream(entry).map_err(|error| error.to_string())?;
        Header::read(&mut stream)?;
        Ok((header, stream))
    }
}

impl TensorSource for NpzFile {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn values(&mut self, index: usize) -> Parsed<ArrayD<f64>> {
        let (header, mut stream) = self.stream(index)?;
        check_expansion(count_values(&header.shape)?, self.file_bytes)?;
        let values = header.read_values(&mut stream)?;
        expect_end(&mut stream)?;
        Ok(values)
    }

    fn metadata(&self) -> BTreeMap<String, String> {
        let entry = self.archive.entries.iter().find(|entry| entry.name == METADATA);
        let stream = entry.and_then(|entry| self.archive.stream(entry).ok());
        // An entry of this name that holds something else belongs to somebody else.
        stream
            .and_then(|stream| serde_json::from_reader(stream.take(LONGEST_METADATA)).ok())
            .unwrap_or_default()
    }
}

/// Writes a model, deflated.
pub(super) fn write(writer: &mut dyn Write, stored: &StoredModel) -> io::Result<()> {
    let options = options();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for tensor in stored.to_tensors() {
        zip.start_file(format!("{}.npy", tensor.name), options.large_file(tensor.is_large()))?;
        npy::write(&mut zip, &tensor.shape, tensor.values.iter().copied())?;
    }
    if !stored.metadata.is_empty() {
        zip.start_file(METADATA, options)?;
        zip.write_all(&serde_json::to_vec_pretty(&stored.metadata)?)?;
    }
    writer.write_all(zip.finish()?.get_ref())
}

/// The time of writing is left out, so that the same values give the same bytes.
fn options() -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::default())
}

/// Arrays of 0 and 1 or of other small numbers, by name.
pub(super) fn write_bytes(
    writer: &mut dyn Write,
    arrays: &[(&str, ArrayViewD<'_, u8>)],
) -> io::Result<()> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, array) in arrays {
        let is_large = array.len() > u32::MAX as usize;
        zip.start_file(format!("{name}.npy"), options().large_file(is_large))?;
        let bytes: Vec<u8> = array.iter().copied().collect();
        npy::write_bytes(&mut zip, array.shape(), &bytes)?;
    }
    writer.write_all(zip.finish()?.get_ref())
}
