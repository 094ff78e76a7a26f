//! A web server on this machine that has one file, and may misbehave.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// How the server answers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Behaviour {
    /// Closes the connection after this many bytes of each answer.
    pub(crate) cut_after: Option<usize>,
    /// Always sends the whole file, whatever was asked for.
    pub(crate) knows_no_ranges: bool,
    /// Does not say how long the file is.
    pub(crate) says_no_length: bool,
}

/// A server that runs as long as the test program.
pub(crate) struct Server {
    pub(crate) base: String,
    behaviour: Arc<Mutex<Behaviour>>,
    /// First line of each request, and its range.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start(name: &str, content: Vec<u8>, behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/data", listener.local_addr().unwrap());
        let server = Self {
            base,
            behaviour: Arc::new(Mutex::new(behaviour)),
            requests: Arc::new(Mutex::new(Vec::new())),
        };
        let (behaviour, requests) = (server.behaviour.clone(), server.requests.clone());
        let path = format!("/data/{name}");
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let behaviour = behaviour.lock().unwrap().clone();
                // A client that goes away is its own affair.
                let _ = answer(stream, &path, &content, &behaviour, &requests);
            }
        });
        server
    }

    #[allow(dead_code)] // Two test programs share this file, each uses its part.
    pub(crate) fn behave(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    #[allow(dead_code)]
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// The address of a server that is not there: its port was free a moment ago.
#[allow(dead_code)]
pub(crate) fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/data", listener.local_addr().unwrap())
}

fn answer(
    mut stream: TcpStream,
    path: &str,
    content: &[u8],
    behaviour: &Behaviour,
    requests: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let asked = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut from = None;
    while let Some(line) = lines.next().transpose()?.filter(|line| !line.is_empty()) {
        if let Some(range) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse::<usize>().ok();
        }
    }
    requests.lock().unwrap().push(match from {
        Some(from) => format!("{asked} from {from}"),
        None => asked.clone(),
    });
    let from = from.filter(|_| !behaviour.knows_no_ranges);
    let total = content.len();
    let (status, range, body) = match from {
        _ if asked != path => ("404 Not Found", String::new(), &b"no such file"[..]),
        Some(from) if from >= total => ("416 Range Not Satisfiable", String::new(), &b""[..]),
        Some(from) => (
            "206 Partial Content",
            format!("Content-Range: bytes {from}-{}/{total}\r\n", total - 1),
            &content[from..],
        ),
        None => ("200 OK", String::new(), content),
    };
    let length = match behaviour.says_no_length {
        true => String::new(),
        false => format!("Content-Length: {}\r\n", body.len()),
    };
    write!(stream, "HTTP/1.1 {status}\r\n{range}{length}Connection: close\r\n\r\n")?;
    stream.write_all(&body[..behaviour.cut_after.unwrap_or(body.len()).min(body.len())])?;
    stream.flush()?;
    stream.shutdown(Shutdown::Write)
}
