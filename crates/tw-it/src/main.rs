//! The server under test: the real program, with tools beside the shipped ones whose effects a test can
//! count, hold and break.

mod tools;

use std::process::ExitCode;

fn main() -> ExitCode {
    tw_server::run()
}
