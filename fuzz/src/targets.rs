//! The parsers, and how bytes become a file for each of them.

use lnz::data::{DataOptions, DataReader};
use lnz::io::{ReadOptions, Units, read_model_with};
use lnz::{Gwgm, Rbm};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A parser that is fed with damaged input.
#[derive(Debug)]
pub struct Target {
    /// As it is named in `seeds`, and for libFuzzer.
    pub name: &'static str,
    /// The ending of the file.
    extension: &'static str,
    /// What is put around the bytes, so that damage gets past a sum that protects them.
    wrap: fn(&[u8]) -> Vec<u8>,
    /// What the parser says about a file.
    parse: fn(&Path) -> String,
}

const fn target(
    name: &'static str,
    extension: &'static str,
    wrap: fn(&[u8]) -> Vec<u8>,
    parse: fn(&Path) -> String,
) -> Target {
    Target { name, extension, wrap, parse }
}

/// All of them.
pub const TARGETS: [Target; 19] = [
    target("model_npy", "npy", as_is, model),
    target("model_npz", "npz", as_is, model),
    target("model_safetensors", "safetensors", as_is, model),
    target("model_mat", "mat", as_is, model),
    target("model_pickle", "pkl", as_is, model),
    target("model_torch", "pt", as_is, model),
    target("model_torch_pickle", "pt", in_torch_archive, model),
    target("model_hdf5", "h5", as_is, model),
    target("model_uai", "uai", as_is, model),
    target("model_msgpack", "mpack", as_is, model),
    target("model_csv", "csv", as_is, model),
    target("data_idx", "idx", as_is, data),
    target("data_libsvm", "libsvm", as_is, data),
    target("data_csv", "csv", as_is, data),
    target("data_csv_gz", "csv.gz", gzipped, data),
    target("data_npy", "npy", as_is, data),
    target("data_arrays", "dat", as_is, data),
    target("saved_result", "json", as_is, saved_result),
    target("schedule", "txt", as_is, schedule),
];

/// The folder for the file of this process: in memory, where there is such a place.
pub(crate) fn scratch() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = place.join(format!("lnz-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map(|()| folder).unwrap_or(place)
    };
    FOLDER.get_or_init(make).clone()
}

impl Target {
    /// Writes the file and parses it: the sentence of a refusal, or a word for what was accepted.
    pub fn run(&self, folder: &Path, bytes: &[u8]) -> String {
        let path = folder.join(format!("{}.{}", self.name, self.extension));
        if let Err(error) = std::fs::write(&path, (self.wrap)(bytes)) {
            return format!("the file cannot be written: {error}");
        }
        (self.parse)(&path)
    }
}

fn as_is(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let packed = packer.write_all(bytes).and_then(|()| packer.finish());
    packed.unwrap_or_default()
}

/// The pickle in an archive of torch, beside two storages.
fn in_torch_archive(bytes: &[u8]) -> Vec<u8> {
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
    archive.finish().map(std::io::Cursor::into_inner).unwrap_or_default()
}

/// As it is, and told that it lies the other way and has units of two signs.
fn model(path: &Path) -> String {
    let first = read_model_with(path, &ReadOptions::default());
    let mut options = ReadOptions::with_units(Some(Units::Spin));
    options.layout = Some(lnz::io::Layout::HiddenVisible);
    let second = read_model_with(path, &options);
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

fn data(path: &Path) -> String {
    let mut reader = match DataReader::open(path, DataOptions::default()) {
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

fn saved_result(path: &Path) -> String {
    static MODEL: OnceLock<Option<Rbm>> = OnceLock::new();
    let make = || Gwgm { visible: 3, hidden: 2, ..Gwgm::HARDEST }.generate(0).ok();
    match MODEL.get_or_init(make) {
        None => "no model".to_owned(),
        Some(model) => match lnz_app::likelihood::LogZ::read(path, model) {
            Ok(_) => "result".to_owned(),
            Err(error) => error.to_string(),
        },
    }
}

fn schedule(path: &Path) -> String {
    use lnz_app::request::{AnnealingRequest, Request, ScheduleRequest};
    let schedule = Some(ScheduleRequest::File(path.to_owned()));
    let annealing = AnnealingRequest { schedule, ..AnnealingRequest::default() };
    match (Request { annealing, ..Request::default() }).plan() {
        Ok(_) => "schedule".to_owned(),
        Err(error) => error.to_string(),
    }
}
