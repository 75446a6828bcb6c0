//! How much memory a bad answer costs. Alone in its program, because it looks at the whole process.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::fs;

use tw_egress::{Egress, Error, Policy, Reach, Request};
use tw_test::Upstream;

const BODY_MAX: usize = 10 << 20;
/// What all of it may cost beside the limit.
const BESIDE: usize = 8 << 20;

#[tokio::test]
async fn bad_answers_cost_no_more_memory_than_the_limit() {
    let upstream = Upstream::start().await;
    let policy = Policy::new(Reach::Public, [upstream.host_and_port()]).unwrap();
    let egress = Egress::new(policy);
    egress.send(Request::get(upstream.url("/"))).await.unwrap();
    for path in ["/endless", "/gzip-bomb", "/huge", "/big-header"] {
        fs::write("/proc/self/clear_refs", "5").unwrap();
        let before = peak();
        let error = egress.send(Request::get(upstream.url(path)).body_max(BODY_MAX)).await.unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{path}: {error:?}");
        let grown = peak() - before;
        // The upstream is in this process as well, and its largest answer is 4 MiB of header, twice.
        assert!(grown <= BODY_MAX + BESIDE, "{path}: {} KiB", grown >> 10);
    }

    // The same for a reader who sets no limit and stops where it likes.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = peak();
    let bomb = Request::get(upstream.url("/gzip-bomb")).body_max(usize::MAX);
    let mut answer = egress.open(bomb).await.unwrap();
    let mut read = 0;
    while read < BODY_MAX {
        read += answer.chunk().await.unwrap().unwrap().len();
    }
    let grown = peak() - before;
    assert!(grown <= BESIDE, "piece by piece: {} KiB", grown >> 10);
}

/// The highest mark of the resident set since it was last reset.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}
