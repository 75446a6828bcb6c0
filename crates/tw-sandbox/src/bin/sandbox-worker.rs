//! A program that is a worker and nothing else: for the tests of this crate, and for programs that use
//! the crate and have no hidden command of their own.

use std::process::ExitCode;

fn main() -> ExitCode {
    tw_sandbox::serve_worker()
}
