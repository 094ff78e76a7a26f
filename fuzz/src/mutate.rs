//! Damage: how one input becomes another.

/// Random numbers that are the same on every machine (splitmix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`, which is at least one.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Sizes and counts that readers trip over.
const NUMBERS: [u64; 22] = [
    0,
    1,
    2,
    7,
    8,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7ff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
];

/// Words that mean something to one format or another.
const WORDS: [&[u8]; 44] = [
    b"4294967296",
    b"-1",
    b"1e999",
    b"nan",
    b"inf",
    b"0x10",
    b",",
    b";",
    b"\n",
    b"\0",
    b":",
    b" ",
    b"'descr'",
    b"'fortran_order': True",
    b"(1, 4294967296, 0)",
    b"'|O'",
    b"'<f8'",
    b"'>u2'",
    b"\x80\x02",
    b"\x80\x05",
    b"R.",
    b"}q\0",
    b"cnumpy\nndarray\n",
    b"c__builtin__\neval\n",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"\xfd7zXZ\0",
    b"\x93NUMPY",
    b"\x89HDF",
    b"TREE",
    b"OHDR",
    b"SNOD",
    b"HEAP",
    b"MARKOV",
    b"BAYES",
    b"F64",
    b"BF16",
    b"\"shape\":",
    b"data_offsets",
    b"MATLAB 5.0",
    b"weights",
    b"hidden_bias",
    b"\"Infinity\"",
];

/// No input grows beyond this: parsers have their say in the first kilobytes.
const LONGEST: usize = 1 << 16;

/// Makes new inputs from old ones.
#[derive(Debug)]
pub struct Mutator {
    /// Where its choices come from.
    pub random: Random,
}

impl Mutator {
    /// One of `inputs`, changed in one to eight ways.
    pub fn next(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let random = &mut self.random;
        let mut bytes = random.of(inputs).clone();
        for _ in 0..1 << random.below(4) {
            let other = random.of(inputs);
            change(&mut bytes, other, random);
        }
        bytes.truncate(LONGEST);
        bytes
    }
}

fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(12) {
        _ if bytes.is_empty() => bytes.extend(*random.of(&WORDS)),
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.below(256) as u8,
        2 => bytes[at] = bytes[at].wrapping_add(random.below(16) as u8).wrapping_sub(8),
        3 | 4 => {
            let number = *random.of(&NUMBERS);
            let width = 1 << random.below(4);
            let number = match random.below(2) {
                0 => number.to_le_bytes()[..width].to_vec(),
                _ => number.to_be_bytes()[8 - width..].to_vec(),
            };
            overwrite(bytes, at, &number);
        }
        5 => {
            let word = *random.of(&WORDS);
            overwrite(bytes, at, word);
        }
        6 => {
            let word = *random.of(&WORDS);
            bytes.splice(at..at, word.iter().copied());
        }
        7 => bytes.truncate(at),
        8 => {
            let end = at + random.below(bytes.len() - at).min(64);
            bytes.drain(at..end);
        }
        9 => {
            let end = at + random.below(bytes.len() - at).min(256);
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        10 if !other.is_empty() => {
            let from = random.below(other.len());
            let end = from + random.below(other.len() - from).min(256);
            overwrite(bytes, at, &other[from..end]);
        }
        _ => {
            // A digit of a number in text.
            if let Some(digit) = bytes[at..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                *digit = b'0' + random.below(10) as u8;
            }
        }
    }
}

fn overwrite(bytes: &mut Vec<u8>, at: usize, with: &[u8]) {
    let end = (at + with.len()).min(bytes.len());
    bytes.splice(at..end, with.iter().copied());
}
