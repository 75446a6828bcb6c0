//! The binary `toolwright`.

use std::process::ExitCode;

/// A call allocates a few hundred times on whichever thread it is; see ADR 0032.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    tw_server::run()
}
