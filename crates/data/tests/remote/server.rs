//! A small web server with versions (`ETag`), ranges and conditions; it also lists buckets as S3
//! does, and datasets as the Hugging Face hub does.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// A server that runs until the process ends.
#[derive(Clone)]
pub struct Server {
    pub address: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The files, by their path without the first slash.
    files: BTreeMap<String, Vec<u8>>,
    requests: Vec<Request>,
    /// The number of bytes after which bodies are cut off.
    cut: Option<usize>,
    without_ranges: bool,
    without_etags: bool,
    /// Answers of the hub, by path and query.
    answers: BTreeMap<String, (Option<String>, String)>,
    /// The server that `resolve` addresses redirect to.
    redirect: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    /// The number of bytes of the body that was sent.
    pub sent: usize,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
        let server = Self { address, state: Arc::default() };
        let running = server.clone();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let server = running.clone();
                thread::spawn(move || {
                    // A client may close its connection at any time.
                    let _ = server.serve(&connection);
                });
            }
        });
        server
    }

    pub fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.state.lock().unwrap().files.insert(path.into(), bytes.into());
    }

    /// Serves all files of a folder under a path.
    pub fn put_folder(&self, path: &str, folder: &std::path::Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            self.put(&format!("{path}/{name}"), std::fs::read(file).unwrap());
        }
    }

    pub fn get(&self, path: &str) -> Vec<u8> {
        self.state.lock().unwrap().files[path].clone()
    }

    pub fn remove(&self, path: &str) {
        self.state.lock().unwrap().files.remove(path);
    }

    pub fn answer(&self, path: &str, link: Option<String>, text: String) {
        self.state.lock().unwrap().answers.insert(path.into(), (link, text));
    }

    pub fn cut_after(&self, bytes: Option<usize>) {
        self.state.lock().unwrap().cut = bytes;
    }

    pub fn disable_ranges(&self) {
        self.state.lock().unwrap().without_ranges = true;
    }

    pub fn disable_etags(&self) {
        self.state.lock().unwrap().without_etags = true;
    }

    pub fn redirect_to(&self, other: &Self) {
        self.state.lock().unwrap().redirect = Some(other.address.clone());
    }

    /// Returns all requests since the last call.
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }

    /// Returns the number of bytes of data that were sent since the last call.
    pub fn bytes_sent(&self) -> usize {
        self.requests().iter().map(|request| request.sent).sum()
    }

    fn serve(&self, connection: &TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(connection.try_clone()?);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let mut words = line.split_whitespace().map(str::to_owned);
            let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let mut headers = BTreeMap::new();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line)?;
                let Some((name, value)) = line.trim().split_once(": ") else { break };
                headers.insert(name.to_ascii_lowercase(), value.to_owned());
            }
            let (answer, body) = self.respond(&Request { method, path, headers, sent: 0 });
            let mut connection = connection;
            connection.write_all(answer.as_bytes())?;
            let cut = self.state.lock().unwrap().cut.filter(|&cut| cut < body.len());
            connection.write_all(&body[..cut.unwrap_or(body.len())])?;
            if cut.is_some() {
                // Later requests find nothing, so that the client does not try for minutes.
                self.state.lock().unwrap().files.clear();
                return connection.shutdown(std::net::Shutdown::Both);
            }
        }
    }

    fn respond(&self, request: &Request) -> (String, Vec<u8>) {
        let mut state = self.state.lock().unwrap();
        let (status, headers, body) = state.respond(request);
        let is_head = request.method == "HEAD";
        let sent = if is_head { 0 } else { state.cut.map_or(body.len(), |cut| cut.min(body.len())) };
        state.requests.push(Request { sent, ..request.clone() });
        let mut answer = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            write!(answer, "{name}: {value}\r\n").unwrap();
        }
        answer += "\r\n";
        (answer, if is_head { Vec::new() } else { body })
    }
}

/// The hash of the contents: any function of them serves as an `ETag`.
pub fn etag(bytes: &[u8]) -> String {
    let sum = bytes.iter().fold(7u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    format!("\"{sum:x}\"")
}

impl State {
    fn respond(&self, request: &Request) -> (u16, Vec<(&'static str, String)>, Vec<u8>) {
        if let Some((link, text)) = self.answers.get(&request.path) {
            let link = link.iter().map(|link| ("Link", format!("<{link}>; rel=\"next\"")));
            return (200, link.collect(), text.clone().into_bytes());
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if query.contains("list-type=2") {
            return (200, Vec::new(), self.list(path.trim_matches('/'), query).into_bytes());
        }
        if let (Some(other), true) = (&self.redirect, path.contains("/resolve/")) {
            let name = path.rsplit('/').next().unwrap();
            return (302, vec![("Location", format!("http://{other}/cdn/{name}"))], Vec::new());
        }
        let Some(bytes) = self.files.get(&path.trim_start_matches('/').replace("%20", " ")) else {
            return (404, Vec::new(), Vec::new());
        };
        let etag = etag(bytes);
        if request.headers.get("if-match").is_some_and(|expected| *expected != etag) {
            return (412, Vec::new(), Vec::new());
        }
        let mut headers = vec![("Last-Modified", "Wed, 21 Oct 2026 07:28:00 GMT".to_owned())];
        if !self.without_etags {
            headers.push(("ETag", etag));
        }
        let from = request
            .headers
            .get("range")
            .and_then(|range| range.strip_prefix("bytes=")?.split('-').next()?.parse::<usize>().ok());
        match from {
            Some(from) if !self.without_ranges && from < bytes.len() => {
                headers.push(("Content-Range", format!("bytes {from}-{}/{}", bytes.len() - 1, bytes.len())));
                (206, headers, bytes[from..].to_vec())
            }
            _ => (200, headers, bytes.clone()),
        }
    }

    /// Lists a bucket, as the first page of `ListObjectsV2`.
    fn list(&self, bucket: &str, query: &str) -> String {
        let prefix = query.split('&').find_map(|part| part.strip_prefix("prefix=")).unwrap_or("");
        let prefix = format!("{bucket}/{}", prefix.replace("%2F", "/"));
        let mut text =
            String::from("<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated>");
        for (path, bytes) in
            self.files.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix))
        {
            let (key, etag) = (path.strip_prefix(bucket).unwrap().trim_matches('/'), etag(bytes));
            let etag = etag.trim_matches('"');
            write!(
                text,
                "<Contents><Key>{key}</Key><LastModified>2026-10-21T07:28:00.000Z</LastModified>\
                 <ETag>&quot;{etag}&quot;</ETag><Size>{}</Size></Contents>",
                bytes.len()
            )
            .unwrap();
        }
        text + "</ListBucketResult>"
    }
}
