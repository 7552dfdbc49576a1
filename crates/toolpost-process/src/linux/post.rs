//! Messages with descriptors between processes.

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The most descriptors in one message.
const MOST: usize = 6;

/// Two ends of a connection that keeps messages apart and tells when the other end is gone.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Sends one message.
pub(super) fn send(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Takes the next message; no bytes: the other end is gone.
pub(super) fn receive(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let message = recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut fds = Vec::new();
    for part in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = part {
            fds.extend(rights);
        }
    }
    Ok((message.bytes, fds))
}

/// Sends bytes over a line that does not keep messages apart.
pub(super) fn send_framed(line: OwnedFd, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    let mut line = std::os::unix::net::UnixStream::from(line);
    line.write_all(&[&(bytes.len() as u64).to_le_bytes(), bytes].concat())
}

/// The message in what has come over such a line, once it is whole.
pub(super) fn unframed(heard: &[u8]) -> Option<&[u8]> {
    let (length, rest) = heard.split_first_chunk()?;
    rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)
}
