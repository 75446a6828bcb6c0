//! The connection that one exchange runs on.

use http::Request;
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};

/// Sees to it that a connection is used again only behind an answer that was read to its end and found
/// in order. The library would keep one whose answer we refused, as long as it could read past it; but
/// who says one odd thing may have said another, which the next request would take for its answer.
pub(crate) struct Line {
    connection: CaptureConnection,
    in_order: bool,
}

impl Line {
    pub(crate) fn of<B>(request: &mut Request<B>) -> Self {
        Self { connection: capture_connection(request), in_order: false }
    }

    /// Says that the exchange ended well.
    pub(crate) fn keep(&mut self) {
        self.in_order = true;
    }

    /// Sees to it that the connection is not used again, however the exchange ends.
    pub(crate) fn give_up(&self) {
        if let Some(connection) = &*self.connection.connection_metadata() {
            connection.poison();
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if !self.in_order {
            self.give_up();
        }
    }
}
