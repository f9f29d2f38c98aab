//! Door: a line on a Unix socket, and descriptors that are handed over with it.

use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Sends a line, and descriptors with its first bytes.
pub(super) fn send(stream: &UnixStream, line: &[u8], streams: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !streams.is_empty() {
        assert!(
            streams.len() <= 3 && control.push(SendAncillaryMessage::ScmRights(streams)),
            "there is room for three"
        );
    }
    let sent = sendmsg(stream, &[IoSlice::new(line)], &mut control, SendFlags::NOSIGNAL)?;
    (&*stream).write_all(&line[sent..])
}

/// Reads a line of at most `limit` bytes, and the descriptors that come with it.
pub(super) fn receive(
    stream: &UnixStream,
    limit: usize,
    end: Instant,
) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let (mut line, mut streams) = (Vec::new(), Vec::new());
    let mut bytes = vec![0; 64 << 10];
    while line.last() != Some(&b'\n') && line.len() < limit {
        let left = end
            .checked_duration_since(Instant::now())
            .filter(|left| !left.is_zero())
            .ok_or(io::ErrorKind::TimedOut)?;
        stream.set_read_timeout(Some(left))?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            stream.as_fd(),
            &mut [IoSliceMut::new(&mut bytes)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        );
        let n = match received {
            Ok(received) => received.bytes,
            // A signal for somebody else; what came before it counts.
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        for it in control.drain() {
            if let RecvAncillaryMessage::ScmRights(new) = it {
                streams.extend(new);
            }
        }
        if n == 0 || streams.len() > 3 {
            break;
        }
        line.extend_from_slice(&bytes[..n]);
    }
    Ok((line, streams))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_come_with_a_line() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let line = [vec![b'x'; 300_000], b"\n".to_vec()].concat();
        let sent = line.clone();
        let sender = std::thread::spawn(move || send(&ours, &sent, &[writer.as_fd()]));
        let (got, streams) =
            receive(&theirs, 1 << 20, Instant::now() + std::time::Duration::from_secs(60))
                .expect("it was sent");
        sender.join().expect("no panic").expect("sent");
        assert_eq!((got == line, streams.len()), (true, 1));
        let mut file = std::fs::File::from(streams.into_iter().next().expect("one"));
        file.write_all(b"through").expect("the other end is open");
        drop(file);
        assert_eq!(io::read_to_string(reader).expect("it was written"), "through");
    }
}
