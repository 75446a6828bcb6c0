//! What leaves the house and what does not, over real sockets of this machine.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod answers;
mod guard;
mod limits;
mod names;
mod requests;
mod tls;

use std::time::Duration;

use tw_egress::{Builder, Egress, Policy, Reach, RequestLimits};
use tw_test::Upstream;

/// A deadline for what is expected to run into it.
const SOON: Duration = Duration::from_millis(300);
/// What no test waits for, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client that may call this upstream and nothing else of this machine.
fn egress_to(upstream: &Upstream) -> Egress {
    builder_to(upstream).build()
}

fn builder_to(upstream: &Upstream) -> Builder {
    Egress::builder(policy(&[&upstream.host_and_port()])).limits(limits())
}

fn policy(allow: &[&str]) -> Policy {
    Policy::new(Reach::Public, allow).unwrap()
}

/// The usual limits, with time enough for a machine that does other things as well.
fn limits() -> RequestLimits {
    RequestLimits { total: PATIENCE, connect: PATIENCE, ..RequestLimits::default() }
}
