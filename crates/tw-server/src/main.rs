//! The binary `toolwright`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tw_server::run()
}
