//! The .safetensors format: a JSON header, then the bytes of all tensors.

use super::input::{Input, Reader};
use super::number::{Encoding, Endian, Number, count_values, not_numbers};
use super::tensors::{Order, TensorInfo, TensorSource};
use super::{Float, Parsed, StoredModel, Tensor};
use ::safetensors::tensor::Metadata;
use ::safetensors::{Dtype, SafeTensorError};
use ndarray::ArrayD;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// An opened .safetensors file; values are read on demand.
pub(super) struct SafetensorsFile {
    file: Reader,
    tensors: Vec<TensorInfo>,
    /// How each tensor is stored, and where in the file.
    places: Vec<(Option<Encoding>, Range<u64>)>,
    metadata: BTreeMap<String, String>,
}

/// The library refuses longer headers.
const LONGEST_HEADER: u64 = 100_000_000;

impl SafetensorsFile {
    /// Reads the header, and no values.
    pub(super) fn open(input: &Input) -> Parsed<Self> {
        let mut file = input.open().map_err(|error| format!("cannot be read: {error}"))?;
        let header = header(&mut file, input.bytes)?;
        Self::new(&header, file, input.bytes)
    }

    fn new(json: &[u8], file: Reader, total: u64) -> Parsed<Self> {
        refuse_duplicates(json)?;
        let header: Metadata = serde_json::from_slice(json)
            .map_err(|error| problem(&SafeTensorError::InvalidHeaderDeserialization(error)))?;
        let start = 8 + json.len() as u64;
        if start.checked_add(header.data_len() as u64) != Some(total) {
            return Err(problem(&SafeTensorError::MetadataIncompleteBuffer));
        }
        let mut listed: Vec<_> = header.tensors().into_iter().collect();
        listed.sort_by(|(left, _), (right, _)| left.cmp(right));
        let (mut tensors, mut places) = (Vec::new(), Vec::new());
        for (name, info) in listed {
            let number = number(info.dtype);
            let (from, to) = info.data_offsets;
            let encoding = number.map(|number| Encoding { number, endian: Endian::Little });
            places.push((encoding, start + from as u64..start + to as u64));
            tensors.push(TensorInfo {
                name,
                shape: info.shape.clone(),
                dtype: number.map_or_else(|| info.dtype.to_string(), |n| n.name().to_owned()),
                order: Order::RowMajor,
            });
        }
        let metadata = header.metadata().clone().unwrap_or_default().into_iter().collect();
        Ok(Self { file, tensors, places, metadata })
    }
}

/// The JSON at the start of a file of so many bytes.
fn header(reader: &mut dyn Read, total: u64) -> Parsed<Vec<u8>> {
    let mut length = [0; 8];
    reader.read_exact(&mut length).map_err(|_| problem(&SafeTensorError::HeaderTooSmall))?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST_HEADER {
        return Err(problem(&SafeTensorError::HeaderTooLarge));
    }
    if length > total.saturating_sub(8) {
        return Err(problem(&SafeTensorError::InvalidHeaderLength));
    }
    let mut json = vec![0; length as usize];
    reader.read_exact(&mut json).map_err(|_| problem(&SafeTensorError::InvalidHeaderLength))?;
    Ok(json)
}

impl TensorSource for SafetensorsFile {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn values(&mut self, index: usize) -> Parsed<ArrayD<f64>> {
        let info = &self.tensors[index];
        let (encoding, place) = &self.places[index];
        let encoding =
            encoding.ok_or_else(|| not_numbers(format_args!("{} values", info.dtype)))?;
        let count = count_values(&info.shape)?;
        let moved = self.file.seek(SeekFrom::Start(place.start));
        moved.map_err(|error| format!("cannot be read: {error}"))?;
        let mut reader = BufReader::with_capacity(1 << 16, &mut self.file);
        let values = encoding.read(&mut reader, count)?;
        info.order.arrange(&info.shape, values)
    }

    fn metadata(&self) -> BTreeMap<String, String> {
        self.metadata.clone()
    }
}

fn number(dtype: Dtype) -> Option<Number> {
    Some(match dtype {
        Dtype::BOOL => Number::Bool,
        Dtype::U8 => Number::U8,
        Dtype::I8 => Number::I8,
        Dtype::U16 => Number::U16,
        Dtype::I16 => Number::I16,
        Dtype::U32 => Number::U32,
        Dtype::I32 => Number::I32,
        Dtype::U64 => Number::U64,
        Dtype::I64 => Number::I64,
        Dtype::F16 => Number::F16,
        Dtype::BF16 => Number::BF16,
        Dtype::F32 => Number::F32,
        Dtype::F64 => Number::F64,
        _ => return None,
    })
}

fn problem(error: &SafeTensorError) -> String {
    format!("is not a valid .safetensors file ({error}); it may be cut short or damaged")
}

/// The format forbids a name twice; JSON readers keep the last one without a word.
fn refuse_duplicates(json: &[u8]) -> Parsed<()> {
    struct Unique;
    impl<'de> Visitor<'de> for Unique {
        type Value = Option<String>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let (mut seen, mut twice) = (HashSet::new(), None);
            while let Some((name, _)) = map.next_entry::<String, IgnoredAny>()? {
                if let Some(name) = seen.replace(name) {
                    twice = Some(name);
                }
            }
            Ok(twice)
        }
    }
    let mut json = serde_json::Deserializer::from_slice(json);
    match serde::Deserializer::deserialize_map(&mut json, Unique) {
        Ok(Some(name)) => Err(format!("has two tensors named `{name}`; save it again")),
        _ => Ok(()),
    }
}

/// Writes a model; the same model gives the same bytes.
pub(super) fn write(writer: &mut dyn Write, stored: &StoredModel) -> io::Result<()> {
    write_as(writer, &stored.metadata, &stored.to_tensors(), Float::F64)
}

/// Writes tensors, the parameters among them in this type.
pub(super) fn write_as(
    writer: &mut dyn Write,
    metadata: &BTreeMap<String, String>,
    tensors: &[Tensor],
    float: Float,
) -> io::Result<()> {
    // The safetensors crate writes metadata in the random order of a hash map; this header is sorted.
    let float_of = |tensor: &Tensor| if tensor.is_parameter() { float } else { Float::F64 };
    let mut header = serde_json::Map::new();
    if !metadata.is_empty() {
        header.insert("__metadata__".to_owned(), serde_json::to_value(metadata)?);
    }
    let mut start = 0;
    for tensor in tensors {
        let float = float_of(tensor);
        let end = start + float.bytes() * tensor.values.len();
        let dtype = float.dtype();
        let place = serde_json::json!({"dtype": dtype, "shape": tensor.shape, "data_offsets": [start, end]});
        header.insert(tensor.name.to_owned(), place);
        start = end;
    }
    let mut header = serde_json::to_vec(&header)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    writer.write_all(&(header.len() as u64).to_le_bytes())?;
    writer.write_all(&header)?;
    for tensor in tensors {
        let float = float_of(tensor);
        for &value in &tensor.values {
            match float {
                Float::F64 => writer.write_all(&value.to_le_bytes())?,
                Float::F32 => writer.write_all(&(value as f32).to_le_bytes())?,
                Float::F16 => writer.write_all(&half::f16::from_f64(value).to_le_bytes())?,
            }
        }
    }
    Ok(())
}

impl Float {
    fn bytes(self) -> usize {
        match self {
            Float::F64 => 8,
            Float::F32 => 4,
            Float::F16 => 2,
        }
    }

    fn dtype(self) -> &'static str {
        match self {
            Float::F64 => "F64",
            Float::F32 => "F32",
            Float::F16 => "F16",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: Vec<u8>) -> Parsed<SafetensorsFile> {
        SafetensorsFile::open(&Input::of_bytes(&bytes))
    }

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
    }

    #[test]
    fn half_precision_is_read() {
        let header = r#"{"f":{"dtype":"F16","shape":[1],"data_offsets":[0,2]},
            "g":{"dtype":"BF16","shape":[1,1],"data_offsets":[2,4]}}"#;
        let mut file = parse(file(header, &[0, 0x3e, 0xc0, 0x3f])).unwrap();
        assert_eq!(file.values(0).unwrap().into_raw_vec_and_offset().0, [1.5]);
        assert_eq!(file.values(1).unwrap().into_raw_vec_and_offset().0, [1.5]);
        assert_eq!(file.tensors()[1].dtype, "bfloat16");
    }

    #[test]
    fn a_name_twice_is_refused() {
        let one = r#""W":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#;
        let problem = parse(file(&format!("{{{one},{one}}}"), &[0])).err().unwrap();
        assert_eq!(problem, "has two tensors named `W`; save it again");
    }

    #[test]
    fn lies_about_sizes_are_refused() {
        let lie = |text: &str| parse(file(text, &[0; 8])).is_err();
        assert!(!lie(r#"{"W":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#));
        assert!(lie(r#"{"W":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}}"#));
        assert!(lie(r#"{"W":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}"#));
        assert!(lie(
            r#"{"W":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,8]}}"#
        ));
        assert!(parse(u64::MAX.to_le_bytes().to_vec()).is_err());
        assert!(parse(vec![1, 2]).is_err());
    }
}
