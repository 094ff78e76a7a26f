//! Writing MATLAB files of version 5.

use super::elements::{DOUBLE, DOUBLE_CLASS, HEADER_BYTES, INT8, INT32, MATRIX, UINT32};
use crate::io::StoredModel;
use std::io::{self, Write};

/// Writes a model under the names of the well-known MATLAB code for RBMs; words are left out.
pub(in crate::io) fn write(writer: &mut dyn Write, stored: &StoredModel) -> io::Result<()> {
    let mut header = [b' '; HEADER_BYTES];
    let text = b"MATLAB 5.0 MAT-file, written by lnz";
    header[..text.len()].copy_from_slice(text);
    header[116..124].fill(0);
    header[124..].copy_from_slice(&[0, 1, b'I', b'M']);
    writer.write_all(&header)?;
    for tensor in stored.to_tensors() {
        let name = match tensor.name {
            "weights" => "vishid",
            "visible_bias" => "visbiases",
            "hidden_bias" => "hidbiases",
            other => other,
        };
        // MATLAB has no fewer than two dimensions; a vector is a row, as that code expects.
        let (rows, columns) = match tensor.shape[..] {
            [rows, columns] => (rows, columns),
            _ => (1, tensor.values.len()),
        };
        let by_columns =
            (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| i * columns + j);
        write_matrix(writer, name, rows, columns, by_columns.map(|at| tensor.values[at]))?;
    }
    Ok(())
}

fn write_matrix(
    writer: &mut dyn Write,
    name: &str,
    rows: usize,
    columns: usize,
    values: impl Iterator<Item = f64>,
) -> io::Result<()> {
    let mut front = Vec::new();
    push_element(&mut front, UINT32, &[DOUBLE_CLASS.to_le_bytes(), [0; 4]].concat());
    let side = |n: usize| i32::try_from(n).map_err(|_| too_large());
    push_element(
        &mut front,
        INT32,
        &[side(rows)?.to_le_bytes(), side(columns)?.to_le_bytes()].concat(),
    );
    push_element(&mut front, INT8, name.as_bytes());
    let value_bytes = u32::try_from(8 * rows * columns).map_err(|_| too_large())?;
    front.extend(DOUBLE.to_le_bytes());
    front.extend(value_bytes.to_le_bytes());
    let total = u32::try_from(front.len()).ok().and_then(|front| front.checked_add(value_bytes));
    writer.write_all(&MATRIX.to_le_bytes())?;
    writer.write_all(&total.ok_or_else(too_large)?.to_le_bytes())?;
    writer.write_all(&front)?;
    values.into_iter().try_for_each(|value| writer.write_all(&value.to_le_bytes()))
}

fn push_element(bytes: &mut Vec<u8>, kind: u32, content: &[u8]) {
    bytes.extend(kind.to_le_bytes());
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

fn too_large() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "a .mat file of version 5 holds at most 4 GiB per variable; write .npz or .safetensors",
    )
}
