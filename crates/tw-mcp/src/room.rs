//! The bytes that the answers to one batch may have together.
//!
//! How long an answer is, is known once the work is done, and a call cannot be taken back then. So an entry of a batch
//! begins once a share of the room is set aside for its answer, and what it does not need goes to the entries behind it.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

/// What the answers may have together.
pub(crate) const ROOM: usize = 4 << 20;
/// What is set aside for one answer. Small, so that the entries under way leave room for the answers before them.
const SHARE: usize = ROOM / 16;

/// The room that is left.
#[derive(Debug)]
pub(crate) struct Room {
    /// A permit for each byte.
    free: Semaphore,
    written: AtomicUsize,
}

/// What is set aside for one answer; given back when dropped.
#[derive(Debug)]
pub(crate) struct Reserved<'r> {
    room: &'r Room,
    bytes: SemaphorePermit<'r>,
}

impl Default for Room {
    fn default() -> Self {
        Self { free: Semaphore::new(ROOM), written: AtomicUsize::new(0) }
    }
}

impl Room {
    /// Waits until a share is free. Nothing once there will be none: the answers that are written leave too little.
    pub(crate) async fn reserve(&self) -> Option<Reserved<'_>> {
        let share = u32::try_from(SHARE).expect("a share is some hundred thousand bytes");
        let bytes = self.free.acquire_many(share).await.ok()?;
        Some(Reserved { room: self, bytes })
    }
}

impl Reserved<'_> {
    /// Takes the room for an answer and gives back the rest. What is set aside stays so if the answer does not fit.
    pub(crate) fn take(mut self, bytes: usize) -> Result<(), Self> {
        let missing = bytes.saturating_sub(SHARE);
        match u32::try_from(missing).ok().and_then(|missing| self.room.free.try_acquire_many(missing).ok()) {
            Some(more) => self.bytes.merge(more),
            None => return Err(self),
        }
        drop(self.bytes.split(self.bytes.num_permits() - bytes));
        self.bytes.forget();
        let written = self.room.written.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if ROOM - written < SHARE {
            self.room.free.close();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn short_answers_all_fit() {
        let room = Room::default();
        for _ in 0..50 {
            room.reserve().await.unwrap().take(1000).unwrap();
        }
        assert_eq!(room.free.available_permits(), ROOM - 50_000);
    }

    #[tokio::test]
    async fn answers_never_have_more_than_the_room_and_nothing_begins_once_it_is_full() {
        let (room, mut written) = (Room::default(), 0);
        for _ in 0..3 {
            let reserved = room.reserve().await.unwrap();
            if reserved.take(3 << 20).is_ok() {
                written += 3 << 20;
            }
        }
        while let Some(reserved) = room.reserve().await {
            reserved.take(SHARE).unwrap();
            written += SHARE;
        }
        assert_eq!(written, ROOM, "one of the long answers, and short ones as long as there is room");
    }

    #[tokio::test]
    async fn entry_waits_for_what_others_give_back() {
        let room = Room::default();
        let mut under_way = Vec::new();
        for _ in 0..ROOM / SHARE {
            under_way.push(room.reserve().await.unwrap());
        }
        let mut next = Box::pin(room.reserve());
        assert!(next.as_mut().now_or_never().is_none());
        under_way.pop().unwrap().take(10).unwrap();
        assert!(next.as_mut().now_or_never().is_none(), "ten bytes are missing");
        drop(under_way.pop());
        assert!(next.await.is_some());
    }

    #[tokio::test]
    async fn answer_that_does_not_fit_keeps_a_share_for_saying_so() {
        let room = Room::default();
        room.reserve().await.unwrap().take(3 << 20).unwrap();
        let reserved = room.reserve().await.unwrap().take(2 << 20).unwrap_err();
        reserved.take(200).unwrap();
        assert_eq!(room.written.load(Ordering::Relaxed), (3 << 20) + 200);
    }
}
