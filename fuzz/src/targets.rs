//! The parsers, and how bytes become a file for each of them.

use lnz::data::{DataOptions, DataReader};
use lnz::io::{ReadOptions, Units, read_model_bytes};
use lnz::{Gwgm, Rbm};
use std::borrow::Cow;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::OnceLock;

/// A parser that is fed with damaged input.
#[derive(Debug)]
pub struct Target {
    /// As it is named in `seeds`, and for libFuzzer.
    pub name: &'static str,
    /// The name of the file, whose ending counts where the content does not tell.
    file: &'static str,
    /// What is put around the bytes, so that damage gets past a sum that protects them.
    wrap: fn(&[u8]) -> Cow<'_, [u8]>,
    /// What the parser says about a file.
    parse: fn(&Path, &[u8]) -> String,
}

const fn target(
    name: &'static str,
    file: &'static str,
    wrap: fn(&[u8]) -> Cow<'_, [u8]>,
    parse: fn(&Path, &[u8]) -> String,
) -> Target {
    Target { name, file, wrap, parse }
}

/// All of them.
pub const TARGETS: [Target; 19] = [
    target("model_npy", "x.npy", as_is, model),
    target("model_npz", "x.npz", as_is, model),
    target("model_safetensors", "x.safetensors", as_is, model),
    target("model_mat", "x.mat", as_is, model),
    target("model_pickle", "x.pkl", as_is, model),
    target("model_torch", "x.pt", as_is, model),
    target("model_torch_pickle", "x.pt", in_torch_archive, model),
    target("model_hdf5", "x.h5", as_is, model),
    target("model_uai", "x.uai", as_is, model),
    target("model_msgpack", "x.mpack", as_is, model),
    target("model_csv", "x.csv", as_is, model),
    target("data_idx", "x.idx", as_is, data),
    target("data_libsvm", "x.libsvm", as_is, data),
    target("data_csv", "x.csv", as_is, data),
    target("data_csv_gz", "x.csv.gz", gzipped, data),
    target("data_npy", "x.npy", as_is, data),
    target("data_arrays", "x.dat", as_is, data),
    target("saved_result", "x.json", as_is, saved_result),
    target("schedule", "x.txt", as_is, schedule),
];

impl Target {
    /// Parses bytes as a file: the sentence of a refusal, or a word for what was accepted.
    pub fn run(&self, bytes: &[u8]) -> String {
        (self.parse)(Path::new(self.file), &(self.wrap)(bytes))
    }
}

fn as_is(bytes: &[u8]) -> Cow<'_, [u8]> {
    Cow::Borrowed(bytes)
}

fn gzipped(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let packed = packer.write_all(bytes).and_then(|()| packer.finish());
    Cow::Owned(packed.unwrap_or_default())
}

/// The pickle in an archive of torch, beside two storages.
fn in_torch_archive(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let storage = [1u8; 256];
    for (name, content) in
        [("archive/data.pkl", bytes), ("archive/data/0", &storage), ("archive/data/1", &storage)]
    {
        let added = archive.start_file(name, stored).is_ok() && archive.write_all(content).is_ok();
        debug_assert!(added, "an archive in memory takes all that it is given");
    }
    Cow::Owned(archive.finish().map(std::io::Cursor::into_inner).unwrap_or_default())
}

/// As it is, and told that it lies the other way and has units of two signs.
fn model(path: &Path, bytes: &[u8]) -> String {
    let first = read_model_bytes(path, bytes, &ReadOptions::default());
    let mut options = ReadOptions::with_units(Some(Units::Spin));
    options.layout = Some(lnz::io::Layout::HiddenVisible);
    let second = read_model_bytes(path, bytes, &options);
    // What is accepted is a model, all of it.
    for file in [&first, &second].into_iter().flatten() {
        let model: &Rbm = &file.stored.model;
        assert!(model.visible() > 0, "a model without visible units");
        let (weights, b, c) = (model.weights(), model.visible_bias(), model.hidden_bias());
        let finite = weights.iter().chain(b).chain(c).all(|value| value.is_finite());
        assert!(finite, "a parameter that is not finite");
    }
    match first {
        Ok(file) => format!("model with {} sentences", file.understood.len()),
        Err(error) => error.to_string(),
    }
}

/// Rows of a damaged file that are read: a few bytes of gzip unpack to millions.
const MOST_ROWS: usize = 1000;

fn data(path: &Path, bytes: &[u8]) -> String {
    let mut reader = match DataReader::of_bytes(path, bytes, DataOptions::default()) {
        Ok(reader) => reader,
        Err(error) => return error.to_string(),
    };
    let most = NonZeroUsize::new(1 + (1 << 20) / reader.width()).unwrap_or(NonZeroUsize::MIN);
    let mut rows = 0;
    while rows < MOST_ROWS {
        match reader.next_batch(most) {
            Ok(Some(batch)) => {
                assert!(batch.iter().all(|value| (0.0..=1.0).contains(value)), "beyond [0, 1]");
                rows += batch.nrows();
            }
            Ok(None) => return "data".to_owned(),
            Err(error) => return error.to_string(),
        }
    }
    "much data".to_owned()
}

fn saved_result(path: &Path, bytes: &[u8]) -> String {
    static MODEL: OnceLock<Option<Rbm>> = OnceLock::new();
    let make = || Gwgm { visible: 3, hidden: 2, ..Gwgm::HARDEST }.generate(0).ok();
    match (MODEL.get_or_init(make), std::str::from_utf8(bytes)) {
        (None, _) => "no model".to_owned(),
        (_, Err(_)) => "no text".to_owned(),
        (Some(model), Ok(text)) => match lnz_app::likelihood::LogZ::of_text(path, text, model) {
            Ok(_) => "result".to_owned(),
            Err(error) => error.to_string(),
        },
    }
}

fn schedule(path: &Path, bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Err(_) => "no text".to_owned(),
        Ok(text) => match lnz_app::request::schedule_of_text(path, text) {
            Ok(_) => "schedule".to_owned(),
            Err(error) => error.to_string(),
        },
    }
}
