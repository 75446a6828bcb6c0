//! Unpacks gzip piece by piece, and stops where the room ends.
//!
//! A kilobyte can unpack to a megabyte, so the size of what comes in says nothing about what comes out.

use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;

pub(crate) struct Gunzip {
    decoder: MultiGzDecoder<Room>,
    fed: bool,
}

/// Why unpacking ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnpackStop {
    Full,
    Broken,
}

/// Takes what is unpacked, up to a number of bytes over its whole life.
struct Room {
    unpacked: Vec<u8>,
    left: usize,
    full: bool,
}

impl Gunzip {
    pub(crate) fn new(room: usize) -> Self {
        let room = Room { unpacked: Vec::new(), left: room, full: false };
        Self { decoder: MultiGzDecoder::new(room), fed: false }
    }

    /// Takes the next piece and returns what can be unpacked by now.
    pub(crate) fn feed(&mut self, packed: &[u8]) -> Result<Bytes, UnpackStop> {
        self.fed |= !packed.is_empty();
        // The flush hands out what the decoder would keep for later: a stream may pause here for minutes.
        let result = self.decoder.write_all(packed).and_then(|()| self.decoder.flush());
        self.unpacked(result)
    }

    /// Says that nothing follows. No bytes at all count as an empty body, which some servers mean.
    pub(crate) fn finish(&mut self) -> Result<Bytes, UnpackStop> {
        if !self.fed {
            return Ok(Bytes::new());
        }
        let result = self.decoder.try_finish();
        self.unpacked(result)
    }

    fn unpacked(&mut self, result: io::Result<()>) -> Result<Bytes, UnpackStop> {
        let room = self.decoder.get_mut();
        match result {
            Ok(()) => Ok(std::mem::take(&mut room.unpacked).into()),
            Err(_) if room.full => Err(UnpackStop::Full),
            Err(_) => Err(UnpackStop::Broken),
        }
    }
}

impl io::Write for Room {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.left < piece.len() {
            self.full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.left -= piece.len();
        self.unpacked.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
