//! Reading server-sent events as they arrive, in whatever pieces.

use anyhow::{Result, bail};

/// A line that is longer than any event of ours.
const LINE_MAX: usize = 64 << 20;

/// One event of a stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) id: Option<String>,
    pub(super) data: String,
}

/// What has arrived of the next event.
#[derive(Debug, Default)]
pub(super) struct Parser {
    rest: Vec<u8>,
    id: Option<String>,
    data: Vec<String>,
}

impl Parser {
    /// Takes the next piece, and gives the events that are whole with it.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<Vec<Message>> {
        self.rest.extend_from_slice(piece);
        let mut messages = Vec::new();
        let mut start = 0;
        while let Some(length) = self.rest[start..].iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&self.rest[start..start + length]).into_owned();
            start += length + 1;
            messages.extend(self.line(line.strip_suffix('\r').unwrap_or(&line)));
        }
        self.rest.drain(..start);
        if LINE_MAX < self.rest.len() {
            bail!("the server sends a line without an end");
        }
        Ok(messages)
    }

    fn line(&mut self, line: &str) -> Option<Message> {
        if line.is_empty() {
            let (id, data) = (self.id.take(), std::mem::take(&mut self.data));
            return (!data.is_empty()).then(|| Message { id, data: data.join("\n") });
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => self.data.push(value.to_owned()),
            "id" => self.id = Some(value.to_owned()),
            // A comment has no name: a sign of life. Other fields are none of ours.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ": hello\n\nid: 1\nevent: tool.started\ndata: {\"a\":\ndata: \"ä\"}\n\n:\n\r\nid:2\r\ndata:x\r\n\r\nid: 3\n\n";

    #[test]
    fn events_are_the_same_in_whatever_pieces_they_arrive() {
        let expected = [
            Message { id: Some("1".to_owned()), data: "{\"a\":\n\"ä\"}".to_owned() },
            Message { id: Some("2".to_owned()), data: "x".to_owned() },
        ];
        for size in 1..STREAM.len() {
            let mut parser = Parser::default();
            let pieces = STREAM.as_bytes().chunks(size);
            let messages: Vec<_> = pieces.flat_map(|piece| parser.push(piece).unwrap()).collect();
            assert_eq!(messages, expected, "in pieces of {size}");
        }
    }
}
