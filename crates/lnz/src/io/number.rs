//! Numbers as files store them, and their way to `f64`.

use super::Parsed;
use half::{bf16, f16};
use std::io::Read;

/// More values than this in one tensor (16 GiB as `f64`) is taken for a header that lies.
pub(crate) const MAX_VALUES: usize = 1 << 31;

/// A type of number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    BF16,
    F32,
    F64,
}

impl Number {
    /// Bytes of one value.
    pub(crate) fn size(self) -> usize {
        match self {
            Number::Bool | Number::U8 | Number::I8 => 1,
            Number::U16 | Number::I16 | Number::F16 | Number::BF16 => 2,
            Number::U32 | Number::I32 | Number::F32 => 4,
            Number::U64 | Number::I64 | Number::F64 => 8,
        }
    }

    /// The name people know it by (numpy's).
    pub(crate) fn name(self) -> &'static str {
        match self {
            Number::Bool => "bool",
            Number::U8 => "uint8",
            Number::I8 => "int8",
            Number::U16 => "uint16",
            Number::I16 => "int16",
            Number::U32 => "uint32",
            Number::I32 => "int32",
            Number::U64 => "uint64",
            Number::I64 => "int64",
            Number::F16 => "float16",
            Number::BF16 => "bfloat16",
            Number::F32 => "float32",
            Number::F64 => "float64",
        }
    }
}

/// Order of the bytes of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

/// A type of number together with its byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encoding {
    pub(crate) number: Number,
    pub(crate) endian: Endian,
}

impl Encoding {
    /// Appends the values of `bytes`, whose length is a multiple of the size of one value.
    pub(crate) fn decode(self, bytes: &[u8], values: &mut Vec<f64>) {
        // `as f64` is exact for all types but 64-bit integers beyond 2^53.
        macro_rules! each {
            ($type:ty, $to_f64:expr) => {{
                let to_f64 = $to_f64;
                let (chunks, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                match self.endian {
                    Endian::Little => {
                        values.extend(chunks.iter().map(|&b| to_f64(<$type>::from_le_bytes(b))))
                    }
                    Endian::Big => {
                        values.extend(chunks.iter().map(|&b| to_f64(<$type>::from_be_bytes(b))))
                    }
                }
            }};
        }
        match self.number {
            Number::Bool => values.extend(bytes.iter().map(|&b| f64::from(u8::from(b != 0)))),
            Number::U8 => values.extend(bytes.iter().map(|&b| f64::from(b))),
            Number::I8 => each!(i8, f64::from),
            Number::U16 => each!(u16, f64::from),
            Number::I16 => each!(i16, f64::from),
            Number::U32 => each!(u32, f64::from),
            Number::I32 => each!(i32, f64::from),
            Number::U64 => each!(u64, |v| v as f64),
            Number::I64 => each!(i64, |v| v as f64),
            Number::F16 => each!(f16, f16::to_f64),
            Number::BF16 => each!(bf16, bf16::to_f64),
            Number::F32 => each!(f32, f64::from),
            Number::F64 => each!(f64, |v| v),
        }
    }

    /// Reads `count` values; memory grows with the bytes that are really there.
    pub(crate) fn read(self, reader: &mut dyn Read, count: usize) -> Parsed<Vec<f64>> {
        let size = self.number.size();
        let mut chunk = vec![0; size * count.min(8192)];
        let mut values = Vec::new();
        while values.len() < count {
            let bytes = &mut chunk[..size * (count - values.len()).min(8192)];
            reader.read_exact(bytes).map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => {
                    format!("ends before its {count} values do; the file is cut short or damaged")
                }
                _ => not_unpacked(&error),
            })?;
            self.decode(bytes, &mut values);
        }
        Ok(values)
    }
}

/// Why bytes that are packed cannot be read.
pub(crate) fn not_unpacked(error: &std::io::Error) -> String {
    format!("cannot be unpacked ({error}); the file is damaged")
}

/// Why a tensor has no values: what it holds instead.
pub(crate) fn not_numbers(found: impl std::fmt::Display) -> String {
    format!("holds {found}, expected real numbers")
}

/// Number of values of a shape, unless it cannot be real.
pub(crate) fn count_values(shape: &[usize]) -> Parsed<usize> {
    let count = shape.iter().try_fold(1usize, |product, &n| product.checked_mul(n));
    count.filter(|&count| count <= MAX_VALUES).ok_or_else(|| {
        format!(
            "claims the shape {}, more than the {MAX_VALUES} values that can be read; the file is damaged",
            shape_in_words(shape)
        )
    })
}

/// `784 x 500`, or what stands for shapes without two sides.
pub(crate) fn shape_in_words(shape: &[usize]) -> String {
    match shape {
        [] => "one number".to_owned(),
        [n] => format!("{n} values"),
        _ => shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(number: Number, endian: Endian, bytes: &[u8]) -> Vec<f64> {
        let mut values = Vec::new();
        Encoding { number, endian }.decode(bytes, &mut values);
        values
    }

    #[test]
    fn every_type_is_decoded_in_both_byte_orders() {
        use Endian::{Big, Little};
        assert_eq!(decoded(Number::Bool, Little, &[0, 1, 7]), [0.0, 1.0, 1.0]);
        assert_eq!(decoded(Number::U8, Big, &[200]), [200.0]);
        assert_eq!(decoded(Number::I8, Big, &[200]), [-56.0]);
        assert_eq!(decoded(Number::U16, Big, &[1, 2]), [258.0]);
        assert_eq!(decoded(Number::I16, Little, &[0xfe, 0xff]), [-2.0]);
        assert_eq!(decoded(Number::U32, Little, &3u32.to_le_bytes()), [3.0]);
        assert_eq!(decoded(Number::I32, Big, &(-3i32).to_be_bytes()), [-3.0]);
        assert_eq!(decoded(Number::U64, Little, &9u64.to_le_bytes()), [9.0]);
        assert_eq!(decoded(Number::I64, Big, &(-9i64).to_be_bytes()), [-9.0]);
        assert_eq!(decoded(Number::F16, Big, &[0x3e, 0x00]), [1.5]);
        assert_eq!(decoded(Number::BF16, Little, &[0xc0, 0x3f]), [1.5]);
        assert_eq!(decoded(Number::F32, Big, &0.25f32.to_be_bytes()), [0.25]);
        assert_eq!(decoded(Number::F64, Little, &0.1f64.to_le_bytes()), [0.1]);
    }

    #[test]
    fn a_shape_that_cannot_be_real_is_refused() {
        assert_eq!(count_values(&[3, 4]), Ok(12));
        assert_eq!(count_values(&[]), Ok(1));
        assert_eq!(count_values(&[0, usize::MAX]), Ok(0));
        assert!(count_values(&[usize::MAX, 2]).unwrap_err().contains("18446744073709551615 x 2"));
        assert!(count_values(&[1 << 20, 1 << 20]).is_err());
    }

    #[test]
    fn missing_bytes_are_noticed_without_reserving_for_them() {
        let encoding = Encoding { number: Number::F64, endian: Endian::Little };
        let problem = encoding.read(&mut &[0u8; 80][..], MAX_VALUES).unwrap_err();
        assert!(problem.starts_with("ends before its 2147483648 values do"), "{problem}");
    }
}
