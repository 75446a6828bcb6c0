//! The server under test, with the handful of tools that the goals name and those that come with the
//! program.

use std::process::ExitCode;

/// As in `toolwright`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    tw_bench::subject::main()
}
