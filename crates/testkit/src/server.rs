//! A web server with one file, whose answers a test spoils.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A server on a port of this machine. It serves until the process ends.
#[derive(Debug, Clone)]
pub struct Server {
    port: u16,
    state: Arc<Mutex<State>>,
}

/// What a server does.
#[derive(Debug, Default)]
pub struct State {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The tag of the file's version, if the server has tags: the value of `ETag`.
    pub tag: Option<&'static str>,
    /// The time of the last change, if the server tells it: the value of `Last-Modified`.
    pub modified: Option<&'static str>,
    /// Whether every answer is the whole file.
    pub ignores_ranges: bool,
    /// Whether the conditions of requests are ignored.
    pub ignores_conditions: bool,
    /// The status of the next answers, which have no body.
    pub fails: VecDeque<u16>,
    /// The number of answers that will end in the middle.
    pub cuts: usize,
    /// The time before each answer.
    pub delay: Duration,
    /// The requests so far: the range of each, if it had one.
    pub requests: Vec<Option<Range<usize>>>,
    /// The most requests that were being answered at a time, and their present number.
    pub most_at_once: usize,
    /// The number of requests that are being answered.
    pub at_once: usize,
    /// The header `Authorization` of the last request.
    pub authorization: Option<String>,
}

impl Server {
    /// Starts a server for a file, with a strong tag.
    pub fn start(bytes: Vec<u8>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("the address of a listener").port();
        let state = State { bytes, tag: Some("\"one\""), ..State::default() };
        let server = Self { port, state: Arc::new(Mutex::new(state)) };
        let serving = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = serving.clone();
                thread::spawn(move || while server.answer(&stream).is_some() {});
            }
        });
        server
    }

    /// Returns the URL of the file.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/folder/file.h5", self.port)
    }

    /// Returns what the server does, to change it.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the requests so far, and returns them.
    pub fn take_requests(&self) -> Vec<Option<Range<usize>>> {
        std::mem::take(&mut self.state().requests)
    }

    /// Answers one request of a connection. `None` ends the connection.
    fn answer(&self, stream: &TcpStream) -> Option<()> {
        let request = HttpRequest::read(stream)?;
        let delay = {
            let mut state = self.state();
            state.requests.push(request.range.clone());
            state.authorization.clone_from(&request.authorization);
            state.at_once += 1;
            state.most_at_once = state.most_at_once.max(state.at_once);
            state.delay
        };
        thread::sleep(delay);
        let (answer, is_cut) = self.state().answer(&request);
        let mut stream = stream;
        let sent = stream.write_all(&answer);
        self.state().at_once -= 1;
        sent.ok().filter(|()| !is_cut)
    }
}

impl State {
    /// Returns the bytes of the answer, and whether they end early.
    fn answer(&mut self, request: &HttpRequest) -> (Vec<u8>, bool) {
        let empty =
            |status: u16| (format!("HTTP/1.1 {status} -\r\nContent-Length: 0\r\n\r\n").into_bytes(), false);
        if let Some(status) = self.fails.pop_front() {
            return empty(status);
        }
        let is_other = request.condition.as_ref().is_some_and(|tag| self.tag != Some(tag.as_str()));
        if is_other && !self.ignores_conditions {
            return empty(412);
        }
        let len = self.bytes.len();
        let range = request.range.clone().filter(|_| !self.ignores_ranges);
        if range.as_ref().is_some_and(|range| range.start >= len) {
            return empty(416);
        }
        let (start, end) = range.clone().map_or((0, len), |range| (range.start, range.end.min(len)));
        let status = match range {
            Some(_) => format!("206 -\r\nContent-Range: bytes {start}-{}/{len}", end - 1),
            None => "200 -".to_owned(),
        };
        let header = |name, value: Option<&str>| {
            value.map_or_else(String::new, |value| format!("{name}: {value}\r\n"))
        };
        let (tag, modified) = (header("ETag", self.tag), header("Last-Modified", self.modified));
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{tag}{modified}\r\n", end - start);
        let is_cut = self.cuts > 0;
        self.cuts -= usize::from(is_cut);
        let sent = if is_cut { (end - start) / 2 } else { end - start };
        let mut answer = head.into_bytes();
        answer.extend_from_slice(&self.bytes[start..start + sent]);
        (answer, is_cut)
    }
}

#[derive(Default)]
struct HttpRequest {
    range: Option<Range<usize>>,
    condition: Option<String>,
    authorization: Option<String>,
}

impl HttpRequest {
    /// Reads the head of a request. `None` at the end of the connection.
    fn read(stream: &TcpStream) -> Option<Self> {
        let mut request = Self::default();
        let mut lines = BufReader::new(stream).lines();
        lines.next()?.ok()?;
        for line in lines {
            let line = line.ok()?;
            let Some((name, value)) = line.split_once(": ") else { return Some(request) };
            match name.to_ascii_lowercase().as_str() {
                "range" => {
                    let (start, last) = value.strip_prefix("bytes=")?.split_once('-')?;
                    request.range = Some(start.parse().ok()?..last.parse::<usize>().ok()? + 1);
                }
                "if-match" => request.condition = Some(value.to_owned()),
                "authorization" => request.authorization = Some(value.to_owned()),
                _ => {}
            }
        }
        None
    }
}
