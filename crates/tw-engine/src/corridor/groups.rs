//! Who is at work in the concurrency groups of this server, and who waits for a slot.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;
use tw_model::TenantId;

type Name = (TenantId, String);

/// The groups that somebody is in.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups(Arc<Mutex<HashMap<Name, Group>>>);

#[derive(Debug, Default)]
struct Group {
    /// What each of those at work allows: so many of the group, itself among them.
    at_work: Vec<u32>,
    /// First come, first served.
    waiting: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    size: u32,
    slot: oneshot::Sender<Held>,
}

/// A slot, given back when dropped.
#[derive(Debug)]
pub(super) struct Held {
    groups: Groups,
    name: Name,
    size: u32,
}

/// Somebody who waits, or did: whoever is behind them may be next once they are gone.
struct Queued<'a>(&'a Groups, &'a Name);

impl Group {
    /// The tools of a group may name different numbers, and each is kept to while one of its calls is at work.
    fn has_room_for(&self, size: u32) -> bool {
        let more = |size: u32| self.at_work.len() < size as usize;
        more(size) && self.at_work.iter().copied().all(more)
    }

    fn next(&mut self) -> Option<Waiter> {
        while self.waiting.front().is_some_and(|first| first.slot.is_closed()) {
            self.waiting.pop_front();
        }
        let size = self.waiting.front()?.size;
        if !self.has_room_for(size) {
            return None;
        }
        self.at_work.push(size);
        self.waiting.pop_front()
    }
}

impl Groups {
    /// Waits for a slot beside at most `size - 1` others.
    pub(super) async fn take(&self, tenant: TenantId, group: &str, size: u32) -> Held {
        let name = (tenant, group.to_owned());
        let _queued = Queued(self, &name);
        let (slot, given) = oneshot::channel();
        self.lock().entry(name.clone()).or_default().waiting.push_back(Waiter { size, slot });
        self.let_in(&name);
        given.await.expect("whoever waits stays in the queue")
    }

    fn let_in(&self, name: &Name) {
        let mut next = Vec::new();
        {
            let mut groups = self.lock();
            let Some(group) = groups.get_mut(name) else { return };
            next.extend(std::iter::from_fn(|| group.next()));
            if group.at_work.is_empty() && group.waiting.is_empty() {
                groups.remove(name);
            }
        }
        for Waiter { size, slot } in next {
            let held = Held { groups: self.clone(), name: name.clone(), size };
            // Who has given up meanwhile drops it, and so gives it back.
            let _ = slot.send(held);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Name, Group>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.let_in(self.1);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(group) = self.groups.lock().get_mut(&self.name)
            && let Some(at) = group.at_work.iter().position(|&size| size == self.size)
        {
            group.at_work.swap_remove(at);
        }
        self.groups.let_in(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt as _;

    use super::*;

    fn take(groups: &Groups, size: u32) -> Option<Held> {
        groups.take(TenantId::from_uuid(uuid::Uuid::nil()), "press", size).now_or_never()
    }

    #[tokio::test]
    async fn number_of_each_who_is_at_work_is_kept_to() {
        let groups = Groups::default();
        let three = [take(&groups, 3), take(&groups, 3), take(&groups, 3)];
        assert!(three.iter().all(Option::is_some));
        assert!(take(&groups, 3).is_none() && take(&groups, 1).is_none());
        drop(three);
        let alone = take(&groups, 1).unwrap();
        assert!(take(&groups, 3).is_none(), "the one at work allows no other");
        drop(alone);
        let raised = [take(&groups, 2), take(&groups, 2)];
        assert!(raised.iter().all(Option::is_some) && take(&groups, 2).is_none());
        drop(raised);
        assert!(groups.lock().is_empty(), "a group that nobody is in is forgotten");
    }

    #[tokio::test]
    async fn first_in_the_queue_is_next_and_who_gives_up_holds_up_nobody() {
        let groups = Groups::default();
        let tenant = TenantId::from_uuid(uuid::Uuid::nil());
        let one = take(&groups, 3).unwrap();
        let waits = |size| {
            let groups = groups.clone();
            tokio::spawn(async move { groups.take(tenant, "press", size).await })
        };
        let alone = waits(1);
        tokio::task::yield_now().await;
        let behind = waits(3);
        tokio::task::yield_now().await;
        assert!(take(&groups, 3).is_none(), "there is room, but others came first");
        alone.abort();
        let second = tokio::time::timeout(Duration::from_secs(5), behind).await.unwrap().unwrap();
        drop((one, second));
        assert!(groups.lock().is_empty());
    }
}
