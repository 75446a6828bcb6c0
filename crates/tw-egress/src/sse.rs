//! Server-sent events, out of bytes that arrive in any pieces.

/// Collects bytes and hands out the data of whole events.
#[derive(Debug)]
pub struct SseReader {
    /// What one event may have, joined.
    bytes_max: usize,
    /// A line that has not ended yet.
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
}

/// An event is larger than whoever reads it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream is too large")]
pub struct EventTooLarge;

impl SseReader {
    /// A reader of events that have at most so many bytes each.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, line: Vec::new(), data: Vec::new(), has_data: false, after_return: false }
    }

    /// Reads on; the data of every event that has ended, in order.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, EventTooLarge> {
        let mut events = Vec::new();
        for byte in bytes {
            // A line ends with CR, LF or both.
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    events.extend(self.end_line());
                }
                byte => {
                    self.after_return = false;
                    self.line.push(*byte);
                }
            }
            if self.bytes_max < self.line.len() + self.data.len() {
                return Err(EventTooLarge);
            }
        }
        Ok(events)
    }

    /// What is left when the other side stops without an empty line behind its last event.
    #[must_use]
    pub fn rest(mut self) -> Option<Vec<u8>> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_line()
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return std::mem::take(&mut self.has_data).then_some(data);
        }
        let value = line.strip_prefix(b"data:")?;
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pieces: &[&[u8]]) -> Vec<String> {
        let mut reader = SseReader::new(4 << 20);
        let mut found = Vec::new();
        for piece in pieces {
            found.extend(reader.feed(piece).unwrap());
        }
        found.extend(reader.rest());
        found.into_iter().map(|data| String::from_utf8(data).unwrap()).collect()
    }

    #[test]
    fn events_are_found_wherever_the_bytes_are_cut() {
        let stream =
            ": hello\r\nevent: x\r\ndata: {\"a\":\"é\"}\r\n\r\ndata:1\ndata: 2\n\nid: 3\n\ndata: last";
        let whole = texts(&[stream.as_bytes()]);
        assert_eq!(whole, ["{\"a\":\"é\"}", "1\n2", "last"]);
        for at in 0..stream.len() {
            let (first, second) = stream.as_bytes().split_at(at);
            assert_eq!(texts(&[first, second]), whole, "cut at {at}");
        }
    }

    #[test]
    fn endless_event_is_refused() {
        let mut reader = SseReader::new(4 << 20);
        let piece = vec![b'x'; 1 << 20];
        let fed: Vec<_> = (0..5).map(|_| reader.feed(&piece)).collect();
        assert_eq!(fed.last(), Some(&Err(EventTooLarge)));
    }
}
