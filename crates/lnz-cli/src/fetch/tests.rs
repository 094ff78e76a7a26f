//! Downloads from a server on this machine.

use super::*;
use server::{Behaviour, Server};
use tempfile::TempDir;

#[path = "../../tests/cli/server.rs"]
mod server;

/// Bytes without a pattern.
fn content() -> Vec<u8> {
    (0..300_000u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8 | 1).collect()
}

fn known(content: &[u8]) -> KnownFile {
    let sum: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    KnownFile { names: &["file", "file.gz"], sha256: sum.leak(), alias: None }
}

fn fetch_quietly(file: &KnownFile, folder: &TempDir, server: &Server) -> Result<Fetched> {
    fetch(file, folder.path(), std::slice::from_ref(&server.base), true)
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A folder in which a download was interrupted after this many bytes.
fn cut(file: &KnownFile, server: &Server, bytes: usize) -> TempDir {
    let folder = TempDir::new().unwrap();
    server.behave(Behaviour { cut_after: Some(bytes), ..Behaviour::default() });
    let error = format!("{:#}", fetch_quietly(file, &folder, server).unwrap_err());
    assert!(error.contains("continues from there"), "{error}");
    assert_eq!(names(&folder), ["file.part"]);
    folder
}

#[test]
fn a_file_is_fetched_once() {
    let (content, folder) = (content(), TempDir::new().unwrap());
    let (file, server) =
        (known(&content), Server::start("file", content.clone(), Behaviour::default()));
    let first = fetch_quietly(&file, &folder, &server).unwrap();
    assert_eq!(fs::read(&first.path).unwrap(), content);
    assert!(first.is_new && first.bytes == 300_000);
    assert!(!fetch_quietly(&file, &folder, &server).unwrap().is_new);
    assert_eq!(server.requests(), ["/data/file"]);
    assert_eq!(names(&folder), ["file"]);
}

#[test]
fn a_cut_download_is_continued_where_it_was_cut() {
    let content = content();
    let (file, server) =
        (known(&content), Server::start("file", content.clone(), Behaviour::default()));
    let folder = cut(&file, &server, 123_456);
    server.behave(Behaviour::default());
    let path = fetch_quietly(&file, &folder, &server).unwrap().path;
    assert_eq!(fs::read(path).unwrap(), content);
    assert_eq!(server.requests(), ["/data/file", "/data/file from 123456"]);
    assert_eq!(names(&folder), ["file"]);
}

#[test]
fn a_server_that_cannot_continue_begins_anew() {
    let content = content();
    let (file, server) =
        (known(&content), Server::start("file", content.clone(), Behaviour::default()));
    let folder = cut(&file, &server, 123_456);
    server.behave(Behaviour {
        knows_no_ranges: true,
        says_no_length: true,
        ..Behaviour::default()
    });
    let path = fetch_quietly(&file, &folder, &server).unwrap().path;
    assert_eq!(fs::read(path).unwrap(), content);
}

#[test]
fn a_download_that_lacked_only_its_name_gets_it() {
    let (content, folder) = (content(), TempDir::new().unwrap());
    let (file, server) =
        (known(&content), Server::start("file", content.clone(), Behaviour::default()));
    fs::write(folder.path().join("file.part"), &content).unwrap();
    assert!(fetch_quietly(&file, &folder, &server).unwrap().is_new);
    assert!(server.requests().is_empty());
}

#[test]
fn remains_of_another_file_are_thrown_away() {
    let content = content();
    let (file, server) =
        (known(&content), Server::start("file", content.clone(), Behaviour::default()));
    // Too short, so that it is continued in vain; as long, and longer, so that nothing is left to send.
    for length in [1_000, 300_000, 400_000] {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("file.part"), vec![7; length]).unwrap();
        let path = fetch_quietly(&file, &folder, &server).unwrap().path;
        assert!(fs::read(path).unwrap() == content, "{length}");
    }
}

#[test]
fn contents_count_and_not_their_packing() {
    use std::io::Write;
    let (content, folder) = (content(), TempDir::new().unwrap());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&content).unwrap();
    let server = Server::start("file.gz", gzip.finish().unwrap(), Behaviour::default());
    let fetched = fetch_quietly(&known(&content), &folder, &server).unwrap();
    assert!(fetched.path.ends_with("file.gz"));
    assert_eq!(server.requests(), ["/data/file", "/data/file.gz"]);
    assert_eq!(names(&folder), ["file.gz"]);
}

#[test]
fn a_second_place_is_tried() {
    let (content, folder) = (content(), TempDir::new().unwrap());
    let server = Server::start("file", content.clone(), Behaviour::default());
    let bases = [server::nobody(), server.base.replace("/data", "/elsewhere"), server.base.clone()];
    assert!(fetch(&known(&content), folder.path(), &bases, true).unwrap().is_new);
    assert_eq!(server.requests(), ["/elsewhere/file", "/elsewhere/file.gz", "/data/file"]);
}

#[test]
fn changed_contents_are_not_kept() {
    let (content, folder) = (content(), TempDir::new().unwrap());
    let (file, mut changed) = (known(&content), content.clone());
    changed[200_000] ^= 64;
    let server = Server::start("file", changed, Behaviour::default());
    let error = fetch_quietly(&file, &folder, &server).unwrap_err().to_string();
    assert!(error.contains(&server.base) && error.contains(file.sha256), "{error}");
    assert!(names(&folder).is_empty());
}

#[test]
fn a_little_that_unpacks_to_far_too_much_is_not_kept() {
    use std::io::Write;
    let folder = TempDir::new().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&vec![0; LARGEST_UNPACKED as usize + 1]).unwrap();
    let server = Server::start("file", gzip.finish().unwrap(), Behaviour::default());
    let error = fetch_quietly(&known(&content()), &folder, &server).unwrap_err().to_string();
    assert!(error.contains("more than 1048576 bytes"), "{error}");
    assert!(names(&folder).is_empty());
}

#[test]
fn a_file_of_the_user_is_not_replaced() {
    let (content, folder) = (content(), TempDir::new().unwrap());
    let server = Server::start("file", content.clone(), Behaviour::default());
    let path = folder.path().join("file");
    for dear in [&b"dear to somebody"[..], b"\x1f\x8b not gzip"] {
        fs::write(&path, dear).unwrap();
        let error = fetch_quietly(&known(&content), &folder, &server).unwrap_err().to_string();
        assert!(error.contains("remove it"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), dear);
    }
}

#[test]
fn two_processes_do_not_write_one_file() {
    let (content, folder) = (content(), TempDir::new().unwrap());
    let server = Server::start("file", content.clone(), Behaviour::default());
    let part = File::create(folder.path().join("file.part")).unwrap();
    part.lock().unwrap();
    let error = fetch_quietly(&known(&content), &folder, &server).unwrap_err().to_string();
    assert!(error.contains("another process"), "{error}");
}
