//! Door: metrics over HTTP, on this machine only: a Unix socket of the daemon's owner, or a port of
//! localhost.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::metrics;

const REQUEST_BYTES: usize = 8 << 10;
/// How long it may take, and how long its answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// After a connection that failed.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A socket in a file.
    Unix(PathBuf),
    /// A port of localhost.
    Port(SocketAddr),
}

impl Address {
    /// That of a Unix socket.
    pub fn path(&self) -> Option<PathBuf> {
        match self {
            Address::Unix(path) => Some(path.clone()),
            Address::Port(_) => None,
        }
    }
}

impl std::str::FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        if text.contains('/') {
            return Ok(Address::Unix(text.into()));
        }
        let port = text.strip_prefix("localhost:").and_then(|rest| rest.parse().ok());
        let address = port
            .map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
            .or_else(|| text.parse().ok());
        match address {
            Some(it) if it.ip().is_loopback() => Ok(Address::Port(it)),
            Some(_) => Err("that is not this machine: localhost:PORT, or a path".to_owned()),
            None => Err("localhost:PORT, or a path with a `/` for a Unix socket".to_owned()),
        }
    }
}

pub enum Endpoint {
    /// In a file, which goes with it.
    Unix(UnixListener, PathBuf),
    Port(TcpListener),
}

impl Endpoint {
    ///
    /// Errors: another process listens there, or the file is no socket.
    pub fn listen(address: &Address) -> io::Result<Endpoint> {
        match address {
            Address::Port(it) => TcpListener::bind(it).map(Endpoint::Port),
            Address::Unix(path) => {
                if let Ok(it) = std::fs::symlink_metadata(path) {
                    if !it.file_type().is_socket() {
                        return Err(io::Error::new(
                            io::ErrorKind::AlreadyExists,
                            "there is a file of this name that is no socket",
                        ));
                    }
                    if UnixStream::connect(path).is_ok() {
                        return Err(io::Error::new(
                            io::ErrorKind::AddrInUse,
                            "another process listens there already",
                        ));
                    }
                    std::fs::remove_file(path)?;
                }
                let listener = UnixListener::bind(path)?;
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
                Ok(Endpoint::Unix(listener, path.clone()))
            }
        }
    }

    /// Where, as others say it.
    pub fn text(&self) -> String {
        match self {
            Endpoint::Unix(_, path) => path.display().to_string(),
            Endpoint::Port(it) => it.local_addr().map_or(String::new(), |it| it.to_string()),
        }
    }

    /// A thread that answers with what `now` says; nothing, if the manager has ended.
    pub fn serve(&self, now: impl Fn() -> Option<String> + Send + 'static) -> io::Result<()> {
        type Next = Box<dyn Fn() -> io::Result<Box<dyn Talk>> + Send>;
        let next: Next = match self {
            Endpoint::Unix(it, _) => {
                let it = it.try_clone()?;
                Box::new(move || Ok(Box::new(it.accept()?.0)))
            }
            Endpoint::Port(it) => {
                let it = it.try_clone()?;
                Box::new(move || Ok(Box::new(it.accept()?.0)))
            }
        };
        let work = move || {
            loop {
                let Ok(mut stream) = next() else {
                    std::thread::sleep(PAUSE);
                    continue;
                };
                // A client that goes before the answer needs none.
                let _ = stream.patience(PATIENCE).and_then(|()| answer(&mut *stream, &now));
            }
        };
        std::thread::Builder::new().name("metrics".to_owned()).spawn(work).map(drop)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if let Endpoint::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Both kinds of connection.
trait Talk: Read + Write {
    fn patience(&self, most: Duration) -> io::Result<()>;
}

impl Talk for UnixStream {
    fn patience(&self, most: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(most)).and_then(|()| self.set_write_timeout(Some(most)))
    }
}

impl Talk for std::net::TcpStream {
    fn patience(&self, most: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(most)).and_then(|()| self.set_write_timeout(Some(most)))
    }
}

/// Answers one request of HTTP/1.
fn answer(stream: &mut dyn Talk, now: impl FnOnce() -> Option<String>) -> io::Result<()> {
    let (mut request, start) = (Vec::new(), Instant::now());
    let mut bytes = [0; 1024];
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        let n = stream.read(&mut bytes)?;
        request.extend_from_slice(&bytes[..n]);
        if n == 0 || request.len() > REQUEST_BYTES || start.elapsed() > PATIENCE {
            return reply(stream, "400 Bad Request", "this is no request\n");
        }
    }
    let text = String::from_utf8_lossy(&request);
    let mut words = text.split_ascii_whitespace();
    match (words.next(), words.next().map(|word| word.split('?').next().unwrap_or_default())) {
        (Some("GET"), Some("/metrics")) => match now() {
            Some(text) => reply(stream, "200 OK", &text),
            None => reply(stream, "503 Service Unavailable", "the manager has ended\n"),
        },
        (Some("GET"), Some(_)) => reply(stream, "404 Not Found", "ask for /metrics\n"),
        _ => reply(stream, "405 Method Not Allowed", "only GET\n"),
    }
}

fn reply(stream: &mut dyn Talk, status: &str, body: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        metrics::TYPE,
        body.len()
    );
    let end = Instant::now() + PATIENCE;
    write_within(stream, |it, left| it.patience(left), (head + body).as_bytes(), end)
}

/// Bytes of one write: on a Unix socket the time of a write counts anew for each piece that the
/// other end takes of it.
const PIECE: usize = 4 << 10;

/// Writes all of it, or fails when the time has come, however slowly the other end reads.
/// `patience` says how long one write may take.
pub(super) fn write_within<S: Write + ?Sized>(
    stream: &mut S,
    patience: impl Fn(&S, Duration) -> io::Result<()>,
    mut bytes: &[u8],
    end: Instant,
) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = end
            .checked_duration_since(Instant::now())
            .filter(|left| !left.is_zero())
            .ok_or(io::ErrorKind::TimedOut)?;
        patience(stream, left)?;
        match stream.write(&bytes[..bytes.len().min(PIECE)]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_listened_on() {
        assert_eq!(
            "localhost:9100".parse(),
            Ok(Address::Port("127.0.0.1:9100".parse().expect("an address")))
        );
        assert_eq!(
            "[::1]:9100".parse(),
            Ok(Address::Port("[::1]:9100".parse().expect("an address")))
        );
        assert_eq!("./metrics.sock".parse(), Ok(Address::Unix("./metrics.sock".into())));
        for text in ["0.0.0.0:9100", "192.0.2.1:80", "9100", "metrics", "localhost:x"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn requests_are_answered_or_refused() {
        let say = |request: &str| {
            let (ours, mut theirs) = UnixStream::pair().expect("a pair");
            (&ours).write_all(request.as_bytes()).expect("there is room");
            ours.shutdown(std::net::Shutdown::Write).expect("it is open");
            answer(&mut theirs, || Some("x 1\n".to_owned())).expect("it is heard");
            drop(theirs);
            io::read_to_string(ours).expect("it was written")
        };
        let said = say("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(
            said.starts_with("HTTP/1.1 200 OK\r\n")
                && said.ends_with("\r\n\r\nx 1\n")
                && said.contains("Content-Length: 4\r\n"),
            "{said}"
        );
        assert!(say("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(say("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
        assert!(say("nonsense").starts_with("HTTP/1.1 400 "));
        assert!(say(&"x".repeat(REQUEST_BYTES + 1)).starts_with("HTTP/1.1 400 "));
    }

    #[test]
    fn who_reads_slowly_keeps_nobody_waiting() {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        (&ours).write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("there is room");
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        let reader = std::thread::spawn(move || {
            // Fast enough that no single write waits for long.
            while is_done.recv_timeout(Duration::from_millis(20)).is_err() {
                let _ = (&ours).read(&mut [0; 4096]);
            }
        });
        let start = Instant::now();
        theirs.patience(PATIENCE).expect("it is a socket");
        let said = answer(&mut theirs, || Some("x".repeat(16 << 20)));
        done.send(()).expect("the reader listens");
        reader.join().expect("no panic");
        assert!(
            said.is_err() && start.elapsed() < 4 * PATIENCE,
            "{said:?} after {:?}",
            start.elapsed()
        );
    }

    #[test]
    fn files_that_are_no_sockets_stay() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("mine");
        std::fs::write(&path, "mine").expect("a scratch file");
        assert!(Endpoint::listen(&Address::Unix(path.clone())).is_err());
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "mine");
    }
}
