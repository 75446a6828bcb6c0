//! Slowing down those who guess passwords, without shutting out those who know theirs.
//!
//! A try is counted by account and origin. Wrong guesses therefore shut the door for the guesser, not for the
//! owner, who comes from elsewhere. Two wider counts keep the whole in bounds: one by origin, for a stranger who
//! tries many accounts, and one by account, for many strangers who try one. Neither of them locks: the first lets a
//! try through every other second, the second leaves every origin a few.

use std::{
    collections::HashMap,
    hash::Hash,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tw_base::{Error, Result};
use tw_model::LoginId;

/// How often an origin may fail at one account within the window.
const TRIES_MAX: u32 = 10;
const WINDOW: Duration = Duration::from_secs(15 * 60);
/// After so many failures at one account, from wherever, each origin has only `TRIES_GUARDED` there.
const ACCOUNT_TRIES: u32 = 50;
const TRIES_GUARDED: u32 = 3;
/// How often one origin may fail at any accounts at once, and how soon it may try once more after that.
const ORIGIN_TRIES: u32 = 60;
const ORIGIN_REFILL: Duration = Duration::from_secs(2);
/// Tries under way: hashing is meant to be slow, so a queue of them must be short. Of one origin, and of all addresses.
/// The second is what two hashes at a time get done within about a second. Browsers that are signed in already are not
/// among them: they wait in the lane of their tenant, and must not take the places of those who want to sign in.
const UNDER_WAY_OF_ORIGIN: u32 = 4;
const UNDER_WAY: u32 = 64;
/// Counts that are remembered at the most, so that guessing names cannot fill the memory.
const COUNTS_MAX: usize = 100_000;

/// Where a try comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TryOrigin {
    Address(IpAddr),
    /// A browser that is signed in already.
    Login(LoginId),
}

impl TryOrigin {
    /// One who has an IPv6 address has at least 2^64 of them.
    pub(crate) fn of_address(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V4(address) => address.into(),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                std::net::Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
        })
    }
}

/// Counts tries, and refuses those that come too often, before any password is hashed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Throttle {
    counts: Arc<Mutex<Counts>>,
}

/// A try that was let through. It counts as failed unless it is said to have succeeded, so that a hundred at once
/// are no more than a hundred in a row, and hanging up takes nothing back.
#[derive(Debug)]
pub(crate) struct Try {
    throttle: Throttle,
    account: String,
    origin: TryOrigin,
    /// How many tries at the account have failed within the window, with this one.
    pub(crate) number: u32,
    /// Whether this was the last one that the origin has for now.
    pub(crate) is_last: bool,
}

impl Throttle {
    /// Counts a try at an account. The answer is the same whether the account exists.
    pub(crate) fn attempt(&self, account: &str, origin: TryOrigin) -> Result<Try> {
        let (number, is_last) = self.counts().attempt(account, origin, Instant::now()).map_err(refused)?;
        Ok(Try { throttle: self.clone(), account: account.to_owned(), origin, number, is_last })
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Try {
    pub(crate) fn succeeded(&self) {
        self.throttle.counts().succeeded(&self.account, self.origin);
    }
}

impl Drop for Try {
    fn drop(&mut self) {
        self.throttle.counts().left(self.origin);
    }
}

fn refused(retry_after: Duration) -> Error {
    let why = "too many failed sign-ins; wait, or ask an operator for a sign-in link".to_owned();
    Error::RateLimited { why, retry_after }
}

/// How many tries failed since when.
#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    since: Instant,
}

#[derive(Debug, Default)]
struct Counts {
    lanes: HashMap<(String, TryOrigin), Failures>,
    accounts: HashMap<String, Failures>,
    origins: HashMap<TryOrigin, Failures>,
    under_way: HashMap<TryOrigin, u32>,
}

impl Counts {
    /// The number of the try at its account, and whether it is the origin's last; or how long to wait.
    fn attempt(&mut self, account: &str, origin: TryOrigin, now: Instant) -> Result<(u32, bool), Duration> {
        self.admit(origin)?;
        forget(&mut self.lanes, now);
        forget(&mut self.accounts, now);
        forget(&mut self.origins, now);
        let of_account = current(&mut self.accounts, account.to_owned(), now);
        let tries_max = if ACCOUNT_TRIES <= of_account.count { TRIES_GUARDED } else { TRIES_MAX };
        let lane = current(&mut self.lanes, (account.to_owned(), origin), now);
        if tries_max <= lane.count {
            return Err(WINDOW.saturating_sub(now.duration_since(lane.since)));
        }
        let of_origin = current(&mut self.origins, origin, now);
        // What has refilled since is taken off the count; the time that it took is used up.
        let refilled = now.duration_since(of_origin.since).as_secs() / ORIGIN_REFILL.as_secs();
        let refilled = u32::try_from(refilled).unwrap_or(u32::MAX).min(of_origin.count);
        of_origin.count -= refilled;
        of_origin.since += ORIGIN_REFILL * refilled;
        if of_origin.count == 0 {
            of_origin.since = now;
        }
        if ORIGIN_TRIES <= of_origin.count {
            return Err(ORIGIN_REFILL.saturating_sub(now.duration_since(of_origin.since)));
        }
        of_origin.count += 1;
        of_account.count += 1;
        lane.count += 1;
        *self.under_way.entry(origin).or_default() += 1;
        Ok((of_account.count, lane.count == tries_max))
    }

    /// Whether one more try may be under way.
    fn admit(&self, origin: TryOrigin) -> Result<(), Duration> {
        let of_origin = self.under_way.get(&origin).copied().unwrap_or(0);
        let is_address = |origin: &TryOrigin| matches!(origin, TryOrigin::Address(_));
        let of_all: u32 =
            self.under_way.iter().filter(|(origin, _)| is_address(origin)).map(|(_, count)| count).sum();
        if UNDER_WAY_OF_ORIGIN <= of_origin || (is_address(&origin) && UNDER_WAY <= of_all) {
            return Err(Duration::from_secs(1));
        }
        Ok(())
    }

    /// Takes back what was counted for the try, and the failures of its lane before it.
    fn succeeded(&mut self, account: &str, origin: TryOrigin) {
        let Some(lane) = self.lanes.remove(&(account.to_owned(), origin)) else { return };
        if let Some(of_account) = self.accounts.get_mut(account) {
            of_account.count = of_account.count.saturating_sub(lane.count);
        }
        if let Some(of_origin) = self.origins.get_mut(&origin) {
            of_origin.count = of_origin.count.saturating_sub(lane.count);
        }
    }

    fn left(&mut self, origin: TryOrigin) {
        if let Some(count) = self.under_way.get_mut(&origin) {
            *count -= 1;
            if *count == 0 {
                self.under_way.remove(&origin);
            }
        }
    }
}

/// The failures under a name within the window that is open now.
fn current<K: Eq + Hash>(counts: &mut HashMap<K, Failures>, name: K, now: Instant) -> &mut Failures {
    let fresh = Failures { count: 0, since: now };
    let failures = counts.entry(name).or_insert(fresh);
    if WINDOW <= now.duration_since(failures.since) {
        *failures = fresh;
    }
    failures
}

/// Keeps a map within its bounds: what is over goes first, then what has failed least.
fn forget<K: Eq + Hash>(counts: &mut HashMap<K, Failures>, now: Instant) {
    let mut at_least = 0;
    while COUNTS_MAX <= counts.len() {
        counts.retain(|_, failures| at_least < failures.count && now.duration_since(failures.since) < WINDOW);
        at_least += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> TryOrigin {
        TryOrigin::of_address(IpAddr::from(number.to_be_bytes()))
    }

    /// One try that has failed by the time the next one comes.
    fn fail(
        counts: &mut Counts,
        account: &str,
        origin: TryOrigin,
        now: Instant,
    ) -> Result<(u32, bool), Duration> {
        let tried = counts.attempt(account, origin, now);
        if tried.is_ok() {
            counts.left(origin);
        }
        tried
    }

    #[test]
    fn guesser_is_shut_out_and_the_owner_elsewhere_is_not() {
        let (mut counts, now) = (Counts::default(), Instant::now());
        for number in 1..=10 {
            assert_eq!(fail(&mut counts, "ada", address(1), now), Ok((number, number == 10)));
        }
        assert_eq!(fail(&mut counts, "ada", address(1), now), Err(WINDOW));
        assert!(fail(&mut counts, "eve", address(1), now).is_ok());
        assert!(fail(&mut counts, "ada", address(2), now).is_ok());
        counts.succeeded("ada", address(2));
        let later = now + Duration::from_secs(60);
        assert_eq!(fail(&mut counts, "ada", address(1), later), Err(WINDOW - Duration::from_secs(60)));
        assert!(fail(&mut counts, "ada", address(1), now + WINDOW).is_ok());
    }

    #[test]
    fn many_strangers_leave_every_origin_a_few_tries_and_no_more() {
        let (mut counts, now) = (Counts::default(), Instant::now());
        for stranger in 0..1000 {
            let _ = fail(&mut counts, "ada", address(stranger), now);
        }
        for number in 1..=4 {
            assert_eq!(fail(&mut counts, "ada", address(5000), now).is_ok(), number <= 3);
        }
        assert!(fail(&mut counts, "eve", address(5000), now).is_ok());
    }

    #[test]
    fn one_stranger_at_many_accounts_is_slowed_down_and_never_locked_out() {
        let (mut counts, now) = (Counts::default(), Instant::now());
        for number in 0..ORIGIN_TRIES {
            assert!(fail(&mut counts, &format!("name{number}"), address(1), now).is_ok());
        }
        assert_eq!(fail(&mut counts, "ada", address(1), now), Err(ORIGIN_REFILL));
        assert!(fail(&mut counts, "ada", address(2), now).is_ok());
        let later = now + ORIGIN_REFILL;
        assert!(fail(&mut counts, "ada", address(1), later).is_ok());
        assert_eq!(fail(&mut counts, "ada", address(1), later), Err(ORIGIN_REFILL));
    }

    #[test]
    fn flood_of_one_origin_leaves_the_hashing_to_others() {
        let (mut counts, now) = (Counts::default(), Instant::now());
        let under_way = |counts: &mut Counts, origin: u32| {
            (0..300)
                .filter(|name| counts.attempt(&format!("name{name}"), address(origin), now).is_ok())
                .count()
        };
        assert_eq!(under_way(&mut counts, 1), 4);
        assert!(counts.attempt("ada", address(2), now).is_ok());
        let of_all: usize = (3..100).map(|origin| under_way(&mut counts, origin)).sum();
        assert_eq!(of_all, 64 - 5);
        counts.left(address(1));
        assert!(counts.attempt("eve", address(200), now).is_ok());
    }

    #[test]
    fn browsers_that_are_signed_in_take_no_places_of_those_who_sign_in() {
        let (mut counts, now) = (Counts::default(), Instant::now());
        for number in 0..2 * UNDER_WAY {
            let login = TryOrigin::Login(LoginId::new());
            assert!(counts.attempt(&format!("user:{number}"), login, now).is_ok());
        }
        assert!(counts.attempt("ada", address(1), now).is_ok());
    }

    #[test]
    fn success_takes_back_what_its_origin_failed_at_the_account() {
        let (mut counts, now) = (Counts::default(), Instant::now());
        for _ in 0..9 {
            fail(&mut counts, "ada", address(1), now).unwrap();
        }
        counts.attempt("ada", address(1), now).unwrap();
        counts.succeeded("ada", address(1));
        counts.left(address(1));
        assert!(counts.under_way.is_empty());
        assert_eq!((counts.accounts["ada"].count, counts.origins[&address(1)].count), (0, 0));
    }

    #[test]
    fn addresses_of_one_network_count_as_one() {
        let of = |text: &str| TryOrigin::of_address(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }

    #[test]
    fn guessing_names_does_not_fill_the_memory() {
        let (mut counts, now) = (Counts::default(), Instant::now());
        for _ in 0..2 {
            fail(&mut counts, "ada", address(1), now).unwrap();
        }
        for number in 0..150_000 {
            fail(&mut counts, &format!("name{number}"), address(2 + number), now).unwrap();
        }
        assert!(counts.lanes.len() <= COUNTS_MAX && counts.accounts.len() <= COUNTS_MAX);
        assert_eq!(counts.accounts["ada"].count, 2, "what failed more often is remembered longer");
    }
}
