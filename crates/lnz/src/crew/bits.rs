//! States of units as packed bits, and bytes as text.

/// Bytes of a state.
pub(crate) fn size_of(units: usize) -> usize {
    units.div_ceil(8)
}

/// Eight units to a byte; every state begins with a new one.
pub(crate) fn pack(state: &[bool], bits: &mut Vec<u8>) {
    let byte = |units: &[bool]| {
        units.iter().enumerate().fold(0, |byte, (k, &on)| byte | u8::from(on) << k)
    };
    bits.extend(state.chunks(8).map(byte));
}

/// The state of so many units in [`size_of`] them bytes.
pub(crate) fn unpack(bytes: &[u8], units: usize) -> Vec<bool> {
    (0..units).map(|i| bytes[i / 8] >> (i % 8) & 1 == 1).collect()
}

/// Two hexadecimal digits for each byte.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes that [`to_hex`] has written; none if it was not.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks();
    let byte = |&[high, low]: &[u8; 2]| Some(digit(high)? << 4 | digit(low)?);
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back_from_bits_and_bits_from_text() {
        for units in [0, 1, 7, 8, 9, 64, 65] {
            let states: Vec<Vec<bool>> =
                (1..4).map(|k| (0..units).map(|i| i % k == 0).collect()).collect();
            let mut bits = Vec::new();
            states.iter().for_each(|state| pack(state, &mut bits));
            assert_eq!(bits.len(), 3 * size_of(units));
            let bits = from_hex(&to_hex(&bits)).unwrap();
            for (k, state) in states.iter().enumerate() {
                assert_eq!(&unpack(&bits[k * size_of(units)..], units), state);
            }
        }
        for text in ["0", "0g", "é"] {
            assert!(from_hex(text).is_none(), "{text}");
        }
    }
}
